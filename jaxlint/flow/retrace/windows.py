"""Windows over what a loop collects, by syntax: `seen[-4:]` has one, two, three members before it has four.

Silent where the collection is filled before the loop, or the program asks how long it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.kinds import INSTANCE
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name

_ADDING = frozenset({"append", "appendleft", "insert", "extend", "extendleft"})
_TAKING = frozenset({"pop", "popleft"})
_BEGINNING = frozenset({"__init__", "__post_init__", "setup", "reset", "clear"})
_COPIES = frozenset({"list", "tuple", "reversed"})


def filling(frame: Frame, node: ast.AST) -> ast.expr | None:
    """The window that an argument is, or holds, if it is shorter in the first rounds."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return next((found for item in node.elts if (found := filling(frame, item)) is not None), None)
    if isinstance(node, ast.Dict):
        return next((found for item in node.values if (found := filling(frame, item)) is not None), None)
    for made in _meant(frame, node):
        name = _windowed(frame, made)
        if name is not None and _grows(frame, name, dotted_name(node)):
            return made
    return None


def _meant(frame: Frame, node: ast.AST) -> list[ast.expr]:
    """An expression, or what its name is bound to in the loop around."""
    if not isinstance(node, ast.Name):
        return [node] if isinstance(node, (ast.Subscript, ast.Call)) else []
    bound = bindings_of(frame).of(node.id)
    return bound if len(bound) == 1 else []


def _windowed(frame: Frame, node: ast.expr) -> str | None:
    """The collection of which an expression takes the last few: `seen[-n:]`, `list(recent)` of a bounded deque."""
    while isinstance(node, ast.Call) and dotted_name(node.func) in _COPIES and len(node.args) == 1:
        node = node.args[0]
        name = dotted_name(node)
        if name is not None and any(map(_is_bounded_deque, _bound(frame, name))):
            return name
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return None
    cut = node.slice
    from_end = isinstance(cut.lower, ast.UnaryOp) and isinstance(cut.lower.op, ast.USub)
    one = isinstance(cut.lower, ast.UnaryOp) and getattr(cut.lower.operand, "value", None) == 1
    return (
        dotted_name(node.value) if from_end and not one and cut.upper is None and cut.step is None else None
    )


def _is_bounded_deque(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or (dotted_name(node.func) or "").rpartition(".")[2] != "deque":
        return False
    bound = next((k.value for k in node.keywords if k.arg == "maxlen"), None) or next(
        iter(node.args[1:]), None
    )
    return bound is not None and getattr(bound, "value", None) != 1


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.List):
        return not node.elts
    if not isinstance(node, ast.Call) or (dotted_name(node.func) or "").rpartition(".")[2] not in (
        "deque",
        "list",
    ):
        return False
    return not node.args or (isinstance(node.args[0], (ast.List, ast.Tuple)) and not node.args[0].elts)


def _holder(frame: Frame, name: str) -> ast.AST | None:
    """What may fill the collection of that name: the class of `self.seen`, else the loops around."""
    owner, dot, _ = name.rpartition(".")
    if not dot:
        return frame.loops[0].node if frame.loops else None
    held = frame.names.get(owner)
    if held is None or held.kind != INSTANCE or held.data.cls.module is not frame.module:
        return None
    node: ast.AST = held.data.cls.node
    return node


def _bound(frame: Frame, name: str) -> list[ast.expr]:
    """What a name or a field is bound to, but for being cut to the window itself."""
    if "." not in name:
        found = bindings_of(frame).of(name)
    else:
        holder = _holder(frame, name)
        stores = walk(holder) if holder is not None else ()
        found = [
            n.value
            for n in stores
            if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None and _stores(n, name)
        ]
    return [v for v in found if not (isinstance(v, ast.Subscript) and dotted_name(v.value) == name)]


def _stores(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    field = name.rpartition(".")[2]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(t, ast.Attribute) and t.attr == field for t in targets)


def _grows(frame: Frame, name: str, window: str | None) -> bool:
    """Whether it begins empty, is added to in each round and nowhere else, and nobody asks for its length."""
    holder = _holder(frame, name)
    bound = _bound(frame, name)
    if holder is None or not bound or not all(map(_is_empty, bound)):
        return False
    known = f"self.{name.rpartition('.')[2]}" if "." in name else name
    inside = walk(holder)
    if "." in name:
        beginning = [
            n for m in inside if isinstance(m, ast.FunctionDef) and m.name in _BEGINNING for n in walk(m)
        ]
        if any(_adds(n, known) for n in beginning):
            return False
    elif frame.function is not None and any(_adds(n, name) for n in _outside(frame, holder)):
        return False
    return any(_adds(n, known) for n in inside) and not any(
        _asks_length(n, {known, window or known}) and not _only_takes(n, known) for n in inside
    )


def _outside(frame: Frame, loop: ast.AST) -> Iterator[ast.AST]:
    """The nodes of the function in front of a loop."""
    assert frame.function is not None
    for node in own_nodes(frame.function.node):
        if getattr(node, "lineno", loop.lineno) < loop.lineno:  # type: ignore[attr-defined]  # every loop has a line
            yield node


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and dotted_name(node.target) == name
    callee = node.func if isinstance(node, ast.Call) else None
    return isinstance(callee, ast.Attribute) and callee.attr in _ADDING and dotted_name(callee.value) == name


def _asks_length(node: ast.AST, names: set[str]) -> bool:
    """`if len(seen) < n`, `while len(clip) < n`; `[first] * (n - len(clip))` fills what is missing."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        test: ast.AST = node.test
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Mult)):
        test = node
    else:
        return False
    return any(
        isinstance(n, ast.Call)
        and dotted_name(n.func) == "len"
        and n.args
        and dotted_name(n.args[0]) in names
        for n in walk(test)
    )


def _only_takes(node: ast.AST, name: str) -> bool:
    """`if len(seen) > n: seen.pop(0)`: it is kept short, not kept back."""
    if not isinstance(node, (ast.If, ast.While)) or node.orelse:
        return False
    for statement in node.body:
        if isinstance(statement, ast.Delete):
            continue
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if isinstance(value, ast.Subscript) and dotted_name(value.value) == name:
            continue
        callee = value.func if isinstance(value, ast.Call) else None
        if not isinstance(callee, ast.Attribute) or callee.attr not in _TAKING:
            return False
    return True
