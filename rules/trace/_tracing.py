"""What the rules about Python inside a trace share: when a fact is proven, and how its parts are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlint.finding import Confidence, Related
from jaxlint.flow.facts import (
    DataDependentShape,
    Fact,
    Guard,
    Kind,
    NumpyOnTraced,
    Operand,
    TracedBranch,
    TracedShape,
)

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

Traced: TypeAlias = TracedBranch | NumpyOnTraced | DataDependentShape | TracedShape

# Under plain grad values are concrete, so Python may look at them.
VALUELESS = ("vmap", "jit")

LONGEST = 50  # an expression longer than this is not quoted


def proven(fact: Fact) -> bool:
    """Traced for certain, and by no code that has provided for it.

    Code that tests for tracers, catches their errors, or is in a branch that only `None` reaches has usually
    been written for the traced and the eager world both.
    """
    return fact.proof.level in VALUELESS and fact.proof.guard is Guard.NONE


def confidence(operand: Operand | None) -> Confidence:
    """A parameter of traced code may turn out to be a tree; everything else that is traced is an array."""
    tree = operand is not None and operand.kind is Kind.TRACED_PARAMETER
    return Confidence.MEDIUM if tree else Confidence.HIGH


def quoted(fact: Traced, ctx: Context, taker: cst.CSTNode | None = None) -> str:
    """The traced value as the user wrote it: "the traced `x > 0`".

    `taker` is the call or subscript that takes the value, for facts that say no closer where it stands.
    """
    operand = fact.operand
    if taker is not None and (operand is None or operand.place == fact.place):
        text = _taken(taker, ctx)
    else:
        text = (ctx.text(operand.place) or operand.name or "") if operand is not None else ""
    return as_traced(text)


def as_traced(text: str) -> str:
    """A traced value by its source, unless there is none or it is too long to be read in a sentence."""
    text = " ".join(text.split())
    return f"the traced `{text}`" if 0 < len(text) <= LONGEST else "a traced value"


def _taken(taker: cst.CSTNode, ctx: Context) -> str:
    """The only positional argument of a call, the object of a method without one, or an index."""
    import libcst as cst

    if isinstance(taker, cst.Call):
        values: list[cst.CSTNode] = [a.value for a in taker.args if a.keyword is None and not a.star]
        if not taker.args and isinstance(taker.func, cst.Attribute):
            values = [taker.func.value]
    else:
        values = list(taker.slice) if isinstance(taker, cst.Subscript) else []
    return " ".join(ctx.focus.code(values[0]).split()) if len(values) == 1 else ""


def api_name(dotted: str, ctx: Context) -> str:
    """A library name in the file's own spelling, else in the customary one (`jnp.where`)."""
    own = ctx.spell(dotted)
    if own is not None:
        return own
    for package, customary in (("jax.numpy.", "jnp."), ("numpy.", "np.")):
        if dotted.startswith(package):
            return customary + dotted[len(package) :]
    return dotted


def in_file_spelling(text: str, ctx: Context) -> str:
    """Advice that says `jnp`, in the words of a file that may call `jax.numpy` otherwise."""
    own = ctx.spell("jax.numpy")
    return text if own is None else text.replace("jnp.", f"{own}.")


def why_traced(fact: Fact) -> tuple[Related, ...]:
    """Where the trace begins."""
    begin = fact.proof.why_traced
    return (Related(begin, "traced from here"),) if begin is not None else ()
