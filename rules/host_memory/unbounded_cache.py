"""JAX402: a cache without a bound, fed with keys without an end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related
from jaxlint.flow.facts import CacheStore, Kind, Operand
from jaxlint.pattern import pattern
from jaxlint.rule import Confidence, Rule

from ._held import holds_model

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_SMALL = frozenset(
    {Kind.SCALAR, Kind.CONSTANT, Kind.SHAPE, Kind.DTYPE, Kind.FUNCTION, Kind.CLASS, Kind.MODULE}
)
_SET_UP = pattern(r"\bself\.|\.(items|keys)\(\)|\b[A-Z][A-Z0-9_]+\b")
_LOADERS = frozenset({"load", "read", "decode", "fetch", "download", "open"})
_ADDING = frozenset({"append", "extend", "add", "update", "appendleft", "insert"})
_MAXSIZE = 16  # entries; enough for a working set, small enough for entries that are arrays


class UnboundedCache(Rule):
    """A cache keeps every value it was ever asked for."""

    def suspect(self, fact: CacheStore) -> bool:
        if fact.bounded or fact.evicts or fact.value_is_boundary or fact.how == "cached_property":
            return False
        if fact.value is not None and fact.value.kind in _SMALL and not fact.instance_holds_arrays:
            return False
        if fact.how == "dict":
            # Keys that are identities are JAX403.
            keyed = fact.key_open is True and "id" not in fact.key_made_of
            return (
                keyed
                and (fact.value_is_array or holds_model(fact.value))
                and not _is_to_be_filled(fact.value)
            )
        if fact.on_method and (fact.value_is_array or fact.instance_holds_arrays):
            return True
        large = fact.value_is_array or holds_model(fact.value) or _loads(fact.function)
        return large and bool(fact.parameters) and (fact.key_open is True or bool(fact.varying_calls))

    def check(self, fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if fact.how == "dict" and (
            _is_state(node, ctx) or _collects(node, ctx) or _has_closed_keys(fact, node, ctx)
        ):
            return
        name = f"`{fact.function.rpartition('.')[2]}`" if fact.function else "this function"
        if fact.how == "dict":
            spelled = _dict(node, ctx)
            if spelled == "self":  # a class of dicts that fill themselves
                spelled = fact.function.rpartition(".")[0]
            name = f"`{spelled}`" if spelled else "This dict"
            message = f"{name} gets an entry for every new key{_key(fact)} and loses none."
            remedy = "Drop the oldest entries, or use `functools.lru_cache` with a `maxsize`."
        elif fact.on_method:
            arrays = ", nor are its arrays" if fact.instance_holds_arrays else ""
            message = (
                f"The cache of {name} has no bound and `self` in its keys: no instance is ever freed{arrays}."
            )
            remedy = "Keep the value on the instance instead."
        else:
            message = f"The cache of {name} keeps the result of every call{_key(fact)}: it has no bound."
            remedy = f"Give it one, such as `maxsize={_MAXSIZE}`, or drop the cache."
        related = [Related(call, "called with another key each time") for call in fact.varying_calls[:3]]
        if fact.key is not None and fact.key.origin is not None:
            related.append(Related(fact.key.origin, "the keys come from here"))
        yield self.finding(
            fact,
            f"{message} {remedy}",
            confidence=Confidence.HIGH
            if fact.value_is_array or fact.instance_holds_arrays
            else Confidence.MEDIUM,
            related=related,
            fix=None if fact.on_method else _bound(fact, node, ctx),
        )


def _loads(function: str) -> bool:
    """A function that by its name reads items of data, whatever it returns."""
    return not _LOADERS.isdisjoint(re.findall(r"[a-z]+", function.rpartition(".")[2].lower()))


def _is_to_be_filled(value: Operand | None) -> bool:
    """An empty list or dict is put there: items are grouped, not cached."""
    return value is not None and any(
        part.origin_kind in ("list", "dict") and not part.leaves for part in value.walk()
    )


def _collects(node: cst.CSTNode | None, ctx: Context) -> bool:
    """The function adds to entries that are there: `groups[key].append(item)`."""
    import libcst as cst
    import libcst.matchers as m

    function = next((p for p in ctx.parents(node) if isinstance(p, cst.FunctionDef)), None) if node else None
    if function is None:
        return False
    added = m.Call(m.Attribute(m.Subscript(), m.Name(m.MatchIfTrue(_ADDING.__contains__))))
    return any(
        _dict(found.func.value, ctx) == _dict(node, ctx)  # type: ignore[attr-defined]  # as matched
        for found in m.findall(function, added)
    )


def _dict(node: cst.CSTNode | None, ctx: Context) -> str:
    """The dict as the source names it, "" where the store is written in another way."""
    import libcst as cst

    if isinstance(node, cst.Subscript):
        return ctx.focus.code(node.value)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return ctx.focus.code(node.func.value)
    return ""


def _is_state(node: cst.CSTNode | None, ctx: Context) -> bool:
    """The function also writes to entries that are there: running values, not results to look up."""
    import libcst as cst
    import libcst.matchers as m

    function = next((p for p in ctx.parents(node) if isinstance(p, cst.FunctionDef)), None) if node else None
    if function is None:
        return False
    written = [found.target for found in m.findall(function, m.AugAssign() | m.AssignTarget())]  # type: ignore[attr-defined]  # both kinds that match have a target
    return sum(isinstance(t, cst.Subscript) and _dict(t, ctx) == _dict(node, ctx) for t in written) > 1


def _has_closed_keys(fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> bool:
    """The key runs over what the object or the program was set up with: attributes, constants, items."""
    import libcst as cst

    key = fact.key.name if fact.key is not None and fact.key.kind is Kind.UNKNOWN else None
    loops = [p for p in ctx.parents(node) if isinstance(p, cst.For)] if node and key else []
    return any(
        re.search(rf"\b{re.escape(key or '')}\b", ctx.focus.code(loop.target))
        and _SET_UP.search(ctx.focus.code(loop.iter))
        for loop in loops
    )


def _key(fact: CacheStore) -> str:
    return f" (`{fact.key.name}`)" if fact.key is not None and fact.key.name else ""


def _bound(fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """`lru_cache(maxsize=None)` gets a number, `cache` becomes an `lru_cache` with one."""
    import libcst as cst

    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):
        node = node.func  # `lru_cache(maxsize=None)(f)`
    if fact.how == "lru_cache" and isinstance(node, cst.Call) and len(node.args) == 1:
        edits: tuple[Edit, ...] = (ctx.replace(node.args[0].value, str(_MAXSIZE)),)
    elif fact.how == "cache" and isinstance(node, (cst.Name, cst.Attribute)):
        imported = ctx.importing("functools.lru_cache")
        if imported is None:
            return None
        spelled, imports = imported
        edits = (ctx.replace(node, f"{spelled}(maxsize={_MAXSIZE})"), *imports)
    else:
        return None
    return Fix(f"Keep the {_MAXSIZE} latest results", Applicability.UNSAFE, edits)
