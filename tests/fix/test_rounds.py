"""Looking and fixing in turns."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxlint.columns import split_lines
from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, Span
from jaxlint.fix.diff import unified
from jaxlint.fix.draft import Draft
from jaxlint.fix.rounds import Fixed, Look, fix
from jaxlint.project import source
from jaxlint.project.files import SourceFile

SAFE = frozenset({Applicability.SAFE})


def given(text: str | bytes, path: str = "a.py") -> SourceFile:
    return SourceFile(path, f"/nowhere/{path}", text if isinstance(text, bytes) else text.encode())


def replacing(old: str, new: str, code: str = "JAX901", kind: Applicability = Applicability.SAFE) -> Rewrite:
    return Rewrite(old, new, code, kind)


class Rewrite:
    """A made-up rule: wherever `old` (a pattern) stands, its fix writes `new`."""

    def __init__(self, old: str, new: str, code: str, kind: Applicability) -> None:
        self._old, self._new, self._code, self._kind = old, new, code, kind

    def findings(self, path: str, text: str) -> list[Finding]:
        found = []
        for number, line in enumerate(split_lines(text), start=1):
            for match in re.finditer(self._old, line):
                span = Span(number, match.start() + 1, number, match.end() + 1)
                edit = Edit(span, match.expand(self._new))
                place = Place(path, span)
                found.append(
                    Finding(
                        self._code,
                        "made-up",
                        "made up",
                        Severity.WARNING,
                        Confidence.HIGH,
                        place,
                        fix=Fix("rewrite", self._kind, (edit,)),
                    )
                )
        return found


def looking(files: list[SourceFile], *rules: Rewrite) -> Look:
    def look(changed: Mapping[str, SourceFile]) -> list[Finding]:
        now = [changed.get(file.path, file) for file in files]
        texts = [(file.path, source.decode(source.read_bytes(file))[0]) for file in now]
        found = [f for path, text in texts for rule in rules for f in rule.findings(path, text)]
        return sorted(found, key=lambda finding: finding.place)

    return look


def run(text: str | bytes, *rules: Rewrite, wanted: frozenset[Applicability] = SAFE) -> Fixed:
    files = [given(text)]
    return fix(files, looking(files, *rules), wanted)


def text_of(fixed: Fixed) -> str:
    return fixed.drafts["a.py"].text


def test_one_round_after_the_other() -> None:
    fixed = run("x = a\n", replacing(r"\ba\b", "b"), replacing(r"\bb\b", "c", "JAX902"))
    assert text_of(fixed) == "x = c\n"
    assert [finding.code for finding in fixed.fixed] == ["JAX901", "JAX902"]
    assert not (fixed.findings or fixed.unsettled or fixed.refused)


def test_edits_that_touch_are_made_one_after_the_other() -> None:
    """Of `aaa` the first and the last can be made at once; then the one between them."""
    seen: list[str] = []
    files = [given("x = 'aaa'\n")]
    look = looking(files, replacing("a", "b"))

    def noting(changed: Mapping[str, SourceFile]) -> list[Finding]:
        seen.extend(source.decode(source.read_bytes(file))[0] for file in changed.values())
        return look(changed)

    assert text_of(fix(files, noting, SAFE)) == "x = 'bbb'\n"
    assert seen[0] == "x = 'bab'\n"


@pytest.mark.parametrize("kind", [Applicability.UNSAFE, Applicability.DISPLAY])
def test_only_what_is_wanted(kind: Applicability) -> None:
    fixed = run("x = a\n", replacing(r"\ba\b", "b", kind=kind))
    assert not fixed.drafts
    assert len(fixed.findings) == 1
    both = frozenset({Applicability.SAFE, Applicability.UNSAFE})
    fixed = run("x = a\n", replacing(r"\ba\b", "b", kind=kind), wanted=both)
    assert bool(fixed.drafts) == (kind is Applicability.UNSAFE)


def test_fixes_that_undo_each_other_are_named() -> None:
    fixed = run("x = a\ny = z\n", replacing(r"\ba\b", "b"), replacing(r"\bb\b", "a", "JAX902"))
    assert fixed.unsettled == {"a.py": ["JAX901"]}
    assert fixed.fighting == {"a.py"}
    assert not fixed.drafts, "ten rounds led back to where it began"


def test_fixes_that_do_not_end_are_no_fight() -> None:
    fixed = run("x = a\n", replacing(r"\b(a+)\b", r"\1a"))
    assert fixed.unsettled == {"a.py": ["JAX901"]}
    assert not fixed.fighting
    assert text_of(fixed) == "x = aaaaaaaaaaa\n"


@pytest.mark.parametrize(
    "broken", ["(", "return", "\N{GREEK SMALL LETTER ALPHA} +"], ids=["syntax", "outside", "unfinished"]
)
def test_a_fix_that_breaks_the_file_is_left_out(broken: str) -> None:
    fixed = run("x = 0\na\ny = c\n", replacing(r"\ba\b", broken), replacing(r"\bc\b", "d", "JAX902"))
    assert text_of(fixed) == "x = 0\na\ny = d\n"
    assert [finding.code for finding in fixed.findings] == ["JAX901", "JAX000"]
    assert "JAX901" in fixed.findings[1].message
    assert fixed.findings[1].span.line == 2


def test_what_the_encoding_cannot_hold_is_left_out() -> None:
    fixed = run(b"# coding: latin-1\nx = 'e\xe9'\n", replacing("e(?=\xe9)", "\N{GREEK SMALL LETTER ALPHA}"))
    assert not fixed.drafts
    assert [finding.code for finding in fixed.findings] == ["JAX901", "JAX000"]


@pytest.mark.parametrize(
    ("data", "old"),
    [
        ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), "# coding: latin-1"),
        ("# coding: latin-1\nx = 'é'\n".encode(), "# coding: latin-1"),
        ("# old\n#\n# coding: ascii\nx = 'é'\n".encode(), "# old\n"),
    ],
)
def test_a_fix_after_which_the_file_would_be_read_as_another_text_is_left_out(data: bytes, old: str) -> None:
    draft = Draft.of(given(data))
    lines = old.count("\n")
    end = (1 + lines, 1 if lines else len(old) + 1)
    assert draft.with_fix(Fix("remove", Applicability.SAFE, (Edit(Span(1, 1, *end), ""),))) is None


def test_a_file_that_did_not_compile_can_be_fixed() -> None:
    assert text_of(run("return a\n", replacing(r"\ba\b", "b"))) == "return b\n"


@pytest.mark.parametrize(
    "data",
    [
        b"x = a\r\ny = a\r\n",
        b"x = '\x0c\x1c\xc2\x85'; y = a\r\ny = a\nz = a",
        b"\xef\xbb\xbfx = a  # a \r\nif x:\r\n\ty",
        b"# -*- coding: latin-1 -*-\nx = '\xe9', a\n\n\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\na",
        "x = '日本😀'; y = a".encode(),
    ],
    ids=["crlf", "mixed", "mark", "latin-1", "cp1252", "wide"],
)
def test_bytes_outside_the_edits_are_kept(data: bytes) -> None:
    assert run(data, replacing(r"\ba\b", "b")).drafts["a.py"].data == re.sub(rb"\ba\b", b"b", data)


def test_lines_that_a_fix_adds_end_as_those_around_them() -> None:
    rule = replacing(r"^a(?=\r?\n?$)", "b\nc")
    assert run(b"x\r\na\r\ny\n", rule).drafts["a.py"].data == b"x\r\nb\r\nc\r\ny\n"
    assert run(b"x\na\ny\r\n", rule).drafts["a.py"].data == b"x\nb\nc\ny\r\n"
    assert run(b"x\r\na", rule).drafts["a.py"].data == b"x\r\nb\r\nc"


def test_a_fix_in_one_module_changes_what_is_found_in_another() -> None:
    """Each round sees all modules as they have become."""
    files = [given("x = a\n", "one.py"), given("import one\n", "two.py")]
    rule = replacing(r"\ba\b", "b")

    def look(changed: Mapping[str, SourceFile]) -> list[Finding]:
        found = looking(files, rule)(changed)
        return (
            found
            if found
            else replacing("import one", "import one as b").findings("two.py", "import one\n")[
                : 1 if "two.py" not in changed else 0
            ]
        )

    fixed = fix(files, look, SAFE)
    assert {path: draft.text for path, draft in fixed.drafts.items()} == {
        "one.py": "x = b\n",
        "two.py": "import one as b\n",
    }


def test_a_file_that_is_saved_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = a\n")
    files = [SourceFile("a.py", str(path))]
    look = looking(files, replacing(r"\ba\b", "b"))

    def saving(changed: Mapping[str, SourceFile]) -> list[Finding]:
        found = look(changed)
        path.write_text("import os\nx = a\n")
        return found

    fixed = fix(files, saving, SAFE)
    assert fixed.refused == {"a.py": "it has changed since it was read"}
    assert not fixed.drafts


# ---------------------------------------------------------------- diffs


def test_diff() -> None:
    fixed = run("x = a\ny = 1", replacing(r"\ba\b", "b"), replacing("1", "2"))
    assert unified(fixed.drafts["a.py"]).decode() == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-x = a\n-y = 1\n\\ No newline at end of file\n"
        "+x = b\n+y = 2\n\\ No newline at end of file\n"
    )


def test_diff_is_in_the_bytes_of_the_file() -> None:
    data = b"\xef\xbb\xbf# \xc3\xa9\r\nx = a\r\n"
    diff = unified(run(data, replacing(r"\ba\b", "b")).drafts["a.py"])
    assert diff == b"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n \xef\xbb\xbf# \xc3\xa9\r\n-x = a\r\n+x = b\r\n"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a b.py", b"a b.py"),
        ("日本.py", "日本.py".encode()),
        ("caf\udce9.py", b'"caf\\351.py"'),
        ("a\nb.py", b'"a\\nb.py"'),
        ('a"\x1b.py', b'"a\\"\\033.py"'),
    ],
)
def test_names_in_a_diff_are_written_as_git_writes_them(path: str, shown: bytes) -> None:
    draft = Draft.of(given("x = a\n", path))
    made = draft.with_fix(Fix("rewrite", Applicability.SAFE, (Edit(Span(1, 5, 1, 6), "b"),)))
    assert made is not None
    assert unified(made).startswith(b"--- " + shown + b"\n+++ " + shown + b"\n@@")


@pytest.mark.parametrize("data", [b"x = a\ry = 1\r", b"x = a\ry = a\r\nz = a\nw = 1\rv = a", b"x = a\r"])
def test_a_diff_applies_whatever_ends_the_lines(data: bytes, tmp_path: Path) -> None:
    fixed = run(data, replacing(r"\ba\b", "b")).drafts["a.py"]
    (tmp_path / "a.py").write_bytes(data)
    command = ["git", "-c", "core.autocrlf=false", "apply", "-p0", "--unsafe-paths", "-"]
    done = subprocess.run(command, cwd=tmp_path, input=unified(fixed), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"a", b"b")


def test_one_finding_fixed() -> None:
    """What confirmation compares: the file with the fix of one finding, and of no other."""
    file = given("x = a\ny = a\n")
    finding = replacing(r"\ba\b", "b").findings("a.py", "x = a\ny = a\n")[1]
    draft = Draft.of(file).with_fix(finding.fix) if finding.fix else None
    assert draft is not None and draft.text == "x = a\ny = b\n"
