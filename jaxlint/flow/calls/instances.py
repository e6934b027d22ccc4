"""Objects of the project's classes: made, updated, and used through methods their libraries give them."""

from __future__ import annotations

import ast

from jaxlint.flow.calls.argument_binding import bind, default_value
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import CONCRETE, CONSTANT, FOREIGN, INSTANCE, PARAMETER, SCALAR, TREE, UNKNOWN
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.sizes import element_count, unknown_of, unsized
from jaxlint.flow.domain.tags import FRESH, SHAPED
from jaxlint.flow.domain.values import PER_ITERATION, UNKNOWN_VALUE, Origin, Value, parts, tree
from jaxlint.flow.facts import Instantiation
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.mutation import Made
from jaxlint.flow.shapes.shared_fields import settle
from jaxlint.jax_api.processes import PROCESS_FAMILY
from jaxlint.jax_api.transforms import EAGER

# Constructors that only store their annotated fields.
_GENERATED_INIT = frozenset({"equinox", "linen", "struct", "namedtuple", "pytree"})


def instantiate(frame: Frame, cls: ClassInfo, call: Call) -> Value:
    """`Cls(…)`: a new instance with the fields its constructor gives it."""
    if cls.family == "enum":
        return Value(SCALAR, 0, 0, None, None, Origin(frame.module, call.node, "enum"))
    thing = Instance(cls, frame.evaluation, frame.loop, call.node)
    value = Value(INSTANCE, 0, 0, thing)
    frame.log.append(Made(thing.identity))
    init = cls.lookup("__init__")
    if init is not None:
        closure = Closure(init, init.cls.scope if init.cls else None, None, 0, call.node)
        closure.receiver = value
        if frame.level == EAGER or not cls.is_pytree_module:
            frame.run.call(
                frame,
                closure,
                bind(closure, call.positional, call.keywords, frame, call.starred),
                frame.level,
                call.node,
            )
            _as_passed_in(thing, call.values())
            settle(frame, thing, init, call)
    elif cls.dataclass or cls.family in _GENERATED_INIT:
        _store_fields(frame, thing, call)
    post = cls.lookup("setup" if cls.family == "linen" else "__post_init__")
    if post is not None and init is None:
        closure = Closure(post, post.cls.scope if post.cls else None, None, 0, call.node)
        closure.receiver = value
        frame.run.call(frame, closure, bind(closure, [], {}, frame), frame.level, call.node)
    value.varies = max([v.varies for v in parts(value)], default=0)
    if not frame.quiet and hasattr(call.node, "lineno"):
        frame.record(
            Instantiation(
                frame.place(call.node),
                frame.symbol,
                frame.proof(),
                class_place=cls.module.header(cls.node),
                class_name=cls.qualname,
                in_loop=frame.loop > 0 or frame.literal_loops > 0,
                holds_arrays=holds_arrays(value),
            )
        )
    return value


def fields_left(cls: ClassInfo, given: int, node: ast.Call) -> int:
    """How many fields `Cls(a, *members, z=b)` takes from members, where the class only stores what it is given;
    none where defaults leave that open."""
    if cls.lookup("__init__") is not None or len([a for a in node.args if isinstance(a, ast.Starred)]) > 1:
        return 0
    named = {keyword.arg for keyword in node.keywords}
    left = [name for name in list(cls.all_fields())[given:] if name not in named]
    behind = len(node.args) - 1 - next(i for i, a in enumerate(node.args) if isinstance(a, ast.Starred))
    return 0 if any(cls.attribute(name) is not None for name in left) else max(len(left) - behind, 0)


def _as_passed_in(thing: Instance, passed: list[Value]) -> None:
    """To its constructor an argument is one thing; what it is kept as varies as it did outside."""
    outside = {v.origin: v.varies for v in passed if v.varies and v.tags & SHAPED and v.origin is not None}
    for name, field in thing.fields.items() if outside else ():
        if not field.varies and field.tags & SHAPED and field.origin in outside:
            thing.fields[name] = field.but(varies=outside[field.origin])


@api_call("field")
def field(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`field(default=…)`, `field(default_factory=…)`: the default, or what makes it."""
    default = call.keywords.get("default")
    if default is not None:
        return default
    factory = call.keywords.get("default_factory")
    return Value(UNKNOWN, 0, 0, None, factory) if factory is not None else UNKNOWN_VALUE


def _store_fields(frame: Frame, thing: Instance, call: Call) -> None:
    from jaxlint.flow.calls.dispatch import call_value

    names = thing.cls.all_fields()
    for position, (name, value) in enumerate(zip(names, call.positional, strict=False)):
        thing.fields[name] = _as_written(frame, call.argument_node(position), value)
    for name, value in call.keywords.items():
        if name in names:
            thing.fields[name] = _as_written(frame, call.argument_node(99, name), value)
    for name in thing.fields.keys() & thing.cls.converted:
        thing.fields[name] = UNKNOWN_VALUE
    for name in names:
        if name not in thing.fields:
            default = thing.cls.attribute(name)
            if default is not None and default.kind == CONSTANT:
                thing.fields[name] = default
            elif default is not None and default.element is not None and default.kind == UNKNOWN:
                thing.fields[name] = call_value(
                    frame, default.element, Call(call.node, [], {}, decorator=True)
                )


def _as_written(frame: Frame, node: ast.expr | None, value: Value) -> Value:
    """A literal that is stored in a field tells where it stands."""
    if value.kind != CONSTANT or value.origin is not None or node is None:
        return value
    return value.but(origin=Origin(frame.module, node, "literal"))


def holds_arrays(value: Value, depth: int = 0) -> bool:
    """Whether an array is among the fields, proven."""
    for member in parts(value):
        if member.kind in CONCRETE:
            return True
        if member.kind in (TREE, INSTANCE) and depth < 3 and holds_arrays(member, depth + 1):
            return True
        if member.kind == FOREIGN and member.data.api.startswith(("equinox.nn.", "flax.nnx.")):
            return True
    return False


def generic_instance(cls: ClassInfo) -> Value:
    """`self` in a method that nobody in view calls: an instance with what all methods store on it."""
    if cls.generic is None:
        cls.generic = Value(INSTANCE, 0, 0, Instance(cls, None, 0, cls.node))
    return cls.generic


def library_method(frame: Frame, receiver: Value, name: str, call: Call) -> Value:
    """A method that an instance has from its library's base class."""
    cls: ClassInfo = receiver.data if receiver.kind != INSTANCE else receiver.data.cls
    if name in ("replace", "_replace") and receiver.kind == INSTANCE:
        return replaced(frame, receiver, call)
    if cls.family.startswith(PROCESS_FAMILY) and name == "start" and receiver.kind == INSTANCE:
        from jaxlint.flow.config.processes import started

        return started(frame, receiver, call)
    return UNKNOWN_VALUE


def replaced(frame: Frame, base: Value, call: Call) -> Value:
    """`replace(obj, field=…)`: a new instance with some fields changed."""
    if base.kind != INSTANCE:
        return base if base.kind == PARAMETER else UNKNOWN_VALUE
    thing = Instance(base.data.cls, frame.evaluation, frame.loop, call.node)
    thing.fields = dict(base.data.fields)
    for name, value in call.keywords.items():
        thing.fields[name] = (
            value if value.origin is not None else value.but(origin=Origin(frame.module, call.node, "field"))
        )
    return Value(INSTANCE, max([v.varies for v in thing.fields.values()], default=0), base.tags, thing)


@api_call("replace")
def dataclasses_replace(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    base = call.argument(0, "obj")
    return replaced(frame, base, call) if base is not None else UNKNOWN_VALUE


@api_call("tree_at")
def tree_at(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`eqx.tree_at(lambda m: m.step, model, value)`: the named field of the result is the new value."""

    base = call.argument(1, "pytree")
    new = call.argument(2, "replace")
    where = call.argument_node(0, "where")
    if base is None or base.kind != INSTANCE:
        return unsized(base) if base is not None else UNKNOWN_VALUE
    one_field = (
        isinstance(where, ast.Lambda)
        and isinstance(where.body, ast.Attribute)
        and isinstance(where.body.value, ast.Name)
    )
    thing = Instance(base.data.cls, frame.evaluation, frame.loop, call.node)
    thing.fields = dict(base.data.fields if one_field else unsized(base).data.fields)
    if one_field:
        assert isinstance(where, ast.Lambda) and isinstance(where.body, ast.Attribute)
        value = new if new is not None else UNKNOWN_VALUE
        thing.fields[where.body.attr] = (
            value if value.origin else value.but(origin=Origin(frame.module, call.node, "field"))
        )
    return Value(INSTANCE, max([v.varies for v in thing.fields.values()], default=0), base.tags, thing)


@api_call("partition")
def partition(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`params, static = eqx.partition(model, eqx.is_array)`: the arrays are those of the model."""
    whole = call.argument(0, "pytree")
    rest = unknown_of(whole)
    return tree([whole if whole is not None and whole.kind == INSTANCE else rest, rest])


@api_call("split_module")
def split_module(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`graph, state = nnx.split(model)`, `graph, params, rest = nnx.split(model, nnx.Param, …)`."""
    whole = call.argument(0, "node")
    states = max(len(call.positional) - 1, 1)
    if call.starred or frame.level or element_count(whole or UNKNOWN_VALUE) is None:
        return UNKNOWN_VALUE
    return tree([UNKNOWN_VALUE, *([unknown_of(whole)] * states)])


@api_call("filter")
def filter_(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`eqx.filter(model, eqx.is_array)`: some of the arrays."""
    return unknown_of(call.argument(0, "pytree"))


@api_call("combine")
def combine(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`eqx.combine(params, static)`: the model again."""
    whole = next((value for value in call.positional if value.kind == INSTANCE), None)
    return whole or unknown_of(tree(call.positional))


def merge_generic(cls: ClassInfo, fields: dict[str, Value]) -> None:
    """What one evaluation stored on an instance holds for the generic one too."""
    generic: Instance = generic_instance(cls).data
    for name, value in fields.items():
        known = generic.fields.get(name)
        generic.fields[name] = value if known is None else join(known, value)


__all__ = ["FRESH", "PER_ITERATION", "default_value", "generic_instance", "holds_arrays", "instantiate"]
