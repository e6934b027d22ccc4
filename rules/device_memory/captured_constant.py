"""JAX311: a jitted function reads an array or a model from outside, which becomes a constant of its executables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import Capture, CapturedConstants, JitCall, ModuleRole
from jaxlint.rule import Confidence, Rule, Severity

from ..retrace import _wording as wording
from ..trace._passing import as_parameter

if TYPE_CHECKING:
    from jaxlint.context import Context

# Elements of four bytes: 1 MiB is worth a warning, below 4 KiB nobody would notice.
_LARGE = 1 << 18
_SMALL = 1 << 10


class CapturedConstant(Rule):
    """An array read from outside a jitted function is copied into each of its executables."""

    def suspect(self, fact: CapturedConstants) -> bool:
        # A function that nobody in view runs may be traced itself: what it captures is then no constant.
        if fact.in_module and not fact.proof.eager:
            return False
        return any(_weighs(c) and (fact.proof.eager or _is_heavy(c)) for c in fact.captures)

    def check(self, fact: CapturedConstants, ctx: Context) -> Iterator[Finding]:
        if not fact.proof.eager and _is_seen_running(fact, ctx):
            return  # what is known where it runs counts
        captures = [capture for capture in fact.captures if _weighs(capture)]
        heavy = [capture for capture in captures if _is_heavy(capture)]
        if ctx.role is ModuleRole.TEST and (not heavy or _is_only_lowered(fact, ctx)):
            return
        if (
            ctx.role is ModuleRole.LIBRARY
            and fact.symbol
            and all(c.elements is None for c in captures)
            and not heavy
        ):
            return  # a library's closures hold what its callers pass, often numbers and small boxes
        first = (heavy or captures)[0]
        names = wording.listing(capture.name for capture in (heavy or captures))
        several = len({capture.name for capture in heavy or captures}) > 1
        related = [Related(c.place, f"so does `{c.name}`") for c in captures if c.name != first.name]
        yield self.finding(
            fact,
            f"{names} {'become constants' if several else 'becomes a constant'} of the compiled "
            f"`{wording.function_name(fact.boundary)}`, copied into each of its executables{_size(first)}. "
            f"Pass {'them as arguments' if several else 'it as an argument'}.",
            place=first.place,
            severity=None if heavy else Severity.INFO,
            confidence=Confidence.HIGH
            if first.elements is not None or first.what == "model"
            else Confidence.MEDIUM,
            related=[Related(fact.boundary.place, "jitted here"), *related],
            fix=as_parameter(first.name, fact.boundary, ctx) if not several else None,
        )


def _weighs(capture: Capture) -> bool:
    return capture.elements is None or capture.elements >= _SMALL


def _is_heavy(capture: Capture) -> bool:
    return capture.what != "array" or (capture.elements or 0) >= _LARGE


def _size(capture: Capture) -> str:
    if capture.what == "model":
        return " with all its arrays"
    return f" ({capture.elements:,} elements)" if capture.elements is not None else ""


def _is_only_lowered(fact: CapturedConstants, ctx: Context) -> bool:
    """`jit(f).lower(x)` to look at the program, which never runs."""
    calls = (call for call in ctx.facts(JitCall) if call.boundary.place == fact.boundary.place)
    return any(call.only_lowered for call in calls)


def _is_seen_running(fact: CapturedConstants, ctx: Context) -> bool:
    """The boundary is also made on a path whose arrays are known."""
    return any(
        other.boundary.place == fact.boundary.place and other.proof.eager
        for other in ctx.facts(CapturedConstants)
    )
