"""`jaxlint rules`, `jaxlint rules new` and `jaxlint explain`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import pytest
from made_rules import AddRule

from jaxlint import page, registry
from jaxlint.cli import explain, rules
from jaxlint.engine_codes import ENGINE_CODES

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers(dest="command")
    commands = {"explain": explain, "rules": rules}
    for command in commands.values():
        command.add_parser(subparsers)
    args = parser.parse_args(words)
    return commands[args.command].run(args)


@pytest.fixture(autouse=True)
def made(add_rule: AddRule) -> None:
    """Two rules stand in for jaxlint's own."""
    add_rule("JAX101", "made-up")
    add_rule("JAX102", "made-up-too", status="preview")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source checkout with no rules yet, as the current directory."""
    (tmp_path / "jaxlint").mkdir()
    shutil.copy(ROOT / "jaxlint" / "rule.py", tmp_path / "jaxlint")
    for folder in ("", *rules.FOLDERS.values()):
        (tmp_path / "rules" / folder).mkdir(exist_ok=True)
        (tmp_path / "rules" / folder / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- the list


def test_list_has_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:4] for row in rows] == [
        ["JAX101", "made-up", "warning", "stable"],
        ["JAX102", "made-up-too", "warning", "preview"],
    ]


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "--output-format", "json") == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["code"], first["slug"], first["severity"], first["fix"]) == (
        "JAX101",
        "made-up",
        "warning",
        "none",
    )
    assert second["status"] == "preview"


# ---------------------------------------------------------------- pages


def test_explain_by_code_and_by_slug(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "jax101") == 0
    by_code = capsys.readouterr().out
    assert run("explain", "made-up") == 0
    assert capsys.readouterr().out == by_code
    assert by_code.startswith("# JAX101 made-up\n\nwarning, stable since 0.1.0, fix: none\n")
    assert "## Why is this bad?" in by_code
    assert "summary:" not in by_code
    assert "```python\nx = 1  # JAX101\n```" in by_code


@pytest.mark.parametrize("code", ENGINE_CODES, ids=lambda code: code.code)
def test_explain_engine_code(code: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", code.code) == 0  # type: ignore[attr-defined]  # the parameters are of two classes
    assert code.summary in capsys.readouterr().out  # type: ignore[attr-defined]  # the parameters are of two classes


def test_explain_renders_for_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert run("explain", "JAX101") == 0
    out = capsys.readouterr().out
    assert "Why is this bad?" in out
    assert "```" not in out


def test_explain_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "unused-supression") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "'unused-suppression'" in captured.err


# ---------------------------------------------------------------- a new rule


def test_new_rule_loads(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("rules", "new", "JAX399", "new-thing") == 0
    module = checkout / "rules" / "device_memory" / "new_thing.py"
    written = capsys.readouterr().out.splitlines()
    assert written == [str(module), str(module.with_suffix(".md"))]
    monkeypatch.syspath_prepend(module.parent)
    rule = registry.load_rule("new_thing", str(module))
    assert (rule.meta.code, rule.meta.status) == ("JAX399", "preview")
    assert type(rule).__name__ == "NewThing"
    assert list(page.read(module.with_suffix(".md")).sections) == list(page.HEADINGS)


def test_new_rule_from_a_folder_below(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "rules" / "trace")
    assert run("rules", "new", "JAX299", "new-thing") == 0
    assert (checkout / "rules" / "trace" / "new_thing.py").exists()


def test_taken_code(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "new", "JAX101", "new-thing") == 2
    said = capsys.readouterr().err
    assert "taken by made-up" in said
    assert said.endswith("the next free code is JAX103\n")
    assert not list((checkout / "rules").rglob("*.md"))


@pytest.mark.parametrize(
    ("code", "slug", "said"),
    [
        ("JAX1", "new-thing", "not a rule's code"),
        ("JAX099", "new-thing", "not a rule's code"),
        ("ACME101", "new-thing", "not a rule's code"),
        ("JAX199", "New_Thing", "not a slug"),
        ("JAX199", "3d-things", "begin the slug with a letter"),
    ],
)
def test_refused(checkout: Path, capsys: pytest.CaptureFixture[str], code: str, slug: str, said: str) -> None:
    assert run("rules", "new", code, slug) == 2
    assert said in capsys.readouterr().err
    assert not list((checkout / "rules").rglob("*.md"))


def test_taken_slug(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "new", "JAX199", "made-up") == 2
    assert "already" in capsys.readouterr().err


def test_outside_a_checkout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("rules", "new", "JAX199", "new-thing") == 2
    assert "source checkout" in capsys.readouterr().err
