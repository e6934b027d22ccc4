"""What was measured of a claim, and what follows: plain frozen data, like the finding it belongs to."""

from __future__ import annotations

from enum import Enum

from jaxlint.record import record


class Outcome(str, Enum):
    """Confirmed: measured, and so. Refuted: measured, and not so. Unknown: not measured, for a given reason."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


AS_WRITTEN = "as written"
AS_FIXED = "as fixed"


@record
class Arm:
    """One measurement. What was not measured is None.

    Bytes are those of one executable, or of the largest where there are several: arguments, outputs, what of
    the outputs lies in donated arguments (`alias_bytes`), and scratch (`temp_bytes`). `constant_bytes` are
    arrays captured at trace time. `peak` are the largest buffers that are live at the peak, as text with the
    line that makes each.
    """

    name: str
    argument_bytes: int | None = None
    output_bytes: int | None = None
    alias_bytes: int | None = None
    temp_bytes: int | None = None
    constant_bytes: int | None = None
    traces: int | None = None
    compiles: int | None = None
    seconds: float | None = None
    peak: tuple[str, ...] = ()

    @property
    def total_bytes(self) -> int | None:
        """argument + output - alias + temp: what the device holds while the executable runs."""
        parts = (self.argument_bytes, self.output_bytes, self.temp_bytes)
        if any(part is None for part in parts):
            return None
        return sum(part or 0 for part in parts) - (self.alias_bytes or 0)

    @property
    def own_bytes(self) -> int | None:
        """temp + output: what the executable adds to what its caller holds."""
        if self.temp_bytes is None or self.output_bytes is None:
            return None
        return self.temp_bytes + self.output_bytes


@record
class Verdict:
    """What became of a finding's claim on one target.

    `reason` is one line: the figures that decided it, or what a user can do about an unknown. `results_equal` says
    whether both arms computed the same, None where they were not run.
    """

    outcome: Outcome
    target: str
    reason: str
    arms: tuple[Arm, ...] = ()
    results_equal: bool | None = None


def unknown(target: str, reason: str) -> Verdict:
    """The verdict on what could not be measured."""
    return Verdict(Outcome.UNKNOWN, target, " ".join(reason.split()))
