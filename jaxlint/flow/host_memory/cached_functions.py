"""Decorators that keep the results of a function: `functools.cache` and its like."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.flow.calls.instances import generic_instance, holds_arrays
from jaxlint.flow.domain.few import is_one_of_few
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import BOUNDARY, CONSTANT, FUNCTION, HOST, INSTANCE, SCALAR, UNKNOWN
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.tags import BOUNDED
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import CacheStore, Parameter
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.host_memory.cache_entries import is_array, is_compiled, key_open_of, pinned_by

if TYPE_CHECKING:
    from jaxlint.flow.run import Run


CACHE_DECORATOR = "cache decorator"


@api_call("cache")
def cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`lru_cache(maxsize=…)`: a decorator; tags tell whether it is bounded."""
    if call.positional and call.positional[0].kind not in (CONSTANT, SCALAR, UNKNOWN):
        return call_form(frame, last, call)
    maxsize = call.argument(0, "maxsize")
    unbounded = maxsize is not None and maxsize.kind == CONSTANT and maxsize.data is None
    return Value(CONSTANT, 0, 0 if unbounded else BOUNDED, CACHE_DECORATOR)


@api_call("other_cache")
def other_cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A cache of another library: how much it keeps is its own affair."""
    return Value(CONSTANT, 0, BOUNDED, CACHE_DECORATOR)


def decorated_fact(
    run: Run, frame: Frame, node: ast.expr, function: Function, how: str, bounded: bool
) -> CacheStore:
    """A cache decorator's fact, made when the run is over. `frame` is the decorator's."""
    cls = function.cls
    on_method = cls is not None and not function.is_static and function.params[:1] == ["self"]
    result: Value | None = None
    holders = [generic_instance(cls)] if cls is not None else []  # and instances of its subclasses, as called
    calls = []
    open_keys: bool | None = None
    for evaluation in run.memo.values():
        if evaluation.function is function and not evaluation.level:
            result = evaluation.result if result is None or result.kind == UNKNOWN else result
            receiver = evaluation.scope[1].receiver if on_method and evaluation.scope is not None else None
            holders += [receiver] if receiver is not None else []
    few = {name for name in function.annotations if is_one_of_few(run.program, function, name)}
    for place, given in run.cached_calls.get(function, ()):
        values = (v for name, v in given.items() if name not in few and v.kind not in (INSTANCE, HOST))
        if any(key_open_of(frame, node, v) is True for v in values):
            calls.append(place)
            open_keys = True
    if open_keys is None and run.cached_calls.get(function):
        open_keys = False  # every call in view passes one of a few keys
    return CacheStore(
        frame.module.place(node),
        function.qualname,
        frame.proof(),
        how=how,
        function=function.qualname,
        bounded=bounded,
        on_method=on_method,
        parameters=tuple(
            Parameter(n, has_default=n in function.defaults, annotation=function.annotations.get(n, ""))
            for n in (*function.params, *function.keyword_only)
            if not (on_method and n == "self")
        ),
        key_open=open_keys,
        value=operand(frame, node, result) if result is not None else None,
        value_is_array=result is not None and is_array(result),
        value_is_boundary=result is not None and (result.kind == BOUNDARY or is_compiled(result)),
        instance_holds_arrays=any(map(holds_arrays, holders)),
        varying_calls=tuple(dict.fromkeys(calls))[:6],
        executable=result is not None and result.kind == BOUNDARY,
        pins=pinned_by([v for _, given in run.cached_calls.get(function, ()) for v in given.values()]),
    )


def call_form(frame: Frame, last: str, call: Call) -> Value:
    """`cached = functools.cache(f)`."""
    target = call.positional[0]
    if target.kind == FUNCTION and isinstance(call.node, ast.Call):
        function: Function = target.data.function
        function.cached = last
        function.cached_at = frame.place(call.node)
        if not frame.quiet:
            frame.log.append(PendingCache(frame, call.node, function, last, last == "lru_cache"))
    return target


def configured_form(frame: Frame, decorator: Value, call: Call) -> Value:
    """`cached = functools.lru_cache(maxsize=None)(f)`, of a function: a bound method's cache goes with it."""
    target = call.positional[0] if call.positional else UNKNOWN_VALUE
    plain = target.kind == FUNCTION and target.data.receiver is None and not target.data.bound
    if not plain or not isinstance(call.node, ast.Call):
        return UNKNOWN_VALUE
    note_cached(frame, call.node, target.data.function, "lru_cache", bool(decorator.tags & BOUNDED))
    return target


def note_cached(frame: Frame, node: ast.expr, function: Function, last: str, bounded: bool) -> None:
    """A decorator that keeps the results of a function."""
    function.cached = last
    function.cached_at = frame.place(node)
    if last == "cached_property":
        function.is_property = True
    if not frame.quiet:
        frame.log.append(PendingCache(frame, node, function, last, bounded))


class PendingCache:
    """A cache decorator; the fact is made at the end, when the function's result is known."""

    __slots__ = ("bounded", "frame", "function", "how", "node")

    def __init__(self, frame: Frame, node: ast.expr, function: Function, how: str, bounded: bool) -> None:
        self.frame = frame
        self.node = node
        self.function = function
        self.how = how
        self.bounded = bounded

    def fact(self, run: Run | None = None) -> CacheStore:
        """What the calls of a run show, by default those of the defining module's own."""
        return decorated_fact(
            run or self.frame.run, self.frame, self.node, self.function, self.how, self.bounded
        )
