"""Patterns that are compiled when they are first asked."""

import copy
import re

import pytest

from jaxlint.pattern import pattern


def test_it_answers_as_a_compiled_one_does() -> None:
    late, compiled = pattern(r"a(b+)", re.IGNORECASE), re.compile(r"a(b+)", re.IGNORECASE)
    for text in ("xABBy", "abb", "none"):
        for method in ("search", "match", "fullmatch"):
            one, other = getattr(late, method)(text), getattr(compiled, method)(text)
            assert (one and one.groups()) == (other and other.groups())
    assert late.findall("abAB") == compiled.findall("abAB")
    assert late.pattern == compiled.pattern


def test_a_broken_one_says_so_when_it_is_asked() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_it_can_be_copied() -> None:
    assert copy.copy(pattern("a+")).search("caat")
