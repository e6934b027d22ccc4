"""grad, vmap, checkpoint and their kin: a callable at a higher trace level; partial: one with arguments."""

from __future__ import annotations

from typing import Any

from jaxlint.flow.boundaries.crossing import as_traced
from jaxlint.flow.calls import linen
from jaxlint.flow.calls.argument_binding import bind
from jaxlint.flow.calls.mapped_axes import axes_for, parameter
from jaxlint.flow.domain.closures import Closure, PartialApi, run_by
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    FOREIGN,
    FUNCTION,
    INSTANCE,
    PARTIAL,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.tags import FRESH
from jaxlint.flow.domain.values import (
    UNKNOWN_VALUE,
    Origin,
    Value,
    is_boundary,
    parts,
    tree,
)
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.eager_control import note_derivative
from jaxlint.jax_api.transforms import EAGER, GRAD, JIT, TRACERS, TRANSFORMS, VMAP


@api_call("partial")
def partial(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if not call.positional:
        return UNKNOWN_VALUE
    target = call.positional[0]
    called = run_by(target, call.node) if target.kind == INSTANCE else None
    if called is not None:  # an object of the project: its `__call__`
        target = Value(FUNCTION, data=called)
    if target.kind == API:
        here = frame.evaluation, frame.loop, call.node
        return Value(PARTIAL, data=PartialApi(target.data, call.positional[1:], call.keywords, *here))
    if target.kind == CLASS:
        bound = PartialApi("", call.positional[1:], call.keywords, frame.evaluation, frame.loop, call.node)
        bound.cls = target.data
        return Value(PARTIAL, data=bound)
    if target.kind == PARTIAL:
        inner: PartialApi = target.data
        merged = PartialApi(
            inner.api, [*inner.args, *call.positional[1:]], {**inner.keywords, **call.keywords}
        )
        merged.cls = inner.cls
        merged.boundary = inner.boundary
        if inner.boundary is not None:
            merged.home, merged.loop, merged.node = frame.evaluation, frame.loop, call.node
        return Value(PARTIAL, data=merged)
    if target.kind == FUNCTION:
        closure = target.data.copy(frame.evaluation, frame.loop, call.node)
        if closure.applied is not None:
            closure = linen.chosen(frame, closure, call.keywords)
        if closure is None:
            return Value(UNKNOWN, 0, FRESH, None, None, Origin(frame.module, call.node, "partial"))
        _bind(closure, call.positional[1:], call.keywords)
        return Value(FUNCTION, data=closure)
    if target.kind == BOUNDARY:
        target.data.escapes = target.data.partly_bound = True
        held = PartialApi("", call.positional[1:], call.keywords, frame.evaluation, frame.loop, call.node)
        held.boundary = target
        return Value(PARTIAL, data=held)
    return Value(UNKNOWN, 0, FRESH, None, None, Origin(frame.module, call.node, "partial"))


def _bind(closure: Closure, positional: list[Value], keywords: dict[str, Value]) -> None:
    """Make a closure a partial of itself."""
    dropped = min(closure.dropped, len(positional))
    closure.dropped -= dropped
    closure.bound = [*closure.bound, *positional[dropped:]]
    words = keywords if closure.applied is None else linen.without_own(keywords)
    closure.bound_keywords = {**closure.bound_keywords, **words}
    closure.via = "partial"


def partial_closure(frame: Frame, held: PartialApi) -> Closure | None:
    """The function of a jit boundary with the arguments that a partial of the boundary binds; None where it is
    not in view."""
    boundary = held.boundary
    function: Closure | None = boundary.data.closure if boundary is not None else None
    if boundary is None or function is None:
        return None
    closure: Closure | None = function.copy(held.home, held.loop, held.node)
    if function.applied is not None:
        closure = linen.chosen(frame, function.copy(held.home, held.loop, held.node), held.keywords)
    if closure is None:
        return None
    if boundary.element is not None:
        closure.receiver = boundary.element
    _bind(closure, held.args, held.keywords)
    return closure


@api_call("value_partial")
def value_partial(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`eqx.Partial` and `jax.tree_util.Partial` are pytrees: made anew for a cache where their function is."""
    result = partial(frame, dotted, last, call)
    function = call.argument(0, "func", "fun", "f")
    if result.kind == FUNCTION and function is not None and function.kind == FUNCTION:
        made, given = result.data, function.data
        made.via, made.home, made.loop, made.node = given.via, given.home, given.loop, given.node
    return result if result.kind == FUNCTION else UNKNOWN_VALUE


@api_call("transform")
def transform(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    level, name = TRANSFORMS[dotted]
    target = call.argument(0, "fun", "f", "fn")
    if target is None:
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    if is_boundary(target):
        held = target.data if target.kind == BOUNDARY else target.data.boundary.data
        held.by_position = held.by_position or by_position(dotted, call)
        return target
    if constructs(target) and level != GRAD:
        return target  # `vmap(Block)(keys)`: an instance whose arrays have one more axis
    closure = _callable(target, call)
    if closure is None:
        # An API says what it does with low precision, a layer that it gives an array.
        named = target if target.kind in (API, FOREIGN) else None
        origin = Origin(frame.module, call.node, "transform of a function", name)
        return Value(UNKNOWN, 0, FRESH, None, named, origin)
    made = closure.copy(frame.evaluation, frame.loop, call.node)
    if call.decorator:
        made.home, made.loop = closure.home, closure.loop
    made.transforms = (*closure.transforms, (level, name))
    made.by_position = closure.by_position or by_position(dotted, call)
    made.by_equinox = dotted.startswith("equinox.") and (closure.by_equinox or not closure.transforms)
    made.inner_fresh = closure.inner_fresh or (
        bool(freshness(frame, closure)) and closure.receiver is None and not closure.transforms
    )
    if level == GRAD:
        made.argnums = _argnums(call)
    if name == "shard_map":
        made.axes_unknown = True
    if name == "vmap":
        _map_axes(frame, made, call)
    return Value(FUNCTION, data=made)


def by_position(dotted: str, call: Call) -> bool:
    """Whether a transform may take an argument otherwise by keyword than by position: `in_axes` and static
    numbers pass over keywords, which are mapped over their first axis, and a negative `argnums` counts those
    that stand there."""
    if call.starred or dotted.endswith("shard_map"):
        return True
    if dotted.endswith(("pmap", "vmap")):  # a second argument of pmap names the axis
        axes = call.argument(1, "in_axes") if dotted.endswith("vmap") else call.keywords.get("in_axes")
        return axes is not None and not (axes.kind == CONSTANT and axes.data == 0)
    if TRANSFORMS.get(dotted, (EAGER, ""))[0] == GRAD:
        numbers = _argnums(call)
        return numbers is None or any(number < 0 for number in numbers)
    return "static_argnums" in call.keywords


def constructs(target: Value) -> bool:
    """A class of the project whose instances are trees of arrays, or a partial of one."""
    cls = target.data.cls if target.kind == PARTIAL else target.data if target.kind == CLASS else None
    return cls is not None and bool(cls.is_pytree_value)


def _argnums(call: Call) -> list[int] | None:
    given = call.argument(1, "argnums")
    if given is None:
        return [0]
    members = parts(given) if given.kind == TREE else [given]
    numbers = [m.data for m in members if m.kind == CONSTANT and isinstance(m.data, int)]
    return numbers if len(numbers) == len(members) else None


def _callable(target: Value, call: Call) -> Closure | None:
    closure = run_by(target, call.node)
    if closure is not None and target.kind == INSTANCE:
        closure.via = ""  # the transform is what makes it new
    return closure


def _map_axes(frame: Frame, closure: Closure, call: Call) -> None:
    axes = call.argument(1, "in_axes")
    if axes is not None:
        if axes.kind == TREE and axes.data.__class__ is list:
            closure.in_axes = [axes_for(v) for v in axes.data]
            if closure.offset:
                closure.in_axes.insert(0, None)
        elif not (axes.kind == CONSTANT and axes.data == 0):
            closure.axes_unknown = True
    if closure.axes_unknown or closure.bound or frame.level >= JIT:
        return
    if call.decorator or frame.level == EAGER:
        _trace_mapped(frame, closure, call)


def _trace_mapped(frame: Frame, closure: Closure, call: Call) -> None:
    """Mapped arguments are tracers whoever calls."""
    function = closure.function
    arguments: dict[str, Value] = {}
    for index, name in enumerate(function.params):
        axes = closure.in_axes
        if name in function.defaults or name in closure.bound_keywords or (index == 0 and function.is_method):
            continue
        position = index + closure.dropped if index >= closure.offset else index
        given = axes[position] if axes is not None and position < len(axes) else 0
        if given is not None:
            arguments[name] = parameter(given)
    if closure.receiver is not None and function.is_method and function.params:
        arguments[function.params[0]] = closure.receiver
    where = frame.place(call.node) if hasattr(call.node, "lineno") else None
    evaluation = frame.run.evaluation(frame, closure, arguments, VMAP, where)
    if evaluation is not None:
        frame.log.append(frame.run.entered(call.node, frame, evaluation, declared=True))


@api_call("tracer")
def trace(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`eval_shape(f, *args)`, `jvp(f, primals, tangents)`: the callable is traced with what is given."""
    target = call.argument(0, "fun", "f")
    closure = _callable(target, call) if target is not None else None
    if closure is not None:
        values: list[Any] = [as_traced(v, "jax") for v in call.positional[1:]]
        if last in ("jvp", "filter_jvp") and call.positional[1:2] and call.positional[1].kind == TREE:
            primals = call.positional[1].data
            values = [as_traced(v, "jax") for v in primals] if primals.__class__ is list else []
        frame.run.call(
            frame, closure, bind(closure, values, {}, frame), max(TRACERS[dotted], frame.level), call.node
        )
        note_derivative(frame, {last}, call.node)
    if last.startswith("make_jaxpr") or last.endswith("eval_shape"):
        return UNKNOWN_VALUE
    return UNKNOWN_VALUE


@api_call("haiku_transform")
def haiku_transform(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A Haiku `Transformed`: its `init` and `apply` are stored functions, not bound methods.

    They run the function on what is left of their arguments: `apply(params, rng, …)` without the first two
    (three with state, one without rng), `init(rng, …)` without the first.
    """
    target = call.argument(0, "f")
    if target is None:
        return UNKNOWN_VALUE
    if target.kind == FOREIGN and target.element is not None and "apply" in target.element.data:
        applied, init = (target.element.data[name].data for name in ("apply", "init"))
        return _transformed(dotted, applied, call, applied.dropped - 1, init.initialises)
    if target.kind != FUNCTION:
        return UNKNOWN_VALUE
    stateful = "state" in last
    return _transformed(dotted, target.data, call, 3 if stateful else 2, not stateful)


def _transformed(dotted: str, closure: Closure, call: Call, dropped: int, initialises: bool) -> Value:
    functions: dict[object, Value] = {}
    for name, count in (("init", 1), ("apply", dropped)):
        made = closure.copy(None, 0, call.node)
        made.dropped = count
        made.initialises = initialises and name == "init"
        functions[name] = Value(FUNCTION, data=made)
    result = Value(FOREIGN, data=Foreign(dotted, None, 0, call.node))
    result.element = tree(functions)
    return result
