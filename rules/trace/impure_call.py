"""JAX203: traced code asks the world, and the compiled program keeps the first answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding
from jaxlint.flow.facts import ImpureCall
from jaxlint.rule import Confidence, Rule, Severity

from . import _tracing as tracing
from ._drawing import with_key

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_REMEDIES = {
    "clock": "Take the time around the call, and pass it where the computation needs it",
    "random": "Draw with `jax.random` from a key that is an argument",
    "environment": "Read it before the call and pass it as a static argument",
    "file": "Read it before the call and pass the array",
    "identifier": "Make it before the call and pass it",
    "input": "Ask before the call and pass the answer",
    "network": "Ask before the call and pass the answer",
    "iterator": "Take the element outside and pass it",
}
# Read once on purpose more often than not: a switch of the program, a table of constants.
_SETTINGS = frozenset({"environment", "file"})

# What may make a name unique.
_NAMES = frozenset({"random", "identifier", "iterator"})


class ImpureCallRule(Rule):
    """A clock, a random generator, the environment or a file is asked in traced code."""

    def suspect(self, fact: ImpureCall) -> bool:
        return tracing.proven(fact) and fact.proof.why_traced is not None

    def check(self, fact: ImpureCall, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if node is not None and fact.reads in _NAMES and _is_in_text(node, ctx):
            return
        once = fact.proof.level == "vmap"
        happens = (
            "draws once for the whole batch: every row gets the same numbers"
            if once
            else "runs once, while the code is traced; the compiled program repeats that answer"
        )
        yield self.finding(
            fact,
            f"{_asked(node, ctx)} {happens}. {_REMEDIES[fact.reads]}.",
            severity=Severity.WARNING if fact.reads in _SETTINGS else None,
            confidence=Confidence.MEDIUM if fact.reads in _SETTINGS else Confidence.HIGH,
            related=tracing.why_traced(fact),
            fix=with_key(fact, node, ctx) if fact.reads == "random" and node is not None else None,
        )


def _is_in_text(node: cst.CSTNode, ctx: Context) -> bool:
    """Part of a name or a label that the trace gives to something."""
    import libcst as cst

    for parent in ctx.parents(node):
        if isinstance(parent, cst.FormattedString):
            return True
        if isinstance(parent, cst.Call) and ctx.focus.code(parent.func) in ("str", "repr"):
            return True
    return False


def _asked(node: cst.CSTNode | None, ctx: Context) -> str:
    """What is called or read, as the user wrote it."""
    import libcst as cst

    if isinstance(node, cst.Call):
        node = node.func
    text = " ".join(ctx.focus.code(node).split()) if node is not None else ""
    return f"`{text}`" if text and len(text) <= tracing.LONGEST else "This"
