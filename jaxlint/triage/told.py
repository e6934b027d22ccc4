"""What can be told by a single line: the table of signs, applied."""

from __future__ import annotations

import re

from jaxlint.triage.evidence import Collected
from jaxlint.triage.progress import START, Moment, Progress
from jaxlint.triage.reading import Line
from jaxlint.triage.signs import SIGNS, Sign
from jaxlint.triage.sizes import shown
from jaxlint.triage.talk import is_talk, is_talk_of_error

# A job that was ended for its time, its node or its silence, or by hand, was not ended for its memory; nor was a
# task that its launcher ended because another had failed.
_OTHER_KILLS = re.compile(
    r"(?i)DUE TO (?:TIME LIMIT|PREEMPTION|NODE FAIL)|CANCELLED (?:BY|AT)|time ?limit (?:exceeded|reached)"
    r"|job killed: (?:walltime|cput|ncpus)\b.*exceeded limit|TERM_(?:RUNLIMIT|CPULIMIT|OWNER|ADMIN|PREEMPT)\b"
    r"|failed (?:liveness|startup) probe|\b(?:liveness|startup) probe failed|DeadlineExceeded"
    r"|low on resource: (?:ephemeral-storage|inodes|pids|nodefs|imagefs)"
    r"|timeout: sending signal (?:KILL|TERM|9|15)\b"
    r"|(?:spot|preemptible) (?:instance|vm)\b.{0,40}(?:interrupt|terminat|reclaim|notice)"
    r"|\b(?:instance|node|vm|job|pod) (?:was |is being |has been |will be )?preempted\b|\bPreempting\b"
    r"|\btasks? [\d,-]+: (?:Exited with exit code (?!(?:0|137)\b)\d+|Segmentation fault|Aborted|Bus error)"
)
_WORDS_OF_OTHERS = (
    "cancelled", "limit", "preempt", "probe", "deadline", "low on resource", "timeout:", "spot", "tasks ", "task "
)  # fmt: skip


# What need not end a run: XLA takes the program as it is, jax compiles what its cache cannot give.
_OUTLIVED = frozenset(
    ["rematerialisation", "stale-cache", "cudnn", "cudnn-fails", "ptx", "no-room-beside-pool"]
)
_WRITERS = 4096


class Told:
    """Collects what single lines tell."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.killed_for_another_reason: Line | None = None
        self._warned: dict[str, dict[tuple[str, str], Moment]] = {}

    def outlived(self, symptom: str, progress: Progress) -> bool:
        """Whether every process that was warned of this went on for steps: jax has then done without."""
        moments = self._warned.get(symptom, {})
        return bool(moments) and all(progress.went_on(*writer, then) for writer, then in moments.items())

    def feed(self, line: Line, now: Moment = START) -> bool:
        """Whether the line tells anything. `now` is how far its writer has come."""
        told = False
        low = line.text.casefold()
        for sign in SIGNS:
            for word in sign.words:
                if word in low:
                    found = sign.pattern.search(line.text, 0, 4000)
                    if found and not _is_talked_of(sign, line.text, found):
                        told = True
                        if sign.symptom in _OUTLIVED:
                            self._warn(sign.symptom, line, now)
                        self._collected.note(
                            sign.symptom, _said(sign, found), line, key=sign.text, proof=sign.proof
                        )
                    break
        if any(word in low for word in _WORDS_OF_OTHERS) and _OTHER_KILLS.search(line.text, 0, 4000):
            self.killed_for_another_reason = line
        return told

    def _warn(self, symptom: str, line: Line, now: Moment) -> None:
        moments = self._warned.setdefault(symptom, {})
        if len(moments) < _WRITERS:
            moments[line.file, line.rank] = now


def _is_talked_of(sign: Sign, text: str, found: re.Match[str]) -> bool:
    return (sign.event and is_talk(text, found)) or (
        sign.error and is_talk_of_error(text, found.start(), found.end())
    )


def _said(sign: Sign, found: re.Match[str]) -> str:
    groups = {key: value or "" for key, value in found.groupdict().items()}
    kilobytes = groups.get("kb")
    for key in groups.keys() & {"free", "all"}:
        groups[key] = shown(int(groups[key]))
    rss = f" at {shown(int(kilobytes) * 1024)} resident" if kilobytes else ""
    return sign.text.format(**groups, rss=rss) if "{" in sign.text else sign.text
