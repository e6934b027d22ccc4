"""Every rule page is a test: what it says of its rule, its examples and its figures must be so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from jaxlint import front_matter, page, registry
from jaxlint.finding import Applicability, Finding
from jaxlint.fix.apply import apply_fixes
from jaxlint.page import Example, Page
from jaxlint.rule import Rule, RuleError

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "rules").rglob("*.md"))


class Case(NamedTuple):
    """One example of one page."""

    page: Page
    example: Example
    name: str

    def __repr__(self) -> str:
        return self.name


@cache
def cases(kind: str) -> list[Case]:
    """All examples of a kind. A page that cannot be parsed has none: test_page says what is wrong with it."""
    found = []
    for path in PAGES:
        try:
            parsed = page.read(path)
        except RuleError:
            continue
        found += [
            Case(parsed, example, f"{parsed.meta.code}:{example.line}")
            for example in parsed.examples
            if example.kind == kind
        ]
    return found


def each(*kinds: str) -> pytest.MarkDecorator:
    chosen = [case for kind in kinds for case in cases(kind)]
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


each_page = pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])


@cache
def rule_of(path: Path) -> Rule:
    """The rule of a page, loaded alone, so that one broken rule does not fail the tests of the others."""
    parts = path.with_suffix("").relative_to(ROOT / "rules").parts
    return registry.load_rule(".".join((registry.PACKAGE, *parts)), str(path.with_suffix(".py")))


# ---------------------------------------------------------------- the page itself


@each_page
def test_page(path: Path) -> None:
    parsed = page.read(path)
    assert path.with_suffix(".py").exists(), "a page without a rule"
    assert rule_of(path).meta == parsed.meta
    missing = {"What it does", "Why is this bad?", "Example"} - parsed.sections.keys()
    assert not missing
    kinds = Counter(example.kind for example in parsed.examples)
    assert kinds["bad"], "the page shows nothing that the rule flags"
    assert kinds["good"], "the page shows nothing that the rule lets pass"


def test_registry_loads_every_page() -> None:
    own = {rule.meta.code for rule in registry.load() if Path(rule.meta.page).is_relative_to(ROOT)}
    assert own == {front_matter.read(path).code for path in PAGES}


@each("bad")
def test_bad_example_is_marked(case: Case) -> None:
    codes = {mark.code for block in case.example.blocks for mark in block.marks}
    assert case.page.meta.code in codes


@each("bad", "good", "measure")
def test_example_compiles(case: Case) -> None:
    for block in (*case.example.blocks, *case.example.fixed):
        if block.language == "python":
            compile(block.source, f"{case.page.meta.page}:{block.line}", "exec")


# ---------------------------------------------------------------- what the rule says


def findings(case: Case, sources: dict[str, str], root: Path) -> list[Finding]:
    """What the page's rule says of these modules, laid out below `root`."""
    from jaxlint.check import check
    from jaxlint.project.files import SourceFile
    from jaxlint.project.root import Project
    from jaxlint.project.settings import Settings

    for file, source in sources.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    files = [SourceFile(path=file, absolute=str(root / file), data=None) for file in sources]
    version = case.example.options.get("jax")
    settings = Settings(jax_version=tuple(map(int, version.split("."))) if version else None)
    rules = [rule_of(Path(case.page.meta.page))]
    found = check(files, Project(str(root), settings), settings, rules, jobs=1, cache=False)
    assert not [finding.message for finding in found if finding.code in ("JAX000", "JAX001")]
    return [finding for finding in found if finding.code == case.page.meta.code]


def applicable(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.fix and f.fix.applicability is not Applicability.DISPLAY]


@each("bad")
def test_bad_example(case: Case, tmp_path: Path) -> None:
    expected = sorted(
        (block.file, mark.line)
        for block in case.example.blocks
        for mark in block.marks
        if mark.code == case.page.meta.code
    )
    found = findings(case, case.example.sources, tmp_path)
    assert sorted((finding.path, finding.span.line) for finding in found) == expected
    assert not (case.page.meta.fix == "none" and any(finding.fix for finding in found))
    assert not (case.page.meta.fix in ("none", "display") and applicable(found))


@each("good")
def test_good_example(case: Case, tmp_path: Path) -> None:
    found = findings(case, case.example.sources, tmp_path)
    assert [(finding.path, finding.span.line, finding.message) for finding in found] == []


@each("bad")
def test_fixed_form(case: Case, tmp_path: Path) -> None:
    """Applying the fixes makes exactly the form that the page shows, and leaves nothing more to apply."""
    sources = case.example.sources
    fixable = applicable(findings(case, sources, tmp_path))
    fixed = {
        file: apply_fixes(source, [f.fix for f in fixable if f.fix and f.path == file])
        for file, source in sources.items()
    }
    assert fixed == sources | {block.file: block.source for block in case.example.fixed}
    assert not applicable(findings(case, fixed, tmp_path))


# ---------------------------------------------------------------- figures


@pytest.fixture(scope="session")
def printed(request: pytest.FixtureRequest) -> dict[str, tuple[str, str]]:
    """Output and error of every measurement selected in this session, by name."""
    selected = {
        item.callspec.params["case"].name: item.callspec.params["case"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname == "test_figures"
    }
    together = {name: case for name, case in selected.items() if case.example.options.get("process") != "own"}
    groups = [together, *({name: case} for name, case in selected.items() if name not in together)]
    if not has_jax():
        pytest.skip("jax is not installed")
    results: dict[str, tuple[str, str]] = {}
    for group in groups:
        results |= run_measurements({name: case.example.blocks[0].source for name, case in group.items()})
    return results


def run_measurements(programs: dict[str, str]) -> dict[str, tuple[str, str]]:
    if not programs:
        return {}
    done = subprocess.run(
        [JAX_PYTHON, str(Path(__file__).with_name("measure_child.py"))],
        input=json.dumps(list(programs.items())),
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return dict.fromkeys(programs, ("", done.stderr))
    return {name: (output, error) for name, (output, error) in json.loads(done.stdout).items()}


def has_jax() -> bool:
    return subprocess.run([JAX_PYTHON, "-c", "import jax"], capture_output=True).returncode == 0


# An interpreter that has jax, Equinox, Flax and Optax, where that is not the one that runs the tests.
JAX_PYTHON = os.environ.get("JAXLINT_JAX_PYTHON", sys.executable)


@each("measure")
def test_figures(case: Case, printed: dict[str, tuple[str, str]]) -> None:
    """A measurement prints the figures that the page shows below it."""
    output, error = printed[case.name]
    assert not error
    assert output == case.example.output
