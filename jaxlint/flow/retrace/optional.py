"""Arguments that are not the same tree in every round: a key that is there in some, a None, a longer list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import TREE, UNKNOWN
from jaxlint.flow.domain.origin_words import FEW
from jaxlint.flow.domain.tags import RAGGED
from jaxlint.flow.domain.values import PER_ITERATION, Value
from jaxlint.flow.facts import UnstableStructure
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.retrace.windows import filling
from jaxlint.flow.shapes.lengths import changing
from jaxlint.flow.syntax.bindings import bindings_of, look
from jaxlint.index.written_names import dotted_name

if TYPE_CHECKING:
    from jaxlint.flow.boundaries.crossing import Passed

_LOOKED_AT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class OptionalKey(NamedTuple):
    """`Origin.extra` of a dict: a key that is stored under a test which comes out differently from time to time."""

    key: object
    module: LoadedModule
    node: ast.AST
    test: ast.If


def varies(frame: Frame, test: ast.expr) -> bool:
    """Whether a test may come out differently in each round: something in it does."""
    return any(
        look(frame, node).varies >= PER_ITERATION for node in ast.walk(test) if isinstance(node, _LOOKED_AT)
    )


# ---------------------------------------------------------------- keys


def key_stored(frame: Frame, owner: Value, key: object, target: ast.AST) -> None:
    """`owner[key] = …` of a new key: is it stored each time?"""
    origin = owner.origin
    if not isinstance(key, str) or key in owner.data:
        return
    if origin is None or origin.word != "dict" or origin.extra.__class__ is not tuple:
        return
    made_under = origin.extra
    inner = frame.branches[len(made_under) :]
    if not inner or frame.branches[: len(made_under)] != made_under or not isinstance(inner[0], ast.If):
        return
    if _outlives_round(frame, origin.node) or _on_both_sides(inner[0], key):
        return  # once there, it stays
    if varies(frame, inner[0].test):
        owner.origin = origin._replace(extra=OptionalKey(key, frame.module, target, inner[0]))


def _outlives_round(frame: Frame, made: ast.AST) -> bool:
    """Whether a dict is made in front of the loop that fills it."""
    if not frame.loops or not hasattr(made, "lineno"):
        return False
    loop = frame.loops[-1].node
    return not loop.lineno <= made.lineno <= (loop.end_lineno or loop.lineno)


def _on_both_sides(branch: ast.If, key: object) -> bool:
    return all(key in _stored_keys(side) for side in (branch.body, branch.orelse))


def _stored_keys(side: list[ast.stmt]) -> set[object]:
    stores = (n for statement in side for n in ast.walk(statement) if isinstance(n, ast.Subscript))
    return {
        n.slice.value for n in stores if isinstance(n.ctx, ast.Store) and isinstance(n.slice, ast.Constant)
    }


# ---------------------------------------------------------------- values


def sometimes_none(frame: Frame, node: ast.AST) -> ast.AST | None:
    """The None that an argument is in some rounds, while it is something else in others."""
    if isinstance(node, ast.IfExp):
        sides = (node.body, node.orelse)
        nothing = next((side for side in sides if _is_none(side)), None)
        return nothing if nothing is not None and varies(frame, node.test) else None
    if not isinstance(node, ast.Name):
        return None
    bound = bindings_of(frame).of(node.id)
    if not any(_is_none(value) or isinstance(value, ast.IfExp) for value in bound):
        return None
    for loop in reversed(frame.loops):
        found = _in_body(frame, node.id, loop.node.body)
        if found is not None:
            return found
    return None


def _in_body(frame: Frame, name: str, body: list[ast.stmt]) -> ast.AST | None:
    before: ast.expr | None = None  # what the name was bound to last, in this body
    for statement in body:
        if isinstance(statement, ast.If):
            sides = [_last_bound(side, name) for side in (statement.body, statement.orelse)]
            values = [side if side is not None else before for side in sides]
            changed = any(side is not None for side in sides)
            if changed and None not in values and varies(frame, statement.test):
                nothing = [value for value in values if _is_none(value)]
                if len(nothing) == 1:
                    return nothing[0]
        value = _last_bound([statement], name)
        if isinstance(value, ast.IfExp):
            found = sometimes_none(frame, value)
            if found is not None:
                return found
        before = value if value is not None else before
    return None


def _last_bound(side: list[ast.stmt], name: str) -> ast.expr | None:
    """The value that a name has behind some statements; those under further tests are not looked at."""
    found = None
    for statement in side:
        if isinstance(statement, ast.Assign) and any(dotted_name(t) == name for t in statement.targets):
            found = statement.value
    return found


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


# ---------------------------------------------------------------- facts


class PendingUnstable(PendingFact):
    """An argument of a boundary call that is not the same tree in every round."""

    __slots__ = ("at", "how", "loop", "module", "name", "place", "proof", "state", "symbol")

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        node: ast.AST,
        name: str,
        how: str,
        module: LoadedModule,
        at: ast.AST,
    ) -> None:
        self.state = state
        self.place = frame.place(node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.loop = frame.innermost_loop()
        self.name = name
        self.how = how
        self.module = module
        self.at = at

    def fact(self) -> UnstableStructure | None:
        if not hasattr(self.at, "lineno"):
            return None
        return UnstableStructure(
            self.module.place(self.at),
            self.symbol,
            self.proof,
            name=self.name,
            how=self.how,
            use=self.place,
            boundary=describe(self.state),
            loop=self.loop,
        )


def note_unstable(frame: Frame, state: BoundaryState, node: ast.AST, arguments: list[Passed]) -> None:
    """The arguments of an eager boundary call that are not the same tree each time."""
    for passed in arguments:
        if passed.is_static(state):
            continue
        name = dotted_name(passed.node) or passed.name or "the argument"
        for how, part, module, at in _unstable(frame, passed):
            frame.log.append(PendingUnstable(frame, state, node, f"{name}{part}", how, module, at))
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        key = _optional_key(frame, look(frame, keyword.value)) if keyword.arg is None else None
        if key is not None:  # f(x, **extras)
            name = f"{dotted_name(keyword.value) or '**'}[{key.key!r}]"
            frame.log.append(PendingUnstable(frame, state, node, name, "optional key", key.module, key.node))


def _optional_key(frame: Frame, value: Value) -> OptionalKey | None:
    """The key of a dict that is there in some rounds only, but for those in which the call is made."""
    key = value.origin.extra if value.kind == TREE and value.origin is not None else None
    return key if isinstance(key, OptionalKey) and key.test not in frame.branches else None


def _unstable(frame: Frame, passed: Passed) -> Iterator[tuple[str, str, LoadedModule, ast.AST]]:
    """(how, path, module, where)."""
    value = passed.value
    key = _optional_key(frame, value)
    if key is not None:
        yield "optional key", f"[{key.key!r}]", key.module, key.node
    nothing = sometimes_none(frame, passed.node) if frame.loops and value.kind == UNKNOWN else None
    if nothing is not None:
        yield "optional value", "", frame.module, nothing
    listed = changing(frame, passed.node, value) or value
    origin = listed.origin
    changes = listed.varies >= PER_ITERATION or listed is not value
    if listed.kind == TREE and listed.tags & RAGGED and changes and origin is not None and origin.word != FEW:
        yield "growing", "", origin.module, origin.node
        return
    window = filling(frame, passed.node)
    if window is not None:
        yield "filling", "", frame.module, window
