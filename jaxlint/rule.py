"""What a rule is: pairs of `suspect` (facts alone, cheap) and `check` (with the libcst node, exact).

    class JitInLoop(Rule):
        \"\"\"One line.\"\"\"

        def suspect(self, fact: JitCall) -> bool: ...
        def check(self, fact: JitCall, node: cst.CSTNode, ctx: Context) -> Iterator[Finding]: ...

Both are dispatched by the annotation of `fact`. A rule with several pairs names them `suspect_x`/`check_x`. A
`check(self, fact, ctx)` does without the node, or asks `ctx.node(fact.place)` when it comes to need it.
Code, slug, status, severity and fix come from the front matter of the page of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from jaxlint.finding import Confidence, Edit, Finding, Fix, Place, Related, Severity
from jaxlint.flow.facts import Fact
from jaxlint.record import record

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

F = TypeVar("F", bound=Fact)


class RuleError(Exception):
    """A rule's module or page cannot be used: where, and what is wrong with it."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


@record
class Meta:
    """A rule's identity, from the front matter of its page."""

    code: str
    slug: str
    since: str
    status: str  # "stable" or "preview"
    severity: Severity
    fix: str  # "safe", "unsafe", "display" or "none"
    summary: str
    page: str  # path of the page


@record
class Pair:
    """One subscription of a rule: the type of fact, the suspicion and the judgement.

    Where the judgement does not need the node at the fact's place, nobody needs to parse for it.
    """

    fact: type[Fact]
    suspect: Callable[[Fact], bool]
    check: Callable[[Fact, cst.CSTNode | None, Context], Iterator[Finding]]
    needs_node: bool = True


class Rule:
    """Base of all rules. Stateless: one instance serves a whole run."""

    meta: Meta

    def loaded(self) -> Rule:
        """The rule itself, where this one only stands for it. Raises RuleError where that cannot be used."""
        return self

    def finding(
        self,
        fact: Fact,
        message: str,
        *,
        place: Place | None = None,
        severity: Severity | None = None,
        confidence: Confidence = Confidence.HIGH,
        related: Sequence[Related] = (),
        fix: Fix | None = None,
    ) -> Finding:
        """A finding of this rule at the fact's place unless another is given.

        The call chain of the fact's proof is appended to `related`.
        """
        chain = tuple(
            Related(step.place, f"`{step.function}` is called here") for step in fact.proof.chain[-3:]
        )
        known = {r.place for r in related}
        return Finding(
            code=self.meta.code,
            slug=self.meta.slug,
            message=message,
            severity=severity or self.meta.severity,
            confidence=confidence,
            place=place or fact.place,
            symbol=fact.symbol,
            related=(*related, *(r for r in chain if r.place not in known)),
            fix=fix,
        )


__all__ = [
    "Confidence",
    "Edit",
    "Finding",
    "Fix",
    "Meta",
    "Pair",
    "Place",
    "Related",
    "Rule",
    "RuleError",
    "Severity",
]
