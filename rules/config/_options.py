"""Which change of jax's configuration is the subject of which rule."""

from __future__ import annotations

from jaxlint.flow.facts import ConfigChange
from jaxlint.jax_api.runtime import CACHE_OPTIONS, X64_OPTION

_ON = (True, 1, "1", "true", "yes", "on", "t", "y")
# Options that many set to what newer releases do anyway: the value, and since when.
_DEFAULTS: dict[str, tuple[object, tuple[int, ...]]] = {"jax_threefry_partitionable": (True, (0, 5))}
_CACHE_CALLS = ("set_cache_dir", "initialize_cache")


def turns_on_x64(fact: ConfigChange) -> bool:
    """64-bit mode is switched on: JAX501."""
    value = fact.value.lower() if isinstance(fact.value, str) else fact.value
    return fact.option.lower() == X64_OPTION and fact.value_known and value in _ON


def turns_on_cache(fact: ConfigChange) -> bool:
    """The persistent compilation cache is switched on: JAX502."""
    off = fact.value_known and not fact.value and fact.how != "call"
    return (fact.option.lower() in CACHE_OPTIONS or fact.option.endswith(_CACHE_CALLS)) and not off


def is_default(fact: ConfigChange, jax_version: tuple[int, ...]) -> bool:
    """The option has this value in that release unless somebody changes it."""
    value, since = _DEFAULTS.get(fact.option, (None, ()))
    return bool(since) and fact.value_known and fact.value is value and jax_version >= since
