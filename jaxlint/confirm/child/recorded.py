"""Inputs from a record: the arguments of a call that was made once, with shapes for its arrays.

What the parts of a record look like is told in `recording/arguments.py`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from functools import reduce
from types import CellType, CodeType, FunctionType
from typing import Any


class NotHeld(Exception):
    """The record does not hold all of the call. The text says what is missing."""


def inputs(call: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword arguments of a recorded call. Raises NotHeld."""
    args = tuple(_value(node, f"argument {number}") for number, node in enumerate(call["args"], start=1))
    return args, {name: _value(node, f"`{name}`") for name, node in call["kwargs"].items()}


def _value(node: Any, where: str) -> Any:
    """A value from its node; `where` is what it is a part of, for people."""
    if not isinstance(node, dict):
        return node
    if "array" in node or "key" in node:
        return _shape(node)
    if "list" in node:
        return [_value(each, where) for each in node["list"]]
    if "tuple" in node:
        return tuple(_value(each, where) for each in node["tuple"])
    if "dict" in node:
        return {_value(key, where): _value(each, where) for key, each in node["dict"]}
    if "method" in node:
        return getattr(_value(node["self"], where), str(node["method"]))
    if "name" in node:
        return _imported(node["name"])
    if "closure" in node:
        return _closure(node, where)
    if "of" in node:
        return _object(node, where)
    raise NotHeld(f"{where} of the recorded call holds a {node.get('opaque')}, which a record cannot keep")


def _shape(node: dict[str, Any]) -> Any:
    import jax
    import jax.numpy as jnp

    struct: Any = jax.ShapeDtypeStruct
    lengths = tuple(map(int, node["shape"]))
    if "key" in node:
        return struct(lengths, jax.eval_shape(lambda: jax.random.key(0, impl=node["key"])).dtype)
    weak = {"weak_type": True} if node.get("weak") else {}
    return struct(lengths, jnp.dtype(node["array"]), **weak)


def _object(node: dict[str, Any], where: str) -> Any:
    kind = _imported(node["of"])
    if not isinstance(kind, type):
        raise NotHeld(f"{node['of']} is no class any more")
    if "items" in node:
        return kind(*(_value(each, where) for each in node["items"]))
    if "fields" in node:
        return kind(**{name: _value(each, where) for name, each in node["fields"].items()})
    made: Any = object.__new__(kind)
    for name, each in node["state"].items():
        object.__setattr__(made, name, _value(each, where))
    return made


def _closure(node: dict[str, Any], where: str) -> Any:
    """A function as the one that it was made in would make it: its code is among the constants of that one's."""
    module, _, qualified = node["closure"].partition(":")
    maker, *inner = qualified.split(".<locals>.")
    function = inspect.unwrap(_imported(f"{module}:{maker}"))
    found = [function.__code__] if isinstance(function, FunctionType) else []
    for name in inner:
        constants = [constant for code in found for constant in code.co_consts]
        found = [each for each in constants if isinstance(each, CodeType) and each.co_name == name]
    code = next((each for each in found if each.co_firstlineno == node["line"]), None)
    if code is None or len(code.co_freevars) != len(node["cells"]):
        raise NotHeld(f"{where} of the recorded call holds {qualified}, which is no longer in {module}")
    cells = tuple(CellType(_value(each, where)) for each in node["cells"])
    return FunctionType(code, function.__globals__, code.co_name, _value(node["defaults"], where), cells)


def _imported(name: str) -> Any:
    module, _, qualified = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        return reduce(getattr, qualified.split("."), found)
    except (ImportError, AttributeError) as error:
        raise NotHeld(f"{name} of the record cannot be found: {error}") from None
