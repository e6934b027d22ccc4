"""Which families the evidence names, and in which order: what came first is the cause of what came then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxlint.triage.evidence import Evidence
from jaxlint.triage.families import Family
from jaxlint.triage.scan import Scan
from jaxlint.triage.symptoms import SYMPTOMS

_DEVICE_ENDS = frozenset(
    [
        "resource-exhausted",
        "allocator-out",
        "disguised",
        "taken-at-start",
        "no-room-beside-pool",
        "kernel-memory",
    ]
)
_HOST_ENDS = frozenset(
    [
        "killed",
        "kernel-killed",
        "worker-killed",
        "ray-killed",
        "shared-memory",
        "host-allocation-failed",
        "pinned-host-pool",
    ]
)


def family_of(evidence: Evidence) -> Family:
    """The family that a piece of evidence speaks for."""
    return SYMPTOMS[evidence.symptom].family


def families(scan: Scan, evidence: Sequence[Evidence]) -> list[Family]:
    """The families that are proven, the cause first."""
    proven = [e for e in evidence if e.proof]
    kinds = {e.symptom for e in proven}
    if scan.told.killed_for_another_reason and kinds <= {"killed"}:
        return []
    named = {family_of(e) for e in proven}
    return [family for family in _order(scan, proven, kinds, named) if family in named]


def doubt(scan: Scan, evidence: Sequence[Evidence]) -> None:
    """Take the proof from what a run has outlived, and from a library that failed for want of memory."""
    kinds = {e.symptom for e in evidence if e.proof}
    no_room = bool(kinds & {"no-room-beside-pool", "taken-at-start"})
    for one in evidence:
        of_room = one.symptom == "cudnn-fails" and no_room
        one.proof &= not (of_room or scan.told.outlived(one.symptom, scan.progress))


def killed_by_launcher(scan: Scan, evidence: Sequence[Evidence]) -> bool:
    """Whether nothing but bare kills speaks for the host, and a device had failed before them.

    A launcher ends all ranks once one has failed; its signal 9 proves nothing about the host's memory.
    """
    proven = [e for e in evidence if e.proof]
    of_host = {e.symptom for e in proven if family_of(e) is Family.HOST}
    of_device = [e for e in proven if e.symptom in _DEVICE_ENDS]
    if of_host != {"killed"} or not of_device or scan.survived():
        return False
    return _first_came_first(of_device, [e for e in proven if e.symptom == "killed"]) is not False


def _order(scan: Scan, proven: Sequence[Evidence], kinds: set[str], named: set[Family]) -> list[Family]:
    order = [Family.RETRACE, Family.HOST, Family.DEVICE, Family.CACHE]
    if Family.CACHE in named and not kinds & {"resource-exhausted", "allocator-out", "disguised"}:
        order = [Family.CACHE, Family.RETRACE, Family.HOST, Family.DEVICE]
    elif kinds & {"rematerialisation", "taken-at-start"} or _one_large_request(scan):
        order = [Family.DEVICE, Family.RETRACE, Family.HOST, Family.CACHE]
    elif "kernel-killed" in kinds and Family.RETRACE not in named:
        order = [Family.HOST, Family.DEVICE, Family.CACHE, Family.RETRACE]
    if scan.survived():  # whatever it died of, that was not it
        return [*(family for family in order if family is not Family.DEVICE), Family.DEVICE]
    of_host = [e for e in proven if e.symptom in _HOST_ENDS]
    of_device = [e for e in proven if e.symptom in _DEVICE_ENDS]
    device_first = _first_came_first(of_device, of_host) if of_host and of_device else None
    if device_first is not None:
        before, after = (Family.DEVICE, Family.HOST) if device_first else (Family.HOST, Family.DEVICE)
        if order.index(after) < order.index(before):
            order.remove(before)
            order.insert(order.index(after), before)
    return order


def _first_came_first(some: Iterable[Evidence], others: Iterable[Evidence]) -> bool | None:
    """Whether the first of some was before the first of others, None where the logs do not tell."""
    times = [[e.when for e in group if e.when is not None] for group in (some, others)]
    if all(times) and min(times[0]) != min(times[1]):
        return min(times[0]) < min(times[1])
    lines = [_first_lines(group) for group in (some, others)]
    for file in lines[0].keys() & lines[1].keys():
        return lines[0][file] < lines[1][file]
    return None


def _first_lines(group: Iterable[Evidence]) -> dict[str, int]:
    found: dict[str, int] = {}
    for evidence in group:
        for file, line in evidence.firsts.items():
            found[file] = min(line, found.get(file, line))
    return found


def _one_large_request(scan: Scan) -> bool:
    """Whether what could not be had is a large part of the device, which a pile of executables is not."""
    capacities = [s.capacity for s in scan.samples.series.values() if s.on_device and s.capacity]
    if scan.allocator.limit:
        capacities.append(scan.allocator.limit)
    requests = scan.exhausted.requests + scan.allocator.requests
    return bool(capacities and requests) and max(requests) > max(capacities) / 4
