"""The report as one page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from jaxlint.capture import charts
from jaxlint.capture.claim import Claim, Remedy
from jaxlint.capture.plan import Plan
from jaxlint.capture.report import Report, together
from jaxlint.capture.sizes import share, shown

_STYLE = """
:root { color-scheme: light dark; --text: #1a1d21; --soft: #5b6470; --back: #fff; --card: #f5f6f8; --line: #d9dde3;
  --blue: #2f6fbf; --red: #c0392b; --forward: #7aa7e0; --backward: #e3a36b; --recomputed: #8cc5a2;
  --workspace: #c79bd8; --other: #b9bfc8; --parameters: #e0cd7a; --outputs: #d98b8b; --constants: #9ad0cf; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #9aa4b0; --back: #15181c; --card: #1e2329;
  --line: #333a43; --blue: #6aa6ec; --red: #f07d6f; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 1000px;
  margin: 0 auto; padding: 24px; }
h1 { font-size: 20px; overflow-wrap: anywhere; } h2 { font-size: 17px; margin-top: 32px; }
svg { width: 100%; height: auto; background: var(--card); border-radius: 6px; }
svg text { font: 12px ui-monospace, monospace; fill: var(--soft); }
.grid { stroke: var(--line); } .line { fill: none; stroke: var(--blue); stroke-width: 1.6; }
.area { fill: var(--blue); opacity: .15; } .launched { stroke: var(--line); stroke-dasharray: 2 3; }
line.failed { stroke: var(--red); stroke-width: 2; } line.capacity { stroke: var(--soft); stroke-dasharray: 6 4; }
line.need { stroke: var(--red); stroke-dasharray: 6 4; } svg text.need { fill: var(--red); }
.tile rect { stroke: var(--back); stroke-width: 1.5; } .tile text { fill: #1a1d21; }
.forward rect, i.forward { fill: var(--forward); background: var(--forward); }
.backward rect, i.backward { fill: var(--backward); background: var(--backward); }
.recomputed rect, i.recomputed { fill: var(--recomputed); background: var(--recomputed); }
.workspace rect, i.workspace { fill: var(--workspace); background: var(--workspace); }
.other rect, i.other { fill: var(--other); background: var(--other); }
.parameters rect, i.parameters { fill: var(--parameters); background: var(--parameters); }
.outputs rect, i.outputs { fill: var(--outputs); background: var(--outputs); }
.constants rect, i.constants { fill: var(--constants); background: var(--constants); }
i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 6px 0 16px; }
.claim { border-left: 4px solid var(--line); background: var(--card); padding: 10px 14px; margin: 10px 0;
  border-radius: 0 6px 6px 0; overflow-wrap: anywhere; } .claim.measured { border-color: var(--blue); }
.tag { font: 12px ui-monospace, monospace; color: var(--soft); } .claim ul { margin: 6px 0 0; padding-left: 20px; }
.soft { color: var(--soft); } table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; } td.number, th.number { text-align: right; white-space: nowrap; }
.buffers td:nth-child(2), .buffers td:nth-child(3) { white-space: nowrap; }
pre { overflow-x: auto; background: var(--back); padding: 8px; }
"""


def page(reports: Sequence[Report], top: int) -> str:
    """An HTML document on all reports. `top` is how many rows the tables have."""
    bodies = "".join("".join(_report(report, top)) for report in reports)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>jaxlint oom</title><style>{_STYLE}</style></head><body>{bodies}</body></html>\n"
    )


def _report(report: Report, top: int) -> Iterator[str]:
    host = f' <span class="soft">host {escape(report.host)}</span>' if report.host else ""
    yield f"<h1>{escape(report.path)}{host}</h1>"
    yield "<h2>Diagnosis</h2>"
    for claim in report.claims:
        yield from _claim(claim)
    if report.pools:
        pool = report.pools[0]
        yield f"<h2>{escape(pool.name)} over time</h2>"
        yield charts.timeline(pool, report.executions, report.need)
        yield f'<p class="soft">{pool.samples} allocations and deallocations in their order; their times in seconds'
        yield " below. Upright lines are starts of executions, a red one never launched.</p>"
        yield from _holdings(report, top)
    if report.plan is not None:
        yield f"<h2>Peak of {escape(report.plan.module)}</h2>"
        yield charts.peak(report.plan)
        yield _legend(report.plan)
        yield from _buffers(report.plan, top)


def _claim(claim: Claim) -> Iterator[str]:
    rules = f" {escape(', '.join(claim.rules))}" if claim.rules else ""
    yield f'<div class="claim {claim.basis.value}"><span class="tag">{claim.basis.value}{rules}</span><br>'
    yield escape(claim.text)
    if claim.cause:
        yield f'<br><span class="soft">{escape(claim.cause)}</span>'
    if claim.frames:
        yield f'<br><span class="soft">at {escape(", ".join(map(str, claim.frames[:3])))}</span>'
    if claim.remedies:
        yield f"<ul>{''.join(f'<li>{_remedy(remedy)}</li>' for remedy in claim.remedies)}</ul>"
    for source in claim.sources:
        place = f"{source.path}:{source.line}:{source.column}"
        yield f"<p><b>{escape(place)}</b> {escape(source.code)} {escape(source.message)}</p>"
        yield f"<pre>{escape(source.change)}</pre>" if source.change else ""
    yield "</div>"


def _remedy(remedy: Remedy) -> str:
    facts = [f"saves up to {shown(remedy.saving)} (inferred)"] if remedy.saving is not None else []
    if remedy.enough is not None:
        facts.append("enough to fit" if remedy.enough else "not enough alone")
    if remedy.puts_off is not None:
        facts.append(f"only puts the failure off, by {remedy.puts_off} more executions")
    if remedy.cost:
        facts.append(f"costs {remedy.cost}")
    return escape(remedy.action) + (f' <span class="soft">{escape("; ".join(facts))}</span>' if facts else "")


def _holdings(report: Report, top: int) -> Iterator[str]:
    if not report.holdings:
        return
    yield "<table><tr><th class=number>bytes</th><th>live when the last execution started</th></tr>"
    for holding in together(report.holdings)[:top]:
        yield f'<tr><td class="number">{shown(holding.size)}</td><td>{escape(holding.what)}</td></tr>'
    yield "</table>"


def _legend(plan: Plan) -> str:
    totals, whole = plan.totals, max(plan.totals.total, 1)
    kinds = {"parameters": totals.parameters, "outputs": totals.outputs, "constants": totals.constants}
    kinds |= {role.value: size for role, size in plan.by_role().items()}
    shares = (f'<i class="{kind}"></i>{kind} {share(size, whole)}' for kind, size in kinds.items() if size)
    return f"<p>{''.join(shares)}</p>"


def _buffers(plan: Plan, top: int) -> Iterator[str]:
    heads = "".join(f"<th>{head}</th>" for head in ("shape", "role", "Python line", "what"))
    yield f'<table class="buffers"><tr><th class="number">bytes</th>{heads}</tr>'
    for buffer, count in plan.grouped()[:top]:
        place = str(buffer.frames[0]) if buffer.frames else "none"
        what = f"a scan stacks {buffer.stacked}" if buffer.stacked else buffer.op_name
        cells = (f"{buffer.shape}{f' x{count}' if count > 1 else ''}", buffer.role.value, place, what)
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<tr><td class="number">{shown(buffer.size * count)}</td>{row}</tr>'
    yield "</table>"
