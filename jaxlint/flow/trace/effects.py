"""Traced code that reaches out of its trace: it puts a tracer where the tracer outlives it, counts, or prints."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import (
    CLASS,
    CONSTANT,
    INSTANCE,
    MODULE,
    NUMBERS,
    PARAMETER,
    SHAPE,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.facts import CachedTracer, SideEffect
from jaxlint.flow.frame import Call, Frame, evaluate
from jaxlint.flow.trace.outer import instance_outlives, is_taken_back, where_kept
from jaxlint.flow.trace.traced import contains_tracer
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.effects import shows
from jaxlint.jax_api.transforms import VMAP

# Methods that put their arguments into their receiver; those that no other kind of object is likely to have.
PUTTING = frozenset({"append", "appendleft", "extend", "add", "insert", "update", "setdefault"})
_LISTS = frozenset({"append", "appendleft", "extend"})
# Attributes through which Flax's variables and JAX's references are written on purpose.
_WRITABLE = frozenset({"value", "at"})


def _record(
    frame: Frame, node: ast.AST, how: str, target: str, kept: str, at: ast.AST, value: Value, api: str = ""
) -> None:
    if how in ("append", "item", "attribute", "rebind") and is_taken_back(frame, target):
        return
    frame.record(
        SideEffect(
            frame.place(node),
            frame.symbol,
            frame.proof(),
            how=how,
            target=target,
            kept=kept,
            api=api,
            operand=operand(frame, at, value),
        )
    )


def leaks(value: Value, depth: int = 0) -> bool:
    """Whether a tracer is, or is in, the value."""
    if contains_tracer([value]):
        return True
    return value.kind == INSTANCE and depth < 3 and any(leaks(v, depth + 1) for v in parts(value))


def put(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    """`container.append(x)` and its like."""
    if frame.quiet or not isinstance(node.func, ast.Attribute):
        return
    if receiver.kind != TREE and not (receiver.kind == UNKNOWN and name in _LISTS):
        return
    leaking = [v for v in call.values() if leaks(v)]
    if not leaking:
        return
    base = node.func.value
    kept = where_kept(frame, base)
    target = dotted_name(base) or ""
    if not kept:
        if _lost(frame, base, receiver):
            _record(frame, node, "lost", target, "argument", node, leaking[0], name)
        return
    if name == "setdefault":
        _cached(frame, node, "dict", target)
    else:
        _record(frame, node, "append", target, kept, node, leaking[0], name)


def item_stored(frame: Frame, target: ast.Subscript, owner: Value, value: Value, filling: bool) -> None:
    """`container[key] = x`. `filling`: on a miss."""
    if frame.quiet or owner.kind not in (TREE, PARAMETER):
        return
    name = dotted_name(target.value) or ""
    if _is_name(target.slice) and _lost(frame, target.value, owner):
        _record(frame, target, "lost", name, "argument", target, value)
        return
    kept = where_kept(frame, target.value) if owner.kind == TREE and leaks(value) else ""
    if not kept:
        return
    if filling:
        _cached(frame, target, "dict", name)
    else:
        _record(frame, target, "item", name, kept, target, value)


def _is_name(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def attribute_stored(frame: Frame, target: ast.Attribute, owner: Value, value: Value) -> None:
    """`object.name = x`."""
    if frame.quiet:
        return
    name = dotted_name(target) or target.attr
    if owner.kind == INSTANCE and owner.data.copied and _lost(frame, target.value, owner):
        _record(frame, target, "lost", name, "argument", target, value)
        return
    kept = _owner_kept(frame, target, owner) if leaks(value) else ""
    if not kept:
        return
    if frame.filling:
        _cached(frame, target, "attribute", name)
    else:
        _record(frame, target, "attribute", name, kept, target, value)


def _owner_kept(frame: Frame, target: ast.Attribute, owner: Value) -> str:
    """How traced code reaches the object whose attribute it sets, where that outlives the trace."""
    if owner.kind == INSTANCE:
        return "attribute" if instance_outlives(frame, owner) else ""
    if owner.kind in (MODULE, CLASS):
        return "attribute"
    if owner.kind == UNKNOWN and target.attr not in _WRITABLE:
        return where_kept(frame, target.value)
    return ""


def name_stored(frame: Frame, target: ast.Name, value: Value) -> None:
    """`global name` or `nonlocal name`, then `name = x`."""
    if frame.quiet or not leaks(value):
        return
    kept = where_kept(frame, target)
    if not kept:
        return
    if frame.filling:
        _cached(frame, target, "variable", target.id)
    else:
        _record(frame, target, "rebind", target.id, kept, target, value)


def counted(frame: Frame, node: ast.AugAssign, before: Value, by: Value) -> None:
    """`calls += 1` in traced code: a Python number that outlives the trace."""
    if frame.quiet or before.kind not in (*NUMBERS, SHAPE) or by.kind not in (*NUMBERS, SHAPE):
        return
    target = node.target
    declared = isinstance(target, ast.Name) and target.id in (frame.globals | frame.nonlocals)
    if isinstance(target, ast.Name) and not declared:
        return
    if isinstance(target, ast.Subscript) and evaluate(frame, target.value).kind != TREE:
        return
    kept = where_kept(frame, target)
    if kept:
        name = dotted_name(target.value if isinstance(target, ast.Subscript) else target) or ""
        _record(frame, node, "count", name, kept, target, before)


def counted_by_hand(frame: Frame, node: ast.Assign) -> None:
    """`self.calls = self.calls + 1`, evaluated but not yet assigned."""
    value, target = node.value, node.targets[0]
    name = dotted_name(target)
    if len(node.targets) > 1 or name is None or not isinstance(value, ast.BinOp):
        return
    if dotted_name(value.left) == name and isinstance(target, (ast.Name, ast.Attribute)):
        same = ast.copy_location(ast.AugAssign(target, value.op, value.right), node)
        counted(frame, same, evaluate(frame, value.left), evaluate(frame, value.right))


def _cached(frame: Frame, node: ast.AST, how: str, name: str) -> None:
    frame.record(
        CachedTracer(
            frame.place(node),
            frame.symbol,
            frame.proof(),
            how=how,
            function=frame.symbol,
            name=name,
        )
    )


def _lost(frame: Frame, node: ast.expr, owner: Value) -> bool:
    """A pytree argument of the traced function is changed, and the function returns nothing: jax hands the
    trace a copy, and the change goes with it."""
    function = frame.function
    if function is None or function.is_lambda or not isinstance(node, ast.Name):
        return False
    if node.id not in function.index or not _is_entry(frame) or frame.names.get(node.id) is not owner:
        return False
    return not any(isinstance(n, ast.Return) and n.value is not None for n in walk(function.node))


def _is_entry(frame: Frame) -> bool:
    """The function is the one that was handed to jit, not a helper of it."""
    callers = frame.run.stack[:-1]
    return not callers or callers[-1].level < frame.level or callers[-1].traced_by != frame.traced_by


def printed(frame: Frame, dotted: str, call: Call) -> None:
    """`print(x)`, `logging.info("%s", x)`, `wandb.log({"loss": x})`."""
    if frame.quiet or frame.level < VMAP or not isinstance(call.node, ast.Call):
        return
    found = next((v for v in call.values() if leaks(v)), None)
    if found is None:
        found = next((v for node in call.node.args if (v := _formatted(frame, node)) is not None), None)
    if found is not None and not _says_so(call):
        _record(frame, call.node, "print", dotted, "", call.node, found, dotted)


def logged(frame: Frame, node: ast.Call, name: str, call: Call) -> None:
    """`logger.info("%s", x)`."""
    owner = (dotted_name(node.func.value) or "") if isinstance(node.func, ast.Attribute) else ""
    if shows(owner, name):
        printed(frame, f"{owner}.{name}", call)


def _formatted(frame: Frame, node: ast.expr) -> Value | None:
    """The tracer that goes into a text: `f"{x}"`, `"%s" % x`, `"{}".format(x)`, `str(x)`."""
    inner: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        inner = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add)):
        inner = [node.right] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    elif isinstance(node, ast.Call) and _is_text(node.func):
        inner = list(node.args)
    for part in inner:
        value = _formatted(frame, part) or evaluate(frame, part)
        if leaks(value):
            return value
    return None


def _is_text(callee: ast.expr) -> bool:
    return (isinstance(callee, ast.Name) and callee.id in ("str", "repr")) or (
        isinstance(callee, ast.Attribute) and callee.attr == "format"
    )


_OF_THE_TRACE = ("trac", "compil", "jaxpr", "shape", "abstract")


def _says_so(call: Call) -> bool:
    """A text about the trace itself: to see a tracer is what it is for."""
    texts = [v.data for v in call.values() if v.kind == CONSTANT and isinstance(v.data, str)]
    if isinstance(call.node, ast.Call):
        texts += [
            part.value
            for node in call.node.args
            for part in walk(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
    return any(word in text.lower() for text in texts for word in _OF_THE_TRACE)
