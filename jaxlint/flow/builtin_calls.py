"""Python's own functions, `math` and decorators of the standard library."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.flow import impure, patching, traced
from jaxlint.flow.bindings import look
from jaxlint.flow.facts import GuardOrder
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.iteration import chosen, element_of, iterated
from jaxlint.flow.lengths import changing
from jaxlint.flow.objects import Foreign
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.program import api
from jaxlint.flow.run import LEN_OF_ANOTHER
from jaxlint.flow.shapes import movement
from jaxlint.flow.values import (
    ARRAYS,
    BOOL_VALUE,
    BOUNDARY,
    BOUNDED,
    CARRIED,
    CHUNK,
    CONCRETE,
    CONSTANT,
    DEVICE,
    EVEN,
    FOREIGN,
    HOST,
    MODULE,
    MOVED,
    NUMBERS,
    PARAMETER,
    PER_CALL,
    PER_ITERATION,
    RAGGED,
    SCALAR,
    SHAPE,
    SHAPE_VALUE,
    SHAPED,
    TEXT,
    TEXT_VALUE,
    TRACED,
    TRACED_PARAMETER,
    TRACED_VALUE,
    TRACERS,
    TREE,
    UNKNOWN,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    join,
    join_all,
    parts,
    tree,
)
from jaxlint.jax_api.arrays import ARRAY_ATTRIBUTES, STATIC_ATTRIBUTES
from jaxlint.jax_api.precision import SECOND_ORDER
from jaxlint.jax_api.transforms import JIT

_ASKS_ELEMENTS = frozenset({"min", "max", "sorted", "any", "all"})
_NUMBERS = frozenset({"int", "float", "bool", "complex"})
_MARKS = CARRIED | MOVED
_CONVERSIONS: dict[str, Callable[[float], object]] = {"int": int, "float": float, "complex": complex}
_REDUCED = 6  # so many members of a sequence are reduced one by one
_CONVERTIBLE = 1 << 40  # beyond that, and not a number: of no interest


@api_call("builtin")
def builtin(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    first = call.positional[0] if call.positional else UNKNOWN_VALUE
    if last in _NUMBERS:
        return _number(frame, last, first, call)
    if last in _ASKS_ELEMENTS:
        return _asks(frame, last, first, call)
    handler = _HANDLERS.get(last)
    if handler is not None:
        return handler(frame, first, call)
    for value in call.values():
        if value.kind == BOUNDARY:
            value.data.escapes = True
    return UNKNOWN_VALUE


def _number(frame: Frame, last: str, first: Value, call: Call) -> Value:
    node = call.argument_node(0) or call.node
    traced.demand(frame, call.node, first, f"{last}()")
    if last == "bool":
        return BOOL_VALUE
    if first.kind in CONCRETE:
        origin = Origin(frame.module, node, f"{last} of array")
        return Value(SCALAR, PER_ITERATION if frame.loop else PER_CALL, 0, None, None, origin)
    if first.kind == CONSTANT and isinstance(first.data, (int, float)):
        converted = _CONVERSIONS[last](first.data) if abs(first.data) < _CONVERTIBLE else None
        if first.tags or converted is None:
            return Value(SCALAR, first.varies, first.tags & _MARKS)
        return Value(CONSTANT, data=converted)
    if first.kind in (SCALAR, SHAPE):
        return Value(SCALAR, first.varies, first.tags & (_MARKS | BOUNDED), None, None, first.origin)
    if first.kind in TRACERS:
        return UNKNOWN_VALUE
    if first.kind == UNKNOWN and first.varies >= PER_ITERATION:
        return Value(
            SCALAR, first.varies, 0, None, None, first.origin or Origin(frame.module, node, f"{last}()")
        )
    return Value(SCALAR, first.varies, first.tags & BOUNDED, None, None, first.origin)


def _asks(frame: Frame, last: str, first: Value, call: Call) -> Value:
    if len(call.positional) > 1 and last in ("min", "max"):
        for value in call.positional:
            if value.kind == TRACED:
                traced.demand(frame, call.node, value, f"{last}()")
                return TRACED_VALUE
        if all(v.kind in NUMBERS or v.kind == SHAPE for v in call.positional):
            varies = max(v.varies for v in call.positional)
            moved = MOVED if any(v.tags & _MARKS for v in call.positional) else 0
            origin = next((v.origin for v in call.positional if v.varies == varies and v.origin), None)
            if last == "min" and _is_chunk(origin, call.node):
                return Value(SCALAR, 0, BOUNDED, None, None, Origin(frame.module, call.node, CHUNK))
            return Value(SCALAR, varies, moved, None, None, origin)
        return UNKNOWN_VALUE
    if first.kind == TRACED or (first.kind == TREE and any(v.kind == TRACED for v in _exact(first))):
        member = first if first.kind == TRACED else next(v for v in _exact(first) if v.kind == TRACED)
        traced.demand(frame, call.node, member, f"{last}()")
    if last in ("any", "all"):
        return BOOL_VALUE
    if last == "sorted":
        return collection(element_of(first), Origin(frame.module, call.node, "list"))
    measured = _measured(call.argument_node(0))
    if measured is not None and not frame.level:  # `max(len(s) for s in batch)`: new for another batch
        of = look(frame, measured)
        varies = of.varies if of.varies >= PER_ITERATION else 0
        return Value(SCALAR, varies, 0, None, None, Origin(frame.module, call.node, "longest"))
    element = element_of(first)
    return element if element.kind in NUMBERS else UNKNOWN_VALUE


def _measured(node: ast.AST | None) -> ast.expr | None:
    """What is looked through for its longest member."""
    if isinstance(node, ast.Call) and dotted_name(node.func) == "map" and len(node.args) == 2:
        return node.args[1] if dotted_name(node.args[0]) == "len" else None
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
        return None
    member = node.elt
    if isinstance(member, ast.Subscript):
        member = member.value  # s.shape[0]
    is_length = isinstance(member, ast.Call) and dotted_name(member.func) == "len"
    is_shape = isinstance(member, ast.Attribute) and member.attr in ("shape", "size")
    return node.generators[0].iter if is_length or is_shape else None


def _is_chunk(counter: Origin | None, node: ast.AST) -> bool:
    """`min(size, n - start)` for `start` in steps of `size`: all are `size`, but perhaps the last."""
    steps = counter.node if counter is not None else None
    if not isinstance(node, ast.Call) or not isinstance(steps, ast.Call) or len(steps.args) != 3:
        return False
    return ast.dump(steps.args[2]) in [ast.dump(argument) for argument in node.args]


def _exact(value: Value) -> list[Value]:
    if value.data.__class__ is list:
        return list(value.data)
    return (
        [value.element]
        if value.element is not None and value.origin is not None and value.origin.word == "generator"
        else []
    )


def _len(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind == CONSTANT and isinstance(first.data, (str, bytes, tuple)):
        return Value(CONSTANT, data=len(first.data))
    if (
        first.kind == TREE
        and first.data is not None
        and first.data.__class__ in (list, dict)
        and not frame.loop
    ):
        return Value(CONSTANT, data=len(first.data))
    varies = first.varies
    origin = Origin(frame.module, call.node, "len")
    subject = call.argument_node(0)
    name = dotted_name(subject) if subject is not None else None
    if name is not None and name.endswith("shape"):
        return SHAPE_VALUE  # the number of axes: few values
    if first.tags & EVEN:
        return SHAPE_VALUE
    listed = changing(frame, subject, first) if subject is not None and frame.loops else None
    if listed is not None:
        return Value(SHAPE, PER_ITERATION, 0, None, None, origin)
    if first.kind in CONCRETE and first.tags & SHAPED:
        return Value(SHAPE, first.varies, 0, None, None, origin)
    if first.kind in ARRAYS and first.kind in TRACERS:
        return SHAPE_VALUE
    if varies >= PER_ITERATION and first.kind not in CONCRETE:
        if not first.tags & (SHAPED | TEXT):
            origin = origin._replace(word=LEN_OF_ANOTHER)
        return Value(SHAPE, varies, 0, None, None, origin)
    if first.kind == UNKNOWN and varies == PER_CALL and first.origin is None:
        return Value(SHAPE, PER_CALL)  # of a parameter that no caller in view hands another length
    return Value(SHAPE, min(varies, PER_CALL), 0, None, None, origin)


def _range(frame: Frame, first: Value, call: Call) -> Value:
    for position, value in enumerate(call.positional):
        traced.demand(frame, call.argument_node(position) or call.node, value, "range()")
    bounded = _few(call)
    element = Value(
        SCALAR,
        PER_ITERATION,
        BOUNDED if bounded else 0,
        None,
        None,
        Origin(frame.module, call.node, "loop index"),
    )
    numbers = collection(element, Origin(frame.module, call.node, "range", tuple(call.positional)))
    ends = call.positional[1:2] or call.positional[:1]
    moving = movement(frame, None, ends[0]) if ends and not frame.level else None
    if moving is not None:
        numbers.tags |= RAGGED
        numbers.varies = moving.varies
    return numbers


def _few(call: Call) -> bool:
    """A range over at most two values."""
    return (
        len(call.positional) == 1
        and call.positional[0].kind == CONSTANT
        and call.positional[0].data in (0, 1, 2)
    )


def _enumerate(frame: Frame, first: Value, call: Call) -> Value:
    counter = Value(
        SCALAR, PER_ITERATION, 0, None, None, Origin(frame.module, call.node, "enumerate counter")
    )
    if first.data.__class__ is list and len(first.data) <= 2:
        counter = counter.but(tags=BOUNDED)
    return collection(tree([counter, _each(frame, first, call)]))


def _each(frame: Frame, value: Value, call: Call) -> Value:
    return iterated(frame, value, call.node, call.node)  # type: ignore[arg-type]


def _zip(frame: Frame, first: Value, call: Call) -> Value:
    each = tree([_each(frame, value, call) for value in call.positional])
    columns = [value.data for value in call.positional]
    if columns and all(c.__class__ is list and len(c) == len(columns[0]) for c in columns):
        rows = tree([tree(list(row)) for row in zip(*columns, strict=True)])
        return collection(chosen(frame, each, rows, call.node))
    return collection(each)


def _same_container(frame: Frame, first: Value, call: Call) -> Value:
    if not call.positional:
        return tree([], Origin(frame.module, call.node, "list"))
    if first.kind in (TREE, PARAMETER):
        return (
            first
            if first.kind == PARAMETER
            else Value(TREE, first.varies, first.tags, first.data, first.element, first.origin)
        )
    if first.kind in CONCRETE:
        return collection(element_of(first))
    return collection(None) if first.kind == TRACED else UNKNOWN_VALUE


def _tuple(frame: Frame, first: Value, call: Call) -> Value:
    same = _same_container(frame, first, call)
    if same.kind == TREE:
        return Value(
            TREE, same.varies, same.tags, same.data, same.element, Origin(frame.module, call.node, "tuple")
        )
    return same


def _set(frame: Frame, first: Value, call: Call) -> Value:
    return collection(element_of(first) if call.positional else None, Origin(frame.module, call.node, "set"))


def _frozenset(frame: Frame, first: Value, call: Call) -> Value:
    return collection(
        element_of(first) if call.positional else None, Origin(frame.module, call.node, "frozenset")
    )


def _slice(frame: Frame, first: Value, call: Call) -> Value:
    return Value(
        UNKNOWN,
        max([v.varies for v in call.values()], default=0),
        0,
        None,
        None,
        Origin(frame.module, call.node, "slice"),
    )


def _dict(frame: Frame, first: Value, call: Call) -> Value:
    origin = Origin(frame.module, call.node, "dict", frame.branches)
    if not call.positional:
        return tree(dict(call.keywords), origin)
    if first.kind == TREE and first.data.__class__ is dict:
        return tree({**first.data, **call.keywords}, origin)
    return collection(join_all(call.keywords.values()) if call.keywords else None, origin)


def _arithmetic(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind in ARRAYS or first.kind == SCALAR:
        return first
    return SHAPE_VALUE if first.kind == SHAPE else UNKNOWN_VALUE


def _sum(frame: Frame, first: Value, call: Call) -> Value:
    if first.kind in ARRAYS:
        return Value(first.kind)
    element = element_of(first)
    return Value(element.kind) if element.kind in (TRACED, DEVICE, HOST) else UNKNOWN_VALUE


def _isinstance(frame: Frame, first: Value, call: Call) -> Value:
    return BOOL_VALUE


def _hasattr(frame: Frame, first: Value, call: Call) -> Value:
    name = call.positional[1] if len(call.positional) > 1 else UNKNOWN_VALUE
    if first.kind == TRACED and name.kind == CONSTANT:
        return Value(
            CONSTANT,
            data=name.data in STATIC_ATTRIBUTES or name.data in ARRAY_ATTRIBUTES or name.data == "at",
        )
    return BOOL_VALUE


def _text(frame: Frame, first: Value, call: Call) -> Value:
    if first.varies:
        return Value(UNKNOWN, first.varies, TEXT | first.tags & BOUNDED, None, None, first.origin)
    return TEXT_VALUE


def _next(frame: Frame, first: Value, call: Call) -> Value:
    if frame.level:
        impure.next_of(frame, call)
    element = element_of(first)
    if frame.loop and element.kind == UNKNOWN:
        return Value(UNKNOWN, PER_ITERATION, element.tags)
    return element


def _iter(frame: Frame, first: Value, call: Call) -> Value:
    return first


def _map(frame: Frame, first: Value, call: Call) -> Value:
    from jaxlint.flow.calls import call_value

    leaves = [_each(frame, value, call) for value in call.positional[1:]]
    frame.loop += 1
    result = call_value(frame, first, Call(call.node, leaves, {}, decorator=True))
    frame.loop -= 1
    return collection(result)


@api_call("reduce")
def reduce(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`reduce(lambda x, op: op(x), PIPELINE, image)`: the members of a short sequence one by one, in its order."""
    from jaxlint.flow.calls import call_value

    accumulates = last == "accumulate"  # whose function stands second
    function = call.argument(1 if accumulates else 0, "func", "function")
    sequence = call.argument(0 if accumulates else 1, "iterable")
    if function is None or sequence is None:
        return UNKNOWN_VALUE
    members = list(sequence.data) if sequence.data.__class__ is list else []
    exact = 0 < len(members) <= _REDUCED
    if not exact:
        members = [_each(frame, sequence, call)]
        frame.loop += 1
    so_far = call.argument(2, "initial")
    if so_far is None:
        so_far, members = members[0], members[1:] if exact else members
    passed = [so_far]
    for member in members:
        so_far = call_value(frame, function, Call(call.node, [so_far, member], {}, decorator=True))
        passed.append(so_far)
    if not exact:
        frame.loop -= 1
        return join_all(passed) or UNKNOWN_VALUE
    return tree(passed, Origin(frame.module, call.node, "generator")) if accumulates else so_far


def _getattr(frame: Frame, first: Value, call: Call) -> Value:
    import ast

    from jaxlint.flow.attributes import attribute

    name = call.positional[1] if len(call.positional) > 1 else UNKNOWN_VALUE
    if name.kind == CONSTANT and isinstance(name.data, str) and isinstance(call.node, ast.Call):
        node = ast.Attribute(call.node.args[0], name.data, ast.Load())
        ast.copy_location(node, call.node)
        found = attribute(frame, first, node)
        return found if len(call.positional) < 3 else join(found, call.positional[2])
    return UNKNOWN_VALUE


def _globals(frame: Frame, first: Value, call: Call) -> Value:
    """`globals()`, `vars(module)`: the module, whose names are looked up and changed by subscripts."""
    return Value(MODULE, data=frame.module) if not call.positional else UNKNOWN_VALUE


def _vars(frame: Frame, first: Value, call: Call) -> Value:
    return first if first.kind == MODULE else UNKNOWN_VALUE


def _super(frame: Frame, first: Value, call: Call) -> Value:
    return frame.names.get("self", UNKNOWN_VALUE) if False else UNKNOWN_VALUE


def _setattr(frame: Frame, first: Value, call: Call) -> Value:
    patching.builtin_setattr(frame, call)
    return UNKNOWN_VALUE


_HANDLERS = {
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "list": _same_container,
    "reversed": _same_container,
    "tuple": _tuple,
    "set": _set,
    "frozenset": _frozenset,
    "slice": _slice,
    "dict": _dict,
    "abs": _arithmetic,
    "round": _arithmetic,
    "pow": _arithmetic,
    "sum": _sum,
    "isinstance": _isinstance,
    "callable": _isinstance,
    "hasattr": _hasattr,
    "str": _text,
    "repr": _text,
    "format": _text,
    "next": _next,
    "iter": _iter,
    "map": _map,
    "getattr": _getattr,
    "setattr": _setattr,
    "globals": _globals,
    "vars": _vars,
}


@api_call("math")
def math(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    for value in call.positional:
        if value.kind == TRACED:
            traced.demand(frame, call.node, value, dotted)
            return UNKNOWN_VALUE
    if not call.positional:
        return UNKNOWN_VALUE
    first = call.positional[0]
    if last in ("log2", "log", "log10"):
        # A power of the rounded-up logarithm is a bucket.
        return Value(SCALAR, first.varies, BOUNDED | first.tags & _MARKS, None, None, first.origin)
    if all(v.kind in NUMBERS or v.kind == SHAPE for v in call.positional):
        varies = max(v.varies for v in call.positional)
        tags = first.tags & BOUNDED | (MOVED if any(v.tags & _MARKS for v in call.positional) else 0)
        return Value(SCALAR, varies, tags, None, None, first.origin)
    return UNKNOWN_VALUE


@api_call("cache")
def cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`lru_cache(maxsize=…)`: a decorator; tags tell whether it is bounded."""
    if call.positional and call.positional[0].kind not in (CONSTANT, SCALAR, UNKNOWN):
        from jaxlint.flow.caching import call_form

        return call_form(frame, last, call)
    maxsize = call.argument(0, "maxsize")
    unbounded = maxsize is not None and maxsize.kind == CONSTANT and maxsize.data is None
    return Value(CONSTANT, 0, 0 if unbounded else BOUNDED, "cache decorator")


@api_call("other_cache")
def other_cache(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A cache of another library: how much it keeps is its own affair."""
    return Value(CONSTANT, 0, BOUNDED, "cache decorator")


@api_call("trace_guard")
def trace_guard(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    target = call.argument(0, "fn")
    if target is None or target.kind in (CONSTANT, SCALAR):
        from jaxlint.flow.objects import PartialApi
        from jaxlint.flow.values import PARTIAL

        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    if target.kind == BOUNDARY and not frame.quiet:
        state = target.data
        frame.record(
            GuardOrder(
                frame.place(call.node),
                frame.symbol,
                frame.proof(),
                api=dotted,
                inner=state.module.place(state.node),
            )
        )
    return target


@api_call("optimizer")
def optimizer(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`optax.adam(…)`: a tuple of closures made here."""
    if last[:1].isupper() or last in ("incremental_update", "periodic_update", "update_moment"):
        return UNKNOWN_VALUE
    if last == "chain":  # as sensitive as its most sensitive part
        parts_of = (value.data.api for value in call.positional if value.kind == FOREIGN)
        dotted = next((api for api in parts_of if api in SECOND_ORDER), dotted)
    return Value(FOREIGN, data=Foreign(dotted, frame.evaluation, frame.loop, call.node))


@api_call("optimizer_method")
def optimizer_method(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`optimizer.init(params)`, `optimizer.update(grads, state)`: trees of tracers in traced code."""
    if frame.level < JIT:
        return UNKNOWN_VALUE
    return TRACED_PARAMETER if last == "init" else tree([TRACED_PARAMETER, TRACED_PARAMETER])


@api_call("wraps")
def wraps(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`functools.wraps(f)` is a decorator that changes nothing that matters here."""
    return api(dotted)


@api_call("transparent")
def transparent(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A wrapper called rather than used as a decorator hands back what it is given."""
    return call.positional[0] if call.positional else UNKNOWN_VALUE


__all__ = ["builtin", "parts"]
