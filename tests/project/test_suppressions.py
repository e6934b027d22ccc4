"""Suppression comments: what they hold back, and what is reported about them."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from jaxlint.finding import Applicability, Confidence, Finding, Place, Severity, Span
from jaxlint.fix.apply import apply as apply_edits
from jaxlint.project.suppressions import apply

KNOWN = {"JAX000", "JAX001", "JAX002", "JAX003", "JAX101", "JAX103", "JAX105", "JAX301", "JAX501"}


def finding(line: int, code: str = "JAX103", column: int = 1) -> Finding:
    place = Place("a.py", Span(line, column, line, column + 1))
    return Finding(code, "slug", "message", Severity.WARNING, Confidence.HIGH, place)


def found(source: str, *findings: Finding, unused: bool = True, **options: object) -> list[tuple[str, int]]:
    return [(f.code, f.span.line) for f in applied(source, *findings, unused=unused, **options)]


def applied(source: str, *findings: Finding, unused: bool = True, **options: object) -> list[Finding]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        tree = None
    return apply(findings, source, tree, KNOWN, unused, path="a.py", **options)  # type: ignore[arg-type]  # options are passed on


# ---------------------------------------------------------------- where a comment holds


@pytest.mark.parametrize("line", [1, 3], ids=["first line", "last line"])
def test_first_or_last_line_of_a_statement(line: int) -> None:
    lines = ["step(", "    i,", ")"]
    lines[line - 1] += "  # jaxlint: ignore[JAX103] twice only"
    assert found("\n".join(lines), finding(2, column=5)) == []


def test_line_of_the_finding() -> None:
    source = "step(\n    x,\n    i,  # jaxlint: ignore[JAX103]\n    y,\n)\n"
    assert found(source, finding(3, column=5)) == []
    assert found(source, finding(2, column=5)) == [("JAX103", 2), ("JAX002", 3)]


def test_alone_on_the_line_above() -> None:
    assert found("# jaxlint: ignore[JAX103]\nstep(i)\n", finding(2)) == []
    assert found("x = 1  # jaxlint: ignore[JAX103]\nstep(i)\n", finding(2)) == [("JAX103", 2), ("JAX002", 1)]
    assert found("# jaxlint: ignore[JAX103]\n\nstep(i)\n", finding(3)) == [("JAX103", 3), ("JAX002", 1)]


def test_a_block_of_comments_above() -> None:
    source = "# jaxlint: ignore[JAX103] it runs twice,\n# if ever\n# jaxlint: ignore[JAX101]\nstep(i)\n"
    assert found(source, finding(4), finding(4, "JAX101")) == []


def test_above_a_statement_of_several_lines() -> None:
    assert found("# jaxlint: ignore[JAX103]\nstep(\n    i,\n)\n", finding(3, column=5)) == []


HEADER = dedent(
    """\
    @first
    @jax.jit
    def step(
        state,
        batch,
    ):
        # a comment: with a colon
        return state
    """
)


@pytest.mark.parametrize("line", [1, 2, 3, 5, 6])
def test_any_line_of_a_header(line: int) -> None:
    lines = HEADER.splitlines()
    lines[line - 1] += "  # jaxlint: ignore[JAX301]"
    assert found("\n".join(lines), finding(2, "JAX301", column=2)) == []


def test_above_the_decorators_and_between_them() -> None:
    assert found("# jaxlint: ignore[JAX301]\n" + HEADER, finding(3, "JAX301", column=2)) == []
    between = HEADER.replace("def step(", "# jaxlint: ignore[JAX301]\ndef step(")
    assert found(between, finding(2, "JAX301", column=2)) == []


def test_a_header_is_not_its_body() -> None:
    source = "for i in xs:  # jaxlint: ignore[JAX103]\n    step(i)\n"
    assert found(source, finding(2, column=5)) == [("JAX103", 2), ("JAX002", 1)]
    source = "for i in xs:\n    step(i)  # jaxlint: ignore[JAX103]\n"
    assert found(source, finding(1, column=10)) == [("JAX103", 1), ("JAX002", 2)]


@pytest.mark.parametrize(
    ("source", "at"),
    [
        ("try:\n    pass\nexcept (\n    A,\n    B,\n):  # jaxlint: ignore[JAX103]\n    pass\n", (4, 5)),
        ("match x:\n    case A(\n        b\n    ):  # jaxlint: ignore[JAX103]\n        pass\n", (3, 9)),
        ("with a(\n    1\n) as b:  # jaxlint: ignore[JAX103]\n    pass\n", (2, 5)),
        ("if a[\n    1:2\n]: pass  # jaxlint: ignore[JAX103]\n", (2, 5)),
        ("class A(\n    B\n):  # jaxlint: ignore[JAX103]\n    x: int = 1\n", (2, 5)),
        ("while f(\n    {1: 2}\n):  # jaxlint: ignore[JAX103]\n    pass\nelse:\n    pass\n", (2, 5)),
        ("a = 1; b = g(\n    i\n)  # jaxlint: ignore[JAX103]\n", (2, 5)),
    ],
)
def test_headers_of_every_kind(source: str, at: tuple[int, int]) -> None:
    assert found(source, finding(at[0], column=at[1])) == []


def test_whole_file_with_the_beginning_of_codes() -> None:
    source = "import jax\n# jaxlint: ignore-file[JAX5]\nx = 1\n"
    assert found(source, finding(1, "JAX501"), finding(3)) == [("JAX103", 3)]


def test_several_codes_in_one_comment() -> None:
    source = "step(i)  # jaxlint: ignore[JAX103, JAX101]\n"
    assert found(source, finding(1), finding(1, "JAX101"), finding(1, "JAX105")) == [("JAX105", 1)]


def test_lower_case_and_tight_spelling() -> None:
    assert found("step(i)  #jaxlint:ignore[jax103]\n", finding(1)) == []


def test_strings_are_no_comments() -> None:
    source = "x = '''\n# jaxlint: ignore[JAX103]\n'''; step(i)\n"
    assert found(source, finding(3, column=6)) == [("JAX103", 3)]
    assert found('s = "# jaxlint: ignore-file[JAX103]"\n', finding(1)) == [("JAX103", 1)]


def test_after_and_before_other_comments() -> None:
    assert found("step(i)  # type: ignore  # jaxlint: ignore[JAX103]\n", finding(1)) == []
    assert found("step(i)  # jaxlint: ignore[JAX103]  # noqa: E501\n", finding(1)) == []


def test_line_ends_of_every_kind() -> None:
    assert found("x = 1\r\ny = 2\rstep(i)  # jaxlint: ignore[JAX103]\r\n", finding(3)) == []
    assert found("x = '\x0c'\n\x0c\nstep(i)  # jaxlint: ignore[JAX103]\n", finding(3)) == []


def test_a_file_that_does_not_parse() -> None:
    source = "step(i)  # jaxlint: ignore[JAX103]\nx = = 1\n"
    assert found(source, finding(1), finding(2, "JAX001"), unused=False) == [("JAX001", 2)]


# ---------------------------------------------------------------- noqa


@pytest.mark.parametrize(
    ("comment", "held"),
    [
        ("# noqa", True),
        ("# NOQA", True),
        ("#noqa: JAX103", True),
        ("# noqa: E501, JAX103", True),
        ("# noqa: E501 JAX103", True),
        ("# noqa: JAX1", True),
        ("# noqa: jax103", True),
        ("# noqa: E501", False),
        ("# noqa: JAX101", False),
        ("# see noqa", False),
        ("# flake8: noqa: E501", False),
    ],
)
def test_noqa(comment: str, held: bool) -> None:
    assert (found(f"step(i)  {comment}\n", finding(1)) == []) is held


def test_noqa_holds_on_the_line_of_the_finding_alone() -> None:
    assert found("step(  # noqa\n    i,\n)\n", finding(2, column=5)) == [("JAX103", 2)]
    assert found("'''\n# noqa\n'''; step(i)\n", finding(3)) == [("JAX103", 3)]


def test_a_host_may_keep_noqa_to_itself() -> None:
    assert found("step(i)  # noqa\n", finding(1), honour_noqa=False) == [("JAX103", 1)]


# ---------------------------------------------------------------- what is reported about comments


@pytest.mark.parametrize("comment", ["ignore", "ignore[]", "ignore JAX103", "ignore-file", "ignore[JAX103"])
def test_no_code_suppresses_nothing(comment: str) -> None:
    assert found(f"step(i)  # jaxlint: {comment}\n", finding(1)) == [("JAX103", 1), ("JAX003", 1)]


@pytest.mark.parametrize("code", ["JAX109", "E501", "JAX", "ALL", "jit-in-loop"])
def test_unknown_codes(code: str) -> None:
    assert found(f"step(i)  # jaxlint: ignore[{code}]\n", finding(1)) == [("JAX103", 1), ("JAX003", 1)]


def test_an_unknown_code_is_pointed_at() -> None:
    (unknown,) = applied("x = 1  # jaxlint: ignore[JAX103, JAX3O1]\n", finding(1))
    assert (unknown.code, unknown.severity) == ("JAX003", Severity.WARNING)
    assert unknown.span == Span(1, 34, 1, 40)
    assert "`JAX3O1`" in unknown.message and "`JAX301`" in unknown.message


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("JAX1O3", " Did you mean `JAX103`?"),
        ("jit-in-lop", " Did you mean `jit-in-loop`?"),
        ("Jit-In-Lop", " Did you mean `jit-in-loop`?"),
        ("X", ""),
    ],
)
def test_what_may_have_been_meant(written: str, hint: str) -> None:
    [unknown] = applied(f"x = 1  # jaxlint: ignore[{written}]\n", aliases={"jit-in-loop": "JAX103"})
    assert unknown.message == f"There is no code `{written}`.{hint}"


def test_a_slug_stands_for_its_code() -> None:
    def check(comment: str, *findings: Finding) -> list[Finding]:
        return applied(f"step(i)  # jaxlint: {comment}\n", *findings, aliases={"jit-in-loop": "JAX103"})

    assert check("ignore[jit-in-loop]", finding(1)) == []
    assert check("ignore[JIT-in-loop, JAX301]", finding(1), finding(1, "JAX301")) == []
    assert check("ignore-file[jit-in-loop]", finding(1)) == []
    [unused] = check("ignore[jit-in-loop]")
    assert unused.message == "`jit-in-loop` is not reported here. Remove the suppression."
    [unused] = check("ignore[JAX301, jit-in-loop]", finding(1))
    assert unused.fix is not None and [edit.text for edit in unused.fix.edits] == ["jit-in-loop"]


@pytest.mark.parametrize("comment", ["ignored by most", "ignore-next-line[JAX103]", "see the docs"])
def test_other_words_are_prose(comment: str) -> None:
    assert found(f"step(i)  # jaxlint: {comment}\n", finding(1)) == [("JAX103", 1)]


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("x = 1  # jaxlint: ignore[JAX103] why\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n    # jaxlint: ignore[JAX103]\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n# jaxlint: ignore[JAX103]", "x = 1\n"),
        ("x = 1  # noqa: E501  # jaxlint: ignore[JAX103]\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # jaxlint: ignore[JAX103] see #12  # noqa: E501\n", "x = 1  # noqa: E501\n"),
        ("# jaxlint: ignore[JAX103]  # fmt: off\nx = 1\n", "# fmt: off\nx = 1\n"),
        ("x = 1  # jaxlint: ignore[JAX301, JAX103] why\n", "x = 1  # jaxlint: ignore[JAX301] why\n"),
        ("x = 1  # jaxlint: ignore[JAX103,JAX301,JAX101]\n", "x = 1  # jaxlint: ignore[JAX301]\n"),
        ("# jaxlint: ignore-file[JAX103]\r\nx = 1\r\n", "x = 1\r\n"),
        ("é = 1  # jaxlint: ignore[JAX103]\n", "é = 1\n"),
    ],
)
def test_unused_comments_can_be_removed(source: str, fixed: str) -> None:
    used = finding(1, "JAX301")
    (unused,) = [f for f in applied(source, used) if f.code == "JAX002"]
    assert unused.fix is not None and unused.fix.applicability is Applicability.SAFE
    assert apply_edits(source, unused.fix.edits) == fixed


@pytest.mark.parametrize(
    ("source", "removed"),
    [
        ("# jaxlint: ignore-file[JAX101] -*- coding: latin-1 -*-\n", False),
        ("# jaxlint: ignore-file[JAX101]\n# -*- coding: latin-1 -*-\n", True),
        ("# -*- coding: latin-1 -*-\n# jaxlint: ignore-file[JAX101]\n", True),
        ("# jaxlint: ignore-file[JAX101]\nx = 1\n# of old, coding: ascii\n", False),
        ("# jaxlint: ignore-file[JAX101]\n# jaxlint: ignore-file[JAX105]\n#\n# coding: ascii\n", False),
        ("x = 1  # jaxlint: ignore[JAX101]\n#\n# of old, coding: ascii\n", True),
        ("#\n#\n# jaxlint: ignore-file[JAX101]\n# coding: ascii\n", True),
    ],
)
def test_a_removal_that_may_change_the_encoding_is_not_offered(source: str, removed: bool) -> None:
    first = applied(source)[0]
    assert first.code == "JAX002"
    assert (first.fix is not None) is removed


def test_a_line_of_a_string_is_no_comment_above() -> None:
    source = 'x = """\n# jaxlint: ignore[JAX103]\n# the end"""\nstep(i)\n'
    assert found(source, finding(4)) == [("JAX103", 4)]
    source = '# jaxlint: ignore[JAX103]\nx = """\n# the end"""\nstep(i)\n'
    assert found(source, finding(4)) == [("JAX103", 4), ("JAX002", 1)]


def test_codes_that_were_not_looked_for_are_not_unused() -> None:
    source = "x = 1  # jaxlint: ignore[JAX103]\n"
    assert found(source, judged_codes={"JAX101"}) == []
    assert found(source, judged_codes={"JAX103"}) == [("JAX002", 1)]
    assert found(source, unused=False) == []
    assert found("# jaxlint: ignore-file[JAX1]\n", judged_codes={"JAX103"}) == []


def test_reports_about_comments_can_be_suppressed() -> None:
    assert found("# jaxlint: ignore-file[JAX002]\nx = 1  # jaxlint: ignore[JAX103]\n") == []
    assert found("# jaxlint: ignore-file[JAX003]\nx = 1  # jaxlint: ignore[FOO1]\n") == []
    assert found("x = 1  # jaxlint: ignore[JAX103]  # noqa: JAX002\n") == []
