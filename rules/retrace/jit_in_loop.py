"""JAX103: a function that is new each time is jitted again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related
from jaxlint.flow.facts import Guard, JitCall, ModuleRole
from jaxlint.rule import Confidence, Rule

from ._hoist import fails_without_a_round, hoist, read_by
from ._lift import lift, lift_definition
from ._unchanging import unchanging
from ._wording import api_name, function_name

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_WHAT = {
    "lambda": "a new lambda",
    "nested function": "a new function",
    "partial": "a new `partial`",
    "bound method": "a new bound method",
    "transform of a function": "a newly transformed function",
    "nnx": "the same function, which `nnx.jit` does not recognise,",
}


class JitInLoop(Rule):
    """A fresh callable is jitted in each round of a loop or in each call of a function."""

    def suspect(self, fact: JitCall) -> bool:
        kept = fact.kept or fact.guarded or fact.only_lowered or fact.literal_loop
        if kept or not fact.boundary.fresh or fact.proof.level != "eager":
            return False
        if fact.boundary.flavour == "filter" and fact.boundary.fresh == "bound method":
            return False  # Equinox keys on the object and the function, not on the method object
        maker = fact.boundary.made_in or fact.symbol
        if fact.returned and maker != fact.symbol:
            return False  # a wrapper of `jit`: what is new is made elsewhere
        if fact.fresh_in == "call" and _in_forward_pass(fact):
            return False
        called = bool(fact.uses) or fact.boundary.form == "immediate"
        return called and (fact.fresh_in == "loop" or (fact.fresh_in == "call" and fact.proof.repeats(maker)))

    def check(self, fact: JitCall, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        loop = fact.fresh_in == "loop" and _in_loop(node, ctx)
        if fact.fresh_in == "loop" and not loop and ctx.role is ModuleRole.TEST:
            return  # a check that is run over several functions
        function = fact.symbol.rpartition(".")[2]
        when = "in every round of the loop" if loop else f"in every call of `{function}`"
        what = _WHAT.get(fact.boundary.fresh, "a new function")
        related = []
        if fact.proof.repeated is not None:
            related.append(
                Related(fact.proof.repeated, "the loop" if loop else f"`{function}` runs again here")
            )
        related += [Related(use, "called here") for use in fact.uses[:1]]
        yield self.finding(
            fact,
            f"`{_shown(fact, ctx)}` is compiled again {when}: {api_name(fact.boundary, ctx)} gets {what} "
            f"each time. Make it once{' before the loop' if loop else ', outside'}.",
            confidence=Confidence.MEDIUM if fact.proof.guard is not Guard.NONE else Confidence.HIGH,
            related=related,
            fix=None if self._is_second(fact, ctx) else _fix(fact, node, ctx),
        )

    def _is_second(self, fact: JitCall, ctx: Context) -> bool:
        """Whether another one of the same function comes first: the two would be given the same name."""
        earlier = (j for j in ctx.facts(JitCall) if j.place < fact.place and j.symbol == fact.symbol)
        return any(j.boundary.function == fact.boundary.function and self.suspect(j) for j in earlier)


def _in_forward_pass(fact: JitCall) -> bool:
    """Nothing in view runs it but the `__call__` of a model, which whoever trains it jits."""
    return not fact.proof.eager and any(step.function.endswith(".__call__") for step in fact.proof.chain)


def _in_loop(node: cst.CSTNode | None, ctx: Context) -> bool:
    """Whether the jit call stands in a loop itself, and is not only handed what a loop elsewhere makes."""
    import libcst as cst

    inside = node
    for parent in ctx.parents(node) if node is not None else ():
        if isinstance(parent, (cst.For, cst.While, cst.BaseComp)):
            return True
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)) and not isinstance(inside, cst.Decorator):
            return False
        inside = parent
    return False


def _shown(fact: JitCall, ctx: Context) -> str:
    text = ctx.text(fact.place)
    named = fact.boundary.form == "decorator" or len(text) > 60
    return function_name(fact.boundary) if named else text


def _fix(fact: JitCall, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    import libcst as cst

    if node is None:
        return None
    function = fact.boundary.function.rpartition(".")[2]
    name = f"jitted_{function}" if function.isidentifier() else "jitted"
    if fact.fresh_in == "loop" and isinstance(node, cst.Call) and fact.boundary.form != "decorator":
        reads = set() if fact.boundary.fresh == "lambda" else read_by(fact.boundary.definition, ctx)
        edits = hoist(node, name, reads, ctx) if reads is not None else ()
        return Fix("Jit it once, before the loop", _loop_kind(node, edits, ctx), edits) if edits else None
    if fact.fresh_in != "call":
        return None
    form = fact.boundary.form
    edits = lift_definition(node, ctx) if form == "decorator" else lift(node, name, ctx)
    if not edits:
        return None
    code = ctx.text(fact.boundary.definition) if form == "decorator" and fact.boundary.definition else None
    same = unchanging(code or ctx.focus.text(ctx.span(node)), None, ctx)
    return Fix("Jit it once, for the module", Applicability.UNSAFE if same else Applicability.DISPLAY, edits)


def _loop_kind(node: cst.CSTNode, edits: tuple[Edit, ...], ctx: Context) -> Applicability:
    """Whether the loop that the jit call moves out of is seen to change nothing that the function reads."""
    import libcst as cst

    line = edits[0].span.line
    loops = (p for p in ctx.parents(node) if isinstance(p, (cst.For, cst.While)))
    loop = next((loop for loop in loops if ctx.span(loop).line == line), None)
    if loop is None or fails_without_a_round(node, loop, ctx):
        return Applicability.DISPLAY
    text = ctx.indent(loop) + ctx.focus.text(ctx.span(loop))
    same = unchanging(ctx.focus.text(ctx.span(node)), text, ctx)
    return Applicability.UNSAFE if same else Applicability.DISPLAY
