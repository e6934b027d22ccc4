"""From numbers to causes: what kept the last execution from fitting, and what to do about it."""

from __future__ import annotations

from jaxlint.capture.claim import Claim
from jaxlint.capture.subject import Subject


def of(subject: Subject) -> tuple[Claim, ...]:
    """The claims that a capture supports, most telling first."""
    return ()
