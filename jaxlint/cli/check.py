"""`jaxlint check`: find what is wrong and report it."""

from __future__ import annotations

import errno
import io
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.cli import options, status
from jaxlint.cli.baselines import Baselines
from jaxlint.engine_codes import FAILURES
from jaxlint.finding import Finding, Severity
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.settings import Settings
from jaxlint.project.workspace import Part, Workspace, survey
from jaxlint.recording.unreadable import Unreadable

if TYPE_CHECKING:
    from jaxlint.recording.history import History
    from jaxlint.recording.join import Join
    from jaxlint.report.run import Run
    from jaxlint.rule import Rule


class View(NamedTuple):
    """The findings that somebody wants to see, and what it is that they are looked for in ("" for whole files)."""

    narrow: Callable[[list[Finding]], list[Finding]]
    of: str


EVERYTHING = View(lambda findings: findings, "")


class Outcome(NamedTuple):
    """What is to be reported, how many findings were fixed, and whether all that was asked for could be done.

    `changed` are the files (by path) that are not as they were when they were found.
    """

    findings: list[Finding]
    changed: Mapping[str, SourceFile] = MappingProxyType({})
    fixed: int = 0
    went_well: bool = True


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: ArgumentParser = subparsers.add_parser("check", help="find what is wrong (the default)")
    options.add_to(parser)


def run(args: Namespace) -> int:
    """Check, report, and say by the exit status how it went."""
    if problem := options.contradiction(args):
        status.complain(problem)
        return status.FAILED
    paths = [path for path in args.paths if path != options.STDIN]
    given = [_standard_input(args.stdin_filename)] if options.STDIN in args.paths else []
    if not paths and not given:
        paths = ["."]
    workspace = survey(
        paths,
        given,
        config=args.config,
        isolated=args.isolated,
        override=lambda settings: options.override(settings, args),
    )
    for problem in workspace.problems:
        status.complain(problem)
    if args.show_settings or args.show_files:
        from jaxlint.cli import showing

        showing.settings(workspace) if args.show_settings else showing.files(workspace)
        return status.FAILED if workspace.problems else status.CLEAN
    return check_workspace(workspace, args)


def check_workspace(workspace: Workspace, args: Namespace, view: View = EVERYTHING) -> int:
    """Find, and report what is to be seen of it; the exit status."""
    from jaxlint import registry

    rules = registry.listed()
    try:
        for selector in options.selectors(args):
            registry.codes(selector, rules)
    except registry.SelectorError as error:
        status.complain(str(error))
        return status.FAILED
    if args.update_baseline and not workspace.settings.baseline:
        status.complain("--update-baseline needs --baseline FILE, or `baseline` in the settings")
        return status.FAILED
    if not workspace.files and not workspace.problems:
        status.complain("no Python files found")
    baselines = Baselines(args)
    try:
        history = _history(workspace, args)
    except Unreadable as error:
        status.complain(str(error))
        return status.FAILED

    def look(changed: Mapping[str, SourceFile]) -> list[Finding]:
        """What is to be reported, with some files (by path) as they have become in the meantime."""
        baselines.begin()
        parts = (
            Part(project, [changed.get(file.path, file) for file in files])
            for project, files in workspace.parts
        )
        return sorted(
            (finding for part in parts for finding in _part(part, rules, baselines, view, history, args)),
            key=lambda finding: (finding.place, finding.code, finding.message),
        )

    if args.fix or args.diff:
        from jaxlint.cli import fixing

        outcome = fixing.run(workspace.files, look, args)
    elif args.add_ignore:
        from jaxlint.cli import ignoring

        outcome = ignoring.run(workspace.files, look, args.paths)
    else:
        outcome = Outcome(look({}))
    result = _finish(outcome, workspace, view, args)
    if view is not EVERYTHING:
        return result  # whoever looks at a part of it does not ask what has become of a baseline
    return result if baselines.finish() else status.FAILED


def _finish(outcome: Outcome, workspace: Workspace, view: View, args: Namespace) -> int:
    """Report, and say by the exit status how it went."""
    from jaxlint.report.run import Run

    result = _status(outcome, workspace, args)
    files = {file.path: file for file in workspace.files} | dict(outcome.changed)
    run = Run(outcome.findings, files, status=result, problems=workspace.problems, view=view.of)
    if not args.diff and not _write(run, workspace.settings.output_format, args):
        return status.FAILED
    for finding in outcome.findings:
        if finding.code in FAILURES:
            _complain_of(finding)
    return result


def _status(outcome: Outcome, workspace: Workspace, args: Namespace) -> int:
    """The exit status."""
    failed = any(finding.code in FAILURES for finding in outcome.findings)
    if failed or workspace.problems or not outcome.went_well:
        return status.FAILED
    fail_on = workspace.settings.fail_on.rank
    if args.diff:
        failed = bool(outcome.fixed)
    else:
        failed = any(finding.severity.rank >= fail_on for finding in outcome.findings)
        failed = failed or bool(outcome.fixed and args.exit_non_zero_on_fix)
    return status.FINDINGS if failed and not args.exit_zero else status.CLEAN


def _part(
    part: Part,
    rules: Sequence[Rule],
    baselines: Baselines,
    view: View,
    history: History | None,
    args: Namespace,
) -> list[Finding]:
    """What is to be reported about the files of one project, with verdicts where they were asked for."""
    join = _join(history, part)
    findings = view.narrow(_findings(part, rules, baselines, join, cache=not args.no_cache))
    tested = findings
    if args.confirm:
        from jaxlint.confirm.confirm import confirm
        from jaxlint.confirm.options import options_of
        from jaxlint.confirm.strays import strays

        asked = options_of(part.settings, args)
        for problem in strays(asked, part):
            status.complain(f"warning: {problem}")
        tested = confirm(findings, part, asked, history, cache=not args.no_cache)
    return join.judged(tested, findings) if join is not None else tested


def _history(workspace: Workspace, args: Namespace) -> History | None:
    """The record that was asked for. Raises Unreadable."""
    path = args.record
    if path is None and args.confirm:
        path = workspace.settings.confirm.get("record")
        path = os.path.join(os.path.dirname(workspace.settings.file), path) if isinstance(path, str) else None
    if path is None:
        return None
    from jaxlint.recording.history import read

    history = read(path)
    for problem in history.problems({file.absolute for file in workspace.files}):
        status.complain(f"{path}: {problem}")
    return history


def _join(history: History | None, part: Part) -> Join | None:
    if history is None:
        return None
    from jaxlint.recording.join import Join

    return Join(history, part)


def _findings(
    part: Part, rules: Sequence[Rule], baselines: Baselines, join: Join | None, *, cache: bool
) -> list[Finding]:
    """What is to be reported about the files of one project."""
    from jaxlint.check import check
    from jaxlint.project.policy import Policy

    policy = Policy(part.project, rules, min_severity=Severity.INFO, recorded=join is not None)
    found = check(
        part.files, part.project, part.settings, policy.rules, jobs=_jobs(part.settings), cache=cache
    )
    if join is not None:
        found = [*found, *join.observed(found)]
    by_path: dict[str, list[Finding]] = {}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)
    reported = policy.mistakes_in_settings()
    for file in part.files:
        reported += baselines.reported(file, policy.standing(file, by_path.get(file.path, ())), policy)
    return reported


def _jobs(settings: Settings) -> int:
    if settings.jobs:
        return settings.jobs
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _standard_input(name: str | None) -> SourceFile:
    absolute = os.path.abspath(name or "<stdin>")
    return SourceFile(shown(absolute), os.path.realpath(absolute), sys.stdin.buffer.read())


# ---------------------------------------------------------------- output


def _write(run: Run, output_format: str, args: Namespace) -> bool:
    """Write the report. False, and a line on stderr, where its file cannot be written."""
    from jaxlint import report

    write = report.write_statistics if args.statistics else report.write
    if not args.output_file:
        # Standard input that is fixed has standard output to itself.
        write(run, output_format, sys.stderr if args.fix and options.STDIN in args.paths else sys.stdout)
        return True
    from jaxlint.project import writing

    if writing.is_input(args.output_file, run.files):
        status.complain(f"{args.output_file}: this is what was given to be read")
        return False
    text = io.StringIO()
    write(run, output_format, text)
    try:
        _save(args.output_file, text.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        status.complain(f"{args.output_file}: cannot write: {error.strerror}")
        return False
    return True


def _save(path: str, report: bytes) -> None:
    """Write a report whole or not at all. Raises OSError."""
    from jaxlint.project import writing

    try:
        writing.write(path, report)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY) or not os.path.isfile(path):
            raise
        # It is mounted there, or its directory is somebody else's: it cannot be replaced, only written to.
        with open(path, "wb") as stream:
            stream.write(report)


def _complain_of(failure: Finding) -> None:
    from jaxlint.report.concise import line

    status.complain(line(failure))
