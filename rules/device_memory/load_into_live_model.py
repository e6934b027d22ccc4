"""JAX307: a checkpoint is read beside a model that was built only to be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Load, ModuleRole
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_FULL = {"eqx.filter_eval_shape": "equinox.filter_eval_shape", "jax.eval_shape": "jax.eval_shape"}


class LoadIntoLiveModel(Rule):
    """Two copies of the parameters are on the device while the second is read."""

    def suspect(self, fact: Load) -> bool:
        return fact.proof.level == "eager"

    def check(self, fact: Load, ctx: Context) -> Iterator[Finding]:
        api = "`restore`" if fact.api == "restore" else f"`{ctx.spell(fact.api) or fact.api}`"
        what = f"`{fact.skeleton}`" if fact.skeleton else "a model"
        shapes = "eqx.filter_eval_shape" if fact.api.startswith("equinox.") else "jax.eval_shape"
        why, remedy = (
            (
                "also where it is only the structure that is wanted",
                "and the model where there is nothing to read",
            )
            if fact.sometimes
            else ("only to give the structure", "which makes no arrays")
        )
        yield self.finding(
            fact,
            f"{api} reads the checkpoint into {what}, which was built on the device {why}: "
            f"both are there at once. Build it with `{shapes}`, {remedy}.",
            severity=Severity.INFO if fact.sometimes or ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.MEDIUM if fact.api == "restore" else Confidence.HIGH,
            related=[Related(fact.made, "built here")],
            fix=None
            if fact.sometimes
            else _skeleton(ctx.node(fact.made), ctx.spell(_FULL[shapes]) or shapes, ctx),
        )


def _skeleton(made: cst.CSTNode | None, shapes: str, ctx: Context) -> Fix | None:
    """The same structure, of shapes and dtypes alone."""
    import libcst as cst

    if not isinstance(made, cst.Call):
        return None
    text = ctx.focus.text(ctx.span(made))
    inside = text[len(ctx.focus.code(made.func)) + 1 :]
    separator = ", " if made.args else ""
    rewritten = f"{shapes}({ctx.focus.code(made.func)}{separator}{inside}"
    return ctx.suggest("Build only the structure", ctx.replace(made, rewritten))
