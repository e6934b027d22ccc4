"""Where the edits that restructure a program find its loops, and what they put in the place of names."""

from __future__ import annotations

import ast
import copy

from mutations.bindings import FUNCTION, stored

COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def replaced(statements: list[ast.stmt], new: dict[str, str]) -> list[ast.stmt]:
    return [_Replace(new).visit(copy.deepcopy(s)) for s in statements]


def scopes(tree: ast.Module) -> list[list[ast.stmt]]:
    """The bodies of the module and of its functions, the undecorated ones."""
    functions = [n for n in ast.walk(tree) if isinstance(n, FUNCTION) and not n.decorator_list]
    return [tree.body, *(f.body for f in functions)]


def first_loop(body: list[ast.stmt]) -> int | None:
    return next((i for i, s in enumerate(body) if isinstance(s, (ast.For, ast.While)) and not s.orelse), None)


def inner(statements: list[ast.stmt]) -> set[str]:
    """What parameters, comprehensions and functions inside of statements bind."""
    names: set[str] = set()
    for node in (n for s in statements for n in ast.walk(s)):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, COMPREHENSION):
            for generator in node.generators:
                names |= stored([generator.target])
        elif isinstance(node, FUNCTION):
            names |= stored(node.body)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
    return names


class _Replace(ast.NodeTransformer):
    """Names become other expressions, given as text."""

    def __init__(self, new: dict[str, str]) -> None:
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._new:
            return node
        replaced = ast.parse(self._new[node.id], mode="eval").body
        replaced.ctx = node.ctx  # type: ignore[attr-defined]  # an attribute or an item: both have one
        return replaced
