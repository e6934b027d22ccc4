"""Products of queries and keys, by their syntax."""

from __future__ import annotations

import ast

from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.written_names import last_name
from jaxlint.pattern import pattern

_PRODUCTS = frozenset({"einsum", "matmul", "dot", "dot_general", "tensordot", "_einsum"})
_TRANSPOSES = frozenset({"T", "mT", "swapaxes", "transpose", "moveaxis", "matrix_transpose", "rearrange"})
# What takes part in a soft choice that is no attention.
_NO_KEYS = pattern(r"weight|kernel|embed|centroid|center|codebook|prototype|expert|gate|cluster|(^|_)w\d*$")


def is_product(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and last_name(node.func) in _PRODUCTS and len(node.args) >= 2


def operands(product: ast.expr) -> tuple[list[ast.expr], str]:
    """The factors of a product and its einsum subscripts, "" for another product."""
    if isinstance(product, ast.BinOp):
        return [product.left, product.right], ""
    assert isinstance(product, ast.Call)
    texts = [a for a in product.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    factors = [a for a in product.args if a not in texts]
    return factors[:2], str(texts[0].value).replace(" ", "") if texts else ""


def is_square(product: ast.expr, axis: int, bindings: Bindings) -> bool:
    """Every query against every key: each factor brings an axis of its own, the softmax runs over the second's."""
    factors, subscripts = operands(product)
    if len(factors) != 2 or any(map(takes_no_keys, factors)):
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
    if axis == 1 and isinstance(factors[1], ast.Attribute) and factors[1].attr == "T":
        return True  # of two axes
    return axis == -1 and _is_transposed(factors[1], bindings, 2)


def takes_no_keys(factor: ast.expr) -> bool:
    """A factor has the name of something else than queries, keys and values."""
    return bool(_NO_KEYS.search(_name_of(factor).lower()))


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
