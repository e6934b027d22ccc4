"""Puts the rule pages into the documentation site, with an index made from their front matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from jaxlint import page
from jaxlint.cli.rules import FOLDERS
from jaxlint.engine_codes import ENGINE_CODES
from jaxlint.page import Block, Page

RULES = Path(__file__).resolve().parents[1] / "rules"

# The heading of each folder of rules, in the order of the codes.
TITLES = {
    "retrace": "Retracing and recompilation",
    "trace": "Python inside a trace",
    "device_memory": "Device memory",
    "host_memory": "Host memory",
    "config": "Configuration and import",
    "precision": "Precision",
    "dependencies": "Dependency files",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the rule pages to the navigation, below their index."""
    entries: list[Any] = config.nav or []
    for entry in entries:
        if isinstance(entry, dict) and "Rules" in entry:
            pages = [{f"{each.meta.code} {each.meta.slug}": _address(each)} for each in _pages()]
            entry["Rules"] = [{"All rules": entry["Rules"]}, *pages]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Make the pages themselves."""
    pages = _pages()
    files.append(File.generated(config, "rules/index.md", content=_index(pages)))
    for each in pages:
        files.append(File.generated(config, _address(each), content=_article(each)))
    return files


def _pages() -> list[Page]:
    return sorted((page.read(path) for path in RULES.rglob("*.md")), key=lambda each: each.meta.code)


def _address(each: Page) -> str:
    return f"rules/{each.meta.code}.md"


def _article(each: Page) -> str:
    title, _, rest = each.body(_fence).partition("\n")
    meta = each.meta
    facts = f"**{meta.severity.value}** · {meta.status} since {meta.since} · fix: {meta.fix}"
    return f"---\ndescription: {meta.summary!r}\n---\n{title}\n\n{facts}\n\n{rest}"


def _fence(block: Block) -> str:
    title = "" if block.file == page.DEFAULT_FILE else block.file
    if block.kind == "fixed":
        title = f"{title} as fixed".strip()
    return f'```{block.language} title="{title}"' if title else f"```{block.language}"


def _index(pages: list[Page]) -> str:
    lines = [
        "# Rules",
        "",
        "A *stable* rule is on unless it is ignored; a *preview* rule needs `--preview`. The severity is the",
        "usual one; a single finding may be milder or graver where the page says so. A *safe* fix leaves the",
        "program doing what it did, an *unsafe* one may not, a *display* fix is advice to paste.",
    ]
    for prefix, folder in FOLDERS.items():
        own = [each for each in pages if each.meta.code.startswith(prefix)]
        if own:
            lines += ["", f"## {prefix}xx {TITLES[folder]}", "", *_table(own)]
    lines += ["", "## JAX0xx The engine's own", "", "| code | name | severity | says |", "|---|---|---|---|"]
    lines += [f"| {e.code} | {e.slug} | {e.severity.value} | {e.summary} |" for e in ENGINE_CODES]
    return "\n".join((*lines, ""))


def _table(pages: list[Page]) -> list[str]:
    rows = ["| code | name | severity | status | fix | finds |", "|---|---|---|---|---|---|"]
    for each in pages:
        m = each.meta
        link = f"[{m.code}]({m.code}.md)"
        summary = m.summary.replace("|", "&#124;")
        rows.append(f"| {link} | {m.slug} | {m.severity.value} | {m.status} | {m.fix} | {summary} |")
    return rows
