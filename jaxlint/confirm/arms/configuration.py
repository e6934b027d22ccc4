"""JAX5xx: what the import of a module, or one of its lines, does to jax."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.judgement import Judgement, confirmed, refuted, undecided
from jaxlint.confirm.observed import Observed, Run

_X64 = "jax_enable_x64"
_CACHE = ("cache", "compilation")


def judge(claim: Claim, seen: Observed) -> Judgement:
    """Confirmed where a statement of the claim changed an option of jax, or the variable that sets it."""
    runs = [run for _, run in seen.every_run(claim)]
    if not seen.runs(claim.site):
        return undecided(seen.not_reached(claim.site))
    changed = _changed(runs)
    wanted = {name: value for name, value in changed.items() if _is_about(claim.finding.code, name)}
    if wanted:
        name, (before, after) = next(iter(wanted.items()))
        return confirmed(f"line {claim.site.first} changes `{name}` from {before} to {after} for the process")
    set_before = _set_by_environment(claim, seen)
    if set_before:
        return confirmed(set_before)
    return refuted(f"line {claim.site.first} ran and changed no such option")


def _changed(runs: list[Run]) -> Mapping[str, tuple[str, str]]:
    return {
        name: (before, after)
        for run in runs
        for name, (before, after) in run.get("changed", {}).items()
        if before != after
    }


def _is_about(code: str, name: str) -> bool:
    if code == "JAX501":
        return name == _X64
    return code != "JAX502" or any(word in name for word in _CACHE)


def _set_by_environment(claim: Claim, seen: Observed) -> str:
    """A variable of jax that was set and took effect, since it came before the import."""
    for name, value in seen.data["environment"].items():
        option = name.lower()
        if name.startswith("JAX_") and _is_about(claim.finding.code, option):
            now = seen.data["config"].get(option)
            if now is not None and _plain(value) == _plain(now):
                return f"`{name}={value}` is in force for the process: `{option}` is {now}"
    return ""


def too_late(claim: Claim, seen: Observed) -> Judgement:
    """JAX503: the variable is set when jax has read it, or has started its backend."""
    runs = seen.runs(claim.site)
    if not runs:
        return undecided(seen.not_reached(claim.site))
    before = runs[0].get("before", {})
    line = claim.site.first
    text = claim.finding.message
    if before.get("backend"):
        return confirmed(f"jax had started its backend when line {line} set the variable")
    late = [
        name
        for name, value in seen.data["environment"].items()
        if name.startswith("JAX_") and name in text and _ignored(name, value, seen)
    ]
    if late and before.get("imported"):
        return confirmed(f"jax was imported when line {line} set `{late[0]}`, and does not follow it")
    return refuted(f"jax had not read the variable when line {line} set it")


def _ignored(name: str, value: str, seen: Observed) -> bool:
    now = seen.data["config"].get(name.lower())
    return now is None or _plain(now) != _plain(value)


def _plain(value: str) -> str:
    value = value.strip("'\"").lower()
    return {"1": "true", "0": "false"}.get(value, value)


def device_work(claim: Claim, seen: Observed) -> Judgement:
    """JAX504: the line starts jax's backend, or finds it started by one before it in the same module."""
    runs = [run for run in seen.runs(claim.site) if "before" in run]
    if not runs:
        return undecided(seen.not_reached(claim.site))
    if runs[0]["before"]["backend"]:
        return undecided("jax's backend was started by an earlier import")
    if runs[0].get("after", {}).get("backend"):
        return confirmed(f"line {claim.site.first} starts jax's backend at import")
    return refuted(f"line {claim.site.first} ran and started no backend")
