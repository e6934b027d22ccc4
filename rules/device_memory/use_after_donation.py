"""JAX302: a name is read after its buffers were given away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.columns import split_lines
from jaxlint.finding import Applicability, Edit, Finding, Fix, Related, Span
from jaxlint.flow.facts import Guard, ReadAfterDonation
from jaxlint.rule import Confidence, Rule

from ..retrace import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class UseAfterDonation(Rule):
    """The old value of a donated argument is read after the call that consumed it."""

    def suspect(self, fact: ReadAfterDonation) -> bool:
        # Inside a trace donation has no effect, and nnx.jit writes a donated module back.
        return fact.proof.level == "eager" and fact.boundary.flavour != "nnx"

    def check(self, fact: ReadAfterDonation, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        call = f"`{wording.function_name(fact.boundary)}`"
        if fact.call.contains(fact.place):
            message = (
                f"`{fact.name}` is passed to {call} again in the next round, when its buffers are already "
                "given away: the second call raises. Rebind it from the result."
            )
            fix = None
        else:
            message = (
                f"`{fact.name}` is read after {call} consumed it: its buffers were donated, so this raises "
                "`RuntimeError: Array has been deleted`. Read it before the call, or donate a copy."
            )
            fix = _keep_copy(fact, node, ctx)
        yield self.finding(
            fact,
            message,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=[
                Related(fact.call, f"`{fact.name}` is donated here"),
                Related(fact.boundary.place, "this boundary donates it"),
            ],
            fix=fix,
        )


def _keep_copy(fact: ReadAfterDonation, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """Advice: copy the value before the call and read the copy."""
    import libcst as cst

    tree_map, copy = ctx.spell("jax.tree.map"), ctx.spell("jax.numpy.copy")
    call = ctx.node(fact.call)
    if node is None or call is None or tree_map is None or copy is None:
        return None
    statement = next((p for p in ctx.parents(call) if isinstance(p, cst.SimpleStatementLine)), None)
    if statement is None:
        return None
    start = ctx.span(statement)
    indent = split_lines(ctx.source)[start.line - 1][: start.column - 1]
    old = f"old_{fact.name.rpartition('.')[2]}"
    here = Span(start.line, start.column, start.line, start.column)
    return Fix(
        f"Keep a copy in `{old}` (gives up what donation saves)",
        Applicability.DISPLAY,
        (Edit(here, f"{old} = {tree_map}({copy}, {fact.name})\n{indent}"), ctx.replace(node, old)),
    )
