"""Scans and maps as a run meets them: what becomes of their stacks is looked up when the run is over."""

from __future__ import annotations

import ast

from jaxlint.finding import Place
from jaxlint.flow.device_memory.last_carry import runs_forward, stacks_its_carry, takes_a_step
from jaxlint.flow.device_memory.remat import is_of_blocks, saves_memory, under_gradient
from jaxlint.flow.device_memory.stack_use import StackUses
from jaxlint.flow.device_memory.stacked_sizes import is_small_call, is_small_stack
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import CONSTANT, INSTANCE, TRACED, TREE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import Scan
from jaxlint.flow.frame import Call, Frame

WANTED = frozenset({"last", "reduced", "unused"})  # what becomes of stacks that need not be made


class PendingScan:
    """A scan seen; the use of its stack is looked up when the run is over."""

    __slots__ = ("api", "body", "call", "frame", "length", "place", "proof", "stacked", "step", "symbol")

    def __init__(
        self,
        frame: Frame,
        api: str,
        call: Call,
        body: Closure | None,
        stacked: Value | None,
        step: Value | None = None,
    ) -> None:
        self.frame = frame
        self.api = api
        self.call = call
        self.body = body
        self.stacked = stacked  # what the body returns to be stacked, where that is known
        self.step = step if step is not None else stacked  # one row of the stack
        self.place = frame.place(call.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        length = call.argument(3, "length")
        self.length = (
            length.data
            if length is not None and length.kind == CONSTANT and type(length.data) is int
            else None
        )

    def fact(self) -> Scan:
        finder = StackUses(self.frame, self.call.node, self.api)
        stack, uses = ("none", []) if is_nothing(self.stacked) else finder.find()
        if stack == "last" and finder.picks_whole and self._is_tree():
            stack, uses = "kept", []  # the last member: `[-1]` counts no steps there
        of_blocks = is_of_blocks(self.body)
        forward = runs_forward(self.call)
        return Scan(
            self.place,
            self.symbol,
            self.proof,
            api=self.api,
            stack=stack,
            uses=tuple(self.frame.place(node) for node in uses),
            only_uses=finder.only_uses,
            forward=forward,
            reducer=finder.reducer,
            length=self.length,
            body=self._body_place(),
            carries_it=self._carries_it(finder) and forward,
            surely_runs=stack == "last" and takes_a_step(self.call, self.frame),
            assigned=finder.assigned,
            of_blocks=of_blocks,
            differentiated=of_blocks and self.frame.evaluation in under_gradient(self.frame.run),
            checkpointed=of_blocks and saves_memory(self.body, self.frame),
            small=stack in WANTED and self._is_small(),
        )

    def _is_small(self) -> bool:
        return is_small_stack(self.frame, self.step, self.length) or is_small_call(self.frame, self.call.node)

    def _is_tree(self) -> bool:
        return self.stacked is not None and self.stacked.kind in (TREE, INSTANCE)

    def _carries_it(self, finder: StackUses) -> bool:
        """The last entry is the carry, if it is one: a carry that may be a tree may be picked a member of."""
        one_array = self.stacked is not None and self.stacked.kind == TRACED
        return finder.only_uses and stacks_its_carry(self.body) and (one_array or not finder.picks_whole)

    def _body_place(self) -> Place | None:
        if self.body is None:
            return None
        function = self.body.function
        node = function.node
        return function.module.place(node) if isinstance(node, ast.Lambda) else function.module.header(node)


def is_nothing(stacked: Value | None) -> bool:
    """`None` or `()`: a tree without leaves."""
    if stacked is None:
        return False
    if stacked.kind == TREE:
        return stacked.data is not None and not stacked.data
    return stacked.kind == CONSTANT and stacked.data is None
