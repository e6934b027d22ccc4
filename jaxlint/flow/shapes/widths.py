"""The distance between two index expressions, as a polynomial of what cannot be taken apart further."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of

_DEPTH = 3
Terms = dict[tuple[str, ...], int]  # product of atoms → coefficient; () is the constant


class Width:
    """A sum of products of names and other expressions."""

    __slots__ = ("atoms", "terms")

    def __init__(self, terms: Terms, atoms: dict[str, ast.expr]) -> None:
        self.terms = {product: n for product, n in terms.items() if n}
        self.atoms = atoms

    def nodes(self) -> Iterator[ast.expr]:
        """The expressions it depends on."""
        names = {atom for product in self.terms for atom in product}
        return (self.atoms[name] for name in names)

    def is_name(self, name: str) -> bool:
        """It is this name and nothing else."""
        return self.terms == {(name,): 1}

    def is_product(self, name: str, factor: Width) -> bool:
        """It is this name times the factor."""
        return self.terms == {tuple(sorted((*product, name))): n for product, n in factor.terms.items()}


def width(frame: Frame, lower: ast.expr, upper: ast.expr) -> Width:
    """`upper - lower`, names replaced by what they were bound to where that is one sum or product."""
    atoms: dict[str, ast.expr] = {}
    terms = _sum(_terms(frame, upper, atoms, 0), _terms(frame, lower, atoms, 0), -1)
    return Width(terms, atoms)


def _terms(frame: Frame, node: ast.expr, atoms: dict[str, ast.expr], depth: int) -> Terms:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {(): node.value}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _sum({}, _terms(frame, node.operand, atoms, depth), -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        left, right = (_terms(frame, side, atoms, depth) for side in (node.left, node.right))
        if isinstance(node.op, ast.Mult):
            return _product(left, right)
        return _sum(left, right, 1 if isinstance(node.op, ast.Add) else -1)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "min":  # cut off by the end of the data
        sums = [argument for argument in node.args if isinstance(argument, ast.BinOp)]
        if len(sums) == 1:
            return _terms(frame, sums[0], atoms, depth)
    if isinstance(node, ast.Name):
        bound = bindings_of(frame).of(node.id)
        if len(bound) == 1 and depth < _DEPTH and isinstance(bound[0], (ast.BinOp, ast.Call)):
            inner = _terms(frame, bound[0], atoms, depth + 1)
            if isinstance(bound[0], ast.BinOp) or len(inner) > 1:
                return inner
        atoms[node.id] = node
        return {(node.id,): 1}
    text = ast.dump(node)
    atoms[text] = node
    return {(text,): 1}


def _sum(a: Terms, b: Terms, sign: int) -> Terms:
    return {product: a.get(product, 0) + sign * b.get(product, 0) for product in {**a, **b}}


def _product(a: Terms, b: Terms) -> Terms:
    terms: Terms = {}
    for left, n in a.items():
        for right, m in b.items():
            key = tuple(sorted((*left, *right)))
            terms[key] = terms.get(key, 0) + n * m
    return terms
