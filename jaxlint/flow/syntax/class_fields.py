"""Fields in the body of a class, by their syntax: static ones, and those whose value is converted."""

from __future__ import annotations

import ast

from jaxlint.index.written_names import last_name

_FIELD_CALLS = frozenset({"field", "static_field"})


def is_converted(node: ast.expr | None) -> bool:
    """`field(converter=float)`: what is passed is not what is stored."""
    return isinstance(node, ast.Call) and any(keyword.arg == "converter" for keyword in node.keywords)


def is_static_field(node: ast.expr | None) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if name == "static_field":
        return True
    if name not in _FIELD_CALLS:
        return False
    for keyword in node.keywords:
        if keyword.arg == "metadata" and "static" in ast.dump(keyword.value):
            return True
        if isinstance(keyword.value, ast.Constant):
            if keyword.arg == "static" and keyword.value.value is True:
                return True
            if keyword.arg == "pytree_node" and keyword.value.value is False:
                return True
        if keyword.arg == "metadata" and _says_static(keyword.value):
            return True
    return False


def _says_static(metadata: ast.expr) -> bool:
    """`dict(static=True)` or `{"static": True}`, as `jax.tree_util.register_dataclass` reads it."""
    if isinstance(metadata, ast.Dict):
        pairs = zip(metadata.keys, metadata.values, strict=True)
        said = [(k.value, v) for k, v in pairs if isinstance(k, ast.Constant)]
    else:
        said = [(k.arg, k.value) for k in metadata.keywords] if isinstance(metadata, ast.Call) else []
    return any(key == "static" and isinstance(v, ast.Constant) and v.value is True for key, v in said)
