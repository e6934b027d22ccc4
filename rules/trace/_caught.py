"""Whether a program may live on the error that traced code raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.pattern import pattern

# What the errors of jax for Python on tracers are, from their own class up.
_CAUGHT = pattern(r"Tracer\w*|JAX\w*|TypeError|Exception|BaseException")
_OTHER = pattern(r"\w*(Error|Exception|Exit|Interrupt|Warning|Iteration)")
# Context managers that take an error: contextlib.suppress, pytest.raises, assertRaises, assertRaisesRegex.
_TAKES = pattern(r"suppress|raises|assertRaises\w*")


def may_be_caught(function: str, tree: ast.Module) -> bool:
    """Whether the file has code that calls a function, on whatever way, and goes on when it raises.

    Goes by names: what mentions the function, or what mentions that, may call it.
    """
    callers = _callers(function, tree)
    return any(_mentions(statement, callers) for node in ast.walk(tree) for statement in _caught(node))


def _callers(function: str, tree: ast.Module) -> set[str]:
    """The names of a function, of those that mention it, and so on."""
    names: set[str] = set()
    more = {function}
    while more - names:
        names |= more
        more = {name for node in ast.walk(tree) for name in _given(node, names)}
    return names


def _given(node: ast.AST, names: set[str]) -> Iterator[str]:
    """What a statement names that leads to one of the names."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if any(_mentions(statement, names) for statement in (*node.body, *node.decorator_list)):
            yield node.name
    elif isinstance(node, ast.Assign):
        value = node.value
        # The result of a call is none of the functions; what a call gets may be part of its result.
        parts = [*value.args, *(k.value for k in value.keywords)] if isinstance(value, ast.Call) else [value]
        if any(_mentions(part, names) for part in parts):
            yield from (
                _last(part) for target in node.targets for part in ast.walk(target) if _is_written(part)
            )


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(part, (ast.Name, ast.Attribute)) and _last(part) in names for part in ast.walk(node)
    )


def _is_written(target: ast.AST) -> bool:
    """Whether it is a part of a target that gets something to hold: `f`, `o.f`, `d` of `d["f"]`."""
    return isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(target.ctx, ast.Store)


def _last(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `a.b.c[0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _caught(node: ast.AST) -> list[ast.stmt]:
    """The statements whose errors a `try` or a `with` takes."""
    if isinstance(node, ast.Try) and any(map(_lives_on, node.handlers)):
        return node.body
    if isinstance(node, (ast.With, ast.AsyncWith)):
        calls = (item.context_expr for item in node.items)
        if any(isinstance(call, ast.Call) and _TAKES.fullmatch(_last(call.func)) for call in calls):
            return node.body
    return []


def _lives_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes the errors of tracers, and does more than raise."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = ["Exception" if each is None else _last(each) for each in types]
    if not any(_CAUGHT.fullmatch(name) or not _OTHER.fullmatch(name) for name in names):
        return False
    leaves = (ast.Return, ast.Continue, ast.Break, ast.If, ast.Try)
    return not isinstance(handler.body[-1], ast.Raise) or any(isinstance(s, leaves) for s in handler.body)
