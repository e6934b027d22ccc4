"""Counters of a loop that begin again: `if i == 4: i = 0`, `i = i + 1 if i < 3 else 0`."""

from __future__ import annotations

import ast

from jaxlint.index.walking import LoopNode, nodes_of, walk
from jaxlint.index.written_names import dotted_name


def begins_again(loop: LoopNode, name: str) -> bool:
    """Whether a test of the counter in the loop gives it a value that does not come from the last one: it takes few
    values then, however long the loop runs."""
    for branch in nodes_of(loop, ast.If):
        if _compares(branch.test, name) and any(_sets(s, name) for s in (*branch.body, *branch.orelse)):
            return True
    return any(
        isinstance(node.value, ast.IfExp)
        and any(dotted_name(target) == name for target in node.targets)
        and _compares(node.value.test, name)
        and not (_reads(node.value.body, name) and _reads(node.value.orelse, name))
        for node in nodes_of(loop, ast.Assign)
    )


def _compares(test: ast.expr, name: str) -> bool:
    """`i == 4`, `i >= len(phases)`, `i + 1 > last`."""
    return isinstance(test, ast.Compare) and any(_reads(s, name) for s in (test.left, *test.comparators))


def _sets(node: ast.stmt, name: str) -> bool:
    return (
        isinstance(node, ast.Assign)
        and any(dotted_name(target) == name for target in node.targets)
        and not _reads(node.value, name)
    )


def _reads(node: ast.expr, name: str) -> bool:
    return any(dotted_name(part) == name for part in walk(node))
