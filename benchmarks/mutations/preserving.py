"""Edits that change how a program is written and nothing that it does."""

from __future__ import annotations

import ast
import builtins
import random

from mutations import MAIN, Edit
from mutations.bindings import DEFINITION, FUNCTION, IMPORT, bound, loaded, movable, places, stored

LIBRARY = "parts.py"


def rename(source: str, chance: random.Random) -> dict[str, str] | None:
    """Every variable, parameter, function and class of the program gets another name."""
    tree = ast.parse(source)
    fixed = {"self", "cls", "_", "main", *vars(builtins), *_spelled_elsewhere(tree)}
    names = sorted(name for name in bound(tree) - fixed if not name.startswith(("__", "test")))
    numbers = chance.sample(range(100, 1000), len(names)) if len(names) < 900 else range(len(names))
    new = {
        name: ("Made" if name[:1].isupper() else "made") + str(n)
        for name, n in zip(names, numbers, strict=True)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, DEFINITION):
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
    taken = bound(tree)
    new: dict[str, str] = {}
    for alias in (a for s in tree.body if isinstance(s, IMPORT) and not _is_future(s) for a in s.names):
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
    if "main" in bound(tree):
        return None
    moved = movable(tree.body)
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
    last = max((i for i, s in enumerate(tree.body) if isinstance(s, DEFINITION)), default=-1)
    imports = [s for s in tree.body if isinstance(s, IMPORT)]
    first = [s for s in tree.body[: last + 1] if s not in imports]
    rest = [s for s in tree.body[last + 1 :] if s not in imports]
    if not first or not rest or stored(rest) & loaded(first):
        return None
    shared = sorted(stored(first) & loaded(rest))
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
    for body, index, node in places(tree):
        if isinstance(node, FUNCTION) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            wrapped: ast.expr = ast.Name(node.name, ast.Load())
            for decorator in reversed(node.decorator_list):
                wrapped = ast.Call(decorator, [wrapped], [])
            node.decorator_list = []
            body.insert(index + 1, ast.Assign([ast.Name(node.name, ast.Store())], wrapped, lineno=0))
            changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def into_while(source: str, chance: random.Random) -> dict[str, str] | None:
    """`for i in range(n)` becomes a while loop with a counter."""
    tree = ast.parse(source)
    changed = False
    for body, index, loop in places(tree):
        if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.target, ast.Name):
            continue
        call = loop.iter
        ranged = isinstance(call, ast.Call) and ast.unparse(call.func) == "range" and len(call.args) == 1
        if not ranged or any(isinstance(n, ast.Continue) for s in loop.body for n in ast.walk(s)):
            continue
        assert isinstance(call, ast.Call)
        counter, end = loop.target.id, ast.unparse(call.args[0])
        if counter == "_" or counter in stored(loop.body):
            continue
        made = ast.parse(f"{counter} = 0\nwhile {counter} < {end}:\n    {counter} += 1").body
        assert isinstance(made[1], ast.While)
        made[1].body = [*loop.body, *made[1].body]
        body[index : index + 1] = made
        changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def index_results(source: str, chance: random.Random) -> dict[str, str] | None:
    """`a, b = f()` takes the results out by their places."""
    tree = ast.parse(source)
    changed = False
    for body, index, node in places(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Tuple) or any(isinstance(e, ast.Starred) for e in target.elts):
            continue
        taken = (f"{ast.unparse(e)} = results[{i}]\n" for i, e in enumerate(target.elts))
        body[index + 1 : index + 1] = ast.parse("".join(taken)).body
        node.targets = [ast.Name("results", ast.Store())]
        changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def spread(source: str, chance: random.Random) -> dict[str, str] | None:
    """The keywords of a call lie in a dict that it spreads."""
    tree = ast.parse(source)
    changed = False
    for body, index, node in places(tree):
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and call.keywords and all(k.arg for k in call.keywords):
            text = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords)
            call.keywords = [ast.keyword(None, ast.Name("chosen", ast.Load()))]
            body[index:index] = ast.parse(f"chosen = dict({text})").body
            changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def name_results(source: str, chance: random.Random) -> dict[str, str] | None:
    """What a function returns, and each argument that is a call, has a name first."""
    tree = ast.parse(source)
    changed = False
    for body, index, node in places(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, (ast.Call, ast.Tuple)):
            body[index:index] = ast.parse(f"answer = {ast.unparse(node.value)}").body
            node.value = ast.Name("answer", ast.Load())
            changed = True
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            inner = next((i for i, a in enumerate(node.value.args) if isinstance(a, ast.Call)), None)
            if inner is not None:
                body[index:index] = ast.parse(f"inner = {ast.unparse(node.value.args[inner])}").body
                node.value.args[inner] = ast.Name("inner", ast.Load())
                changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


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
        elif isinstance(node, IMPORT):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ClassDef):
            names.update(stored(node.body))
    return names


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


PRESERVING: dict[str, Edit] = {
    "rename": rename,
    "realias": realias,
    "into main": into_main,
    "split": split,
    "undecorate": undecorate,
    "into while": into_while,
    "index results": index_results,
    "spread": spread,
    "name results": name_results,
}
# Hazards of what a module does when it is imported go away with these.
MOVING = ("into main", "split")
AT_IMPORT = "JAX5"
