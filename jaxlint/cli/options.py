"""The options of `check`, and what they make of a project's settings."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from jaxlint.finding import Confidence, Severity
from jaxlint.project.settings import Settings
from jaxlint.record import replace
from jaxlint.report import FORMATS

STDIN = "-"


# What only `check` can do, as it is where another command hands over to it.
_OF_CHECK: dict[str, Any] = {
    "stdin_filename": None,
    "force_exclude": None,
    "show_files": False,
    "show_settings": False,
    "fix": False,
    "unsafe_fixes": False,
    "diff": False,
    "exit_non_zero_on_fix": False,
    "update_baseline": False,
    "add_ignore": False,
}


def add_to(parser: ArgumentParser) -> None:
    """Add the options of `check`. What is not given is None: the settings decide."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, patterns, or - for standard input (default: .)",
    )
    add_shared(parser)
    files = parser.add_argument_group("which files")
    files.add_argument("--stdin-filename", metavar="FILE", help="what standard input is called")
    files.add_argument("--force-exclude", action="store_true", default=None, help="exclude named files too")
    files.add_argument("--show-files", action="store_true", help="list the files and check nothing")
    files.add_argument("--show-settings", action="store_true", help="show the settings and check nothing")

    fixing = parser.add_argument_group("fixing")
    fixing.add_argument("--fix", action="store_true", help="make the safe fixes, report what remains")
    fixing.add_argument(
        "--unsafe-fixes", action="store_true", help="with --fix or --diff: the unsafe ones too"
    )
    fixing.add_argument("--diff", action="store_true", help="show what --fix would change, write nothing")
    fixing.add_argument(
        "--exit-non-zero-on-fix", action="store_true", help="exit with 1 also where all was fixed"
    )

    known = parser.add_argument_group("living with findings")
    known.add_argument("--update-baseline", action="store_true", help="make what is found the baseline")
    known.add_argument("--add-ignore", action="store_true", help="write a suppression beside each finding")


def add_shared(parser: ArgumentParser) -> None:
    """Add the options of every command that checks."""
    parser.set_defaults(**_OF_CHECK)
    rules = parser.add_argument_group(
        "rules", "CODES are codes, beginnings of codes, slugs or ALL, with commas"
    )
    rules.add_argument("--select", **_codes(), help="run these rules and no others")
    rules.add_argument("--ignore", **_codes(), help="leave these rules out")
    rules.add_argument("--extend-select", **_codes(), help="run these rules too")
    rules.add_argument("--preview", action="store_true", default=None, help="run rules in preview too")
    rules.add_argument("--min-severity", **_words(Severity), help="report nothing less severe")
    rules.add_argument("--min-confidence", **_words(Confidence), help="report nothing less sure")
    rules.add_argument("--baseline", type=_file, metavar="FILE", help="report nothing that this file knows")

    settings = parser.add_argument_group("settings")
    settings.add_argument("--config", metavar="FILE", help="settings for all files")
    settings.add_argument("--isolated", action="store_true", help="no settings files")
    settings.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    settings.add_argument("--jobs", type=_jobs, metavar="N", help="processes (0: one per processor)")

    output = parser.add_argument_group("output")
    output.add_argument("--output-format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    output.add_argument("--output-file", metavar="FILE", help="write the report there")
    output.add_argument("--statistics", action="store_true", help="count findings by code instead")
    output.add_argument("--fail-on", **_words(Severity), help="exit with 1 from this severity on (warning)")
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 instead of 1")

    confirm = parser.add_argument_group("confirm", "run what is found, in a process of its own")
    confirm.add_argument("--confirm", action="store_true", help="test every finding's claim")
    confirm.add_argument("--target", **_codes("TARGET"), help="auto, cpu, gpu, cuda:CHIP, tpu:CHIP (auto)")
    confirm.add_argument("--python", metavar="EXE", help="the interpreter that has the project's jax")
    confirm.add_argument("--record", metavar="FILE", help="what `jaxlint record` wrote: what happened")
    confirm.add_argument("--timeout", type=_seconds, metavar="S", help="seconds for one measurement (60)")


def override(settings: Settings, args: Namespace) -> Settings:
    """The settings with what the command line says.

    `--select` starts anew: what the settings select, add and ignore no longer counts. `--extend-select` takes
    what it names back from what the settings ignore.
    """
    names = ("preview", "min_severity", "min_confidence", "fail_on", "force_exclude", "jobs", "output_format")
    given: dict[str, Any] = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.baseline:
        given["baseline"] = os.path.abspath(args.baseline)
    settings = replace(settings, **given)
    if args.select is not None:
        settings = replace(settings, select=tuple(args.select), extend_select=(), ignore=())
    extended = tuple(args.extend_select or ())
    ignored = tuple(selector for selector in settings.ignore if selector not in extended)
    return replace(
        settings,
        extend_select=(*settings.extend_select, *extended),
        ignore=(*ignored, *(args.ignore or ())),
    )


# What is confirmed is the program on disk, which is another one after a round of fixes. Both ways of living with
# findings leave nothing to fix, or to live with in the other way.
_EXCLUDING = (
    (("config",), ("isolated",)),
    (("confirm",), ("fix", "diff")),
    (("add_ignore",), ("update_baseline",)),
    (("add_ignore", "update_baseline"), ("fix", "diff")),
)


def contradiction(args: Namespace) -> str:
    """What is wrong with options that do not go together, "" if nothing."""
    for some, others in _EXCLUDING:
        given = [next((name for name in names if getattr(args, name)), None) for names in (some, others)]
        if None not in given:
            return f"{' and '.join(map(_option, given))} exclude each other"
    needing = [name for name in ("target", "python", "timeout") if getattr(args, name) is not None]
    if needing and not args.confirm:
        return f"{' and '.join(map(_option, needing))} need --confirm"
    if args.add_ignore and STDIN in args.paths:
        return "--add-ignore writes to files, not to standard input"
    return ""


def _option(name: str | None) -> str:
    return f"--{(name or '').replace('_', '-')}"


def selectors(args: Namespace) -> list[str]:
    """All selectors of the command line."""
    return [
        selector for option in (args.select, args.ignore, args.extend_select) for selector in option or ()
    ]


def _codes(metavar: str = "CODES") -> dict[str, Any]:
    return {"action": "extend", "type": _list, "metavar": metavar}


def _words(enum: type[Severity] | type[Confidence]) -> dict[str, Any]:
    words = ",".join(member.value for member in enum)
    return {"type": enum, "choices": tuple(enum), "metavar": f"{{{words}}}"}


def _list(text: str) -> list[str]:
    found = [item for item in (part.strip() for part in text.split(",")) if item]
    if not found:  # and an empty selection must not become the default, which is everything
        raise ArgumentTypeError("names nothing")
    return found


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _file(text: str) -> str:
    if not text:
        raise ArgumentTypeError("names no file")
    return text


def _jobs(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)
