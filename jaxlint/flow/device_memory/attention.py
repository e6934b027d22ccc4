"""Attention written out: softmax over a product of queries and keys, then a product with the values. Looked for
around each softmax, by syntax, when the run is over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.device_memory.attention_helpers import (
    Inside,
    callee_of,
    calls_to,
    frame_of,
    is_body_of_loop,
    taken_as,
)
from jaxlint.flow.device_memory.attention_products import is_product, is_square, operands, takes_no_keys
from jaxlint.flow.device_memory.attention_softmax import axis_by_hand, axis_of
from jaxlint.flow.facts import Attention
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import bindings_of, scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import last_name
from jaxlint.pattern import pattern

_DEPTH = 8
# A branch for a fused or blockwise form is there already, or the scores are no full square.
_ANSWERED = pattern(
    r"flash|cudnn|splash|pallas|dot_product_attention|memory_efficient|chunk|block_?(size|len|q|k)|window|online|sparse|decode|cache"
)
_HELPERS = 2


class PendingSoftmax(PendingFact):
    """A softmax; whether attention is written around it is looked up at the end."""

    __slots__ = ("by_hand", "frame", "node", "proof")

    def __init__(self, frame: Frame, node: ast.Call, by_hand: bool) -> None:
        self.frame = frame
        self.node = node
        self.by_hand = by_hand
        self.proof = frame.proof()

    def fact(self) -> Attention | None:
        frame, node = self.frame, self.node
        axis = axis_by_hand(Inside(frame), node) if self.by_hand else axis_of(node)
        if axis is None or not node.args:
            return None
        found = next(_products(node.args[0], Inside(frame), _DEPTH), None)
        if found is None or _is_answered(scope_of(frame)) or _is_in_loop(frame):
            return None
        scores, where = found
        if not is_square(scores, axis, bindings_of(where.frame)) or any(
            map(takes_no_keys, where.given(scores))
        ):
            return None
        output = _use_with_values(frame, node, set(), axis, _HELPERS)
        ways = [place.frame for place in (where, output) if place is not None and place.frame is not frame]
        if output is None or any(_is_answered(scope_of(way)) or _is_in_loop(way) for way in ways):
            return None
        return Attention(
            frame.place(node),
            frame.symbol,
            self.proof,
            scores=where.frame.place(scores),
            output=output.frame.place(output.node),
        )


def _is_in_loop(frame: Frame) -> bool:
    """On one block at a time; a lambda is taken to be one for a loop."""
    function = frame.function
    is_lambda = function is not None and function.is_lambda and function.parent is not None
    return is_lambda or is_body_of_loop(frame)


def note_softmax(frame: Frame, call: Call, by_hand: bool = False) -> None:
    """`jax.nn.softmax(…)`, or `jnp.exp(…)` that may be one written out."""
    if not frame.quiet and isinstance(call.node, ast.Call):
        frame.log.append(PendingSoftmax(frame, call.node, by_hand))


def _is_answered(scope: ast.AST) -> bool:
    for node in walk(scope):
        word = last_name(node) or (node.arg if isinstance(node, (ast.arg, ast.keyword)) else "")
        if word and _ANSWERED.search(word.lower()):
            return True
    return isinstance(scope, ast.FunctionDef) and bool(_ANSWERED.search(scope.name.lower()))


def _products(node: ast.expr, inside: Inside, depth: int) -> Iterator[tuple[ast.expr, Inside]]:
    """The products that an expression comes from through scaling, masking, biases, casts and helpers."""
    if is_product(node):
        yield node, inside
        return
    inner = [(part, inside) for part in _made_of(node, inside)]
    if isinstance(node, ast.Name) and depth and not inner:
        inner = inside.passed(node.id)
    elif isinstance(node, ast.Call) and depth:
        inner = [*inside.returned(node), *inner]
    for part, where in inner:
        if depth and not isinstance(part, ast.Constant):
            yield from _products(part, where, depth - 1)


def _made_of(node: ast.expr, inside: Inside) -> list[ast.expr]:
    if isinstance(node, ast.Name):
        bound = bindings_of(inside.frame).of(node.id)
        own = [value for value in bound if any(part is node for part in walk(value))]  # `x = mask(x)`
        return [v for v in bound if v not in own and v.lineno < node.lineno] if own else bound
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Call):
        return [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args]
    return []


class Use(NamedTuple):
    """A product with the values, and where it stands."""

    node: ast.expr
    frame: Frame


def _use_with_values(
    frame: Frame, weights: ast.expr | None, names: set[str], axis: int, helpers: int
) -> Use | None:
    """The product that contracts the weights' softmax axis with the values: here, in a function that is given the
    weights, or where this one returns them to."""
    scope = scope_of(frame)
    for node in own_nodes(scope):
        if (
            isinstance(node, ast.Assign)
            and _carries(node.value, weights, names)
            and not is_product(node.value)
        ):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    for node in own_nodes(scope):
        if isinstance(node, ast.expr) and is_product(node):
            contracts = _contracts(node, weights, names, axis)
            if contracts is not None:
                return Use(node, frame) if contracts else None
    for inner, anchor, known in _elsewhere(frame, weights, names) if helpers else ():
        found = _use_with_values(inner, anchor, known, axis, helpers - 1)
        if found is not None:
            return found
    return None


def _contracts(product: ast.expr, weights: ast.expr | None, names: set[str], axis: int) -> bool | None:
    """Whether a product sums over the softmax axis of the weights; None where they are no factor of it."""
    factors, subscripts = operands(product)
    for position, factor in enumerate(factors):
        above = _above(factor, weights) if weights is not None else ()
        if not _carries(factor, weights, names) or any(is_product(n) for n in above):
            continue
        if not subscripts:
            return position == 0 or isinstance(product, ast.Call)
        terms, _, output = subscripts.partition("->")
        own = terms.split(",")[position].replace("...", "") if position < terms.count(",") + 1 else ""
        if own and abs(axis) <= len(own) and own[axis] not in output:
            return True
    return None


def _elsewhere(
    frame: Frame, weights: ast.expr | None, names: set[str]
) -> Iterator[tuple[Frame, ast.expr | None, set[str]]]:
    """The functions that get the weights, by the name of their parameter, and those that this one returns them to,
    by the call."""
    for node in own_nodes(scope_of(frame)):
        if isinstance(node, ast.Call) and node is not weights:
            function = callee_of(frame, node)
            if function is not None:
                for name in taken_as(function, node, lambda given: _carries(given, weights, names)):
                    yield frame_of(frame, function.module, function), None, {name}
        elif isinstance(node, ast.Return) and node.value is not None and _carries(node.value, weights, names):
            yield from ((caller, call, set()) for caller, call in calls_to(frame))


def _carries(node: ast.AST, softmax: ast.expr | None, names: set[str]) -> bool:
    """The expression is the softmax, or comes from it by name."""
    return any(n is softmax or (isinstance(n, ast.Name) and n.id in names) for n in walk(node))


def _above(factor: ast.expr, softmax: ast.expr) -> Iterator[ast.expr]:
    """The expressions in a factor that lie around the softmax."""
    for node in walk(factor):
        if isinstance(node, ast.expr) and node is not softmax and any(n is softmax for n in walk(node)):
            yield node
