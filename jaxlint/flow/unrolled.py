"""Python loops in traced code: every round of them is traced and compiled by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.facts import Unrolled
from jaxlint.flow.frame import Frame, Loop, evaluate
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.values import (
    CONSTANT,
    HOST,
    INDEXER,
    NUMBERS,
    PARAMETER,
    SHAPE,
    TRACED,
    TRACERS,
    TREE,
    UNKNOWN,
    Value,
)
from jaxlint.flow.walking import walk

LONG = 16  # rounds of one loop
LONG_NEST = 64  # rounds of nested loops together

# What the rounds of a loop over layers run through.
_LAYERS = ("layer", "depth", "block", "stage", "level", "module", "unroll")
_SIZED = frozenset({"zeros", "ones", "full", "empty", "eye", "arange", "linspace", "reshape", "broadcast_to"})


class Rounds(NamedTuple):
    """How often a loop runs: a number, or the length of an axis of the array `name`."""

    number: int | None
    bound: str  # "constant", "default" or "shape"
    name: str = ""


def rounds(frame: Frame, iterable: Value) -> Rounds | None:
    """How often a loop over a `range` runs, where that is known when it is traced."""
    origin = iterable.origin
    if origin is None or origin.word != "range" or not isinstance(origin.extra, tuple):
        return None
    node = origin.node
    nodes = node.args if isinstance(node, ast.Call) and len(node.args) == len(origin.extra) else []
    numbers: list[int] = []
    name = ""
    for position, value in enumerate(origin.extra):
        if value.kind == CONSTANT and type(value.data) is int:
            numbers.append(value.data)
            continue
        at = nodes[position] if nodes and origin.module is frame.module else None
        if value.kind == SHAPE and position == len(origin.extra[:2]) - 1:
            array = measured(frame, at)
            return Rounds(None, "shape", array) if array else None
        default = _default(frame, at) if value.kind == UNKNOWN else None
        if default is None:
            return None
        name = at.id if isinstance(at, ast.Name) else name
        numbers.append(default)
    if not numbers or (len(numbers) == 3 and numbers[2] == 0):
        return None
    return Rounds(len(range(*numbers)), "default" if name else "constant", name)


def _default(frame: Frame, node: ast.expr | None) -> int | None:
    """The number that a parameter has when nobody passes another."""
    if frame.function is None or not isinstance(node, ast.Name):
        return None
    default = frame.function.defaults.get(node.id)
    if isinstance(default, ast.Constant) and type(default.value) is int:
        return default.value
    return None


def measured(frame: Frame, node: ast.expr | None) -> str:
    """The array whose axis `node` is the length of: `x.shape[0]`, `len(x)`, or a name that holds one."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        return (dotted_name(node.value.value) or "") if node.value.attr == "shape" else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return dotted_name(node.args[0]) or ""
    if isinstance(node, ast.Name) and frame.function is not None:
        for value, whole in _assigned(frame.function.node, node.id):
            if whole and isinstance(value, ast.Attribute) and value.attr == "shape":
                return dotted_name(value.value) or ""
            if not whole and not isinstance(value, ast.Name):
                return measured(frame, value)
    return ""


def _assigned(scope: ast.AST, name: str) -> Iterator[tuple[ast.expr, bool]]:
    """(value, whether it is unpacked) of the assignments of a name."""
    for node in walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    yield node.value, False
                elif isinstance(target, ast.Tuple) and name in [dotted_name(t) for t in target.elts]:
                    yield node.value, True


def counted(frame: Frame, node: ast.While, before: dict[str, Value]) -> Rounds | None:
    """How often `while i < n: …; i += 1` runs."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name)):
        return None
    if not isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return None
    start = before.get(test.left.id)
    steps = [s for s in node.body if isinstance(s, ast.AugAssign) and dotted_name(s.target) == test.left.id]
    if start is None or start.kind != CONSTANT or type(start.data) is not int or len(steps) != 1:
        return None
    step, stop = evaluate(frame, steps[0].value), evaluate(frame, test.comparators[0])
    if not (isinstance(steps[0].op, ast.Add) and type(step.data) is int and step.data > 0):
        return None
    bound, name = stop.data, ""
    if stop.kind == UNKNOWN:
        bound, name = _default(frame, test.comparators[0]), dotted_name(test.comparators[0]) or ""
    if type(bound) is not int:
        return None
    last = bound + isinstance(test.ops[0], ast.LtE)
    return Rounds(len(range(start.data, last, step.data)), "default" if name else "constant", name)


def note_loop(frame: Frame, loop: Loop, before: dict[str, Value]) -> None:
    """A loop of traced code has been walked through."""
    node = loop.node
    if isinstance(node, ast.While):
        found, target = (
            counted(frame, node, before),
            node.test.left if isinstance(node.test, ast.Compare) else None,
        )
    elif isinstance(node, ast.For) and loop.iterable is not None:
        found, target = rounds(frame, loop.iterable), node.target
    else:
        return
    if found is None:
        return
    total = None if found.number is None else found.number * loop.inner
    outer = frame.loops[-1] if frame.loops else None
    if outer is not None and total is not None:
        outer.inner = max(outer.inner, total)
    if not _is_long(found, total, loop.inner) or any(_runs_long(frame, around) for around in frame.loops):
        return
    assert isinstance(node, (ast.For, ast.While))
    # What indexes a traced array by the loop variable works on arrays, whatever becomes of it.
    works = found.bound == "shape" or _leaves_arrays(frame, node)
    if not works or not _Body(frame, node, node.body, target, found).unrolls_work():
        return
    at = node.iter if isinstance(node, ast.For) else node.test
    _record(frame, at, node, found, total, "while" if isinstance(node, ast.While) else "for")


def note_unrolled(
    frame: Frame,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    iterable: Value,
    element: Value,
) -> None:
    """A comprehension of traced code has been walked through."""
    found = rounds(frame, iterable)
    if (
        found is None
        or not _holds_tracers(element)
        or any(_runs_long(frame, around) for around in frame.loops)
    ):
        return
    target = node.generators[0].target
    made = node.value if isinstance(node, ast.DictComp) else node.elt
    if _is_long(found, found.number, 1) and _Body(frame, node, [made], target, found).unrolls_work():
        _record(frame, node.generators[0].iter, node, found, found.number, "comprehension")


def _is_long(found: Rounds, total: int | None, inner: int) -> bool:
    if found.number is None or total is None:
        return True
    return found.number >= LONG or (total >= LONG_NEST and inner < LONG)


def _runs_long(frame: Frame, loop: Loop) -> bool:
    """The loop around is reported instead."""
    found = rounds(frame, loop.iterable) if loop.iterable is not None else None
    return found is not None and (found.number or 0) >= LONG


def _record(frame: Frame, at: ast.AST, node: ast.AST, found: Rounds, total: int | None, form: str) -> None:
    frame.record(
        Unrolled(
            frame.place(at),
            frame.symbol,
            frame.proof(),
            loop=frame.place(node),
            rounds=total,
            bound=found.bound,
            name=found.name,
            form=form,
        )
    )


def _leaves_arrays(frame: Frame, node: ast.For | ast.While) -> bool:
    """Whether the rounds leave arrays behind: in a name, or in a container they fill."""
    for child in _nodes(node.body):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            value = frame.names.get(child.id)
            if value is not None and _holds_tracers(value):
                return True
        fills = isinstance(child, ast.Attribute) and child.attr in ("append", "extend")
        if fills and _holds_tracers(evaluate(frame, child.value)):  # type: ignore[attr-defined]
            return True
    return False


def _holds_tracers(value: Value) -> bool:
    if value.kind in TRACERS:
        return True
    if value.kind != TREE:
        return False
    if value.data.__class__ is list:
        return any(_holds_tracers(member) for member in value.data)
    return value.element is not None and _holds_tracers(value.element)


def _nodes(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    for child in body:
        yield from walk(child)


class _Body:
    """What the rounds of a loop do with its variable."""

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        body: list[ast.stmt] | list[ast.expr],
        target: ast.expr | None,
        found: Rounds,
    ) -> None:
        self.frame = frame
        self.node = node
        self.nodes = list(_nodes(body))
        self.found = found
        self.variables = (
            {n.id for n in walk(target) if isinstance(n, ast.Name)} if target is not None else set()
        )

    def unrolls_work(self) -> bool:
        """Array work that is the same in each round, on arrays that the loop variable indexes."""
        if self._is_of_layers() or not any(isinstance(n, (ast.Call, ast.BinOp)) for n in self.nodes):
            return False
        indexed = [n for n in self.nodes if isinstance(n, ast.Subscript) and self._uses_variable(n.slice)]
        if any(not self._is_array(n.value) or self._changes_shape(n.slice) for n in indexed):
            return False
        if self.found.bound == "shape":
            return any(self._is_measured(n.value) for n in indexed)
        return True

    def _is_of_layers(self) -> bool:
        words = ast.dump(self.node.iter if isinstance(self.node, ast.For) else self.node).lower()
        if isinstance(self.node, ast.For) and any(word in words for word in _LAYERS):
            return True
        for node in self.nodes:
            if isinstance(node, ast.JoinedStr) and self._uses_variable(node):
                return True  # names a layer
            if isinstance(node, ast.Call):
                name = (dotted_name(node.func) or "").rpartition(".")[2]
                if name[:1].isupper():
                    return True  # makes one
                if name in _SIZED and any(self._uses_variable(a) for a in node.args):
                    return True  # another shape in each round
        return False

    def _uses_variable(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.variables for n in walk(node))

    def _is_array(self, node: ast.expr) -> bool:
        value = evaluate(self.frame, node)
        if value.kind in (TRACED, HOST, INDEXER, SHAPE):
            return True
        if value.kind == TREE:
            element = value.element or (
                value.data[0] if value.data.__class__ is list and value.data else None
            )
            return element is not None and element.kind in NUMBERS
        return value.kind == PARAMETER and self._is_measured(node)

    def _is_measured(self, node: ast.expr) -> bool:
        """The code asks for its shape, as it does of no list."""
        if isinstance(node, ast.Attribute) and node.attr == "at":
            node = node.value
        name = dotted_name(node)
        if name is None:
            return False
        if name == self.found.name:
            return True
        function = self.frame.function
        asked = self.found.bound != "shape" and function is not None and walk(function.node)
        return any(
            isinstance(child, ast.Attribute)
            and child.attr in ("shape", "ndim", "dtype", "at")
            and dotted_name(child.value) == name
            for child in asked or ()
        )

    def _changes_shape(self, index: ast.expr) -> bool:
        """`x[i:]`: another shape in each round."""
        for node in walk(index):
            if isinstance(node, ast.Slice):
                moving = [b for b in (node.lower, node.upper) if b is not None and self._uses_variable(b)]
                if len(moving) == 1:
                    return True
        return False
