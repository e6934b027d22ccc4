"""Instances for methods, from expressions that make them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

from . import abstract, load

CALL = "__call__"
_LARGEST = 64 << 20  # bytes of arrays that an instance may hold which has to be made for real
_DEEP = 4  # objects within objects that are looked through


class AnotherClass(Exception):
    """The expression makes no instance of the method's class."""


class TooLarge(Exception):
    """The instance would have to be made, and is too large for that. The text says so."""


class Method(NamedTuple):
    """A method of a class. One that takes no instance is static, or gets its class by itself."""

    owner: type
    takes_instance: bool


def of(module: ModuleType, owner: str, name: str) -> Method:
    """The method `name` of the class of the qualified name `owner`. Raises AttributeError."""
    found = load.member(module, owner)
    plain = isinstance(inspect.getattr_static(found, name), (staticmethod, classmethod))
    return Method(found, not plain)


def instance(make: Callable[[], Any], owner: type) -> Any:
    """What `make` returns, if that is an instance. Raises AnotherClass and TooLarge.

    One that jax looks into gets shapes for its arrays. Any other is made for real: it is used as it is, be it as a
    static argument or by what captures it.
    """
    found = abstract.abstractly(make)
    if not isinstance(found, owner):
        raise AnotherClass
    held = sum(_tracers(found, _DEEP))
    if not held:
        return found
    if held > _LARGEST:
        raise TooLarge(f"the instance holds {held >> 20} MiB of arrays, and would have to be made")
    return make()


def _tracers(value: Any, deep: int) -> Iterator[int]:
    """The bytes of each array that was only traced, in the attributes of an object and in what these hold."""
    import jax

    if isinstance(value, jax.core.Tracer):
        yield max(1, int(value.size) * int(getattr(value.dtype, "itemsize", 4)))
    elif deep:
        inside = list(value) if isinstance(value, (list, tuple, set)) else []
        inside += list(value.values()) if isinstance(value, dict) else []
        inside += list(getattr(value, "__dict__", {}).values()) if not isinstance(value, type) else []
        for each in inside:
            yield from _tracers(each, deep - 1)
