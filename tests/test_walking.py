"""Walking syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

from jaxlint.index.walking import children, own_nodes, walk

SOURCE = Path(__file__).read_text()
SKIPPED = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


def test_as_the_standard_library_walks() -> None:
    tree = ast.parse(SOURCE)
    expected = [node for node in ast.walk(tree) if not isinstance(node, SKIPPED)]
    assert walk(tree) == expected == walk(tree)
    for node in expected:
        below = [child for child in ast.iter_child_nodes(node) if not isinstance(child, SKIPPED)]
        assert children(node) == below


def test_own_nodes_stop_at_what_is_nested() -> None:
    tree = ast.parse("def f(x=a):\n    b = [c for d in e]\n    def g():\n        h\n    return lambda: i\n")
    function = tree.body[0]
    names = [node.id for node in own_nodes(function) if isinstance(node, ast.Name)]
    assert names == ["a", "b", "c", "d", "e"]
    kinds = [type(node).__name__ for node in own_nodes(function)]
    assert "FunctionDef" in kinds and "Lambda" in kinds
    assert own_nodes(function) == own_nodes(function)
