"""Log entries that become facts when a run is over, when all that decides them is known."""

from __future__ import annotations

from jaxlint.flow.facts import Fact


class PendingFact:
    """A base for such entries: the collector asks for the fact and adds the proof."""

    __slots__ = ()

    def fact(self) -> Fact | None:
        """The fact, or None when it turns out to be nothing."""
        raise NotImplementedError
