"""Along the calls of a run: what those who entered a function passed for a parameter, and what a call entered."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import run_by
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import BOUNDARY, CLASS, ONE_OF
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.index.walking import own_nodes

# Transforms that hand arguments on as they are.
_ALIKE = frozenset({"jit", "filter_jit", "checkpoint", "remat", "grad", "value_and_grad"})


def passed_for(frame: Frame, name: str) -> list[tuple[Frame, ast.expr]]:
    """What each call that entered this evaluation passes for a parameter, and the frame in which the call
    stands. None of them where one passes it in a way not in view; calls that leave it out do not count."""
    given = spread_for(frame, name)
    return [] if any(member is not None for _, _, member in given) else [(at, node) for at, node, _ in given]


def spread_for(frame: Frame, name: str) -> list[tuple[Frame, ast.expr, int | None]]:
    """As `passed_for`, with calls that spread their last arguments, `f(x, *pair)`: then it is this member of it."""
    function = frame.function
    if function is None:
        return []
    found: dict[ast.AST, tuple[Frame, ast.expr, int | None]] = {}
    for caller, node in frame.evaluation.entries:
        if node in found:
            continue
        offset = first_position(caller, node, function)
        if offset is None or not isinstance(node, ast.Call):
            return []
        spread = isinstance(node.args[-1], ast.Starred) if node.args else False
        if any(isinstance(a, ast.Starred) for a in node.args[:-1]) or any(
            k.arg is None for k in node.keywords
        ):
            return []
        at = function.index[name] - offset if name in function.index else -1
        word = next((k.value for k in node.keywords if k.arg == name), None)
        if word is None and spread and at >= len(node.args) - 1:
            found[node] = caller, node.args[-1].value, at - len(node.args) + 1  # type: ignore[attr-defined]  # starred
            continue
        given = word or (node.args[at] if 0 <= at < len(node.args) else None)
        if given is not None:
            found[node] = caller, given, None
    return list(found.values())


def rest_for(frame: Frame, name: str) -> list[tuple[Frame, list[ast.expr]]]:
    """What each call that entered this evaluation passes for `*args` or `**kwargs`, and the frame in which the call
    stands. None of them where one spreads what it passes."""
    function = frame.function
    rest = [function.args.vararg, function.args.kwarg] if function is not None else []
    if function is None or name not in [each.arg for each in rest if each is not None]:
        return []
    found: dict[ast.AST, tuple[Frame, list[ast.expr]]] = {}
    for caller, node in frame.evaluation.entries:
        offset = first_position(caller, node, function)
        if offset is None or not isinstance(node, ast.Call):
            return []
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return []
        named = {*function.index, *function.keyword_only}
        words = [k.value for k in node.keywords if k.arg not in named]
        by_position = rest[0] is not None and rest[0].arg == name
        found[node] = caller, node.args[len(function.index) - offset :] if by_position else words
    return list(found.values())


def called_at(frame: Frame, node: ast.Call) -> list[Evaluation]:
    """The evaluations that a call entered."""
    return [e.evaluation for e in frame.evaluation.log if isinstance(e, Called) and e.node is node]


def entered_by(frame: Frame, node: ast.Call) -> list[Frame]:
    """The runs of what a call itself calls: not of what it maps or scans."""
    runs = [e.frame for e in called_at(frame, node) if e.frame is not None]
    return [
        at for at in runs if at.function is not None and first_position(frame, node, at.function) is not None
    ]


def returned_by(frame: Frame) -> list[ast.expr]:
    """What a function that has been run returns."""
    own = own_nodes(scope_of(frame))
    return [n.value for n in own if isinstance(n, ast.Return) and n.value is not None]


def first_position(caller: Frame, node: ast.AST, function: Function) -> int | None:
    """The parameter that the first argument of a call binds; None where it is not the function that is called,
    or gets its arguments changed."""
    if not isinstance(node, ast.Call):
        return None
    callee = look(caller, node.func)
    for each in callee.data if callee.kind == ONE_OF else [callee]:
        if each.kind == CLASS and each.data.lookup("__init__") is function:
            return 1
        closure = each.data.closure if each.kind == BOUNDARY else run_by(each, node)
        if closure is None or closure.function is not function or closure.dropped or closure.applied:
            continue
        if not all(name in _ALIKE for _, name in closure.transforms):
            continue
        bound_method = each.kind == BOUNDARY and function.is_method and isinstance(node.func, ast.Attribute)
        return max(closure.offset, int(bound_method)) + len(closure.bound)
    return None
