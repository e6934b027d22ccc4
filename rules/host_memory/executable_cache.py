"""JAX404: a compiled function is kept for every shape, or every object, that ever came by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import CacheStore, Kind
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_OPEN = {"id": "object (`id` is new for every one)", "shape": "shape", "content": "content"}


class ExecutableCache(Rule):
    """A cache of executables gets a new one for every key and loses none."""

    def suspect(self, fact: CacheStore) -> bool:
        if not fact.executable or fact.bounded or fact.evicts or "bucket" in fact.key_made_of:
            return False
        if fact.how == "dict":
            return not fact.key_made_of.isdisjoint(_OPEN) or _counts(fact)
        return fact.how in ("cache", "lru_cache") and bool(fact.varying_calls)

    def check(self, fact: CacheStore, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        import libcst as cst

        kind = next((_OPEN[word] for word in _OPEN if word in fact.key_made_of), "key")
        holder = "this dict"
        if isinstance(node, cst.Subscript):
            holder = f"`{ctx.focus.code(node.value)}`"
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            holder = f"`{ctx.focus.code(node.func.value)}`"
        if fact.how != "dict":
            holder = f"the cache of `{fact.function.rpartition('.')[2]}`"
        related = [Related(place, "called with another key each time") for place in fact.varying_calls[:3]]
        if fact.key is not None and fact.key.place != fact.place:
            related.append(Related(fact.key.place, "the key"))
        yield self.finding(
            fact,
            f"{holder[0].upper()}{holder[1:]} keeps a compiled function for every new {kind} and drops none: each "
            f"costs a compilation and stays in memory. {_remedy(fact)}",
            confidence=Confidence.HIGH if fact.key_made_of & _OPEN.keys() else Confidence.MEDIUM,
            related=related,
            fix=_bucketed(fact, ctx),
        )


def _remedy(fact: CacheStore) -> str:
    if "id" in fact.key_made_of:
        return "Pass the object's arrays as arguments of one jitted function."
    return "Pad to a few sizes so that few keys remain, or bound the cache."


def _counts(fact: CacheStore) -> bool:
    """The key is a number that keeps changing, or a length."""
    return fact.key_open is True and fact.key is not None and fact.key.kind in (Kind.SCALAR, Kind.SHAPE)


def _bucketed(fact: CacheStore, ctx: Context) -> Fix | None:
    """The key of sizes that are rounded up to multiples of 64; the arrays have to be padded to them."""
    key = ctx.node(fact.key.place) if fact.key is not None and "shape" in fact.key_made_of else None
    text = ctx.focus.code(key) if key is not None else ""
    if key is None or not re.search(r"\.shape(\[-?\d\])?$", text):
        return None
    rounded = "-(-{} // 64) * 64"
    whole = (
        f"tuple({rounded.format('n')} for n in {text})" if text.endswith("shape") else rounded.format(text)
    )
    return ctx.suggest("Round sizes up", ctx.replace(key, whole))
