"""What the claims of a diagnosis are made from: the numbers of the last execution, side by side."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from jaxlint.capture import growth, matching
from jaxlint.capture.claim import Remedy
from jaxlint.capture.donation import Update, updates
from jaxlint.capture.growth import Growth
from jaxlint.capture.plan import Plan
from jaxlint.capture.pools import Free, Pool
from jaxlint.capture.shape import Shape
from jaxlint.capture.subject import Subject

_NEAR = 0.9  # of the capacity: contiguity decides from here on


class Case:
    """A subject with a plan. Sizes in bytes; None where the capture does not tell."""

    def __init__(self, subject: Subject, plan: Plan) -> None:
        self.subject = subject
        self.plan = plan

    @property
    def pool(self) -> Pool | None:
        return self.subject.pool

    @property
    def capacity(self) -> int | None:
        return self.pool.capacity if self.pool is not None else None

    @property
    def function(self) -> str:
        """The name of the jitted function."""
        name = self.subject.choice.module.name if self.subject.choice is not None else self.plan.module
        return name.removeprefix("jit_").removeprefix("pmap_")

    @property
    def too_big(self) -> bool:
        """Whether the plan alone exceeds the pool."""
        return self.capacity is not None and self.plan.totals.total > self.capacity

    @property
    def crowded(self) -> bool:
        """Whether the plan fits, but not beside what was in use."""
        if self.too_big or self.capacity is None or self.subject.need is None:
            return False
        return self.subject.failed or self.subject.need > self.capacity

    @property
    def near(self) -> bool:
        """Whether the bytes just fit."""
        need, capacity = self.subject.need, self.capacity
        if need is None or capacity is None or self.subject.failed:
            return False
        return _NEAR * capacity < need <= capacity

    @property
    def open(self) -> bool:
        """Whether memory may be short: it was, or the capture does not tell."""
        return self.too_big or self.crowded or self.near or self.subject.need is None

    @cached_property
    def growth(self) -> Growth | None:
        """What each execution leaves behind, if it is the same each time."""
        return growth.of(self.subject)

    @cached_property
    def free(self) -> Free | None:
        """What was left where the last execution failed."""
        last = self.subject.last
        if self.pool is None or last is None or not self.subject.failed:
            return None
        return self.pool.free_at(last.failed_at)

    @cached_property
    def refused(self) -> int | None:
        """The size that the last execution asked for and did not get."""
        last = self.subject.last
        if last is None or not self.subject.failed:
            return None
        return matching.missing(last, self.plan.request_sizes)

    @cached_property
    def updates(self) -> list[Update]:
        """Outputs that a donation could put into the memory of parameters."""
        choice = self.subject.choice
        return updates(choice.module.program) if choice is not None else []

    def is_of_parameter(self, shape: Shape) -> bool:
        """Whether an array has the shape of a parameter of the model, in any order of its dimensions."""
        return tuple(sorted(shape.dimensions)) in self._parameters

    @cached_property
    def _parameters(self) -> set[tuple[int, ...]]:
        """Shapes of which as many come out of a step as go in: the batch goes in only."""
        choice = self.subject.choice
        program = choice.module.program if choice is not None else None
        root = program.root(program.entry) if program is not None else None
        if program is None or root is None:
            return set()
        outputs = Counter(tuple(sorted(leaf.dimensions)) for _, leaf in root.shape.leaves())
        inputs = Counter(tuple(sorted(i.shape.dimensions)) for i in program.parameters())
        return {shape for shape, count in inputs.items() if shape and outputs[shape] >= count}

    @property
    def excess(self) -> int | None:
        """How much is missing; not positive where it fits."""
        if self.capacity is None:
            return None
        need = self.subject.need
        return max(self.plan.totals.total, need if need is not None else 0) - self.capacity

    def remedy(self, action: str, saving: int | None, cost: str) -> Remedy:
        """A remedy, compared with what is missing. Nothing is enough beside a leak but its end: what makes the
        plan smaller then only puts the failure off.
        """
        if self.growth is not None and not self.too_big:
            return Remedy(action, saving, cost, puts_off=self._puts_off(self.growth, saving))
        return Remedy(action, saving, cost, self.covers(saving))

    def covers(self, saving: int | None) -> bool | None:
        """Whether a saving is what is missing, None where that is not known."""
        excess = self.excess
        return saving >= excess if saving is not None and excess is not None and excess > 0 else None

    def _puts_off(self, growth: Growth, saving: int | None) -> int | None:
        """How many more executions fit before the pool is full, if each needs so much less."""
        if saving is None or self.excess is None:
            return None
        spare = -self.excess
        return (spare + saving) // growth.step - spare // growth.step
