"""Names, constants, containers and comprehensions."""

from __future__ import annotations

import ast

from jaxlint.flow import text, traced, upcasts
from jaxlint.flow.assignment import assign
from jaxlint.flow.attributes import attribute
from jaxlint.flow.boundary_state import Read
from jaxlint.flow.closures import Closure, Scope
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.functions import Function
from jaxlint.flow.iteration import as_iterable, element_of, is_literal_display, iterated
from jaxlint.flow.joining import join
from jaxlint.flow.keeping import note_collected
from jaxlint.flow.kinds import (
    BOUNDARY,
    CONSTANT,
    DEVICE,
    FOREIGN,
    FUNCTION,
    HOST,
    INSTANCE,
    LAZY,
    SCALAR,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.lengths import of_own_length
from jaxlint.flow.mutation import LoopEnd, LoopStart, global_key
from jaxlint.flow.program import api
from jaxlint.flow.shapes import names_stretch
from jaxlint.flow.tags import DATA_SHAPE, EVEN, SHAPED, TEXT
from jaxlint.flow.unrolled import note_unrolled
from jaxlint.flow.values import (
    PER_CALL,
    PER_ITERATION,
    TEXT_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    as_member,
    collection,
    tree,
)
from jaxlint.flow.watching import note_read
from jaxlint.jax_api.transforms import JIT

_BUILTINS = {
    name: api(f"builtins.{name}")
    for name in [
        "range",
        "len",
        "int",
        "float",
        "bool",
        "str",
        "min",
        "max",
        "sum",
        "abs",
        "round",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "sorted",
        "reversed",
        "isinstance",
        "print",
        "getattr",
        "setattr",
        "hasattr",
        "any",
        "all",
        "type",
        "map",
        "filter",
        "callable",
        "next",
        "iter",
        "divmod",
        "pow",
        "complex",
        "property",
        "staticmethod",
        "classmethod",
        "super",
        "open",
        "repr",
        "format",
        "id",
        "hash",
        "object",
        "vars",
        "globals",
        "input",
        "slice",
    ]
}
# What a change of an outer name can matter for.
_ARRAYS_AND_MODELS = frozenset((HOST, DEVICE, TREE, INSTANCE, FOREIGN))
_MUTABLE = frozenset((CONSTANT, SCALAR, HOST, DEVICE, TREE, INSTANCE, UNKNOWN, FOREIGN))


@expression(ast.Name)
def name(frame: Frame, node: ast.Name) -> Value:
    identifier = node.id
    value = frame.names.get(identifier)
    if value is None:
        value = _outer_name(frame, node)
    elif frame.watching:
        note_read(frame, node, identifier)
    if value.kind == LAZY:
        imported = value
        value = frame.run.program.force(value)
        if frame.reads is not None and value.kind in _ARRAYS_AND_MODELS:
            key = ("imported", imported.data[0], identifier)
            frame.reads.setdefault(key, Read(frame.module, node, "global", value))
    return value


def _outer_name(frame: Frame, node: ast.Name) -> Value:
    scope = frame.outer
    while scope is not None:
        value = scope.names.get(node.id)
        if value is not None:
            if frame.reads is not None and value.kind in _MUTABLE:
                key = ("closure", id(scope.home), node.id)
                frame.reads.setdefault(key, Read(frame.module, node, "closure", _from_outside(scope, value)))
            return value
        scope = scope.up
    value = (frame.module.names or {}).get(node.id)
    if value is None:
        return text.own_name(frame) if node.id == "__name__" else _BUILTINS.get(node.id, UNKNOWN_VALUE)
    if frame.reads is not None and value.kind in _MUTABLE:
        frame.reads.setdefault(global_key(frame.module, node.id), Read(frame.module, node, "global", value))
    return value


def _from_outside(scope: Scope, value: Value) -> Value | None:
    """A closure's value, if it was there before the trace that reads it."""
    return value if scope.home is None or scope.home.level < JIT else None


@expression(ast.Constant)
def constant(frame: Frame, node: ast.Constant) -> Value:
    return Value(CONSTANT, 0, 0, node.value)


@expression(ast.Attribute)
def attribute_of(frame: Frame, node: ast.Attribute) -> Value:
    base = node.value
    if base.__class__ is ast.Name:
        dotted = f"{base.id}.{node.attr}"
        value = frame.names.get(dotted)
        if value is not None:
            if frame.watching:
                note_read(frame, node, dotted)
            evaluate_quietly(frame, base)
            return frame.run.program.force(value) if value.kind == LAZY else value
        if frame.watching:
            note_read(frame, node, dotted)
        if frame.watching and node.attr in traced.STATIC_ATTRIBUTES:
            return attribute(frame, frame.names.get(base.id, UNKNOWN_VALUE), node)
    return attribute(frame, evaluate(frame, base), node)


def evaluate_quietly(frame: Frame, node: ast.expr) -> None:
    """Evaluate a base for what it reads: `cfg.scale` reads `cfg` too."""
    if frame.reads is not None:
        evaluate(frame, node)


@expression(ast.Tuple, ast.List)
def sequence(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    members: list[Value] = []
    starred = False
    for item in node.elts:
        if item.__class__ is ast.Starred:
            inner = evaluate(frame, item.value)
            if inner.kind == TREE and inner.data.__class__ is list:
                members += inner.data
            else:
                starred = True
                members.append(element_of(inner))
        else:
            members.append(evaluate(frame, item))
    escape_all(members)
    word = "list" if node.__class__ is ast.List else "tuple"
    origin = Origin(frame.module, node, word)
    if starred:
        joined = members[0]
        for member in members[1:]:
            joined = join(joined, member)
        return collection(joined, origin)
    return tree(members, origin)


@expression(ast.Set)
def set_display(frame: Frame, node: ast.Set) -> Value:
    members = [evaluate(frame, item) for item in node.elts]
    escape_all(members)
    return tree(members, Origin(frame.module, node, "set"))


@expression(ast.Dict)
def dictionary(frame: Frame, node: ast.Dict) -> Value:
    members: dict[object, Value] = {}
    known = True
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(frame, item)
        if key is None:
            if value.kind == TREE and value.data.__class__ is dict:
                members.update(value.data)
            else:
                known = False
            continue
        key_value = evaluate(frame, key)
        escape_all([value])
        if key_value.kind == CONSTANT and isinstance(key_value.data, (str, int)):
            members[key_value.data] = value
        else:
            known = False
            members[object()] = value
    origin = Origin(frame.module, node, "dict", frame.branches)
    if known:
        return tree(members, origin)
    joined: Value | None = None
    for value in members.values():
        joined = value if joined is None else join(joined, value)
    return collection(joined if node.keys and None not in node.keys else UNKNOWN_VALUE, origin)


def escape_all(values: list[Value]) -> None:
    """Boundaries put into containers are kept there."""
    for value in values:
        if value.kind == BOUNDARY:
            value.data.escapes = True


@expression(ast.Lambda)
def lambda_(frame: Frame, node: ast.Lambda) -> Value:
    function = frame.module.functions.get(node)
    if function is None:
        function = Function(node, "<lambda>", frame.module, None, frame.function)
        frame.module.functions[node] = function
    closure = Closure(function, frame.scope(), frame.evaluation, frame.loop, node)
    return Value(FUNCTION, data=closure)


@expression(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
def comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    names = frame.names
    frame.names = dict(names)
    literal = is_literal_display(node.generators[0].iter)
    deeper = 0
    filtered = False
    inherited: Value | None = None  # what already has a length that depends on data
    for generator in node.generators:
        iterable = as_iterable(frame, evaluate(frame, generator.iter), generator.iter)
        traced.iterate(frame, generator.iter, iterable)
        if not literal:
            frame.loop += 1
            deeper += 1
        assign(frame, generator.target, iterated(frame, iterable, generator.iter, generator))
        for test in generator.ifs:
            traced.truth(frame, test, evaluate(frame, test), "if")
            filtered |= iterable.varies >= PER_ITERATION or frame.loop > deeper
        own = of_own_length(frame, generator.iter, iterable)
        if own is not None:
            inherited = own
        elif len(node.generators) == 1 and not generator.ifs:
            if iterable.tags & EVEN:
                inherited = iterable
            elif iterable.kind == HOST and names_stretch(frame, generator.iter):
                inherited = Value(TREE, PER_ITERATION, EVEN)
    frame.literal_loops += literal
    frame.log.append(LoopStart())
    if not literal:
        frame.comprehensions.append(node)
    exact = literal and isinstance(node, ast.ListComp) and len(node.generators) == 1
    if isinstance(node, ast.DictComp):
        evaluate(frame, node.key)
        value = evaluate(frame, node.value)
    else:
        value = evaluate(frame, node.elt)
    if not literal and isinstance(node, (ast.ListComp, ast.DictComp)):
        note_collected(frame, node, value)
        upcasts.collected(frame, node)
    frame.literal_loops -= literal
    frame.log.append(LoopEnd())
    if not literal:
        frame.comprehensions.pop()
    frame.loop -= deeper
    if frame.level >= JIT and not frame.quiet and len(node.generators) == 1:
        note_unrolled(frame, node, iterable, value)
    frame.names = names
    escape_all([value])
    word = {"ListComp": "list", "SetComp": "set", "DictComp": "dict"}.get(type(node).__name__, "generator")
    result = collection(as_member(value), Origin(frame.module, node, word))
    if inherited is not None:
        result.tags |= inherited.tags & (SHAPED | EVEN)
        result.varies = inherited.varies
        result.origin = inherited.origin or result.origin
    elif filtered and not literal and not isinstance(node, ast.DictComp):
        result.tags |= DATA_SHAPE
        result.varies = PER_ITERATION if frame.loop else PER_CALL
    if exact and value.kind in (DEVICE, HOST, TRACED):
        result.size = value.size
    return result


@expression(ast.NamedExpr)
def named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    assign(frame, node.target, value)
    return value


@expression(ast.JoinedStr)
def formatted(frame: Frame, node: ast.JoinedStr) -> Value:
    varies = 0
    parts: list[Value] = []
    for part in node.values:
        value = evaluate(frame, part.value if isinstance(part, ast.FormattedValue) else part)
        if isinstance(part, ast.FormattedValue):
            varies = max(varies, value.varies)
            if part.format_spec is not None:
                traced.demand(frame, part.value, value, "format")
        parts.append(value)
    known = text.put_together(frame, parts)
    if known is not None and known.kind == UNKNOWN:
        return known
    return (
        Value(UNKNOWN, varies, TEXT, None, None, Origin(frame.module, node, "string"))
        if varies
        else TEXT_VALUE
    )


@expression(ast.Await, ast.Starred)
def inner(frame: Frame, node: ast.Await | ast.Starred) -> Value:
    return evaluate(frame, node.value)


@expression(ast.Yield)
def yield_(frame: Frame, node: ast.Yield) -> Value:
    if node.value is not None:
        value = evaluate(frame, node.value)
        escape_all([value])
        _yield(frame, value, [value])
    return UNKNOWN_VALUE


@expression(ast.YieldFrom)
def yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    source = evaluate(frame, node.value)
    _yield(frame, element_of(source), source.data if source.data.__class__ is list else None)
    return UNKNOWN_VALUE


def _yield(frame: Frame, value: Value, members: list[Value] | None) -> None:
    """What straight-line code yields is a sequence whose members are all known."""
    frame.yielded = value if frame.yielded is None else join(frame.yielded, value)
    if members is None or frame.loop or frame.branches:
        frame.yields = None
    elif frame.yields is not None:
        frame.yields += members
