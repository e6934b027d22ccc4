"""Which files can matter, and what they import: a byte search, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint.index.naming import imported_module

# JAX's world: a file that names none of these, directly or through the project's own modules, is let go.
_WORLD = re.compile(
    rb"jax|JAX_|XLA_|equinox|flax|haiku|optax|numpyro|blackjax|orbax|penzai|diffrax|optimistix|lineax|brax|distrax"
)
_NAMES = rb"(\([^)]*\)|(?:[^#\n\\;(]|\\\r?\n)+)"
_STATEMENT = re.compile(
    rb"(?:^|[;:])[ \t\f]*(?:from[ \t]*([.\w]+)[ \t]+import\b[ \t]*"
    + _NAMES
    + rb"|import[ \t]+"
    + _NAMES
    + rb")",
    re.MULTILINE,
)
_NAME = re.compile(r"([\w.]+|\*)(?:\s+as\s+\w+)?")


def names_jax(data: bytes) -> bool:
    """Whether a file names JAX or a library built on it."""
    return _WORLD.search(data) is not None


def import_text(data: bytes) -> str:
    """The import statements of a source as they are written, one a line; perhaps some from its strings."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found = []
    # `find` is several times faster than a pattern that tries every line.
    at = data.find(b"import")
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        statement = _STATEMENT.match(data, begin) or _STATEMENT.search(
            data, begin, data.find(b"\n", at) + 1 or len(data)
        )
        end = at + 6
        if statement is not None and statement.end() > at:
            source, names, modules = statement.groups()
            words = b" ".join((names or modules).replace(b"\\", b" ").split())
            found.append(b"from %s import %s" % (source, words) if source is not None else b"import " + words)
            end = max(end, statement.end())
        at = data.find(b"import", end)
    return b"\n".join(found).decode("utf-8", "replace")


def imported_names(text: str, name: str, is_package: bool) -> Iterator[tuple[str, ...]]:
    """What import statements (as `import_text` gives them) in the module `name` take, in absolute dotted names.

    Each is (`a.b`, `a`) for `from a import b`, which takes the module `a.b` or something of `a`, and (`a.b`,) and
    (`a`,) for `import a.b`.
    """
    for line in text.split("\n"):
        source, _, names = line.partition("import ")
        path = source[5:].strip()
        module = path.lstrip(".")
        base = imported_module(name, is_package, len(path) - len(module), module)
        for found in _NAME.finditer(names):
            dotted = found[1]
            if source:
                yield (f"{base}.{dotted}" if base else dotted, base)
                continue
            while dotted:
                yield (dotted,)
                dotted = dotted.rpartition(".")[0]
