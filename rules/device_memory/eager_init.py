"""JAX306: parameters are made outside jit, in more memory than they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix
from jaxlint.flow.facts import EagerInit, ModuleRole
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_FEW = 8  # members of a mapped constructor


class EagerInitialisation(Rule):
    """Every intermediate of an initialisation outside jit is an array of its own."""

    def suspect(self, fact: EagerInit) -> bool:
        proof = fact.proof
        if proof.level != "eager" or not proof.eager or proof.by_test:
            return False  # its users may well jit it
        return fact.how != "mapped" or fact.number is None or fact.number >= _FEW

    def check(self, fact: EagerInit, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST:
            return
        jit = ctx.spell("jax.jit") or "jax.jit"
        if fact.how == "forward":
            owner = fact.name or "model"
            message = (
                f"`{owner}.init` runs the whole model outside jit, one operation after the other, for its "
                f"parameters. Under jit only they are computed: `{jit}({owner}.init)`."
            )
        elif fact.how == "mapped":
            what = f"`{fact.name}`" if fact.name else "a constructor"
            message = (
                f"The vmap of {what} outside jit makes the parameters of all members step by step, each "
                f"intermediate in full. Put it under `{jit}` (`eqx.filter_jit` for modules)."
            )
        elif fact.how == "scanned":
            message = (
                "A stack of parameters is transposed outside jit to be scanned: both stacks are there in full "
                "while the scan runs. Store it the way the body uses it, or transpose each member in the body."
            )
        else:
            message = (
                f"What the initialiser makes is {fact.name} at once: both arrays are there for a moment. Ask it "
                "for the shape that is needed."
            )
        fix = _jitted(ctx.node(fact.place), jit, ctx) if fact.how == "forward" else None
        yield self.finding(fact, message, confidence=Confidence.MEDIUM, fix=fix)


def _jitted(node: cst.CSTNode | None, jit: str, ctx: Context) -> Fix | None:
    """`model.init(key, x)` as `jax.jit(model.init)(key, x)`."""
    import libcst as cst

    if not isinstance(node, cst.Call):
        return None
    edit = ctx.replace(node.func, f"{jit}({ctx.focus.code(node.func)})")
    return ctx.suggest("Initialise under jit", edit)
