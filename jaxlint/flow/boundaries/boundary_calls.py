"""Calls of a jit boundary: what each argument binds, which are watched, what comes out."""

from __future__ import annotations

import ast

from jaxlint.finding import Place
from jaxlint.flow.boundaries.crossing import Passed, argument_names, outside, traced_arguments
from jaxlint.flow.boundaries.described import describe, signature
from jaxlint.flow.boundaries.entering import entered, trace_body, trace_declared
from jaxlint.flow.boundaries.watching import Watch, watch
from jaxlint.flow.device_memory.donating import note_donation
from jaxlint.flow.device_memory.giving_away import has_no_buffer, may_be_setting, note_given_away
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import (
    INSTANCE,
    TREE,
)
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, parts
from jaxlint.flow.facts import BoundaryUse, Operand, Tag
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace import growth
from jaxlint.flow.retrace.carry import note_carried
from jaxlint.flow.retrace.grown_arguments import note_growth
from jaxlint.flow.retrace.mutation import Invoked
from jaxlint.flow.retrace.new_statics import maker_of_static
from jaxlint.flow.retrace.optional import note_unstable
from jaxlint.flow.shapes.small_states import is_small_state
from jaxlint.flow.syntax.taken_out import taken_out
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.transforms import EAGER, JIT
from jaxlint.record import replace


def call_boundary(frame: Frame, callee: Value, call: Call) -> Value:
    """A boundary is called: its use is noted, its donated arguments watched, its body traced."""
    state: BoundaryState = callee.data
    state.uses.append((frame.module, call.node))
    if frame.run.declared:
        trace_declared(frame.run, state)
    closure = entered(frame, state, call.keywords)
    receiver = callee.element
    skip = 1 if receiver is not None else 0
    params = signature(closure or state.closure)
    names = argument_names(call, params, skip, closure)
    if isinstance(call.node, ast.Call):
        watches = _watch_arguments(frame, state, call, names)
        if not frame.quiet:
            frame.log.append(PendingUse(frame, state, call, names, watches, receiver))
            if frame.level == EAGER:
                note_growth(frame, state, call.node, names)
                note_carried(frame, state, call.node, names)
                note_unstable(frame, state, call.node, names)
            if state.donated or (frame.targets and not frame.level):
                note_donation(frame, state, call, skip)
    if frame.level < JIT:
        made = maker_of_static(frame, state, names)
        frame.log.append(Invoked(state, frame.module, call.node, made))
    result = state.result if closure is state.closure else None
    if closure is not None and not call.starred:
        arguments = traced_arguments(frame, state, closure, names, receiver)
        traced = trace_body(frame, state, closure, arguments, call.node)
        if traced is not None:
            result = growth.renamed(traced, closure, lambda: growth.argument_paths(closure, call))
    if state.target is not None:
        result = _made(frame, state.target, call)
    if frame.level >= JIT:
        return result if result is not None else UNKNOWN_VALUE
    given = outside(result, state.flavour)
    if closure is None or frame.level:
        return given
    from jaxlint.flow.calls.linen import parameters  # not at the top, as in `_made`

    return parameters(frame, closure, call, given)


def _made(frame: Frame, constructor: Value, call: Call) -> Value:
    """The instance that `jit(Model)(…)` makes: nothing is eager there."""
    # Not at the top: flow.calls has calls of boundaries among its cases.
    from jaxlint.flow.calls.dispatch import call_value

    log, frame.log = frame.log, []
    frame.quiet += 1
    try:
        return call_value(frame, constructor, call)
    finally:
        frame.quiet -= 1
        frame.log = log


def _watch_arguments(frame: Frame, state: BoundaryState, call: Call, names: list[Passed]) -> list[Watch]:
    if frame.level >= JIT:
        return []
    watches: list[Watch] = []
    for index, name, value, node, _ in names:
        dotted = dotted_name(node)
        if dotted is None or dotted.count(".") > 1 or dotted == "self":
            continue
        donated = state.donated
        donating = donated is not None and (index in donated or name in donated) and not _only_scalars(state)
        donating = donating and not has_no_buffer(value) and not may_be_setting(state, dotted, value)
        if donating and frame.level > EAGER:
            continue  # under grad a donation has no effect
        if dotted in frame.names or "." in dotted or frame.function is None:
            watches.append(watch(frame, dotted, state, call.node, donating))
        if donating:
            note_given_away(frame, dotted, state, call.node)
    return watches


def _only_scalars(state: BoundaryState) -> bool:
    """No output can take a donated array: they are all numbers. Nothing is deleted then (measured)."""
    result = state.result
    if result is None:
        return False
    leaves = parts(result) if result.kind == TREE else [result]
    return bool(leaves) and all(leaf.size == 1 for leaf in leaves)


class PendingUse:
    """A boundary called; the fact waits to see which arguments are read again."""

    __slots__ = (
        "arguments",
        "call",
        "frame",
        "frame_loop",
        "nodes",
        "place",
        "proof",
        "rebinds",
        "receiver",
        "several",
        "starred",
        "state",
        "symbol",
        "tests",
        "watches",
    )

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        call: Call,
        names: list[Passed],
        watches: list[Watch],
        receiver: Value | None,
    ) -> None:
        self.receiver = None
        if receiver is not None and receiver.kind == INSTANCE and receiver.data.home is not None:
            self.receiver = operand(frame, call.node, receiver, parameter="self", index=0)
        self.state = state
        self.frame = frame
        self.call = call.node
        self.place = frame.place(call.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.starred = call.starred
        self.several = call.several
        self.tests = frame.branches
        self.watches = watches
        self.arguments: tuple[Operand, ...] = tuple(
            operand(frame, node, value, parameter=name, index=index, keyword=keyword)
            for index, name, value, node, keyword in names
        )
        self.nodes = [node for _, _, _, node, _ in names]
        passed = {a.name for a in self.arguments if a.name}
        bound = frame.targets
        if passed and len(bound) == 1 and bound[0] not in passed:
            bound = tuple(taken_out(frame, frame.statement))
        self.rebinds = tuple(name for name in bound if name in passed)
        self.frame_loop: Place | None = frame.innermost_loop()

    def fact(self) -> BoundaryUse:
        return BoundaryUse(
            self.place,
            self.symbol,
            self.proof,
            boundary=describe(self.state),
            arguments=tuple(map(self._measured, self.arguments, self.nodes))
            if self.rebinds
            else self.arguments,
            loop=self.frame_loop,
            rebinds=self.rebinds,
            reads_after=tuple(
                w.name for w in self.watches if w.read_as_alias or (w.read and w.name not in self.rebinds)
            ),
            starred=self.starred,
            several=self.several,
            receiver=self.receiver,
        )

    def _measured(self, argument: Operand, node: ast.AST) -> Operand:
        """An argument that the result replaces, with what its shape says."""
        if argument.name not in self.rebinds or Tag.SMALL in argument.tags or self.state.donated:
            return argument
        frame = self.frame
        small = isinstance(node, ast.expr) and is_small_state(
            frame.run.program, frame.module, frame.function, self.call, node
        )
        return replace(argument, tags=argument.tags | Tag.SMALL) if small else argument
