"""JAX316: a buffer is donated for which there is no output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Boundary, BoundaryUse, Kind, Operand, Tag, UselessDonation
from jaxlint.rule import Confidence, Rule

from ..retrace import _wording as wording
from ..retrace._jit_call import without

if TYPE_CHECKING:
    from jaxlint.context import Context

_REASONS = {
    "numbers": "only numbers come out",
    "taken": "the outputs take the buffers of other arguments",
    "size": "every output has another number of elements",
    "dtype": "the elements of what comes out are of another size",
}
_NO_ARRAYS = frozenset(
    {Kind.FUNCTION, Kind.BOUNDARY, Kind.CLASS, Kind.API, Kind.MODULE, Kind.DTYPE, Kind.OTHER}
)
_NUMBERS = frozenset({"int", "float", "bool"})


_KEYWORDS = ("donate_argnums", "donate_argnames")


class UselesslyDonated(Rule):
    """A donated argument that no output can take."""

    def suspect(self, fact: UselessDonation) -> bool:
        return fact.proof.level == "eager" and fact.boundary.flavour != "nnx"

    def check(self, fact: UselessDonation, ctx: Context) -> Iterator[Finding]:
        boundary = fact.boundary
        uses = [use for use in ctx.facts(BoundaryUse) if use.boundary.place == boundary.place]
        if fact.why == "absent":
            reach = max((len(use.arguments) for use in uses), default=0)
            beyond = [index for index in fact.parameters if int(index) >= reach]
            if any(use.starred for use in uses) or not uses or not beyond:
                return
            lost = "nothing is donated" if len(beyond) == len(fact.parameters) else "it never is"
            yield self.finding(
                fact,
                f"Argument {beyond[0]} is donated, but `{wording.function_name(boundary)}` is never "
                f"called with more than {reach}: {lost}. Give the position that is meant.",
                related=[Related(use.place, "called here") for use in uses[:3]],
            )
            return
        names = [name for name in fact.parameters if not _takes_no_room(name, fact, uses)]
        if not names:
            return
        several = len(names) > 1
        reason = _REASONS[fact.why]
        given = [value for use in uses for value in use.arguments if value.parameter in names]
        yield self.finding(
            fact,
            f"`{wording.function_name(boundary)}` donates {wording.listing(names)}, but no output can take "
            f"{'their' if several else 'its'} memory: {reason}. The donation has no effect: drop it.",
            confidence=Confidence.HIGH if fact.why == "numbers" else Confidence.MEDIUM,
            related=[Related(value.place, f"`{value.parameter}` is passed here") for value in given[:3]],
            fix=_dropped(names, fact.boundary, ctx),
        )


def _takes_no_room(name: str, fact: UselessDonation, uses: list[BoundaryUse]) -> bool:
    """A number, which can take the place of a number, or what holds no arrays: Equinox donates none of it."""
    declared = next((p.annotation for p in fact.boundary.parameters if p.name == name), "")
    passed = [value for use in uses for value in use.arguments if value.parameter == name]
    return (
        declared in _NUMBERS
        or declared.rpartition(".")[2].startswith("Callable")
        or (bool(passed) and all(_is_scalar(value) or value.kind in _NO_ARRAYS for value in passed))
    )


def _is_scalar(value: Operand) -> bool:
    return value.kind in (Kind.SCALAR, Kind.CONSTANT) or bool(value.tags & (Tag.ZERO_DIM | Tag.MEMBER))


def _dropped(names: Sequence[str], boundary: Boundary, ctx: Context) -> Fix | None:
    """The jit call without the donation of these parameters."""
    import libcst as cst

    node = ctx.node(boundary.place)
    positions = [i for i, parameter in enumerate(boundary.parameters) if parameter.name in names]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):  # partial(jax.jit, …)(f)
        node = node.func
    text = without(node, _KEYWORDS, {*names, *positions}, ctx) if isinstance(node, cst.Call) else None
    if node is None or text is None:
        return None
    return ctx.suggest(f"Do not donate {wording.listing(names)}", ctx.replace(node, text))
