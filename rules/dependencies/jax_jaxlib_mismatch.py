"""JAX704: a jax and a jaxlib that cannot go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.dependencies import releases
from jaxlint.dependencies.version import Clause, allows, exact, parse
from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import DependencySet, Requirement
from jaxlint.rule import Rule

from . import _sets as sets

if TYPE_CHECKING:
    from jaxlint.context import Context


class Mismatch(NamedTuple):
    """What is installed, and why it does not work. `jaxlib` is "" where nothing can be installed."""

    jax: str
    jaxlib: str
    reason: str


class JaxJaxlibMismatch(Rule):
    """What an installer makes of the two requirements fails at `import jax`, or there is nothing to install."""

    def suspect(self, fact: DependencySet) -> bool:
        names = {requirement.name for requirement in fact.requirements}
        return {"jax", "jaxlib"} <= names

    def check(self, fact: DependencySet, ctx: Context) -> Iterator[Finding]:
        jax, jaxlib = sets.asked(fact, "jax"), sets.asked(fact, "jaxlib")
        if jax is None or jaxlib is None or jax.source or jaxlib.source:
            return
        by_conda = jax.conda or jaxlib.conda
        mismatch = _best(jax, jaxlib) if fact.locked or by_conda else _installed(jax, jaxlib)
        if mismatch is None:
            return
        yield self.finding(
            fact,
            _message(jax, jaxlib, mismatch),
            place=jaxlib.place,
            related=[Related(jax.place, "the jax")],
        )


def _message(jax: Requirement, jaxlib: Requirement, mismatch: Mismatch) -> str:
    if not mismatch.jaxlib:
        return (
            f"No jaxlib suits both `{sets.shown(jaxlib)}` and `{sets.shown(jax)}`, which asks for "
            f"{mismatch.reason}. Drop this line: jax brings its own."
        )
    if exact(jax.clauses):
        newest = "" if exact(jaxlib.clauses) else ", the newest that this line allows"
        remedy = f"Pin `jaxlib=={mismatch.jax}`."
    else:
        newest = f", and an installer takes the two from `{sets.shown(jax)}` and `{sets.shown(jaxlib)}`"
        remedy = "Pin both to one release."
    refuses = f"jax {mismatch.jax} refuses jaxlib {mismatch.jaxlib}{newest}"
    return f"`import jax` raises: {refuses}. {mismatch.reason} {remedy}"


def _installed(jax: Requirement, jaxlib: Requirement) -> Mismatch | None:
    """What pip makes of it: the newest jax that allows a jaxlib, and the newest of those."""
    candidates = releases.allowed("jax", jax.clauses)
    asked = ""
    for release in candidates:
        own = [
            line.clauses for line in releases.required("jax", release, jax.extras) if line.name == "jaxlib"
        ]
        clauses = (*jaxlib.clauses, *(clause for line in own for clause in line))
        found = _newest(clauses)
        if found:
            reason = _refusal(release, found)
            return Mismatch(release, found, reason) if reason else None
        alone = (line for line in own if not _newest((*jaxlib.clauses, *line)))
        refusing = next(alone, own[0] if own else ())
        asked = asked or ",".join(operator + version for operator, version in refusing)
    if not candidates or not asked or _is_unknown(jaxlib.clauses):
        return None
    return Mismatch(candidates[0], "", asked)


def _best(jax: Requirement, jaxlib: Requirement) -> Mismatch | None:
    """Where a solver has chosen, or will choose, with care: is there any pair that works?"""
    first: Mismatch | None = None
    for release in releases.allowed("jax", jax.clauses):
        for library in _every(jaxlib.clauses):
            reason = _refusal(release, library)
            if not reason:
                return None
            first = first or Mismatch(release, library, reason)
    return first


def _every(clauses: tuple[Clause, ...]) -> list[str]:
    """The releases of jaxlib that clauses allow, newest first; a pin counts whether the table has it or not."""
    pin = exact(clauses)
    if pin:
        return [pin] if allows(clauses, pin) else []
    return releases.allowed("jaxlib", clauses)


def _newest(clauses: tuple[Clause, ...]) -> str:
    return next(iter(_every(clauses)), "")


def _is_unknown(clauses: tuple[Clause, ...]) -> bool:
    """They ask for a jaxlib newer than the table knows."""
    newest = parse(releases.versions("jaxlib")[-1])
    return any(operator in ("==", ">=", ">", "~=") and parse(bound) > newest for operator, bound in clauses)


def _refusal(jax: str, jaxlib: str) -> str:
    """Why a release of jax does not import with a jaxlib, "" if it does as far as is known."""
    if parse(jaxlib) > parse(jax):
        return "It must not be newer than jax."
    floor = releases.minimum_jaxlib(jax)
    return f"It must be {floor} or newer." if floor and parse(jaxlib) < parse(floor) else ""
