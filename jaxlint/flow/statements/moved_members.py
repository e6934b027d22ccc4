"""Counters that a loop keeps in an object or a dict: `schedule.tick()` moves `schedule.t`, `state["step"] += 1`.

A loop carries names (flow.loops); what is in an object or a dict is carried with it. Whether a round moves it is
told by the syntax of the body, and of the methods that it calls.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from jaxlint.flow.domain.kinds import INSTANCE, SCALAR, TREE
from jaxlint.flow.domain.origin_words import ACCUMULATOR
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value, is_number
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.index.walking import LoopNode, walk
from jaxlint.index.written_names import dotted_name

_OF_NUMBERS = frozenset({"min", "max", "int", "float", "round", "abs"})  # their results are numbers
_BOUNDED = (ast.Mod, ast.FloorDiv)


Moved = list[tuple[dict[Any, Value], Any]]


class _Called(NamedTuple):
    """`owner.method(…)`; `numbers`: all that it is given."""

    owner: str
    method: str
    numbers: bool


class _Step(NamedTuple):
    """`owner["key"] op= operand`, or `self.field op= operand`."""

    owner: str
    key: object
    operand: ast.expr


def move_members(frame: Frame, loop: LoopNode) -> Moved:
    """Numbers that the rounds of a loop move on become new in each; where they are kept, for `settle_members`."""
    if frame.level:
        return []
    known = loop.__dict__.get("moving")
    if known is None:
        known = loop.__dict__["moving"] = _candidates(loop)  # once for each tree
    moved: Moved = []
    for found in known:
        owner = _held(frame, found.owner)
        if owner is None:
            continue
        if isinstance(found, _Called):
            if owner.kind == INSTANCE:
                _move_fields(frame, loop, owner, found, moved)
        elif owner.kind == TREE and owner.data.__class__ is dict and _is_number(found.operand, frame.names):
            _move(frame, loop, owner.data, found.key, moved)
    return moved


def settle_members(moved: Moved) -> None:
    """Behind the loop each of them has one value."""
    for members, key in moved:
        value = members.get(key)
        if value is not None and value.varies >= PER_ITERATION:
            members[key] = value.but(varies=PER_CALL)


def _move(frame: Frame, loop: LoopNode, members: dict[Any, Value], key: Any, moved: Moved) -> None:
    value = members.get(key)
    if value is None or not is_number(value) or isinstance(value.data, bool):
        return
    members[key] = Value(SCALAR, PER_ITERATION, 0, None, None, Origin(frame.module, loop, ACCUMULATOR))
    moved.append((members, key))


def _move_fields(frame: Frame, loop: LoopNode, owner: Value, called: _Called, moved: Moved) -> None:
    method = owner.data.cls.lookup(called.method)
    if (
        method is None
        or method.name in CONSTRUCTORS
        or isinstance(method.node, ast.Lambda)
        or not method.params
    ):
        return
    own = method.params[0]
    numbers = {f"{own}.{name}": value for name, value in owner.data.fields.items()}
    if called.numbers:
        numbers.update(dict.fromkeys(method.params[1:], _ANY_NUMBER))
    for node in walk(method.node):
        step = _step(node)
        if step is None or step.owner != own or not _is_attribute(node) or _is_set_back(method.node, step):
            continue
        if _is_number(step.operand, numbers):
            _move(frame, loop, owner.data.fields, step.key, moved)


_ANY_NUMBER = Value(SCALAR)


def _held(frame: Frame, owner: str) -> Value | None:
    """What a name, or a field of an object, holds."""
    value = frame.names.get(owner)
    if value is not None or "." not in owner:
        return value
    base, _, field = owner.partition(".")
    held = frame.names.get(base)
    if held is None or held.kind != INSTANCE or "." in field:
        return None
    found: Value | None = held.data.fields.get(field)
    return found


def _candidates(loop: LoopNode) -> list[_Called | _Step]:
    found: list[_Called | _Step] = []
    for node in walk(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = dotted_name(node.func.value)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if owner is not None:
                found.append(_Called(owner, node.func.attr, all(isinstance(g, ast.Constant) for g in given)))
        elif not _is_attribute(node) and (step := _step(node)) is not None and not _is_set_back(loop, step):
            found.append(step)
    return found


def _is_attribute(node: ast.AST) -> bool:
    target = _target(node)
    return isinstance(target, ast.Attribute)


def _target(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.AugAssign):
        return node.target
    return node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None


def _step(node: ast.AST) -> _Step | None:
    """`x[key] += 1`, `self.x = self.x * 0.9`: a value that is made of the one before."""
    target = _target(node)
    if not isinstance(target, (ast.Attribute, ast.Subscript)) or not isinstance(
        node, (ast.AugAssign, ast.Assign)
    ):
        return None
    owner = dotted_name(target.value)
    key = target.attr if isinstance(target, ast.Attribute) else _constant(target.slice)
    if owner is None or key is None or any(isinstance(n, _BOUNDED) for n in _operators(node)):
        return None
    if isinstance(node, ast.Assign):
        if isinstance(node.value, ast.Call) and any(isinstance(a, ast.Constant) for a in node.value.args):
            return None  # `min(x.n + 1, 8)`
        kept = ast.dump(target).replace("Store()", "Load()")
        if not any(type(n) is type(target) and ast.dump(n) == kept for n in walk(node.value)):
            return None
    return _Step(owner, key, node.value)


def _is_set_back(scope: ast.AST, step: _Step) -> bool:
    """`if x.n == 4: x.n = 0`: it takes few values."""
    for test in (n for n in walk(scope) if isinstance(n, ast.If)):
        compared = test.test
        if not isinstance(compared, ast.Compare) or not isinstance(compared.comparators[0], ast.Constant):
            continue
        if _is_member(compared.left, step) and any(
            isinstance(n, ast.Assign) and _is_member(n.targets[0], step) for n in test.body
        ):
            return True
    return False


def _is_member(node: ast.AST, step: _Step) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == step.key and dotted_name(node.value) == step.owner
    return isinstance(node, ast.Subscript) and _constant(node.slice) == step.key


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _operators(node: ast.AugAssign | ast.Assign) -> list[ast.operator]:
    own = [node.op] if isinstance(node, ast.AugAssign) else []
    return own + [n.op for n in walk(node.value) if isinstance(n, ast.BinOp)]


def _is_number(node: ast.expr, numbers: dict[str, Value]) -> bool:
    """Whether an expression is made of numbers alone."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, (ast.Name, ast.Attribute)):
        value = numbers.get(dotted_name(node) or "")
        return value is not None and is_number(value)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left, numbers) and _is_number(node.right, numbers)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand, numbers)
    if isinstance(node, ast.Call):
        name = dotted_name(node.func) or ""
        return name == "len" or (name in _OF_NUMBERS and all(_is_number(a, numbers) for a in node.args))
    return isinstance(node, ast.Subscript)  # the member itself, see `_step`
