"""Names as they are written in expressions."""

from __future__ import annotations

import ast


def dotted_name(node: ast.AST) -> str | None:
    """`a`, `self.x` or `a.b.c`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted_name(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c` or of `c`; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
