"""What outlives a trace: names, objects and containers that were there before it began."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import CLASS, INSTANCE, MODULE, TREE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.evaluations import Evaluation
from jaxlint.flow.frame import Frame, evaluate
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import dotted_name

_MEMBERS = frozenset({"setdefault", "get"})  # what they give is a member of their receiver


def outside(frame: Frame, home: Evaluation) -> bool:
    """Whether what an evaluation made is older than the trace that the frame belongs to."""
    return home.level < frame.level or (home.active and home.traced_by != frame.traced_by)


def where_kept(frame: Frame, node: ast.expr) -> str:
    """How traced code reaches something that outlives its trace: "global", "closure", "attribute", "argument"
    (an object of the caller's that was there before), or "" when it dies with the trace or is not known."""
    if isinstance(node, ast.Name):
        return _named(frame, node.id)
    if isinstance(node, ast.Subscript):
        return where_kept(frame, node.value)
    if isinstance(node, ast.Attribute):
        return _attribute(frame, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MEMBERS:
        return where_kept(frame, node.func.value)
    return ""


def _named(frame: Frame, name: str) -> str:
    if name in frame.globals:
        return "global"
    value = frame.names.get(name)
    if name in frame.nonlocals or value is None:
        return _free(frame, name)
    return _held(frame, value)


def _free(frame: Frame, name: str) -> str:
    scope = frame.outer
    while scope is not None:
        if name in scope.names:
            if scope.home is None:
                return ""
            if outside(frame, scope.home):
                return "closure"
            return _held(frame, scope.names[name])
        scope = scope.up
    return "global" if name in (frame.module.names or {}) else ""


def _held(frame: Frame, value: Value) -> str:
    """A local name or a parameter: another name for an object that outlives the trace?"""
    if value.kind == INSTANCE:
        return "argument" if instance_outlives(frame, value) else ""
    if value.kind != TREE:
        return ""
    if any(held is value for held in (frame.module.names or {}).values()):
        return "global"
    scope = frame.outer
    while scope is not None:
        older = scope.home is not None and outside(frame, scope.home)
        if older and any(held is value for held in scope.names.values()):
            return "closure"
        scope = scope.up
    return ""


def _attribute(frame: Frame, node: ast.Attribute) -> str:
    owner = evaluate(frame, node.value)
    if owner.kind == INSTANCE:
        return "attribute" if instance_outlives(frame, owner) else ""
    if owner.kind in (MODULE, CLASS):
        return "attribute"
    return "attribute" if where_kept(frame, node.value) else ""


def instance_outlives(frame: Frame, value: Value) -> bool:
    """Whether an object is older than the trace: not made in it, nor its own copy of an argument."""
    thing = value.data
    cls = thing.cls
    if thing.copied or cls.is_pytree_module or cls.family == "haiku" or cls.unresolved:
        return False
    return thing.home is None or outside(frame, thing.home)


def is_taken_back(frame: Frame, target: str) -> bool:
    """What is stored under a dotted name for a while only: a stack that the module pops, a value that the
    function saves first and restores."""
    if not target:
        return False
    calls = nodes_of(frame.module.tree, ast.Call)
    if any(dotted_name(call.func) == f"{target}.pop" for call in calls):
        return True
    function = frame.function
    assigns = nodes_of(function.node, ast.Assign) if function is not None else []
    saved = {dotted_name(t) for a in assigns if dotted_name(a.value) == target for t in a.targets} - {None}
    restoring = (a for a in assigns if dotted_name(a.value) in saved)
    return any(dotted_name(t) == target for a in restoring for t in a.targets)
