"""How often a Python loop goes round, where that is known when the code is read or traced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.calls.argument_binding import default_of
from jaxlint.flow.domain.kinds import CONSTANT, INSTANCE, SHAPE, UNKNOWN
from jaxlint.flow.domain.values import Origin, Value
from jaxlint.flow.frame import Frame, evaluate
from jaxlint.flow.syntax.annotations import annotation_text
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.flow.syntax.handed_on import handed_on
from jaxlint.flow.syntax.options import option_default
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

# Holds its members, a few, as they are: its length is no axis of an array.
_CONTAINER = pattern(
    r"(?:\w+\.)*(?:Optional\[|Union\[)*(?:\w+\.)*"
    r"(?:tuple|list|dict|sequence|mutablesequence|mapping|mutablemapping|iterable|collection)\b",
    re.IGNORECASE,
)

SAME_LENGTH = frozenset({"enumerate", "reversed", "list", "tuple", "tqdm", "track"})
_LEAVING = (ast.Break, ast.Continue, ast.Return)


class Rounds(NamedTuple):
    """How often a loop runs: a number, or the length of an axis of the array `name`."""

    number: int | None
    bound: str  # "constant", "default" or "shape"
    name: str = ""


def how_often(frame: Frame, iterable: Value, source: ast.expr) -> Rounds | None:
    """How often a loop runs over what `source` says and gives: a range, points of a line, or either under
    `enumerate`, `reversed` and their like, or beside others in a `zip`."""
    found = rounds(frame, iterable) or points(frame, source)
    if found is not None or not isinstance(source, ast.Call):
        return found
    inner = handed_on(frame, source)
    if inner is not source:
        return how_often(frame, look(frame, inner), inner)
    if not source.args:
        return None
    name = last_name(source.func)
    if name in SAME_LENGTH:
        return how_often(frame, look(frame, source.args[0]), source.args[0])
    if name != "zip" or any(isinstance(a, ast.Starred) for a in source.args):
        return None
    every = [how_often(frame, look(frame, a), a) for a in source.args]
    known = [each for each in every if each is not None and each.number is not None]
    return min(known, key=lambda each: each.number or 0, default=None)


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
        name = dotted_name(at) or name if at is not None else name
        numbers.append(default)
    if not numbers or (len(numbers) == 3 and numbers[2] == 0):
        return None
    return Rounds(len(range(*numbers)), "default" if name else "constant", name)


def yielded_in_rounds(frame: Frame) -> Origin | None:
    """What a generator gives comes of a range where loops over numbers in view do nothing but yield: a function has
    been run."""
    body: list[ast.stmt] = frame.function.node.body if frame.function is not None else []  # type: ignore[assignment]  # no lambda yields
    number, loop = 1, None
    yields = [n for n in own_nodes(scope_of(frame)) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    while len(yields) == 1 and isinstance(yields[0], ast.Yield):
        around = [s for s in body if any(n is yields[0] for n in walk(s))]
        if len(around) != 1 or not isinstance(around[0], ast.For):
            break
        loop = around[0]
        found = how_often(frame, look(frame, loop.iter), loop.iter)
        if found is None or found.number is None or any(isinstance(n, _LEAVING) for n in walk(loop)):
            return None
        number, body = number * found.number, loop.body
    else:
        return None
    plain = len(around) == 1 and isinstance(around[0], ast.Expr) and around[0].value is yields[0]
    if loop is None or not plain:
        return None
    return Origin(frame.module, loop, "range", (Value(CONSTANT, data=number),))


def points(frame: Frame, source: ast.expr) -> Rounds | None:
    """How often a loop over `np.linspace(a, b, n)` or `np.arange(n)` runs."""
    name = last_name(source.func) if isinstance(source, ast.Call) else ""
    if name not in ("linspace", "arange") or not isinstance(source, ast.Call):
        return None
    if str(look(frame, source.func).data).rpartition(".")[0] not in ("numpy", "jax.numpy"):
        return None
    given = source.args[2:3] if name == "linspace" else source.args if len(source.args) == 1 else []
    given = [*given, *(k.value for k in source.keywords if k.arg == "num")]
    number = look(frame, given[0]).data if given else None
    return Rounds(number, "constant") if type(number) is int else None


def counted_members(frame: Frame, source: ast.expr) -> int | None:
    """How many members a loop goes through: those of a counted range, of keys that are split, of the two by
    `enumerate`, `reversed` or `zip`; None where that is not written there."""
    if not isinstance(source, ast.Call):
        return None
    name = last_name(source.func)
    if name in SAME_LENGTH and source.args:
        return counted_members(frame, source.args[0])
    if name == "zip":
        known = [count for a in source.args if (count := counted_members(frame, a)) is not None]
        return min(known, default=None)
    if name == "split" and look(frame, source.func).data == "jax.random.split":
        given = source.args[1:2] + [k.value for k in source.keywords if k.arg == "num"]
        number = look(frame, given[0]).data if given else 2
        return number if type(number) is int else None
    found = rounds(frame, look(frame, source))
    return found.number if found is not None else None


def _default(frame: Frame, node: ast.expr | None) -> int | None:
    """The number that a parameter has, or an option of the command line, when nobody passes another."""
    option = option_default(frame.module, node)
    if option is not None:
        return option
    if frame.function is None or not isinstance(node, ast.Name):
        return None
    default = frame.function.defaults.get(node.id)
    if default is None:
        return None
    number = option_default(frame.function.module, default)
    number = default_of(frame.function, default, frame.run.program).data if number is None else number
    return number if type(number) is int else None


def measured(frame: Frame, node: ast.expr | None) -> str:
    """The array whose axis `node` is the length of: `x.shape[0]`, `len(x)`, or a name that holds one."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        return (dotted_name(node.value.value) or "") if node.value.attr == "shape" else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        name = dotted_name(node.args[0]) or ""
        return "" if _CONTAINER.match(_annotation(frame, name)) else name
    if isinstance(node, ast.Name) and frame.function is not None:
        for value, whole in _assigned(frame.function.node, node.id):
            if whole and isinstance(value, ast.Attribute) and value.attr == "shape":
                return dotted_name(value.value) or ""
            if not whole and not isinstance(value, ast.Name):
                return measured(frame, value)
    return ""


def _annotation(frame: Frame, name: str) -> str:
    """What the code says a name is: a parameter that is not bound again, a variable or a field."""
    owner, _, field = name.rpartition(".")
    if owner:
        held = frame.names.get(owner)
        return held.data.cls.annotation(field) if held is not None and held.kind == INSTANCE else ""
    function = frame.function
    while function is not None:
        for node in walk(function.node):
            if isinstance(node, ast.AnnAssign) and dotted_name(node.target) == name:
                return annotation_text(node.annotation)
        if any(_assigned(function.node, name)):
            return ""
        if name in function.index or name in function.keyword_only:
            return function.annotations.get(name, "")
        function = function.parent
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
    if stop.kind == SHAPE:
        array = measured(frame, test.comparators[0])
        return Rounds(None, "shape", array) if array else None
    bound, name = stop.data, ""
    if stop.kind == UNKNOWN:
        bound, name = _default(frame, test.comparators[0]), dotted_name(test.comparators[0]) or ""
    if type(bound) is not int:
        return None
    last = bound + isinstance(test.ops[0], ast.LtE)
    return Rounds(len(range(start.data, last, step.data)), "default" if name else "constant", name)
