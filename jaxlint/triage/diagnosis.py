"""Which family it is, what that rests on, and what to do next.

A cause comes before the place where it killed: executables that pile up end in either memory, so a retrace leak is
named first, and what the process died of beside it. A plan that does not fit stays a matter of device memory even
where something is also compiled again. Whatever is not proven names nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jaxlint.triage.allocator import Pool
from jaxlint.triage.evidence import Evidence, Place
from jaxlint.triage.families import Family
from jaxlint.triage.processes import Process
from jaxlint.triage.retrace_words import describe
from jaxlint.triage.retraces import Boundary, boundaries
from jaxlint.triage.scan import Scan
from jaxlint.triage.series import Growth, Series
from jaxlint.triage.sizes import shown
from jaxlint.triage.symptoms import SYMPTOMS
from jaxlint.triage.verdict import doubt, families, family_of, killed_by_launcher

# A process this small has only just begun: importing jax and compiling alone take some hundred MB of a host.
_HOST_LEAST = 1 << 30
_NEARLY_FULL = 0.85  # of the machine


@dataclass(slots=True)
class Diagnosis:
    """The verdict. `families` come with the cause first, and are empty where nothing was found."""

    families: list[Family] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    boundaries: list[Boundary] = field(default_factory=list)
    series: list[tuple[Series, Growth | None]] = field(default_factory=list)
    orphans: list[Process] = field(default_factory=list)
    survived: bool = False  # a device had no memory, and every process that this befell went on
    by_launcher: bool = False  # a bare signal 9 came after a device had failed
    at: str = ""  # the user's line that the device's memory ran out in
    rules: list[str] = field(default_factory=list)

    @property
    def family(self) -> Family | None:
        return self.families[0] if self.families else None


def diagnose(scan: Scan) -> Diagnosis:
    """What the logs come to."""
    found = Diagnosis(
        boundaries=boundaries(scan.compiles, scan.misses, scan.progress), at=scan.exhausted.where
    )
    for boundary in found.boundaries:
        describe(boundary)
    found.series = [(series, series.growth()) for series in scan.samples.series.values() if series.samples]
    found.orphans = scan.samples.processes.orphans()
    found.evidence = _evidence(scan, found)
    found.survived = scan.survived()
    found.by_launcher = killed_by_launcher(scan, found.evidence)
    for evidence in found.evidence:
        evidence.proof &= not (found.by_launcher and evidence.symptom == "killed")
    doubt(scan, found.evidence)
    found.families = families(scan, found.evidence)
    found.notes = _notes(scan, found)
    found.steps = _steps(scan, found)
    found.rules = _rules(found)
    return found


# ---------------------------------------------------------------- evidence


def _evidence(scan: Scan, found: Diagnosis) -> list[Evidence]:
    leaking = [_of_boundary(boundary) for boundary in found.boundaries if boundary.leaks]
    told = [*scan.collected.all()]
    _disguised_by_hand(scan, told)
    growing = _of_series(scan, found)
    ran_out = any(e.symptom in ("resource-exhausted", "allocator-out") for e in told)
    growing += [_flat(s, ran_out) for s, growth in found.series if growth is None and _is_high(s, ran_out)]
    orphans = [_of_orphan(process) for process in found.orphans]
    fragmented = scan.allocator.fragmented()
    if fragmented is not None:
        told.append(_fragmented(fragmented))
    if scan.cut_off and not any(e.proof for e in (*told, *growing)):
        told += [_cut_off(scan)]
    return [*leaking, *told, *growing, *orphans]


def _of_boundary(boundary: Boundary) -> Evidence:
    kind = "compiled-eagerly" if boundary.rules == ("JAX109",) else "compiled-again"
    text = f"`{boundary.name}` was compiled {boundary.count} times: {boundary.why}"
    places = boundary.places
    return Evidence(kind, text, count=boundary.count, places=places[:4], last=places[-1] if places else None)


def _of_series(scan: Scan, found: Diagnosis) -> list[Evidence]:
    """Memories that grow. Where both do, both are said; where one is flat, the other is the problem."""
    evidence = []
    flat_device = any(s.on_device and g is None and len(s.samples) >= 6 for s, g in found.series)
    for series, growth in found.series:
        if growth is None or not (series.on_device or series.peak >= _HOST_LEAST):
            continue
        kind = "device-grows" if series.on_device else "host-grows"
        how = "in stairs" if growth.in_stairs else "steadily"
        other = ", and device memory is flat" if kind == "host-grows" and flat_device else ""
        text = (
            f"{series.name} grows {how} from {shown(growth.begin)} to {shown(growth.end)}, "
            f"by {shown(growth.per_step)} a {growth.of}{other}{_until_full(series, growth)}"
        )
        places = [series.samples[0].place, series.samples[-1].place]
        # Numbers without a unit may be anything, but in a log that holds nothing else.
        proof = not series.is_assumed or series.seen * 10 >= 9 * scan.lines.get(places[0].file, 0)
        evidence.append(Evidence(kind, text, count=series.seen, places=places, last=places[-1], proof=proof))
    return evidence


def _until_full(series: Series, growth: Growth) -> str:
    """How long it can go on, where the log says how large the memory is."""
    left = series.capacity - series.last
    if left <= 0 or growth.per_step <= 0:
        return ""
    more = f"{left / growth.per_step:,.0f} {growth.of}s"
    return f"; at that rate its {shown(series.capacity)} are full after {more} more"


def _is_high(series: Series, ran_out: bool) -> bool:
    """Whether a memory that does not grow is worth a word: nearly full, or of a device that ran out."""
    if len(series.samples) < 6:
        return False
    nearly_full = series.capacity > 0 and series.last > _NEARLY_FULL * series.capacity
    return ran_out if series.on_device else nearly_full


def _flat(series: Series, ran_out: bool) -> Evidence:
    kind = "one-phase" if ran_out and series.on_device else "host-plateau"
    text = f"{series.name} does not grow: {shown(series.first)} to {shown(series.last)}"
    places = [series.samples[0].place, series.samples[-1].place]
    return Evidence(kind, text, count=series.seen, places=places, last=places[-1], proof=False)


def _of_orphan(process: Process) -> Evidence:
    place = process.gpu_place or process.place
    parent = "PID 1" if process.parent == 1 else f"PID {process.parent}, the systemd of a user"
    held = f"holds {shown(process.on_gpu)} of a GPU"
    text = f"process {process.pid} ({process.name}) {held}, and its parent is {parent}"
    return Evidence("orphan", text, count=1, places=[place], last=place, proof=False)


def _fragmented(pool: Pool) -> Evidence:
    text = f"{shown(pool.free or 0)} were free when {shown(pool.asked)} could not be had: the memory is fragmented"
    return Evidence("fragmented", text, count=1, proof=False)


def _disguised_by_hand(scan: Scan, told: list[Evidence]) -> None:
    """A mismatch while loading, in a log where the allocator complains: chained or not, it is one story."""
    out = {"allocator-out", "resource-exhausted", "taken-at-start"}
    if any(e.symptom == "disguised" for e in told) or not any(e.symptom in out for e in told):
        return
    for raised in scan.exhausted.mismatches[:1]:
        text = f"{raised.type} about a structure, in a log where the device ran out of memory"
        told.append(Evidence("disguised", text, raised.quote, 1, [raised.place], raised.place))


def _cut_off(scan: Scan) -> Evidence:
    places = [Place(line.file, line.number) for line in scan.cut_off]
    text = "the log ends within a line"
    return Evidence("cut-off", text, count=len(places), places=places[:4], last=places[-1], proof=False)


# ---------------------------------------------------------------- words


def _notes(scan: Scan, found: Diagnosis) -> list[str]:
    notes = []
    if any(boundary.inferred and boundary.leaks for boundary in found.boundaries) and not scan.misses.count:
        notes.append("what was new each time is inferred: JAX_EXPLAIN_CACHE_MISSES=1 makes jax say it")
    if scan.told.killed_for_another_reason is not None:
        line = scan.told.killed_for_another_reason
        notes.append(f"line {line.number} says that the job was ended for another reason than its memory")
    kinds = {evidence.symptom for evidence in found.evidence if evidence.proof}
    if found.survived:
        notes.append(_went_on(scan))
    if found.by_launcher:
        notes.append(
            "a device ran out of memory before signal 9 came: a launcher ends the other processes once one has "
            "failed, so the kill says nothing about the host's memory"
        )
    if scan.compiles.beyond:
        notes.append(
            f"more functions were compiled than are told apart: {scan.compiles.beyond} compilations of further "
            "ones are left out"
        )
    if kinds & {"killed", "kernel-killed"} and any(scan.last_was_compile.values()):
        notes.append(
            "the log ends in a compilation: compiling takes many GB for a moment, so look for what had filled "
            "the memory before"
        )
    if "killed" in kinds and "kernel-killed" not in kinds and Family.HOST in found.families:
        notes.append("signal 9 comes from the OOM killer as a rule, and always from `kill -9`: ask dmesg")
    unsure = "device-grows" in kinds and Family.RETRACE not in found.families
    if unsure and not scan.compiles.lines:
        notes.append(
            "there is no compile log: executables that pile up, or arrays that are kept, look the same"
        )
    elif unsure:
        notes.append("the compile log shows no retrace, so it is arrays that are kept")
    return notes


def _went_on(scan: Scan) -> str:
    """That the run survived, and how far it came."""
    last = max(mark.moment.step or 0 for mark in scan.out_of_memory.values())
    kind, reached = scan.progress.kind, scan.progress.last
    how_far = f", from {kind} {last} to {kind} {reached}" if kind and reached is not None else ""
    return f"the run went on after the device had no memory{how_far}: the error was caught, or retried"


def _steps(scan: Scan, found: Diagnosis) -> list[str]:
    """The first check and the remedy of what weighs most, each once."""
    steps: list[str] = []
    families: list[Family | None] = [*found.families] or [None]
    for family in families:
        if family is Family.RETRACE:
            leaking = [boundary for boundary in found.boundaries if boundary.leaks]
            steps += [] if scan.misses.count else [SYMPTOMS["compiled-again"].first_check]
            steps += [f"`{boundary.name}`: {boundary.remedy}" for boundary in leaking[:3]]
            continue
        for evidence in _telling(found.evidence, family is not found.family):
            row = SYMPTOMS[evidence.symptom]
            if row.family is family or (family is None and not evidence.proof):
                steps += [row.first_check, row.remedy]
    return list(dict.fromkeys(steps))[:8]


def _telling(evidence: list[Evidence], beside: bool) -> list[Evidence]:
    """Without what is said by something else more exactly. `beside`: a cause was named already."""
    kinds = {e.symptom for e in evidence}
    hidden = {symptom for symptom, better in _SAID_BETTER.items() if kinds & better}
    if beside:
        hidden |= {"device-grows", "host-grows"}
    return [e for e in evidence if e.symptom not in hidden]


_SAID_BETTER = {
    "killed": {"kernel-killed", "worker-killed"},
    "resource-exhausted": {"rematerialisation", "taken-at-start", "disguised", "fragmented", "device-grows"},
    "allocator-out": {"rematerialisation", "taken-at-start", "disguised", "fragmented", "resource-exhausted"},
}


def _rules(found: Diagnosis) -> list[str]:
    rules: dict[str, None] = {}
    for boundary in found.boundaries:
        if boundary.leaks:
            rules.update(dict.fromkeys(boundary.rules))
    for evidence in _telling(found.evidence, bool(rules)):
        if evidence.proof and not (rules and family_of(evidence) is Family.RETRACE):
            rules.update(dict.fromkeys(SYMPTOMS[evidence.symptom].rules))
    return list(rules)
