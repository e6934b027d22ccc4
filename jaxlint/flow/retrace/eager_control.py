"""Control flow outside jit: what it compiles each time it runs.

`lax.scan` and its like compile their body for the function object they are given, so a body that is new for
each call is compiled for each call. Some forms make such an object themselves; and reverse-mode
differentiation of any of them builds another program each time.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.domain.closures import Closure, PartialApi
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import FUNCTION, INSTANCE
from jaxlint.flow.domain.objects import Foreign, Instance
from jaxlint.flow.domain.operand import closure_word, maker
from jaxlint.flow.domain.tags import FRESH
from jaxlint.flow.domain.values import Value
from jaxlint.flow.evaluations import Called, Evaluation, entered_by
from jaxlint.flow.facts import FreshControlBody, Proof
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.program import LoadedModule
from jaxlint.index.walking import walk
from jaxlint.jax_api.transforms import (
    COMPILED_ALWAYS,
    COMPILED_PER_BODY,
    EAGER,
    FORWARD_MODE,
    JIT,
    REVERSE_MODE,
    UNROLLED_BY_VMAP,
)

_DEPTH = 6


class ControlUsed(NamedTuple):
    """A log entry: control flow that a differentiation around it would compile anew."""

    api: str
    module: LoadedModule
    node: ast.AST


def note_control(frame: Frame, dotted: str, bodies: list[Value], call: Call) -> None:
    """An eager call of a control-flow function."""
    if frame.quiet or frame.level >= JIT or not hasattr(call.node, "lineno"):
        return
    if frame.level > EAGER:
        frame.log.append(ControlUsed(dotted, frame.module, call.node))
        if dotted in UNROLLED_BY_VMAP:
            return
    if dotted in COMPILED_ALWAYS:
        _record(frame, call.node, dotted, "always")
    elif dotted in COMPILED_PER_BODY:
        for value in bodies:
            if _is_fresh(frame, value):
                _record(frame, call.node, dotted, _word(value), value)
                return


def _is_fresh(frame: Frame, value: Value) -> bool:
    if value.kind == FUNCTION:
        receiver = value.data.receiver
        if receiver is not None and receiver.kind == INSTANCE and receiver.data.cls.family == "equinox":
            return False  # hashed by its leaves: arrays among them raise
        return bool(freshness(frame, value.data))
    if value.kind == INSTANCE:
        return bool(freshness(frame, value.data)) and value.data.cls.hashing == "identity"
    return bool(value.tags & FRESH)


def _word(value: Value) -> str:
    if value.kind == FUNCTION:
        return closure_word(value.data)
    if value.kind == INSTANCE:
        return "instance"
    return value.origin.word if value.origin is not None else "partial"


def _record(frame: Frame, node: ast.AST, dotted: str, why: str, body: Value | None = None) -> None:
    thing: Closure | Instance | Foreign | PartialApi | None = body.data if body is not None else None
    frame.record(
        FreshControlBody(
            frame.place(node),
            frame.symbol,
            frame.proof(),
            api=dotted,
            why=why,
            loop=frame.innermost_loop(),
            fresh_in=_fresh_in(frame, thing),
            made_in=maker(thing) if thing is not None else "",
            shows_effects=_shows_effects(frame),
        )
    )


def _fresh_in(frame: Frame, thing: Closure | Instance | Foreign | PartialApi | None) -> str:
    if thing is not None:
        return freshness(frame, thing)
    return "loop" if frame.loop else "call"


# What a loop that is itself traced does not do.
_EFFECTS = frozenset(
    {
        *("print", "tqdm", "trange", "set_postfix", "set_description", "info", "debug", "warning"),
        *("float", "item", "tolist", "device_get", "block_until_ready", "next", "input"),
        *("perf_counter", "time", "write", "log_metrics", "add_scalar", "save", "savefig"),
    }
)


def _shows_effects(frame: Frame) -> bool:
    """Whether the loops around here, in this function, do what only makes sense outside a trace."""
    called = (n.func for loop in frame.loops for n in walk(loop.node) if isinstance(n, ast.Call))
    return any(
        (f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else "") in _EFFECTS
        for f in called
    )


def note_derivative(frame: Frame, transforms: set[str], node: ast.AST) -> None:
    """`grad(f)(x)` or one of its kin was just called: a fact if `f` turns out to contain control flow."""
    if frame.quiet or frame.level >= JIT or not hasattr(node, "lineno"):
        return
    name = next((name for name in sorted(transforms) if name in REVERSE_MODE or name in FORWARD_MODE), "")
    entered = entered_by(frame.log, node)
    if name and entered is not None:
        frame.log.append(PendingDerivative(frame, name, entered, node))


class PendingDerivative:
    """A derivative taken outside jit; whether its function contains control flow shows at the end."""

    __slots__ = ("effects", "evaluation", "loop", "place", "proof", "symbol", "transform")

    def __init__(self, frame: Frame, transform: str, evaluation: Evaluation, node: ast.AST) -> None:
        self.transform = transform
        self.evaluation = evaluation
        self.place = frame.place(node)
        self.symbol = frame.symbol
        self.proof: Proof = frame.proof()
        self.loop: Place | None = frame.innermost_loop()
        self.effects = _shows_effects(frame)

    def fact(self) -> FreshControlBody | None:
        """None where nothing in the function is compiled again."""
        table = REVERSE_MODE if self.transform in REVERSE_MODE else FORWARD_MODE
        used = _control_in(self.evaluation, table[self.transform], 0, set())
        if used is None:
            return None
        return FreshControlBody(
            self.place,
            self.symbol,
            self.proof,
            api=used.api,
            why=self.transform,
            loop=self.loop,
            fresh_in="loop" if self.loop is not None else "call",
            shows_effects=self.effects,
            inside=used.module.place(used.node),
        )


def _control_in(
    evaluation: Evaluation, affected: frozenset[str], depth: int, seen: set[Evaluation]
) -> ControlUsed | None:
    """The first such control flow that a function runs outside jit, itself or in what it calls."""
    if evaluation in seen or depth > _DEPTH:
        return None
    seen.add(evaluation)
    for item in evaluation.log:
        if isinstance(item, ControlUsed) and item.api in affected:
            return item
        if isinstance(item, Called) and item.evaluation.level < JIT:
            found = _control_in(item.evaluation, affected, depth + 1, seen)
            if found is not None:
                return found
    return None
