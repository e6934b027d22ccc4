"""Jit boundaries, made in any spelling."""

from __future__ import annotations

from jaxlint.flow.boundaries.argument_sets import argument_set, equinox_donation, told_by_position
from jaxlint.flow.boundaries.described import describe, signature
from jaxlint.flow.boundaries.entering import trace_declaration
from jaxlint.flow.calls.transforms import by_position, constructs, partial_closure
from jaxlint.flow.device_memory.capturing import PendingCapture
from jaxlint.flow.device_memory.donating import PendingUselessDonation
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.candidates import one_signature
from jaxlint.flow.domain.closures import Closure, PartialApi, run_by
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import API, BOUNDARY, ONE_OF, PARTIAL, UNKNOWN
from jaxlint.flow.domain.operand import closure_word
from jaxlint.flow.domain.tags import FRESH
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import JitCall
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.index.once import runs_once
from jaxlint.jax_api.boundaries import BOUNDARIES
from jaxlint.jax_api.transforms import EAGER


@api_call("jit")
def make(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jit(f, …)`: the boundary; `jit(static_argnames=…)`: a decorator that makes one."""
    target = call.argument(0, "fun", "f", "fn")
    if target is None:
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    form = "decorator" if call.decorator else "call"
    state = BoundaryState(dotted, BOUNDARIES[dotted], frame.module, call.node, form)
    state.home = frame.evaluation
    state.closure = _closure_of(frame, target, call)
    state.several = target.kind == ONE_OF and not one_signature(target.data)
    state.by_position = _goes_by_position(dotted, state.closure, target, call)
    state.target = target if constructs(target) else None
    state.library = target.data if target.kind == API else target.data.api if target.kind == PARTIAL else ""
    state.literal_loop = frame.literal_loops > 0
    state.guarded = (
        frame.filling > 0
        or (frame.function is not None and bool(frame.function.cached))
        or (frame.loop > 0 and runs_once(scope_of(frame), call.node))
    )
    applies = (
        state.closure is not None and state.closure.applied is not None
    )  # `(variables, *args, **kwargs)`
    params = None if applies else signature(state.closure)
    state.static = argument_set(call.keywords, params, "static_argnums", "static_argnames")
    if state.flavour == "pmap":
        state.static = argument_set(call.keywords, params, "static_broadcasted_argnums", "static_argnames")
    state.donated = argument_set(call.keywords, params, "donate_argnums", "donate_argnames")
    if state.flavour == "filter" and "donate" in call.keywords:
        state.donated = equinox_donation(call.keywords["donate"], params)
    if call.starred:  # `jit(f, **options)`: what is not seen here may be among them
        state.static = state.static or None
        state.donated = state.donated or None
    _judge_freshness(frame, state, target)
    frame.run.boundaries.append(state)
    if not frame.quiet:
        frame.log.append(PendingJit(frame, state))
        if frame.level == EAGER:
            frame.log.append(PendingCapture(frame, state))
            if state.donated:
                frame.log.append(PendingUselessDonation(frame, state))
    if state.closure is not None:
        if frame.function is None and frame.run.declared is not None:
            frame.run.declared[state] = frame, call.node
        else:
            trace_declaration(frame, state, call.node)
    return Value(BOUNDARY, data=state)


def _closure_of(frame: Frame, target: Value, call: Call) -> Closure | None:
    if target.kind == ONE_OF:
        return _closure_of(frame, target.data[0], call)
    if target.kind == BOUNDARY:
        nested: Closure | None = target.data.closure
        return nested
    if target.kind == PARTIAL:
        return partial_closure(frame, target.data)
    return run_by(target, call.node)


def _goes_by_position(dotted: str, closure: Closure | None, target: Value, call: Call) -> bool:
    """Whether an argument may be mapped, static or donated by position and not by keyword."""
    if closure is not None and closure.by_position:
        return True
    if target.kind == BOUNDARY and target.data.by_position:
        return True
    return told_by_position(call.keywords) or (dotted.endswith("pmap") and by_position(dotted, call))


def _judge_freshness(frame: Frame, state: BoundaryState, target: Value) -> None:
    closure = state.closure
    if target.kind == UNKNOWN and target.tags & FRESH:
        state.fresh = target.origin.word if target.origin is not None else "bound method"
        state.fresh_in = "loop" if frame.loop else "call" if frame.function is not None else ""
        return
    # A method of a library's object is bound anew, but Optax's transformations are tuples of functions.
    if target.kind == API and "()." in target.data and not target.data.startswith("optax."):
        state.fresh = "bound method"
        state.fresh_in = "loop" if frame.loop else "call" if frame.function is not None else ""
        return
    if closure is None or target.kind == BOUNDARY:
        return
    fresh_in = freshness(frame, closure)
    if state.flavour == "filter" and not closure.via and (closure.by_equinox or not closure.transforms):
        bound = closure.receiver is not None or closure.transforms
        if bound and not closure.inner_fresh:
            return  # hashed by value: re-wrapping hits the cache (measured)
    if state.flavour == "nnx" and not fresh_in:
        state.fresh = "nnx"
        state.fresh_in = (
            "loop"
            if frame.loop
            else "call"
            if frame.function is not None and state.form != "decorator"
            else ""
        )
        return
    if fresh_in:
        state.fresh = closure_word(closure)
        state.fresh_in = fresh_in


class PendingJit:
    """A boundary made; the fact waits for its uses."""

    __slots__ = ("place", "proof", "state", "symbol")

    def __init__(self, frame: Frame, state: BoundaryState) -> None:
        self.state = state
        self.place = frame.place(state.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()

    def fact(self) -> JitCall:
        state = self.state
        return JitCall(
            self.place,
            self.symbol,
            self.proof,
            boundary=describe(state),
            fresh_in=state.fresh_in,
            kept=state.escapes,
            guarded=state.guarded,
            uses=tuple(module.place(node) for module, node in state.uses[:8]),
            only_lowered=bool(state.lowered) and not state.uses,
            only_traced=state.traced_as_body and not state.uses,
            literal_loop=state.literal_loop,
            returned=state.returned,
        )
