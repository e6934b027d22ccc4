"""The reader of TOML that tells places agrees with Python's own, and never raises."""

from __future__ import annotations

import random

import pytest

from jaxlint.dependencies.toml_values import TomlValue, values
from jaxlint.project import toml

TEXT = '''
title = "a # no comment" # one
[project]
name = 'x'
"quoted key".sub = 1.5
dependencies = [
    "jax[cuda12]>=0.4",  # the one
    """multi
line""", [1, 2], {a = "b", c.d = [true]},
]
date = 2024-01-01T00:00:00

[[tool.uv.index]]
name = "one"
[[tool.uv.index]]
name = "two"
[tool.uv.index.more]
url = "u"
'''


def flat(document: object, key: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], object]:
    """Every value of a parsed document by its key."""
    if isinstance(document, dict):
        return {k: v for name, value in document.items() for k, v in flat(value, (*key, name)).items()}
    if isinstance(document, list):
        return {k: v for number, item in enumerate(document) for k, v in flat(item, (*key, number)).items()}
    return {key: document}


def test_keys_and_strings_are_those_of_the_parser() -> None:
    expected = flat(toml.parse(TEXT, "x"))
    found = {value.key: value for value in values(TEXT)}
    assert found.keys() == expected.keys()
    assert {k: v.text for k, v in found.items() if v.is_string} == {
        k: v for k, v in expected.items() if isinstance(v, str)
    }


def test_places_are_those_of_the_text() -> None:
    lines = TEXT.split("\n")
    single = [v for v in values(TEXT) if v.span.line == v.span.end_line]
    assert len(single) > 10

    def at(value: TomlValue) -> str:
        return lines[value.span.line - 1][value.span.column - 1 : value.span.end_column - 1]

    assert [at(value).strip("'\"") for value in single] == [value.text for value in single]


@pytest.mark.parametrize("seed", range(40))
def test_broken_text_ends_quietly(seed: int) -> None:
    chance = random.Random(seed)
    text = list(TEXT)
    for _ in range(12):
        text[chance.randrange(len(text))] = chance.choice("[]{}=\"'#\n.,")
    assert len(list(values("".join(text)))) < len(TEXT)
