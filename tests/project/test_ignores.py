"""Suppressions that are written beside findings: where somebody would put them, and so that they hold."""

from __future__ import annotations

import ast
import random
import tokenize
from io import StringIO
from pathlib import Path
from textwrap import dedent

import pytest

from jaxlint.columns import split_lines
from jaxlint.engine_codes import ENGINE_CODES
from jaxlint.finding import Confidence, Finding, Place, Severity, Span
from jaxlint.fix.apply import apply_fixes
from jaxlint.project import ignores, source, suppressions
from jaxlint.project.files import SourceFile
from jaxlint.record import replace

KNOWN = {"JAX103", "JAX301", "JAX501", *(code.code for code in ENGINE_CODES)}


def finding(line: int, code: str = "JAX103", column: int = 1, path: str = "a.py") -> Finding:
    place = Place(path, Span(line, column, line, column + 1))
    return Finding(code, "slug", "message", Severity.WARNING, Confidence.HIGH, place)


def add(text: str | bytes, *findings: Finding) -> ignores.Outcome:
    data = text if isinstance(text, bytes) else text.encode()
    path = findings[0].path
    return ignores.add(SourceFile(path, f"/nowhere/{path}", data), findings)


def added(text: str, *findings: Finding) -> str:
    """The text with suppressions; they hold, and all of them are of use."""
    outcome = add(text, *findings)
    assert outcome.data is not None and not outcome.left
    new = outcome.data.decode()
    tree = ast.parse(new) if findings[0].path.endswith(".py") else None
    assert suppressions.apply(findings, new, tree, KNOWN, True, path=findings[0].path) == []
    return new


# ---------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("f(i)\n", 1, "f(i)  # jaxlint: ignore[JAX103]\n"),
        ("f(i)", 1, "f(i)  # jaxlint: ignore[JAX103]"),
        ("f(i)  \t\n", 1, "f(i)  # jaxlint: ignore[JAX103]\n"),
        ("f(i); g(i)\n", 1, "f(i); g(i)  # jaxlint: ignore[JAX103]\n"),
        ("f(\n    i,\n)\n", 2, "f(\n    i,  # jaxlint: ignore[JAX103]\n)\n"),
        ("x = 1 + \\\n    f(i)\n", 1, "x = 1 + \\\n    f(i)  # jaxlint: ignore[JAX103]\n"),
        ('f("""\na\n""")\n', 1, 'f("""\na\n""")  # jaxlint: ignore[JAX103]\n'),
        ('f(i, """\na\n""", j)\n', 1, 'f(i, """\na\n""", j)  # jaxlint: ignore[JAX103]\n'),
        ('f(f"""\n{i}\n""")\n', 2, 'f(f"""\n{i}\n""")  # jaxlint: ignore[JAX103]\n'),
        ("f('a\\\nb')\n", 1, "f('a\\\nb')  # jaxlint: ignore[JAX103]\n"),
        ("for i in x: f(i)\n", 1, "for i in x: f(i)  # jaxlint: ignore[JAX103]\n"),
        ("for i in x:\n    pass\n", 1, "for i in x:  # jaxlint: ignore[JAX103]\n    pass\n"),
        ("@a\n@b\ndef f():\n    pass\n", 2, "@a\n@b  # jaxlint: ignore[JAX103]\ndef f():\n    pass\n"),
        ("@a\ndef f(\n    x,\n):\n    pass\n", 3, "@a\ndef f(\n    x,  # jaxlint: ignore[JAX103]\n):\n    pass\n"),
        ("@a('''\n''')\ndef f():\n    pass\n", 1, "@a('''\n''')  # jaxlint: ignore[JAX103]\ndef f():\n    pass\n"),
        ("if a and \\\n    b:\n  pass\n", 1, "if a and \\\n    b:  # jaxlint: ignore[JAX103]\n  pass\n"),
        ("f(i)  # why\n", 1, "f(i)  # why  # jaxlint: ignore[JAX103]\n"),
        ("f(i)  # a \\\n", 1, "f(i)  # a \\  # jaxlint: ignore[JAX103]\n"),
        ("f(i)  # type: ignore\n", 1, "f(i)  # type: ignore  # jaxlint: ignore[JAX103]\n"),
        ("f(i)  # noqa: E501\n", 1, "f(i)  # noqa: E501  # jaxlint: ignore[JAX103]\n"),
        ("f('# no comment')\n", 1, "f('# no comment')  # jaxlint: ignore[JAX103]\n"),
    ],
)  # fmt: skip
def test_where_a_comment_goes(text: str, line: int, expected: str) -> None:
    assert added(text, finding(line)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(i)  # jaxlint: ignore[JAX301]\n", "f(i)  # jaxlint: ignore[JAX301, JAX103]\n"),
        ("f(i)  # jaxlint: ignore[JAX301] slow\n", "f(i)  # jaxlint: ignore[JAX301, JAX103] slow\n"),
        ("f(i)  # jaxlint: ignore [ JAX301, ] x\n", "f(i)  # jaxlint: ignore[JAX301, JAX103] x\n"),
        ("f(i)  # jaxlint: ignore\n", "f(i)  # jaxlint: ignore[JAX103]\n"),
        ("f(i)  # jaxlint: ignore[] y\n", "f(i)  # jaxlint: ignore[JAX103] y\n"),
        ("f(i)  # jaxlint: ignore[JAX301]  # noqa\n", "f(i)  # jaxlint: ignore[JAX301, JAX103]  # noqa\n"),
        ("# jaxlint: ignore[JAX301]\nf(i)\n", "# jaxlint: ignore[JAX301, JAX103]\nf(i)\n"),
    ],
)
def test_a_comment_that_is_there_gets_one_code_more(text: str, expected: str) -> None:
    line = text.count("\n")
    outcome = add(text, finding(line))
    assert outcome.data is not None and outcome.data.decode() == expected and not outcome.left


def test_a_comment_for_the_whole_file_stays() -> None:
    text = "# jaxlint: ignore-file[JAX301]\nf(i)\n"
    assert added(text, finding(2), finding(2, "JAX301")).splitlines()[0] == text.splitlines()[0]


def test_several_findings_share_a_comment() -> None:
    text = "f(i)\ng(i)\n"
    found = [finding(1, "JAX301"), finding(1), finding(1, column=3), finding(2)]
    assert added(text, *found) == "f(i)  # jaxlint: ignore[JAX103, JAX301]\ng(i)  # jaxlint: ignore[JAX103]\n"


def test_one_comment_for_a_statement_that_a_string_covers() -> None:
    text = 'f(i, """\n""", i, """\n""")\n'
    assert added(text, finding(1), finding(2)).count("JAX103") == 1


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    ("ending", "encoding"),
    [(end, name) for end in ("\n", "\r\n") for name in ("utf-8", "utf-8-sig", "latin-1")] + [("\r", "utf-8")],
)
def test_line_ends_encoding_and_byte_order_mark(ending: str, encoding: str) -> None:
    first = "# -*- coding: latin-1 -*-" if encoding == "latin-1" else "# é"
    text = f"{first}\nx = 'é'\nf(i)\n".replace("\n", ending)
    outcome = add(text.encode(encoding), finding(3))
    expected = text.replace("f(i)", "f(i)  # jaxlint: ignore[JAX103]")
    assert outcome.data == expected.encode(encoding)


def test_what_it_says_of_itself_is_left() -> None:
    found = [replace(finding(1), code=code.code) for code in ENGINE_CODES]
    assert add("f(i)\n", *found) == ignores.Outcome(None, found)


def test_a_file_that_does_not_parse() -> None:
    with pytest.raises(source.SourceError):
        add("f(\n", finding(1))


def test_deep_expressions() -> None:
    text = "x = " + " + ".join(["a"] * 1_500) + "\n"
    assert added(text, finding(1)).endswith("a  # jaxlint: ignore[JAX103]\n")


# ---------------------------------------------------------------- dependency files


def test_requirements() -> None:
    assert (
        added("jax\ntorch\n", finding(2, path="requirements.txt"))
        == "jax\ntorch  # jaxlint: ignore[JAX103]\n"
    )


def test_a_requirement_of_several_lines_is_left() -> None:
    text = "torch \\\n    --hash=sha256:1\n"
    found = finding(1, path="requirements.txt")
    assert add(text, found).left == [found]


def test_pyproject() -> None:
    text = '[project]\ndependencies = [\n    "jax",\n    "torch",\n]\n'
    assert added(text, finding(4, path="pyproject.toml")) == text.replace(
        '"torch",', '"torch",  # jaxlint: ignore[JAX103]'
    )


def test_a_string_of_several_lines_in_toml_is_left() -> None:
    found = finding(2, path="pyproject.toml")
    assert add('a = """\ntorch\n"""\n', found) == ignores.Outcome(None, [found])


def test_lock_files_are_nobodys_to_write() -> None:
    found = finding(1, path="uv.lock")
    assert add("version = 1\n", found) == ignores.Outcome(None, [found])


# ---------------------------------------------------------------- everywhere


FILES = sorted(Path(__file__).parents[2].glob("jaxlint/**/*.py"))


@pytest.mark.parametrize("seed", range(25))
def test_anywhere_in_real_code(seed: int) -> None:
    """At any token of real files: the comment holds, the code means the same, a second time adds nothing, and
    when nothing is found any more the fixes of the unused take everything out again."""
    chance = random.Random(seed)
    text = chance.choice(FILES).read_text(encoding="utf-8")
    starts = [
        token.start
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.STRING, tokenize.NUMBER)
    ]
    places = chance.sample(starts, min(12, len(starts)))
    found = [finding(line, chance.choice(["JAX103", "JAX301"]), column + 1) for line, column in places]
    new = added(text, *found)
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(text))
    assert len(split_lines(new)) == len(split_lines(text))
    unused = suppressions.apply([], new, ast.parse(new), KNOWN, True, path="a.py")
    assert {each.code for each in unused} == {"JAX002"}
    fixes = [each.fix for each in unused if each.fix is not None]
    assert apply_fixes(new, fixes) == text


def test_a_block_of_everything() -> None:
    text = dedent('''\
        class A(
            Base,
        ):
            """Doc."""
            x: int = call(  # first
                1,
                """two
                lines""",
            )

            async def f(self, *, a=(
                1
            )) -> None:
                async with g(a) as b, \\
                        h(b):
                    try:
                        return await k(b)
                    except (
                        E
                    ) as e:
                        raise
        ''')
    lines = text.count("\n")
    nodes = {
        (node.lineno, node.col_offset) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr)
    }
    found = [finding(line, column=column + 1) for line, column in sorted(nodes)]
    assert len(split_lines(added(text, *found))) == lines
