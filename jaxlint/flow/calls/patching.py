"""What tests change for their duration: `monkeypatch.setattr`, `mock.patch` and their like."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, CONSTANT, UNKNOWN
from jaxlint.flow.domain.text import spelled
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Origin, Value
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.mutation import Key, Mutated, attribute_key, environment_key
from jaxlint.flow.statements.assignment import container_key

# Methods of pytest's monkeypatch and of pytest-mock's mocker, and `start` of a patcher.
METHODS = frozenset(
    {
        "setattr",
        "delattr",
        "setitem",
        "delitem",
        "setenv",
        "delenv",
        "patch",
        "object",
        "dict",
        "multiple",
        "start",
    }
)
_PATCHER = "patcher"


def method(frame: Frame, node: ast.Call, receiver: Value, name: str, call: Call) -> None:
    """A call of one of `METHODS` on an object of no known class."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name == "start":
        enter(frame, receiver)
    elif name in ("setattr", "delattr"):
        _log(frame, node, _attribute(frame, call))
    elif name in ("setitem", "delitem"):
        _log(frame, node, *_items(frame, call))
    elif name == "patch" and isinstance(owner, ast.Name) and owner.id == "mocker":
        _log(frame, node, _attribute(frame, call))
    elif name in ("setenv", "delenv"):
        _log(frame, node, *_variables([call.argument(0, "name")]))
    elif isinstance(owner, ast.Attribute) and owner.attr == "patch":
        changed = {"object": _one, "multiple": _several}.get(name, _items)
        _log(frame, node, *changed(frame, call))


def builtin_setattr(frame: Frame, call: Call) -> None:
    """`setattr(module, "name", value)`."""
    _log(frame, call.node, _attribute(frame, call))


def namespace_updated(frame: Frame, node: ast.Call, module: Value, call: Call) -> None:
    """`globals().update(LIMIT=3)`, `vars(mod).update({"LIMIT": 3})`."""
    given = call.positional[0].data if call.positional else None
    names = [*call.keywords, *(given if given.__class__ is dict else ())]
    _log(frame, node, *(("global", module.data.path, name) for name in names if isinstance(name, str)))


@api_call("patch")
def patch(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`mock.patch("pkg.mod.X", …)`, `mock.patch.object(mod, "X", …)`, `mock.patch.dict(mod.CFG, …)`,
    `mock.patch.multiple(mod, X=…)`: changes when it is entered, started, or runs what it decorates."""
    found = {"dict": _items, "multiple": _several}.get(last, _one)(frame, call)
    keys = [key for key in found if key is not None]
    if not keys:
        return UNKNOWN_VALUE
    return Value(UNKNOWN, 0, 0, None, None, Origin(frame.module, call.node, _PATCHER, keys))


def enter(frame: Frame, patcher: Value) -> None:
    """`with patcher:`, `patcher.start()`."""
    frame.log += changed_by(patcher)


def changed_by(value: Value) -> list[Mutated]:
    """What a patcher changes; nothing for any other value."""
    origin = value.origin
    if value.kind != UNKNOWN or origin is None or origin.word != _PATCHER:
        return []
    return [Mutated(key, origin.module, origin.node) for key in origin.extra]


def _log(frame: Frame, node: ast.AST, *keys: Key | None) -> None:
    frame.log += [Mutated(key, frame.module, node) for key in keys if key is not None]


def _attribute(frame: Frame, call: Call) -> Key | None:
    """The key of (object, "name"), or of "package.module.name"."""
    target, node = call.argument(0, "target", "obj"), call.argument_node(0, "target", "obj")
    if target is None or node is None:
        return None
    dotted = spelled(target)
    if dotted is not None or target.kind == CONSTANT:
        return _dotted(frame, dotted) if dotted is not None else None
    name = call.argument(1, "name", "attribute")
    if name is None or name.kind != CONSTANT or not isinstance(name.data, str):
        return None
    return attribute_key(frame, node, target, name.data)


def _one(frame: Frame, call: Call) -> list[Key | None]:
    return [_attribute(frame, call)]


def _several(frame: Frame, call: Call) -> list[Key | None]:
    """`patch.multiple(mod, A=1, B=2)`."""
    target, node = call.argument(0, "target"), call.argument_node(0, "target")
    own = ("target", "spec", "create", "spec_set", "autospec", "new_callable")
    names = [name for name in call.keywords if name not in own]
    if target is None or node is None:
        return []
    dotted = spelled(target)
    if dotted is not None:
        return [_dotted(frame, f"{dotted}.{name}") for name in names]
    return [attribute_key(frame, node, target, name) for name in names]


def _dotted(frame: Frame, name: str) -> Key | None:
    module, _, last = name.rpartition(".")
    if module == frame.module.entry.name:
        return ("global", frame.module.path, last)
    found = frame.run.program.table.find(module, frame.module.entry) if module else None
    return ("global", found.path, last) if found is not None else None


def _items(frame: Frame, call: Call) -> list[Key | None]:
    """The key of a dict whose entries change, or those of environment variables."""
    target, node = call.argument(0, "in_dict", "dic"), call.argument_node(0, "in_dict", "dic")
    if target is not None and target.kind == API and target.data == "os.environ":
        values = call.argument(1, "values", "name")
        entries = values.data if values is not None and values.data.__class__ is dict else {}
        return [environment_key(name) for name in entries if isinstance(name, str)] or _variables([values])
    dotted = spelled(target)
    if dotted is not None:
        return [_dotted(frame, dotted)]
    return [container_key(frame, node)] if isinstance(node, (ast.Name, ast.Attribute)) else []


def _variables(names: list[Value | None]) -> list[Key | None]:
    return [environment_key(n.data) for n in names if n is not None and isinstance(n.data, str)]
