"""The report for people."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.triage.diagnosis import Diagnosis
from jaxlint.triage.evidence import Evidence, Place
from jaxlint.triage.families import Family
from jaxlint.triage.plot import plot
from jaxlint.triage.retraces import Boundary
from jaxlint.triage.scan import Scan
from jaxlint.triage.series import Growth, Series
from jaxlint.triage.sizes import shown
from jaxlint.triage.symptoms import SYMPTOMS

_TABLE_ROWS = 12


def text(diagnosis: Diagnosis, scan: Scan, *, blocks: bool = True) -> str:
    """The whole report. `blocks`: the terminal can show block characters."""
    parts = [
        _verdict(diagnosis, scan),
        _section("It rests on", _evidence(diagnosis, scan)),
        _section("Compiled again", _boundaries(diagnosis)),
        _section("What changed", _changes(diagnosis)),
        _section("Memory", _memory(diagnosis, blocks)),
        _section("Processes on the GPU that have lost their launcher", _orphans(diagnosis)),
        _section("Note", iter(diagnosis.notes)),
        _section("Next", _steps(diagnosis)),
    ]
    return "\n\n".join(part for part in parts if part)


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in a line."""
    if not diagnosis.families:
        weak = [evidence for evidence in diagnosis.evidence if evidence.symptom != "full-at-start"]
        return "no family named: there are hints, and no proof" if weak else "nothing found"
    first, *others = diagnosis.families
    besides = f" (and {', '.join(str(family) for family in others)})" if others else ""
    lived = ", and the run went on after it" if first is Family.DEVICE and diagnosis.survived else ""
    return f"{first}{besides}: {_strongest(diagnosis, first)}{lived}"


def _strongest(diagnosis: Diagnosis, family: Family) -> str:
    """What says most about a family: why a process was killed before that it was."""
    of = [e for e in diagnosis.evidence if e.proof and SYMPTOMS[e.symptom].family is family]
    order = ("kernel-killed", "rematerialisation", "taken-at-start", "disguised")
    told = [e for symptom in order for e in of if e.symptom == symptom]
    return (told or of)[0].text


def _verdict(diagnosis: Diagnosis, scan: Scan) -> str:
    lines = [headline(diagnosis)]
    leaking = [boundary for boundary in diagnosis.boundaries if boundary.leaks]
    lines += [f"boundary: `{first.name}`{_where(first)}" for first in leaking[:3]]
    if diagnosis.at:
        lines.append(f"out of memory in {diagnosis.at}")
    read = ", ".join(f"{name} ({number} lines)" for name, number in scan.lines.items())
    ranks = f", {len(scan.ranks)} ranks" if scan.ranks else ""
    reached = f", last {scan.progress.kind} {scan.progress.last}" if scan.progress.last is not None else ""
    lines.append(f"read: {read}{ranks}{reached}")
    if not diagnosis.families and scan.compiles.lines:
        number = sum(of.count for of in scan.compiles.functions.values())
        lines.append(f"compilations: {number}, and none goes on")
    return "\n".join(lines)


def _where(boundary: Boundary) -> str:
    made = f" defined at {boundary.defined}" if boundary.defined else ""
    called = f" called at {boundary.callers[0]}" if boundary.callers else ""
    return made + called


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"{title}\n{body}" if body else ""


def _evidence(diagnosis: Diagnosis, scan: Scan) -> Iterator[str]:
    several = len(scan.lines) > 1
    for evidence in diagnosis.evidence:
        hint = "" if evidence.proof else "hint: "
        yield f"{places(evidence, several)}: {hint}{evidence.text}"
        if evidence.quote:
            yield f"    {evidence.quote}"


def places(evidence: Evidence, several: bool) -> str:
    """`lines 12, 40, 71 and 3 more`, with the file where there are several."""
    shown_places = list(evidence.places)
    if evidence.last is not None and evidence.last not in shown_places:
        shown_places.append(evidence.last)
    more = evidence.count - len(shown_places)
    if not shown_places:
        return "in all"
    numbers = ", ".join(_place(place, several) for place in shown_places)
    return f"line{'s' * (len(shown_places) > 1)} {numbers}" + (f" and {more} more" if more > 0 else "")


def _place(place: Place, several: bool) -> str:
    return f"{place.file}:{place.line}" if several else str(place.line)


def _boundaries(diagnosis: Diagnosis) -> Iterator[str]:
    rows = diagnosis.boundaries[:_TABLE_ROWS]
    if not rows:
        return
    table = [("compiled", "types", "after warm-up", "function", "")]
    for b in rows:
        seconds = f"{b.seconds_after_warm_up:.2f} s" if b.seconds else "-"
        rank = f" (rank {b.rank})" if b.rank else ""
        remarks = b.why if b.leaks or not b.own else ""
        loaded = f"{b.loaded} from the cache; " if b.loaded else ""
        table.append((str(b.count), str(b.forms or "-"), seconds, b.name + rank, loaded + remarks))
    widths = [max(len(row[i]) for row in table) for i in range(4)]
    for row, boundary in zip(table, [None, *rows], strict=True):
        mark = "!" if boundary is not None and boundary.leaks else " "
        cells = [
            *(cell.rjust(w) for cell, w in zip(row[:3], widths[:3], strict=True)),
            row[3].ljust(widths[3]),
        ]
        yield f"{mark} {'  '.join(cells)}  {row[4]}".rstrip()
    rest = len(diagnosis.boundaries) - len(rows)
    if rest > 0:
        yield f"  and {rest} more"


def _changes(diagnosis: Diagnosis) -> Iterator[str]:
    for boundary in diagnosis.boundaries[:_TABLE_ROWS]:
        if boundary.own or not (boundary.changes or boundary.leaks):
            continue
        guessed = "  (from the types alone)" if boundary.inferred else ""
        yield f"{boundary.name}{_where(boundary)}{guessed}"
        for change in boundary.changes[:5]:
            at = f"{change.where}: " if change.where else ""
            yield f"    {at}{_short(change.before)} → {_short(change.now)}"
        if len(boundary.changes) > 5:
            yield f"    and {len(boundary.changes) - 5} more"
        if boundary.steps:
            yield f"    at step {', '.join(map(str, boundary.steps[:10]))}" + (
                ", …" * (len(boundary.steps) > 10)
            )


def _short(value: str) -> str:
    return value if len(value) <= 70 else value[:69] + "…"


def _memory(diagnosis: Diagnosis, blocks: bool) -> Iterator[str]:
    for series, growth in diagnosis.series:
        if len(series.samples) < 2:
            continue
        yield f"{series.name}: {said(series, growth)}"
        values = [sample.used for sample in series.samples]
        rows = plot(values, blocks=blocks)
        for index, row in enumerate(rows):
            label = shown(series.peak) if index == 0 else "0" if index == len(rows) - 1 else ""
            yield f"{label:>10} |{row}"


def said(series: Series, growth: Growth | None) -> str:
    """A series in words."""
    if growth is None:
        of = f" of {shown(series.capacity)}" if series.capacity else ""
        few = "" if len(series.samples) >= 6 else " (too few samples to say whether it grows)"
        return f"{shown(series.first)} to {shown(series.last)}, at most {shown(series.peak)}{of}{few}"
    how = "in stairs" if growth.in_stairs else "steadily"
    return (
        f"grows {how}, {shown(growth.begin)} to {shown(growth.end)}, {shown(growth.per_step)} a {growth.of}"
    )


def _orphans(diagnosis: Diagnosis) -> Iterator[str]:
    for process in diagnosis.orphans:
        yield f"PID {process.pid}  {shown(process.on_gpu)}  {process.name}"


def _steps(diagnosis: Diagnosis) -> Iterator[str]:
    for number, step in enumerate(diagnosis.steps, 1):
        yield f"{number}. {step}"
    if diagnosis.rules:
        yield f"`jaxlint check --select {','.join(diagnosis.rules)}` looks for the cause in source"
