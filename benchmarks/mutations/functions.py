"""Edits that spread a program over other functions, and change nothing that it does."""

from __future__ import annotations

import ast
import random

from mutations import MAIN, Edit
from mutations.bindings import DEFINITION, FUNCTION, IMPORT, bound, loaded, movable, stored
from mutations.scopes import first_loop, inner, replaced, scopes

LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)


def extract_round(source: str, chance: random.Random) -> dict[str, str] | None:
    """The body of a loop becomes a function that takes what it reads and returns what it binds."""
    tree = ast.parse(source)
    for body in scopes(tree):
        index = first_loop(body)
        if index is None or isinstance(body[index], ast.While):
            continue
        loop = body[index]
        assert isinstance(loop, ast.For)
        if len(loop.body) < 2 or any(isinstance(n, LEAVES) for s in loop.body for n in ast.walk(s)):
            continue
        declared = [s for s in body[:index] if isinstance(s, (ast.Global, ast.Nonlocal))]
        outer = {name for s in declared for name in s.names}
        inside = stored(loop.body) - outer
        before = (_bound_above(tree, body, index) | stored([loop.target])) - outer
        taken = sorted((loaded(loop.body) | inside) & before)
        given = sorted(inside & (before | loaded(body[index + 1 :])))
        certain = {
            n
            for s in loop.body
            if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign))
            for n in stored([s])
        }
        if not taken or "one_round" in bound(tree) or set(given) - certain - before:
            continue
        names = ", ".join(given)
        made = ast.parse(f"def one_round({', '.join(taken)}): pass").body
        made[0].body = [
            *declared,
            *loop.body,
            *(ast.parse(f"return {names}", mode="exec").body if given else []),
        ]  # type: ignore[attr-defined]  # by the text parsed above
        call = f"one_round({', '.join(taken)})"
        loop.body = ast.parse(f"{names} = {call}" if given else call).body
        body[index:index] = made
        return {MAIN: ast.unparse(tree)}
    return None


def into_generator(source: str, chance: random.Random) -> dict[str, str] | None:
    """What a loop runs over comes from a generator."""
    tree = ast.parse(source)
    for body in scopes(tree):
        index = first_loop(body)
        if index is None or isinstance(body[index], ast.While) or "rounds" in bound(tree):
            continue
        loop = body[index]
        assert isinstance(loop, ast.For)
        if loaded([loop.iter]) & stored(loop.body):
            continue
        made = ast.parse("def rounds():\n for x in x: yield x").body
        made[0].body = [  # type: ignore[attr-defined]  # by the text parsed above
            ast.For(ast.Name("one", ast.Store()), loop.iter, ast.parse("yield one").body, [], lineno=0)
        ]
        loop.iter = ast.parse("rounds()", mode="eval").body
        body[index:index] = made
        return {MAIN: ast.unparse(tree)}
    return None


def into_factory(source: str, chance: random.Random) -> dict[str, str] | None:
    """Each function of the module is made by a function that returns it."""
    tree = ast.parse(source)
    functions = [s for s in tree.body if isinstance(s, FUNCTION) and s.name != "main"]
    for function in functions:
        name, maker = function.name, f"make_{function.name}"
        made = ast.parse(f"def {maker}():\n pass\n return {name}\n\n{name} = {maker}()").body
        made[0].body[0] = function  # type: ignore[attr-defined]  # by the text parsed above
        index = tree.body.index(function)
        tree.body[index : index + 1] = made
    return {MAIN: ast.unparse(tree)} if functions else None


def into_statics(source: str, chance: random.Random) -> dict[str, str] | None:
    """The functions of the module become static methods of one class."""
    tree = ast.parse(source)
    functions = [s for s in tree.body if isinstance(s, FUNCTION) and s.name != "main"]
    names = {s.name for s in functions}
    if not functions or "Parts" in bound(tree):
        return None
    first, last = tree.body.index(functions[0]), tree.body.index(functions[-1])
    between = [s for s in tree.body[first:last] if s not in functions]
    early = [e for s in functions for e in (*s.decorator_list, *s.args.defaults, *s.args.kw_defaults) if e]
    others = [s for s in tree.body if s not in functions]
    if names & (loaded(between) | loaded(early) | stored(others) | inner(tree.body)):
        return None
    made = ast.parse("class Parts:\n pass").body
    new = {name: f"Parts.{name}" for name in names}
    for function in functions:
        function.decorator_list.insert(0, ast.Name("staticmethod", ast.Load()))
    made[0].body = replaced(list(functions), new)  # type: ignore[attr-defined]  # by the text parsed above
    before = [s for s in tree.body[:last] if s not in functions]
    body = [*replaced(before, new), *made, *replaced(tree.body[last + 1 :], new)]
    return {MAIN: ast.unparse(ast.Module(body, []))}


def into_async(source: str, chance: random.Random) -> dict[str, str] | None:
    """What the module does happens in a coroutine."""
    tree = ast.parse(source)
    moved = movable(tree.body)
    if not moved or "main" in bound(tree):
        return None
    tail = ast.parse("import asyncio\n\nasync def main(): pass\n\nasyncio.run(main())").body
    tail[1].body = moved  # type: ignore[attr-defined]  # by the text parsed above
    return {MAIN: ast.unparse(ast.Module([*(s for s in tree.body if s not in moved), *tail], []))}


def _bound_above(tree: ast.Module, body: list[ast.stmt], index: int) -> set[str]:
    """The names a scope has bound when a statement begins, its parameters among them."""
    arguments: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, FUNCTION) and node.body is body:
            arguments = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
    above = [s for s in body[:index] if not isinstance(s, (*DEFINITION, *IMPORT))]
    if body is tree.body:
        return {name for name in stored(above) if name in stored(body[index:])}
    return arguments | stored(above)


FUNCTIONS: dict[str, Edit] = {
    "extract round": extract_round,
    "into generator": into_generator,
    "into factory": into_factory,
    "into statics": into_statics,
    "into async": into_async,
}
