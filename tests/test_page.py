"""The parser of rule pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import front_matter, page
from jaxlint.finding import Severity
from jaxlint.rule import RuleError

FRONT = """\
---
code: JAX901
slug: made-up
since: 0.1.0
status: preview
severity: info
fix: unsafe
summary: Says one thing: this.
---
"""


def write(tmp_path: Path, body: str, front: str = FRONT) -> Path:
    path = tmp_path / "made_up.md"
    path.write_text(f"{front}# JAX901 made-up\n{body}", encoding="utf-8")
    return path


def fence(head: str, *lines: str) -> str:
    return "\n".join((f"```{head}", *lines, "```", ""))


def test_front_matter_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    meta = front_matter.read(path)
    assert (meta.code, meta.slug, meta.status, meta.fix) == ("JAX901", "made-up", "preview", "unsafe")
    assert meta.severity is Severity.INFO
    assert meta.summary == "Says one thing: this."
    assert meta.page == str(path)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("---\ncode", "code", 1, "front matter"),
        ("this.\n---\n", "this.\n", 9, "not a front matter field"),
        ("slug: made-up", "slag: made-up", 3, "slag"),
        ("since: 0.1.0\n", "", 1, "lacks since"),
        ("summary: Says one thing: this.", "summary:", 1, "lacks summary"),
        ("code: JAX901", "code: JAX9", 2, "code"),
        ("slug: made-up", "slug: Made_Up", 3, "slug"),
        ("severity: info", "severity: bad", 6, "info, warning, error"),
        ("fix: unsafe", "fix: maybe", 7, "fix"),
        ("status: preview", "status: new", 5, "stable, preview"),
    ],
)
def test_wrong_front_matter_is_placed(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert old in FRONT
    path = write(tmp_path, "", FRONT.replace(old, new, 1))
    with pytest.raises(RuleError) as error:
        front_matter.read(path)
    assert (error.value.path, error.value.line) == (str(path), line)
    assert said in error.value.message


def test_missing_page(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no page"):
        front_matter.read(tmp_path / "none.md")


def test_marks_are_taken_out_of_the_source(tmp_path: Path) -> None:
    body = fence("python bad", "a = 1  # JAX901", "b = 2  # kept", "c = 3 # JAX901, JAX902", "d = '# JAX9'")
    (example,) = page.read(write(tmp_path, body)).examples
    assert example.sources == {"example.py": "a = 1\nb = 2  # kept\nc = 3\nd = '# JAX9'\n"}
    marks = [(mark.line, mark.code) for mark in example.blocks[0].marks]
    assert marks == [(1, "JAX901"), (3, "JAX901"), (3, "JAX902")]


def test_suppression_is_no_mark(tmp_path: Path) -> None:
    body = fence("python good", "a = 1  # noqa: JAX901", "b = 2  # jaxlint: ignore[JAX901]")
    (example,) = page.read(write(tmp_path, body)).examples
    assert example.blocks[0].marks == ()
    assert "noqa" in example.blocks[0].source


def test_modules_of_one_program(tmp_path: Path) -> None:
    body = (
        fence("python bad [file=pkg/a.py]", "x = 1")
        + "\n"
        + fence("python bad [file=pkg/b.py] [jax=0.8]", "y = 2  # JAX901")
        + fence("python fixed [file=pkg/b.py]", "y = 3")
        + "Another program.\n"
        + fence("python bad [file=pkg/c.py]", "z = 1  # JAX901")
    )
    first, second = page.read(write(tmp_path, body)).examples
    assert list(first.sources) == ["pkg/a.py", "pkg/b.py"]
    assert first.options == {"jax": "0.8"}
    assert [(block.file, block.source) for block in first.fixed] == [("pkg/b.py", "y = 3\n")]
    assert list(second.sources) == ["pkg/c.py"]


def test_adjacent_blocks_without_file_are_apart(tmp_path: Path) -> None:
    body = fence("python good", "x = 1") + fence("python good", "y = 1")
    assert len(page.read(write(tmp_path, body)).examples) == 2


def test_fixed_block_may_follow_prose(tmp_path: Path) -> None:
    body = fence("python bad", "x = 1  # JAX901") + "## Use instead\n" + fence("python fixed", "x = 2")
    (example,) = page.read(write(tmp_path, body)).examples
    assert example.fixed[0].source == "x = 2\n"


def test_measurement_has_its_output(tmp_path: Path) -> None:
    body = fence("python measure [process=own]", "print(3)") + "\n" + fence("text", "3")
    (example,) = page.read(write(tmp_path, body)).examples
    assert (example.kind, example.output, example.options) == ("measure", "3\n", {"process": "own"})


def test_illustration_is_no_example(tmp_path: Path) -> None:
    body = fence("python", "x = jnp.  # JAX901") + fence("console", "$ jaxlint .")
    assert page.read(write(tmp_path, body)).examples == ()


def test_sections_and_a_comment_in_a_fence(tmp_path: Path) -> None:
    body = "## What it does\nFlags.\n## Example\n" + fence("python good", "# a comment", "x = 1") + "After.\n"
    parsed = page.read(write(tmp_path, body))
    assert list(parsed.sections) == ["What it does", "Example"]
    assert parsed.sections["What it does"] == "Flags."
    assert parsed.sections["Example"].endswith("After.")
    assert parsed.body(lambda block: f"```{block.language} title").startswith("# JAX901 made-up\n## What")
    assert "```python title\n# a comment" in parsed.body(lambda block: f"```{block.language} title")


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("## What it did\n", 11, "unknown heading"),
        ("## Example\n## Why is this bad?\n", 12, "out of order"),
        ("## Example\n## Example\n", 12, "repeated"),
        ("```python bad\nx = 1\n", 11, "no end"),
        ("```python worse\n```\n", 11, "unknown kind"),
        ("```python good\nx = 1\ny = 2  # JAX901\n```\n", 13, "expects no finding"),
        ("```python fixed\nx = 1\n```\n", 11, "follows nothing"),
        ("# JAX902 made-up\n", 11, "the title is"),
    ],
)
def test_wrong_body_is_placed(tmp_path: Path, body: str, line: int, said: str) -> None:
    path = write(tmp_path, body)
    with pytest.raises(RuleError) as error:
        page.read(path)
    assert (error.value.line, said in error.value.message) == (line, True), error.value.message
