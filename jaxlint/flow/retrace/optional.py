"""Arguments that are not the same tree in every round: a key that is there in some, a None, a longer list."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import FOREIGN, TREE, UNKNOWN
from jaxlint.flow.domain.origin_words import FEW
from jaxlint.flow.domain.tags import RAGGED
from jaxlint.flow.domain.values import PER_ITERATION, Origin, Value
from jaxlint.flow.facts import UnstableStructure
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.retrace.restarts import runs_again
from jaxlint.flow.retrace.windows import filling
from jaxlint.flow.shapes.lengths import changing
from jaxlint.flow.syntax.bindings import bindings_of, look
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name, last_name

if TYPE_CHECKING:
    from jaxlint.flow.boundaries.crossing import Passed

_LOOKED_AT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class OptionalKey(NamedTuple):
    """`Origin.extra` of a dict: a key that is stored under a test which comes out differently from time to time.
    `drawn_in`: the code of which each call draws anew what the test asks; None where each round of a loop in view
    is different."""

    key: object
    module: LoadedModule
    node: ast.AST
    test: ast.If | ast.IfExp
    drawn_in: Frame | None = None


def varies(frame: Frame, test: ast.expr) -> bool:
    """Whether a test may come out differently in each round: something in it does."""
    return any(
        look(frame, node).varies >= PER_ITERATION for node in ast.walk(test) if isinstance(node, _LOOKED_AT)
    )


def _drawn_in(frame: Frame, test: ast.expr) -> Frame | None:
    """The code that draws what a test asks, anew in each of its calls: a random number, or whether records have a
    key that they have by such a number."""
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            bound = bindings_of(frame).of(node.id)
            if len(bound) == 1 and isinstance(bound[0], ast.Call) and _draws(frame, bound[0]):
                return frame
        elif isinstance(node, ast.Call) and _draws(frame, node):
            return frame
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            asked = _asked_of(frame, node.comparators[0], test)
            key = asked.origin.extra if asked is not None and asked.origin is not None else None
            name = node.left.value if isinstance(node.left, ast.Constant) else None
            if isinstance(key, OptionalKey) and key.key == name:
                return key.drawn_in
    return None


def _asked_of(frame: Frame, node: ast.expr, test: ast.expr) -> Value | None:
    """The record that is asked for a key: itself, or what a comprehension in the test takes from a list."""
    for inner in ast.walk(test):
        if isinstance(inner, ast.comprehension) and dotted_name(inner.target) == dotted_name(node):
            return look(frame, inner.iter).element
    if isinstance(node, ast.Subscript):
        return look(frame, node.value).element
    return look(frame, node) if isinstance(node, ast.Name) else None


def _draws(frame: Frame, call: ast.Call) -> bool:
    """`rng.random()`, `rng.choice(kinds)`: of numpy's generators and the standard library's."""
    origin = look(frame, call).origin
    if origin is not None and origin.word == "random number":
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "choice":
        return False
    drawing = look(frame, call.func.value)
    return drawing.kind == FOREIGN and "random" in drawing.data.api


# ---------------------------------------------------------------- keys


def key_stored(frame: Frame, owner: Value, key: object, target: ast.AST) -> None:
    """`owner[key] = …` of a new key: is it stored each time?"""
    origin = owner.origin
    known = _keys(owner) if isinstance(key, str) else None
    if known is None or key in known:
        return
    if origin is None or origin.word != "dict" or origin.extra.__class__ is not tuple:
        return
    made_under = origin.extra
    inner = frame.branches[len(made_under) :]
    if not inner or frame.branches[: len(made_under)] != made_under or not isinstance(inner[0], ast.If):
        return
    if _outlives_round(frame, origin.node) or _on_both_sides(inner[0], key):
        return  # once there, it stays
    each_round = varies(frame, inner[0].test)
    drawn_in = None if each_round else _drawn_in(frame, inner[0].test)
    if each_round or drawn_in is not None:
        owner.origin = origin._replace(extra=OptionalKey(key, frame.module, target, inner[0], drawn_in))


def keys_stored(frame: Frame, owner: Value, keys: Iterable[object], node: ast.AST) -> None:
    """`owner.update(key=…)`."""
    for key in keys if frame.branches and not frame.level else ():
        key_stored(frame, owner, key, node)


def either(frame: Frame, node: ast.IfExp, body: Value, orelse: Value, joined: Value) -> Value:
    """`{"mask": m} if masked else {}`: a dict that has a key of which the other knows nothing."""
    if frame.level or joined.kind != TREE or not (body.data.__class__ is dict is orelse.data.__class__):
        return joined
    keys = [key for key in (*body.data, *orelse.data) if not (key in body.data and key in orelse.data)]
    if not keys or not isinstance(keys[0], str) or _asks_for_none(node.test):
        return joined
    drawn_in = None if varies(frame, node.test) else _drawn_in(frame, node.test)
    if drawn_in is None and not varies(frame, node.test):
        return joined
    key = OptionalKey(keys[0], frame.module, node, node, drawn_in)
    return joined.but(origin=Origin(frame.module, node, "dict", key))


def _asks_for_none(test: ast.expr) -> bool:
    """What a loop brings is mostly there always, or never."""
    return any(
        isinstance(op, (ast.Is, ast.IsNot)) for n in walk(test) if isinstance(n, ast.Compare) for op in n.ops
    )


def handed_on(values: Iterable[Value], keys: Iterable[ast.expr | None]) -> OptionalKey | None:
    """The optional key of what a dict is put together from, if it has no such key besides."""
    written = {key.value for key in keys if isinstance(key, ast.Constant)}
    for value in values:
        key = value.origin.extra if value.kind == TREE and value.origin is not None else None
        if isinstance(key, OptionalKey) and key.key not in written:
            return key
    return None


def _keys(owner: Value) -> set[object] | None:
    """The keys of a dict, or of `{k: … for k in ("a", "b")}`; None where they are not known."""
    if owner.data.__class__ is dict:
        return set(owner.data)
    made = owner.origin.node if owner.origin is not None else None
    if not isinstance(made, ast.DictComp) or len(made.generators) != 1:
        return None
    name, display = made.generators[0].target, made.generators[0].iter
    if not isinstance(display, (ast.Tuple, ast.List)) or dotted_name(made.key) != dotted_name(name):
        return None
    written = [n.value for n in display.elts if isinstance(n, ast.Constant)]
    return set(written) if len(written) == len(display.elts) else None


def _outlives_round(frame: Frame, made: ast.AST) -> bool:
    """Whether a dict is made in front of the loop that fills it."""
    if not frame.loops or not hasattr(made, "lineno"):
        return False
    loop = frame.loops[-1].node
    return not loop.lineno <= made.lineno <= (loop.end_lineno or loop.lineno)


def _on_both_sides(branch: ast.If, key: object) -> bool:
    return all(key in _stored_keys(side) for side in (branch.body, branch.orelse))


def _stored_keys(side: list[ast.stmt]) -> set[object]:
    nodes = [n for statement in side for n in ast.walk(statement)]
    stores = (n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    calls = (n for n in nodes if isinstance(n, ast.Call) and last_name(n.func) == "update")
    given = {k.arg for call in calls for k in call.keywords}
    return given | {n.slice.value for n in stores if isinstance(n.slice, ast.Constant)}


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

    __slots__ = ("at", "drawn_in", "how", "loop", "module", "name", "place", "proof", "state", "symbol")

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        node: ast.AST,
        name: str,
        how: str,
        module: LoadedModule,
        at: ast.AST,
        drawn_in: Frame | None = None,
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
        self.drawn_in = drawn_in

    def fact(self) -> UnstableStructure | None:
        if not hasattr(self.at, "lineno") or (self.drawn_in is not None and not runs_again(self.drawn_in)):
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
            key = _optional_key(frame, passed.value) if how == "optional key" else None
            drawn_in = key.drawn_in if key is not None else None
            frame.log.append(PendingUnstable(frame, state, node, f"{name}{part}", how, module, at, drawn_in))
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        key = _optional_key(frame, look(frame, keyword.value)) if keyword.arg is None else None
        if key is not None:  # f(x, **extras)
            name = f"{dotted_name(keyword.value) or '**'}[{key.key!r}]"
            frame.log.append(
                PendingUnstable(frame, state, node, name, "optional key", key.module, key.node, key.drawn_in)
            )


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
