"""Functions of the project that donate what they are given: to whoever calls them it is gone, too."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.watching import watch
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DTYPE,
    FOREIGN,
    FUNCTION,
    HOST,
    MODULE,
    ONE_OF,
    PARTIAL,
    SCALAR,
    SHAPE,
    UNKNOWN,
)
from jaxlint.flow.domain.values import Value
from jaxlint.flow.evaluations import entered_by
from jaxlint.flow.frame import Call, Frame
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.transforms import EAGER

_WITHOUT_BUFFERS = frozenset(
    (CONSTANT, SCALAR, SHAPE, HOST, FUNCTION, BOUNDARY, CLASS, API, MODULE, DTYPE, PARTIAL, ONE_OF)
)
_CHOOSING = (ast.If, ast.IfExp, ast.Try, ast.BoolOp, ast.Match, ast.While)
_LEAVING = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)


def note_given_away(frame: Frame, name: str, state: BoundaryState, node: ast.AST) -> None:
    """A call donates what a name holds: where that is a parameter, the function gives it away."""
    function = frame.function
    if (
        function is not None
        and not frame.level
        and name in function.params
        and _is_certain(function, name, node)
    ):
        frame.evaluation.donates.setdefault(name, state)


def note_passed_on(frame: Frame, closure: Closure, call: Call) -> None:
    """A function of the project was called: are arguments of this call given away in it?"""
    node = call.node
    entered = entered_by(frame.log, node)
    if entered is None or not entered.donates:
        return
    if frame.level > EAGER or call.starred or call.decorator or call.bound or not isinstance(node, ast.Call):
        return
    params = closure.function.params[closure.offset + len(closure.bound) :]
    given = dict(zip(params, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
    values = dict(zip(params, call.positional, strict=False)) | call.keywords
    for parameter, state in entered.donates.items():
        name = dotted_name(given[parameter]) if parameter in given else None
        if name is None or name == "self" or name.count(".") > 1 or has_no_buffer(values[parameter]):
            continue
        if may_be_setting(state, name, values[parameter]):
            continue
        if name in frame.names or "." in name or frame.function is None:
            watch(frame, name, state, node, True)
        note_given_away(frame, name, state, node)


def has_no_buffer(value: Value) -> bool:
    """Nothing on the device that could be given away: numbers, functions, numpy's arrays (what is donated is their
    copy), Optax's transformations (`filter_jit(donate="all")` donates the arrays among its arguments)."""
    if value.kind == FOREIGN:
        return value.data is not None and str(value.data.api).startswith("optax.")
    return value.kind in _WITHOUT_BUFFERS


def may_be_setting(state: BoundaryState, name: str, value: Value) -> bool:
    """Whether a field of something, of which nothing is known, need not be an array: Equinox's `donate="all"` names
    no argument."""
    owner, dot, _ = name.partition(".")
    return state.flavour == "filter" and value.kind == UNKNOWN and bool(dot) and owner != "self"


def _is_certain(function: Function, name: str, node: ast.AST) -> bool:
    """The call is made whenever the function is called, with what it was given under that name."""
    line = getattr(node, "lineno", 0)
    for part in own_nodes(function.node):
        bound = isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        if (bound or isinstance(part, _LEAVING)) and part.lineno < line:  # type: ignore[attr-defined]  # has lines
            return False
        if isinstance(part, _CHOOSING) and any(inner is node for inner in walk(part)):
            return False
    return not isinstance(function.node, ast.Lambda)
