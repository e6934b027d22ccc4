"""A host that comes with one file after the other: nothing is read twice, and nothing is missed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint import registry, standing
from jaxlint.check import check
from jaxlint.finding import Finding
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.session import Session

HELPER = """\
import jax
@jax.jit
def step(x):
    return x
def make(x):
    return jax.jit(lambda y: y + x)(1.0)
"""
TRAIN = "from pkg.helper import make\nfor i in range(99):\n    make(i)\n"
RULES = registry.load()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "helper.py").write_text(HELPER)
    (package / "train.py").write_text(TRAIN)
    return package


@pytest.fixture
def project(package: Path) -> Project:
    return Project(str(package.parent), Settings())


def hosted(path: Path, project: Project, text: str | None = None) -> list[Finding]:
    """What a host gets that names the file as flake8 does, and reads it with line ends of one kind."""
    text = path.read_text() if text is None else text
    file = SourceFile(f"./pkg/{path.name}", str(path), text.encode(), ast.parse(text))
    return check([file], project, project.settings, RULES)


def places(findings: list[Finding]) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.path, finding.span.line) for finding in findings]


def count_sessions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    begin = Session.__init__

    def note(self: Session, *arguments: object) -> None:
        made.append(1)
        begin(self, *arguments)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(Session, "__init__", note)
    return made


def test_one_session_serves_all_files(
    package: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = count_sessions(monkeypatch)
    assert places(hosted(package / "helper.py", project)) == [("JAX103", "./pkg/helper.py", 6)]
    assert hosted(package / "train.py", project) == []
    assert hosted(package / "__init__.py", project) == []
    assert len(made) == 1


def test_the_findings_are_those_of_the_command_line(package: Path, project: Project) -> None:
    alone = SourceFile("./pkg/helper.py", str(package / "helper.py"))
    assert hosted(package / "helper.py", project) == check(
        [alone], project, project.settings, RULES, cache=False
    )


def test_other_line_ends_are_no_other_file(
    package: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "helper.py").write_bytes(b"\xef\xbb\xbf" + HELPER.replace("\n", "\r\n").encode())
    made = count_sessions(monkeypatch)
    assert places(hosted(package / "helper.py", project, HELPER)) == [("JAX103", "./pkg/helper.py", 6)]
    assert len(made) == 1


def test_a_file_that_changed_is_noticed(
    package: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "_FRESH", -1.0)
    assert places(hosted(package / "helper.py", project)) == [("JAX103", "./pkg/helper.py", 6)]
    (package / "train.py").write_text("from pkg.helper import make\nmake(3)  # once\n")
    assert hosted(package / "helper.py", project) == []
    (package / "more.py").write_text(TRAIN)
    assert places(hosted(package / "helper.py", project)) == [("JAX103", "./pkg/helper.py", 6)]


def test_what_is_not_on_disk_is_checked_too(package: Path, project: Project) -> None:
    assert places(hosted(package / "helper.py", project, "\n" + HELPER)) == [("JAX103", "./pkg/helper.py", 7)]
    assert hosted(package / "helper.py", project, "import jax\n") == []


def test_later_processes_find_what_was_written(
    package: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hosted(package / "helper.py", project)
    standing.standing(project, RULES).save()

    def analysed(session: Session, path: str) -> None:
        raise AssertionError(path)

    monkeypatch.setattr(Session, "outcome", analysed)
    assert hosted(package / "helper.py", Project(str(package.parent), Settings())) == found != []
