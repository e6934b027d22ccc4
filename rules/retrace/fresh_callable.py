"""JAX109: control flow outside jit is compiled each time it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import FreshControlBody, ModuleRole
from jaxlint.rule import Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_WHAT = {
    "lambda": "a new lambda",
    "nested function": "a new function",
    "partial": "a new `partial`",
    "bound method": "a new bound method",
    "transform of a function": "a newly transformed function",
    "instance": "a new object",
}


class FreshCallable(Rule):
    """`lax.scan` or a relative gets a new body each time, or is differentiated eagerly, again and again."""

    def suspect(self, fact: FreshControlBody) -> bool:
        # What only tests run eagerly, others will have jitted.
        outside = (fact.proof.eager and not fact.proof.by_test) or fact.shows_effects
        called = not any(step.declared for step in fact.proof.chain)
        return outside and called and _runs_again(fact)

    def check(self, fact: FreshControlBody, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if any(other.inside == fact.place for other in ctx.facts(FreshControlBody)):
            return  # said where the derivative is taken
        again = fact.loop if _in_loop(fact) else fact.proof.repeated
        related = (
            [Related(fact.inside, f"`{_name(fact.api, ctx)}` is here")] if fact.inside is not None else []
        )
        if again is not None:
            related.append(Related(again, "runs again here"))
        yield self.finding(
            fact,
            _message(fact, node, ctx),
            severity=Severity.INFO if ctx.role is ModuleRole.TEST else None,
            related=related,
            fix=_fix(fact, node, ctx),
        )


def _in_loop(fact: FreshControlBody) -> bool:
    return fact.fresh_in == "loop" and fact.loop is not None


def _runs_again(fact: FreshControlBody) -> bool:
    """Whether what is new each time is made again and again."""
    if fact.fresh_in == "loop":
        return True
    return fact.proof.repeats(fact.made_in) if fact.made_in else fact.proof.repeated is not None


def _message(fact: FreshControlBody, node: cst.CSTNode | None, ctx: Context) -> str:
    api = f"`{_name(fact.api, ctx)}`"
    where = fact.symbol.rpartition(".")[2]
    named = where.isidentifier() and not _in_loop(fact)
    when = f"in every call of `{where}`" if named else "in every round of the loop"
    if fact.inside is not None:
        return f"{_callee(node, ctx)} outside `jit` compiles {api} again {when}. Jit the derivative, once."
    if fact.why == "always":
        reason = "outside `jit` it does so in every call"
    else:
        reason = (
            f"outside `jit` it knows its body by identity, and this is {_WHAT.get(fact.why, 'a new one')}"
        )
    return f"{api} is compiled again {when}: {reason}. Jit the function around it, or make the body once."


def _name(api: str, ctx: Context) -> str:
    """A library name in the file's own spelling."""
    return ctx.spell(api) or api


def _callee(node: cst.CSTNode | None, ctx: Context) -> str:
    import libcst as cst

    return f"`{ctx.focus.text(ctx.span(node.func))}`" if isinstance(node, cst.Call) else "The derivative"


def _fix(fact: FreshControlBody, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """`@jax.jit` on the function around it, to paste: which of its arguments are static is the user's to say."""
    import libcst as cst

    jit = ctx.spell("jax.jit")
    if fact.inside is not None or node is None or jit is None:
        return None
    around = next(
        (p for p in ctx.parents(node) if isinstance(p, (cst.FunctionDef, cst.For, cst.While))), None
    )
    if not isinstance(around, cst.FunctionDef) or around.decorators:
        return None
    if next((p for p in ctx.parents(around) if isinstance(p, (cst.FunctionDef, cst.ClassDef))), None):
        return None
    edit = ctx.insert_before(around, f"@{jit}\n")
    return Fix(f"Jit `{around.name.value}`", Applicability.DISPLAY, (edit,))
