"""Which statement of a module is to blame for what happens when it is imported."""

from __future__ import annotations

from jaxlint.finding import Place
from jaxlint.flow.facts import Fact


def statement(fact: Fact) -> Place:
    """The call at module level that leads to the fact, or the fact's own place where no helper is between."""
    return fact.proof.chain[0].place if fact.symbol and fact.proof.chain else fact.place
