"""Annotations as text, and which of them say that something is an array."""

from __future__ import annotations

import ast

_ARRAY_NAMES = ("Array", "jax.Array", "jnp.ndarray", "jax.numpy.ndarray", "ArrayLike")
_JAXTYPING = (
    "Float",
    "Int",
    "Bool",
    "Complex",
    "Inexact",
    "Num",
    "Real",
    "Shaped",
    "UInt",
    "Key",
    "PRNGKeyArray",
)


def is_array_annotation(text: str) -> bool:
    """Whether an annotation says array and nothing else (`Float[Array, "n d"]`, `jax.Array`)."""
    text = text.strip("'\"")
    if text in _ARRAY_NAMES[:4]:
        return True
    head, bracket, rest = text.partition("[")
    return bool(bracket) and head.rpartition(".")[2] in _JAXTYPING and rest.lstrip().startswith(_ARRAY_NAMES)


def annotation_text(node: ast.expr) -> str:
    """An annotation as text, short forms without unparsing: it is asked for every parameter."""
    if isinstance(node, ast.Name):
        return node.id
    known: str | None = node.__dict__.get("text")
    if known is None:
        known = node.__dict__["text"] = _annotation_text(node)  # once for each tree
    return known


def _annotation_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return f"{annotation_text(node.value)}[{annotation_text(inner)}]"
    if isinstance(node, ast.BinOp):
        return f"{annotation_text(node.left)} | {annotation_text(node.right)}"
    return ""
