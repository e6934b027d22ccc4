"""Facts → suspects → findings: the rules look at facts, and only what they suspect is parsed by libcst."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from jaxlint.engine_codes import INTERNAL_ERROR
from jaxlint.finding import Finding, Place
from jaxlint.flow.facts import Fact, ModuleRole
from jaxlint.rule import Pair, Rule

if TYPE_CHECKING:
    from jaxlint.context import Context
    from jaxlint.focus import Focus
    from jaxlint.project.root import Project
    from jaxlint.project.source import Source

_FOCUSES = 16  # files whose libcst trees are held

Suspect = tuple[Rule, Pair, Fact]


class Judge:
    """Asks the rules."""

    def __init__(
        self,
        pairs: dict[type[Fact], list[tuple[Rule, Pair]]],
        project: Project,
        source: Callable[[str], Source | None],
        taken: Callable[[str], Collection[str]],
        own_imports: Callable[[str], Collection[str]],
    ) -> None:
        """`source` gives text and tree of a file by the path that facts carry, `taken` the names of it that other
        modules import, `own_imports` those that it imports from modules of the project."""
        self._pairs = pairs
        self._project = project
        self._source = source
        self._taken = taken
        self._own_imports = own_imports
        self._focuses: dict[str, Focus] = {}  # by path, the one used last at the end

    def findings(self, facts: list[Fact], role: ModuleRole) -> list[Finding]:
        """What the rules say of the facts of one run. A rule that fails gives JAX000 where it failed."""
        found: list[Finding] = []
        suspects: dict[str, list[Suspect]] = {}
        every: dict[type[Fact], list[Fact]] = {}
        for fact in facts:
            every.setdefault(type(fact), []).append(fact)
            for rule, pair in self._pairs.get(type(fact), ()):
                try:
                    if pair.suspect(fact):
                        suspects.setdefault(fact.place.path, []).append((rule, pair, fact))
                except Exception as error:
                    found.append(failed(rule, fact.place, error))
        for path, listed in suspects.items():
            found += self._judge(path, listed, every, role)
        return found

    def _judge(
        self, path: str, suspects: list[Suspect], every: dict[type[Fact], list[Fact]], role: ModuleRole
    ) -> list[Finding]:
        source = self._source(path)
        if source is None or source.tree is None:
            return []
        try:
            context = self._context(path, source.text, source.tree, every, role)
        except Exception as error:
            return [failed(rule, fact.place, error) for rule, _, fact in suspects[:1]]
        from jaxlint.fix.texts import sparing_texts

        found: list[Finding] = []
        for rule, pair, fact in suspects:
            try:
                node = context.node(fact.place) if pair.needs_node else None
                found += (sparing_texts(each, context.focus) for each in pair.check(fact, node, context))
            except Exception as error:
                found.append(failed(rule, fact.place, error))
        return found

    def _context(
        self,
        path: str,
        text: str,
        tree: ast.Module,
        every: dict[type[Fact], list[Fact]],
        role: ModuleRole,
    ) -> Context:
        from jaxlint.context import Context

        project = self._project
        return Context(
            path=path,
            source=text,
            focus=self._focus(path, text, tree),
            aliases=aliases(tree),
            every_fact=every,
            jax_version=project.jax_version,
            requires_python=project.requires_python,
            role=role,
            taken=self._taken(path),
            own_imports=self._own_imports(path),
            commands=frozenset(function for module, function in project.commands if _is_module(path, module)),
        )

    def _focus(self, path: str, text: str, tree: ast.Module) -> Focus:
        """A file as libcst sees it. Several roots may lead to suspects in one file: it is parsed once."""
        from jaxlint.focus import Focus

        focus = self._focuses.pop(path, None)
        if focus is None or focus.source != text:
            focus = Focus(text, tree)
        self._focuses[path] = focus
        if len(self._focuses) > _FOCUSES:
            del self._focuses[next(iter(self._focuses))]
        return focus


def _is_module(path: str, module: str) -> bool:
    """Whether a file is the module of that name, wherever its package lies in the project."""
    stem = "/" + path.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
    return stem.endswith("/" + module.replace(".", "/"))


def aliases(tree: ast.Module) -> dict[str, str]:
    """Canonical dotted name → the file's own spelling, from its module-level imports."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found.setdefault(alias.name if alias.asname else top, alias.asname or top)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found.setdefault(f"{node.module}.{alias.name}", alias.asname or alias.name)
    return found


def failed(rule: Rule, place: Place, error: Exception) -> Finding:
    """JAX000 for a rule that raised."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return INTERNAL_ERROR.finding(place, f"{rule.meta.code} failed here: {text}")
