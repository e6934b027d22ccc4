"""What a call gives back, in the caller's terms: how often it changes there, and that what is new belongs to
the caller from then on."""

from __future__ import annotations

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import FOREIGN, FUNCTION, INSTANCE, TREE
from jaxlint.flow.domain.objects import Foreign, Instance
from jaxlint.flow.domain.origin_words import DRAWN
from jaxlint.flow.domain.tags import BOUNDED, SHAPED
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Value, as_member
from jaxlint.flow.evaluations import Evaluation
from jaxlint.flow.frame import Frame

_NESTED = 3  # how deep what a call returns is looked into
HOLDERS = frozenset((FUNCTION, INSTANCE, FOREIGN, TREE))


def as_seen_by(value: Value, function: Function, caller: Frame) -> Value:
    """A returned value's variation in the caller's terms: what the function's own loops or data made of it is
    new in each call of the function."""
    if value.kind == TREE and value.data.__class__ is list:
        members = [as_seen_by(v, function, caller) for v in value.data]
        return Value(TREE, value.varies, value.tags, members, None, value.origin)
    if value.kind == TREE and value.data.__class__ is dict:
        known = {key: as_seen_by(v, function, caller) for key, v in value.data.items()}
        return Value(TREE, value.varies, value.tags, known, None, value.origin)
    if value.kind == TREE and value.element is not None and value.element.varies:
        element = as_member(value.element)
        if element.data.__class__ is not dict:  # what tells members apart tells them apart for the caller
            element = as_seen_by(element, function, caller)
        value = Value(TREE, value.varies, value.tags, None, element, value.origin)
    if value.kind == INSTANCE and any(f.varies and f.tags & SHAPED for f in value.data.fields.values()):
        seen = value.data.described()
        seen.fields = {
            name: as_seen_by(field, function, caller) if field.tags & SHAPED else field
            for name, field in value.data.fields.items()
        }
        return Value(INSTANCE, value.varies, value.tags, seen, None, value.origin)
    if not value.varies or not _varied_inside(value, function):
        return value
    word = value.origin.word if value.origin is not None else ""
    again = caller.loop and (value.tags & SHAPED or word in DRAWN)
    tags = value.tags | BOUNDED if word == "list element" else value.tags
    return value.but(varies=PER_ITERATION if again else PER_CALL, tags=tags)


def _varied_inside(value: Value, function: Function) -> bool:
    """Whether the loop that varies a returned value is the function's own."""
    origin, node = value.origin, function.node
    if origin is None or origin.module is not function.module or not hasattr(origin.node, "lineno"):
        return False
    line: int = origin.node.lineno
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def rehome(value: Value, evaluation: Evaluation, caller: Frame, depth: int = 0) -> Value:
    """What a call returns fresh is as fresh as the call: it belongs to the caller from then on, and so does
    what it holds."""
    if value.kind == TREE and depth < _NESTED:
        return _rehomed_tree(value, evaluation, caller, depth)
    if value.kind not in (FUNCTION, INSTANCE, FOREIGN):
        return value
    thing: Closure | Instance | Foreign = value.data
    if thing.home is not evaluation:
        return value
    element = value.element
    new: Closure | Instance | Foreign
    if isinstance(thing, Closure):
        new = thing.copy(caller.evaluation, caller.loop, thing.node)
    elif isinstance(thing, Instance):
        new = Instance(thing.cls, caller.evaluation, caller.loop, caller.statement or thing.node)
        new.fields = thing.fields
        new.identity = thing.identity
    else:
        new = Foreign(thing.api, caller.evaluation, caller.loop, thing.node)
        new.trees = thing.trees
        if element is not None and depth < _NESTED:
            element = rehome(element, evaluation, caller, depth + 1)
    return Value(value.kind, value.varies, value.tags, new, element, value.origin, value.size)


def _rehomed_tree(value: Value, evaluation: Evaluation, caller: Frame, depth: int) -> Value:
    if value.data.__class__ is list:
        members: object = [rehome(v, evaluation, caller, depth + 1) for v in value.data]
    elif value.data.__class__ is dict:
        members = {k: rehome(v, evaluation, caller, depth + 1) for k, v in value.data.items()}
    else:
        return value
    return Value(TREE, value.varies, value.tags, members, value.element, value.origin)
