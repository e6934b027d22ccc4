"""What the index cannot know: names from packages that are installed and not the project's own.

astroid reads their source; nothing is imported or run. It builds some six thousand lines a second, so it is
asked only for what decides a finding, once a name, and never for the libraries that have tables in
`jaxlint.jax_api`.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from typing import Any

# The families of classes, by the package that defines the base and the base's name.
_FAMILIES = (
    ("equinox", "Module", "equinox"),
    ("flax.nnx", "Module", "nnx"),
    ("flax.nnx", "Object", "nnx"),
    ("flax.nnx", "Pytree", "nnx"),
    ("flax.linen", "Module", "linen"),
    ("flax.struct", "PyTreeNode", "struct"),
    ("haiku", "Module", "haiku"),
    ("enum", "Enum", "enum"),
    ("typing", "NamedTuple", "namedtuple"),
)
_TABLED = frozenset({"jax", "jaxlib", "numpy", "optax", "builtins"})
# Whose classes are plain ones: nobody has to be asked, which for a test case of absl takes seconds.
_PLAIN = (sys.stdlib_module_names | {"absl"}) - {"builtins", "enum", "typing"}


@cache
def class_family(dotted: str) -> str | None:
    """The family of a class of an installed package, "" when it is a plain class, None when it cannot be told."""
    if dotted.partition(".")[0] in _PLAIN:
        return ""
    node = _lookup(dotted)
    if node is None or not hasattr(node, "ancestors"):
        return None
    try:
        lineage = [node, *node.ancestors()]
        names = [(str(n.root().name), str(n.name)) for n in lineage]
    except Exception:  # astroid gives up on some code in ways of its own
        return None
    for package, name in names:
        for owner, base, family in _FAMILIES:
            if name == base and (package == owner or package.startswith(f"{owner}.")):
                return family
    return "" if all(n.bases is not None for n in lineage) else None


@cache
def constant(dotted: str) -> Any:
    """The value of a constant of an installed package: a number, a string, or a tuple of them; None if unknown."""
    node = _lookup(dotted)
    if node is None:
        return None
    if hasattr(node, "elts"):
        values = [getattr(item, "value", None) for item in node.elts]
        return tuple(values) if None not in values else None
    value = getattr(node, "value", None)
    return value if isinstance(value, (int, float, str)) else None


def _lookup(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    top = module.partition(".")[0]
    if not module or top in _TABLED or not _is_installed(top):
        return None
    try:
        import astroid

        tree = astroid.MANAGER.ast_from_module_name(module)
        return next(tree.igetattr(name), None)
    except Exception:  # no such module or name, or code that astroid cannot follow
        return None


@cache
def _is_installed(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False
