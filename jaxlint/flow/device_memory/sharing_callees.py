"""What calls and objects of the project are, by syntax: the function that a call runs, the class of an object, and
what its constructor stores in a field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CLASS, FUNCTION, INSTANCE, LAZY, MODULE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.syntax.last_bindings import last_binding, stored_attribute
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.index.walking import nodes_of, own_nodes
from jaxlint.index.written_names import dotted_name

_BASES = 4  # generations of constructors


class Place(NamedTuple):
    """Where an expression is looked at: its function or module, and what was passed for its parameters."""

    module: LoadedModule
    scope: ast.AST
    before: int  # only bindings above this line count
    passed: dict[str, tuple[ast.expr, Place]]


class Callees:
    """Resolves what is called, and whose fields are read."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def callee(self, node: ast.expr, at: Place) -> tuple[Function | None, bool]:
        """The project's function that is called, or whether a class that only keeps its arguments is."""
        value = self.named(node, at)
        if isinstance(node, ast.Attribute) and value is None:
            return self._method(node.value, node.attr, at), False
        if value is None:
            name = node.id if isinstance(node, ast.Name) else ""
            nested = [f for f in at.module.functions.values() if f.name == name and f.parent is not None]
            return (nested[0], False) if len(nested) == 1 else (None, False)
        if value.kind == FUNCTION and not value.data.transforms:
            return value.data.function, False
        return None, value.kind == CLASS and "__init__" not in value.data.methods

    def _method(self, owner: ast.expr, name: str, at: Place) -> Function | None:
        """A method of a class of the project, or of an object that is made of one in view."""
        found = self._class_method(owner, name, at)
        if found is not None:
            return found
        cls = self.class_of(owner, at)
        method = cls.lookup(name) if cls is not None else None
        if method is None or method.is_classmethod or method.is_static or method.is_property:
            return None
        decorated = method.cls.attributes.get(name) if method.cls is not None else None
        return method if decorated is None else None

    def class_of(self, owner: ast.expr, at: Place, depth: int = 3) -> ClassInfo | None:
        """The class of an object: `self`, `Adam(0.1)`, a name or a field that was bound to such a call."""
        if not depth:
            return None
        if isinstance(owner, ast.Call) and isinstance(owner.func, (ast.Name, ast.Attribute)):
            value = self.named(owner.func, at)
            return value.data if value is not None and value.kind == CLASS else None
        if isinstance(owner, ast.Name):
            function = at.module.functions.get(at.scope)  # type: ignore[call-overload]  # a module is in no table
            if function is not None and function.cls is not None and function.params[:1] == [owner.id]:
                cls: ClassInfo = function.cls
                return cls
            bound = last_binding(at.scope, owner.id, at.before)
            if bound is not None:
                return self.class_of(bound[0], at._replace(before=bound[0].lineno), depth - 1)
            given = at.passed.get(owner.id)
            if given is not None:
                return self.class_of(given[0], given[1], depth - 1)
            value = self.named(owner, at)
            return value.data.cls if value is not None and value.kind == INSTANCE else None
        if isinstance(owner, ast.Attribute):
            stored = self.stored(owner.value, owner.attr, at, depth - 1)
            return self.class_of(*stored, depth - 1) if stored is not None else None
        return None

    def stored(self, owner: ast.expr, key: str, at: Place, depth: int = 3) -> tuple[ast.expr, Place] | None:
        """What was put into a field of an object above here, or else what its constructor, or a method that it
        calls, stores there, if it does so once."""
        whole = f"{dotted_name(owner)}.{key}"
        put = [
            value
            for node in own_nodes(at.scope)
            if isinstance(node, ast.Assign) and (node.value.end_lineno or node.lineno) < at.before
            for target in node.targets
            for part, value in _matched(target, node.value)
            if dotted_name(part) == whole
        ]
        if put:
            return put[-1], at._replace(before=put[-1].lineno)
        is_self = isinstance(owner, ast.Name) and owner.id == "self"
        cls = self.class_of(owner, at, depth)
        if cls is None:
            found = stored_attribute(at.module, key) if is_self else None
            return (found[1], Place(at.module, found[0], found[1].lineno, {})) if found is not None else None
        stored = [
            (value, Place(method.module, method.node, value.lineno, {}))
            for method in _constructing(cls)
            for value in _stores(method, key)
        ]
        return stored[0] if len(stored) == 1 else None

    def named(self, node: ast.expr, at: Place) -> Value | None:
        """What a name of the module stands for, or the member of another module of the project: `losses.start`."""
        if isinstance(node, ast.Attribute):
            owner = self.named(node.value, at)
            if owner is None or owner.kind != MODULE:
                return None
            value: Value | None = self._program.member(owner.data.entry, node.attr)
        elif isinstance(node, ast.Name) and not _is_local(node.id, at):
            value = (at.module.names or {}).get(node.id)
        else:
            return None
        return self._program.force(value) if value is not None and value.kind == LAZY else value

    def _class_method(self, owner: ast.expr, name: str, at: Place) -> Function | None:
        """`State.create(…)`, where the class is the project's."""
        value = self.named(owner, at)
        method = value.data.lookup(name) if value is not None and value.kind == CLASS else None
        return method if method is not None and (method.is_classmethod or method.is_static) else None


def _constructing(cls: ClassInfo) -> Iterator[Function]:
    """The constructors of a class and of those that they call through `super()`, and the methods that they call."""
    behind, depth = [cls], 0
    while behind and depth < _BASES:
        made = [c.methods[n] for c in behind for n in sorted(CONSTRUCTORS) if n in c.methods]
        for function in made:
            yield function
            for node in own_nodes(function.node):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                    continue
                own = isinstance(node.func.value, ast.Name) and node.func.value.id in function.params[:1]
                called = cls.lookup(node.func.attr) if own else None
                if called is not None and called.name not in CONSTRUCTORS:
                    yield called
        behind = [base for c in behind for base in c.bases] if not made or any(map(_asks_super, made)) else []
        depth += 1


def _asks_super(function: Function) -> bool:
    return any(
        isinstance(n.func, ast.Name) and n.func.id == "super" for n in nodes_of(function.node, ast.Call)
    )


def _stores(method: Function, key: str) -> Iterator[ast.expr]:
    """The expressions that a method binds to this field of its object."""
    for node in own_nodes(method.node):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs: list[tuple[ast.expr, ast.expr]] = [(node.target, node.value)]
        elif isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _matched(target, node.value)]
        else:
            continue
        for target, value in pairs:
            if dotted_name(target) in {f"{name}.{key}" for name in method.params[:1]}:
                yield value


def _matched(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`self.a, self.b = x, y`, member by member."""
    displays = isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
    if displays and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]  # both are displays
        return list(zip(target.elts, value.elts, strict=True))  # type: ignore[attr-defined]  # both are displays
    return [(target, value)]


def _is_local(name: str, at: Place) -> bool:
    return name in at.passed or (at.scope is not at.module.tree and is_bound(at, name))


def is_bound(at: Place, name: str) -> bool:
    """Whether the scope binds the name above the line that is looked at."""
    return last_binding(at.scope, name, at.before) is not None
