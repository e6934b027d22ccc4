"""What gives a new version of something, called in the installed libraries: the version has its structure."""

from __future__ import annotations

import importlib
import inspect
from functools import reduce
from typing import Any, NamedTuple

import pytest

from jaxlint.jax_api.updating import (
    COPYING_METHODS,
    OPTIMIZER_STATE,
    OPTIMIZER_UPDATE,
    STORED_NOWHERE,
    UPDATING,
    UPDATING_METHODS,
    stem,
)

jax = pytest.importorskip("jax")

OLD = {"w": 1.0}
OTHER = {"w": 5.0}
# What stands at the other positions.
REST: dict[str, tuple[Any, ...]] = {
    "incremental_update": (0.5,),
    "periodic_update": (1, 2),  # not one of the steps at which it takes the new tensors
}


class Pair(NamedTuple):
    left: int
    right: int


def found(dotted: str) -> Any:
    library, *rest = dotted.split(".")
    module = pytest.importorskip(library)
    try:
        return reduce(getattr, rest, module)
    except AttributeError:
        pytest.skip(f"{dotted} is not in the installed version")


@pytest.mark.parametrize(("name", "position"), sorted(UPDATING.items()))
def test_the_result_is_a_version_of_the_tree_at_the_position(name: str, position: int) -> None:
    function = found(name)
    last = name.rpartition(".")[2]
    if last in ("map", "tree_map"):
        given: list[Any] = [lambda leaf: leaf + 1.0, OLD]
        expected = 2.0
    else:
        trees = {position: OLD, 1 - position: OTHER}
        given = [trees[0], trees[1], *REST.get(last, ())]
        expected = {"apply_updates": 6.0, "incremental_update": 3.0, "periodic_update": 1.0}[last]
    assert given[position] is OLD
    assert jax.tree_util.tree_map(float, function(*given)) == {"w": expected}


def test_a_train_state_gives_its_next_version() -> None:
    optax = pytest.importorskip("optax")
    state = found_train_state().create(apply_fn=None, params=OLD, tx=optax.sgd(1.0))
    made = {"apply_gradients": state.apply_gradients(grads={"w": 0.25}), "replace": state.replace(step=1)}
    assert made.keys() <= UPDATING_METHODS
    for name, version in made.items():
        assert type(version) is type(state), name
        assert version.step == 1
        assert not hasattr(version, "grads")
    assert made["apply_gradients"].params == {"w": 0.75}


def found_train_state() -> Any:
    pytest.importorskip("flax")
    return importlib.import_module("flax.training.train_state").TrainState


def test_a_named_tuple_and_a_dict_give_another_version_or_the_same_again() -> None:
    pair = Pair(1, 2)
    made = {"_replace": pair._replace(left=3), "_asdict": pair._asdict(), "copy": OLD.copy()}
    assert made == {"_replace": Pair(3, 2), "_asdict": {"left": 1, "right": 2}, "copy": OLD}
    assert {"apply_gradients", "replace", *made} == UPDATING_METHODS | COPYING_METHODS


def test_an_optimizer_gives_its_state_where_it_takes_it() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(0.1)
    update = getattr(optimizer, OPTIMIZER_UPDATE)
    assert list(inspect.signature(update).parameters)[OPTIMIZER_STATE] == "state"
    before = optimizer.init(OLD)
    after = update(OTHER, before)[OPTIMIZER_STATE]
    assert jax.tree_util.tree_structure(after) == jax.tree_util.tree_structure(before)


def test_what_is_stored_nowhere_is_a_keyword_of_an_update() -> None:
    optax = pytest.importorskip("optax")
    search = inspect.signature(optax.scale_by_backtracking_linesearch(3).update).parameters
    gradients = inspect.signature(found_train_state().apply_gradients).parameters
    assert search.keys() | gradients.keys() >= STORED_NOWHERE


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("new_params", "params"),
        ("params_new", "params"),
        ("prev_opt_state", "opt_state"),
        ("state2", "state"),
        ("newton", "newton"),
    ],
)
def test_versions_have_one_stem(name: str, same: str) -> None:
    assert stem(name) == same


def test_optax_names_versions_so() -> None:
    optax = pytest.importorskip("optax")
    names = list(inspect.signature(optax.incremental_update).parameters)[:2]
    assert {stem(name) for name in names} == {"tensors"}
    assert stem(names[UPDATING["optax.incremental_update"]]) != names[1]
