"""A record, read: what happened in each process, by boundary and by line."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from jaxlint.record import record
from jaxlint.recording.changes import Call, Change, changes
from jaxlint.recording.launch import FORMAT
from jaxlint.recording.unreadable import Unreadable

WARM_UP = 2  # traces of one call site that are taken for granted: the first call, and one other form of it


@record
class Site:
    """A line of the user's, in a function."""

    path: str
    line: int
    function: str


@record
class Trace:
    """One trace of a boundary's function, and what was compiled of it. The first one has no `changes`.

    `inputs` are its arguments in a form to be made again (`child/recording/arguments.py`), None where not kept.
    """

    number: int
    stack: tuple[Site, ...]
    call: Call
    changes: tuple[Change, ...]
    nested: bool
    t: float
    trace_s: float = 0.0
    lower_s: float = 0.0
    compile_s: float = 0.0
    compiles: int = 0
    loaded: bool = False
    inputs: Mapping[str, Any] | None = None

    @property
    def seconds(self) -> float:
        return self.trace_s + self.lower_s + self.compile_s


@record
class Boundary:
    """One jitted function of one process. `wraps`: how often it, or another of its definition, was jitted."""

    pid: int
    api: str
    name: str
    place: Site
    wrapped: Site
    wraps: int
    traces: tuple[Trace, ...]

    @property
    def compiles(self) -> int:
        return sum(trace.compiles for trace in self.traces)

    @property
    def lost(self) -> float:
        """Seconds that all traces but the first took, compilation included."""
        return sum(trace.seconds for trace in self.traces[1:] if not trace.nested)

    @property
    def retraces(self) -> tuple[Trace, ...]:
        """The traces after warm-up: calls from one and the same place that had to trace more than twice."""
        seen: dict[tuple[Site, ...], int] = defaultdict(int)
        found = []
        for trace in self.traces:
            if not trace.nested:
                seen[trace.stack] += 1
                if seen[trace.stack] > WARM_UP:
                    found.append(trace)
        return tuple(found)


@record
class Eager:
    """What a line compiled outside any boundary that was seen: names of operations, how often each."""

    site: Site
    stack: tuple[Site, ...]
    names: Mapping[str, int]
    seconds: float

    @property
    def compiles(self) -> int:
        return sum(self.names.values())


@record
class Raised:
    """What ended a process."""

    kind: str
    kinds: tuple[str, ...]
    message: str
    stack: tuple[Site, ...]


@record
class History:
    """All of a record. `figures` are the samples of each process in order, `cleared` where caches were emptied."""

    path: str
    command: tuple[str, ...]
    directory: str
    processes: tuple[Mapping[str, Any], ...]
    boundaries: tuple[Boundary, ...]
    eager: tuple[Eager, ...]
    sources: Mapping[str, str]
    figures: Mapping[int, tuple[Mapping[str, Any], ...]]
    cleared: tuple[tuple[Site, ...], ...]
    raised: tuple[Raised, ...]
    damaged: int  # lines that cannot be read

    @property
    def too_old(self) -> str:
        """The version of a jax that could not be recorded, "" if there is none."""
        return next((str(each["jax"]) for each in self.processes if each.get("too_old")), "")

    def problems(self, files: Collection[str]) -> Iterator[str]:
        """What is to be known before the record is believed; `files` (absolute) are those of interest."""
        if not self.processes:
            yield "no process of the program imported jax"
        if self.too_old:
            yield f"jax {self.too_old} is too old to be recorded, 0.4.35 is the oldest"
        stale = [path for path in self.stale() if os.path.realpath(path) in files]
        if stale:
            yield f"changed since it was recorded: {', '.join(map(os.path.relpath, stale))}"

    def calls(self, file: str, name: str) -> list[Mapping[str, Any]]:
        """The inputs of recorded calls of a function, by its qualified name in a file that has not changed."""
        if _digest(file) not in self.sources.values():
            return []
        return [
            trace.inputs
            for boundary in self.boundaries
            if boundary.name == name and os.path.realpath(boundary.place.path) == os.path.realpath(file)
            for trace in boundary.traces
            if trace.inputs is not None
        ]

    def stale(self) -> list[str]:
        """The recorded files that have changed since, or are gone."""
        return [path for path, digest in self.sources.items() if _digest(path) != digest]


def read(path: str) -> History:
    """The record in a file. Raises Unreadable."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise Unreadable(f"{path}: cannot read: {error.strerror}") from None
    parsed = [line for line in map(_parsed, lines) if line is not None]
    if not parsed or parsed[0].get("kind") != "run":
        raise Unreadable(f"{path}: no record of `jaxlint record`")
    if parsed[0].get("format") != FORMAT:
        raise Unreadable(f"{path}: a record of another jaxlint ({parsed[0].get('jaxlint')}); record again")
    return of_lines(path, parsed, damaged=sum(bool(line.strip()) for line in lines) - len(parsed))


def of_lines(path: str, lines: Iterable[Mapping[str, Any]], *, damaged: int = 0) -> History:
    """The history that the lines of a record tell."""
    by_kind: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        by_kind[line["kind"]].append(line)
    run = next(iter(by_kind["run"]), {})
    figures: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for line in [*by_kind["sample"], *by_kind["end"]]:
        figures[line["pid"]].append(line)
    return History(
        path=path,
        command=tuple(run.get("command", ())),
        directory=str(run.get("directory", "")),
        processes=tuple(by_kind["process"]),
        boundaries=_boundaries(by_kind),
        eager=_eager(by_kind["compile"]),
        sources={line["path"]: line["sha256"] for line in by_kind["source"]},
        figures={pid: tuple(each) for pid, each in figures.items()},
        cleared=tuple(_stack(line["stack"]) for line in by_kind["cleared"]),
        raised=tuple(
            Raised(line["type"], tuple(line["kinds"]), line["message"], _stack(line["stack"]))
            for line in by_kind["raised"]
        ),
        damaged=damaged,
    )


# What is read of a line of each kind.
_FIELDS = {
    "process": "pid jax",
    "source": "path sha256",
    "boundary": "pid id api name place wrapped",
    "trace": "pid boundary number wraps callable form options stack nested t",
    "compile": "pid boundary trace name stack trace_s lower_s compile_s loaded",
    "sample": "pid",
    "end": "pid",
    "cleared": "stack",
    "raised": "type kinds message stack",
}


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        return None
    return found if found.keys() >= set(_FIELDS.get(found["kind"], "").split()) else None


# ---------------------------------------------------------------- boundaries


def _boundaries(by_kind: Mapping[str, list[Mapping[str, Any]]]) -> tuple[Boundary, ...]:
    traces: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
    for line in by_kind["trace"]:
        traces[line["pid"], line["boundary"]].append(line)
    compiled: dict[tuple[int, int, int], list[Mapping[str, Any]]] = defaultdict(list)
    for line in by_kind["compile"]:
        if line["boundary"] is not None:
            compiled[line["pid"], line["boundary"], line["trace"]].append(line)
    return tuple(
        Boundary(
            pid=line["pid"],
            api=line["api"],
            name=line["name"],
            place=Site(*line["place"]),
            wrapped=Site(*line["wrapped"]),
            wraps=max((trace["wraps"] for trace in traces[line["pid"], line["id"]]), default=1),
            traces=_traces(traces[line["pid"], line["id"]], compiled),
        )
        for line in by_kind["boundary"]
    )


def _traces(
    lines: list[Mapping[str, Any]], compiled: Mapping[tuple[int, int, int], list[Mapping[str, Any]]]
) -> tuple[Trace, ...]:
    signatures: dict[int, Mapping[str, str]] = {}
    calls: list[Call] = []
    found = []
    for line in lines:
        number = line["number"]
        signatures[number] = line.get("signature") or signatures.get(line.get("same_as", 0), {})
        call = Call(signatures[number], line["callable"], line["form"], line["options"])
        made = compiled.get((line["pid"], line["boundary"], number), [])
        found.append(
            Trace(
                number=number,
                stack=_stack(line["stack"]),
                call=call,
                changes=changes(call, calls[-50:]) if calls else (),
                nested=line["nested"],
                t=line["t"],
                trace_s=sum(each["trace_s"] for each in made),
                lower_s=sum(each["lower_s"] for each in made),
                compile_s=sum(each["compile_s"] for each in made),
                compiles=len(made),
                loaded=any(each["loaded"] for each in made),
                inputs=line.get("inputs"),
            )
        )
        calls.append(call)
    return tuple(found)


def _eager(lines: Iterable[Mapping[str, Any]]) -> tuple[Eager, ...]:
    """What was compiled outside the boundaries, by line: a lambda or a comprehension in it is no other place."""
    names: dict[tuple[str, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    seconds: dict[tuple[str, int], float] = defaultdict(float)
    stacks: dict[tuple[str, int], tuple[Site, ...]] = {}
    for line in lines:
        stack = _stack(line["stack"])
        if line["boundary"] is None and stack:
            at = stack[0].path, stack[0].line
            names[at][line["name"]] += 1
            seconds[at] += line["trace_s"] + line["lower_s"] + line["compile_s"]
            stacks.setdefault(at, stack)
    found = (Eager(stacks[at][0], stacks[at], dict(each), seconds[at]) for at, each in names.items())
    return tuple(sorted(found, key=lambda eager: -eager.seconds))


def _stack(places: Iterable[Iterable[Any]]) -> tuple[Site, ...]:
    return tuple(Site(*place) for place in places)


def _digest(path: str) -> str:
    try:
        with open(os.fspath(path), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
