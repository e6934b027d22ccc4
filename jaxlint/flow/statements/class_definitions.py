"""`class`: its bases and decorators, its body, and the family that they make it one of."""

from __future__ import annotations

import ast
import sys

from jaxlint.flow.calls.dispatch import call_value
from jaxlint.flow.calls.pytree_classes import note_flattening, note_registration
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.closures import Scope
from jaxlint.flow.domain.kinds import API, BOUNDARY, CLASS, FUNCTION
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import STATEMENTS, Call, Frame, evaluate, statement
from jaxlint.flow.syntax.annotations import annotation_text
from jaxlint.flow.syntax.class_fields import is_converted, is_static_field
from jaxlint.jax_api.categories import category
from jaxlint.jax_api.class_families import DATACLASSES, DECORATORS, family_of


@statement(ast.ClassDef)
def class_def(frame: Frame, node: ast.ClassDef) -> None:
    module = frame.module
    cls = module.classes.get(node)
    if cls is None:
        outer = (
            frame.function.qualname
            if frame.function is not None
            else frame.defining.qualname
            if frame.defining
            else ""
        )
        cls = module.classes[node] = ClassInfo(node, module, f"{outer}.{node.name}" if outer else node.name)
    _bases(frame, cls, node)
    names, outer_scope, defining = frame.names, frame.outer, frame.defining
    if frame.function is not None or frame.outer is not None:
        cls.scope = frame.outer = Scope(names, outer_scope, frame.evaluation)
    else:
        frame.outer = Scope(names, None)
    frame.names = {}
    frame.defining = cls
    for child in node.body:
        _class_statement(frame, cls, child)
    for name, value in frame.names.items():
        method = cls.methods.get(name)
        plain = (
            value.kind == FUNCTION
            and method is not None
            and value.data.function is method
            and not value.data.transforms
        )
        if not plain:
            cls.attributes[name] = value
    note_flattening(cls)
    for value in cls.attributes.values():
        if value.kind == BOUNDARY and value.data.in_class is None and _is_own_method(value.data, cls):
            value.data.in_class = cls
    frame.names, frame.outer, frame.defining = names, outer_scope, defining
    frame.names[node.name] = made = Value(CLASS, data=cls)
    for decorator in reversed(node.decorator_list):
        _project_decorator(frame, made, decorator)


def _project_decorator(frame: Frame, made: Value, node: ast.expr) -> None:
    """A decorator of the project is called: most put the class into a registry. What it returns is taken for the
    class again."""
    callee = node.func if isinstance(node, ast.Call) else node
    if evaluate(frame, callee).kind == FUNCTION:
        call_value(frame, evaluate(frame, node), Call(node, [made], {}, decorator=True))


def _is_own_method(state: BoundaryState, cls: ClassInfo) -> bool:
    """`@jit def step(self…)` or `step = jit(_step)` in the class body."""
    closure = state.closure
    return closure is not None and closure.function.cls is cls and closure.receiver is None


def _class_statement(frame: Frame, cls: ClassInfo, node: ast.stmt) -> None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        text = annotation_text(node.annotation)
        if not text.startswith(("ClassVar", "typing.ClassVar")):
            if node.target.id not in cls.fields:
                cls.fields.append(node.target.id)
            cls.annotations[node.target.id] = text
            if is_converted(node.value):
                cls.converted.add(node.target.id)
            if is_static_field(node.value):
                cls.static_fields.add(node.target.id)
    handler = STATEMENTS.get(node.__class__)
    if handler is not None:
        handler(frame, node)


def _bases(frame: Frame, cls: ClassInfo, node: ast.ClassDef) -> None:
    cls.bases, cls.unknown_bases = [], []
    for base in node.bases:
        value = evaluate(frame, base)
        if value.kind == CLASS and value.data is not cls:
            cls.bases.append(value.data)
            cls.family = cls.family or value.data.family
            cls.unknown_bases += value.data.unknown_bases
            cls.unsettled |= value.data.unsettled
            cls.dataclass = cls.dataclass or value.data.dataclass
        elif value.kind == API:
            cls.family = cls.family or family_of(value.data)
            if not cls.family and not _is_plain_base(value.data):
                cls.unknown_bases.append(value.data)
        else:
            cls.unknown_bases.append("")
    for keyword in node.keywords:
        evaluate(frame, keyword.value)
    for decorator in node.decorator_list:
        _class_decorator(frame, cls, _callee(frame, decorator), decorator)


def _is_plain_base(dotted: str) -> bool:
    """A base that leaves comparison and hashing alone: `object`, or an abstract class of the standard library."""
    top = dotted.partition(".")[0]
    return dotted == "builtins.object" or (top in sys.stdlib_module_names and top != "builtins")


def _callee(frame: Frame, node: ast.expr) -> Value:
    """A class decorator, the callee where it is called with options."""
    if isinstance(node, ast.Call):
        callee = evaluate(frame, node.func)
        if callee.kind == API and category(callee.data)[0] == "partial" and node.args:
            return evaluate(frame, node.args[0])
        return callee
    return evaluate(frame, node)


def _class_decorator(frame: Frame, cls: ClassInfo, decorator: Value, node: ast.expr) -> None:
    if decorator.kind != API:
        return
    dotted = decorator.data
    if dotted in DECORATORS:
        note_registration(cls, node)
        cls.family = cls.family or DECORATORS[dotted]
        cls.dataclass = True
    if dotted in DATACLASSES:
        cls.dataclass = True
        cls.frozen |= dotted.endswith("frozen")
        options = node.keywords if isinstance(node, ast.Call) else []
        for keyword in options:
            if isinstance(keyword.value, ast.Constant):
                flag = bool(keyword.value.value)
                if keyword.arg in ("frozen", "unsafe_hash"):
                    cls.frozen |= flag
                elif keyword.arg == "eq":
                    cls.eq = flag
