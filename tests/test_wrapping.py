"""A counter that begins again takes few values."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxlint.flow.statements.wrapping import begins_again


def loop_of(body: str) -> ast.For:
    tree = ast.parse("for x in xs:\n" + textwrap.indent(textwrap.dedent(body), "    "))
    assert isinstance(tree.body[0], ast.For)
    return tree.body[0]


@pytest.mark.parametrize(
    "body",
    [
        "i += 1\nif i == 4:\n    i = 0\n",
        "i += 1\nif i >= len(phases):\n    log(i)\n    i = first\n",
        "if i < 4:\n    i += 1\nelse:\n    i = 0\n",
        "i = i + 1 if i < 4 else 0\n",
        "self.i += 1\nif self.i > last:\n    self.i = 0\n",
    ],
)
def test_begins_again(body: str) -> None:
    assert begins_again(loop_of(body), "self.i" if "self" in body else "i")


@pytest.mark.parametrize(
    "body",
    [
        "i += 1\n",
        "i += 1\nif i == 4:\n    j = 0\n",
        "i += 1\nif x == 4:\n    i = 0\n",
        "i = i + 1 if i < 4 else i + 2\n",
        "i += 1\nif i == 4:\n    i = i * 2\n",
    ],
)
def test_goes_on(body: str) -> None:
    assert not begins_again(loop_of(body), "i")
