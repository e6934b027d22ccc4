"""Containers that are no more than variables become variables, and no others."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxlint.project.source import parse


def names(source: str) -> set[str]:
    """The names that entries have become."""
    tree = parse(textwrap.dedent(source))
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not n.id.isidentifier()}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("c = {}\nc['a'] = 1\nprint(c['a'])\n", {"c['a']"}),
        ("def f(x):\n    c: dict[str, int] = {'a': x}\n    return c['a']\n", {"c['a']"}),
        ("c = dict(a=1)\nc['a'] += 1\n", {"c['a']"}),
        ("c = [0, None]\nc[1] = c[0]\n", {"c[0]", "c[1]"}),
        ("c = {}\nc['a'] = {}\nc['a']['b'] = 1\nprint(c['a']['b'])\n", {"c['a']['b']"}),
        ("c = {'a': {'b': 1}}\nprint(c['a'])\n", {"c['a']"}),
        ("c = {'a': 1}\nfor c['a'] in range(3):\n    print(c['a'])\n", {"c['a']"}),
        (
            "def f():\n    c = {'a': 1}\n    g = lambda x: x + c['a']\n    c['a'] = 2\n    return g\n",
            {"c['a']"},
        ),
        ("c = {'a': 1}\nprint([c['a'] for _ in x])\n", {"c['a']"}),
    ],
)
def test_entries_that_become_names(source: str, expected: set[str]) -> None:
    assert names(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "c = {}\nc['a'] = 1\nprint(c)\n",
        "c = {}\nc['a'] = 1\nd = c\n",
        "c = {}\nc['a'] = 1\nprint('a' in c, c['a'])\n",
        "c = {}\nc['a'] = 1\nprint(c.get('a'))\n",
        "c = {}\nc['a'] = 1\nprint(c[key])\n",
        "c = {'a': 1, **more}\nprint(c['a'])\n",
        "c = {'a': 1}\nc = make()\nprint(c['a'])\n",
        "c = {'a': 1}\ndef f():\n    return c['a']\n",
        "c = {'a': 1}\ndef f(c):\n    return c['a']\nprint(c['a'])\n",
        "def f(c):\n    c = {'a': 1}\n    return c['a']\n",
        "def f():\n    global c\n    c = {'a': 1}\n    return c['a']\n",
        "c = {'a': 1}\nimport d as c\nprint(c['a'])\n",
        "c = {'a': 1}\nfor c in cs:\n    print(c['a'])\n",
        "def f():\n    c = {'a': 1}\n    def g():\n        c['a'] += 1\n    return g\n",
        "def f():\n    c = {'a': 1}\n    def g(c):\n        return c['a']\n    return g\n",
        "def f():\n    c = {'a': 1}\n    def g():\n        return c\n    return g, c['a']\n",
        "c = {}\ntry:\n    print(c['a'])\nexcept KeyError:\n    pass\n",
        "c = [0]\nprint(c[-1])\n",
        "c = []\nprint(c[0])\n",
        "c = {}\nc['a b'] = 1\n",
    ],
)
def test_containers_that_stay(source: str) -> None:
    assert names(source) == set()


def test_an_entry_has_its_place() -> None:
    tree = parse("c = {}\nc['a'] = f(c['b'])\n")
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "c['b']"]
    assert [(n.lineno, n.col_offset, n.end_col_offset) for n in found] == [(2, 11, 17)]


def test_entries_that_swap() -> None:
    tree = parse("c = {'a': 1, 'b': 2}\nc = {'a': c['b'], 'b': c['a']}\n")
    assert ast.unparse(tree.body[-1]) == "c['a'], c['b'] = (c['b'], c['a'])"


def test_a_decorator_sees_other_names() -> None:
    source = """
        @register(c["a"])
        def f():
            c = {"a": 1}
            return c["a"]
    """
    tree = parse(textwrap.dedent(source))
    assert isinstance(tree.body[0], ast.FunctionDef)
    assert ast.unparse(tree.body[0].decorator_list[0]) == "register(c['a'])"
    assert names(source) == {"c['a']"}
