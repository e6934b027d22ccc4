"""`jaxlint record`: run a program as it is and note what it traces and compiles, or show what was noted."""

from __future__ import annotations

import argparse
import json
import os

from jaxlint.cli import status

DEFAULT = "jaxlint-record.jsonl"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "record",
        help="run a program and note what it traces and compiles",
        usage="jaxlint record [-o FILE] -- COMMAND ...\n       jaxlint record --report FILE",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=f"where to write the record ({DEFAULT})")
    parser.add_argument("--report", metavar="FILE", help="show a record")
    parser.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="of --report (text)"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="the program")


def run(args: argparse.Namespace) -> int:
    """Become the program, or show a record."""
    command = args.program[1:] if args.program[:1] == ["--"] else args.program
    if args.report is not None:
        if command or args.output is not None:
            status.complain("--report shows a record and runs nothing")
            return status.FAILED
        return _report(args.report, args.output_format)
    if not command:
        status.complain("no program: jaxlint record [-o FILE] -- python train.py")
        return status.FAILED
    from jaxlint.recording.launch import CannotLaunch, launch

    try:
        launch(command, os.path.abspath(args.output or DEFAULT))
    except CannotLaunch as error:
        status.complain(str(error))
    return status.FAILED


def _report(path: str, output_format: str) -> int:
    from jaxlint.recording import text
    from jaxlint.recording.history import read
    from jaxlint.recording.unreadable import Unreadable

    try:
        history = read(path)
    except Unreadable as error:
        status.complain(str(error))
        return status.FAILED
    if output_format == "json":
        print(json.dumps(text.as_data(history), indent=2))
    else:
        for line in text.lines(history):
            print(line)
    return status.CLEAN
