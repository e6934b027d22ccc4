"""Arguments that carry a Python scalar which is another one in each round of a loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlint.flow.facts import BoundaryUse, Operand, Parameter, Tag

if TYPE_CHECKING:
    from jaxlint.context import Context


@dataclass(frozen=True, slots=True)
class Varying:
    """An argument of a boundary call and the first varying scalar in it, perhaps the argument itself."""

    argument: Operand
    leaf: Operand
    parameter: Parameter | None

    @property
    def text(self) -> bool:
        return Tag.TEXT in self.leaf.tags

    @property
    def python_use(self) -> str:
        """What the body does with it that needs a Python number, or ""."""
        return self.parameter.python_use if self.parameter is not None else ""

    @property
    def takes_array(self) -> bool:
        """Whether the body is known to work with an array in its place."""
        whole = self.leaf is self.argument and not self.text
        return whole and self.parameter is not None and self.parameter.takes_array


def varying(fact: BoundaryUse, arguments: Iterable[Operand]) -> list[Varying]:
    """The arguments, in order, that carry a varying Python scalar."""
    parameters = {parameter.name: parameter for parameter in fact.boundary.parameters}
    found = []
    for argument in arguments:
        leaf = next((value for value in argument.walk() if not value.leaves and value.varying_scalar), None)
        if leaf is not None:
            found.append(Varying(argument, leaf, parameters.get(argument.parameter or "")))
    return found


def already_compiled(fact: BoundaryUse, found: Iterable[Varying], ctx: Context) -> bool:
    """Whether an earlier call of the round hands over the same values, so that this one costs nothing."""
    leaves = [each.leaf for each in found]
    earlier = (use for use in ctx.facts(BoundaryUse) if use.place < fact.place)
    return any(use.hands_over(fact, leaves) for use in earlier)
