"""JAX403: a cache keeps alive what was meant to be freed: models in its keys, arrays under closed keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix
from jaxlint.flow.facts import CacheStore, Instantiation, Kind, Tag
from jaxlint.rule import Confidence, Rule, Severity

from ._held import holds_device_array, holds_model

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_DECORATORS = frozenset({"cache", "lru_cache"})


class ArrayPinningCache(Rule):
    """A cache holds on to models or device arrays."""

    def suspect(self, fact: CacheStore) -> bool:
        if fact.executable:
            return False
        if fact.how in _DECORATORS:
            if fact.on_method:  # without a bound it is JAX402
                return fact.bounded
            return bool(fact.pins) or (not fact.bounded and fact.key_open is False and _holds_arrays(fact))
        if fact.how == "dict" and "id" in fact.key_made_of:
            return (
                bool(fact.pins) or fact.value_is_array or holds_device_array(fact.value) or _is_unknown(fact)
            )
        if fact.how != "dict" or fact.evicts:
            return False
        return bool(fact.pins) or (_closed(fact) and not fact.on_method and _holds_arrays(fact))

    def check(self, fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if fact.bounded and _holds_one(node):
            return
        if not fact.pins and not _pins_self(fact) and _has_open_keys(fact, ctx):
            return
        if (
            fact.on_method
            and fact.how != "dict"
            and not (fact.instance_holds_arrays or _is_made_of_arrays(fact, ctx))
        ):
            return
        if _is_unknown(fact) and not fact.pins and not _is_made_by_jax(node, ctx):
            return
        name = _name(fact, node, ctx)
        if fact.how == "dict" and "id" in fact.key_made_of:
            message = (
                f"{name} keeps arrays under the `id` of an object: the entry outlives the object, and a new one at "
                "the same address gets the old answer. Keep the value on the object, or use a `WeakKeyDictionary`."
            )
        elif fact.on_method:
            message = (
                f"The cache of {name} has `self` in its keys: an instance and its arrays stay until its entries "
                "are pushed out. Keep the value on the instance instead."
            )
        elif fact.pins:
            message = (
                f"{name} has `{fact.pins}` objects in its keys: they and their arrays stay as long as the "
                "entry. Keep the value on the object, or key by what tells it apart."
            )
        else:
            message = (
                f"{name} keeps models, which are made of device arrays, for the life of the process. Hold each "
                "where it is used."
                if holds_model(fact.value)
                else f"{name} keeps device arrays for the life of the process. Keep NumPy arrays there, or hold "
                "the arrays where they are used."
            )
        if not fact.pins and fact.how == "dict" and "id" not in fact.key_made_of and _is_part_of_object(name):
            return
        pins = fact.on_method or bool(fact.pins) or "id" in fact.key_made_of
        yield self.finding(
            fact,
            message,
            severity=None if pins else Severity.INFO,
            confidence=Confidence.HIGH if pins else Confidence.LOW,
            fix=None if pins or holds_model(fact.value) else _on_host(node, ctx),
        )


def _pins_self(fact: CacheStore) -> bool:
    """A cache with a bound, on a method: whatever its other keys are, `self` is one."""
    return fact.on_method and fact.bounded and fact.how in _DECORATORS


def _is_unknown(fact: CacheStore) -> bool:
    return fact.value is not None and fact.value.kind is Kind.UNKNOWN


def _is_made_by_jax(node: cst.CSTNode | None, ctx: Context) -> bool:
    """What is stored is the result of a function of jax, a tree of arrays say."""
    import libcst as cst

    stored = (
        next((p for p in ctx.parents(node) if isinstance(p, cst.Assign)), None) if node is not None else None
    )
    if stored is None or not isinstance(stored.value, cst.Call):
        return False
    heads = (ctx.spell("jax"), ctx.spell("jax.numpy"))
    return ctx.focus.code(stored.value.func).startswith(tuple(f"{head}." for head in heads if head))


def _closed(fact: CacheStore) -> bool:
    """The keys are few: names and configurations. One fixed key is a lazy constant."""
    return fact.key_open is not True and not (fact.key is not None and fact.key.kind is Kind.CONSTANT)


def _has_open_keys(fact: CacheStore, ctx: Context) -> bool:
    """Some call in view gives it keys without an end: JAX402."""
    return any(
        other.key_open is True and other.place == fact.place and not fact.evicts
        for other in ctx.facts(CacheStore)
        if "id" not in other.key_made_of
    )


def _holds_arrays(fact: CacheStore) -> bool:
    """The entries are device arrays, not proven small. Without parameters a cache is a lazy constant."""
    if fact.how != "dict" and not fact.parameters:
        return False
    value = fact.value
    if holds_model(value):
        return True
    return value is not None and Tag.SMALL not in value.tags and holds_device_array(value)


def _is_made_of_arrays(fact: CacheStore, ctx: Context) -> bool:
    """An instance that is made in view holds arrays."""
    owner = fact.function.rpartition(".")[0]
    return any(made.class_name == owner and made.holds_arrays for made in ctx.facts(Instantiation))


def _is_part_of_object(name: str) -> bool:
    """`buffer.entries`: it goes with the object."""
    return "." in name and not name.startswith("`cls.")


def _holds_one(node: cst.CSTNode | None) -> bool:
    """`lru_cache(maxsize=1)`: the next call lets go of what it holds."""
    import libcst as cst

    if not isinstance(node, cst.Call) or len(node.args) != 1:
        return False
    size = node.args[0].value
    return isinstance(size, cst.Integer) and size.evaluated_value <= 1


def _name(fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> str:
    import libcst as cst

    if fact.how in _DECORATORS:
        name = f"`{fact.function.rpartition('.')[2]}`"
        return name if fact.on_method else f"The cache of {name}"
    target = node.value if isinstance(node, cst.Subscript) else None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        target = node.func.value
    return f"`{ctx.focus.code(target)}`" if target is not None else "This dict"


def _on_host(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """What a dict keeps, as NumPy arrays."""
    import libcst as cst

    jax = ctx.spell("jax")
    if jax is None or not isinstance(node, cst.Subscript):
        return None
    for parent in ctx.parents(node):
        if isinstance(parent, cst.Assign) and len(parent.targets) == 1 and parent.targets[0].target is node:
            kept = f"{jax}.device_get({ctx.focus.code(parent.value)})"
            return ctx.suggest("Keep NumPy arrays", ctx.replace(parent.value, kept))
    return None
