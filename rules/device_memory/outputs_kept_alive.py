"""JAX308: a loop keeps what every step returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Append, ModuleRole
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_FEW = 16  # rounds


class OutputsKeptAlive(Rule):
    """Device memory grows by the outputs of each step, as long as the container lives."""

    def suspect(self, fact: Append) -> bool:
        if fact.proof.level != "eager" or fact.emptied or fact.sampled or fact.host_copy or not fact.output:
            return False
        if fact.over in ("literal", "anew") or (fact.rounds is not None and fact.rounds < _FEW):
            return False
        return fact.loop is not None or (fact.proof.repeated is not None and "." in fact.container)

    def check(self, fact: Append, ctx: Context) -> Iterator[Finding]:
        name = f"`{fact.value.name}`" if fact.value.name else "The output of each step"
        container = f"`{fact.container}`" if fact.container else "a list"
        advice = fact.output in ("number", "unknown") or fact.collected or fact.joined
        where = fact.loop or fact.proof.repeated
        related = [Related(where, "in each round of this loop")] if where is not None else []
        if fact.made_by is not None:
            related.append(Related(fact.made_by, "returned by this call"))
        yield self.finding(
            fact,
            f"{name} stays on the device in {container}, one more in every round. {_remedy(fact)}.",
            severity=Severity.INFO if advice or ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH if fact.output == "tree" and not advice else Confidence.MEDIUM,
            related=related,
            fix=_fetched(fact, ctx.node(fact.place), ctx),
        )


def _remedy(fact: Append) -> str:
    if fact.output == "number":
        return "Keep `float()` of it, or fetch them all with `jax.device_get` every so often"
    return (
        "Keep the numbers you need (`float()`, a reduction in the step), or move it off with `jax.device_get`"
    )


def _fetched(fact: Append, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """What is appended, as a Python number or as host arrays."""
    import libcst as cst

    if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].star:
        return None
    value = node.args[0].value
    get = "float" if fact.output == "number" else ctx.spell("jax.device_get") or "jax.device_get"
    return ctx.suggest("Keep it on the host", ctx.replace(value, f"{get}({ctx.focus.code(value)})"))
