"""`jaxlint targets`: what `check --confirm --target` can compile for, and what that takes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxlint.cli import status
from jaxlint.confirm.availability import Availability, availability
from jaxlint.confirm.targets import GPU, Target, every_target, resolve

_GIB = 1 << 30
_PATIENCE = 60.0  # seconds for the interpreter to answer


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser("targets", help="list what --confirm can compile for")
    parser.add_argument(
        "--python", metavar="EXE", default="", help="the interpreter that has the project's jax"
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument("--dump", action="store_true", help="print what XLA knows of the GPU of this machine")


def run(args: argparse.Namespace) -> int:
    """List the targets, or dump the description of a real GPU."""
    from jaxlint.confirm.interpreter import NoInterpreter
    from jaxlint.confirm.process import Raised, Unanswered

    try:
        python = _interpreter(args.python)
        if args.dump:
            print(_ask(python, "target_config", resolve(GPU).environment), end="")
        else:
            _list(_ask(python, "installed", {}), args.output_format)
    except Raised as error:
        status.complain(error.message)
        return status.FAILED
    except (NoInterpreter, Unanswered) as error:
        status.complain(str(error))
        return status.FAILED
    return status.CLEAN


def _interpreter(asked: str) -> str:
    from jaxlint.confirm import interpreter
    from jaxlint.project.workspace import survey

    return interpreter.find(asked, survey(["."], []).project)


def _ask(python: str, question: str, environment: Mapping[str, str]) -> Any:
    from jaxlint.confirm.process import Worker

    with Worker(python, directory=str(Path.cwd()), environment=environment, preload=False) as worker:
        return worker.ask(question, timeout=_PATIENCE)


def _list(installed: Mapping[str, Any], output_format: str) -> None:
    found = [(target, availability(target, installed)) for target in every_target()]
    if output_format == "json":
        print(json.dumps([_record(target, state) for target, state in found], indent=2))
        return
    jax = installed["packages"]["jax"]
    print(f"{installed['executable']} (Python {installed['python']}, {f'jax {jax}' if jax else 'no jax'})")
    rows = [(target.name, *_chip(target), "ready" if state.ready else "missing") for target, state in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for line in _remarks(found):
        print(line)


def _chip(target: Target) -> tuple[str, str]:
    if target.chip is None:
        return "", ""
    return target.chip.name, f"{target.chip.memory / _GIB:.1f} GiB"


def _remarks(found: Iterable[tuple[Target, Availability]]) -> Iterable[str]:
    """Each reason once, for all kinds of target that it holds for, and under it what to install."""
    kinds: dict[Availability, list[str]] = {}
    for target, state in found:
        listed = kinds.setdefault(state, [])
        if target.kind not in listed:
            listed.append(target.kind)
    for state, names in kinds.items():
        yield f"{', '.join(names)}: {state.reason}"
        if state.install:
            yield f"    {state.install}"


def _record(target: Target, state: Availability) -> dict[str, Any]:
    return {
        "target": target.name,
        "chip": target.chip and target.chip.name,
        "memory_bytes": target.capacity,
        "source": target.chip and target.chip.source,
        "ready": state.ready,
        "reason": state.reason,
        "install": state.install or None,
    }
