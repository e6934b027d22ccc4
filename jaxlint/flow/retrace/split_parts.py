"""The parts that `split` and `array_split` cut an array into, where they are not of one length."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.origin_words import FEW, LENGTH, PERHAPS_UNEVEN, UNEVEN
from jaxlint.flow.domain.tags import RAGGED
from jaxlint.flow.domain.values import Origin, Value, collection
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace.last_batches import remainder
from jaxlint.flow.shapes.made_sizes import Moving
from jaxlint.flow.shapes.run_shapes import RunShapes
from jaxlint.flow.shapes.shape_values import Array, Number
from jaxlint.flow.statements.iteration import FEW as MOST
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look
from jaxlint.index.written_names import last_name

_SPLITTING = frozenset({"split", "array_split", "vsplit"})
# What counts the members of groups, or draws numbers: lengths or positions that are no two alike.
_UNLIKE = frozenset(
    {"bincount", "multinomial", "unique", "flatnonzero", "nonzero", "searchsorted"}
    | {"choice", "integers", "randint", "poisson", "binomial", "geometric"}
)
_SUMMING = frozenset({"cumsum", "accumulate"})
_SAME = frozenset({"array", "asarray", "list", "tuple"})
_HOPS = 3  # from name to name


def split_unevenly(frame: Frame, kind: int, last: str, call: Call) -> Value | None:
    """`np.split(x, np.cumsum(np.bincount(labels))[:-1])`, `np.array_split(x, 7)`: parts of several lengths."""
    at = call.argument_node(1, "indices_or_sections") if last in _SPLITTING else None
    array = call.argument_node(0, "ary", "arr")
    if at is None or array is None or frame.level:
        return None
    word = _sections(frame, array, at) if last == "array_split" else ""
    word = word or _positions(frame, at)
    if not word:
        return None
    along = call.argument(2, "axis")
    first = Moving(along is None or (along.kind == CONSTANT and along.data == 0), False)
    part = Value(kind, 0, RAGGED, None, None, Origin(frame.module, call.node, word, first))
    return collection(part, Origin(frame.module, call.node, "list"))


def _sections(frame: Frame, array: ast.expr, number: ast.expr) -> str:
    """Of an array that is cut into so many parts: the first ones are longer by one where a rest is left."""
    shapes = RunShapes(frame.run.program)
    rows, parts = shapes.at(frame, array), shapes.at(frame, number)
    if not isinstance(parts, Number) or not parts.value or parts.value < 2:
        return ""
    if not isinstance(rows, Array) or not rows.shape or rows.shape[0] is None:
        return PERHAPS_UNEVEN
    return UNEVEN if rows.shape[0] % parts.value else ""


def _positions(frame: Frame, at: ast.expr) -> str:
    """Of an array that is cut at positions: why they are not at equal distances; "" where that is not known."""
    calls = list(_calls_in(frame, at, _HOPS))
    for made in calls:
        summed = _summed(made)
        if summed is not None:
            lengths = _numbers(frame, summed)
            if lengths is not None:
                return _told(lengths)
            if _are_lengths(frame, summed):
                return LENGTH
        if last_name(made.func) in ("range", "arange") and len(made.args) == 3:
            return remainder(frame, made.args[1], made.args[2])
    if any(last_name(made.func) in _UNLIKE for made in calls):
        return LENGTH
    given = _numbers(frame, at) or []
    return _told([b - a for a, b in pairwise(given)])


def _summed(made: ast.Call) -> ast.expr | None:
    """The lengths in `np.cumsum(lengths)`, `lengths.cumsum()`, `accumulate(lengths)`."""
    if last_name(made.func) not in _SUMMING:
        return None
    if made.args:
        return made.args[0]
    return made.func.value if isinstance(made.func, ast.Attribute) else None


def _told(lengths: list[int]) -> str:
    several = len(set(lengths))
    return "" if several < 2 else FEW if several <= MOST else LENGTH


def _numbers(frame: Frame, node: ast.expr) -> list[int] | None:
    """The numbers of a display in view."""
    while isinstance(node, ast.Call) and last_name(node.func) in _SAME and len(node.args) > 0:
        node = node.args[0]
    if isinstance(node, ast.Name):
        bound = _bound(frame, node.id)
        if len(bound) == 1 and isinstance(bound[0], ast.Call):
            return _numbers(frame, bound[0]) if last_name(bound[0].func) in _SAME else None
    value = look(frame, node)
    if value.kind != TREE or value.data.__class__ is not list:
        return None
    numbers = [member.data for member in value.data if member.kind == CONSTANT]
    whole = len(numbers) == len(value.data) and all(type(n) is int for n in numbers)
    return numbers if whole else None


def _are_lengths(frame: Frame, node: ast.expr) -> bool:
    """`[len(x) for x in xs]`, `list(map(len, xs))`."""
    bound = _bound(frame, node.id) if isinstance(node, ast.Name) else []
    made = bound[0] if len(bound) == 1 else node
    if isinstance(made, (ast.ListComp, ast.GeneratorExp)):
        return isinstance(made.elt, ast.Call) and last_name(made.elt.func) == "len"
    if not isinstance(made, ast.Call) or not made.args:
        return False
    if last_name(made.func) in _SAME:
        return _are_lengths(frame, made.args[0])
    return last_name(made.func) == "map" and last_name(made.args[0]) == "len"


def _calls_in(frame: Frame, node: ast.AST, hops: int) -> Iterator[ast.Call]:
    """The calls in an expression, and in what its names are bound to; not in that of which the length is asked."""
    if isinstance(node, ast.Call):
        yield node
        if last_name(node.func) == "len":
            return
    elif isinstance(node, ast.Attribute) and node.attr in ("shape", "size"):
        return
    elif isinstance(node, ast.Name) and hops:
        for bound in _bound(frame, node.id):
            yield from _calls_in(frame, bound, hops - 1)
    for part in ast.iter_child_nodes(node):
        yield from _calls_in(frame, part, hops)


def _bound(frame: Frame, name: str) -> list[ast.expr]:
    """What a name is bound to here, or else at the top level of the module."""
    own = bindings_of(frame).of(name)
    if own or frame.function is None or name in frame.names:
        return own
    return Bindings(frame.module.tree).of(name)
