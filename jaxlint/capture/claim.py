"""What a diagnosis says: one claim, what it rests on, and what to do about it."""

from __future__ import annotations

from enum import Enum

from jaxlint.capture.frames import Frame
from jaxlint.record import record


class Basis(str, Enum):
    """A measured claim repeats what compiler and allocator wrote down; an inferred one concludes from it."""

    MEASURED = "measured"
    INFERRED = "inferred"


@record
class Remedy:
    """Something to try. Savings are estimates from the plan's bytes: always inferred."""

    action: str
    saving: int | None  # bytes at most, None where it cannot be told
    cost: str
    enough: bool | None = None  # whether the step would fit then, None where it cannot be told
    puts_off: int | None = None  # by how many executions the failure, where each leaves something behind


@record
class Source:
    """A finding of the static analysis that a claim is about."""

    code: str
    slug: str
    path: str
    line: int
    column: int
    message: str
    fix: str = ""  # what it does
    change: str = ""  # as a unified diff


@record
class Claim:
    """One line of the diagnosis."""

    slug: str
    basis: Basis
    text: str
    cause: str = ""
    remedies: tuple[Remedy, ...] = ()
    rules: tuple[str, ...] = ()  # codes of the rules that find it in source
    frames: tuple[Frame, ...] = ()  # Python lines that it is about, the most bytes first
    function: str = ""  # the jitted function that it is about
    sources: tuple[Source, ...] = ()
