"""Any bytes become a tree, or one clear sentence with its place."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

import pytest

from jaxlint.project.files import SourceFile
from jaxlint.project.source import Source, read

BROKEN = Path(__file__).parents[2] / "fixtures" / "broken"
BOM = b"\xef\xbb\xbf"


def read_data(data: bytes) -> Source:
    return read(SourceFile("a.py", "/nowhere/a.py", data))


def error_of(data: bytes) -> tuple[str, int, int]:
    source = read_data(data)
    assert source.error is not None and source.tree is None
    assert "\n" not in source.error.message
    return source.error.message, source.error.line, source.error.column


# ---------------------------------------------------------------- what is fine


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b"x = '\xc3\xa9'\r\ny = 1\r", "x = 'é'\r\ny = 1\r", "utf-8"),
        (BOM + b"x = 1\n", "x = 1\n", "utf-8-sig"),
        (BOM + b"# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso-8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None, "cp1252"),
        (b"\x0c\nif x:\n\ty = 1\n\x0c", "\x0c\nif x:\n\ty = 1\n\x0c", "utf-8"),
        (b"x = 1\ncoding = 'latin-1'\n", "x = 1\ncoding = 'latin-1'\n", "utf-8"),
    ],
)
def test_encodings_and_line_ends(data: bytes, text: str | None, encoding: str) -> None:
    source = read_data(data)
    assert source.error is None and source.tree is not None
    assert source.encoding == encoding
    assert source.text == (data.decode(encoding) if text is None else text)
    assert source.text.encode(source.encoding) == data


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 1_500),
        "x = a" + ".at[i].set(b)" * 300,
        "x = " + "-" * 400 + "1",
        "if a: pass\n" + "elif b: pass\n" * 1_000,
        "\n".join(f"x{i} = f({i})" for i in range(6_000)),
    ],
    ids=["1500 terms", "chain", "signs", "elif", "6000 lines"],
)
def test_deep_and_long_sources(text: str) -> None:
    limit = sys.getrecursionlimit()
    assert read_data(text.encode()).tree is not None
    assert sys.getrecursionlimit() == limit


def test_a_given_tree_is_kept() -> None:
    tree = ast.parse("x = 1")
    assert read(SourceFile("a.py", "/nowhere/a.py", b"x = 1", tree)).tree is tree


def test_warnings_of_the_parser_stay_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_data(b"x = '\\d'\n").tree is not None


# ---------------------------------------------------------------- what cannot be decoded or read


@pytest.mark.parametrize(
    ("data", "words", "place"),
    [
        (b"x = 1\ny = '\xc3\xa9\xff'\n", "byte 0xff is not utf-8", (2, 7)),
        (b"\xff\xfex\0", "byte 0xff is not utf-8", (1, 1)),
        (b"# coding: ascii\nx = '\xe9'\n", "byte 0xe9 is not ascii", (2, 6)),
        (b"# coding: klingon\n", "unknown encoding: klingon", (1, 1)),
        (b"# coding: rot13\nk = 1\n", "not a text encoding", (1, 1)),
        (BOM + b"# coding: latin-1\nx = 1\n", "byte order mark", (1, 1)),
        (b"x = 1\ny = '\0'\n", "null byte", (2, 6)),
    ],
)
def test_undecodable(data: bytes, words: str, place: tuple[int, int]) -> None:
    message, *where = error_of(data)
    assert words in message
    assert tuple(where) == place


def test_vanished(tmp_path: Path) -> None:
    source = read(SourceFile("gone.py", str(tmp_path / "gone.py")))
    assert source.error is not None
    assert source.error.message == "cannot read: No such file or directory"


def test_a_directory_in_place_of_a_file(tmp_path: Path) -> None:
    error = read(SourceFile("d", str(tmp_path))).error
    assert error is not None and error.message.startswith("cannot read: ")


# ---------------------------------------------------------------- what does not parse

NEWER = {
    "type_statement.py": (3, 12),
    "type_parameters.py": (3, 12),
    "nested_fstring.py": (3, 12),
    "type_parameter_default.py": (3, 13),
    "template_string.py": (3, 14),
    "except_without_parentheses.py": (3, 14),
}


@pytest.mark.parametrize("name", NEWER)
def test_newer_grammar(name: str) -> None:
    source = read_data((BROKEN / name).read_bytes())
    needed = NEWER[name]
    if sys.version_info >= needed:
        assert source.error is None
    else:
        assert source.error is not None
        assert f"needs Python {needed[0]}.{needed[1]} or newer to analyse" in source.error.message


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python takes `except A, b:` for two exceptions")
def test_python_2_except() -> None:
    assert "looks like Python 2" in error_of((BROKEN / "python_2_except.py").read_bytes())[0]


@pytest.mark.parametrize(
    "source",
    [
        "print 'hello'\n",
        "exec 'code'\n",
        "x = 0777\n",
        "x = 10L\n",
        "if a <> b: pass\n",
        "x = `y`\n",
        "raise ValueError, 'wrong'\n",
        "x = ur'text'\n",
        "def f(a, (b, c)): pass\n",
        "lambda (a, b): a\n",
        "try: pass\nexcept (A, B), e: pass\n",
    ],
)
def test_python_2(source: str) -> None:
    assert "looks like Python 2" in error_of(source.encode())[0]


@pytest.mark.parametrize(
    "source",
    [
        "def step(x):\n    return (x + 1\n",
        "x = f'{x'\n",
        "def f(:\n    pass\n",
        "for x in y\n    pass\n",
        "x = (1, # see `y`, 10L\n",
        "try:\n    pass\nexcept (A, B:\n    pass\n",
        "if x:\n\ty = 1\n        z = 2\n",
        "type X = = int\n",
        "def f[T(x): pass\n",
        "x = t'a' 'b' c\n",
    ],
)
def test_broken_code_is_neither_old_nor_new(source: str) -> None:
    message = error_of(source.encode())[0]
    assert message.startswith("cannot parse: ")
    assert "Python" not in message


def test_the_place_of_a_syntax_error_counts_code_points() -> None:
    assert error_of("é = 'é' $\n".encode())[1:] == (1, 9)
    assert error_of(b"x = 1\r\ny = $\r\n")[1:] == (2, 5)


def test_too_deep_for_any_stack() -> None:
    message, *_ = error_of(b"x = " + b"(" * 10_000 + b")" * 10_000)
    assert message.startswith("cannot parse: ")
