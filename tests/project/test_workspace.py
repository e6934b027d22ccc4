"""Which files a run looks at, and which settings hold for each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project, find_root
from jaxlint.project.settings import DEFAULT_EXCLUDE, Settings, SettingsError
from jaxlint.project.toml import TomlError
from jaxlint.project.workspace import Workspace, survey
from jaxlint.record import replace


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the working one."""
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def touch(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()


def shown(*paths: str, **options: object) -> list[str]:
    return [file.path for file in survey(paths, **options).files]  # type: ignore[arg-type]  # options are passed on


# ---------------------------------------------------------------- paths


def test_a_directory_is_searched_in_order(tree: Path) -> None:
    touch("b.py", "a/z.py", "a/b/c.pyi", "a.py", "a/notes.txt", "a/script", "B.py")
    assert shown(".") == ["B.py", "a.py", "a/b/c.pyi", "a/z.py", "b.py"]


def test_dependency_files_are_found_with_the_modules(tree: Path) -> None:
    dependencies = [
        "environment.yml",
        "pyproject.toml",
        "requirements-gpu.txt",
        "requirements/base.in",
        "uv.lock",
    ]
    touch("a.py", "notes.txt", "docs/conf.yml", "settings.toml", "Cargo.lock", *dependencies)
    assert shown(".") == ["a.py", *dependencies]
    assert shown("*.txt", "r*/*") == ["requirements-gpu.txt", "requirements/base.in"]


def test_dependency_files_are_left_out_like_modules(tree: Path) -> None:
    Path(".git").mkdir()
    Path(".gitignore").write_text("uv.lock\n")
    touch("a.py", "uv.lock", "build/requirements.txt", "pkg/requirements.txt")
    assert shown(".") == ["a.py", "pkg/requirements.txt"]


def test_named_files_are_taken_whatever_they_are_called(tree: Path) -> None:
    touch("script", "a.txt", "build/x.py")
    assert shown("script", "a.txt", "build/x.py") == ["a.txt", "build/x.py", "script"]


def test_each_file_once(tree: Path) -> None:
    touch("a/b.py")
    os.symlink("b.py", "a/link.py")
    assert shown("a", "a/b.py", "./a/../a/b.py", "a/link.py", ".") == ["a/b.py"]


def test_outside_the_working_directory_paths_are_absolute(tree: Path) -> None:
    touch("../other/x.py")
    assert shown("../other") == [(tree.parent / "other" / "x.py").as_posix()]


def test_what_is_not_there(tree: Path) -> None:
    touch("a.py")
    workspace = survey(["a.py", "gone.py", "no/*.py"])
    assert [file.path for file in workspace.files] == ["a.py"]
    assert workspace.problems == ["gone.py: no such file or directory", "no/*.py: no file matches"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_what_is_no_file_is_not_waited_for(tree: Path) -> None:
    touch("a.py", "deep/b.py")
    os.mkfifo("pipe.py")
    os.mkfifo("deep/pipe.py")
    workspace = survey(["a.py", "pipe.py", os.devnull])
    assert [file.path for file in workspace.files] == ["a.py"]
    assert workspace.problems == [
        "pipe.py: neither a file nor a directory",
        f"{os.devnull}: neither a file nor a directory",
    ]
    assert shown(".") == shown("**/*.py") == ["a.py", "deep/b.py"]


def test_patterns_that_no_shell_has_expanded(tree: Path) -> None:
    touch("a.py", "src/b.py", "src/deep/c.py", "src/notes.txt", "build/d.py")
    assert shown("src/**/*.py") == ["src/b.py", "src/deep/c.py"]
    assert shown("*") == ["a.py", "build/d.py", "src/b.py", "src/deep/c.py"]
    assert shown("build/*.py") == []


def test_names_that_look_like_patterns(tree: Path) -> None:
    touch("a[1].py")
    assert shown("a[1].py") == ["a[1].py"]


def test_loops_and_loose_ends_of_links(tree: Path) -> None:
    touch("a/x.py")
    os.symlink("..", "a/up")
    os.symlink("nowhere", "a/.#x.py")
    os.symlink("loop.py", "a/loop.py")
    assert shown(".") == ["a/x.py"]


def test_a_link_to_a_directory_is_followed_when_it_is_named(tree: Path) -> None:
    touch("real/x.py")
    os.symlink("real", "link")
    assert shown("link") == ["link/x.py"]
    assert shown(".") == ["real/x.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_a_directory_that_cannot_be_read(tree: Path) -> None:
    touch("a/x.py", "b/y.py")
    os.chmod("a", 0)
    try:
        workspace = survey(["."])
    finally:
        os.chmod("a", 0o755)
    assert [file.path for file in workspace.files] == ["b/y.py"]
    assert workspace.problems == [f"{tree / 'a'}: cannot read: Permission denied"]


def test_given_content(tree: Path) -> None:
    touch("a.py")
    given = SourceFile("b.py", str(tree / "b.py"), b"x = 1\n")
    workspace = survey(["a.py"], [given])
    assert workspace.files[1] is given


# ---------------------------------------------------------------- exclusion


def test_default_exclusion(tree: Path) -> None:
    for name in DEFAULT_EXCLUDE:
        touch(f"{name}/x.py", f"pkg/{name}/x.py")
    touch("pkg/x.py", "buildings/x.py")
    assert shown(".") == ["buildings/x.py", "pkg/x.py"]


def test_a_directory_that_is_named_is_searched(tree: Path) -> None:
    touch("build/x.py")
    assert shown("build") == ["build/x.py"]


def test_exclude_and_extend_exclude(tree: Path) -> None:
    touch("a/gen/x.py", "a/b_pb2.py", "venv/x.py", "a/c.py")
    Path("jaxlint.toml").write_text("extend-exclude = ['a/gen', '*_pb2.py']")
    assert shown(".") == ["a/c.py"]
    Path("jaxlint.toml").write_text("exclude = ['a/gen']")
    assert shown(".") == ["a/b_pb2.py", "a/c.py", "venv/x.py"]


def test_force_exclude(tree: Path) -> None:
    touch("gen/deep/x.py", "a.py", "build/y.py")
    Path("jaxlint.toml").write_text("extend-exclude = ['gen']")
    paths = ("gen/deep/x.py", "a.py", "build", "gen/deep")
    assert shown(*paths) == ["a.py", "build/y.py", "gen/deep/x.py"]
    given = SourceFile("gen/z.py", str(tree / "gen" / "z.py"), b"")

    def forced(settings: Settings) -> Settings:
        return replace(settings, force_exclude=True)

    assert [file.path for file in survey(paths, [given], override=forced).files] == ["a.py"]


def test_gitignore_files(tree: Path) -> None:
    Path(".git").mkdir()
    Path(".gitignore").write_text("/out/\n*.gen.py\n")
    touch("a.py", "out/x.py", "pkg/out/y.py", "pkg/z.gen.py", "pkg/keep.gen.py", "pkg/local.py")
    Path("pkg/.gitignore").write_text("!keep.gen.py\nlocal.py\n")
    assert shown(".") == ["a.py", "pkg/keep.gen.py", "pkg/out/y.py"]
    assert shown("pkg") == ["pkg/keep.gen.py", "pkg/out/y.py"]
    assert shown("pkg/local.py", "out/x.py") == ["out/x.py", "pkg/local.py"]


def test_the_gitignore_of_another_repository(tree: Path) -> None:
    Path(".gitignore").write_text("*.py\n")
    touch("inner/a.py", "b.py")
    Path("inner/.git").mkdir()
    assert shown(".") == ["inner/a.py"]
    assert shown("inner") == ["inner/a.py"]


# ---------------------------------------------------------------- settings


def selections(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    return {file.path: part.settings.select for part in workspace.parts for file in part.files}


def test_every_file_has_the_nearest_settings(tree: Path) -> None:
    touch("a.py", "one/b.py", "one/sub/c.py", "two/d.py", "two/gen/e.py")
    Path("pyproject.toml").write_text("[tool.jaxlint]\nselect = ['JAX1']\n")
    Path("one/pyproject.toml").write_text("[project]\nname = 'one'\n")
    Path("two/jaxlint.toml").write_text("select = ['JAX2']\nextend-exclude = ['gen']\n")
    workspace = survey(["."])
    first = ["a.py", "one/b.py", "one/pyproject.toml", "one/sub/c.py", "pyproject.toml"]
    assert selections(workspace) == dict.fromkeys(first, ("JAX1",)) | {"two/d.py": ("JAX2",)}
    assert workspace.settings.select == ("JAX1",)
    assert [part.project.root for part in workspace.parts] == [str(tree), str(tree / "two")]


def test_the_settings_of_a_file_do_not_depend_on_its_company(tree: Path) -> None:
    touch("a.py", "two/d.py")
    Path("jaxlint.toml").write_text("select = ['JAX1']\n")
    Path("two/jaxlint.toml").write_text("select = ['JAX2']\n")
    assert selections(survey(["two/d.py"]))["two/d.py"] == ("JAX2",)
    assert selections(survey(["two/d.py", "a.py"]))["two/d.py"] == ("JAX2",)


def test_one_file_for_all_or_none(tree: Path) -> None:
    touch("a.py", "two/d.py", "ci/x")
    Path("two/jaxlint.toml").write_text("select = ['JAX2']\n")
    Path("ci/lint.toml").write_text("select = ['JAX3']\n")
    assert set(selections(survey(["."], config="ci/lint.toml")).values()) == {("JAX3",)}
    assert set(selections(survey(["."], isolated=True)).values()) == {()}


def test_settings_around_everything_have_to_be_right(tree: Path) -> None:
    touch("a.py")
    Path("pyproject.toml").write_text("[tool.jaxlint]\nslect = []\n")
    with pytest.raises(SettingsError):
        survey(["."])
    Path("pyproject.toml").write_text("[project\n")
    with pytest.raises(TomlError):
        survey(["."])


@pytest.mark.parametrize("text", ["slect = []", "select = ["])
def test_wrong_settings_below_cost_only_what_they_hold_for(text: str, tree: Path) -> None:
    touch("a.py", "two/d.py", "two/e.py", "three/f.py")
    Path("two/jaxlint.toml").write_text(text)
    Path("three/pyproject.toml").write_text("not ours, {{ cookiecutter.and_no_toml }}")
    workspace = survey(["."])
    assert [file.path for file in workspace.files] == ["a.py", "three/f.py", "three/pyproject.toml"]
    (problem,) = workspace.problems
    assert problem.startswith(str(tree / "two" / "jaxlint.toml"))


def test_a_broken_pyproject_below(tree: Path) -> None:
    touch("a.py", "two/d.py", "two/e.py")
    Path("two/pyproject.toml").write_text("[tool.jaxlint\n")
    workspace = survey(["."])
    assert [file.path for file in workspace.files] == ["a.py"]
    assert len(workspace.problems) == 1


# ---------------------------------------------------------------- the project


def test_the_root_is_where_the_settings_are(tree: Path) -> None:
    touch("pkg/a.py", "pkg/setup.py")
    Path("jaxlint.toml").touch()
    assert survey(["pkg/a.py"]).project.root == str(tree)


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", "setup.cfg", ".git"])
def test_without_settings_the_root_is_what_looks_like_one(marker: str, tree: Path) -> None:
    touch("pkg/a.py")
    Path(marker).touch()
    assert survey(["pkg/a.py"]).project.root == str(tree)


def test_home_is_no_project(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("setup.py", "code/x.py")
    monkeypatch.setenv("HOME", str(tree))
    assert find_root(str(tree / "code")) == ""


def test_the_project_has_more_files_than_the_run(tree: Path) -> None:
    touch("setup.py", "pkg/a.py", "pkg/b.py", "build/c.py")
    files = survey(["pkg/a.py"]).project.python_files()
    assert files == [str(tree / name) for name in ("pkg/a.py", "pkg/b.py", "setup.py")]


def test_a_project_without_a_root_is_what_lies_beside(tree: Path) -> None:
    touch("lone/a.py", "lone/b.py", "lone/deep/c.py", "dir/deep/d.py")
    places = [str(tree / "lone" / "a.py"), str(tree / "dir")]
    files = Project("", Settings(), places).python_files()
    assert files == [str(tree / name) for name in ("dir/deep/d.py", "lone/a.py", "lone/b.py")]
