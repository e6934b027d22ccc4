"""How rules are found, checked and chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from made_rules import MODULE, PAGE, AddRule

from jaxlint import registry
from jaxlint.flow.facts import BoundaryUse, JitCall, Scan
from jaxlint.rule import Rule, RuleError


def codes(rules: list[Rule]) -> list[str]:
    return [rule.meta.code for rule in rules]


# ---------------------------------------------------------------- finding


def test_rules_are_found_at_any_depth_and_sorted_by_code(add_rule: AddRule) -> None:
    add_rule("JAX902", "a-rule")
    add_rule("JAX901", "b-rule", folder=".")
    add_rule("JAX903", "c-rule").with_name("_shared.py").write_text("raise RuntimeError")
    assert codes(registry.load()) == ["JAX901", "JAX902", "JAX903"]


def test_rules_of_other_distributions(add_rule: AddRule, tmp_path: Path) -> None:
    own = add_rule("JAX901", "own-rule")
    other = tmp_path / "other_rules"
    other.mkdir()
    (other / "__init__.py").touch()
    own.with_name("own_rule.py").replace(other / "other_rule.py")
    (other / "other_rule.md").write_text(PAGE.format(code="ACME101", slug="other-rule", status="stable"))
    own.with_suffix(".md").unlink()
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jaxlint.rules]\nacme = other_rules\n")
    assert codes(registry.load()) == ["ACME101"]


def test_start_imports_neither_libcst_nor_metadata_nor_jax() -> None:
    program = (
        "import sys; from jaxlint import registry; registry.pairs(registry.load());"
        "print([name for name in ('libcst', 'importlib.metadata', 'jax', 'rich', 'pathspec', 'astroid')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---------------------------------------------------------------- checking


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("class Made(Rule):", "class Made(Rule)", 8, "SyntaxError"),
        ("import TYPE_CHECKING", "import TYPE_CHECKIN", 2, "ImportError"),
        ("class Made(Rule):", "class Made:", 1, "one subclass of Rule"),
        ("suspect(self, fact: JitCall)", "suspect(self, fact: JitCal)", 9, "JitCal names no fact"),
        ("suspect(self, fact: JitCall)", "suspect(self, fact: Boundary)", 9, "Boundary names no fact"),
        ("suspect(self, fact: JitCall)", "suspect(self, fact)", 9, "no annotated parameter"),
        ("suspect(self, fact: JitCall)", "suspect(self, fact: Scan)", 11, "differently"),
        ("def suspect(", "def suspect_loop(", 11, "no suspect beside it"),
        ("def check(", "def check_loop(", 11, "no suspect_loop beside it"),
        ("    def suspect", "    def think", 11, "no suspect beside it"),
    ],
)
def test_unusable_module_is_placed(add_rule: AddRule, old: str, new: str, line: int, said: str) -> None:
    assert old in MODULE
    path = add_rule("JAX901", "made-rule", MODULE.replace(old, new, 1))
    with pytest.raises(RuleError) as error:
        registry.load()
    assert (error.value.path, error.value.line) == (str(path), line), error.value
    assert said in error.value.message


def test_error_deep_in_an_import_points_at_the_rule(add_rule: AddRule) -> None:
    path = add_rule("JAX901", "made-rule", "import json\n\njson.loads('{')\n" + MODULE.partition("\n")[2])
    with pytest.raises(RuleError) as error:
        registry.load()
    assert (error.value.path, error.value.line) == (str(path), 3)


def test_page_of_another_name(add_rule: AddRule) -> None:
    path = add_rule("JAX901", "made-rule")
    path.with_suffix(".md").rename(path.with_name("other.md"))
    with pytest.raises(RuleError, match="no page"):
        registry.load()


def test_slug_of_another_name(add_rule: AddRule) -> None:
    path = add_rule("JAX901", "made-rule")
    path.with_suffix(".md").write_text(PAGE.format(code="JAX901", slug="other", status="stable"))
    with pytest.raises(RuleError, match="not the name of the module"):
        registry.load()


def test_code_is_unique(add_rule: AddRule) -> None:
    add_rule("JAX901", "made-rule")
    add_rule("JAX901", "other-rule")
    with pytest.raises(RuleError, match=r"taken by .*made_rule\.md"):
        registry.load()


# ---------------------------------------------------------------- subscriptions


def test_pairs_by_fact(add_rule: AddRule) -> None:
    module = MODULE.replace("fact: JitCall", "fact: JitCall | BoundaryUse") + (
        "    def suspect_scan(self, fact: Scan) -> bool:\n        return fact.stack == 'last'\n"
        "    def check_scan(self, fact: Scan, node, ctx):\n        return iter(())\n"
    )
    add_rule("JAX901", "made-rule", module)
    add_rule("JAX902", "next-rule")
    rules = registry.load()
    by_fact = registry.pairs(rules)
    assert {kind: [rule.meta.code for rule, _ in found] for kind, found in by_fact.items()} == {
        JitCall: ["JAX901", "JAX902"],
        BoundaryUse: ["JAX901"],
        Scan: ["JAX901"],
    }
    ((_, pair),) = by_fact[Scan]
    assert (pair.suspect.__name__, pair.check.__name__) == ("suspect_scan", "check_scan")


# ---------------------------------------------------------------- choosing


@pytest.fixture
def rules(add_rule: AddRule) -> list[Rule]:
    add_rule("JAX101", "one-one")
    add_rule("JAX103", "one-three")
    add_rule("JAX190", "one-ninety", status="preview")
    add_rule("JAX201", "two-one")
    return registry.load()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["JAX101", "JAX103", "JAX201"]),
        ({"preview": True}, ["JAX101", "JAX103", "JAX190", "JAX201"]),
        ({"select": ["JAX1"]}, ["JAX101", "JAX103"]),
        ({"select": ["JAX1"], "preview": True}, ["JAX101", "JAX103", "JAX190"]),
        ({"select": ["JAX190"]}, []),
        ({"select": ["one-three"]}, ["JAX103"]),
        ({"select": ["jax103"]}, ["JAX103"]),
        ({"select": ["JAX1"], "extend_select": ["two-one"]}, ["JAX101", "JAX103", "JAX201"]),
        ({"ignore": ["JAX1"]}, ["JAX201"]),
        ({"ignore": ["JAX1"], "extend_select": ["JAX103"]}, ["JAX103", "JAX201"]),
        ({"select": ["JAX103"], "ignore": ["JAX103"]}, []),
        ({"select": ["ALL"], "ignore": ["one-one"]}, ["JAX103", "JAX201"]),
        ({"ignore": ["ALL"], "select": ["JAX2"]}, ["JAX201"]),
        ({"ignore": ["JAX002"]}, ["JAX101", "JAX103", "JAX201"]),
    ],
)
def test_select(rules: list[Rule], options: dict[str, list[str]], expected: list[str]) -> None:
    assert codes(registry.select(rules, **options)) == expected  # type: ignore[arg-type]  # options of several types


@pytest.mark.parametrize(
    ("selector", "suggestion"), [("JAX104", "JAX10"), ("one-tree", "'one-three'"), ("", "jaxlint rules")]
)
def test_unknown_selector(rules: list[Rule], selector: str, suggestion: str) -> None:
    with pytest.raises(registry.SelectorError, match=suggestion) as error:
        registry.select(rules, select=[selector])
    assert repr(selector) in str(error.value)


def test_renamed_code(rules: list[Rule], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.REDIRECTS, "JAX150", "JAX103")
    assert codes(registry.select(rules, select=["JAX150"])) == ["JAX103"]


def test_listed_rules_are_not_imported_before_they_are_asked(add_rule: AddRule) -> None:
    add_rule("JAX901", "made-up", module="raise RuntimeError('imported')\n")
    (rule,) = registry.listed()
    assert (rule.meta.code, rule.meta.slug) == ("JAX901", "made-up")
    with pytest.raises(RuleError, match="imported"):
        registry.pairs([rule])
