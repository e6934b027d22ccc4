"""JAX107: a static value that cannot be hashed, or that is another object each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Place, Related, Severity
from jaxlint.flow.facts import BoundaryUse, Guard, Kind
from jaxlint.rule import Confidence, Rule

from . import _wording as wording
from ._hoist import hoist
from ._keys import Key, fresh, maker, unhashable

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_SLICES_HASH = (3, 12)
_FREEZE = "Make its class a frozen dataclass, or give it `__eq__` and `__hash__`."
_REMEDIES = {
    "list": "Pass a tuple.",
    "set": "Pass a frozenset.",
    "dict": "Pass a tuple of its items, or a frozen dataclass.",
    "slice": "Pass its bounds.",
    "array": "Let it be traced.",
}


class IdentityStatic(Rule):
    """A static value is unhashable, or compared by identity and made anew for each call."""

    def suspect(self, fact: BoundaryUse) -> bool:
        return fact.proof.level == "eager" and bool(unhashable(fact) or fresh(fact))

    def check(self, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        callee = wording.callee(fact.boundary, node, ctx)
        confidence = Confidence.MEDIUM if fact.proof.guard is not Guard.NONE else Confidence.HIGH
        for key in unhashable(fact):
            if key.leaf.origin_kind == "slice" and ctx.requires_python >= _SLICES_HASH:
                continue
            yield self.finding(
                fact,
                f"{callee} raises a ValueError here: it keys its cache on `{wording.value(fact, *key, ctx)}`, "
                f"which cannot be hashed. {_REMEDIES.get(_kind(key), _FREEZE)}",
                place=key.argument.place,
                severity=Severity.ERROR,
                confidence=confidence,
                related=wording.trail(fact, [key.leaf]),
                fix=_hashable(fact, key, ctx),
            )
        earlier = (use for use in ctx.facts(BoundaryUse) if use.place < fact.place)
        said = {place for use in earlier for place in fresh(use)}
        for place, keys in fresh(fact).items():
            if place in said:
                continue
            made = wording.listing(_made(fact, key, ctx) for key in keys)
            they, them = ("they are", "them") if len(keys) > 1 else ("it is", "it")
            yield self.finding(
                fact,
                f"{callee} is compiled again for each new {made}: {they} static, and compared by "
                f"identity. Make {them} once and pass the same.",
                place=place,
                confidence=confidence,
                related=_trail(fact, place, keys),
                fix=_hoisted(keys[0], ctx) if len(keys) == 1 else None,
            )


def _trail(fact: BoundaryUse, made: Place, keys: Sequence[Key]) -> list[Related]:
    call = [] if fact.place.contains(made) else [Related(fact.place, "compiled again here")]
    return call + [r for r in wording.trail(fact, [key.leaf for key in keys]) if r.place != made]


def _kind(key: Key) -> str:
    return "array" if key.leaf.kind in (Kind.HOST, Kind.DEVICE) else key.leaf.origin_kind


def _made(fact: BoundaryUse, key: Key, ctx: Context) -> str:
    origin = maker(key.leaf)
    text = ctx.text(origin) if origin is not None else ""
    return text if 0 < len(text) <= wording.LONGEST else wording.value(fact, *key, ctx)


def _hashable(fact: BoundaryUse, key: Key, ctx: Context) -> Fix | None:
    import libcst as cst

    node = ctx.node(key.leaf.place) if wording.written(fact, *key) else None
    if node is None or _kind(key) not in ("list", "set"):
        return None
    text = ctx.focus.text(ctx.span(node))
    if isinstance(node, cst.List):
        inside = text[1:-1].rstrip().rstrip(",")
        text = f"({inside},)" if len(node.elements) == 1 else f"({inside})"
    else:
        text = f"{'tuple' if _kind(key) == 'list' else 'frozenset'}({text})"
    return Fix("Pass a hashable value", Applicability.DISPLAY, (ctx.replace(node, text),))


def _hoisted(key: Key, ctx: Context) -> Fix | None:
    origin = maker(key.leaf)
    node = ctx.node(origin) if origin is not None else None
    if node is None:
        return None
    what = key.leaf.path.rpartition(".")[2] or key.argument.parameter or "value"
    edits = hoist(node, f"shared_{what}" if what.isidentifier() else "shared_value", set(), ctx)
    return Fix("Make it once, before the loop", Applicability.DISPLAY, edits) if edits else None
