"""`jaxlint triage LOG…`: from the log of a run that died to the family of its fault, and to the line."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from jaxlint.cli import status


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: ArgumentParser = subparsers.add_parser(
        "triage", help="say from the logs of a dead run what killed it"
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="a log, or - for standard input")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument("--json", action="store_const", const="json", dest="output_format", help="JSON")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page with the plots, too")


def run(args: Namespace) -> int:
    """Read the logs and say what they show. 1 where a family is named."""
    from jaxlint.triage import text_report
    from jaxlint.triage.diagnosis import diagnose
    from jaxlint.triage.reading import LogError
    from jaxlint.triage.scan import scan

    try:
        scanned = scan(dict.fromkeys(args.logs))
    except LogError as error:
        status.complain(str(error))
        return status.FAILED
    diagnosis = diagnose(scanned)
    if args.html and not _write_page(args.html, args.logs, diagnosis, scanned):
        return status.FAILED
    if args.output_format == "json":
        from jaxlint.triage.json_report import as_json

        print(as_json(diagnosis, scanned))
    else:
        print(text_report.text(diagnosis, scanned, blocks=_can_draw()))
    return status.FINDINGS if diagnosis.families else status.CLEAN


def _can_draw() -> bool:
    """Whether the terminal's encoding has the blocks that the plot is drawn with."""
    try:
        "▁█".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _write_page(path: str, logs: Sequence[str], diagnosis: Any, scanned: Any) -> bool:
    from jaxlint.project import writing
    from jaxlint.triage.html_report import page

    if writing.is_input(path, logs):
        status.complain(f"{path}: this is what was given to be read")
        return False
    try:
        writing.write(path, page(diagnosis, scanned).encode("utf-8", errors="replace"))
    except OSError as error:
        status.complain(f"{path}: cannot write: {error.strerror}")
        return False
    return True
