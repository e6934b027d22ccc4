"""Reading unified diffs: the lines that a change touches, whatever wrote the diff."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from jaxlint.project.unified_diff import Change, DiffError, Removal, read

HUNK = "@@ -1,3 +1,4 @@\n a\n+new\n b\n c\n"


def one(text: str | bytes, *existing: str) -> tuple[str, Change]:
    data = text.encode() if isinstance(text, str) else text
    [(path, change)] = read(data, existing.__contains__).items()
    return path, change


def git(directory: Path, *arguments: str) -> bytes:
    settings = ("-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *settings, *arguments], cwd=directory, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize("plain", [(), ("color.diff.meta=normal",), ("color.diff.frag=normal",)])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_colours_are_taken_off(plain: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    file = tmp_path / "x.py"
    file.write_bytes(f"a = 1{ending}b = 2{ending}c = '\x1b[0m'{ending}".encode())
    git(tmp_path, "add", ".")
    file.write_bytes(f"a = 1{ending}b = 3 {ending}c = '\x1b[0m'{ending}d = 4{ending}".encode())
    options = [part for setting in plain for part in ("-c", setting)]
    coloured = git(tmp_path, *options, "diff", "--color=always")
    assert b"\x1b[" in coloured
    assert read(coloured) == read(git(tmp_path, "diff", "--color=never"))


def test_lines_that_are_new_and_lines_that_are_shown() -> None:
    path, change = one(f"--- a/x.py\n+++ b/x.py\n{HUNK}")
    assert path == "x.py"
    assert change == Change(frozenset({2}), frozenset(), (range(1, 5),))
    assert change.touches(2, 2) and change.touches(1, 3)
    assert not change.touches(1, 1) and not change.touches(3, 9)
    assert change.shows(1, 4) and not change.shows(4, 5)


def test_what_was_taken_out_is_between_two_lines() -> None:
    _, change = one("--- a/x.py\n+++ b/x.py\n@@ -4,3 +4,2 @@\n a\n-b\n c\n")
    assert change.cuts == {4} and not change.added
    assert change.touches(4, 5) and change.touches(3, 9)
    assert not change.touches(4, 4) and not change.touches(5, 6)


def test_taken_out_without_context() -> None:
    _, change = one("--- a/x.py\n+++ b/x.py\n@@ -5,2 +4,0 @@\n-a\n-b\n@@ -1 +0,0 @@\n-a\n")
    assert change.cuts == {4, 0}
    assert change.shown == (range(4, 4), range(0))


def test_several_hunks_are_several_stretches() -> None:
    _, change = one(f"--- a/x.py\n+++ b/x.py\n{HUNK}@@ -11,1 +12,2 @@ def f():\n+x\n y\n")
    assert change.added == {2, 12}
    assert not change.shows(4, 12)


def test_lines_that_look_like_headers() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n--- a/old\n+++ b/new\n a\n"
    removed = (Removal(("-- a/old",), range(1, 2)),)
    assert one(text) == ("x.py", Change(frozenset({1}), frozenset({0}), (range(1, 3),), removed))


def test_what_was_taken_out_and_what_stands_there_instead() -> None:
    hunk = "@@ -1,6 +1,5 @@\n-a\n-b\n c\n-d\n+e\n+f\n g\n-h\n"
    end = "\\ No newline at end of file\n"
    _, change = one(f"--- a/x.py\n+++ b/x.py\n{hunk}{end}".replace(",5", ",4"))
    assert change.removals == (
        Removal(("a", "b"), range(1, 1)),
        Removal(("d",), range(2, 4)),
        Removal(("h",), range(5, 5)),
    )


def test_no_newline_at_the_end() -> None:
    mark = "\\ No newline at end of file\n"
    text = f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n{mark}+b\n{mark}"
    assert one(text)[1].added == {1}


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_ends(ending: str) -> None:
    text = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n{HUNK}".replace("\n", ending)
    path, change = one(text)
    assert (path, change.added) == ("x.py", {2})


def test_an_empty_line_that_lost_its_blank() -> None:
    assert one("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,4 @@\n a\n\n+b\n c\n")[1].added == {3}


def test_words_around_the_diff() -> None:
    before = "From 1234 Mon Sep 17\nSubject: --- and +++\n\n---\n x.py | 1 +\n\n"
    text = f"{before}--- a/x.py\n+++ b/x.py\n{HUNK}-- \n2.39\n"
    assert one(text)[0] == "x.py"


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- a/p/x.py\n+++ b/p/x.py\n", "p/x.py"),
        ("--- i/p/x.py\n+++ w/p/x.py\n", "p/x.py"),
        ("--- p/x.py\n+++ p/x.py\n", "p/x.py"),
        ("--- a/x.py\n+++ a/x.py\n", "a/x.py"),
        ("--- a/p/x y.py\t\n+++ b/p/x y.py\t\n", "p/x y.py"),
        ("--- x.py\t2024-01-01 00:00:00\n+++ x.py\t2024-01-02 00:00:00\n", "x.py"),
        ('--- "a/na\\303\\257ve.py"\n+++ "b/na\\303\\257ve.py"\n', "naïve.py"),
        ('--- "a/t\\tq\\"b\\\\n\\n.py"\n+++ "b/t\\tq\\"b\\\\n\\n.py"\n', 't\tq"b\\n\n.py'),
        ('--- "a/\\351.py"\n+++ "b/\\351.py"\n', "\udce9.py"),
        ("diff --git a/x.py b/x.py\nnew file mode 100644\n--- /dev/null\n+++ b/x.py\n", "x.py"),
        ("diff --git b/x.py b/x.py\nnew file mode 100644\n--- /dev/null\n+++ b/x.py\n", "b/x.py"),
        (
            'diff --git "a/\\303\\257" "b/\\303\\257"\nnew file mode 100644\n--- /dev/null\n+++ "b/\\303\\257"\n',
            "ï",
        ),
        ("diff --git a/o.py b/n.py\nrename from o.py\nrename to n.py\n--- a/o.py\n+++ b/n.py\n", "n.py"),
        (
            "diff --git b/o.py b/n.py\nrename from b/o.py\nrename to b/n.py\n--- b/o.py\n+++ b/n.py\n",
            "b/n.py",
        ),
    ],
)
def test_names(header: str, path: str) -> None:
    assert one(header + HUNK)[0] == path


def test_a_new_file_of_an_unknown_prefix_is_the_one_that_exists() -> None:
    text = f"--- /dev/null\n+++ b/x.py\n{HUNK}"
    assert one(text, "x.py")[0] == "x.py"
    assert one(text, "b/x.py")[0] == "b/x.py"


def test_what_has_no_new_lines() -> None:
    text = (
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-a\n-b\n"
        "diff --git a/o.py b/n.py\nsimilarity index 100%\nrename from o.py\nrename to n.py\n"
        "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n"
        "diff --git a/m.py b/m.py\nold mode 100644\nnew mode 100755\n"
    )
    assert read(text.encode()) == {}


def test_a_submodule() -> None:
    text = "--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
    assert one(text)[0] == "sub"


# ---------------------------------------------------------------- what is none


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_change(text: str) -> None:
    assert read(text.encode()) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "no unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "cut off"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n?\n", "line 5: not a line of a hunk"),
        ("@@ -1 +1 @@\n-a\n+b\n", "without the name"),
        ("diff --cc x\n@@@ -1 -1 +1 @@@\n", "combined"),
    ],
)
def test_damage_is_one_line(text: str, message: str) -> None:
    with pytest.raises(DiffError, match=message) as caught:
        read(text.encode())
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- against git


@pytest.mark.parametrize(
    "options", [[], ["--unified=0"], ["--no-prefix"], ["--src-prefix=x/", "--dst-prefix=y/"]]
)
def test_what_git_writes(options: list[str], tmp_path: Path) -> None:
    """Random edits: whatever the diff says is new makes the old version the new one."""
    git(tmp_path, "init", "-q")
    names = ["plain.py", "with space.py", "naïve/日本.py", 'q"uote.py', "a/b/c.py", "#%.py"]
    seed = random.Random(4)
    versions: dict[str, tuple[list[str], list[str]]] = {}
    for name in names:
        old = [f"line {seed.randrange(8)}" for _ in range(60)]
        new = [line for line in old if seed.random() > 0.1]
        for _ in range(4):
            new.insert(seed.randrange(len(new)), f"new {seed.random()}")
        versions[name] = old, new
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join(old))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "old")
    for name, (_, new) in versions.items():
        (tmp_path / name).write_text("\n".join(new) + "\n")
    (tmp_path / "plain.py").rename(tmp_path / "moved here.py")
    versions["moved here.py"] = versions.pop("plain.py")
    git(tmp_path, "add", "-A")
    changes = read(git(tmp_path, "diff", "--cached", "-M", *options, "HEAD"))
    assert changes.keys() == versions.keys()
    for name, change in changes.items():
        old, new = versions[name]
        kept = [line for number, line in enumerate(new, start=1) if number not in change.added]
        assert _is_subsequence(kept, old)
        assert all(line in change.added for line, text in enumerate(new, start=1) if text.startswith("new"))


def _is_subsequence(some: list[str], of: list[str]) -> bool:
    rest = iter(of)
    return all(line in rest for line in some)
