"""`jaxlint explain CODE`: the rule's page, and `explain symptoms`: the way from a symptom to the rules."""

from __future__ import annotations

import argparse
import sys

from jaxlint import page, registry
from jaxlint.cli import status
from jaxlint.engine_codes import EngineCode
from jaxlint.rule import Meta

SYMPTOMS = "symptoms"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("explain", help="show what a rule flags, why, and what to write instead")
    parser.add_argument(
        "rule",
        metavar="CODE",
        help="a code or a slug (JAX103, jit-in-loop), or `symptoms`: what a run shows, and what is behind it",
    )


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    try:
        text = _symptoms() if args.rule == SYMPTOMS else _text(registry.find(args.rule, registry.load()))
    except registry.SelectorError as error:
        status.complain(str(error))
        return status.FAILED
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="")
    return status.CLEAN


def _symptoms() -> str:
    from jaxlint.triage.symptom_page import page

    return page()


def _text(subject: Meta | EngineCode) -> str:
    if isinstance(subject, EngineCode):
        kind = f"{subject.severity.value}, reported by the engine itself"
        text = f"# {subject.code} {subject.slug}\n\n{kind}\n\n{subject.summary}\n"
        return f"{text}\n{subject.details}" if subject.details else text
    title, _, rest = page.read(subject.page).body(lambda block: f"```{block.language}").partition("\n")
    kind = f"{subject.severity.value}, {subject.status} since {subject.since}, fix: {subject.fix}"
    return f"{title}\n\n{kind}\n\n{rest.lstrip()}"
