"""Tests that something is not there yet, and what fills it: `if step is None: step = …`, `key not in cache`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxlint.index.walking import nodes_of, walk
from jaxlint.index.written_names import dotted_name

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
LEAVING = (ast.Continue, ast.Return)
_TELLING = frozenset(
    {
        *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Name, ast.Attribute),
        *(ast.Subscript, ast.Call, ast.Global, ast.Nonlocal),
    }
)
_FILLERS = frozenset({"add", "append", "setdefault", "update", "insert", "extend", "put"})


class Memo(NamedTuple):
    """What a test asks for (`step`, `self.step`, `cache`), and the code that runs where it is not there."""

    subject: str  # empty if it has no name
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
        if isinstance(inner, ast.stmt):
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
        if isinstance(before, ast.If) and isinstance(before.body[-1], LEAVING):
            yield from _asked(before.test, True, block[position:])


def _looked_up(node: ast.AST, handler: ast.ExceptHandler) -> Iterator[Memo]:
    """`try: step = cache[key]` and what handles a KeyError, `try: self.step` and an AttributeError."""
    if not isinstance(node, ast.Try) or handler.type is None:
        return
    errors = ast.dump(handler.type)
    for part in (p for statement in node.body for p in walk(statement)):
        if isinstance(part, ast.Subscript) and "'KeyError'" in errors:
            yield Memo(dotted_name(part.value) or "", handler.body)
        elif isinstance(part, ast.Attribute) and "'AttributeError'" in errors:
            yield Memo(dotted_name(part) or "", handler.body)


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
            yield Memo(dotted_name(right) or "", miss)
        if isinstance(op, ast.IsNot if held else ast.Is) and _is_none(right):
            yield Memo(_subject(test.left), miss)
    elif held:
        yield Memo(_subject(test), miss)


def _subject(node: ast.expr) -> str:
    """What is asked for: of `cache.get(key)`, the cache."""
    if isinstance(node, ast.NamedExpr):
        return _subject(node.value) if isinstance(node.value, ast.Call) else ""
    if isinstance(node, ast.Subscript):
        return dotted_name(node.value) or ""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return dotted_name(node.func.value) or ""
        return _field(node) if dotted_name(node.func) in ("hasattr", "getattr") else ""
    return dotted_name(node) or ""


def _field(call: ast.Call) -> str:
    """`self.step` of `hasattr(self, "step")`."""
    names = call.args[1:2]
    named = bool(names) and isinstance(names[0], ast.Constant) and isinstance(names[0].value, str)
    owner = dotted_name(call.args[0]) if named else None
    return f"{owner}.{names[0].value}" if owner else ""  # type: ignore[attr-defined]  # a constant if there is an owner


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_kept(memo: Memo, around: ast.AST) -> bool:
    """Whether a miss fills what was asked for, and nothing else around it empties that again."""
    if not memo.subject:
        return False
    stores = _stores_of(around)
    outside = [
        value
        for part, value in stores.bound.get(memo.subject, ())
        if not _is_in(part, memo.miss) and not _carries(value, memo.subject)
    ]
    kept = [_subject(value) if value is not None else "" for value in outside]  # `step = cache.get(key)`
    subjects = {memo.subject} if not outside else set(kept) - {""} if all(kept) else set()
    return any(_is_in(part, memo.miss) for subject in subjects for part in stores.filling(subject))


def _carries(value: ast.expr | None, subject: str) -> bool:
    """`state, loss = step(state, batch)`: what was there comes back as the next one."""
    if not isinstance(value, ast.Call):
        return False
    given = (*value.args, *(keyword.value for keyword in value.keywords))
    return any(dotted_name(node) == subject for argument in given for node in walk(argument))


def _is_in(node: ast.AST, block: Sequence[ast.AST]) -> bool:
    """Whether a node lies within one of those that follow each other, by their places."""
    first, last = block[0], block[-1]
    start = (first.lineno, first.col_offset)  # type: ignore[attr-defined]  # statements and expressions have places
    end = (last.end_lineno, last.end_col_offset)  # type: ignore[attr-defined]  # as above
    return start <= (node.lineno, node.col_offset) and (node.end_lineno, node.end_col_offset) <= end  # type: ignore[attr-defined]  # as above


class _Stores(NamedTuple):
    """Where names are bound in a function, loop or module, and to which value if that is written; where they, items
    of them and their attributes are filled, by name."""

    bound: dict[str, list[tuple[ast.AST, ast.expr | None]]]
    fillers: dict[str, list[ast.AST]]
    items: set[str]  # of which items are set
    methods: dict[str, list[ast.AST]]  # calls of methods, by owner
    shared: set[str]  # global and nonlocal names

    def filling(self, subject: str) -> Iterator[ast.AST]:
        """What may fill something: of `self.step`, `self.build()` too."""
        yield from self.fillers.get(subject, ())
        owner, dot, _ = subject.rpartition(".")
        while dot:
            yield from self.methods.get(owner, ())
            owner, dot, _ = owner.rpartition(".")


def _stores_of(around: ast.AST) -> _Stores:
    known: _Stores | None = around.__dict__.get("memo_stores")
    if known is None:
        known = around.memo_stores = _found_stores(around)  # type: ignore[attr-defined]  # once for each tree
    return known


def _found_stores(around: ast.AST) -> _Stores:
    values: dict[ast.AST, ast.expr | None] = {}
    found = _Stores({}, {}, set(), {}, set())
    for node in walk(around):
        if node.__class__ not in _TELLING:
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                items = target.elts if isinstance(target, ast.Tuple) else [target]
                values.update(dict.fromkeys(items, node.value))
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)):
            values[node.target] = node.value
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = dotted_name(node) if not isinstance(node.ctx, ast.Load) else None
            if name:
                found.bound.setdefault(name, []).append((node, values.get(node)))
                if isinstance(node.ctx, ast.Store):
                    found.fillers.setdefault(name, []).append(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            name = dotted_name(node.value) or ""
            found.items.add(name)
            found.fillers.setdefault(name, []).append(node)
        elif isinstance(node, ast.Call):
            _note_call(found, node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.shared.update(node.names)
    return found


def _note_call(found: _Stores, call: ast.Call) -> None:
    if isinstance(call.func, ast.Attribute):
        owner = dotted_name(call.func.value)
        if owner:
            found.methods.setdefault(owner, []).append(call)
            if call.func.attr in _FILLERS:
                found.fillers.setdefault(owner, []).append(call)
    elif dotted_name(call.func) == "setattr":
        found.fillers.setdefault(_field(call), []).append(call)


def outlives(memo: Memo, scope: ast.AST) -> bool:
    """Whether something is an attribute, a global, or a collection that the caller hands over."""
    root, dot, _ = memo.subject.partition(".")
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return True  # of a module
    parameters = {a.arg for a in nodes_of(scope.args, ast.arg)}
    stores = _stores_of(scope)
    if root in parameters:
        return bool(dot) or root in stores.items
    return root in stores.shared or root not in stores.bound
