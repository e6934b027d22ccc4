"""Figures in words."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.confirm.targets import AUTO
from jaxlint.confirm.verdict import Arm, Verdict

_KIB, _MIB = 1 << 10, 1 << 20


def size(number: int) -> str:
    """Bytes as a person reads them: "30,578 MiB", "1.50 MiB", "12.3 KiB", "640 bytes"."""
    if abs(number) >= 100 * _MIB:
        return f"{number / _MIB:,.0f} MiB"
    if abs(number) >= _MIB:
        return f"{number / _MIB:.2f} MiB"
    return f"{number / _KIB:.1f} KiB" if abs(number) >= _KIB else f"{number} bytes"


def times(number: int) -> str:
    """ "once", "twice", "7 times"."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def count(number: int, noun: str) -> str:
    """ "1 call", "3 calls"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def totals(arms: Sequence[Arm]) -> str:
    """ "30,578 MiB as written, 61 MiB as fixed", of argument + output - alias + temp."""
    return ", ".join(f"{size(arm.total_bytes)} {arm.name}" for arm in arms if arm.total_bytes is not None)


def composition(arm: Arm) -> str:
    """What an arm's total is the sum of, each labelled, and temp + output beside it; "" without figures."""
    if arm.total_bytes is None:
        return ""
    parts = (("argument", arm.argument_bytes), ("output", arm.output_bytes), ("temp", arm.temp_bytes))
    added = " + ".join(f"{name} {size(part or 0)}" for name, part in parts)
    total = f"{added} - alias {size(arm.alias_bytes or 0)} = {size(arm.total_bytes)}"
    return f"{total}; temp + output {(arm.own_bytes or 0) / _MIB:.2f} MiB"


def lines(verdict: Verdict) -> list[str]:
    """A verdict for people: the outcome and its reason, then what was measured."""
    where = "this machine" if verdict.target == AUTO else verdict.target
    found = [f"{verdict.outcome.value} on {where}: {verdict.reason}"]
    for arm in verdict.arms:
        if text := composition(arm):
            found.append(f"  {arm.name}: {text}")
        found += [f"    live at the peak: {buffer}" for buffer in arm.peak]
    return found
