"""The statements that libcst gets to see, and where their nodes stand in the file."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from jaxlint.finding import Span
from jaxlint.focus import Focus

SOURCE = """\
import jax; x = (1 +
    2); y = [
    f(3)]

# above the class
@first
@second(4)
class Model(Base[int]):
    # about the field
    size: int = 3

    def __init__(self, é):
        self.step = jax.jit(f"{é} 日本")

    @jax.jit
    def step(self, x):
        class Inner:
            def go(self):
                return g(x)

        return h(
            x,
        )

    class Nested:
        def run(self): return k(1)
        z = 1


class Short: w = m(5)
if x:
\tn(6)
"""


def spans(source: str) -> list[tuple[str, Span]]:
    """Every call: its source and where `ast` says it stands, in code points."""
    lines = source.splitlines()
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            ends = [
                (line, len(lines[line - 1].encode()[:offset].decode()) + 1)
                for line, offset in (
                    (node.lineno, node.col_offset),
                    (node.end_lineno or 0, node.end_col_offset or 0),
                )
            ]
            found.append((ast.get_source_segment(source, node) or "", Span(*ends[0], *ends[1])))
    return found


@pytest.fixture
def focus() -> Focus:
    return Focus(SOURCE, ast.parse(SOURCE))


def test_every_call_is_found_where_it_stands(focus: Focus) -> None:
    calls = spans(SOURCE)
    assert len(calls) == 8
    for text, span in calls:
        node = focus.node(span)
        assert isinstance(node, cst.Call)
        assert focus.text(span) == text
        assert focus.code(node).split() == text.split()
        assert focus.span(node) == span


def test_a_method_comes_with_the_header_of_its_class_alone(focus: Focus) -> None:
    call = focus.node(next(span for text, span in spans(SOURCE) if text.startswith("h(")))
    assert call is not None
    around = list(focus.parents(call))
    cls = next(node for node in around if isinstance(node, cst.ClassDef))
    assert isinstance(around[-1], cst.Module)
    assert [focus.code(d.decorator) for d in cls.decorators] == ["first", "second(4)"]
    assert "__init__" not in focus.code(cls) and "Nested" not in focus.code(cls)
    assert focus.span(cls.name) == Span(8, 7, 8, 12)


def test_two_places_in_one_function_are_in_one_tree(focus: Focus) -> None:
    inner, outer = (focus.node(s) for text, s in spans(SOURCE) if text.startswith(("g(", "h(")))
    assert inner is not None and outer is not None
    functions = [
        next(n for n in focus.parents(node) if isinstance(n, cst.FunctionDef) and n.name.value == "step")
        for node in (inner, outer)
    ]
    assert functions[0] is functions[1]


def test_headers_and_whole_statements(focus: Focus) -> None:
    base = focus.node(Span(8, 13, 8, 22))
    assert isinstance(base, cst.Subscript)
    whole = focus.node(Span(8, 1, 27, 14))
    assert isinstance(whole, cst.ClassDef) and "Nested" in focus.code(whole)
    assert isinstance(focus.node(Span(17, 9, 19, 28)), cst.ClassDef)


def test_what_no_statement_holds_has_no_node(focus: Focus) -> None:
    assert focus.node(Span(5, 1, 5, 5)) is None
    assert focus.node(Span(20, 1, 33, 1)) is None
    assert focus.node(Span(90, 1, 90, 2)) is None
    assert focus.node(Span(13, 9, 13, 10)) is None


def test_line_ends_and_byte_order_marks() -> None:
    for end in ("\r\n", "\r"):
        source = "x = 1\nclass A:\n    y = 2\n    def f(self):\n        return g(1)".replace("\n", end)
        focus = Focus("\ufeff" + source, ast.parse(source))
        node = focus.node(Span(5, 16, 5, 20))
        assert isinstance(node, cst.Call) and focus.code(node) == "g(1)"


def test_what_libcst_cannot_parse_has_no_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str) -> cst.Module:
        raise cst.ParserSyntaxError("made up", lines=[""], raw_line=1, raw_column=0)

    monkeypatch.setattr(cst, "parse_module", refuse)
    assert Focus("f(1)\n", ast.parse("f(1)\n")).node(Span(1, 1, 1, 5)) is None


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ("jnp.ones(2) if i \\\n              else 3", None),
        ("3\n        if i else 4", None),
        ("(\n            i\n        )", "(i)"),
        ("(a +\n        i)", None),
        ("x := f(\n            i\n        )", None),
    ],
)
def test_the_code_of_an_expression_keeps_the_indentation_of_its_lines(
    argument: str, code: str | None
) -> None:
    source = f"def f():\n    for i in a:\n        step({argument})\n"
    focus = Focus(source, ast.parse(source))
    call = focus.node(Span(3, 9, source.count("\n"), len(source.rstrip("\n").rpartition("\n")[2]) + 1))
    assert isinstance(call, cst.Call)
    assert focus.code(call.args[0].value) == (code or argument)
