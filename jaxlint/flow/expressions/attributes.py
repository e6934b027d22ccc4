"""`value.name`: what an attribute of each kind of value is."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import (
    API,
    ARRAYS,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DEVICE,
    DTYPE,
    FOREIGN,
    FUNCTION,
    HOST,
    INDEXER,
    INSTANCE,
    MODULE,
    ONE_OF,
    PARAMETER,
    SCALAR,
    SHAPE,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.tags import BOUNDED, LOW, RAGGED, SHAPED
from jaxlint.flow.domain.values import SHAPE_VALUE, TRACED_VALUE, UNKNOWN_VALUE, Origin, Value, like
from jaxlint.flow.expressions.superclasses import inherited
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.program import api
from jaxlint.flow.retrace.mutation import Cleared, Key, attribute_key, self_key
from jaxlint.flow.syntax.delegation import asked_instead
from jaxlint.jax_api.arrays import ARRAY_ATTRIBUTES, STATIC_ATTRIBUTES
from jaxlint.jax_api.transforms import JIT

_CONSTANTS = {
    "pi": Value(CONSTANT, data=3.141592653589793),
    "e": Value(CONSTANT, data=2.718281828459045),
    "tau": Value(CONSTANT, data=6.283185307179586),
    "inf": Value(CONSTANT, data=float("inf")),
}


def _is_constant(owner: str, name: str) -> bool:
    """`math.pi`, `np.inf`, `jnp.e`: Python floats."""
    return name in _CONSTANTS and owner in ("math", "numpy", "jax.numpy")


def attribute(frame: Frame, value: Value, node: ast.Attribute) -> Value:
    """The value of `node.attr` on `value`."""
    kind = value.kind
    name = node.attr
    if name == "dtype" and value.tags & LOW and value.origin is not None:
        return Value(SHAPE, 0, LOW, None, None, value.origin)
    if kind == UNKNOWN:
        return _of_unknown(frame, value, node)
    if kind == API and name == "__dict__":
        return UNKNOWN_VALUE
    if kind == API:
        return (
            _CONSTANTS.get(name, UNKNOWN_VALUE)
            if _is_constant(value.data, name)
            else api(f"{value.data}.{name}")
        )
    if kind == MODULE and name == "__dict__":
        return value
    if kind == MODULE:
        found = frame.run.program.member(value.data.entry, name)
        _note_global(frame, value, node, found)
        return found
    if kind in ARRAYS or kind == INDEXER:
        return _of_array(value, name)
    if (kind == INSTANCE or kind == CLASS) and value.element is not None:
        return inherited(frame, value, node)
    if kind == INSTANCE:
        return of_instance(frame, value, value.data.cls, node)
    if kind == CLASS:
        return _of_class(frame, value, node)
    if kind == ONE_OF:
        return join_all(attribute(frame, choice, node) for choice in value.data) or UNKNOWN_VALUE
    if kind == SHAPE or kind == DTYPE:
        return SHAPE_VALUE
    if kind == FUNCTION and name == "__wrapped__":
        return value
    if kind == BOUNDARY:
        return _of_boundary(frame, value, name)
    if kind == FOREIGN:
        if value.element is not None and name in value.element.data:
            field: Value = value.element.data[name]
            return field
        if name == "step" and frame.level >= JIT and value.data.api.endswith("TrainState.create"):
            return TRACED_VALUE
        return UNKNOWN_VALUE if value.data.replays else api(f"{value.data.api}().{name}")
    return UNKNOWN_VALUE


def _of_unknown(frame: Frame, value: Value, node: ast.Attribute) -> Value:
    if frame.reads is not None and isinstance(node.value, ast.Name) and node.value.id not in frame.names:
        scope = frame.outer
        while scope is not None and node.value.id not in scope.names:
            scope = scope.up
        if scope is not None:  # `args.tau` of the function around
            key: Key = ("attribute", ("closure", id(scope.home), node.value.id), node.attr)
        else:
            key = attribute_key(frame, node.value, value, node.attr)
        if scope is not None or key[1][0] == "global":
            frame.reads.setdefault(key, Read(frame.module, node, "attribute"))
    if value.tags & RAGGED and node.attr not in STATIC_ATTRIBUTES:
        return value
    if value.tags & RAGGED and node.attr == "shape":
        return Value(SHAPE, value.varies, 0, None, None, value.origin)
    if value.tags & LOW and (node.attr in ARRAY_ATTRIBUTES or node.attr == "at"):
        return value
    return Value(UNKNOWN, value.varies, value.tags & BOUNDED) if value.varies else UNKNOWN_VALUE


def _note_global(frame: Frame, module: Value, node: ast.Attribute, found: Value) -> None:
    if frame.reads is not None and found.kind not in (FUNCTION, CLASS, API, MODULE, BOUNDARY):
        key = ("global", module.data.path, node.attr)
        frame.reads.setdefault(key, Read(frame.module, node, "global", found))


def _of_array(value: Value, name: str) -> Value:
    kind = value.kind
    if name in STATIC_ATTRIBUTES:
        if value.tags & SHAPED and value.kind in (DEVICE, HOST):
            return Value(SHAPE, value.varies, 0, None, None, value.origin)
        return SHAPE_VALUE
    if name == "at":
        return Value(INDEXER, data=value)
    if name in ARRAY_ATTRIBUTES:
        if kind == PARAMETER:
            return TRACED_VALUE if name in ("T", "mT") else UNKNOWN_VALUE
        return like(value)
    return UNKNOWN_VALUE


def _of_boundary(frame: Frame, value: Value, name: str) -> Value:
    if name == "lower":
        value.data.lowered += 1
    elif name == "clear_cache":
        frame.log.append(Cleared(value.data))
    elif name == "__wrapped__" and value.data.closure is not None:
        return Value(FUNCTION, data=value.data.closure)
    return UNKNOWN_VALUE


def of_instance(frame: Frame, value: Value, cls: ClassInfo, node: ast.Attribute) -> Value:
    """A field, method, property or class attribute of an instance of the project's class."""
    name = node.attr
    stored: Value | None = value.data.fields.get(name)
    if stored is not None:
        _note_self(frame, value, node, stored)
        return stored
    method = cls.lookup(name)
    if method is not None:
        return bound_method(frame, method, value, node)
    found = cls.attribute(name)
    if found is None and cls.family == "linen":
        from jaxlint.flow.calls.linen import function_of

        found = function_of(frame, value, node)
    if found is not None:
        if found.kind == BOUNDARY:
            return found
        if found.kind == FUNCTION:
            return found
        _note_self(frame, value, node, found)
        return found
    if frame.level and name in cls.array_fields() and cls.is_pytree_module:
        return TRACED_VALUE
    holder = handed_on(frame, value, cls, node)
    if holder is not None:
        return attribute(frame, holder, node)
    _note_self(frame, value, node, UNKNOWN_VALUE)
    return UNKNOWN_VALUE


def handed_on(frame: Frame, value: Value, cls: ClassInfo, node: ast.Attribute) -> Value | None:
    """The object that `def __getattr__(self, name): return getattr(self.env, name)` asks for what it lacks."""
    method = cls.lookup("__getattr__")
    path = asked_instead(method.node) if method is not None else []
    if not path or node.attr in path:
        return None
    for name in path:
        value = attribute(frame, value, ast.copy_location(ast.Attribute(node.value, name, ast.Load()), node))
    return value


def _note_self(frame: Frame, owner: Value, node: ast.Attribute, found: Value) -> None:
    """Traced code reads an attribute of an object that is not one of its pytree arguments."""
    if frame.reads is None or owner.data.copied or owner.data.cls.is_pytree_module:
        return
    if found.kind in (FUNCTION, CLASS, API, MODULE, BOUNDARY):
        return
    key = self_key(owner, node.attr)
    frame.reads.setdefault(key, Read(frame.module, node, "self attribute", found))


def bound_method(frame: Frame, method: Function, receiver: Value, node: ast.AST) -> Value:
    """`instance.method`: a new object each time, bound to its instance."""
    owner = method.cls
    decorated = owner.attributes.get(method.name) if owner is not None else None
    if decorated is not None and decorated.kind == BOUNDARY:
        return decorated if method.is_static else Value(BOUNDARY, data=decorated.data, element=receiver)
    if decorated is not None and decorated.kind != FUNCTION:
        return UNKNOWN_VALUE
    scope = owner.scope if owner is not None else None
    if decorated is not None:
        closure = decorated.data.copy(frame.evaluation, frame.loop, node)
    else:
        closure = Closure(method, scope, frame.evaluation, frame.loop, node)
    if method.is_classmethod and receiver.kind == INSTANCE:
        closure.receiver = Value(CLASS, data=receiver.data.cls)
    elif not method.is_static:
        closure.receiver = receiver
    if method.is_property:
        # Not at the top: closure_calls needs flow.linen, which binds methods with what is here.
        from jaxlint.flow.calls.closure_calls import call_closure

        return call_closure(frame, closure, Call(node, [], {}))
    return Value(FUNCTION, data=closure)


def _of_class(frame: Frame, value: Value, node: ast.Attribute) -> Value:
    cls: ClassInfo = value.data
    method = cls.lookup(node.attr)
    if method is not None:
        owner = method.cls
        decorated = owner.attributes.get(method.name) if owner is not None else None
        if decorated is not None and not method.is_classmethod:
            return decorated
        closure = Closure(method, cls.scope, None, 0, method.node)
        if method.is_classmethod:
            closure.receiver = value
        return Value(FUNCTION, data=closure)
    found = cls.attribute(node.attr)
    if found is not None and cls.family == "enum":
        return Value(SCALAR, 0, 0, None, None, Origin(frame.module, node, "enum"))
    if found is not None and frame.reads is not None:
        key = attribute_key(frame, node.value, value, node.attr)
        frame.reads.setdefault(key, Read(frame.module, node, "attribute"))
    return found if found is not None else UNKNOWN_VALUE


__all__ = ["TRACED", "TREE", "attribute", "bound_method", "of_instance"]
