"""JAX314: a whole data set lies on the device although each step takes a slice of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import DatasetTransfer
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    from jaxlint.context import Context


class DatasetOnDevice(Rule):
    """The data set is put on the device in one piece and read slice by slice from the host."""

    def suspect(self, fact: DatasetTransfer) -> bool:
        return True

    def check(self, fact: DatasetTransfer, ctx: Context) -> Iterator[Finding]:
        yield self.finding(
            fact,
            f"All of `{fact.name}` is put on the device, and each step reads a part of it from the host: the data "
            "set takes device memory for the whole run. Keep it in NumPy and transfer each batch.",
            confidence=Confidence.MEDIUM,
            related=[Related(fact.read, "read part by part here")],
        )
