"""Which functions of a module lead to which: who calls whom, and with what."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxlint.confirm.claim import Site

_DEEP = 4  # callers of callers that are looked at
_MOST = 6
_QUOTED = re.compile(r"`([^`]+)`")


class Function(NamedTuple):
    """What can be reached by name: a function, a method, or what a call at module level is bound to.

    `parameters` without the instance of a method; of `step = jax.jit(_step)` they are those of `_step`. `names`
    are all names that it mentions.
    """

    name: str
    first: int
    last: int
    parameters: tuple[str, ...]
    names: frozenset[str]

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


class Reach:
    """The functions of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self.functions = {each.name: each for each in _functions(tree)}

    def around(self, first: int) -> list[str]:
        """The functions around a line."""
        return [each.name for each in self.functions.values() if each.first <= first <= each.last]

    def callers(self, name: str) -> list[str]:
        """The functions that mention one, and those that mention these, nearest first."""
        found: list[str] = []
        wave = [name]
        for _ in range(_DEEP):
            short = {name.rpartition(".")[2] for name in wave}
            wave = [
                each.name
                for each in self.functions.values()
                if each.names & short and each.name not in (name, *found)
            ]
            found += wave
        return found[:_MOST]

    def called(self, message: str) -> list[Function]:
        """The functions that a message names."""
        short = {text.rpartition(".")[2] for text in _QUOTED.findall(message)}
        return [each for each in self.functions.values() if each.short in short]

    def meant(self, function: Function, message: str) -> list[str]:
        """The parameters of a function that a message names, or something of theirs."""
        roots = {re.split(r"[.\[(]", text, maxsplit=1)[0] for text in _QUOTED.findall(message)}
        return [name for name in function.parameters if name in roots]

    def passed(self, function: Function, message: str, sites: Sequence[Site]) -> list[str]:
        """The parameters of a function that get what a message names, by the calls in some statements."""
        texts = set(_QUOTED.findall(message))
        found = []
        for call in self._calls(function.short, sites):
            pairs = [
                *zip(function.parameters, call.args, strict=False),
                *((word.arg, word.value) for word in call.keywords if word.arg),
            ]
            found += [name for name, value in pairs if ast.unparse(value) in texts]
        return list(dict.fromkeys([*found, *self.meant(function, message)]))

    def _calls(self, name: str, sites: Sequence[Site]) -> Iterator[ast.Call]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and any(site.first <= node.lineno <= site.last for site in sites):
                called = node.func
                last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if last == name:
                    yield node


def _functions(tree: ast.Module) -> Iterator[Function]:
    known: dict[str, tuple[str, ...]] = {}

    def within(body: list[ast.stmt], prefix: str) -> Iterator[Function]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                parameters = _parameters(node.args)[bool(prefix) :]
                known.setdefault(node.name, parameters)
                names = _names(node)
                yield Function(f"{prefix}{node.name}", first, node.end_lineno or first, parameters, names)
            elif isinstance(node, ast.ClassDef):
                yield from within(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.If, ast.Try)):
                yield from within(node.body, prefix)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and not prefix:
                names = _names(node.value)
                parameters = next((known[name] for name in sorted(names) if name in known), ())
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        last = node.end_lineno or node.lineno
                        yield Function(target.id, node.lineno, last, parameters, names)

    yield from within(tree.body, "")


def _parameters(arguments: ast.arguments) -> tuple[str, ...]:
    listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return tuple(each.arg for each in listed)


def _names(node: ast.AST) -> frozenset[str]:
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
    return frozenset(found)
