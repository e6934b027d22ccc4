"""What tests change for their duration: `monkeypatch.setattr`, `mock.patch` and their like."""

from __future__ import annotations

import ast

from jaxlint.flow.assignment import container_key
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.mutation import Key, Mutated, attribute_key
from jaxlint.flow.objects import Origin
from jaxlint.flow.values import CONSTANT, UNKNOWN, UNKNOWN_VALUE, Value

# Methods of pytest's monkeypatch and of pytest-mock's mocker, and `start` of a patcher.
METHODS = frozenset({"setattr", "delattr", "setitem", "delitem", "patch", "object", "dict", "start"})
_PATCHER = "patcher"


def method(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    """A call of one of `METHODS` on an object of no known class."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name == "start":
        enter(frame, receiver)
    elif name in ("setattr", "delattr"):
        _log(frame, node, _attribute(frame, call))
    elif name in ("setitem", "delitem"):
        _log(frame, node, _item(frame, call))
    elif name == "patch" and isinstance(owner, ast.Name) and owner.id == "mocker":
        _log(frame, node, _attribute(frame, call))
    elif isinstance(owner, ast.Attribute) and owner.attr == "patch":
        _log(frame, node, _attribute(frame, call) if name == "object" else _item(frame, call))


def builtin_setattr(frame: Frame, call: Call) -> None:
    """`setattr(module, "name", value)`."""
    _log(frame, call.node, _attribute(frame, call))


@api_call("patch")
def patch(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`mock.patch("pkg.mod.X", …)`, `mock.patch.object(mod, "X", …)`, `mock.patch.dict(mod.CFG, …)`: changes
    when it is entered, started, or runs what it decorates."""
    key = _item(frame, call) if last == "dict" else _attribute(frame, call)
    if key is None:
        return UNKNOWN_VALUE
    return Value(UNKNOWN, 0, 0, None, None, Origin(frame.module, call.node, _PATCHER, key))


def enter(frame: Frame, patcher: Value) -> None:
    """`with patcher:`, `patcher.start()`."""
    change = changed_by(patcher)
    if change is not None:
        frame.log.append(change)


def changed_by(value: Value) -> Mutated | None:
    """What a patcher changes; None for any other value."""
    origin = value.origin
    if value.kind != UNKNOWN or origin is None or origin.word != _PATCHER:
        return None
    return Mutated(origin.extra, origin.module, origin.node)


def _log(frame: Frame, node: ast.AST, key: Key | None) -> None:
    if key is not None:
        frame.log.append(Mutated(key, frame.module, node))


def _attribute(frame: Frame, call: Call) -> Key | None:
    """The key of (object, "name"), or of "package.module.name"."""
    target, node = call.argument(0, "target", "obj"), call.argument_node(0, "target", "obj")
    if target is None or node is None:
        return None
    if target.kind == CONSTANT:
        return _dotted(frame, target.data) if isinstance(target.data, str) else None
    name = call.argument(1, "name", "attribute")
    if name is None or name.kind != CONSTANT or not isinstance(name.data, str):
        return None
    return attribute_key(frame, node, target, name.data)


def _dotted(frame: Frame, name: str) -> Key | None:
    module, _, last = name.rpartition(".")
    found = frame.run.program.table.find(module, frame.module.entry) if module else None
    return ("global", found.path, last) if found is not None else None


def _item(frame: Frame, call: Call) -> Key | None:
    """The key of a dict whose entries change."""
    target, node = call.argument(0, "in_dict", "dic"), call.argument_node(0, "in_dict", "dic")
    if target is not None and target.kind == CONSTANT and isinstance(target.data, str):
        return _dotted(frame, target.data)
    return container_key(frame, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
