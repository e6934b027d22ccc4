"""The command line: finds the command and hands over. A command is a module, imported when asked for."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from argparse import PARSER, REMAINDER, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from jaxlint import __version__
from jaxlint.cli import status

# A command's module has `add_parser(subparsers)` and `run(args) -> int`.
COMMANDS = ("check", "review", "record", "explain", "rules", "oom", "triage", "preflight", "targets")
DEFAULT = "check"

_DESCRIPTION = (
    "Finds silent recompilation, host memory growth and device memory waste in JAX code, before the run."
)
_EPILOG = (
    "`jaxlint PATHS` is `jaxlint check PATHS`. A directory with the name of a command is written `./rules`."
)


class _Parser(ArgumentParser):
    """A parser, and those of its commands, that takes options as they are written."""

    _again = False

    def __init__(self, **options: Any) -> None:
        # A width of its own spares every run the import of shutil, which argparse would ask for one.
        super().__init__(formatter_class=lambda prog: HelpFormatter(prog, width=80), **options)
        self.allow_abbrev = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, and paths may stand behind options, too: `review main --exit-zero src`."""
        parsed, left = super().parse_known_args(args, namespace)
        whole = any(a.nargs in (PARSER, REMAINDER) for a in self._actions)
        if whole or self._again or not left or all(word.startswith("-") for word in left):
            return parsed, left
        self._again = True  # it asks this method for the options, and for the rest
        return self.parse_known_intermixed_args(args, namespace)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status. What goes wrong is one line on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _show_what_cannot_be_encoded()
        result = _run(arguments)
        sys.stdout.flush()
        return result
    except BrokenPipeError:  # whoever read our output has had enough
        _write_no_more()
        return status.FAILED
    except KeyboardInterrupt:
        return status.INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            _write_no_more()
            status.complain(f"cannot write: {error.strerror}")
            return status.FAILED
        return _failed(error)


def _write_no_more() -> None:
    """Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] == "--version":
        return _version()
    asks_for_help = bool(arguments) and arguments[0] in ("-h", "--help")
    if not asks_for_help and (not arguments or arguments[0] not in COMMANDS):
        arguments.insert(0, DEFAULT)
    parser = _Parser(prog="jaxlint", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="store_true", help="show the version")
    subparsers = parser.add_subparsers(prog="jaxlint", dest="command", metavar="COMMAND", required=True)
    modules = {
        name: importlib.import_module(f"jaxlint.cli.{name}")
        for name in (COMMANDS if asks_for_help else arguments[:1])
    }
    for module in modules.values():
        module.add_parser(subparsers)
    args = parser.parse_args(arguments)
    run: Callable[[Namespace], int] = modules[args.command].run
    return run(args)


def _version() -> int:
    from jaxlint.project import foreign

    print(f"jaxlint {__version__}")
    notice = foreign.notice()
    if notice:
        status.complain(notice)
    return status.CLEAN


def _show_what_cannot_be_encoded() -> None:
    """File names and sources hold characters that a terminal's encoding may lack."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _failed(error: Exception) -> int:
    from jaxlint.confirm import ConfirmError
    from jaxlint.project.baseline import BaselineError
    from jaxlint.project.settings import SettingsError
    from jaxlint.project.toml import TomlError
    from jaxlint.rule import RuleError

    if isinstance(error, (SettingsError, TomlError, RuleError, BaselineError, ConfirmError)):
        status.complain(str(error))
        if isinstance(error, SettingsError) and error.unknown_key:
            from jaxlint.project import foreign

            notice = foreign.notice()
            if notice:
                status.complain(notice)
        return status.FAILED
    if os.environ.get("JAXLINT_TRACEBACK"):
        raise error
    message = " ".join(f"{type(error).__name__}: {error}".split())
    status.complain(f"internal error: {message} (JAXLINT_TRACEBACK=1 shows where; please report it)")
    return status.FAILED
