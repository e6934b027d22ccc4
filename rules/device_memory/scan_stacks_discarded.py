"""JAX303: a scan stacks a value of every step and only the last, or their sum, is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import Guard, ModuleRole, Scan
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_SHORT = 16  # steps; a stack this short is advice, not a warning


class ScanStacksDiscarded(Rule):
    """The stack of a scan or map is made in full although a single step's room would do."""

    def suspect(self, fact: Scan) -> bool:
        # Under jit an unused stack is removed by XLA. Outside, it is an output like any other.
        unused = fact.stack == "unused" and fact.proof.level == "eager" and fact.proof.eager
        return unused or fact.stack in ("last", "reduced")

    def check(self, fact: Scan, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        api = f"`{ctx.spell(fact.api) or fact.api}`"
        stack = f"`{fact.assigned[1]}`" if fact.assigned[1] else "its output"
        if fact.stack == "last":
            message = f"{api} keeps a value of every step in {stack}, of which {_last(fact)}"
            fix = _use_carry(fact, node, ctx) or (
                _into_carry(fact, node, "{value}", ctx) if fact.forward else None
            )
        elif fact.stack == "reduced":
            message = (
                f"{api} keeps a value of every step in {stack}, only to reduce them with "
                f"`{fact.reducer or 'a reduction'}`. {_accumulate(fact)}."
            )
            reducer = (fact.reducer or "").rpartition(".")[2]
            fix = _into_carry(fact, node, "kept + {value}", ctx) if reducer in ("sum", "mean") else None
        else:
            message = (
                f"{api} runs outside jit, so the stack that nobody uses is still made and kept in {stack}. "
                "Let the body return `None` in its place."
            )
            fix = _stack_nothing(fact, ctx)
        short = fact.length is not None and fact.length < _SHORT
        yield self.finding(
            fact,
            message,
            severity=Severity.INFO if short or ctx.role is ModuleRole.TEST else None,
            confidence=Confidence.HIGH if fact.proof.guard is Guard.NONE else Confidence.MEDIUM,
            related=list(_trail(fact)),
            fix=fix,
        )


def _last(fact: Scan) -> str:
    if not fact.forward:  # the last entry may be of the first step that runs
        return "only one is used. Keep that one in the carry."
    advice = "It is in the carry already: use that." if fact.carries_it else "Keep it in the carry."
    return f"only the last is used. {advice}"


def _accumulate(fact: Scan) -> str:
    if fact.api.endswith(".map"):
        return "Use `lax.scan` with the running result in the carry"
    return "Keep the running result in the carry"


def _trail(fact: Scan) -> Iterator[Related]:
    if fact.body is not None:
        yield Related(fact.body, "the body that stacks it")
    for use in fact.uses[:6]:
        yield Related(use, "all that is used of the stack")


def _use_carry(fact: Scan, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """`_, ys = scan(...)` and `ys[-1]` become `ys, _ = scan(...)` and `ys`."""
    import libcst as cst

    carry, stack = fact.assigned
    if node is None or not fact.carries_it or not stack or not carry.startswith("_"):
        return None
    assign = next(ctx.parents(node), None)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0].target
    uses = [ctx.node(use) for use in fact.uses]
    if not isinstance(target, cst.Tuple) or len(target.elements) != 2:
        return None
    first, second = (element.value for element in target.elements)
    edits = [ctx.replace(first, stack), ctx.replace(second, carry)]
    for use in uses:
        if not isinstance(use, cst.Subscript) or ctx.focus.code(use.value) != stack:
            return None
        edits.append(ctx.replace(use, stack))
    return Fix("Use the carry's last value", Applicability.SAFE, tuple(edits))


def _stack_nothing(fact: Scan, ctx: Context) -> Fix | None:
    """The body's `return carry, y` becomes `return carry, None`."""
    _, result = _returned(fact, ctx)
    if result is None:
        return None
    return Fix("Stack nothing", Applicability.UNSAFE, (ctx.replace(result.elements[1], "None"),))


def _returned(fact: Scan, ctx: Context) -> tuple[cst.CSTNode | None, cst.Tuple | None]:
    """The body of a scan, and the pair that it returns, if that is written in one place."""
    import libcst as cst
    import libcst.matchers as m

    body = ctx.node(fact.body) if fact.body is not None else None
    if isinstance(body, cst.Name):  # a function is placed at its name
        body = next(ctx.parents(body), None)
    result: cst.BaseExpression | None = None
    if isinstance(body, cst.Lambda):
        result = body.body
    elif isinstance(body, cst.FunctionDef):
        returns = m.findall(body.body, m.Return())
        result = returns[0].value if len(returns) == 1 and isinstance(returns[0], cst.Return) else None
    return body, result if isinstance(result, cst.Tuple) and len(result.elements) == 2 else None


def _into_carry(fact: Scan, node: cst.CSTNode | None, update: str, ctx: Context) -> Fix | None:
    """The body with one more member in its carry; the shape that this starts with is the user's to say."""
    import libcst as cst

    zeros = ctx.spell("jax.numpy.zeros")
    body, result = _returned(fact, ctx)
    if not isinstance(node, cst.Call) or len(node.args) < 2 or not isinstance(body, cst.FunctionDef):
        return None
    start = node.args[1]
    if not isinstance(node.args[0].value, cst.Name):
        return None  # of a partial, the carry is another parameter
    if result is None or zeros is None or start.keyword is not None or not body.params.params:
        return None
    carry = body.params.params[0].name
    first, value = (ctx.focus.code(element.value) for element in result.elements)
    indent = " " * (ctx.span(body.body.body[0]).column - 1)
    both = "both" if carry.value == "carry" else "carry"
    return ctx.suggest(
        "Keep it in the carry",
        ctx.replace(carry, both),
        ctx.insert_before(body.body.body[0], f"{carry.value}, kept = {both}\n{indent}"),
        ctx.replace(result, f"({first}, {update.format(value=value)}), None"),
        ctx.replace(start.value, f"({ctx.focus.code(start.value)}, {zeros}(SHAPE))"),
    )
