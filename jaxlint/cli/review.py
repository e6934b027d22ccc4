"""`jaxlint review`: report what a change has to do with, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.cli import options, status
from jaxlint.project.repository import top_of

_STDIN = "-"
_DESCRIPTION = """Reports the findings whose lines, or whose cause, a change touches. The whole project is
analysed; the change is what happened since BASE and the current branch parted, what is not committed included."""
_DIFF = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false"),
    *("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--unified=3"),
    *("--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"),
)


class _Refusal(Exception):
    """Why there is no diff to read: one line."""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser: ArgumentParser = subparsers.add_parser(
        "review", help="report what a change has to do with", description=_DESCRIPTION
    )
    parser.add_argument(
        "base", nargs="?", metavar="BASE", help="a commit or branch, or - for a diff on standard input"
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="look no further than here (default: the repository)"
    )
    parser.add_argument(
        "--diff-file", metavar="FILE", help="read the diff from a file instead of asking git for it"
    )
    options.add_shared(parser)


def run(args: Namespace) -> int:
    """Check the project, and report what the change concerns."""
    from jaxlint.project import unified_diff

    if args.diff_file is not None and args.base is not None:
        args.paths.insert(0, args.base)
    problem = options.contradiction(args)
    try:
        if problem:
            raise _Refusal(problem)
        root = _repository(args.paths)
        data = _diff(args, root)
        directories = _directories(root, args.paths)
        changes = unified_diff.read(
            data, lambda path: any(os.path.lexists(os.path.join(each, path)) for each in directories)
        )
        found = _by_real_path(changes, directories)
    except (_Refusal, unified_diff.DiffError) as error:
        status.complain(str(error))
        return status.FAILED
    return _check(found, root or os.getcwd(), args)


def _check(changes: Any, root: str, args: Namespace) -> int:
    from jaxlint.cli.check import View, check_workspace
    from jaxlint.project.review import Review
    from jaxlint.project.workspace import survey

    workspace = survey(
        args.paths or [root],
        config=args.config,
        isolated=args.isolated,
        override=lambda settings: options.override(settings, args),
    )
    for problem in workspace.problems:
        status.complain(problem)
    review = Review(changes, workspace.files)
    return check_workspace(workspace, args, View(review.narrow, "what the change touches"))


# ---------------------------------------------------------------- where the files of the diff lie


def _repository(paths: Sequence[str]) -> str:
    """The top of the repository that is looked at: the one of the paths, without any that of this directory."""
    tops = {top_of(os.path.realpath(path)) for path in paths} or {top_of(os.getcwd())}
    if len(tops) > 1:
        raise _Refusal("these paths lie in several repositories, and a diff is of one")
    return tops.pop()


def _directories(root: str, paths: Sequence[str]) -> list[str]:
    """Where names may begin. Beside the top of a repository these are the places that a diff is made in."""
    given = (path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths))
    return list(dict.fromkeys((*([root] if root else []), *given, os.getcwd())))


def _by_real_path(changes: Mapping[str, Any], directories: Sequence[str]) -> dict[str, Any]:
    """The changes by the real paths of their files. Raises _Refusal where none of them is there."""
    from jaxlint.project.review import by_real_path

    found = by_real_path(changes, directories)
    missing = [path for path in found if not os.path.lexists(path)]
    if missing and len(missing) == len(found):
        raise _Refusal(f"nothing that the diff changes is here: there is no {missing[0]}")
    for path in missing:
        status.complain(f"{path}: the diff changes it, but there is no such file")
    return found


# ---------------------------------------------------------------- the diff


def _diff(args: Namespace, root: str) -> bytes:
    if args.diff_file is not None and args.diff_file != _STDIN:
        try:
            with open(args.diff_file, "rb") as stream:
                return stream.read()
        except OSError as error:
            raise _Refusal(f"{args.diff_file}: cannot read: {error.strerror}") from None
    if args.base is None and args.diff_file is None:
        raise _Refusal("review what? Name a commit or branch to compare with, or --diff-file FILE")
    if _STDIN in (args.base, args.diff_file):
        return sys.stdin.buffer.read()
    if not root:
        raise _Refusal("this is no git repository; --diff-file FILE takes a diff from elsewhere")
    return _changed_since(args.base, root)


def _changed_since(base: str, root: str) -> bytes:
    """What was changed since a commit and the current one parted: `git diff BASE...`, with what is not committed.

    The files are analysed as they lie there, so it is with those that the lines have to agree.
    """
    try:
        commit = (
            _git(root, "rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}").strip().decode()
        )
    except _Refusal as error:
        raise _Refusal(f"{base}: not a commit of this repository ({error})") from None
    try:
        parted = _git(root, "merge-base", commit, "HEAD").split()[0].decode()
    except _Refusal as error:
        if str(error):
            raise
        raise _Refusal(
            f"{base} and HEAD have no commit in common here; a shallow clone has too little history for this"
        ) from None
    diff = _git(root, *_DIFF, parted, "--")
    sources = _sources_taken_for_binary(root, parted) if b"Binary files " in diff else []
    if sources:
        diff += _git(root, "--literal-pathspecs", *_DIFF, "--text", parted, "--", *sources)
    return diff


def _sources_taken_for_binary(root: str, parted: str) -> list[str]:
    """The changed files that jaxlint reads and git shows no lines of: because of a null byte, or `-diff`.

    Asking for the lines of every file would print each changed picture.
    """
    from jaxlint.dependencies.names import format_of
    from jaxlint.project.walk import SUFFIXES

    counted = _git(root, "diff", "--numstat", "--no-renames", "-z", parted, "--").split(b"\0")
    paths = [os.fsdecode(line.removeprefix(b"-\t-\t")) for line in counted if line.startswith(b"-\t-\t")]
    return [path for path in paths if path.endswith(SUFFIXES) or format_of(path)]


def _git(root: str, *arguments: str) -> bytes:
    """What git prints. Raises _Refusal with what it complains of."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError as error:
        raise _Refusal(f"cannot run git: {error.strerror}") from None
    if done.returncode:
        raise _Refusal(" ".join(done.stderr.decode("utf-8", "replace").split()))
    return done.stdout
