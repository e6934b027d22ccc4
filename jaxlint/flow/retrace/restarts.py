"""Fields that a method other than the passing one begins anew: `reset()` stores a state, `step()` passes it to a
boundary and stores what that gives. Whether a step meets both depends on the calls: a reset before each step leaves
it nothing but the start."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.retrace.tree_changes import Start, changes
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.index.walking import COMPREHENSIONS, REPEATING, own_nodes, walk

_TESTS = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match)
_DEPTH = 6  # calls that are followed upwards


class FieldStored(NamedTuple):
    """`self.x = …` as it ran: where, and what was stored."""

    frame: Frame
    target: ast.AST
    value: Value

    @property
    def line(self) -> int:
        return getattr(self.target, "lineno", 0)


class _Point(NamedTuple):
    """A node that ran, in the code that it stands in."""

    scope: ast.AST
    node: ast.AST


_Way = tuple[_Point, ...]  # from a node to the calls that led there, the innermost first


def restarted(
    stored: Sequence[FieldStored], others: Sequence[ast.Assign], frame: Frame, passing: ast.AST, after: Value
) -> tuple[Value, Start] | None:
    """What a field is when the rounds of a passing call begin, if another method left it there, the rounds go on
    from what the call gave (`after`), and that is another thing. `others`: the stores of the other methods."""
    known = {each.target: each for each in stored}
    starts = {node: [known[t] for t in ast.walk(node) if t in known] for node in others}
    called = [node for node, found in starts.items() if found]
    if not called:
        return None
    begun: dict[ast.Assign, FieldStored] = {}
    for way in _ways(_Point(scope_of(frame), passing), frame):
        rounds = next(((i, loop) for i, point in enumerate(way) if (loop := _loop(point)) is not None), None)
        if rounds is None:
            continue
        depth, loop = rounds
        for node in called:
            for each in starts[node]:
                for other in _ways(_Point(scope_of(each.frame), each.target), each.frame):
                    if _each_round(other, loop):
                        return None
                    if _comes_before(other, way[depth:]):
                        begun[node] = each
    found: list[tuple[Value, Start]] = []
    for node, each in begun.items():
        start = Start(each.frame.module, node.value if each.target in node.targets else each.target)
        if next(changes(each.value, after, start), None) is None:
            return None  # the rounds may begin with this
        found.append((each.value, start))
    return found[0] if found else None


def runs_again(frame: Frame) -> bool:
    """Whether a loop in view runs the calls that lead to a function."""
    for caller, node in frame.evaluation.entries:
        ways = _ways(_Point(scope_of(caller), node), caller)
        if any(_loop(point) is not None for way in ways for point in way):
            return True
    return False


def _ways(point: _Point, frame: Frame, depth: int = 0) -> Iterator[_Way]:
    """The chains of calls that lead to a node, as far as they are in view."""
    entries = {node: caller for caller, node in frame.evaluation.entries if hasattr(node, "lineno")}
    if not entries or depth == _DEPTH:
        yield (point,)
        return
    for node, caller in entries.items():
        for way in _ways(_Point(scope_of(caller), node), caller, depth + 1):
            yield (point, *way)


def _loop(point: _Point) -> ast.AST | None:
    """The innermost loop of its function that runs a node again and again."""
    loops = [n for n in own_nodes(point.scope) if isinstance(n, REPEATING) and point.node in _rounds(n)]
    return loops[-1] if loops else None


def _rounds(loop: ast.AST) -> set[ast.AST]:
    """What a loop runs in each round."""
    if isinstance(loop, COMPREHENSIONS):
        return set(walk(loop)) - set(walk(loop.generators[0].iter))
    body: list[ast.stmt] = getattr(loop, "body", [])
    asked = [loop.test] if isinstance(loop, ast.While) else []
    return {node for each in (*body, *asked) for node in walk(each)}


def _each_round(way: _Way, loop: ast.AST) -> bool:
    """Whether a way goes through a loop with no test from there on."""
    body = _rounds(loop)
    at = next((i for i, point in enumerate(way) if point.node in body), None)
    return at is not None and not any(_is_tested(point, loop) for point in way[: at + 1])


def _is_tested(point: _Point, loop: ast.AST) -> bool:
    """Whether a node stands under a test, in its function or the loop that it is in."""
    inside = walk(loop) if loop in own_nodes(point.scope) else own_nodes(point.scope)
    return any(isinstance(n, _TESTS) and point.node in walk(n) for n in inside)


def _comes_before(way: _Way, rounds: _Way) -> bool:
    """Whether what one way leads to has run when the other gets to its loop: where they meet, in one function, it
    stands further up, or both in one loop around."""
    for one in way:
        for other in rounds:
            if one.scope is other.scope:
                if getattr(one.node, "lineno", 0) <= getattr(other.node, "lineno", 0):
                    return True
                around = _loop(other)
                return around is not None and one.node in _rounds(around)
    return False
