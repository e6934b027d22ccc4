"""Which of several callables a call may mean: those whose signature takes its arguments."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import BOUNDARY, FUNCTION
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Call


def candidates(choices: list[Value], call: Call) -> tuple[list[Value], Call]:
    """The callables that can be called so, and the call. Where several can, and some arguments are of a number that
    is not in view, it is not known which parameter of which of them gets what."""
    fitting = [choice for choice in choices if _takes(choice, call)]
    if len(fitting) > 1 and call.starred:
        unknown = [UNKNOWN_VALUE] * len(call.positional)
        call = Call(call.node, unknown, call.keywords, True, call.decorator)
    return fitting, call


def one_signature(choices: list[Value]) -> bool:
    """Whether the same argument goes to the same parameter whichever is called, however it is passed."""
    return len(set(map(_signature, choices))) == 1 and all(map(_closure, choices))


def _signature(choice: Value) -> tuple[object, ...]:
    closure = _closure(choice)
    if closure is None:
        return ()
    function = closure.function
    names = function.params[closure.offset + len(closure.bound) :]
    return closure.dropped, *names, "*", *function.keyword_only


def _closure(choice: Value) -> Closure | None:
    held = (
        choice.data if choice.kind == FUNCTION else choice.data.closure if choice.kind == BOUNDARY else None
    )
    closure: Closure | None = held
    return closure


def _takes(choice: Value, call: Call) -> bool:
    """Whether the call is none that Python refuses, as far as both are in view."""
    closure = _closure(choice)
    if closure is None or closure.applied is not None or closure.dropped:
        return True
    function = closure.function
    given = closure.offset + len(closure.bound) + len(call.positional)
    if call.starred:
        return bool(function.variadic) or given - _starred(call.node) <= len(function.params)
    if given > len(function.params) and not function.variadic:
        return False
    return _gets_all(closure, given, {*closure.bound_keywords, *call.keywords})


def _starred(node: ast.AST) -> int:
    """How many positional arguments stand for any number of them, at most."""
    return sum(isinstance(a, ast.Starred) for a in node.args) if isinstance(node, ast.Call) else 0


def _gets_all(closure: Closure, given: int, keywords: set[str]) -> bool:
    function = closure.function
    named = (*function.params[given:], *function.keyword_only)
    if any(name not in keywords and name not in function.defaults for name in named):
        return False
    return function.args.kwarg is not None or all(
        name in function.index or name in function.keyword_only for name in keywords
    )
