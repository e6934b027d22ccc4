"""JAX303: a scan stacks a value of every step and only the last, or their sum, is wanted."""

from __future__ import annotations

import ast
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
            fix = _use_carry(fact, node, ctx) or _into_carry(fact, node, ctx)
        elif fact.stack == "reduced":
            message = (
                f"{api} keeps a value of every step in {stack}, only to reduce them with "
                f"`{fact.reducer or 'a reduction'}`. {_accumulate(fact)}."
            )
            fix = _into_carry(fact, node, ctx)
        else:
            message = (
                f"{api} runs outside jit, so the stack that nobody uses is still made and kept in {stack}. "
                "Let the body return `None` in its place."
            )
            fix = _stack_nothing(fact, ctx)
        short = (fact.length is not None and fact.length < _SHORT) or fact.small
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
    # Without a step `ys[-1]` would raise.
    kind = Applicability.SAFE if fact.surely_runs else Applicability.UNSAFE
    return Fix("Use the carry's last value", kind, tuple(edits))


def _stack_nothing(fact: Scan, ctx: Context) -> Fix | None:
    """The body's `return carry, y` becomes `return carry, None`."""
    body, result = _returned(fact, ctx)
    if body is None or result is None:
        return None
    kind = Applicability.UNSAFE if _has_one_user(body, ctx) else Applicability.DISPLAY
    return Fix("Stack nothing", kind, (ctx.replace(result.elements[1], "None"),))


def _has_one_user(body: cst.CSTNode, ctx: Context) -> bool:
    """Whether the scan is all in view that uses its body: nobody else then misses what it no longer returns."""
    import libcst as cst

    around = next(ctx.parents(body), None)
    name = ""
    if isinstance(body, cst.FunctionDef):
        name = body.name.value
    elif isinstance(around, cst.Assign) and len(around.targets) == 1:
        name = ctx.focus.code(around.targets[0].target)
    if not name:
        return isinstance(around, cst.Arg)  # a lambda that is written in the call
    uses = (node for node in ast.walk(ctx.focus.tree) if name in _said(node))
    return len(list(uses)) == 1 and not ctx.is_taken(name)


def _said(node: ast.AST) -> tuple[str, ...]:
    """The names that a node may take a function by; a string may stand in `__all__` or be asked of `getattr`."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ()


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


def _into_carry(fact: Scan, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The last entry, or the sum, as one more member of the carry."""
    import libcst as cst

    from ._into_carry import into_carry

    body, result = _returned(fact, ctx)
    kept = fact.forward if fact.stack == "last" else fact.reducer in ("sum", "mean")
    if not kept or not isinstance(node, cst.Call) or not isinstance(body, cst.FunctionDef) or result is None:
        return None
    return into_carry(fact, node, body, result, ctx)
