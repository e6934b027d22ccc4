"""The canonical name of what an expression names in a library, looked up without evaluating it."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, LAZY
from jaxlint.flow.frame import Frame


def library_name(frame: Frame, node: ast.expr) -> str:
    """`jax.numpy.sum` for `jnp.sum`; a name of no library as it is written, "" for what is no name."""
    if isinstance(node, ast.Name):
        value = frame.names.get(node.id) or (frame.module.names or {}).get(node.id)
        if value is not None and value.kind == LAZY:
            value = frame.run.program.force(value)
        return str(value.data) if value is not None and value.kind == API else node.id
    if isinstance(node, ast.Attribute):
        return f"{library_name(frame, node.value)}.{node.attr}"
    return ""
