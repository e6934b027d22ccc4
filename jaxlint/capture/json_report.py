"""The report as JSON: everything that is known, sizes in bytes, times in seconds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jaxlint.capture.claim import Claim
from jaxlint.capture.frames import Frame
from jaxlint.capture.memory_profile import LiveArrays
from jaxlint.capture.plan import PeakBuffer, Plan
from jaxlint.capture.report import PoolReport, Report


def text(reports: Iterable[Report]) -> str:
    """An array with an object for each capture."""
    return json.dumps([_report(report) for report in reports], indent=2) + "\n"


def _report(report: Report) -> dict[str, Any]:
    return {
        "path": report.path,
        "host": report.host,
        "modules": list(report.modules),
        "plan": None if report.plan is None else _plan(report.plan, report.reason),
        "runtime": _runtime(report) if report.pools or report.events else None,
        "live_arrays": [_live_arrays(arrays) for arrays in report.live_arrays],
        "diagnosis": [_claim(claim) for claim in report.claims],
    }


def _plan(plan: Plan, reason: str) -> dict[str, Any]:
    totals = plan.totals
    return {
        "module": plan.module,
        "chosen_because": reason,
        "parameters": totals.parameters,
        "parameter_count": totals.parameter_count,
        "donated": totals.donated,
        "donated_count": totals.donated_count,
        "outputs": totals.outputs,
        "temp": totals.temp,
        "constants": totals.constants,
        "total": totals.total,
        "other_memory_spaces": {str(space): size for space, size in totals.other_spaces},
        "heap_peak": plan.heap_peak,
        "heap_peak_traced": plan.traced,
        "peak_event": list(plan.peak_event),
        "peak_instruction": plan.peak_instruction,
        "rematerialized": plan.rematerialized,
        "roles": {role.value: size for role, size in plan.by_role().items()},
        "buffers": [_buffer(buffer) for buffer in plan.buffers],
    }


def _buffer(buffer: PeakBuffer) -> dict[str, Any]:
    return {
        "size": buffer.size,
        "shape": str(buffer.shape),
        "role": buffer.role.value,
        "role_from": buffer.how,
        "instruction": buffer.instruction,
        "opcode": buffer.opcode,
        "op_name": buffer.op_name,
        "stacks": buffer.stacked,
        "loop": buffer.loop,
        "frames": _frames(buffer.frames),
    }


def _runtime(report: Report) -> dict[str, Any]:
    return {
        "host_events": report.events,
        "pools": [_pool(pool) for pool in report.pools],
        "executions": [
            {
                "module": e.module,
                "number": e.number,
                "second": e.second,
                "in_use": e.in_use,
                "never_launched": e.failed,
                "waited": e.waited,
            }
            for e in report.executions
        ],
        "in_use": report.in_use,
        "need": report.need,
        "free_at_failure": None
        if report.free is None
        else {"total": report.free[0], "largest": report.free[1]},
        "live": [{"what": holding.what, "size": holding.size} for holding in report.holdings],
        "between": [{"event": name, "count": count} for name, count in report.between],
    }


def _pool(pool: PoolReport) -> dict[str, Any]:
    return {
        "name": pool.name,
        "capacity": pool.capacity,
        "in_use_before": pool.before,
        "peak": pool.peak,
        "lifetime_peak": pool.lifetime_peak,
        "allocator_events": pool.samples,
        "missing_events": pool.breaks,
    }


def _live_arrays(arrays: LiveArrays) -> dict[str, Any]:
    return {
        "size": arrays.size,
        "count": arrays.number,
        "kind": arrays.kind,
        "device": arrays.device,
        "frames": _frames(arrays.frames),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "slug": claim.slug,
        "basis": claim.basis.value,
        "text": claim.text,
        "cause": claim.cause,
        "rules": list(claim.rules),
        "function": claim.function,
        "frames": _frames(claim.frames),
        "remedies": [
            {
                "action": r.action,
                "saving": r.saving,
                "basis": "inferred",
                "cost": r.cost,
                "enough": r.enough,
                "puts_off": r.puts_off,
            }
            for r in claim.remedies
        ],
        "findings": [
            {
                "code": s.code,
                "slug": s.slug,
                "path": s.path,
                "line": s.line,
                "column": s.column,
                "message": s.message,
                "fix": s.fix,
                "change": s.change,
            }
            for s in claim.sources
        ],
    }


def _frames(frames: Iterable[Frame]) -> list[dict[str, Any]]:
    return [{"file": frame.file, "line": frame.line, "function": frame.function} for frame in frames]
