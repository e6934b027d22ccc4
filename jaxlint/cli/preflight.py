"""`jaxlint preflight PATHS`: the checklist for long loops over sequences and video, with evidence."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import Any

from jaxlint.cli import status


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: ArgumentParser = subparsers.add_parser(
        "preflight", help="go through the checklist for long runs, with evidence for each point"
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or directories (default: .)")
    parser.add_argument("--output-format", choices=("text", "markdown", "json"), default="text")


def run(args: Namespace) -> int:
    """Gather, judge and report. 1 where a point failed."""
    from jaxlint import registry
    from jaxlint.preflight import report
    from jaxlint.preflight.checklist import failed, points
    from jaxlint.preflight.material import gather
    from jaxlint.project.settings import Settings
    from jaxlint.project.workspace import survey
    from jaxlint.record import replace

    def every_rule(settings: Settings) -> Settings:
        """What a project does not want to hear of in `check` is still a point of the checklist."""
        return replace(settings, select=(), ignore=(), extend_select=(), preview=True, min_severity=None)

    workspace = survey(args.paths or ["."], override=every_rule)
    for problem in workspace.problems:
        status.complain(problem)
    if workspace.problems:
        return status.FAILED
    if not workspace.files:
        status.complain("no Python files found")
        return status.FAILED
    found = points(gather(workspace, registry.listed(), os.environ, args.paths or ["."]))
    write = {"text": report.text, "markdown": report.markdown, "json": report.as_json}
    print(write[args.output_format](found))
    return status.FINDINGS if failed(found) else status.CLEAN
