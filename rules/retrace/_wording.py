"""How the findings of this family name a boundary, the values handed to it, and what explains them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Related
from jaxlint.flow.facts import Boundary, BoundaryUse, Operand

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

LONGEST = 40  # an argument longer than this is called by the name of its parameter


def callee(boundary: Boundary, node: cst.CSTNode | None, ctx: Context) -> str:
    """The called boundary as the caller writes it, or by the wrapped function's name."""
    import libcst as cst

    if isinstance(node, cst.Call) and not isinstance(node.func, cst.Call):
        return f"`{ctx.focus.text(ctx.span(node.func))}`"
    return f"`{function_name(boundary)}`"


def function_name(boundary: Boundary) -> str:
    """The wrapped function without its module and class."""
    return boundary.function.rpartition(".")[2] or "the jitted function"


def api_name(boundary: Boundary, ctx: Context) -> str:
    """The boundary's API in the file's own spelling (`eqx.filter_jit`), else its last name."""
    return f"`{ctx.spell(boundary.api) or boundary.api.rpartition('.')[2]}`"


def value(fact: BoundaryUse, argument: Operand, leaf: Operand, ctx: Context) -> str:
    """What the user calls a leaf of an argument, without backticks."""
    text = ctx.text(leaf.place) if written(fact, argument, leaf) else ""
    if text and len(text) <= LONGEST:
        return text
    return f"{argument.name or argument.parameter or 'an argument'}{leaf.path}"


def written(fact: BoundaryUse, argument: Operand, leaf: Operand) -> bool:
    """Whether a leaf of an argument is an expression of its own in the call. What a partial has bound and what
    `*` or `**` brings has the whole call for its place."""
    part = argument.place.contains(leaf.place) and leaf.place != argument.place
    return argument.place != fact.place and (leaf is argument or part)


def listing(names: Iterable[str]) -> str:
    """`a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in dict.fromkeys(names)]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def trail(fact: BoundaryUse, values: Sequence[Operand]) -> list[Related]:
    """The boundary, where the values come from, and the loop."""
    related = [Related(fact.boundary.place, "jitted here")]
    for operand in values:
        if operand.origin is not None:
            related.append(Related(operand.origin, _origin(operand)))
    loop = fact.loop or fact.proof.repeated
    if loop is not None:
        related.append(Related(loop, "runs again here"))
    seen = {fact.place}
    return [r for r in related if not (r.place in seen or seen.add(r.place))]  # type: ignore[func-returns-value]  # add gives None, which is false


def _origin(operand: Operand) -> str:
    name = f"`{operand.name}`" if operand.name else "the value"
    return f"{name} comes from here" + (f" ({operand.origin_kind})" if operand.origin_kind else "")
