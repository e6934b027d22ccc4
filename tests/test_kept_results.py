"""Neither the cache nor the number of processes makes a difference to what is found."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from jaxlint import pool, registry
from jaxlint.check import check
from jaxlint.finding import Finding
from jaxlint.index.table import ModuleEntry
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.session import Outcome, Session

HAZARD = """\
import jax
from pkg.settings import ROUNDS


def run():
    for i in range(ROUNDS):
        jax.jit(lambda x: x + i)(1.0)


run()
"""
RULES = registry.load()


def project(tmp_path: Path, modules: int) -> list[str]:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text("ROUNDS = 9\n")
    for number in range(modules):
        (package / f"m{number}.py").write_text(HAZARD)
    return sorted(str(path) for path in package.glob("m*.py"))


def run(tmp_path: Path, paths: list[str], *, jobs: int = 1, cache: bool = True) -> list[Finding]:
    files = [SourceFile(os.path.relpath(path, tmp_path), path) for path in paths]
    settings = Settings()
    return check(files, Project(str(tmp_path), settings), settings, RULES, jobs=jobs, cache=cache)


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / ".jaxlint_cache").rglob("*.json"))


def test_a_second_run_analyses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = project(tmp_path, 2)
    cold = run(tmp_path, paths)
    assert [finding.code for finding in cold].count("JAX103") == 2

    def analysed(session: Session, root: ModuleEntry) -> Outcome:
        raise AssertionError(root.path)

    monkeypatch.setattr(Session, "outcome", analysed)
    assert run(tmp_path, paths) == cold


def test_a_change_in_another_module_is_noticed(tmp_path: Path) -> None:
    paths = project(tmp_path, 1)
    assert run(tmp_path, paths)
    (tmp_path / "pkg" / "settings.py").write_text("ROUNDS = 1\n")
    assert run(tmp_path, paths) == run(tmp_path, paths, cache=False)
    assert len(stored(tmp_path)) == 2


@pytest.mark.parametrize("content", ["", "{", "[[1]]", "7", '{"a": []}', "[" * 100_000])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, content: str) -> None:
    paths = project(tmp_path, 1)
    cold = run(tmp_path, paths)
    (entry,) = stored(tmp_path)
    whole = entry.read_text()
    entry.write_text(content)
    assert run(tmp_path, paths) == cold
    assert entry.read_text() == whole


def test_no_cache_leaves_nothing(tmp_path: Path) -> None:
    run(tmp_path, project(tmp_path, 1), cache=False)
    assert not (tmp_path / ".jaxlint_cache").exists()


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / ".jaxlint_cache").write_text("a file where the directory should be")
    paths = project(tmp_path, 1)
    assert run(tmp_path, paths) == run(tmp_path, paths, cache=False)


def test_an_internal_error_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = project(tmp_path, 1)
    with monkeypatch.context() as patch:
        patch.setattr(Session, "module_role", lambda *_: 1 / 0)
        assert [finding.code for finding in run(tmp_path, paths)] == ["JAX000"]
    assert "JAX103" in [finding.code for finding in run(tmp_path, paths)]


def test_processes_find_what_one_finds(tmp_path: Path) -> None:
    paths = project(tmp_path, pool.ENOUGH + 3)
    (tmp_path / "pkg" / "m1.py").write_text("import jax\ndef broken(:\n")
    alone = run(tmp_path, paths, cache=False)
    assert {"JAX001", "JAX103"} <= {finding.code for finding in alone}
    assert run(tmp_path, paths, jobs=3, cache=False) == alone


def test_a_process_that_dies_loses_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = project(tmp_path, pool.ENOUGH + 3)
    alone, parent, outcome = run(tmp_path, paths, cache=False), os.getpid(), Session.outcome

    def dying(session: Session, root: ModuleEntry) -> Outcome:
        if root.path.endswith("m7.py") and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome(session, root)

    monkeypatch.setattr(Session, "outcome", dying)
    monkeypatch.setattr(pool.sys, "platform", "linux")
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    found = run(tmp_path, paths, jobs=2, cache=False)
    assert [finding.path for finding in found if finding.code == "JAX000"] == [os.path.join("pkg", "m7.py")]
    assert [f for f in found if f.code != "JAX000"] == [f for f in alone if not f.path.endswith("m7.py")]
