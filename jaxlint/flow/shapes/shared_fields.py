"""Fields that are one number for all objects made in a loop, as `width` of `[Layer(width, k) for k in keys]`."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import SCALAR, SHAPE
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.values import PER_CALL
from jaxlint.flow.frame import Call, Frame
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name

_PURE = frozenset({"int", "float", "bool", "len", "min", "max", "abs", "round", "sum"})


def settle(frame: Frame, thing: Instance, init: Function, call: Call) -> None:
    """An object has been made in a loop: what differs from one call of this code to the next does not differ from
    one round to the next, where the constructor makes it of arguments that the loop leaves alone."""
    around = [*(loop.node for loop in frame.loops), *frame.comprehensions]
    differing = [n for n, v in thing.fields.items() if v.varies == PER_CALL and v.kind in (SCALAR, SHAPE)]
    if not differing or not around or call.starred or not isinstance(call.node, ast.Call):
        return
    names = (n for loop in around for n in walk(loop) if isinstance(n, ast.Name))
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    passed = dict(zip(init.params[1:], call.node.args, strict=False))
    passed.update({k.arg: k.value for k in call.node.keywords if k.arg is not None})
    shared = {name for name in (*init.params, *init.keyword_only) if name not in passed}
    shared.update(name for name, node in passed.items() if _is_left_alone(node, bound))
    for name in differing:
        if _made_of(init, f"self.{name}", shared):
            thing.fields[name] = thing.fields[name].but(varies=0)


def _is_left_alone(node: ast.expr, bound: set[str]) -> bool:
    """A name, a number or arithmetic of them, none bound in the loop."""
    parts = list(walk(node))
    if any(isinstance(n, (ast.Call, ast.Subscript, ast.Lambda, ast.NamedExpr)) for n in parts):
        return False
    return bound.isdisjoint(n.id for n in parts if isinstance(n, ast.Name))


def _made_of(init: Function, target: str, shared: set[str], depth: int = 3) -> bool:
    """Whether all that a name of the constructor is ever bound to comes of some of its parameters."""
    values: list[ast.expr | None] = []
    for node in walk(init.node):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        bound = [t for t in targets if isinstance(t, ast.AST)]
        if any(target in map(dotted_name, walk(t)) for t in bound):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or dotted_name(bound[0]) != target:
                return False
            values.append(node.value)
    if target in init.params or target in init.keyword_only:
        if target not in shared:
            return False
    elif not values:
        return False
    return depth > 0 and all(v is not None and _is_pure(init, target, v, shared, depth) for v in values)


def _is_pure(init: Function, target: str, value: ast.expr, shared: set[str], depth: int) -> bool:
    nodes = list(walk(value))
    called = [n.func for n in nodes if isinstance(n, ast.Call)]
    if any(not isinstance(f, ast.Name) or f.id not in _PURE for f in called):
        return False
    names = {n.id for n in nodes if isinstance(n, ast.Name) and n not in called}
    return all(n in shared if n == target else _made_of(init, n, shared, depth - 1) for n in names)
