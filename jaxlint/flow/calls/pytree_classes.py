"""Classes that a program registers as pytrees: which of their attributes are part of the structure."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.kinds import CLASS, CONSTANT, FUNCTION
from jaxlint.flow.domain.values import NONE, Value, parts
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.index.walking import walk


def note_registration(cls: ClassInfo, decorator: ast.expr) -> None:
    """`@partial(register_dataclass, data_fields=[…], meta_fields=["n"])`."""
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    for keyword in keywords:
        if keyword.arg == "meta_fields" and isinstance(keyword.value, (ast.List, ast.Tuple)):
            cls.static_fields |= {str(i.value) for i in keyword.value.elts if isinstance(i, ast.Constant)}


def note_flattening(cls: ClassInfo) -> None:
    """What a class's own `tree_flatten` gives as auxiliary data."""
    flatten = cls.methods.get("tree_flatten") or cls.methods.get("tree_flatten_with_keys")
    if flatten is not None and not isinstance(flatten.node, ast.Lambda):
        cls.static_fields |= auxiliary(flatten.node)


def auxiliary(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The attributes of its argument that a flattening function returns beside the children."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if not arguments:
        return set()
    assigned: dict[str, ast.expr] = {}
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id] = node.value
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            data = node.value.elts[1]
            source = assigned.get(data.id, data) if isinstance(data, ast.Name) else data
            found |= _attributes(source, arguments[0].arg)
    return found


def _attributes(node: ast.expr, owner: str) -> set[str]:
    return {
        child.attr
        for child in walk(node)
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name) and child.value.id == owner
    }


@api_call("register_pytree")
def register_pytree(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`register_pytree_node(Cls, flatten, unflatten)`, `register_dataclass(Cls, data_fields, meta_fields)`."""
    target = call.argument(0, "nodetype")
    if target is None or target.kind != CLASS:
        return NONE
    cls: ClassInfo = target.data
    cls.family = cls.family or "pytree"
    if last == "register_dataclass":
        meta = call.argument(2, "meta_fields")
        names = [m.data for m in parts(meta) if m.kind == CONSTANT] if meta is not None else []
        cls.static_fields |= {name for name in names if isinstance(name, str)}
        return target
    flatten = call.argument(1, "flatten_func", "flatten_with_keys")
    if flatten is not None and flatten.kind == FUNCTION and not flatten.data.function.is_lambda:
        cls.static_fields |= auxiliary(flatten.data.function.node)
    return target if last.endswith("class") else NONE
