"""Lists that a loop with an open end fills: an episode, a decoded text, what is read until nothing comes.

Looked up by syntax. An end is open where neither a count nor a length decides it: `while not done`, a `break`
under `if reward > 0`. What is filled up to a length afterwards has that length.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.flow.domain.kinds import SCALAR, TREE
from jaxlint.flow.domain.origin_words import ACCUMULATOR, LENGTH, ROUNDS
from jaxlint.flow.domain.tags import BOUNDED, RAGGED
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of, scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name

_ADDING = frozenset({"append", "extend", "add"})
_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_PASSING_ON = frozenset({"abs", "bool", "int", "float", "round"})  # builtins that ask nobody


def open_loop(frame: Frame, node: ast.AST) -> ast.AST | None:
    """The loop that filled the list of this name with as many members as it happened to go round."""
    if not isinstance(node, ast.Name) or not hasattr(node, "lineno"):
        return None
    loop = _filling(frame, node.id)
    ended = loop is not None and (loop.end_lineno or loop.lineno) < node.lineno  # type: ignore[attr-defined]  # both have lines
    return loop if ended else None


def _filling(frame: Frame, name: str) -> ast.AST | None:
    """The loop with an open end that fills the list of this name, which is empty before."""
    bound = bindings_of(frame).of(name)
    if len(bound) != 1 or not _is_empty_list(bound[0]):
        return None
    key = (bound[0], name)
    if key not in frame.run.filled:
        frame.run.filled[key] = _open_loop(scope_of(frame), name, bound[0])
    return frame.run.filled[key]


def note_filled(frame: Frame, loop: ast.AST, names: Iterable[str], source: Value | None) -> None:
    """After a loop with an open end, the lists of these names that it filled have as many members as it happened to
    go round, and after a loop over a `source` of its own length as many as that: so do those that they are put
    into, or that a function returns."""
    for name in names:
        value = frame.names.get(name)
        if value is None or value.kind != TREE or value.tags & BOUNDED:
            continue
        if _filling(frame, name) is loop:
            varies, origin = PER_ITERATION if frame.loop else PER_CALL, Origin(frame.module, loop, LENGTH)
        elif source is not None and _fills_alone(frame, loop, name):
            varies, origin = source.varies, source.origin or Origin(frame.module, loop, LENGTH)
        else:
            continue
        frame.names[name] = Value(TREE, varies, value.tags | RAGGED, None, value.element, origin)


def _fills_alone(frame: Frame, loop: ast.AST, name: str) -> bool:
    """Whether nothing else fills the list of this name, and nothing asks how long it is."""
    bound = bindings_of(frame).of(name)
    if len(bound) != 1 or not _is_empty_list(bound[0]):
        return False
    scope = scope_of(frame)
    adding = [node for node in own_nodes(scope) if _adds(node, name)]
    inside = set(walk(loop))
    return all(node in inside for node in adding) and not any(map(_asks_length, _ends(loop)))


def note_counts(frame: Frame, loop: ast.AST, names: Iterable[str]) -> None:
    """After a loop with an open end, what it counted up says how often it happened to go round."""
    ends = list(_ends(loop))
    if not ends or not all(_is_open(loop, test) for test in ends):
        return
    for name in names:
        value = frame.names.get(name)
        if value is None or value.kind != SCALAR or value.origin is None or value.origin.word != ACCUMULATOR:
            continue
        if _is_within(value.origin.node, loop):
            frame.names[name] = value.but(origin=value.origin._replace(word=ROUNDS))


def _is_within(node: ast.AST, loop: ast.AST) -> bool:
    return any(part is node for part in walk(loop))


def flushes(loop: ast.AST) -> set[ast.AST]:
    """The nodes that empty a list where the loop has found out something, at the end of an episode say: until then
    the list has become as long as it happened to."""
    found: set[ast.AST] = set()
    for test in own_nodes(loop):
        if not isinstance(test, ast.If) or not all(_is_open(loop, part) for part in _operands(test.test)):
            continue
        asked = {name for part in walk(test.test) if (name := dotted_name(part)) is not None}
        for node in (n for child in test.body for n in walk(child)):
            if isinstance(node, ast.Assign) and _is_empty_list(node.value):
                emptied = [dotted_name(target) for target in node.targets]
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "clear"
            ):
                emptied = [dotted_name(node.func.value)]
            else:
                continue
            if asked.isdisjoint(filter(None, emptied)):
                found.add(node)
    return found


def _is_empty_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return dotted_name(node.func) == "list" and not node.args
    return isinstance(node, ast.List) and not node.elts


def _open_loop(scope: ast.AST, name: str, made: ast.expr) -> ast.AST | None:
    filling = [
        loop
        for loop in own_nodes(scope)
        if isinstance(loop, _LOOPS) and loop.lineno > made.lineno and any(_adds(n, name) for n in walk(loop))
    ]
    if any(_adds_what_is_missing(node, name) for node in own_nodes(scope)):
        return None
    found = [loop for loop in filling if any(_is_open(loop, test) for test in _ends(loop))]
    to_length = (loop for loop in filling if loop not in found and any(map(_asks_length, _ends(loop))))
    return found[0] if found and not any(to_length) else None


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call):
        callee = node.func
        return (
            isinstance(callee, ast.Attribute) and callee.attr in _ADDING and dotted_name(callee.value) == name
        )
    return isinstance(node, ast.AugAssign) and dotted_name(node.target) == name


def _adds_what_is_missing(node: ast.AST, name: str) -> bool:
    """`xs += [0] * (n - len(xs))`, `xs.extend(pad(n - len(xs)))`."""
    return _adds(node, name) and any(_asks_length(part) for part in walk(node))


def _ends(loop: ast.AST) -> Iterator[ast.expr]:
    """The tests that end a loop, taken apart at `and` and `or`."""
    tests = [loop.test] if isinstance(loop, ast.While) else []
    for node in own_nodes(loop):
        if isinstance(node, ast.If) and any(isinstance(n, ast.Break) for n in node.body):
            tests.append(node.test)
    for test in tests:
        yield from _operands(test)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _operands(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _operands(test.operand)
    elif not isinstance(test, ast.Constant):
        yield test


def _is_open(loop: ast.AST, test: ast.expr) -> bool:
    """Whether something that the loop finds out decides."""
    if _asks_length(test):
        return False
    calls = [n for n in walk(test) if isinstance(n, ast.Call)]
    if any(dotted_name(call.func) not in _PASSING_ON for call in calls):
        return True
    names = {n.id for n in walk(test) if isinstance(n, ast.Name)}
    return bool(names & _found_out(loop))


def _found_out(loop: ast.AST) -> set[str]:
    """The names that a loop binds to something else than a count."""
    found: set[str] = set()
    for node in own_nodes(loop):
        if isinstance(node, ast.Assign):
            if _asks_length(node.value):
                continue  # `full = len(batch) == size`
            found.update(n.id for target in node.targets for n in walk(target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant):
            found.update(n.id for n in [node.target] if isinstance(n, ast.Name))
        elif isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
    return found


def _asks_length(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and dotted_name(n.func) == "len" for n in walk(node))
