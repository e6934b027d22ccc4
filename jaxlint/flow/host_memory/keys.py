"""What the key of a cache is made of, and whether an entry is an executable: by syntax, names followed."""

from __future__ import annotations

import ast

from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import own_nodes, walk
from jaxlint.pattern import pattern

_DEPTH = 3
_ATTRIBUTES = {
    "shape": "shape",
    "size": "shape",
    "nbytes": "shape",
    "tobytes": "content",
    "hexdigest": "content",
}
_CALLS = {"id": "id", "len": "shape", "hash": "content"}
_BUCKETS = pattern(r"bucket|pad|round|ceil|next_pow|power_of|bit_length|bisect|quanti[sz]e|snap")


class Key:
    """Words for what a key is made of: "shape", "id", "content" and "bucket" (few values by construction)."""

    def __init__(self, module: LoadedModule, scope: ast.AST, node: ast.expr) -> None:
        self._module = module
        self.words: set[str] = set()
        self._follow(node, Bindings(scope), _DEPTH)

    def _follow(self, node: ast.AST, bindings: Bindings, depth: int) -> None:
        for part in walk(node):
            if isinstance(part, ast.Attribute):
                self._named(part.attr, _ATTRIBUTES)
            elif isinstance(part, ast.Call):
                self._called(part, depth)
            elif isinstance(part, ast.BinOp) and isinstance(part.op, (ast.FloorDiv, ast.LShift)):
                self.words.add("bucket")
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and depth:
                for value in bindings.of(part.id):
                    self._follow(value, bindings, depth - 1)

    def _named(self, name: str, words: dict[str, str]) -> None:
        if name in words:
            self.words.add(words[name])
        elif _BUCKETS.search(name.lower()):
            self.words.add("bucket")

    def _called(self, call: ast.Call, depth: int) -> None:
        callee = call.func
        if isinstance(callee, ast.Name):
            self._named(callee.id, _CALLS)
            if callee.id in ("min", "max", "next") and any(
                isinstance(a, ast.GeneratorExp) for a in call.args
            ):
                self.words.add("bucket")  # the smallest size that fits
        for function in _functions(self._module, _called_name(call)) if depth else ():
            bindings = Bindings(function)
            for value in _returns(function):
                self._follow(value, bindings, depth - 1)


def is_executable(module: LoadedModule, scope: ast.AST, node: ast.expr | None, depth: int = _DEPTH) -> bool:
    """`….lower(…).compile()`, perhaps under a name or returned by a function of the module."""
    if isinstance(node, ast.Name) and depth:
        return any(is_executable(module, scope, value, depth - 1) for value in Bindings(scope).of(node.id))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
        return _is_lowered(scope, node.func.value)
    return bool(depth) and any(
        is_executable(module, function, value, depth - 1)
        for function in _functions(module, _called_name(node))
        for value in _returns(function)
    )


def _is_lowered(scope: ast.AST, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return any(_is_lowered(scope, v) for v in Bindings(scope).of(node.id) if not isinstance(v, ast.Name))
    return isinstance(node, ast.Call) and _called_name(node) == "lower" and bool(node.args or node.keywords)


def _called_name(call: ast.Call) -> str:
    callee = call.func
    if isinstance(callee, ast.Attribute):
        return callee.attr
    return callee.id if isinstance(callee, ast.Name) else ""


def _functions(module: LoadedModule, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of the module with that name."""
    named = [function.node for function in module.functions.values() if name and function.name == name]
    return [node for node in named if not isinstance(node, ast.Lambda)]


def _returns(function: ast.AST) -> list[ast.expr]:
    found = (node.value for node in own_nodes(function) if isinstance(node, ast.Return))
    return [value for value in found if value is not None]
