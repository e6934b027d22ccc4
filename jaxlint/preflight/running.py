"""What every run of a module as a program carries out, whatever it is given: no branch and no loop leads there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxlint.project.role import is_main_guard

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def lines(tree: ast.Module) -> frozenset[int]:
    """The lines of the simple statements that always run, also in functions that one of them calls."""
    functions = {node.name: node for node in tree.body if isinstance(node, _Function)}
    return frozenset(
        line
        for statement in _always(tree.body, functions, set())
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    )


def _always(
    body: Sequence[ast.stmt], functions: dict[str, _Function], entered: set[str]
) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (ast.With, ast.AsyncWith)) or is_main_guard(statement):
            yield from _always(statement.body, functions, entered)  # type: ignore[attr-defined]  # of the kinds that have a body
        elif isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)):
            yield statement
            called = _called(statement)
            if called in functions and called not in entered:
                entered.add(called)
                yield from _always(functions[called].body, functions, entered)
        elif not isinstance(statement, (_Function, ast.ClassDef)) and _may_leave(statement):
            return


def _called(statement: ast.Expr | ast.Assign | ast.AnnAssign) -> str:
    """The name of the function that a statement calls, "" where it is no such call."""
    call = statement.value
    if isinstance(call, ast.Await):
        call = call.value
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def _may_leave(statement: ast.stmt) -> bool:
    """Whether what follows may not be reached: `if not enabled: return`, or `sys.exit()` in a branch."""
    return any(isinstance(node, _LEAVING) or _is_exit(node) for node in ast.walk(statement))


def _is_exit(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("exit", "_exit", "quit")
