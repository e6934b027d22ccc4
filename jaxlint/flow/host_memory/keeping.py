"""Where code puts something into a list or dict that it keeps: noted, to be judged when the run is over."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import ARRAYS, CONCRETE, DEVICE, INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Call, Frame, evaluate
from jaxlint.flow.host_memory.copied import copies_in
from jaxlint.flow.host_memory.growing_calls import is_anothers
from jaxlint.flow.host_memory.growing_loops import growing_loop
from jaxlint.flow.host_memory.pending_append import ADDING, PendingAppend
from jaxlint.flow.syntax.bindings import look
from jaxlint.index.written_names import dotted_name, last_name


def note_append(frame: Frame, name: str, call: Call) -> None:
    """`kept.append(value)` and its like, where the value may be an array."""
    node = call.node
    if name == "update" and not (frame.quiet or frame.level) and isinstance(node, ast.Call) and node.args:
        _note_update(frame, node, node.args[0])
    if (
        name not in ADDING
        or frame.quiet
        or frame.level
        or not call.positional
        or not isinstance(node, ast.Call)
    ):
        return
    if isinstance(node.func, ast.Attribute) and len(node.args) == len(call.positional):
        _note(frame, node, node.func.value, node.args[-1], call.positional[-1])


def note_extension(frame: Frame, node: ast.AugAssign) -> None:
    """`kept += [value]`, `kept += list(values)`."""
    added = node.value
    value: ast.expr | None = None
    if isinstance(added, ast.List) and added.elts:
        value = added.elts[-1]
    elif isinstance(added, ast.Call) and last_name(added.func) == "list" and added.args:
        value = added.args[0]
    if isinstance(value, ast.Starred):
        value = value.value
    if not frame.quiet and isinstance(node.op, ast.Add) and value is not None:
        _note(frame, node, node.target, value, evaluate(frame, value))


def _note_update(frame: Frame, node: ast.Call, added: ast.expr) -> None:
    """`kept.update(zip(names, values))`, `kept.update({name: value for …})`, `kept.update({name: value})`."""
    value: ast.expr | None = None
    if isinstance(added, ast.Call) and last_name(added.func) == "zip" and len(added.args) == 2:
        value = added.args[1]
    elif isinstance(added, ast.DictComp):
        value = _dealt(added.generators[-1], added.value) or added.value
    elif isinstance(added, ast.Dict) and added.values and None not in added.keys:
        value = added.values[-1]
    if value is not None and isinstance(node.func, ast.Attribute):
        _note(frame, node, node.func.value, value, look(frame, value))


def _dealt(generator: ast.comprehension, value: ast.expr) -> ast.expr | None:
    """What a loop variable is dealt from: `values` in `for name, value in zip(names, values)`."""
    if not isinstance(value, ast.Name):
        return None
    source, target = generator.iter, generator.target
    if isinstance(target, ast.Name):
        return source if target.id == value.id else None
    paired = isinstance(source, ast.Call) and last_name(source.func) == "zip"
    if not paired or not isinstance(target, ast.Tuple) or len(source.args) != len(target.elts):  # type: ignore[attr-defined]  # a call if paired
        return None
    pairs = zip(target.elts, source.args, strict=True)  # type: ignore[attr-defined]  # a call, see above
    return next((a for t, a in pairs if isinstance(t, ast.Name) and t.id == value.id), None)


def note_entry(frame: Frame, node: ast.Subscript, value: Value) -> None:
    """`kept[step] = value`, a new entry each round."""
    source = getattr(frame.statement, "value", None)
    kept = dotted_name(_outermost(node.value)) or ""
    if (frame.loops or "." in kept or is_anothers(frame, kept)) and isinstance(source, ast.expr):
        _note(frame, node, node.value, source, value)


def note_collected(frame: Frame, node: ast.ListComp | ast.DictComp, value: Value) -> None:
    """`[np.asarray(step(x)) for x in stream]`."""
    if frame.quiet or frame.level or not _may_hold(value):
        return
    container = frame.targets[0] if len(frame.targets) == 1 else ""
    element = node.value if isinstance(node, ast.DictComp) else node.elt
    frame.log.append(PendingAppend(frame, node, container, element, value, node))


def _note(frame: Frame, node: ast.AST, container: ast.expr, value_node: ast.expr, value: Value) -> None:
    container = _outermost(container)
    if isinstance(container, ast.Call) and last_name(container.func) == "setdefault":
        container = container.func.value  # type: ignore[attr-defined]  # `history.setdefault(name, []).append(…)`
    name = dotted_name(container)
    if name is None or not _may_hold(value):
        return
    if frame.loops or "." in name or name in frame.globals or is_anothers(frame, name):
        loop = growing_loop(frame, name)
        if loop is None and frame.loops:
            return  # made anew in each round
        frame.log.append(PendingAppend(frame, node, name, value_node, value, loop))


def _outermost(container: ast.expr) -> ast.expr:
    """`history` in `history["frames"].append(…)`."""
    while isinstance(container, ast.Subscript):
        container = container.value
    return container


def _may_hold(value: Value) -> bool:
    if value.kind in CONCRETE:
        return value.kind == DEVICE or not is_small(value) or value.size != 1
    if value.kind == TREE:
        return any(_may_hold(member) for member in parts(value))
    if value.kind == INSTANCE and (value.data.cls.is_pytree_value or value.data.cls.dataclass):
        return any(part.kind in ARRAYS for part in parts(value))
    if value.kind == INSTANCE:
        return any(copies_in(value))
    return value.kind == UNKNOWN
