"""Whether a function that is jitted once reads, in its only trace, what it would read in every later one."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlint.context import Context

# Libraries whose functions change nothing that they are given, and answer the same each time.
_PURE = frozenset({"jax", "numpy", "math", "optax", "equinox", "flax", "functools", "operator", "chex"})
_IMPURE_PARTS = ("numpy.random", "numpy.copyto", "numpy.put", "numpy.fill_diagonal")
_TRANSFORMS = frozenset({"jit", "grad", "value_and_grad", "vmap"})  # what of nnx changes no module
# Built-in functions that move on, or change, what they are given, or read what is not in view.
_IMPURE = frozenset(
    ["next", "setattr", "delattr", "exec", "eval", "input", "open", "vars", "globals", "locals"]
)
_COLLECTING = frozenset({"append", "extend", "add", "insert"})  # into what is collected
_METHODS = """
sum mean item astype reshape max min block_until_ready copy items keys values get format join split strip tolist
lower compile any all
"""
_READING = frozenset(_METHODS.split())


def unchanging(code: str, loop: str | None, ctx: Context) -> bool:
    """Whether the file shows that nothing which a jitted function reads is changed, in a loop or, with None,
    anywhere. `code` is the source of the jit call or of the decorated function."""
    jit = _parsed(code)
    around = ctx.focus.tree if loop is None else _parsed(loop)
    if jit is None or around is None:
        return False
    file = _File(ctx)
    parts = [jit, *file.reached([jit])]
    if not all(file.answers_same(call, part) for part in parts for call in _calls(part)):
        return False
    state = {name for part in parts for name in _free(part)} - file.constant
    if state & file.rebound or file.ambiguous & {name for part in parts for name in _free(part)}:
        return False
    deep = any(_root(node) in state for part in parts for node in ast.walk(part) if isinstance(node, _PARTS))
    if not state:
        return True
    if loop is not None and not file.keeps_to_itself(around, parts, state, deep):
        return False
    same = ast.dump(jit)
    own = {id(n) for node in ast.walk(around) if ast.dump(node) == same for n in ast.walk(node)}
    names = _bound_to(around, same)
    outer = (
        c for c in _calls(around) if id(c) not in own and id(c.func) not in own and _root(c.func) not in names
    )
    if loop is None:  # code that never touches the state is of no interest
        outer = (c for c in outer if state & _names(c) and _root(c.func) not in _functions(ctx.focus.tree))
    return all(file.leaves(call, state, deep) for call in outer) and file.stores_elsewhere(around, state)


_PARTS = (ast.Attribute, ast.Subscript)
_DISPLAYS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
_GOES_THROUGH = frozenset({"enumerate", "zip", "reversed", "sorted", "list", "tuple", "set"})
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)


class _File:
    """What the file says of its names."""

    def __init__(self, ctx: Context) -> None:
        tree = ctx.focus.tree
        self.functions = _functions(tree)
        defined = Counter(n.name for n in ast.walk(tree) if isinstance(n, _DEFINED))
        self.ambiguous = {name for name, times in defined.items() if times > 1}
        self.libraries = {spelled: name for name, spelled in ctx.aliases.items()}
        nodes = list(ast.walk(tree))
        self.rebound = {
            n for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for n in node.names
        }
        self.given: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target, value in _pairs(node):
                    self.given.setdefault(ast.unparse(target), []).append(value)
        self.properties = {
            n.name
            for n in nodes
            if isinstance(n, _DEFINED) and any("property" in ast.unparse(d) for d in n.decorator_list)
        }
        self.bound = Counter(
            n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        )
        self.bound.update(n.arg for n in nodes if isinstance(n, ast.arg))
        roots = {spelled.partition(".")[0] for spelled in self.libraries}
        self.constant = {*roots, *vars(builtins), *self.functions}

    def keeps_to_itself(self, loop: ast.AST, parts: list[ast.AST], state: set[str], deep: bool) -> bool:
        """Whether no other code runs between the rounds of a loop that may write into what is read: whoever takes
        what is yielded, what a loop goes through, or a property that is read."""
        leaves = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
        iterables = [n.iter for n in ast.walk(loop) if isinstance(n, (ast.For, ast.comprehension))]
        read = {n.attr for part in parts for n in ast.walk(part) if isinstance(n, ast.Attribute)}
        return (
            not any(isinstance(node, leaves) for node in ast.walk(loop))
            and not read & self.properties
            and (not deep or all(map(self._is_plain, iterables)))
        )

    def _is_plain(self, iterable: ast.expr, lazy: bool = True) -> bool:
        """Whether going through something runs no code of the user's. `lazy`: a generator expression is part of the
        loop, whose calls are looked at."""
        if isinstance(iterable, _DISPLAYS):
            return True
        if isinstance(iterable, ast.GeneratorExp):
            return lazy
        if isinstance(iterable, ast.BinOp) and isinstance(iterable.op, ast.Mult):
            return isinstance(iterable.left, _DISPLAYS)  # `[x] * 3`
        if isinstance(iterable, ast.Subscript):
            return self._is_plain(iterable.value, lazy)
        if isinstance(iterable, ast.Call):
            function = iterable.func
            if isinstance(function, ast.Attribute) and function.attr in ("items", "keys", "values"):
                return self._is_plain(function.value, lazy)
            through = isinstance(function, ast.Name) and function.id in _GOES_THROUGH
            if through:
                return all(self._is_plain(argument, lazy) for argument in iterable.args)
            return self.is_library(function) or (isinstance(function, ast.Name) and function.id == "range")
        if not isinstance(iterable, ast.Name):
            return False
        values = self.given.get(iterable.id, [])
        return 0 < len(values) == self.bound[iterable.id] and all(
            not _names(value) & {iterable.id} and self._is_plain(value, lazy=False) for value in values
        )

    def reached(self, parts: list[ast.AST]) -> list[ast.AST]:
        """The functions of the file that some code names, and those that they name."""
        found: list[ast.AST] = []
        waiting = [*parts]
        while waiting:
            for name in _free(waiting.pop()):
                function = self.functions.get(name)
                if function is not None and function not in found:
                    found.append(function)
                    waiting.append(function)
        return found

    def is_library(self, function: ast.expr) -> bool:
        spelled = ast.unparse(function)
        head = next(
            (s for s in sorted(self.libraries, key=len, reverse=True) if f"{spelled}.".startswith(f"{s}.")),
            "",
        )
        dotted = self.libraries.get(head, "") + spelled[len(head) :] if head else ""
        if dotted.startswith("flax.nnx"):
            return dotted.rpartition(".")[2] in _TRANSFORMS
        return dotted.partition(".")[0] in _PURE and not dotted.startswith(_IMPURE_PARTS)

    def answers_same(self, call: ast.Call, part: ast.AST) -> bool:
        """Whether a call in jitted code is of a library, of this file or of what is its own."""
        root = _root(call.func)
        if self.is_library(call.func) or root not in _free(part):
            return True
        if not isinstance(call.func, ast.Name):
            return call.func.attr in _READING if isinstance(call.func, ast.Attribute) else False
        return root in self.functions or (hasattr(builtins, root) and root not in _IMPURE)

    def leaves(self, call: ast.Call, state: set[str], deep: bool) -> bool:
        """Whether a call around the jitted code cannot change what that reads."""
        function = call.func
        root = _root(function)
        if self.is_library(function) or (hasattr(builtins, root) and root not in _IMPURE):
            return True
        if isinstance(function, ast.Name) and root in self.functions:
            return self._is_harmless(self.functions[root], 3)
        if isinstance(function, ast.Attribute) and function.attr in _READING:
            return True
        if isinstance(function, ast.Attribute) and function.attr in _COLLECTING and self._is_made(root):
            return root not in state
        return not deep and not state & _names(call)

    def stores_elsewhere(self, around: ast.AST, state: set[str]) -> bool:
        """Whether all that is written into has been made for itself, and is not what is read."""
        stores = (n for n in ast.walk(around) if isinstance(n, _PARTS) and not isinstance(n.ctx, ast.Load))
        return all(_root(node) not in state and self._is_made(_root(node)) for node in stores)

    def _is_harmless(self, function: ast.AST, depth: int) -> bool:
        """Whether a function of the file writes into nothing and calls nothing that might."""
        for node in ast.walk(function):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                return False
            if isinstance(node, _PARTS) and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, ast.Call) and not self._is_harmless_call(node, depth):
                return False
        return True

    def _is_harmless_call(self, call: ast.Call, depth: int) -> bool:
        root = _root(call.func)
        if self.is_library(call.func) or (hasattr(builtins, root) and root not in _IMPURE):
            return True
        if isinstance(call.func, ast.Name) and root in self.functions:
            return depth > 0 and self._is_harmless(self.functions[root], depth - 1)
        return isinstance(call.func, ast.Attribute) and call.func.attr in _READING

    def _is_made(self, name: str) -> bool:
        """Whether a name is bound to nothing but what is made there."""
        values = self.given.get(name, [])
        made = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.Call)
        return bool(values) and all(isinstance(value, made) for value in values)


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds to what, part by part in `a, b = 0, []`."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _functions(tree: ast.AST) -> dict[str, ast.AST]:
    return {n.name: n for n in ast.walk(tree) if isinstance(n, _DEFINED)}


def _parsed(code: str) -> ast.AST | None:
    try:
        body = ast.parse(textwrap.dedent(code).strip()).body
    except SyntaxError:
        return None
    only = body[0] if len(body) == 1 else ast.Module(body, [])
    return only.value if isinstance(only, ast.Expr) else only


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _free(tree: ast.AST) -> set[str]:
    """The names that code reads and does not bind itself."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - bound


def _bound_to(tree: ast.AST, value: str) -> set[str]:
    """The names that are given a value, which is told as `ast.dump` does."""
    given = (n for n in ast.walk(tree) if isinstance(n, ast.Assign) and ast.dump(n.value) == value)
    return {target.id for node in given for target in node.targets if isinstance(target, ast.Name)}


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
