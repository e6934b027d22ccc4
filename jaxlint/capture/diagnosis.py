"""From numbers to causes: what kept the last execution from fitting, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.capture import claims_fit, claims_peak, claims_run, claims_state
from jaxlint.capture.case import Case
from jaxlint.capture.claim import Claim
from jaxlint.capture.subject import Subject


def of(subject: Subject) -> tuple[Claim, ...]:
    """The claims that a capture supports: what happened, why, then what else is to be known."""
    return tuple(_claims(subject))


def _claims(subject: Subject) -> Iterator[Claim]:
    case = Case(subject, subject.plan) if subject.plan is not None else None
    yield from claims_fit.missing_events(subject.pool)
    yield from claims_fit.never_launched(subject, case)
    yield from claims_fit.waits(subject)
    yield from claims_fit.on_tpu(subject)
    yield from claims_fit.without_plan(subject)
    yield from claims_fit.without_pool(subject)
    if case is not None:
        yield from claims_fit.fit(case)
        yield from claims_fit.contiguity(case)
        yield from claims_state.kept_outputs(case)
        yield from claims_peak.peak(case)
        yield from claims_peak.attention(case)
        yield from claims_peak.stacks(case)
        yield from claims_peak.wide_gradients(case)
        yield from claims_state.donation(case)
        yield from claims_state.other_arrays(case)
        yield from claims_fit.rematerialized(case)
    yield from claims_run.operation_by_operation(subject)
    yield from claims_run.peak_before_running(subject)
    yield from claims_fit.earlier_peak(subject.pool)
