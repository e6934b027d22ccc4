"""A Python loop as `lax.fori_loop`: a worked suggestion."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Fix

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


def rolled(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """`for i in range(n): x = g(x)` with a function for the body, and what it changes as the carry."""
    import libcst as cst

    loop = next((p for p in ctx.parents(node) if isinstance(p, cst.For)), None) if node is not None else None
    if loop is None or loop.orelse is not None:
        return None
    span = ctx.span(loop)
    indent = ctx.indent(loop)
    inner = indent + ("\t" if "\t" in indent else "    ")
    text = ctx.focus.text(span)
    try:
        parsed = ast.parse(textwrap.dedent(indent + text)).body[0]
    except SyntaxError:
        return None
    bounds = _bounds(parsed)
    if not isinstance(parsed, ast.For) or not isinstance(parsed.target, ast.Name) or bounds is None:
        return None
    carried = _carried(parsed)
    if not carried or any(isinstance(inner, _LEAVING) for inner in ast.walk(parsed)):
        return None
    if parsed.body[0].lineno == parsed.lineno:
        return None
    lines = ctx.focus.lines[span.line - 1 : span.end_line]
    body = "".join(lines[parsed.body[0].lineno - 1 :]).rstrip("\r\n")
    values = ", ".join(carried)
    whole = f"({values})" if len(carried) > 1 else values
    loops = ctx.spell("jax.lax.fori_loop") or "jax.lax.fori_loop"
    unpacked = "" if len(carried) == 1 else f"{inner}{values} = carry\n"
    name = carried[0] if len(carried) == 1 else "carry"
    rewritten = (
        f"def step({parsed.target.id}, {name}):\n{unpacked}{body}\n{inner}return {values}\n\n"
        f"{indent}{values} = {loops}({bounds[0]}, {bounds[1]}, step, {whole})"
    )
    return ctx.suggest("Loop in the compiled program", ctx.replace(loop, rewritten))


def _bounds(loop: ast.stmt) -> tuple[str, str] | None:
    """First and last of `range(n)` and `range(m, n)`."""
    over = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.func.id != "range":
        return None
    bounds = [ast.unparse(argument) for argument in over.args]
    return ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1]) if len(bounds) == 2 else None


def _carried(loop: ast.For) -> list[str]:
    """The names that a round reads before it gives them another value."""
    first: dict[str, bool] = {}  # whether a name's first use in a round is a read
    stored: set[str] = set()
    for node in _in_order(loop.body):
        reads = isinstance(node.ctx, ast.Load)
        first.setdefault(node.id, reads)
        stored |= set() if reads else {node.id}
    return [name for name, reads in first.items() if reads and name in stored]


def _in_order(body: list[ast.stmt]) -> Iterator[ast.Name]:
    """The names in a body in the order in which they are evaluated."""
    for statement in body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            yield ast.Name(statement.target.id, ast.Load())
        nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        yield from sorted(nodes, key=lambda node: not isinstance(node.ctx, ast.Load))
