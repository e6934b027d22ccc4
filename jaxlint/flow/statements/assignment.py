"""Binding names, unpacking, storing on objects and in containers."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.watching import forget
from jaxlint.flow.domain.joining import alternatives, join
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CONSTANT,
    DEVICE,
    HOST,
    INSTANCE,
    MODULE,
    PARAMETER,
    TRACERS,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.tags import LENGTHENED, NOTHING_OR, SHAPED, SMALL, UPDATED
from jaxlint.flow.domain.values import (
    PER_ITERATION,
    UNKNOWN_VALUE,
    Origin,
    Value,
    as_member,
    collection,
    is_none,
    parts,
)
from jaxlint.flow.facts import FieldStore
from jaxlint.flow.frame import Frame, evaluate
from jaxlint.flow.host_memory import lending
from jaxlint.flow.host_memory.dict_caches import fills_itself, note_fill
from jaxlint.flow.host_memory.keeping import note_entry
from jaxlint.flow.retrace import growth
from jaxlint.flow.retrace.field_carry import field_carried, field_stored
from jaxlint.flow.retrace.mutation import NAMELESS, Key, Mutated, attribute_key, global_key
from jaxlint.flow.retrace.optional import key_stored
from jaxlint.flow.retrace.shared_containers import item_of
from jaxlint.flow.retrace.tree_changes import members
from jaxlint.flow.statements.iteration import element_of
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.flow.trace import effects, traced
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.transforms import EAGER, VMAP


def assign(frame: Frame, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
    """`target = value`. `source` is the expression, where there is one."""
    if isinstance(target, ast.Name):
        _bind_name(frame, target, value, source)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(frame, target, value)
    elif isinstance(target, ast.Attribute):
        _store_attribute(frame, target, value)
    elif isinstance(target, ast.Subscript):
        _store_item(frame, target, value)
    elif isinstance(target, ast.Starred):
        assign(frame, target.value, collection(element_of(value)))


def target_names(target: ast.expr, names: list[str]) -> None:
    """Plain and dotted names that a target binds."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            target_names(item, names)
    elif isinstance(target, ast.Starred):
        target_names(target.value, names)
    else:
        name = dotted_name(target)
        if name is not None:
            names.append(name)


def _bind_name(frame: Frame, target: ast.Name, value: Value, source: ast.expr | None) -> None:
    name = target.id
    names = frame.names
    outlives = name in frame.globals or name in frame.nonlocals
    if value.tags & LENGTHENED or value.kind == TREE or value.kind == INSTANCE:
        value = growth.stored(frame, name, value, outlives)
    forget(frame, name)
    if frame.dotted:
        _forget_dotted(frame, name)
    if isinstance(source, (ast.Name, ast.Attribute)):
        meant = dotted_name(source)
        if meant is not None:
            frame.aliases[name] = meant
    names[name] = value
    if frame.level and (name in frame.globals or name in frame.nonlocals):
        effects.name_stored(frame, target, value)
    if name in frame.globals:
        module_names = frame.module.names
        if module_names is not None:
            known = module_names.get(name)
            module_names[name] = value if known is None else join(known, value)
        frame.log.append(Mutated(global_key(frame.module, name), frame.module, target))
        if value.kind == BOUNDARY:
            value.data.escapes = True
    elif name in frame.nonlocals:
        _rebind_outer(frame, target, value)
    elif frame.function is None:
        frame.log.append(Mutated(global_key(frame.module, name), frame.module, target))
    else:
        frame.log.append(Mutated(("closure", id(frame.evaluation), name), frame.module, target))


def _rebind_outer(frame: Frame, target: ast.Name, value: Value) -> None:
    """`nonlocal x; x = …` changes the variable of an enclosing function."""
    scope = frame.outer
    while scope is not None:
        known = scope.names.get(target.id)
        if known is not None:
            scope.names[target.id] = join(known, value)
            frame.log.append(Mutated(("closure", id(scope.home), target.id), frame.module, target))
            return
        scope = scope.up


def _forget_dotted(frame: Frame, name: str) -> None:
    """`obj = …` makes what was known of `obj.x` stale."""
    prefix = f"{name}."
    for key in [key for key in frame.names if key.startswith(prefix)]:
        del frame.names[key]


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    starred = any(item.__class__ is ast.Starred for item in target.elts)
    if (
        value.kind == TREE
        and value.data.__class__ is list
        and not starred
        and len(value.data) == len(target.elts)
    ):
        for item, member in zip(target.elts, value.data, strict=True):
            assign(frame, item, member)
        return
    element = element_of(value)
    if value.kind == TREE and value.data.__class__ is list and starred:
        _unpack_starred(frame, target, value.data)
        return
    ragged = value.tags & SHAPED if value.kind == TREE else 0
    rest = Value(TREE, value.varies if ragged else 0, ragged, None, element, value.origin)
    for item in target.elts:
        if isinstance(item, ast.Starred):
            assign(frame, item.value, rest)
        else:
            assign(frame, item, element)


def _unpack_starred(frame: Frame, target: ast.Tuple | ast.List, members: list[Value]) -> None:
    star = next(i for i, item in enumerate(target.elts) if isinstance(item, ast.Starred))
    after = len(target.elts) - star - 1
    for item, member in zip(target.elts[:star], members, strict=False):
        assign(frame, item, member)
    if after:
        for item, member in zip(target.elts[-after:], members[-after:], strict=False):
            assign(frame, item, member)
    middle = members[star : len(members) - after]
    taker = target.elts[star]
    assert isinstance(taker, ast.Starred)
    assign(frame, taker.value, Value(TREE, 0, 0, middle, None, Origin(frame.module, target, "list")))


def _store_attribute(frame: Frame, target: ast.Attribute, value: Value) -> None:
    owner = evaluate(frame, target.value)
    if frame.level:
        effects.attribute_stored(frame, target, owner, value)
    if value.kind == BOUNDARY:
        value.data.escapes = True
    dotted = dotted_name(target)
    if value.tags & LENGTHENED and dotted is not None:
        local = owner.kind == INSTANCE and owner.data.home is frame.evaluation
        value = growth.stored(frame, dotted, value, not local)
    if dotted is not None and dotted.count(".") == 1:
        forget(frame, dotted)
        frame.names[dotted] = value
        frame.dotted = True
    for each in alternatives(owner):
        if not (each.kind == INSTANCE and in_constructor(frame)):
            key = attribute_key(frame, target.value, each, target.attr)
            frame.log.append(Mutated(key, frame.module, target))
        if each.kind == INSTANCE:
            _store_field(frame, target, each, value)
    if owner.kind == API:
        from jaxlint.flow.config.configuration import attribute_set

        attribute_set(frame, target, owner, value)


def in_constructor(frame: Frame) -> bool:
    """What a constructor stores on its own instance is no change of anything."""
    return frame.function is not None and frame.function.name in CONSTRUCTORS


def _joined(known: Value, stored: Value) -> Value:
    """What a field may be. `self.state = None` in a constructor says only that a method begins it: who passes it
    passes what that method made."""
    if is_none(known) and stored.kind in (TREE, INSTANCE) and members(stored):
        return stored.but(tags=stored.tags | NOTHING_OR)
    return join(known, stored)


def _store_field(frame: Frame, target: ast.Attribute, owner: Value, value: Value) -> None:
    fields = owner.data.fields
    known = fields.get(target.attr)
    stored = value if value.origin is not None else value.but(origin=Origin(frame.module, target, "field"))
    field_stored(frame, owner.data, target, stored)
    if value.kind == BOUNDARY or known is None:
        fields[target.attr] = stored
    else:
        field_carried(frame, owner.data, target.attr, known, stored)
        fields[target.attr] = _joined(known, stored)
    if is_small(known or UNKNOWN_VALUE) and stored.kind in (DEVICE, UNKNOWN, TREE):
        # The state of a step keeps its shape from call to call.
        fields[target.attr] = fields[target.attr].but(tags=fields[target.attr].tags | SMALL)
    if not in_constructor(frame) and not frame.quiet and owner.data.cls.family == "nnx":
        frame.record(
            FieldStore(
                frame.place(target),
                frame.symbol,
                frame.proof(),
                owner=operand(frame, target.value, owner, depth=3),
                field=target.attr,
                value=operand(frame, target, value),
                in_loop=frame.loop > 0,
                family="nnx",
                loop=frame.innermost_loop(),
            )
        )


def _store_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    owner = evaluate(frame, target.value)
    index = evaluate(frame, target.slice)
    if value.kind == BOUNDARY:
        value.data.escapes = True
    if owner.kind == HOST and frame.level >= VMAP:
        if value.kind in TRACERS:
            traced.numpy_index(frame, target, value, "assign")
        elif index.kind in TRACERS:
            traced.numpy_index(frame, target, index, "index")
    if owner.kind == API and owner.data == "os.environ":
        from jaxlint.flow.config.configuration import environment_item_set

        environment_item_set(frame, target, index, value)
    if owner.kind == MODULE and index.kind == CONSTANT:  # `globals()["LIMIT"] = 3`
        frame.log.append(Mutated(("global", owner.data.path, index.data), frame.module, target))
    name = dotted_name(target.value)
    if frame.level:
        filling = bool(frame.filling) or (name is not None and _is_missed(frame, name))
        effects.item_stored(frame, target, owner, value, filling)
    elif owner.kind == HOST:
        lending.written(frame, target, target.value)
    if owner.kind == TREE:
        if frame.branches and index.kind == CONSTANT:
            key_stored(frame, owner, index.data, target)
        path = growth.path_of(target) if value.tags & LENGTHENED else None
        _update_container(owner, index, growth.stored(frame, path, value, False) if path else value)
    elif value.tags & UPDATED and owner.kind == PARAMETER and isinstance(target.value, ast.Name):
        frame.names[target.value.id] = owner.but(
            tags=owner.tags | UPDATED
        )  # `state["params"] = apply_updates(…)`
    held = item_of(frame, owner, index) if owner.kind == TREE and not frame.level else None
    if name is not None or held is not None:
        key = container_key(frame, target.value) if name is not None else NAMELESS
        frame.log.append(Mutated(key, frame.module, target, held))
    if frame.quiet or frame.level != EAGER:
        return
    if name is not None and (frame.filling or _is_missed(frame, name)):
        note_fill(frame, target, target.value, index, value)
    elif index.varies >= PER_ITERATION and owner.kind == TREE:
        note_entry(frame, target, value)


def _is_missed(frame: Frame, name: str) -> bool:
    """`if key in cache: return cache[key]` came before, or Python has found no such key."""
    return name in frame.answered or fills_itself(frame, name)


def _update_container(owner: Value, index: Value, value: Value) -> None:
    """A container changes in place: its value object is the container, so it is updated in place too."""
    if owner.data.__class__ is dict and index.kind == CONSTANT and isinstance(index.data, (str, int)):
        known = owner.data.get(index.data)
        owner.data[index.data] = value if known is None else join(known, value)
    else:
        members = parts(owner)
        owner.data = None
        owner.element = as_member(value)
        for member in members:
            owner.element = join(owner.element, member)


def container_key(frame: Frame, node: ast.expr) -> Key:
    """The key of a container that is changed in place."""
    if isinstance(node, ast.Name):
        if node.id in frame.names and frame.function is not None:
            return ("closure", id(frame.evaluation), node.id)
        return global_key(frame.module, node.id)
    assert isinstance(node, ast.Attribute)
    return attribute_key(frame, node.value, evaluate(frame, node.value), node.attr)


def add_member(owner: Value, value: Value) -> None:
    """`owner.append(value)`."""
    if owner.kind != TREE:
        return
    members = parts(owner)
    owner.data = None
    owner.element = as_member(value)
    for member in members:
        owner.element = join(owner.element, member)
