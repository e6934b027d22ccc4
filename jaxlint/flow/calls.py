"""Calls: one function calls an abstract value, whatever it is."""

from __future__ import annotations

import ast

from jaxlint.flow import (
    dtypes,
    effects,
    growth,
    impure,
    lending,
    linen,
    masks,
    patching,
    traced,
    upcasts,
    weak_types,
)
from jaxlint.flow.argument_binding import bind
from jaxlint.flow.assignment import container_key
from jaxlint.flow.attributes import attribute, bound_method
from jaxlint.flow.candidates import candidates
from jaxlint.flow.closures import Closure, PartialApi
from jaxlint.flow.crossing import as_traced, outside
from jaxlint.flow.eager_control import note_derivative
from jaxlint.flow.frame import API_CALLS, Call, Frame, evaluate, expression
from jaxlint.flow.initial import made_array, note_init, note_mapped_init
from jaxlint.flow.instances import fields_left, instantiate
from jaxlint.flow.joining import join_all
from jaxlint.flow.keeping import note_append
from jaxlint.flow.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DEVICE,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    MODULE,
    ONE_OF,
    PARAMETER,
    PARTIAL,
    SCALAR,
    SHAPE,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.lengths import of_method
from jaxlint.flow.loading import note_restore
from jaxlint.flow.mapped import note_map, note_unknown_map
from jaxlint.flow.methods import call_method
from jaxlint.flow.mutation import Mutated
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.peaks import note_counter
from jaxlint.flow.remat import note_gradient
from jaxlint.flow.sources import draw
from jaxlint.flow.tags import FRESH, LOW, TYPES, UPDATED
from jaxlint.flow.values import (
    DEVICE_VALUE,
    PER_CALL_UNKNOWN,
    PER_ITERATION,
    TRACED_PARAMETER,
    TRACED_VALUE,
    UNKNOWN_VALUE,
    Value,
    tree,
)
from jaxlint.flow.watching import note_read
from jaxlint.jax_api.categories import category
from jaxlint.jax_api.effects import is_printing
from jaxlint.jax_api.impure import FILE_METHODS
from jaxlint.jax_api.loading import RESTORE_METHODS
from jaxlint.jax_api.precision import TREE_CASTS, solver
from jaxlint.jax_api.solvers import SOLVERS
from jaxlint.jax_api.transforms import EAGER, GRAD, JIT, UNROLLING

_GENERATORS = ("numpy.random.Generator().", "random.Random().")
_HARMLESS_METHODS = frozenset({"is_deleted", "delete"})


@expression(ast.Call)
def call(frame: Frame, node: ast.Call) -> Value:
    targets = frame.targets
    callee_node = node.func
    receiver: Value | None = None
    if callee_node.__class__ is ast.Attribute:
        callee, receiver = _attribute_callee(frame, callee_node)
    else:
        callee = evaluate(frame, callee_node)
    if targets:
        frame.targets = ()
    positional: list[Value] = []
    starred = False
    for argument in node.args:
        if argument.__class__ is ast.Starred:
            spread = evaluate(frame, argument.value)
            if spread.kind == TREE and spread.data.__class__ is list:
                positional += spread.data
            elif spread.kind == INSTANCE and spread.data.cls.family == "namedtuple":
                fields = spread.data.cls.all_fields()
                positional += [spread.data.fields.get(name, UNKNOWN_VALUE) for name in fields]
            elif left := _left(callee, spread, len(positional), node):
                positional += left
            else:
                starred = True
                positional.append(UNKNOWN_VALUE)
        else:
            positional.append(evaluate(frame, argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif (
            value.kind == TREE
            and value.data.__class__ is dict
            and all(isinstance(k, str) for k in value.data)
        ):
            keywords.update(value.data)
        else:
            starred = True
    frame.targets = targets
    made = Call(node, positional, keywords, starred)
    if lending.concerns(frame, callee, made):
        lending.passed(frame, callee, made)
    if callee_node.__class__ is ast.Attribute and callee_node.attr == "init":
        note_init(frame, node, callee, receiver)
    if receiver is not None and callee.kind == UNKNOWN:
        _note_method(frame, node, receiver, callee_node.attr, made)  # type: ignore[attr-defined]
    if isinstance(callee_node, ast.Attribute) and callee_node.attr == "apply_gradients":
        state = evaluate(frame, callee_node.value)
        kept = state.kind in (FOREIGN, INSTANCE)
        return (
            state.but(tags=state.tags | UPDATED)
            if kept
            else Value(PARAMETER if frame.level else DEVICE, 0, UPDATED)
        )
    if callee.kind == UNKNOWN and receiver is not None:
        name: str = callee_node.attr  # type: ignore[attr-defined]
        if receiver.kind != UNKNOWN:
            result = masks.of_method(receiver, name, made, call_method(frame, receiver, name, made))
            if frame.weakly_typed:
                result = weak_types.method_result(receiver, name, made, result)
            typed = name == "astype" or receiver.tags & LOW
            return dtypes.method(frame, receiver, name, made, result) if typed else result
        if name == "astype" or receiver.tags & LOW:
            return dtypes.method(frame, receiver, name, made, UNKNOWN_VALUE)
        if name in ("append", "appendleft"):
            note_append(frame, name, made)  # of a list that is not in view
        of_own_length = of_method(frame, receiver, callee_node, made)  # type: ignore[arg-type]
        if of_own_length is not None:
            return of_own_length
    if callee.kind == BOUNDARY and callee_node.__class__ is ast.Call:
        callee.data.form = "immediate"
    return call_value(frame, callee, made)


def _left(callee: Value, spread: Value, given: int, node: ast.Call) -> list[Value]:
    """What `State(a, *members)` takes of members that are all alike."""
    if callee.kind != CLASS or spread.kind != TREE or spread.element is None:
        return []
    return [spread.element] * fields_left(callee.data, given, node)


# Methods that change their receiver in place.
_MUTATING = frozenset(
    {
        "update",
        "append",
        "extend",
        "insert",
        "clear",
        "pop",
        "popitem",
        "remove",
        "add",
        "setdefault",
        "fill",
        "sort",
    }
)


def _note_method(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    """What a method of no known function does to its receiver, or demands of a tracer."""
    base = node.func.value  # type: ignore[attr-defined]  # only called for attributes
    if name in _MUTATING and receiver.kind in (TREE, UNKNOWN, HOST) and dotted_name(base) is not None:
        frame.log.append(Mutated(container_key(frame, base), frame.module, node))
    if name == "update" and receiver.kind == MODULE:
        patching.namespace_updated(frame, node, receiver, call)
    if name == "get" and call.positional:
        note_counter(frame, node, call.positional[0])
    if frame.level:
        _note_traced_method(frame, node, receiver, name, call)
    elif name in patching.METHODS and receiver.kind == UNKNOWN:
        patching.method(frame, node, receiver, name, call)
    elif name in RESTORE_METHODS:
        note_restore(frame, call)
    if name == "reshape" and receiver.kind == UNKNOWN and frame.level >= JIT:
        for position, value in enumerate(call.positional):
            traced.size(frame, call.argument_node(position), value, ".reshape", "shape")


def _note_traced_method(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    if name in effects.PUTTING:
        effects.put(frame, node, receiver, name, call)
    elif name in FILE_METHODS:
        impure.file_method(frame, node, name)
    elif receiver.kind == UNKNOWN:
        effects.logged(frame, node, name, call)


def _attribute_callee(frame: Frame, node: ast.Attribute) -> tuple[Value, Value | None]:
    """(what is called, the receiver when it may be a method of a value).

    The receiver is evaluated once: twice is exponential on `.at[].set().at[]` chains.
    """
    base_node = node.value
    if base_node.__class__ is ast.Name:
        dotted = f"{base_node.id}.{node.attr}"
        stored = frame.names.get(dotted)
        if stored is not None:
            return (frame.run.program.force(stored) if stored.kind == 19 else stored), None
        if frame.watching and node.attr not in _HARMLESS_METHODS:
            note_read(frame, base_node, base_node.id)
        watching, frame.watching = frame.watching, False
        base = evaluate(frame, base_node)
        frame.watching = watching
    else:
        base = evaluate(frame, base_node)
    found = attribute(frame, base, node)
    if found.kind == UNKNOWN or found.kind == SHAPE:
        return (UNKNOWN_VALUE if found.kind == SHAPE else found), base
    return found, None


def call_value(frame: Frame, callee: Value, call: Call) -> Value:
    """What calling a value gives."""
    kind = callee.kind
    if kind == API:
        if frame.level:
            impure.library_call(frame, callee.data, call)
            if is_printing(callee.data):
                effects.printed(frame, callee.data, call)
        if callee.data.startswith(_GENERATORS):
            return draw(frame, callee.data.rpartition(".")[2], call)
        return call_api(frame, callee.data, call)
    if kind == FUNCTION:
        keep(call)
        return call_closure(frame, callee.data, call)
    if kind == BOUNDARY:
        from jaxlint.flow.boundary_calls import call_boundary

        return call_boundary(frame, callee, call)
    if kind == PARTIAL:
        partial: PartialApi = callee.data
        merged = Call(
            call.node,
            [*partial.args, *call.positional],
            {**partial.keywords, **call.keywords},
            call.starred,
            call.decorator,
            len(partial.args),
        )
        if partial.boundary is not None:
            return call_value(frame, partial.boundary, merged)
        if partial.cls is not None:
            keep(merged)
            return instantiate(frame, partial.cls, merged)
        return call_api(frame, partial.api, merged)
    if kind == CLASS:
        keep(call)
        return instantiate(frame, callee.data, call)
    if kind == INSTANCE:
        method = callee.data.cls.lookup("__call__")
        if method is not None:
            return call_value(frame, bound_method(frame, method, callee, call.node), call)
    if kind == ONE_OF:
        choices, call = candidates(callee.data, call)
        return join_all([call_value(frame, choice, call) for choice in choices]) or UNKNOWN_VALUE
    if kind == FOREIGN:
        return _call_foreign(frame, callee, call)
    keep(call)
    if callee.tags & FRESH:
        note_unknown_map(frame, callee, call)
    if kind == UNKNOWN and callee.varies >= PER_ITERATION:
        return Value(UNKNOWN, callee.varies, 0, None, None, callee.origin)
    return UNKNOWN_VALUE


def _call_foreign(frame: Frame, callee: Value, call: Call) -> Value:
    """A schedule gives a float for a step; anything else is unknown."""
    keep(call)
    api = callee.data.api
    if ".initializers." in api:
        return made_array(frame, call)
    if api.startswith(("equinox.nn.", "flax.", "haiku.")) and frame.level >= JIT:
        return TRACED_PARAMETER  # a layer's output
    if api.startswith("optax.") and ("schedule" in api or api.endswith("_decay")):
        return TRACED_VALUE if frame.level >= JIT else DEVICE_VALUE
    return UNKNOWN_VALUE


def call_api(frame: Frame, dotted: str, call: Call) -> Value:
    """A call of a library name."""
    kind, last = category(dotted)
    if dotted in SOLVERS:
        from jaxlint.flow.solvers import hand_over

        hand_over(frame, dotted, call)
    handler = API_CALLS.get(kind)
    if handler is not None:
        result = handler(frame, dotted, last, call)
        if kind in masks.CATEGORIES:
            result = masks.of_call(last, call, result)
        if frame.weakly_typed and kind in dtypes.TYPED:
            result = weak_types.call_result(dotted, last, call, result)
        elif not frame.level and kind in dtypes.TYPED:
            result = weak_types.eager_result(dotted, last, call, result)
        if kind in dtypes.TYPED:
            return dtypes.typed(frame, dotted, last, call, result)
    elif dotted in TREE_CASTS:
        result = upcasts.cast_tree(frame, dotted, call)
    else:
        keep(call)
        unrolled = dotted in UNROLLING and frame.level >= JIT
        result = tree([TRACED_PARAMETER, TRACED_PARAMETER]) if unrolled else UNKNOWN_VALUE
    if solver(dotted):
        dtypes.note_solver(frame, dotted, call)
    return result


def keep(call: Call) -> None:
    """Boundaries handed to other code may be kept there."""
    for value in call.positional:
        keep_value(value)
    for value in call.keywords.values():
        keep_value(value)


def keep_value(value: Value) -> None:
    """This value may be kept by other code."""
    if value.kind == BOUNDARY:
        value.data.escapes = True
    elif value.kind == TREE and value.data.__class__ is list:
        for member in value.data:
            if member.kind == BOUNDARY:
                member.data.escapes = True


def call_closure(frame: Frame, closure: Closure, call: Call, level: int | None = None) -> Value:
    """Enter a function of the project."""
    if closure.applied is not None:
        method = linen.reached(frame, closure, call)
        if method is None:
            return UNKNOWN_VALUE
        closure, call = method
    level = frame.level if level is None else level
    for transform in closure.transforms:
        level = max(level, transform[0])
    if level == EAGER:
        return linen.given_back(closure, _call_eager(frame, closure, call), False)
    positional, keywords = call.positional, call.keywords
    if closure.transforms and frame.level < JIT:
        positional, keywords = _mapped(closure, positional, keywords)
    arguments = bind(closure, positional, keywords, frame, call.starred)
    result = frame.run.call(frame, closure, arguments, level, call.node, frame.traced_by)
    result = linen.given_back(closure, result, True)
    if not call.decorator:
        result = growth.renamed(result, closure, lambda: growth.argument_paths(closure, call))
    if not closure.transforms:
        return result
    note_gradient(frame, closure, call.node)
    note_map(frame, closure, call)
    note_mapped_init(frame, closure, call)
    note_derivative(frame, {name for _, name in closure.transforms}, call.node)
    return _through_transforms(frame, closure, result)


def _call_eager(frame: Frame, closure: Closure, call: Call) -> Value:
    function = closure.function
    if function.cached and hasattr(call.node, "lineno"):
        noted = frame.run.cached_calls.setdefault(function, [])
        noted.append((frame.place(call.node), _by_parameter(closure, call)))
    known = any(_informative(v) for v in call.positional) or any(
        _informative(v) for v in call.keywords.values()
    )
    if known:
        arguments = bind(closure, call.positional, call.keywords, frame, call.starred)
    else:
        arguments = {}
        if closure.receiver is not None and function.is_method and function.params:
            arguments[function.params[0]] = closure.receiver
        if closure.bound or closure.bound_keywords or (function.defaults and not call.values()):
            arguments = bind(closure, call.positional, call.keywords, frame, call.starred)
    result = frame.run.call(frame, closure, arguments, EAGER, call.node)
    if call.decorator:
        return result
    return growth.renamed(result, closure, lambda: growth.argument_paths(closure, call))


def _by_parameter(closure: Closure, call: Call) -> dict[str, Value]:
    """The arguments of a call by the names of the parameters; those that `*args` takes by their number."""
    names = closure.function.params[closure.offset + len(closure.bound) :]
    numbered = (f"*{position}" for position in range(len(names), len(call.positional)))
    return {**dict(zip((*names, *numbered), call.positional, strict=False)), **call.keywords}


def _informative(value: Value) -> bool:
    """Worth an evaluation of its own."""
    if value.kind == UNKNOWN:
        return bool(value.tags) or value.varies >= PER_ITERATION
    return value.kind != CONSTANT


def _mapped(
    closure: Closure, positional: list[Value], keywords: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """Arguments as the transformed function sees them: tracers, but those that `in_axes` leaves alone."""
    traceable = (DEVICE, HOST, UNKNOWN, TREE, SCALAR, PARAMETER, INSTANCE)
    only_grad = all(level == GRAD for level, _ in closure.transforms)

    def mapped(value: Value) -> Value:
        if value.kind not in traceable:
            return value
        return UNKNOWN_VALUE if closure.axes_unknown else as_traced(value, "jax")

    axes = closure.in_axes
    offset = closure.offset
    result = []
    for position, value in enumerate(positional):
        if only_grad:
            differentiated = closure.argnums is None or position in closure.argnums
            result.append(mapped(value) if differentiated else value)
            continue
        alone = axes is not None and position + offset < len(axes) and axes[position + offset] is None
        kept = alone and value.kind != INSTANCE
        result.append(UNKNOWN_VALUE if kept else mapped(value))
    return result, {name: value if only_grad else mapped(value) for name, value in keywords.items()}


def _through_transforms(frame: Frame, closure: Closure, result: Value) -> Value:
    names = [name for _, name in closure.transforms]
    array = TRACED_VALUE if frame.level >= JIT else Value(TRACED_VALUE.kind) if frame.level else DEVICE_VALUE
    loose = TRACED_PARAMETER if frame.level else DEVICE_VALUE
    if "value_and_grad" in names:
        first = _differentiated(result, array)
        return tree([outside(first) if frame.level == EAGER else first, loose])
    if frame.level == EAGER:
        return outside(result)
    if result.kind == INSTANCE:
        return result
    return TRACED_PARAMETER if result.kind in (TREE, UNKNOWN, PARAMETER) else array


def _differentiated(result: Value, array: Value) -> Value:
    """The value that `value_and_grad` gives beside the gradient: a number, or a number and what comes with it."""
    if result.kind == TREE and result.data.__class__ is list and result.data:
        return tree([_number(result.data[0], array), *result.data[1:]])
    return result if result.kind == TREE and result.data else _number(result, array)


def _number(result: Value, array: Value) -> Value:
    return Value(array.kind, 0, result.tags & TYPES, None, None, None, 1)


__all__ = ["PER_CALL_UNKNOWN", "call_api", "call_closure", "call_value", "keep_value"]
