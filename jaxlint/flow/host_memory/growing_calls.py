"""The loop of a caller in which a container grows: `add(kept, x)` in a loop is `kept.append(x)` in another dress.

The container is a parameter of the function that fills it, or a variable of a function, or the module, around it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory.kept_bounds import is_emptied, is_sampled
from jaxlint.flow.statements.loop_sources import kind_of_loop
from jaxlint.flow.syntax.bindings import bindings_of, scope_of
from jaxlint.flow.syntax.entries import passed_for
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name

ENDLESS = ("stream", "loader")  # what a loop without an end runs over, see `facts.Append`
_DEPTH = 3
Loops = (ast.For, ast.AsyncFor, ast.While)


class GrowingCall(NamedTuple):
    """A loop that calls what fills the container: the frame it stands in, what it runs over (see `facts.Append`),
    and what is known of the container there. `around` are the loops that the container grows in, that loop first.
    `rounds` is the code that runs in each round: the loop, and the functions on the way."""

    frame: Frame
    loop: ast.For | ast.AsyncFor | ast.While
    over: str
    emptied: bool
    sampled: bool
    around: tuple[ast.For | ast.AsyncFor | ast.While, ...]
    rounds: tuple[Place, ...]


def is_anothers(frame: Frame, name: str) -> bool:
    """Whether a container is one that the function has not made: the caller's, or that of a function around it."""
    function = frame.function
    if function is None or bindings_of(frame).of(name):
        return False
    return name in function.index or name in function.keyword_only or name not in frame.names


def growing_call(frame: Frame, name: str, depth: int = _DEPTH) -> GrowingCall | None:
    """The innermost loop in which a call leads here with the same container each time; one without an end, if
    that is around it."""
    if not depth or not is_anothers(frame, name):
        return None
    for caller, call, there in _calls(frame, name):
        loops = list(_growing(caller, call, there))
        kinds = [kind_of_loop(caller, loop, bindings_of(caller)) for loop in loops]
        for loop, kind in sorted(zip(loops, kinds, strict=True), key=lambda pair: pair[1] not in ENDLESS):
            emptied = is_emptied(caller, there, loop, scope_of(caller))
            rounds = (caller.place(loop), frame.place(scope_of(frame)))
            around = tuple(loops[loops.index(loop) :])
            return GrowingCall(caller, loop, kind, emptied, is_sampled(loop, call), around, rounds)
        farther = growing_call(caller, there, depth - 1) if not _loops(caller, call) else None
        if farther is not None:
            return farther._replace(rounds=(*farther.rounds, frame.place(scope_of(frame))))
    return None


def _calls(frame: Frame, name: str) -> Iterator[tuple[Frame, ast.AST, str]]:
    """The calls that entered a function, the frames in which they stand, and the name of the container there."""
    function = frame.function
    assert function is not None
    if name in function.index or name in function.keyword_only:
        for caller, given in passed_for(frame, name):
            while isinstance(given, ast.Subscript):  # `add(kept["frames"], x)`
                given = given.value
            there = dotted_name(given)
            if there is not None:
                yield caller, given, there
        return
    owner = _owner(frame, name)
    for caller, node in frame.evaluation.entries:
        mine = caller.evaluation is owner if owner is not None else caller.function is None
        if caller.module is frame.module and (mine or is_anothers(caller, name)) and hasattr(node, "lineno"):
            yield caller, node, name


def _owner(frame: Frame, name: str) -> object | None:
    """The evaluation around a function that has the variable; None for the module."""
    scope = frame.outer
    while scope is not None and name not in scope.names:
        scope = scope.up
    return scope.home if scope is not None else None


def _loops(frame: Frame, node: ast.AST) -> list[ast.For | ast.AsyncFor | ast.While]:
    """The loops around a node in its function, the innermost first."""
    around = [
        n
        for n in own_nodes(scope_of(frame))
        if isinstance(n, Loops) and any(part is node for statement in n.body for part in walk(statement))
    ]
    return sorted(around, key=lambda loop: loop.lineno, reverse=True)


def _growing(frame: Frame, node: ast.AST, name: str) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
    """The loops around a call, up to one in which each round begins with another container."""
    for loop in _loops(frame, node):
        if _begins_anew(loop, node, name):
            return
        yield loop


def _begins_anew(loop: ast.For | ast.AsyncFor | ast.While, call: ast.AST, name: str) -> bool:
    """Whether something in a loop binds the container, but the call that is given it and hands it back."""
    root = name.partition(".")[0]
    for node in (loop, *own_nodes(loop)):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.For, ast.AsyncFor)):
            targets = [node.target]
        else:
            continue
        bound = {dotted_name(each) for target in targets for each in walk(target)}
        if bound & {name, root} and (value is None or not any(part is call for part in walk(value))):
            return True
    return False
