"""Dicts and lists that are no more than a set of variables: each entry becomes a variable.

`carried = {}` and then `carried["state"] = step(carried["state"])`, where nothing else is ever done with `carried`,
does what it would do with a name in place of `carried["state"]`: whatever reads the tree sees such a name, spelled
as the entry is, and all that holds for variables holds for it. Compilers call it scalar replacement of aggregates.
A container that goes anywhere as a whole, that is asked what it holds, or that another scope fills is left alone.
Doing this once, in the tree, was preferred to a notion of entries in each of the analyses that follow a name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.index.walking import children

_MAKING = re.compile(r"=[ \t]*(?:[{[]|dict\()")
_BOUND = re.compile(r"[ \t]*(\w+)[ \t]*(?::[^=]+)?")
_ENTRIES = ('["', "['", "[0]", "[1]")
_ASKING = re.compile(
    r"\b(?:KeyError|LookupError|IndexError|locals|vars|exec|eval)\b"
)  # for a variable by name, or none
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_NESTED = (*_FUNCTION, ast.Lambda, ast.ClassDef)
_DEPTH = 4  # dicts in dicts

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_Key = str | int


def replace_containers(tree: ast.Module, text: str) -> None:
    """Put a name in the place of each entry of such containers, in a tree that nobody has walked before."""
    lines = list(_makers(text))
    if not lines or _ASKING.search(text):
        return
    for scope in _scopes(tree, lines):
        for _ in range(_DEPTH):
            owners = _owners(scope)
            if not owners:
                break
            _Replacing(owners).generic_visit(
                ast.Module(scope.body, [])
            )  # a function's decorators see other names


def _makers(text: str) -> Iterator[int]:
    """The lines that bind what may be such a container. By the text: most modules have none, and are not walked."""
    for making in _MAKING.finditer(text):
        begin = text.rfind("\n", 0, making.start()) + 1
        bound = _BOUND.fullmatch(text, begin, making.start())
        if bound is not None and any(f"{bound[1]}{entry}" in text for entry in _ENTRIES):
            yield text.count("\n", 0, begin) + 1


def _scopes(tree: ast.Module, lines: list[int]) -> list[Scope]:
    """The innermost functions that some lines stand in, or the module."""
    return list({_innermost(tree, line): None for line in lines})


def _innermost(scope: Scope, line: int) -> Scope:
    stack: list[ast.AST] = list(scope.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt) and not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, _FUNCTION):
            return _innermost(node, line)
        stack += [n for n in children(node) if isinstance(n, (ast.stmt, ast.ExceptHandler, ast.match_case))]
    return scope


def _owners(scope: Scope) -> set[str]:
    """The names of a scope that are containers of the kind."""
    keys: dict[str, set[_Key]] = {}
    made: dict[str, set[_Key]] = {}
    other: set[str] = set()
    body: list[ast.AST] = [scope.args, *scope.body] if isinstance(scope, _FUNCTION) else [*scope.body]
    stack = [(node, False) for node in body]
    while stack:
        node, inside = stack.pop()
        making, entry = None if inside else _making(node), _entry(node)
        if making is not None:
            name, members = making
            made.setdefault(name, set()).update(members)
            stack += [(member, False) for member in members.values()]
        elif entry is not None and (not inside or isinstance(node.ctx, ast.Load)):  # type: ignore[attr-defined]  # a subscript
            keys.setdefault(entry[0], set()).add(entry[1])
        elif isinstance(node, _NESTED) and isinstance(
            scope, ast.Module
        ):  # other modules may see what it reads
            other.update(*(_names(inner) for inner in ast.walk(node)))
        else:
            other |= _names(node)
            inside = inside or isinstance(node, _NESTED)
            stack += [(child, inside) for child in children(node)]
    return {name for name in made if name in keys and name not in other and _fit(made[name], keys[name])}


def _fit(made: set[_Key], used: set[_Key]) -> bool:
    """A dict has what is put into it, a list what it was made of."""
    if all(isinstance(key, str) for key in (*made, *used)):
        return True
    return all(isinstance(key, int) for key in (*made, *used)) and used <= made


def _making(node: ast.AST) -> tuple[str, dict[_Key, ast.expr]] | None:
    """`name = {}`, `name = {"key": value}`, `name = dict(key=value)`, `name = [value]`: name and entries."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        return None
    members = _members(value) if isinstance(target, ast.Name) else None
    return (target.id, members) if isinstance(target, ast.Name) and members is not None else None


def _members(value: ast.expr) -> dict[_Key, ast.expr] | None:
    if isinstance(value, ast.List):
        starred = any(isinstance(member, ast.Starred) for member in value.elts)
        return None if starred else dict(enumerate(value.elts))
    found: dict[_Key, ast.expr] = {}
    if isinstance(value, ast.Dict):
        for key, member in zip(value.keys, value.values, strict=True):
            word = key.value if isinstance(key, ast.Constant) else None
            if not isinstance(word, str) or not word.isidentifier() or word in found:
                return None
            found[word] = member
        return found
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        if value.args or any(keyword.arg is None for keyword in value.keywords):
            return None
        return {str(keyword.arg): keyword.value for keyword in value.keywords}
    return None


def _entry(node: ast.AST) -> tuple[str, _Key] | None:
    """`name["key"]` or `name[0]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(key, str) and key.isidentifier():
        return node.value.id, key
    return (node.value.id, key) if type(key) is int else None


def _names(node: ast.AST) -> set[str]:
    """The names that a node itself reads or binds."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return set(node.names)
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, (*_FUNCTION, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return {node.name} if node.name else set()
    return {node.rest} if isinstance(node, ast.MatchMapping) and node.rest else set()


class _Replacing(ast.NodeTransformer):
    """Entries become names, and what makes their containers becomes what binds those."""

    def __init__(self, owners: set[str]) -> None:
        self._owners = owners

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        entry = _entry(node)
        if entry is None or entry[0] not in self._owners:
            return self.generic_visit(node)
        return ast.copy_location(ast.Name(_spelled(*entry), node.ctx), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._made(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        return self._made(node)

    def _made(self, node: ast.Assign | ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        making = _making(node)
        reads = making is not None and any(
            making[0] in _names(inner) for member in making[1].values() for inner in ast.walk(member)
        )
        self.generic_visit(node)
        members = _members(node.value) if node.value is not None else None
        if making is None or making[0] not in self._owners or members is None:
            return node
        owner = node.targets[0] if isinstance(node, ast.Assign) else node.target
        names = [ast.copy_location(ast.Name(_spelled(making[0], key), ast.Store()), owner) for key in members]
        bound: list[ast.stmt] = [
            ast.Assign([name], value) for name, value in zip(names, members.values(), strict=True)
        ]
        if reads:  # `state = {"x": state["y"], "y": state["x"]}`
            targets = ast.copy_location(ast.Tuple([*names], ast.Store()), owner)
            bound = [
                ast.Assign([targets], ast.copy_location(ast.Tuple([*members.values()], ast.Load()), owner))
            ]
        return [ast.copy_location(new, node) for new in bound or [ast.Pass()]]


def _spelled(owner: str, key: _Key) -> str:
    return f"{owner}[{key!r}]"
