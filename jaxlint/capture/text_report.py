"""The report for people: plan, runtime, diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxlint.capture.claim import Claim, Remedy
from jaxlint.capture.memory_profile import LiveArrays
from jaxlint.capture.plan import PeakBuffer, Plan, Totals
from jaxlint.capture.report import PoolReport, Report, together
from jaxlint.capture.sizes import share, shown

CONFIRM = (
    "to confirm a saving: jax.jit(step).lower(...).compile().memory_analysis(), before the change and after"
)


def lines(report: Report, top: int) -> Iterator[str]:
    """The report, line by line. `top` is how many of the largest buffers are listed."""
    host = f" (host {report.host})" if report.host else ""
    yield f"{report.path}{host}: {_count(len(report.modules), 'compiled module')}"
    if report.plan is not None:
        yield ""
        yield from _plan(report.plan, report.reason, top)
    if report.pools:
        yield ""
        yield from _runtime(report, report.pools[0], top)
    if report.live_arrays:
        yield ""
        yield from _live_arrays(report.live_arrays, top)
    yield ""
    yield "diagnosis"
    for claim in report.claims:
        yield from _claim(claim)
    if any(remedy.saving is not None for claim in report.claims for remedy in claim.remedies):
        yield f"  {CONFIRM}"


def _plan(plan: Plan, reason: str, top: int) -> Iterator[str]:
    yield f"plan of {plan.module} ({reason})"
    yield from _totals(plan.totals)
    if plan.heap_peak is None:
        yield "  heap peak   not known: there is no temporary heap, or no trace of it"
        return
    position, events = plan.peak_event
    at = f" at {plan.peak_instruction}" if plan.peak_instruction else ""
    how = "" if plan.traced else ", worked out from the schedule"
    yield f"  heap peak   {shown(plan.heap_peak):>12}  event {position} of {events}{at}{how}"
    roles = (f"{role} {share(size, plan.heap_peak)}" for role, size in plan.by_role().items())
    yield f"  live at the peak: {', '.join(roles)}"
    groups = plan.grouped()
    for group, count in groups[:top]:
        yield from _buffer(group, count)
    if len(groups) > top:
        yield f"    … {len(groups) - top} more (--top)"


def _totals(totals: Totals) -> Iterator[str]:
    donated = f"{shown(totals.donated)} of it donated" if totals.donated else "none donated"
    yield f"  parameters  {shown(totals.parameters):>12}  {_count(totals.parameter_count, 'array')}, {donated}"
    yield f"  outputs     {shown(totals.outputs):>12}  beside those that take a donated buffer"
    yield f"  temp block  {shown(totals.temp):>12}"
    if totals.constants:
        yield f"  constants   {shown(totals.constants):>12}"
    yield f"  together    {shown(totals.total):>12}"
    for space, size in totals.other_spaces:
        name = "host memory" if space == 5 else f"memory space {space}"
        yield f"  {name}: {shown(size)} (not part of the above)"


def _buffer(buffer: PeakBuffer, count: int) -> Iterator[str]:
    times = f" x{count}" if count > 1 else ""
    place = str(buffer.frames[0]) if buffer.frames else "no Python line"
    yield f"    {shown(buffer.size * count):>12}  {buffer.shape}{times}  {buffer.role}  {place}"
    if buffer.stacked:
        loop = f", carried by {buffer.loop}" if buffer.loop else ""
        yield f"    {'':>12}  a scan stacks {buffer.stacked}{loop}"
    elif buffer.op_name:
        yield f"    {'':>12}  {buffer.op_name}"


def _runtime(report: Report, pool: PoolReport, top: int) -> Iterator[str]:
    yield f"runtime of {pool.name}"
    yield f"  capacity    {shown(pool.capacity):>12}"
    yield f"  in use      {shown(pool.before):>12}  when the capture began"
    lifetime = f"{shown(pool.lifetime_peak)} since the process began"
    yield f"  peak        {shown(pool.peak):>12}  in the capture; {lifetime}"
    yield from _executions(report, top)
    if report.holdings:
        when = "when the last one started" if report.executions else "at the end"
        yield f"  live {when}:"
        holdings = together(report.holdings)
        for holding in holdings[:top]:
            yield f"    {shown(holding.size):>12}  {holding.what}"
        if len(holdings) > top:
            rest = sum(holding.size for holding in holdings[top:])
            yield f"    {shown(rest):>12}  in {len(holdings) - top} more (--top)"
    if report.between:
        events = (f"{name} x{count}" if count > 1 else name for name, count in report.between[:8])
        yield f"  host events between the last two: {', '.join(events)}"
    if report.pools[1:]:
        shares = (f"{p.name} {share(p.peak, p.capacity)}" for p in report.pools[1:])
        yield f"  other pools, peak of capacity: {', '.join(shares)}"


def _executions(report: Report, top: int) -> Iterator[str]:
    found = report.executions
    if not found:
        yield "  executions             0"
        return
    failed = sum(execution.failed for execution in found)
    never = f", {failed} never launched" if failed else ""
    yield f"  executions  {len(found):>12}  of {found[-1].module}{never}"
    for execution in found[len(found) - min(top, 4, len(found)) :]:
        state = "never launched" if execution.failed else "launched"
        waited = f", waited {execution.waited:.1f} s for memory" if execution.waited else ""
        yield f"    {f'#{execution.number}':>12}  {shown(execution.in_use)} in use at its start, {state}{waited}"


def _live_arrays(arrays: Sequence[LiveArrays], top: int) -> Iterator[str]:
    yield "live arrays by Python line (memory.prof)"
    for item in arrays[:top]:
        place = str(item.frames[0]) if item.frames else "no Python line"
        function = f" in {item.frames[0].function}" if item.frames and item.frames[0].function else ""
        yield f"    {shown(item.size):>12}  {item.number} x {item.kind or 'array'}  {place}{function}"


def _claim(claim: Claim) -> Iterator[str]:
    rules = f"  -> {', '.join(claim.rules)}" if claim.rules else ""
    yield f"  [{claim.basis.value}] {claim.text}{rules}"
    if claim.cause:
        yield f"      cause: {claim.cause}"
    if claim.frames:
        yield f"      at: {', '.join(map(str, claim.frames[:3]))}"
    for remedy in claim.remedies:
        yield f"      try: {remedy.action}{_saving(remedy)}"
    for source in claim.sources:
        yield f"      found: {source.path}:{source.line}:{source.column}: {source.code} {source.message}"
        if source.fix:
            yield f"      fix: {source.fix}"
        yield from (f"        {line}" for line in source.change.splitlines())


def _saving(remedy: Remedy) -> str:
    parts = [f"saves up to {shown(remedy.saving)} [inferred]"] if remedy.saving is not None else []
    if remedy.enough is not None:
        parts.append("enough to fit" if remedy.enough else "not enough alone")
    if remedy.puts_off is not None:
        parts.append(f"only puts the failure off, by {remedy.puts_off} more executions")
    if remedy.cost:
        parts.append(f"costs {remedy.cost}")
    return f" ({'; '.join(parts)})" if parts else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
