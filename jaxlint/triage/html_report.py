"""The report as one self-contained page: no script, no font, nothing to load."""

from __future__ import annotations

from html import escape

from jaxlint.triage.diagnosis import Diagnosis
from jaxlint.triage.scan import Scan
from jaxlint.triage.series import Growth, Series
from jaxlint.triage.sizes import shown
from jaxlint.triage.text_report import headline, places, said

_WIDTH, _HEIGHT = 720, 180
_LEFT, _BOTTOM = 76, 24

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
body{color:#1b1b1f;background:#fff}
h1{font-size:1.4rem;margin:0 0 .3rem}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}
.lead{border-left:4px solid #3949ab;padding:.4rem .9rem;background:#f3f4fb}
.none{border-color:#2e7d32;background:#f1f8f1}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td,th{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.leak td{background:#fdf1f0}
td.f{min-width:11rem}
code,.q{font-family:ui-monospace,monospace;font-size:.85rem;overflow-wrap:anywhere}.q{color:#555}
svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:#555}
@media(prefers-color-scheme:dark){
body{background:#17181c;color:#e4e4e8}.lead{background:#20222e}.none{background:#1c261d}
td,th{border-color:#383a42}tr.leak td{background:#332221}.q,svg text{color:#a5a5ad;fill:#a5a5ad}
}
"""


def page(diagnosis: Diagnosis, scan: Scan) -> str:
    """The page."""
    several = len(scan.lines) > 1
    kind = "lead" if diagnosis.families else "lead none"
    parts = [
        f'<h1>jaxlint triage</h1><p class="{kind}">{escape(headline(diagnosis))}'
        + (f"<br>out of memory in <code>{escape(diagnosis.at)}</code>" if diagnosis.at else "")
        + "</p>",
        _memory(diagnosis),
        _evidence(diagnosis, several),
        _boundaries(diagnosis),
        _orphans(diagnosis),
        _list("Note", diagnosis.notes),
        _list("Next", diagnosis.steps, "ol"),
    ]
    read = ", ".join(f"{escape(name)}, {number} lines" for name, number in scan.lines.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>jaxlint triage</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body>\n"
        + "\n".join(filter(None, parts))
        + f"\n<p class='q'>{read}</p>"
        "</body></html>\n"
    )


def _list(title: str, items: list[str], tag: str = "ul") -> str:
    body = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<h2>{title}</h2><{tag}>{body}</{tag}>" if body else ""


def _evidence(diagnosis: Diagnosis, several: bool) -> str:
    rows = "".join(
        f"<tr><td>{escape(places(evidence, several))}</td><td>{'' if evidence.proof else 'hint: '}"
        f"{escape(evidence.text)}<div class='q'>{escape(evidence.quote)}</div></td></tr>"
        for evidence in diagnosis.evidence
    )
    return f"<h2>It rests on</h2><table>{rows}</table>" if rows else ""


def _boundaries(diagnosis: Diagnosis) -> str:
    if not diagnosis.boundaries:
        return ""
    rows = []
    for b in diagnosis.boundaries[:40]:
        changes = "".join(
            f"<div class='q'>{escape(c.where)} {escape(c.before[:120])} → {escape(c.now[:120])}</div>"
            for c in b.changes[:4]
        )
        where = " ".join(filter(None, [b.defined, *b.callers[:1]]))
        rows.append(
            f"<tr{' class=leak' if b.leaks else ''}><td class=n>{b.count}</td><td class=n>{b.forms or '-'}</td>"
            f"<td class=n>{b.seconds_after_warm_up:.2f} s</td><td class=f><code>{escape(b.name)}</code>"
            f"{' rank ' + escape(b.rank) if b.rank else ''}<div class='q'>{escape(where)}</div></td>"
            f"<td>{escape(b.why)}{changes}</td></tr>"
        )
    head = (
        "<tr><th class=n>compiled</th><th class=n>types</th><th class=n>after warm-up</th>"
        "<th>function</th><th></th></tr>"
    )
    return f"<h2>Compiled again</h2><table>{head}{''.join(rows)}</table>"


def _orphans(diagnosis: Diagnosis) -> str:
    items = [f"PID {p.pid} holds {shown(p.on_gpu)}: {p.name}" for p in diagnosis.orphans]
    return _list("Processes on the GPU that have lost their launcher", items)


# ---------------------------------------------------------------- plots


def _memory(diagnosis: Diagnosis) -> str:
    plots = [
        f"<p>{escape(series.name)}: {escape(said(series, growth))}</p>{_svg(series, growth)}"
        for series, growth in diagnosis.series
        if len(series.samples) > 1
    ]
    return f"<h2>Memory</h2>{''.join(plots)}" if plots else ""


def _svg(series: Series, growth: Growth | None) -> str:
    colour = "#3949ab" if series.on_device else "#b3541e"
    top = max(series.peak, series.capacity if series.capacity < 3 * series.peak else 0) or 1
    across = _across(series)

    def at(index: int, used: float) -> str:
        x = _LEFT + across[index] * (_WIDTH - _LEFT - 8)
        y = (_HEIGHT - _BOTTOM) - used / top * (_HEIGHT - _BOTTOM - 12)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(at(i, sample.used) for i, sample in enumerate(series.samples))
    floor = _HEIGHT - _BOTTOM
    area = f"{at(0, 0)} {line} {at(len(series.samples) - 1, 0)}"
    marks = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884" />'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{shown(top * part)}</text>'
        for part in (0, 0.5, 1)
        for y in [floor - part * (floor - 12)]
    )
    limit = ""
    if series.capacity and series.capacity <= top:
        y = floor - series.capacity / top * (floor - 12)
        limit = (
            f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"'
            ' stroke="#c62828" stroke-dasharray="5 4"/>'
        )
    title = escape(
        f"{series.name} over time, {len(series.samples)} samples" + (", growing" if growth else "")
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img">'
        f"<title>{title}</title>"
        f'{marks}{limit}<polygon points="{area}" fill="{colour}" opacity=".15"/>'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">{_begin(series)}</text>'
        f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 6}" text-anchor="end">{_end(series)}</text></svg>'
    )


def _across(series: Series) -> list[float]:
    """Where each sample lies, from 0 to 1: by its time if all have one, else by its turn."""
    times = [sample.when for sample in series.samples]
    known = [when for when in times if when is not None]
    if len(known) == len(times) and known[-1] > known[0] and known == sorted(known):
        return [(when - known[0]) / (known[-1] - known[0]) for when in known]
    return [index / (len(times) - 1) for index in range(len(times))]


def _begin(series: Series) -> str:
    return f"line {series.samples[0].place.line}"


def _end(series: Series) -> str:
    first, last = series.samples[0], series.samples[-1]
    took = ""
    if first.when is not None and last.when is not None and last.when > first.when:
        took = f", {(last.when - first.when) / 60:.1f} minutes later"
    return f"line {last.place.line}{took}"
