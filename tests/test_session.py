"""One run after another: what one leaves behind is not seen by the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.index.table import ModuleEntry
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.session import Outcome, Session

HAZARD = """\
import jax
def run():
    for i in range(9):
        f = jax.jit(lambda x: x + i)
        f(1.0)
run()
"""
STATEFUL = """\
import jax

class Config:
    def __init__(self):
        self.scale = 1

CONFIG = Config()

@jax.jit
def step(x):
    return x * CONFIG.scale

def both(x):
    return step(step(x))
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/state.py": STATEFUL,
    "pkg/one.py": "from pkg.state import CONFIG, step\nfor i in range(9):\n    CONFIG.scale = i\n    step(1.0)\n",
    "pkg/two.py": "from pkg.state import CONFIG, both, step\nboth(1.0)\nCONFIG.scale = 3\nstep(1.0)\n",
    "pkg/three.py": HAZARD,
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    files = [SourceFile(name, str(tmp_path / name)) for name in FILES]
    return Session(files, Project(str(tmp_path), Settings()), registry.load())


def test_order_makes_no_difference(session: Session) -> None:
    one_way = {root.name: session.outcome(root.absolute) for root in session.roots}
    other_way = {root.name: session.outcome(root.absolute) for root in reversed(session.roots)}
    assert one_way == other_way
    assert any(outcome.findings for outcome in one_way.values())


def test_an_outcome_tells_what_it_depends_on(session: Session, tmp_path: Path) -> None:
    outcomes = {root.name: session.outcome(root.absolute) for root in session.roots}

    def places(paths: list[str]) -> set[str]:
        return {str(Path(path).relative_to(tmp_path)) for path in paths}

    assert places(outcomes["pkg.one"].read) >= {"pkg/one.py", "pkg/state.py"}
    assert "pkg/two.py" not in places(outcomes["pkg.one"].read)
    assert "pkg/two.py" in places(outcomes["pkg.state"].seen)  # it calls a function
    assert places(outcomes["pkg.three"].read) == {"pkg/three.py"}


def test_a_root_that_fails_costs_itself(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse = session._findings

    def fail_on_one(root: ModuleEntry, *rest: object) -> object:
        if root.name == "pkg.one":
            raise RecursionError("made to\nfail")
        return analyse(root, *rest)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(session, "_findings", fail_on_one)
    outcomes: dict[str, Outcome] = {root.name: session.outcome(root.absolute) for root in session.roots}
    (failure,) = outcomes["pkg.one"].findings
    assert (failure.code, failure.message) == ("JAX000", "internal error: RecursionError: made to fail")
    assert not outcomes["pkg.one"].lasting
    assert {f.code for f in outcomes["pkg.three"].findings} == {"JAX103"}
    assert outcomes["pkg.three"].lasting


def test_a_file_that_cannot_be_indexed_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxlint.index import build

    original = build.build

    def fail_on_bad(tree: object, name: str, *rest: object) -> object:
        if name == "bad":
            raise MemoryError
        return original(tree, name, *rest)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(build, "build", fail_on_bad)
    monkeypatch.chdir(tmp_path)
    files = []
    for name in ("bad", "good"):
        (tmp_path / f"{name}.py").write_text(HAZARD)
        files.append(SourceFile(f"{name}.py", str(tmp_path / f"{name}.py")))
    found = check(files, Project(str(tmp_path), Settings()), Settings(), registry.load())
    assert ("JAX000", "bad.py") in {(finding.code, finding.path) for finding in found}
    assert ("JAX103", "good.py") in {(finding.code, finding.path) for finding in found}
