"""Neither the cache nor the number of processes makes a difference to what is found."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest

import jaxlint.check as checking
from jaxlint import pool, registry
from jaxlint.check import check
from jaxlint.finding import Finding
from jaxlint.index.indexer import Indexer
from jaxlint.index.records import ModuleRecord
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

    def analysed(session: Session, path: str) -> Outcome:
        raise AssertionError(path)

    monkeypatch.setattr(Session, "outcome", analysed)
    assert run(tmp_path, paths) == cold


def test_a_change_in_another_module_is_noticed(tmp_path: Path) -> None:
    paths = project(tmp_path, 1)
    assert run(tmp_path, paths)
    (tmp_path / "pkg" / "settings.py").write_text("ROUNDS = 1\n")
    assert run(tmp_path, paths) == run(tmp_path, paths, cache=False)


@pytest.mark.parametrize("content", ["", "{", "[[1]]", "7", '{"a": []}', '{"pkg/m0.py": [1]}', "[" * 100_000])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, content: str) -> None:
    paths = project(tmp_path, 1)
    cold = run(tmp_path, paths)
    whole = {entry: entry.read_text() for entry in stored(tmp_path)}
    assert len(whole) == 3  # the run, the outcomes of its roots, the records of its modules
    for entry in whole:
        entry.write_text(content)
    assert run(tmp_path, paths) == cold
    assert {entry: entry.read_text() for entry in stored(tmp_path)} == whole


def test_after_a_change_only_what_it_concerns_is_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = project(tmp_path, 3)
    run(tmp_path, paths)
    analysed, indexed, outcome, made = [], [], Session.outcome, Indexer._made

    def note_outcome(session: Session, path: str) -> Outcome:
        analysed.append(os.path.basename(path))
        return outcome(session, path)

    def note_record(indexer: Indexer, entry: ModuleEntry) -> ModuleRecord:
        indexed.append(entry.name)
        return made(indexer, entry)

    monkeypatch.setattr(Session, "outcome", note_outcome)
    monkeypatch.setattr(Indexer, "_made", note_record)
    (tmp_path / "pkg" / "m1.py").write_text(HAZARD.replace("ROUNDS)", "ROUNDS + 1)"))
    found = run(tmp_path, paths)
    assert (analysed, indexed) == (["m1.py"], ["pkg.m1"])
    assert found == run(tmp_path, paths, cache=False)
    analysed.clear()
    (tmp_path / "pkg" / "settings.py").write_text("# more\nROUNDS = 9\n")
    assert run(tmp_path, paths[:1]) == [finding for finding in found if finding.path.endswith("m0.py")]
    assert analysed == ["m0.py"]


def step_project(tmp_path: Path, constants: str, edits: dict[str, str]) -> list[str]:
    """Modules whose findings depend on each other, with some replaced."""
    package = tmp_path / "pkg"
    package.mkdir(exist_ok=True)
    sources = {
        "__init__.py": "from pkg.model import step\n",
        "constants.py": constants,
        "model.py": (
            "import equinox as eqx\nfrom pkg.constants import SCALE\n@eqx.filter_jit\n"
            "def step(x, n):\n    return x * n * SCALE\n"
        ),
        "helper.py": "from pkg import step\ndef advance(x, n):\n    return step(x, n)\n",
        "train.py": "import jax\nfrom pkg.helper import advance\nfor i in range(99):\n    advance(1.0, i)\n",
        **edits,
    }
    for name, text in sources.items():
        (package / name).write_text(text)
    return sorted(str(path) for path in package.glob("*.py"))


EDITS: list[dict[str, str]] = [
    {},
    {"helper.py": "\n\nfrom pkg import step\ndef advance(x, n):\n    return step(x, n)\n"},
    {"train.py": "import jax\nfrom pkg.helper import advance\nadvance(1.0, 3)\n"},
    {"helper.py": "from pkg import step\ndef advance(x, n):\n    return step(x, 7)\n"},
    {"more.py": "import jax\nfrom pkg.helper import advance\nwhile True:\n    advance(1.0, 2)\n"},
    {
        "helper.py": "from pkg import steps\ndef advance(x, n):\n    return steps.step(x, n)\n",
        "steps.py": HAZARD,
    },
    {"train.py": "import jax\ndef broken(:\n"},
    {"__init__.py": ""},
    {},
]


@pytest.mark.parametrize("jobs", [1, 2])
def test_warm_is_cold_through_any_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "_ENOUGH", 2)
    counts = []
    for number, edits in enumerate(EDITS):
        paths = step_project(tmp_path, "SCALE = 2\n" if number % 2 else "SCALE = 3\n", edits)
        warm = run(tmp_path, paths, jobs=jobs)
        assert warm == run(tmp_path, paths, cache=False)
        assert run(tmp_path, list(reversed(paths)), jobs=jobs) == warm
        for path in paths:
            shown = os.path.relpath(path, tmp_path)
            assert run(tmp_path, [path]) == [finding for finding in warm if finding.path == shown]
        counts.append(len(warm))
    assert len(set(counts)) > 2, "the edits make no difference"


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
    paths = project(tmp_path, checking._ENOUGH + 3)
    (tmp_path / "pkg" / "m1.py").write_text("import jax\ndef broken(:\n")
    alone = run(tmp_path, paths, cache=False)
    assert {"JAX001", "JAX103"} <= {finding.code for finding in alone}
    assert run(tmp_path, paths, jobs=3, cache=False) == alone
    assert run(tmp_path, paths) == alone
    (tmp_path / "pkg" / "settings.py").write_text("ROUNDS = 8\n")  # the records of the others are known
    assert run(tmp_path, paths, jobs=3) == alone


def test_a_process_that_dies_loses_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = project(tmp_path, checking._ENOUGH + 3)
    alone, parent, outcome = run(tmp_path, paths, cache=False), os.getpid(), Session.outcome

    def dying(session: Session, path: str) -> Outcome:
        if path.endswith("m7.py") and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome(session, path)

    if sys.platform != "linux":
        pytest.skip("needs processes that are forked")
    monkeypatch.setattr(Session, "outcome", dying)
    found = run(tmp_path, paths, jobs=2, cache=False)
    (failure,) = (finding for finding in found if finding.code == "JAX000")
    assert failure.path == os.path.join("pkg", "m7.py")
    assert failure.message.endswith("the process that checked this file was ended by SIGKILL")
    assert [f for f in found if f.code != "JAX000"] == [f for f in alone if not f.path.endswith("m7.py")]


def test_processes_that_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = project(tmp_path, 4)
    alone = run(tmp_path, paths, cache=False)
    monkeypatch.setattr(checking, "_ENOUGH", 2)
    monkeypatch.setattr(pool, "_context", lambda: multiprocessing.get_context("spawn"))
    assert run(tmp_path, paths, jobs=2, cache=False) == alone


def test_where_no_process_starts_the_work_is_done_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = project(tmp_path, 4)
    alone = run(tmp_path, paths, cache=False)

    def refuse(*_: object) -> None:
        raise OSError("made up")

    monkeypatch.setattr(checking, "_ENOUGH", 2)
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    assert run(tmp_path, paths, jobs=2, cache=False) == alone


def test_an_interrupt_ends_the_processes(tmp_path: Path) -> None:
    started = pool.each(os.path.getsize, project(tmp_path, 60), 2)
    next(started)
    started.close()  # what an exception in the loop around it does
    assert not multiprocessing.active_children()
