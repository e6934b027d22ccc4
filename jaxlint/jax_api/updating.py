"""What gives a new version of a tree or a state: of optax 0.2.8, flax 0.12.8, equinox 0.13.8 and Python itself.

`tests/jax_api/test_updating.py` calls each and compares what comes back with what went in.
"""

from __future__ import annotations

# Functions → the position of the tree that the result is a new version of.
UPDATING: dict[str, int] = {
    "optax.apply_updates": 0,
    "equinox.apply_updates": 0,
    "optax.incremental_update": 1,
    "optax.periodic_update": 1,
    "jax.tree.map": 1,
    "jax.tree_map": 1,
    "jax.tree_util.tree_map": 1,
}
# The same by last name, for code that is read by its syntax.
UPDATING_LAST: dict[str, int] = {name.rpartition(".")[2]: position for name, position in UPDATING.items()}

# Methods that give a new version of what they belong to: of Flax's `TrainState`, of a dataclass of `flax.struct`,
# of a named tuple; and those that give the same again, as a dict or as a copy.
UPDATING_METHODS = frozenset({"apply_gradients", "replace", "_replace"})
COPYING_METHODS = frozenset({"_asdict", "copy"})

# `updates, opt_state = optimizer.update(grads, opt_state)`: the position of the state, given and taken.
OPTIMIZER_UPDATE = "update"
OPTIMIZER_STATE = 1

# Keywords that an update reads and stores nowhere: `apply_gradients(grads=…)` of Flax's `TrainState`, and what
# the line searches of optax ask for.
STORED_NOWHERE = frozenset({"grads", "value", "grad", "value_fn"})

# Words by which names of versions of one thing differ: `new_params`, `opt_state_new`, `prev_carry`. That is how the
# libraries' own code and examples name them (optax's `incremental_update(new_tensors, old_tensors, …)`), no rule.
VERSION_WORDS = frozenset({"new", "next", "updated", "old", "prev"})


def stem(name: str) -> str:
    """A name without what tells versions apart: `new_params`, `params_new`, `params2` and `params` alike."""
    words = [word for word in name.lower().strip("_").split("_") if word not in VERSION_WORDS]
    return "_".join(words).rstrip("0123456789")
