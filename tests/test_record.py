"""Records: data classes that are frozen to the type checker."""

from __future__ import annotations

import copy
import pickle

import pytest

from jaxlint.record import record, replace


@record
class Base:
    """What every one has."""

    name: str


@record
class Made(Base):
    """One with defaults and a method."""

    size: int = 1
    parts: tuple[Made, ...] = ()

    @property
    def total(self) -> int:
        return self.size + sum(part.total for part in self.parts)


def test_fields_of_the_base_come_first_and_defaults_are_filled_in() -> None:
    assert repr(Made("a")) == "Made(name='a', size=1, parts=())"
    assert Made("a", parts=(Made("b", 2),)).total == 3
    with pytest.raises(TypeError):
        Made()  # type: ignore[call-arg]  # wrong on purpose
    with pytest.raises(TypeError):
        Made("a", colour="red")  # type: ignore[call-arg]  # wrong on purpose


def test_equal_by_value_and_class() -> None:
    assert Made("a", 2) == Made("a", 2) and hash(Made("a", 2)) == hash(Made("a", 2))
    assert Made("a", 2) != Made("a", 3)
    assert Made("a") != Base("a")
    assert len({Made("a"), Made("a"), Made("b")}) == 2


def test_replace_makes_another() -> None:
    first = Made("a", 2)
    second = replace(first, name="b")
    assert (first, second) == (Made("a", 2), Made("b", 2))
    with pytest.raises(TypeError):
        replace(first, colour="red")


def test_nothing_else_can_be_stored() -> None:
    with pytest.raises(AttributeError):
        Made("a").colour = "red"  # type: ignore[attr-defined]  # there is no such field to set


def test_survives_pickling_and_copying() -> None:
    made = Made("a", 2, (Made("b"),))
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.copy(made) == made


def test_can_be_taken_apart_by_a_match_statement() -> None:
    match Made("a", 2):
        case Made(name, size):
            assert (name, size) == ("a", 2)
