"""Which finding is which, from one version of a source to the next.

Lines shift whenever something is written above them, and messages change when a rule learns to say more. What
stays is the code, the function around it and the text of the line, its white space aside. Where that is the same
twice, the occurrences are counted from the top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from jaxlint.digest import digest
from jaxlint.finding import Finding


class Identity(NamedTuple):
    """A finding without its line number. `line` stands for the text of its first line."""

    path: str
    code: str
    symbol: str
    line: str
    occurrence: int  # from 1

    @property
    def digest(self) -> str:
        """All of it in 32 hexadecimal digits."""
        return digest(*map(str, self))


def identities(
    findings: Iterable[Finding],
    path_of: Callable[[str], str],
    line_of: Callable[[str, int], str | None],
) -> Iterator[tuple[Finding, Identity]]:
    """Each finding with its identity, sorted by place, no two the same.

    `path_of` says what a file is to be called, `line_of` gives a line of it, None where that cannot be read.
    """
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for finding in sorted(findings, key=lambda each: (each.place, each.code, each.message)):
        line = line_of(finding.path, finding.span.line) or ""
        key = path_of(finding.path), finding.code, finding.symbol, digest(" ".join(line.split()))[:16]
        seen[key] += 1
        yield finding, Identity(*key, seen[key])
