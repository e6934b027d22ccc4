"""A record as text for people, and as JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from jaxlint.recording.history import Boundary, Eager, History, Site, Trace

MOST_CHANGES = 4  # traces of a boundary that are shown
MOST_LINES = 10  # lines of eager work
_MIB = 1 << 20


def lines(history: History) -> Iterator[str]:
    """What happened: boundaries that were traced again first, by the seconds that took."""
    yield f"{' '.join(history.command)}: {_outline(history)}"
    if history.damaged:
        yield f"{history.damaged} {_plural('line', 'lines', history.damaged)} of the record cannot be read"
    stale = history.stale()
    if stale:
        yield f"changed since: {', '.join(map(_path, stale))}"
    again = sorted((each for each in history.boundaries if len(each.traces) > 1), key=lambda each: -each.lost)
    once = sum(len(each.traces) == 1 for each in history.boundaries)
    for boundary in again:
        yield ""
        yield from _boundary(boundary)
    if once:
        yield ""
        yield f"{once} {_plural('boundary was', 'boundaries were', once)} traced once"
    yield from _eager(history.eager)
    yield from _cleared(history)
    yield from _held(history)
    for raised in history.raised:
        at = f" at {_site(raised.stack[0])}" if raised.stack else ""
        yield ""
        yield f"ended by {raised.kind}{at}: {' '.join(raised.message.split())[:200]}"


def as_data(history: History) -> dict[str, Any]:
    """The same as plain data. Seconds and bytes; lines count from 1."""
    return {
        "command": list(history.command),
        "directory": history.directory,
        "processes": [dict(each) for each in history.processes],
        "stale": history.stale(),
        "boundaries": [_boundary_data(each) for each in history.boundaries],
        "eager": [
            {"at": _site_data(each.site), "operations": dict(each.names), "seconds": round(each.seconds, 4)}
            for each in history.eager
        ],
        "cleared": [_site_data(stack[0]) for stack in history.cleared if stack],
        "raised": [
            {"type": each.kind, "message": each.message, "stack": list(map(_site_data, each.stack))}
            for each in history.raised
        ],
        "figures": {str(pid): [dict(each) for each in found] for pid, found in history.figures.items()},
    }


def _outline(history: History) -> str:
    if not history.processes:
        return "no process imported jax"
    if history.too_old:
        return f"jax {history.too_old} is too old to be recorded, 0.4.35 is the oldest"
    versions = sorted({str(each["jax"]) for each in history.processes if each.get("jax")})
    count = len(history.processes)
    return f"jax {', '.join(versions)}, {count} {_plural('process', 'processes', count)}"


def _boundary(boundary: Boundary) -> Iterator[str]:
    count = len(boundary.traces)
    yield (
        f"{boundary.api} {boundary.name} ({_site(boundary.place)}): "
        f"{count} {_plural('trace', 'traces', count)}, {boundary.compiles} "
        f"{_plural('compile', 'compiles', boundary.compiles)}, {boundary.lost:.2f} s lost after the first"
    )
    if boundary.wraps > 1:
        yield f"    jitted {_times(boundary.wraps)} at {_site(boundary.wrapped)}"
    yield f"    1 at {_stack(boundary.traces[0])}"
    for trace in boundary.traces[1 : MOST_CHANGES + 1]:
        changed = "; ".join(change.text for change in trace.changes[:3])
        more = f"; {len(trace.changes) - 3} more" if len(trace.changes) > 3 else ""
        nested = ", inside another trace" if trace.nested else ""
        yield f"    {trace.number} at {_stack(trace)}{nested}: {changed}{more}"
    if count > MOST_CHANGES + 1:
        yield f"    ... {count - MOST_CHANGES - 1} more"


def _boundary_data(boundary: Boundary) -> dict[str, Any]:
    return {
        "pid": boundary.pid,
        "api": boundary.api,
        "name": boundary.name,
        "definition": _site_data(boundary.place),
        "jitted": _site_data(boundary.wrapped),
        "times_jitted": boundary.wraps,
        "seconds_lost": round(boundary.lost, 4),
        "traces": [
            {
                "stack": list(map(_site_data, trace.stack)),
                "signature": dict(trace.call.signature),
                "changes": [
                    {"cause": each.cause.value, "name": each.name, "before": each.before, "after": each.after}
                    for each in trace.changes
                ],
                "compiles": trace.compiles,
                "from_persistent_cache": trace.loaded,
                "nested": trace.nested,
                "seconds": round(trace.seconds, 4),
            }
            for trace in boundary.traces
        ],
    }


def _eager(found: Sequence[Eager]) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield "compiled outside these boundaries, by line:"
    for eager in found[:MOST_LINES]:
        names = sorted(eager.names.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {times}" for name, times in names[:4])
        more = f", {len(names) - 4} more" if len(names) > 4 else ""
        yield (
            f"    {_site(eager.site)}: {eager.compiles} {_plural('compile', 'compiles', eager.compiles)}, "
            f"{eager.seconds:.2f} s ({shown}{more})"
        )
    if len(found) > MOST_LINES:
        rest = found[MOST_LINES:]
        seconds = sum(each.seconds for each in rest)
        yield f"    ... {len(rest)} more {_plural('line', 'lines', len(rest))}, {seconds:.2f} s"


def _cleared(history: History) -> Iterator[str]:
    sites = [stack[0] for stack in history.cleared if stack]
    for site in dict.fromkeys(sites):
        yield ""
        yield f"jax.clear_caches() at {_site(site)}: {_times(sites.count(site))}"


def _held(history: History) -> Iterator[str]:
    for pid, figures in history.figures.items():
        last = figures[-1]
        if last.get("executables") is None:
            continue
        of = f" of process {pid}" if len(history.figures) > 1 else ""
        when = "at the end" if last["kind"] == "end" else "when last looked at"
        yield ""
        yield (
            f"{when}{of}: {last['executables']} {_plural('executable', 'executables', last['executables'])}, "
            f"{last['arrays']} {_plural('live array', 'live arrays', last['arrays'])} of "
            f"{last['bytes'] / _MIB:.1f} MiB, {(last['rss'] or 0) / _MIB:.0f} MiB resident"
        )


def _stack(trace: Trace) -> str:
    return " <- ".join(_site(site) for site in trace.stack[:2]) or "?"


def _site(site: Site) -> str:
    return f"{_path(site.path)}:{site.line}"


def _site_data(site: Site) -> dict[str, Any]:
    return {"path": site.path, "line": site.line, "function": site.function}


def _path(path: str) -> str:
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith(os.pardir) else relative


def _times(count: int) -> str:
    return f"{count} {_plural('time', 'times', count)}"


def _plural(one: str, several: str, count: int) -> str:
    return one if count == 1 else several
