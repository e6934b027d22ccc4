"""Mechanical edits of small programs: those that keep a hazard, and those that bring one in.

An edit takes the text of a module and a random generator and gives the modules of the new program by file name,
or None where it does not apply. What it makes need not be pretty, but it must mean what the original meant, or,
for a hazard-introducing edit, only be worse.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

Edit = Callable[[str, random.Random], "dict[str, str] | None"]
MAIN = "program.py"
LIBRARY = "parts.py"

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Import = (ast.Import, ast.ImportFrom)
_Loop = (ast.For, ast.While)


class Introduction(NamedTuple):
    """A hazard-introducing edit. It is tried on good programs about one of `about` (any program where that is
    empty), and one of `codes` must be found afterwards."""

    edit: Edit
    codes: tuple[str, ...]
    about: tuple[str, ...]


# ---------------------------------------------------------------- the hazard stays


def rename(source: str, chance: random.Random) -> dict[str, str] | None:
    """Every variable, parameter, function and class of the program gets another name."""
    tree = ast.parse(source)
    fixed = {"self", "cls", "_", "main", *vars(builtins), *_spelled_elsewhere(tree)}
    names = sorted(name for name in _bound(tree) - fixed if not name.startswith(("__", "test")))
    numbers = chance.sample(range(100, 1000), len(names)) if len(names) < 900 else range(len(names))
    new = {
        name: ("Made" if name[:1].isupper() else "made") + str(n)
        for name, n in zip(names, numbers, strict=True)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, _Definition):
            node.name = new.get(node.name, node.name)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [new.get(name, name) for name in node.names]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = new.get(node.name, node.name)
    return {MAIN: ast.unparse(tree)} if new else None


def realias(source: str, chance: random.Random) -> dict[str, str] | None:
    """Every import of a module or a name binds another alias."""
    tree = ast.parse(source)
    taken = _bound(tree)
    new: dict[str, str] = {}
    for alias in (a for s in tree.body if isinstance(s, _Import) and not _is_future(s) for a in s.names):
        name = alias.asname or alias.name
        if "." in name or name == "*" or name in taken:
            continue
        alias.asname = new[name] = f"{name}_{chance.randrange(100)}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
    return {MAIN: ast.unparse(tree)} if new else None


def into_main(source: str, chance: random.Random) -> dict[str, str] | None:
    """What the module does, and no definition needs, happens in a function main."""
    tree = ast.parse(source)
    if "main" in _bound(tree):
        return None
    moved = _movable(tree.body)
    if not moved:
        return None
    stays = [s for s in tree.body if s not in moved]
    tail = ast.parse("def main():\n    pass\n\n\nif __name__ == '__main__':\n    main()\n").body
    assert isinstance(tail[0], ast.FunctionDef)
    tail[0].body = moved
    return {MAIN: ast.unparse(ast.Module([*stays, *tail], []))}


def split(source: str, chance: random.Random) -> dict[str, str] | None:
    """Everything up to the last definition becomes a module of its own, which the rest imports from."""
    tree = ast.parse(source)
    last = max((i for i, s in enumerate(tree.body) if isinstance(s, _Definition)), default=-1)
    imports = [s for s in tree.body if isinstance(s, _Import)]
    first = [s for s in tree.body[: last + 1] if s not in imports]
    rest = [s for s in tree.body[last + 1 :] if s not in imports]
    if not first or not rest or _stored(rest) & _loaded(first):
        return None
    shared = sorted(_stored(first) & _loaded(rest))
    if not shared:
        return None
    chosen = ast.ImportFrom(LIBRARY.removesuffix(".py"), [ast.alias(name) for name in shared], 0)
    return {
        LIBRARY: ast.unparse(ast.Module([*imports, *first], [])),
        MAIN: ast.unparse(ast.Module([*imports, chosen, *rest], [])),
    }


def undecorate(source: str, chance: random.Random) -> dict[str, str] | None:
    """`@jit` above a function becomes `f = jit(f)` below it."""
    tree = ast.parse(source)
    changed = False
    for body in _bodies(tree):
        for index in range(len(body) - 1, -1, -1):
            node = body[index]
            if isinstance(node, _Function) and any("jit" in ast.unparse(d) for d in node.decorator_list):
                wrapped: ast.expr = ast.Name(node.name, ast.Load())
                for decorator in reversed(node.decorator_list):
                    wrapped = ast.Call(decorator, [wrapped], [])
                node.decorator_list = []
                body.insert(index + 1, ast.Assign([ast.Name(node.name, ast.Store())], wrapped, lineno=0))
                changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


PRESERVING: dict[str, Edit] = {
    "rename": rename,
    "realias": realias,
    "into main": into_main,
    "split": split,
    "undecorate": undecorate,
}
# Hazards of what a module does when it is imported go away with these.
MOVING = ("into main", "split")
AT_IMPORT = "JAX5"


# ---------------------------------------------------------------- a hazard comes in


def _keyword_dropped(*names: str, callees: str = "") -> Edit:
    def edit(source: str, chance: random.Random) -> dict[str, str] | None:
        tree = ast.parse(source)
        changed = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _last_name(node.func) in (
                callees.split() or [_last_name(node.func)]
            ):
                kept = [k for k in node.keywords if k.arg not in names]
                changed |= len(kept) < len(node.keywords)
                node.keywords = kept
        return {MAIN: ast.unparse(tree)} if changed else None

    return edit


def unbounded(source: str, chance: random.Random) -> dict[str, str] | None:
    """`lru_cache(maxsize=8)` keeps everything."""
    tree = ast.parse(source)
    caches = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _last_name(n.func) == "lru_cache"]
    for call in caches:
        call.args, call.keywords = [], [ast.keyword("maxsize", ast.Constant(None))]
    return {MAIN: ast.unparse(tree)} if caches else None


class _Unwrap(ast.NodeTransformer):
    """`jnp.asarray(n)` as an argument is `n`."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [self._unwrapped(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self._unwrapped(keyword.value)
        return node

    def _unwrapped(self, argument: ast.expr) -> ast.expr:
        if (
            isinstance(argument, ast.Call)
            and argument.args
            and _last_name(argument.func) in ("asarray", "array")
        ):
            self.changed = True
            return argument.args[0]
        return argument


def unwrap(source: str, chance: random.Random) -> dict[str, str] | None:
    """A number is handed over as it is, no longer as an array."""
    unwrapping = _Unwrap()
    tree = unwrapping.visit(ast.parse(source))
    return {MAIN: ast.unparse(tree)} if unwrapping.changed else None


def jit_into_loop(source: str, chance: random.Random) -> dict[str, str] | None:
    """A jitted function is made in the loop that calls it."""
    tree = ast.parse(source)
    for body in _bodies(tree):
        for index, node in enumerate(body):
            name = _jitted(node)
            loop = next((s for s in body[index + 1 :] if isinstance(s, _Loop) and name in _loaded([s])), None)
            between = body[index + 1 : body.index(loop)] if loop is not None else []
            if name and loop is not None and not any(name in _loaded([s]) for s in between):
                del body[index]
                loop.body.insert(0, node)
                return {MAIN: ast.unparse(tree)}
    return None


def carry_to_stack(source: str, chance: random.Random) -> dict[str, str] | None:
    """`last, _ = scan(body, …)` becomes the last of all carries that the body now stacks."""
    tree = ast.parse(source)
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        call, target = node.value, node.targets[0]
        if _last_name(call.func) != "scan" or not (isinstance(target, ast.Tuple) and len(target.elts) == 2):
            continue
        function = (
            functions.get(call.args[0].id) if call.args and isinstance(call.args[0], ast.Name) else None
        )
        returned = function.body[-1] if function is not None else None
        if not (isinstance(target.elts[0], ast.Name) and isinstance(returned, ast.Return)):
            continue
        pair = returned.value
        if not (
            isinstance(pair, ast.Tuple) and isinstance(pair.elts[0], ast.Name) and _is_none(pair.elts[1])
        ):
            continue
        pair.elts[1] = ast.Name(pair.elts[0].id, ast.Load())
        node.targets = [ast.Name(target.elts[0].id, ast.Store())]
        node.value = ast.parse(f"({ast.unparse(call)})[1][-1]", mode="eval").body
        return {MAIN: ast.unparse(tree)}
    return None


class _Branch(ast.NodeTransformer):
    """`jnp.where(c, a, b)` is `a if c else b`."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _last_name(node.func) == "where" and len(node.args) == 3:
            self.changed = True
            return ast.IfExp(node.args[0], node.args[1], node.args[2])
        return node


def branch(source: str, chance: random.Random) -> dict[str, str] | None:
    """Python chooses instead of `jnp.where`."""
    branching = _Branch()
    tree = branching.visit(ast.parse(source))
    return {MAIN: ast.unparse(ast.fix_missing_locations(tree))} if branching.changed else None


INTRODUCING: dict[str, Introduction] = {
    "drop donation": Introduction(
        _keyword_dropped("donate_argnums", "donate_argnames", "donate"), ("JAX301",), ("JAX301",)
    ),
    "unwrap number": Introduction(unwrap, ("JAX101",), ("JAX101",)),
    "jit into loop": Introduction(jit_into_loop, ("JAX103", "JAX109"), ()),
    "carry to stack": Introduction(carry_to_stack, ("JAX303",), ()),
    "drop size": Introduction(
        _keyword_dropped("size", callees="nonzero flatnonzero argwhere unique where"),
        ("JAX105", "JAX207"),
        ("JAX105", "JAX207"),
    ),
    "unbounded cache": Introduction(
        unbounded, ("JAX402", "JAX403", "JAX404"), ("JAX402", "JAX403", "JAX404")
    ),
    "where to if": Introduction(branch, ("JAX205",), ("JAX205",)),
}


# ---------------------------------------------------------------- reading a tree


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def _stored(statements: list[ast.stmt]) -> set[str]:
    """What statements bind at their own level."""
    return {name for statement in statements for name in _binds(statement)}


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, _Definition):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if not isinstance(node, (*_Definition, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _binds(child)


def _loaded(statements: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(tree: ast.AST) -> set[str]:
    """Every name that is bound anywhere, imports aside."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, _Definition):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return names


def _spelled_elsewhere(tree: ast.AST) -> set[str]:
    """Names that also stand as keywords, attributes, strings or imports: what they mean there is not known."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            names.add(node.arg)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(node.value.replace(",", " ").split())
        elif isinstance(node, _Import):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ClassDef):
            names.update(_stored(node.body))
    return names


def _movable(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module that no definition, and nothing that stays, has need of."""
    docstring = body[:1] if body and ast.get_docstring(ast.Module(body, [])) is not None else []
    stays = [s for s in body if isinstance(s, (*_Import, *_Definition)) or s in docstring]
    moved = [s for s in body if s not in stays]
    while True:
        needed = [s for s in moved if _stored([s]) & _loaded(stays)]
        if not needed:
            return moved
        stays += needed
        moved = [s for s in moved if s not in needed]


def _jitted(node: ast.stmt) -> str:
    """The name of the jitted function that a statement defines, or ""."""
    if isinstance(node, _Function):
        return node.name if any("jit" in ast.unparse(d) for d in node.decorator_list) else ""
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.targets[0], ast.Name)
    ):
        return node.targets[0].id if _last_name(node.value.func) in ("jit", "filter_jit") else ""
    return ""


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2] if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
