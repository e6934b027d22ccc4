"""Edits that put the values of a program into other containers, and change nothing that it does."""

from __future__ import annotations

import ast
import random

from mutations import MAIN, Edit
from mutations.bindings import DEFINITION, IMPORT, bound, loaded, movable, stored
from mutations.scopes import first_loop, inner, replaced, scopes


def into_settings(source: str, chance: random.Random) -> dict[str, str] | None:
    """The numbers at the top of the module become fields of a data class."""
    head = "import dataclasses\n\n@dataclasses.dataclass\nclass Settings:\n{}\nsettings = Settings()\n"
    return _constants_moved(source, head, "    {name}: {kind} = {value}\n", "settings")


def into_arguments(source: str, chance: random.Random) -> dict[str, str] | None:
    """The numbers at the top of the module become options of the command line, with these defaults."""
    head = "import argparse\n\nparser = argparse.ArgumentParser()\n{}options = parser.parse_args()\n"
    option = "parser.add_argument('--{name}', type={kind}, default={value})\n"
    return _constants_moved(source, head, option, "options")


def into_class(source: str, chance: random.Random) -> dict[str, str] | None:
    """What the module does before its first loop is a class's `__init__`, and the rest its method."""
    tree = ast.parse(source)
    moved = movable(tree.body)
    loop = next((i for i, s in enumerate(moved) if isinstance(s, (ast.For, ast.While))), 0)
    setup, rest = moved[:loop], moved[loop:]
    kept = stored(setup) & (loaded(rest) | stored(rest))
    if not kept or "Runner" in bound(tree) or not _plain(setup, kept) or not _plain(rest, kept):
        return None
    new = {name: f"self.{name}" for name in kept}
    made = ast.parse("class Runner:\n def __init__(self): pass\n def run(self): pass\n\nRunner().run()")
    made.body[0].body[0].body = replaced(setup, new)  # type: ignore[attr-defined]  # by the text parsed above
    made.body[0].body[1].body = replaced(rest, new)  # type: ignore[attr-defined]  # by the text parsed above
    return {MAIN: ast.unparse(ast.Module([*(s for s in tree.body if s not in moved), *made.body], []))}


def into_dict(source: str, chance: random.Random) -> dict[str, str] | None:
    """What a loop carries lies in a dict."""
    tree = ast.parse(source)
    changed = False
    for body in scopes(tree):
        index = first_loop(body)
        if index is None:
            continue
        carried = stored(body[:index]) & stored([body[index]]) - _targets(body)
        if not carried or not _plain(body, carried) or "carried" in bound(tree):
            continue
        start = next(i for i, s in enumerate(body) if stored([s]) & carried)
        if carried & loaded(body[:start]):
            continue
        new = {name: f"carried[{name!r}]" for name in carried}
        body[:] = [*body[:start], *ast.parse("carried = {}").body, *replaced(body[start:], new)]
        changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def _constants_moved(source: str, head: str, line: str, owner: str) -> dict[str, str] | None:
    tree = ast.parse(source)
    constants = _constants(tree)
    if not constants or owner in bound(tree):
        return None
    lines = (
        line.format(name=name, kind=type(s.value.value).__name__, value=repr(s.value.value))  # type: ignore[attr-defined]  # a constant
        for name, s in constants.items()
    )
    made = ast.parse(head.format("".join(lines)))
    first = min(tree.body.index(s) for s in constants.values())
    before, after = tree.body[:first], [s for s in tree.body[first:] if s not in constants.values()]
    new = {name: f"{owner}.{name}" for name in constants}
    return {MAIN: ast.unparse(ast.Module([*before, *made.body, *replaced(after, new)], []))}


def _constants(tree: ast.Module) -> dict[str, ast.Assign]:
    """Numbers that a module names once, at its own level."""
    every = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    every += [n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)]
    every += [name for n in ast.walk(tree) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names]
    every += [str(n.value) for n in ast.walk(tree) if isinstance(n, ast.Constant)]  # patched by name
    found: dict[str, ast.Assign] = {}
    for s in tree.body:
        if (
            isinstance(s, ast.Assign)
            and isinstance(s.value, ast.Constant)
            and type(s.value.value) in (int, float)
        ):
            name = ast.unparse(s.targets[0])
            if len(s.targets) == 1 and every.count(name) == 1:
                found[name] = s
    return found


def _targets(body: list[ast.stmt]) -> set[str]:
    """Names that only a plain name can stand for: targets of loops, contexts and walruses, of what is deleted."""
    names: set[str] = set()
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, (ast.For, ast.NamedExpr)):
            names |= stored([node.target])
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            names |= stored([node.optional_vars])
        elif isinstance(node, ast.AnnAssign):
            names |= stored([node.target])
    return names


def _plain(statements: list[ast.stmt], names: set[str]) -> bool:
    """Whether an attribute or an item may stand for each name, wherever it occurs in the statements."""
    defined = {s.name for s in statements if isinstance(s, DEFINITION)}
    imported = {
        (a.asname or a.name).partition(".")[0] for s in statements if isinstance(s, IMPORT) for a in s.names
    }
    return not names & (_targets(statements) | inner(statements) | defined | imported)


CONTAINERS: dict[str, Edit] = {
    "into settings": into_settings,
    "into arguments": into_arguments,
    "into class": into_class,
    "into dict": into_dict,
}
