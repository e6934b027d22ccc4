"""Attention written out: softmax over a product of queries and keys, then a product with the values. Looked for
around each softmax, by syntax, when the run is over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.facts import Attention
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import last_name
from jaxlint.pattern import pattern

_DEPTH = 6
_PRODUCTS = frozenset({"einsum", "matmul", "dot", "dot_general", "tensordot", "_einsum"})
_TRANSPOSES = frozenset({"T", "mT", "swapaxes", "transpose", "moveaxis", "matrix_transpose", "rearrange"})
# A branch for a fused or blockwise form is there already, or the scores are no full square.
_ANSWERED = pattern(
    r"flash|cudnn|splash|pallas|dot_product_attention|memory_efficient|chunk|block_?(size|len|q|k)|window|online|sparse|decode|cache"
)
# What takes part in a soft choice that is no attention.
_NO_KEYS = pattern(r"weight|kernel|embed|centroid|center|codebook|prototype|expert|gate|cluster|(^|_)w\d*$")
_LOOPS = frozenset({"scan", "map", "fori_loop", "while_loop", "associative_scan"})


class PendingSoftmax(PendingFact):
    """A softmax; whether attention is written around it is looked up at the end."""

    __slots__ = ("by_hand", "frame", "node", "proof")

    def __init__(self, frame: Frame, node: ast.Call, by_hand: bool) -> None:
        self.frame = frame
        self.node = node
        self.by_hand = by_hand
        self.proof = frame.proof()

    def fact(self) -> Attention | None:
        frame, node, scope = self.frame, self.node, scope_of(self.frame)
        axis = _axis(node)
        if axis is None or not node.args:
            return None
        scores = next(_products(node.args[0], bindings_of(frame), _DEPTH), None)
        if scores is None or not _is_square(scores, axis, bindings_of(frame)):
            return None
        if _is_answered(scope) or self._is_body_of_loop() or (self.by_hand and not _is_normalised(scope)):
            return None
        output = _use_with_values(scope, node, axis)
        if output is None:
            return None
        place = frame.place
        return Attention(place(node), frame.symbol, self.proof, scores=place(scores), output=place(output))

    def _is_body_of_loop(self) -> bool:
        """The function is handed to a scan or map: it works on one block at a time."""
        function = self.frame.function
        if function is None or function.parent is None:
            return False
        for node in walk(function.parent.node):
            looped = node.args if isinstance(node, ast.Call) and last_name(node.func) in _LOOPS else ()
            if any(isinstance(a, ast.Name) and a.id == function.name for a in looped):
                return True
        return function.is_lambda


def note_softmax(frame: Frame, call: Call, by_hand: bool = False) -> None:
    """`jax.nn.softmax(…)`, or `jnp.exp(…)` that may be one written out."""
    if not frame.quiet and isinstance(call.node, ast.Call):
        frame.log.append(PendingSoftmax(frame, call.node, by_hand))


def _is_normalised(scope: ast.AST) -> bool:
    """Something is divided by a sum along an axis."""
    divided = (n.right for n in walk(scope) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div))
    return any(
        isinstance(n, ast.Call) and last_name(n.func) == "sum" for right in divided for n in walk(right)
    )


def _axis(node: ast.Call) -> int | None:
    """The axis, the last by default; None when it is not in view."""
    given = [k.value for k in node.keywords if k.arg == "axis"] or node.args[1:2]
    if not given:
        return -1
    try:
        axis = ast.literal_eval(given[0])
    except ValueError:
        return None
    return axis if isinstance(axis, int) else None


def _is_answered(scope: ast.AST) -> bool:
    for node in walk(scope):
        word = last_name(node) or (node.arg if isinstance(node, (ast.arg, ast.keyword)) else "")
        if word and _ANSWERED.search(word.lower()):
            return True
    return isinstance(scope, ast.FunctionDef) and bool(_ANSWERED.search(scope.name.lower()))


def _products(node: ast.expr, bindings: Bindings, depth: int) -> Iterator[ast.expr]:
    """The products that an expression comes from through scaling, masking, biases and casts."""
    if _is_product(node):
        yield node
        return
    inner: list[ast.expr] = []
    if isinstance(node, ast.Name) and depth:
        inner = bindings.of(node.id)
    elif isinstance(node, ast.BinOp):
        inner = [node.left, node.right]
    elif isinstance(node, ast.IfExp):
        inner = [node.body, node.orelse]
    elif isinstance(node, ast.Call):
        inner = [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args]
    for part in inner:
        if depth and not isinstance(part, ast.Constant):
            yield from _products(part, bindings, depth - 1)


def _is_product(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and last_name(node.func) in _PRODUCTS and len(node.args) >= 2


def _operands(product: ast.expr) -> tuple[list[ast.expr], str]:
    """The factors of a product and its einsum subscripts, "" for another product."""
    if isinstance(product, ast.BinOp):
        return [product.left, product.right], ""
    assert isinstance(product, ast.Call)
    texts = [a for a in product.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    factors = [a for a in product.args if a not in texts]
    return factors[:2], str(texts[0].value).replace(" ", "") if texts else ""


def _is_square(product: ast.expr, axis: int, bindings: Bindings) -> bool:
    """Every query against every key: each factor brings an axis of its own, the softmax runs over the second's."""
    factors, subscripts = _operands(product)
    if len(factors) != 2 or any(_NO_KEYS.search(_name_of(f).lower()) for f in factors):
        return False
    if isinstance(product, ast.Call) and last_name(product.func).endswith("einsum"):
        inputs, arrow, output = subscripts.partition("->")
        first, comma, second = inputs.partition(",")
        letters = output.replace("...", "")
        if not arrow or not comma or "," in second or not letters or abs(axis) > len(letters):
            return False
        own = (set(first) - set(second)) & set(letters), (set(second) - set(first)) & set(letters)
        contracted = (set(first) & set(second)) - set(letters) - {"."}
        return bool(contracted and own[0] and own[1]) and letters[axis] in own[0] | own[1]
    if isinstance(product, ast.Call) and last_name(product.func) in ("dot_general", "tensordot"):
        return axis == -1
    return axis == -1 and _is_transposed(factors[1], bindings, 2)


def _name_of(node: ast.expr) -> str:
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and node.attr not in _TRANSPOSES:
            return node.attr
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            node = node.args[0] if node.args else node.func
        elif isinstance(node, ast.Call):
            is_module = isinstance(node.func, ast.Attribute) and node.func.attr in _TRANSPOSES and node.args
            receiver = node.func.value  # type: ignore[attr-defined]  # a method, see above
            node = node.args[0] if is_module and last_name(receiver) in ("jnp", "np", "lax") else receiver
        else:
            node = node.value
    return last_name(node)


def _is_transposed(node: ast.expr, bindings: Bindings, depth: int) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _TRANSPOSES
    if isinstance(node, ast.Call):
        return last_name(node.func) in _TRANSPOSES
    return (
        isinstance(node, ast.Name)
        and depth > 0
        and any(_is_transposed(value, bindings, depth - 1) for value in bindings.of(node.id))
    )


def _use_with_values(scope: ast.AST, softmax: ast.Call, axis: int) -> ast.expr | None:
    """The product that contracts the weights' softmax axis with the values."""
    names: set[str] = set()
    for node in own_nodes(scope):
        if (
            isinstance(node, ast.Assign)
            and _carries(node.value, softmax, names)
            and not _product_in(node.value)
        ):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    for node in own_nodes(scope):
        if isinstance(node, ast.expr) and _is_product(node):
            factors, subscripts = _operands(node)
            for position, factor in enumerate(factors):
                if not _carries(factor, softmax, names) or any(
                    _is_product(n) for n in _above(factor, softmax)
                ):
                    continue
                if not subscripts:
                    return node if position == 0 or isinstance(node, ast.Call) else None
                terms, _, output = subscripts.partition("->")
                own = terms.split(",")[position].replace("...", "") if position < terms.count(",") + 1 else ""
                if own and abs(axis) <= len(own) and own[axis] not in output:
                    return node
    return None


def _product_in(node: ast.expr) -> bool:
    """A product outermost: what is assigned is the output, not the weights."""
    return _is_product(node)


def _carries(node: ast.AST, softmax: ast.Call, names: set[str]) -> bool:
    """The expression is the softmax, or comes from it by name."""
    return any(n is softmax or (isinstance(n, ast.Name) and n.id in names) for n in walk(node))


def _above(factor: ast.expr, softmax: ast.Call) -> Iterator[ast.expr]:
    """The expressions in a factor that lie around the softmax."""
    for node in walk(factor):
        if isinstance(node, ast.expr) and node is not softmax and any(n is softmax for n in walk(node)):
            yield node
