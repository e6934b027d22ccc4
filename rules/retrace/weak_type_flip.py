"""JAX111: a loop passes a Python number first, and from then on the array that it gets back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import Guard, ModuleRole, WeakStart
from jaxlint.pattern import pattern
from jaxlint.rule import Confidence, Rule, Severity

from . import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_MAKERS = ("asarray", "array", "full")
# Words of a file in which arrays may have another dtype than the default one of their kind.
_OTHER_DTYPES = pattern(
    r"\b((b?float|u?int|complex)(8|16|64|128)|float8_\w+|u?int[24]|uint32|float_|half|double|single|x64|jax_enable_x64"
    r"|finfo|iinfo|jmp|[bui]1|[fui]2|[fi]8)\b"
)


class WeakTypeFlip(Rule):
    """The first round is traced for a weak type, the second for a type of its own."""

    def suspect(self, fact: WeakStart) -> bool:
        again = fact.loop is not None or fact.proof.repeated is not None
        return again and fact.proof.level == "eager"

    def check(self, fact: WeakStart, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        callee = f"`{wording.function_name(fact.boundary)}`"
        node = _value(node, ctx)
        text = f"`{ctx.focus.code(node)}`" if _is_start(node, ctx) and node is not None else "a Python number"
        better = _better(fact, node, ctx)
        remedy = f"Start with `{better}`." if better else "Give the start a dtype."
        yield self.finding(
            fact,
            f"`{fact.name}` starts as {text}, of a weak type, and comes back with another one: {callee} is "
            f"compiled twice. {remedy}",
            severity=Severity.INFO if ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=[
                Related(fact.use, f"{callee} is called with it here"),
                Related(fact.boundary.place, "jitted here"),
            ],
            fix=_fix(node, better, ctx),
        )


def _value(node: cst.CSTNode | None, ctx: Context) -> cst.CSTNode | None:
    """The start: what is assigned, where the fact points at the field that it is assigned to."""
    import libcst as cst

    around = list(ctx.parents(node))[:2] if node is not None else []
    if len(around) == 2 and isinstance(around[0], cst.AssignTarget) and isinstance(around[1], cst.Assign):
        return around[1].value
    return node


def _is_start(node: cst.CSTNode | None, ctx: Context) -> bool:
    """A number, or an array made of one."""
    import libcst as cst

    if isinstance(node, cst.Call):
        return ctx.focus.code(node.func).rpartition(".")[2] in _MAKERS
    return isinstance(node, (cst.Integer, cst.Float, cst.UnaryOperation, cst.Attribute))


def _better(fact: WeakStart, node: cst.CSTNode | None, ctx: Context) -> str:
    """The same start with a dtype, "" where none can be written: the default one of its kind, as the array's own
    is not known."""
    import libcst as cst

    jnp = ctx.spell("jax.numpy")
    if jnp is None or node is None:
        return ""
    dtype = "int" if fact.whole else "float"
    code = ctx.focus.code(node)
    if isinstance(node, (cst.Integer, cst.Float)):
        if node.evaluated_value == 0:
            return f"{jnp}.zeros((), int)" if fact.whole else f"{jnp}.zeros(())"
        return f"{jnp}.asarray({code}, dtype={dtype})"
    if isinstance(node, cst.UnaryOperation) or (isinstance(node, cst.Attribute) and node.attr.value == "inf"):
        return f"{jnp}.asarray({code}, dtype={dtype})"
    if isinstance(node, cst.Call) and ctx.focus.code(node.func).rpartition(".")[2] in _MAKERS:
        return f"{code.rstrip()[:-1].rstrip().rstrip(',')}, dtype={dtype})"
    return ""


def _fix(node: cst.CSTNode | None, better: str, ctx: Context) -> Fix | None:
    if node is None or not better:
        return None
    default = not _OTHER_DTYPES.search(ctx.source)
    kind = Applicability.UNSAFE if default else Applicability.DISPLAY
    return Fix("Start with a dtype", kind, (ctx.replace(node, better),))
