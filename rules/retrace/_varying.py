"""Arguments that carry a Python scalar which is another one in each round of a loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Place
from jaxlint.flow.facts import BoundaryUse, Guard, Kind, Operand, Parameter, Tag, Varies
from jaxlint.record import record

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context
_OFF_ARRAYS = frozenset({"item", "int of array", "float of array"})


@record
class Varying:
    """An argument of a boundary call and the first varying scalar in it, perhaps the argument itself."""

    argument: Operand
    leaf: Operand
    parameter: Parameter | None

    @property
    def text(self) -> bool:
        return Tag.TEXT in self.leaf.tags

    @property
    def assumed(self) -> bool:
        """Whether it varies only if the things that are counted differ in length."""
        return self.leaf.origin_kind == "len"

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
        # "[...]" stands for any element of a container: those of one list differ, the list need not
        leaves = (v for v in argument.walk() if not v.leaves and "[...]" not in v.path)
        leaf = next((value for value in leaves if value.varying_scalar or _read_again(value, fact)), None)
        if leaf is not None:
            found.append(Varying(argument, leaf, parameters.get(argument.parameter or "")))
    return found


def _read_again(value: Operand, fact: BoundaryUse) -> bool:
    """A number read off an array in each call of a function that runs again and again."""
    read = value.origin_kind in _OFF_ARRAYS and value.varies is Varies.PER_CALL and value.kind is Kind.SCALAR
    return read and fact.proof.repeated is not None


def proven(found: Iterable[Varying], node: cst.CSTNode | None, ctx: Context) -> list[Varying]:
    """Those that are other values each time for sure: a number read off an array counts only where the
    function that calls the boundary reads it."""
    return [each for each in found if each.leaf.varying_scalar or _same_function(each.leaf.origin, node, ctx)]


def _same_function(origin: Place | None, call: cst.CSTNode | None, ctx: Context) -> bool:
    import libcst as cst

    read = ctx.node(origin) if origin is not None else None
    if read is None or call is None:
        return False
    around = [next((p for p in ctx.parents(n) if isinstance(p, cst.FunctionDef)), None) for n in (read, call)]
    return around[0] is around[1]


def confidence(fact: BoundaryUse, found: Iterable[Varying]) -> Confidence:
    """Less than high behind a guard, and for lengths."""
    sure = fact.proof.guard is Guard.NONE and not all(each.assumed for each in found)
    return Confidence.HIGH if sure else Confidence.MEDIUM


def already_compiled(fact: BoundaryUse, found: Iterable[Varying], ctx: Context) -> bool:
    """Whether an earlier call of the round hands over the same values, so that this one costs nothing."""
    leaves = [each.leaf for each in found]
    earlier = (use for use in ctx.facts(BoundaryUse) if use.place < fact.place)
    return any(use.hands_over(fact, leaves) for use in earlier)
