"""Which functions of a module have to be traced or called for a claim about it to show."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.options import Inputs
from jaxlint.confirm.overlay import import_root, module_name
from jaxlint.confirm.recipes import RECIPES
from jaxlint.record import record

_LOCALS = ".<locals>"


@record
class Module:
    """A file that is imported rather than run: it lies in a package, and is no test."""

    name: str
    root: str

    @classmethod
    def of(cls, file: str) -> Module | None:
        """The module in a file (absolute), None for a program."""
        stem = os.path.splitext(os.path.basename(file))[0]
        is_test = stem.startswith("test_") or stem.endswith("_test")
        if (
            is_test
            or stem == "__main__"
            or not os.path.isfile(os.path.join(os.path.dirname(file), "__init__.py"))
        ):
            return None
        return cls(module_name(file), import_root(file))


class Wanted:
    """The functions that claims need. `of` has the names for each claim, nearest first."""

    def __init__(self, claims: Sequence[Claim], tree: ast.Module) -> None:
        self._functions = list(_functions(tree))
        self.of: dict[int, list[str]] = {id(one): self._names(one) for one in claims}
        self._how = {id(one): "trace" if RECIPES[one.finding.code].traced else "call" for one in claims}

    def requests(self, module: Module, inputs: Mapping[str, Inputs]) -> list[dict[str, Any]]:
        """What the worker is asked (`child/functions.py`), each once."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for key, names in self.of.items():
            for name in names:
                given = inputs.get(f"{module.name}:{name}")
                table = None if given is None else {"args": list(given.args), "kwargs": dict(given.kwargs)}
                how = self._how[key]
                found.setdefault((name, how), {"name": name, "given": table, "how": how})
        return list(found.values())

    def _names(self, one: Claim) -> list[str]:
        """The functions around the claim's statements; of nested ones the outermost, which can be reached."""
        symbol = one.finding.symbol.partition(_LOCALS)[0]
        found = [symbol] if symbol else []
        for site in one.sites:
            if site.file == one.site.file:
                found += [name for name, first, last in self._functions if first <= site.first <= last]
        return list(dict.fromkeys(name for name in found if name in {n for n, _, _ in self._functions}))


def _functions(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """The functions and methods that can be reached by name: qualified name, first and last line."""

    def within(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, int, int]]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                decorators = [decorator.lineno for decorator in node.decorator_list]
                yield f"{prefix}{node.name}", min([node.lineno, *decorators]), node.end_lineno or node.lineno
            elif isinstance(node, ast.ClassDef):
                yield from within(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.If, ast.Try)):
                yield from within(node.body, prefix)

    yield from within(tree.body, "")
