"""Tests that something is not there yet, and what fills it: `if step is None: step = …`, `key not in cache`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_FILLERS = frozenset({"add", "append", "setdefault", "update", "insert", "extend", "put"})


class Memo(NamedTuple):
    """What a test asks for (`step`, `self.step`, `cache`), and the code that runs where it is not there."""

    subject: str
    miss: Sequence[ast.AST]


def memos(path: Sequence[ast.AST]) -> Iterator[Memo]:
    """The tests on a path that something is absent."""
    for i, (node, inner) in enumerate(itertools.pairwise(path)):
        if isinstance(node, ast.If) and inner is not node.test:
            missing = inner in node.body
            yield from _asked(node.test, not missing, node.body if missing else node.orelse)
        elif isinstance(node, ast.IfExp) and inner is not node.test:
            yield from _asked(node.test, inner is node.orelse, [_statement(path[: i + 1])])
        elif isinstance(node, ast.BoolOp) and inner is not node.values[0]:
            held = isinstance(node.op, ast.Or)
            yield from _asked(node.values[0], held, [_statement(path[: i + 1])])
        elif isinstance(node, ast.ExceptHandler):
            yield from _looked_up(path[i - 1], node)
        for block in blocks(node):
            if inner in block:
                yield from _answered(block, block.index(inner))


def _statement(path: Sequence[ast.AST]) -> ast.AST:
    """The statement that a path leads into; the first node of the path where that is a loop of an expression."""
    return next((node for node in reversed(path) if isinstance(node, ast.stmt)), path[0])


def blocks(node: ast.AST) -> Iterator[list[ast.AST]]:
    """The lists of statements (or of handlers) that a statement holds."""
    for field in _BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block


def _answered(block: Sequence[ast.AST], position: int) -> Iterator[Memo]:
    """`if step is not None: …; continue` above: the rest is for where it is None."""
    for before in block[:position]:
        if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Continue, ast.Return)):
            yield from _asked(before.test, True, block[position:])


def _looked_up(node: ast.AST, handler: ast.ExceptHandler) -> Iterator[Memo]:
    """`try: step = cache[key]` and what handles a KeyError, `try: self.step` and an AttributeError."""
    if not isinstance(node, ast.Try) or handler.type is None:
        return
    errors = ast.dump(handler.type)
    for part in (p for statement in node.body for p in ast.walk(statement)):
        if isinstance(part, ast.Subscript) and "'KeyError'" in errors:
            yield Memo(dotted(part.value), handler.body)
        elif isinstance(part, ast.Attribute) and "'AttributeError'" in errors:
            yield Memo(dotted(part), handler.body)


def _asked(test: ast.expr, held: bool, miss: Sequence[ast.AST]) -> Iterator[Memo]:
    """What is absent where `test` is false (`held`: the test says that it is there), or where it is true."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand, not held, miss)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.Or) == held:  # each of them is known
            for value in test.values:
                yield from _asked(value, held, miss)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        op, right = test.ops[0], test.comparators[0]
        if isinstance(op, ast.In if held else ast.NotIn):
            yield Memo(dotted(right), miss)
        if isinstance(op, ast.IsNot if held else ast.Is) and _is_none(right):
            yield Memo(_subject(test.left), miss)
    elif held:
        yield Memo(_subject(test), miss)


def _subject(node: ast.expr) -> str:
    """What is asked for: of `cache.get(key)`, the cache."""
    if isinstance(node, ast.NamedExpr):
        return _subject(node.value) if isinstance(node.value, ast.Call) else ""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return dotted(node.func.value)
        return _field(node) if dotted(node.func) in ("hasattr", "getattr") else ""
    return dotted(node)


def _field(call: ast.Call) -> str:
    """`self.step` of `hasattr(self, "step")`."""
    names = call.args[1:2]
    named = bool(names) and isinstance(names[0], ast.Constant) and isinstance(names[0].value, str)
    owner = dotted(call.args[0]) if named else ""
    return f"{owner}.{names[0].value}" if owner else ""  # type: ignore[attr-defined]  # a constant if there is an owner


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def dotted(node: ast.expr) -> str:
    """`a.b.c`, "" for anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def is_kept(memo: Memo, around: ast.AST) -> bool:
    """Whether a miss fills what was asked for, and nothing else around it empties that again."""
    if not memo.subject:
        return False
    inside = {part for node in memo.miss for part in ast.walk(node)}
    outside = [value for part, value in _bound(ast.walk(around), memo.subject) if part not in inside]
    kept = [_subject(value) if value is not None else "" for value in outside]  # `step = cache.get(key)`
    subjects = {memo.subject} if not outside else set(kept) - {""} if all(kept) else set()
    return any(_fills(part, subject) for subject in subjects for part in inside)


def _bound(nodes: Iterable[ast.AST], name: str) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Where a name is bound, and to which value if that is written."""
    values: dict[ast.AST, ast.expr | None] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            values.update(dict.fromkeys(node.targets, node.value))
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)):
            values[node.target] = node.value
        named = isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
        if named and dotted(node) == name:  # type: ignore[arg-type]  # an expression if it is named
            yield node, values.get(node)


def _fills(node: ast.AST, subject: str) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute)):
        return isinstance(node.ctx, ast.Store) and dotted(node) == subject
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and dotted(node.value) == subject
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return isinstance(node, ast.Call) and dotted(node.func) == "setattr" and _field(node) == subject
    owner = dotted(node.func.value)
    if owner == subject and node.func.attr in _FILLERS:
        return True
    return owner != "" and subject.startswith(f"{owner}.")  # `self.build()` may set `self.step`


def outlives(memo: Memo, scope: ast.AST) -> bool:
    """Whether something is an attribute, a global, or a collection that the caller hands over."""
    root, dot, _ = memo.subject.partition(".")
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return True  # of a module
    parameters = {a.arg for a in ast.walk(scope.args) if isinstance(a, ast.arg)}
    if root in parameters:
        return bool(dot) or any(_fills(p, root) and isinstance(p, ast.Subscript) for p in ast.walk(scope))
    shared = {n for s in ast.walk(scope) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    return root in shared or not any(True for _ in _bound(ast.walk(scope), root))
