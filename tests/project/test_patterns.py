"""Path patterns agree with git about .gitignore files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from jaxlint.project.patterns import Patterns

FILES = (
    "a.py", "b.log", "build/x.py", "src/build/x.py", "src/a.py", "src/deep/er/a.py", "src/gen/a_pb2.py",
    "docs/conf.py", "docs/api/gen.py", "keep.log", "foo/bar/baz.py", "foo/baz.py", "x1.py", "x2.py", "xa.py",
    "sp ace.py", "#hash.py", "!bang.py", "name[1].py", "dir/sub/file.py", "dir/file.py",
)  # fmt: skip

LISTS = (
    ["*.log", "!keep.log"],
    ["build"],
    ["build/"],
    ["/build"],
    ["/build/", "docs/"],
    ["src/*.py"],
    ["src/**/a.py"],
    ["**/gen"],
    ["foo/**"],
    ["foo/**/baz.py"],
    ["x[12].py"],
    ["x[!1].py"],
    ["x[^1].py"],
    ["x?.py"],
    ["sp ace.py   "],
    ["\\#hash.py", "# comment", ""],
    ["\\!bang.py"],
    ["name\\[1\\].py"],
    ["dir/*", "!dir/file.py"],
    ["*", "!*/", "!*.log"],
    ["a.py", "!src/a.py"],
    ["[z-a].py", "a.py"],
    ["doc*/api"],
    ["**"],
    ["src/**/**/a.py"],
)


def covered(patterns: list[str]) -> set[str]:
    found = Patterns(patterns)
    return {path for path in FILES if found.cover(path)}


@pytest.mark.skipif(shutil.which("git") is None, reason="git tells what is right")
@pytest.mark.parametrize("patterns", LISTS, ids=" ".join)
def test_as_git_does(patterns: list[str], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns) + "\n")
    for path in FILES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    kept = set(listed.stdout.split("\0"))
    assert covered(patterns) == {path for path in FILES if path not in kept}


def test_a_pattern_alone_decides_about_the_path_and_not_about_what_is_above() -> None:
    patterns = Patterns(["build"])
    assert patterns.decide("src/build", is_directory=True) is True
    assert patterns.decide("build/x.py", is_directory=False) is None
    assert Patterns(["*.py", "!x.py"]).decide("x.py", is_directory=False) is False


def test_no_patterns_cover_nothing() -> None:
    assert not Patterns([])
    assert not Patterns(["# only a comment"]).cover("a.py")
