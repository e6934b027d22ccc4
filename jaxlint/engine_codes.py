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
    details: str = ""  # Markdown: what `jaxlint explain` adds

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

OBSERVED_RETRACE = EngineCode(
    "JAX190",
    "observed-retrace",
    Severity.INFO,
    "A recorded run traced a jit boundary again after the warm-up, and no finding had foreseen it.",
    """## What it does

Reports a jit boundary that was traced again after the warm-up in a run that `jaxlint record` watched, with the
argument that changed. It comes from a record alone (`jaxlint check --record FILE`): the source does not show it, be
it because the data decides, or because the analysis could not follow.

Calls of one boundary from one and the same place (the same lines all the way up the stack) may trace twice: once
for the first call, once for another form of it, such as a last batch that is smaller. From the third trace on they
are after the warm-up. Traces inside the trace of another boundary do not count, those of a file that has changed
since it was recorded neither.

## Why is this bad?

A trace and its compilation take from tenths of a second to minutes, and each executable stays in memory.

## Example

    jaxlint record -o run.jsonl -- python train.py
    jaxlint check --record run.jsonl

    train.py:41:9: JAX190 `step` was traced 9 times in the recorded run, 7 of them after the warm-up (batch['ids']:
    int32[8,118] -> int32[8,124]). Pad to a few sizes.

## When it stays silent

Where a finding of JAX101 to JAX114 is about the same boundary: that finding bears the record's verdict instead.
""",
)

ENGINE_CODES = (INTERNAL_ERROR, CANNOT_PARSE, UNUSED_SUPPRESSION, UNKNOWN_CODE, OBSERVED_RETRACE)

# With one of these the run could not do its job: the exit status is 2, whatever else was found.
FAILURES = frozenset({INTERNAL_ERROR.code, CANNOT_PARSE.code})


def internal_error(path: str, error: BaseException | str) -> Finding:
    """JAX000 for a file whose analysis failed as a whole."""
    text = error if isinstance(error, str) else " ".join(f"{type(error).__name__}: {error}".split())
    return INTERNAL_ERROR.finding(Place(path, Span(1, 1, 1, 1)), f"internal error: {text}")
