"""The engine's own codes: what it reports about itself, the files it is given and the comments it obeys."""

from __future__ import annotations

from typing import NamedTuple

from jaxlint.finding import Confidence, Finding, Fix, Place, Severity, Span


class EngineCode(NamedTuple):
    """A code that belongs to no rule."""

    code: str
    slug: str
    severity: Severity
    summary: str

    def finding(self, place: Place, message: str, fix: Fix | None = None) -> Finding:
        """A finding of this code. The engine is sure of what it says about itself."""
        return Finding(self.code, self.slug, message, self.severity, Confidence.HIGH, place, fix=fix)


INTERNAL_ERROR = EngineCode(
    "JAX000",
    "internal-error",
    Severity.ERROR,
    "A rule failed on this file; its other findings still appear. The run exits with 2.",
)
CANNOT_PARSE = EngineCode(
    "JAX001",
    "cannot-parse",
    Severity.ERROR,
    "The file cannot be read, decoded or parsed, so nothing in it was checked. The run exits with 2.",
)
UNUSED_SUPPRESSION = EngineCode(
    "JAX002",
    "unused-suppression",
    Severity.INFO,
    "A suppression comment names a code that is not reported where it stands.",
)
UNKNOWN_CODE = EngineCode(
    "JAX003",
    "unknown-code",
    Severity.WARNING,
    "A suppression comment or a setting names no code, or one that does not exist.",
)

ENGINE_CODES = (INTERNAL_ERROR, CANNOT_PARSE, UNUSED_SUPPRESSION, UNKNOWN_CODE)

# With one of these the run could not do its job: the exit status is 2, whatever else was found.
FAILURES = frozenset({INTERNAL_ERROR.code, CANNOT_PARSE.code})


def internal_error(path: str, error: BaseException | str) -> Finding:
    """JAX000 for a file whose analysis failed as a whole."""
    text = error if isinstance(error, str) else " ".join(f"{type(error).__name__}: {error}".split())
    return INTERNAL_ERROR.finding(Place(path, Span(1, 1, 1, 1)), f"internal error: {text}")
