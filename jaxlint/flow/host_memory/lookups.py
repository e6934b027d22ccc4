"""What a cache was asked before: whether the code that follows runs on a miss, and fills it."""

from __future__ import annotations

import ast

from jaxlint.flow.frame import Frame
from jaxlint.index.written_names import dotted_name


def note_answered(frame: Frame, test: ast.expr) -> None:
    """`if key in cache:` or `if hit is not None:` before a return: what follows is a miss."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
        name = dotted_name(test.comparators[0])
        if name is not None:
            frame.answered.add(name)
    elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        looked_up = (
            frame.lookups.get(dotted_name(test.left) or "")
            if not isinstance(test.left, ast.NamedExpr)
            else None
        )
        source = test.left.value if isinstance(test.left, ast.NamedExpr) else None
        if source is not None:
            looked_up = lookup_of(source)
        if looked_up:
            frame.answered.add(looked_up)


def note_found(frame: Frame, value: ast.expr | None) -> None:
    """`try: return cache[key]` before an `except KeyError`: what follows is a miss."""
    name = dotted_name(value.value) if isinstance(value, ast.Subscript) else None
    if name is not None:
        frame.answered.add(name)


def lookup_of(node: ast.expr | None) -> str | None:
    """The container that `cache.get(key)` asks."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return dotted_name(node.func.value)
    return None


def asks_for_absence(test: ast.expr) -> bool:
    """`x is None`, `key not in cache`, `not hasattr(self, "step")`, `not self.compiled`: what follows fills it."""
    if isinstance(test, ast.BoolOp):
        return any(asks_for_absence(item) for item in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.NotIn):
            return True
        right = test.comparators[0]
        return isinstance(test.ops[0], ast.Is) and isinstance(right, ast.Constant) and right.value is None
    return False
