"""Python's own functions that make, pair and go through collections, and `reduce`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import (
    API,
    CONCRETE,
    CONSTANT,
    INSTANCE,
    PARAMETER,
    SCALAR,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOUNDED, DATA_SHAPE
from jaxlint.flow.domain.values import (
    LETTER,
    PER_CALL,
    PER_ITERATION,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    tree,
)
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.optional import handed_on
from jaxlint.flow.shapes.lengths import as_long
from jaxlint.flow.shapes.text_lengths import are_words, is_text
from jaxlint.flow.statements.iteration import as_iterable, chosen, element_of, iterated
from jaxlint.flow.syntax.bindings import look
from jaxlint.flow.trace import impure, masks

Handler = Callable[[Frame, Value, Call], Value]

_NUMBERS = frozenset({"builtins.float", "builtins.int"})
_REDUCED = 6  # so many members of a sequence are reduced one by one


def _enumerate(frame: Frame, first: Value, call: Call) -> Value:
    counter = Value(
        SCALAR, PER_ITERATION, 0, None, None, Origin(frame.module, call.node, "enumerate counter")
    )
    if first.data.__class__ is list and len(first.data) <= 2:
        counter = counter.but(tags=BOUNDED)
    return collection(tree([counter, _each(frame, first, call)]))


def _each(frame: Frame, value: Value, call: Call) -> Value:
    return iterated(frame, value, call.node, call.node)


def _columns(frame: Frame, call: Call) -> Value | None:
    """`zip(*rows)`: the columns of rows of one width, as long as there are rows."""
    given = call.argument_node(0)
    if not isinstance(given, ast.Starred) or len(call.positional) != 1:
        return None
    rows = look(frame, given.value)
    row = rows.element
    if rows.kind != TREE or row is None or row.kind != TREE or row.data.__class__ is not list:
        return None
    origin = Origin(frame.module, call.node, "tuple")
    return tree([as_long(frame, given.value, rows, collection(member, origin)) for member in row.data])


def _zip(frame: Frame, first: Value, call: Call) -> Value:
    columns_of = _columns(frame, call) if call.starred and not frame.level else None
    if columns_of is not None:
        return columns_of
    each = tree([_each(frame, value, call) for value in call.positional])
    columns = [value.data for value in call.positional]
    if columns and all(c.__class__ is list and len(c) == len(columns[0]) for c in columns):
        rows = tree([tree(list(row)) for row in zip(*columns, strict=True)])
        return collection(chosen(frame, each, rows, call.node))
    return collection(each)


def _same_container(frame: Frame, first: Value, call: Call) -> Value:
    if not call.positional:
        return tree([], Origin(frame.module, call.node, "list"))
    if first.kind == PARAMETER:
        return first
    if first.kind == TREE:
        origin = first.origin or Origin(frame.module, call.node, "list")
        return Value(TREE, first.varies, first.tags, first.data, first.element, origin)
    if first.kind in CONCRETE:
        return collection(element_of(first))
    if is_text(first):
        letters = collection(LETTER, Origin(frame.module, call.node, "list"))
        return as_long(frame, None, first, letters)
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
    given = call.node.keywords if isinstance(call.node, ast.Call) else []
    opened = [look(frame, k.value) for k in given if k.arg is None]
    written = [ast.Constant(k) for k in call.keywords]
    origin = Origin(frame.module, call.node, "dict", handed_on(opened, written) or frame.branches)
    if not call.positional:
        return tree(dict(call.keywords), origin)
    if first.kind == TREE and first.data.__class__ is dict:
        return tree({**first.data, **call.keywords}, origin)
    return collection(join_all(call.keywords.values()) if call.keywords else None, origin)


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
    from jaxlint.flow.calls.dispatch import call_value

    leaves = [_each(frame, value, call) for value in call.positional[1:]]
    frame.loop += 1
    result = call_value(frame, first, Call(call.node, leaves, {}, decorator=True))
    frame.loop -= 1
    mapped = collection(result)
    if first.kind == API and first.data in _NUMBERS and leaves and are_words(call.positional[1]):
        return mapped
    return as_long(frame, call.argument_node(1), call.positional[1], mapped) if leaves else mapped


def _filter(frame: Frame, first: Value, call: Call) -> Value:
    """`filter(keep, xs)`: the same members, as many as the data leaves."""
    from jaxlint.flow.calls.dispatch import call_value

    if len(call.positional) != 2:
        return UNKNOWN_VALUE
    iterable = call.positional[1]
    if first.kind != CONSTANT:
        frame.loop += 1
        call_value(frame, first, Call(call.node, [_each(frame, iterable, call)], {}, decorator=True))
        frame.loop -= 1
    kept = collection(element_of(iterable), Origin(frame.module, call.node, "generator"))
    if frame.level or not (frame.loop or iterable.varies >= PER_ITERATION) or _is_fixed(frame, call):
        return kept
    return kept.but(tags=kept.tags | DATA_SHAPE, varies=PER_ITERATION if frame.loop else PER_CALL)


def _is_fixed(frame: Frame, call: Call) -> bool:
    """Whether it leaves the same members in each round of the loops around."""
    given, sequence = call.argument_node(0), call.argument_node(1)
    if sequence is None or not (isinstance(given, ast.Lambda) and given.args.args):
        return False
    member = ast.Name(given.args.args[0].arg, ast.Store())
    return masks.leaves_the_same(frame, sequence, member, [given.body])


@api_call("reduce")
def reduce(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`reduce(lambda x, op: op(x), PIPELINE, image)`: the members of a short sequence one by one, in its order."""
    from jaxlint.flow.calls.dispatch import call_value

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


def _over_members(handler: Handler) -> Handler:
    """Objects of the project among the arguments stand for what they give when they are iterated over."""

    def handle(frame: Frame, first: Value, call: Call) -> Value:
        if all(value.kind != INSTANCE for value in call.positional):
            return handler(frame, first, call)
        members = [
            as_iterable(frame, value, call.argument_node(position) or call.node)
            for position, value in enumerate(call.positional)
        ]
        given = Call(call.node, members, call.keywords, call.starred, call.decorator, call.bound)
        return handler(frame, members[0], given)

    return handle


COLLECTION_HANDLERS: dict[str, Handler] = {
    "enumerate": _over_members(_enumerate),
    "zip": _over_members(_zip),
    "list": _over_members(_same_container),
    "reversed": _over_members(_same_container),
    "tuple": _over_members(_tuple),
    "set": _over_members(_set),
    "frozenset": _over_members(_frozenset),
    "slice": _slice,
    "dict": _dict,
    "next": _over_members(_next),
    "iter": _over_members(_iter),
    "map": _over_members(_map),
    "filter": _over_members(_filter),
}
