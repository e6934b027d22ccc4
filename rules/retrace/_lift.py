"""Moving a jit out of the function that makes it anew in each call, to the level of the module."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from jaxlint.finding import Edit, Span

from ._hoist import free_names, is_protected, moved_to

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def lift(node: cst.CSTNode, name: str, ctx: Context) -> tuple[Edit, ...]:
    """The edits that make a jit call once, above what it stands in; () where it depends on more than the module."""
    code = ctx.focus.text(ctx.span(node))
    top = _top(ctx.span(node).line, ctx.focus.tree)
    if "\n" in code or top is None or not _is_of_module(code, ctx.span(node).line, top, ctx):
        return ()
    if re.search(rf"\b{name}\b", ctx.source) or is_protected(node, None, ctx):
        return ()
    return (_above(top, f"{name} = {code}\n\n\n"), ctx.replace(node, name))


def lift_definition(node: cst.CSTNode, ctx: Context) -> tuple[Edit, ...]:
    """The edits that move a decorated function, given its decorator's expression, out of what it is defined in."""
    line = ctx.span(node).line
    tree = ctx.focus.tree
    made = next((f for f in _functions(tree) if any(d.lineno == line for d in f.decorator_list)), None)
    top = _top(line, tree)
    if made is None or top is None or top is made or len(made.decorator_list) > 1:
        return ()
    first, last = made.decorator_list[0].lineno, made.end_lineno or made.lineno
    code = "".join(ctx.focus.lines[first - 1 : last])
    if _bindings(tree)[made.name] > 1 or not _is_of_module(code, line, top, ctx, made.name):
        return ()
    moved = moved_to("", first, last, ctx).strip("\r\n")
    while last < len(ctx.focus.lines) and not ctx.focus.lines[last].strip():
        last += 1  # the gap below it
    return (_above(top, f"{moved}\n\n\n"), Edit(Span(first, 1, last + 1, 1), ""))


def _is_of_module(code: str, line: int, top: ast.stmt, ctx: Context, own: str = "") -> bool:
    """Whether some code reads nothing but what the module has bound once, above a statement of it."""
    tree = ctx.focus.tree
    needed = free_names(code)
    if needed is None or re.search(r"\b(nonlocal|global|super|__class__|yield|await)\b", code):
        return False
    needed -= {own}
    around = [f for f in _functions(tree) if f.lineno <= line <= (f.end_lineno or 0) and f.name != own]
    if any(needed & _bindings(function).keys() for function in around):
        return False
    counts = _bindings(tree)
    above = set(_bound_by(s for s in tree.body if s.lineno < top.lineno))
    return all((name in above and counts[name] == 1) or hasattr(builtins, name) for name in needed)


def _top(line: int, tree: ast.Module) -> ast.stmt | None:
    """The function or class of the module that a line stands in."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next(
        (s for s in tree.body if isinstance(s, kinds) and s.lineno <= line <= (s.end_lineno or 0)), None
    )


def _above(statement: ast.stmt, text: str) -> Edit:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    line = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return Edit(Span(line, 1, line, 1), text)


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _bindings(tree: ast.AST) -> Counter[str]:
    """How often each name is bound anywhere in some code."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node is not tree:
            found[node.name] += 1
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).partition(".")[0]] += 1
    return found


def _bound_by(statements: Iterator[ast.stmt]) -> Iterator[str]:
    """What statements of a module bind in it."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
            yield from _bindings(statement)
