"""Flax's linen modules: `apply`, `init` and `init_with_output`, called at once or handed on as functions.

`net.apply` is a bound method like others: each look at it is another object, and jit keeps nothing from one to the
next (measured on jax 0.10.2: `jax.jit(net.apply)` in a loop compiles in each round). It runs the module's
`__call__`, or the method that `method=` names, without the variables or keys it is given first.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import CONSTANT, DEVICE, FUNCTION, TREE, UNKNOWN
from jaxlint.flow.domain.values import TRACED_PARAMETER, UNKNOWN_VALUE, Value, tree
from jaxlint.flow.expressions.attributes import bound_method
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.model_sizes import made_by_init

_RUNNING = frozenset({"apply", "init", "init_with_output"})
_OWN = frozenset({"method", "rngs", "mutable", "capture_intermediates"})  # what the method does not get


class Applied(NamedTuple):
    """How a module's method is run: through which of its library's methods, and whether `apply` gives back the
    changed variables, too (None: not known)."""

    name: str
    mutable: bool | None = False


def function_of(frame: Frame, receiver: Value, node: ast.Attribute) -> Value | None:
    """`net.apply`: the module's `__call__`, which does not get the first argument."""
    method = receiver.data.cls.lookup("__call__") if node.attr in _RUNNING else None
    if method is None:
        return None
    bound = bound_method(frame, method, receiver, node)
    if bound.kind != FUNCTION:
        return None
    bound.data.dropped = 1
    bound.data.applied = Applied(node.attr)
    return bound


def chosen(frame: Frame, closure: Closure, keywords: dict[str, Value]) -> Closure | None:
    """The method that a call with these keywords runs; None where it is not in view."""
    given = {**closure.bound_keywords, **keywords}
    method = given.get("method")
    made = closure.copy(closure.home, closure.loop, closure.node)
    if method is not None and not (method.kind == CONSTANT and method.data is None):
        other = _method(frame, closure, method)
        if other is None:
            return None
        made.function, made.scope = other.function, other.scope
    how = closure.applied
    if how is not None and "mutable" in given:
        made.applied = how._replace(mutable=_is_mutable(given["mutable"]))
    made.bound_keywords = without_own(closure.bound_keywords)
    return made


def without_own(keywords: dict[str, Value]) -> dict[str, Value]:
    """The keywords that reach the method."""
    return {word: value for word, value in keywords.items() if word not in _OWN}


def _method(frame: Frame, closure: Closure, method: Value) -> Closure | None:
    receiver = closure.receiver
    assert receiver is not None  # a bound method
    found = None
    if method.kind == CONSTANT and isinstance(method.data, str):
        found = receiver.data.cls.lookup(method.data)
    elif method.kind == FUNCTION and method.data.function.is_method:
        found = method.data.function
    bound = bound_method(frame, found, receiver, closure.node) if found is not None else UNKNOWN_VALUE
    return bound.data if bound.kind == FUNCTION else None


def _is_mutable(given: Value) -> bool | None:
    if given.kind == CONSTANT:
        return given.data is not False
    return True if given.kind == TREE else None


def given_back(closure: Closure, result: Value, traced: bool) -> Value:
    """What `apply` and its kin return where the method returns `result`."""
    variables = TRACED_PARAMETER if traced else UNKNOWN_VALUE
    how = closure.applied
    if how is None:
        return result
    if how.name == "init":
        return variables
    if how.name == "init_with_output" or how.mutable:
        return tree([result, variables])
    return result if how.mutable is False else UNKNOWN_VALUE


def parameters(frame: Frame, closure: Closure, call: Call, result: Value) -> Value:
    """What `init` gives outside a trace, also one of Haiku's: parameters, with their size where that is in view."""
    if not closure.initialises and (closure.applied is None or closure.applied.name != "init"):
        return result
    count = made_by_init(frame.run.program, closure, call)
    kind, data = (result.kind, result.data) if result.kind == DEVICE else (UNKNOWN, None)
    return Value(kind, 0, result.tags, data, None, result.origin, None if count is None else count + 2)


def reached(frame: Frame, closure: Closure, call: Call) -> tuple[Closure, Call] | None:
    """The method that a call runs, and the call without what is not the method's."""
    method = chosen(frame, closure, call.keywords)
    if method is None:
        return None
    return method, Call(call.node, call.positional, without_own(call.keywords), call.starred, call.decorator)
