"""Which rules there are: found by walking packages, checked once, chosen by selectors.

Rules are never imported by name. The package `jaxlint.rules` is walked, and so is every package that an
installed distribution names in the entry-point group `jaxlint.rules`. A module whose name begins with an
underscore is a rule's helper, every other one is a rule with a page of the same name beside it. What cannot
be used raises RuleError with file and line: a rule that silently does not run is worse than none.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from jaxlint import front_matter
from jaxlint.engine_codes import ENGINE_CODES, EngineCode
from jaxlint.flow import facts
from jaxlint.flow.facts import Fact
from jaxlint.rule import Meta, Pair, Rule, RuleError

PACKAGE = "jaxlint.rules"
GROUP = "jaxlint.rules"

# Codes that were renamed: old code → new code. Both keep working in selectors and suppressions.
REDIRECTS: dict[str, str] = {}


def load() -> list[Rule]:
    """Every rule, by code. Raises RuleError for the first one that cannot be used."""
    return [rule.loaded() for rule in listed()]


def listed() -> list[Rule]:
    """Every rule, by code, its module not imported: most runs end without asking any. Raises RuleError."""
    rules: dict[str, Rule] = {}
    slugs: dict[str, Rule] = {}
    for package in (PACKAGE, *_third_party()):
        for module, path in _modules(package):
            rule = _Listed(module, path)
            twin = rules.get(rule.meta.code) or slugs.get(rule.meta.slug)
            if twin is not None:
                raise RuleError(rule.meta.page, 1, f"its code or slug is taken by {twin.meta.page}")
            rules[rule.meta.code] = slugs[rule.meta.slug] = rule
    return [rules[code] for code in sorted(rules)]


def pairs(rules: Iterable[Rule]) -> dict[type[Fact], list[tuple[Rule, Pair]]]:
    """What to ask about each type of fact, in the order of the rules."""
    by_fact: dict[type[Fact], list[tuple[Rule, Pair]]] = {}
    for rule in rules:
        own = rule.loaded()
        for pair in _pairs(own):
            by_fact.setdefault(pair.fact, []).append((own, pair))
    return by_fact


# ---------------------------------------------------------------- finding


def _third_party() -> Iterator[str]:
    """Packages named by other distributions. Hardly anybody has one, and `importlib.metadata` costs as much
    as the rest of a start, so the files it would read are first searched for the group's name."""
    if not any(map(_mentions_group, _entry_point_files())):
        return
    from importlib.metadata import entry_points

    yield from sorted({entry.value for entry in entry_points(group=GROUP)})


def _entry_point_files() -> Iterator[str]:
    for directory in dict.fromkeys(path or "." for path in sys.path):
        try:
            names = os.listdir(directory)
        except OSError:  # a zip file, or a directory that is not there
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                yield os.path.join(directory, name, "entry_points.txt")


def _mentions_group(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return f"[{GROUP}]".encode() in file.read()
    except OSError:
        return False


def _modules(package: str) -> Iterator[tuple[str, str]]:
    """Dotted name and path of each rule module of a package and of the packages inside it."""
    try:
        found = importlib.import_module(package)
    except Exception as error:
        raise _import_error(package, package, error) from error
    for directory in getattr(found, "__path__", []):
        yield from _walk(package, directory)


def _walk(package: str, directory: str) -> Iterator[tuple[str, str]]:
    with os.scandir(directory) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        name, extension = os.path.splitext(entry.name)
        if name.startswith(("_", ".")):
            continue
        if extension == ".py":
            yield f"{package}.{name}", entry.path
        elif entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
            yield from _walk(f"{package}.{name}", entry.path)


# ---------------------------------------------------------------- checking


def load_rule(name: str, path: str) -> Rule:
    """The one rule of a module, with its page's front matter. Raises RuleError."""
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise _import_error(name, path, error) from error
    rule = _rule_class(module, path)()
    rule.meta = _meta(name, path)
    _pairs(rule)  # a subscription that cannot be understood is found at the start of a run, not within it
    return rule


def _meta(name: str, path: str) -> Meta:
    meta = front_matter.read(f"{os.path.splitext(path)[0]}.md")
    if meta.slug.replace("-", "_") != name.rpartition(".")[2]:
        raise RuleError(meta.page, 1, f"the slug {meta.slug!r} is not the name of the module {path}")
    return meta


class _Listed(Rule):
    """Stands for a rule whose module has not been imported."""

    def __init__(self, module: str, path: str) -> None:
        self.meta = _meta(module, path)
        self._where = module, path

    def loaded(self) -> Rule:
        return load_rule(*self._where)


def _rule_class(module: ModuleType, path: str) -> type[Rule]:
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise RuleError(path, 1, f"a rule module defines one subclass of Rule, not {len(classes)}")
    return classes[0]


def _import_error(name: str, path: str, error: Exception) -> RuleError:
    """Points at the rule's own line, wherever deeper the exception came from."""
    line = 1
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno or 1
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return RuleError(path, line, f"{name} cannot be imported: {type(error).__name__}: {error}")


def _pairs(rule: Rule) -> list[Pair]:
    """A rule's subscriptions, one per type of fact that its `suspect` methods name."""
    methods = {name: getattr(rule, name) for name in dir(rule) if name.startswith(("suspect", "check"))}
    found: list[Pair] = []
    for name, method in methods.items():
        role, underscore, topic = name.partition("_")
        if role not in ("suspect", "check") or not callable(method):
            continue
        twin = ("check" if role == "suspect" else "suspect") + underscore + topic
        if twin not in methods:
            raise RuleError(*_where(method), f"{name} has no {twin} beside it")
        if role == "suspect":
            check = methods[twin]
            kinds = _named_facts(method)
            if kinds != _named_facts(check):
                raise RuleError(*_where(check), f"{twin} and {name} annotate `fact` differently")
            needs_node = "node" in check.__code__.co_varnames[: check.__code__.co_argcount]
            judgement = check if needs_node else _without_node(check)
            found.extend(Pair(kind, method, judgement, needs_node) for kind in kinds)
    if not found:
        path = sys.modules[type(rule).__module__].__file__ or ""
        raise RuleError(path, 1, "the rule has no suspect and check")
    return found


def _without_node(check: Callable[..., Any]) -> Callable[..., Any]:
    return lambda fact, node, context: check(fact, context)


def _named_facts(method: Callable[..., Any]) -> list[type[Fact]]:
    """The types that the annotation of `fact` names: `JitCall` or `JitCall | BoundaryUse`.

    Annotations are looked up by name in `jaxlint.flow.facts` and never evaluated, since rule modules import
    the names in the others (libcst's) for type checking only.
    """
    annotation = method.__annotations__.get("fact")
    if annotation is None:
        raise RuleError(*_where(method), f"{method.__name__} has no annotated parameter `fact`")
    kinds = []
    for name in annotation.split("|") if isinstance(annotation, str) else [annotation]:
        kind = getattr(facts, name.strip(), None) if isinstance(name, str) else name
        if not (isinstance(kind, type) and issubclass(kind, Fact)):
            raise RuleError(*_where(method), f"{name} names no fact of {facts.__name__}")
        kinds.append(kind)
    return kinds


def _where(method: Callable[..., Any]) -> tuple[str, int]:
    code = method.__code__
    return code.co_filename, code.co_firstlineno


# ---------------------------------------------------------------- choosing


class SelectorError(Exception):
    """A selector that names no rule. The message suggests what may have been meant."""


def select(
    rules: Sequence[Rule],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    preview: bool = False,
) -> list[Rule]:
    """The rules to run. A selector is a code, a beginning of codes (`JAX1`), a slug or `ALL`.

    The more exact selector wins, and `ignore` wins a tie: `ignore=["JAX1"], extend_select=["JAX103"]` leaves
    JAX103 of its hundred. Preview rules need `preview`, however they are named. Raises SelectorError.
    """
    wanted = _exactness([*(select or ("ALL",)), *extend_select], rules)
    refused = _exactness(ignore, rules)
    return [
        rule
        for rule in rules
        if (preview or rule.meta.status == "stable")
        and wanted.get(rule.meta.code, -1) > refused.get(rule.meta.code, -1)
    ]


def codes(selector: str, rules: Iterable[Rule]) -> frozenset[str]:
    """The codes that a selector names, engine codes included. Raises SelectorError when there are none."""
    slugs = {known.code: known.slug for known in _known(rules)}
    if selector == "ALL":
        return frozenset(slugs)
    begins = _current(selector)
    found = frozenset(code for code, slug in slugs.items() if code.startswith(begins) or slug == selector)
    if not selector or not found:
        raise _unknown(selector, slugs)
    return found


def aliases(rules: Iterable[Rule]) -> dict[str, str]:
    """Other names of codes, in lower case: the slugs, and what codes were called before they were renamed."""
    slugs = {known.slug: known.code for known in _known(rules)}
    return slugs | {old.lower(): new for old, new in REDIRECTS.items()}


def find(name: str, rules: Iterable[Rule]) -> Meta | EngineCode:
    """What a code or a slug stands for. Raises SelectorError when it is neither."""
    known = {each.code: each for each in _known(rules)}
    slugs = {each.slug: each for each in known.values()}
    found = known.get(_current(name)) or slugs.get(name)
    if found is None:
        raise _unknown(name, {code: each.slug for code, each in known.items()})
    return found


def _known(rules: Iterable[Rule]) -> list[Meta | EngineCode]:
    return [*ENGINE_CODES, *(rule.meta for rule in rules)]


def _current(code: str) -> str:
    return REDIRECTS.get(code.upper(), code.upper())


def _unknown(name: str, slugs: dict[str, str]) -> SelectorError:
    from difflib import get_close_matches

    near = [
        *get_close_matches(name.lower(), slugs.values(), n=1),
        *get_close_matches(name.upper(), slugs, n=1),
    ]
    hint = f", did you mean {near[0]!r}?" if near else "; `jaxlint rules` lists what there is"
    return SelectorError(f"unknown rule {name!r}{hint}")


def _exactness(selectors: Iterable[str], rules: Sequence[Rule]) -> dict[str, int]:
    """For each selected code how exactly it was named: ALL least, a code or a slug most."""
    exactness: dict[str, int] = {}
    for selector in selectors:
        for code in codes(selector, rules):
            named = selector if code.startswith(selector.upper()) else code
            length = 0 if selector == "ALL" else len(named)
            exactness[code] = max(length, exactness.get(code, 0))
    return exactness
