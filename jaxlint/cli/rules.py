"""`jaxlint rules`: what rules there are, and the two files that a new one begins with."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from pathlib import Path

from jaxlint import __version__, front_matter, registry
from jaxlint.cli import status
from jaxlint.rule import Meta

# The folder of each hundred of codes.
FOLDERS = {
    "JAX1": "retrace",
    "JAX2": "trace",
    "JAX3": "device_memory",
    "JAX4": "host_memory",
    "JAX5": "config",
    "JAX6": "precision",
    "JAX7": "dependencies",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("rules", help="list the rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    actions = parser.add_subparsers(dest="action", metavar="new")
    new = actions.add_parser("new", help="begin a rule in a source checkout: its module and its page")
    new.add_argument("code", metavar="CODE", help="a free code, such as JAX115")
    new.add_argument("slug", metavar="slug", help="what is found, in kebab case: jit-in-loop")


def run(args: argparse.Namespace) -> int:
    """List the rules, or begin a new one."""
    try:
        metas = [rule.meta for rule in registry.load()]
        if args.action == "new":
            for path in _begin(Path.cwd(), args.code, args.slug, metas):
                print(path)
        else:
            print(_json(metas) if args.output_format == "json" else _table(metas))
    except _Refusal as error:
        status.complain(str(error))
        return status.FAILED
    return status.CLEAN


def _json(metas: Iterable[Meta]) -> str:
    keys = ("code", "slug", "since", "status", "severity", "fix", "summary")
    return json.dumps([{key: getattr(meta, key) for key in keys} for meta in metas], indent=2)


def _table(metas: Iterable[Meta]) -> str:
    rows = [(m.code, m.slug, m.severity.value, m.status, f"fix: {m.fix}", m.summary) for m in metas]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


# ---------------------------------------------------------------- a new rule


class _Refusal(Exception):
    """Why no rule is begun."""


def _begin(start: Path, code: str, slug: str, metas: Iterable[Meta]) -> list[Path]:
    """Write the module and the page of a new rule below the checkout that holds `start`."""
    code = code.upper()
    folder = FOLDERS.get(code[:4])
    if folder is None or not front_matter.CODE.fullmatch(code):
        raise _Refusal(
            f"{code} is not a rule's code: JAX and three digits, of which the first says the folder"
        )
    if not front_matter.SLUG.fullmatch(slug):
        raise _Refusal(
            f"{slug!r} is not a slug: small letters and digits with hyphens between, such as jit-in-loop"
        )
    taken = {meta.code: meta for meta in metas}
    if code in taken or code in registry.REDIRECTS:
        raise _Refusal(
            f"{code} is taken{_taken_by(code, taken)}; the next free code is {_next_free(code, taken)}"
        )
    if slug in {meta.slug for meta in taken.values()}:
        raise _Refusal(f"there is a rule {slug} already")
    directory = _checkout(start) / "rules" / folder
    if not directory.is_dir():
        raise _Refusal(f"{directory} does not exist: make the package and name it in pyproject.toml first")
    name = slug.replace("-", "_")
    if re.match(r"\d", name):
        raise _Refusal(f"{name} cannot be a module's name: begin the slug with a letter")
    files = {directory / f"{name}.py": _module(slug), directory / f"{name}.md": _page(code, slug)}
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files)


def _taken_by(code: str, taken: dict[str, Meta]) -> str:
    return f" by {taken[code].slug}" if code in taken else ""


def _next_free(code: str, taken: dict[str, Meta]) -> str:
    hundred = code[:4]
    numbers = (f"{hundred}{number:02}" for number in range(1, 100))
    return next((c for c in numbers if c > code and c not in taken and c not in registry.REDIRECTS), "none")


def _checkout(start: Path) -> Path:
    for directory in (start, *start.parents):
        if (directory / "jaxlint" / "rule.py").is_file() and (directory / "rules").is_dir():
            return directory
    raise _Refusal(f"{start} is not inside a source checkout of jaxlint")


def _module(slug: str) -> str:
    name = "".join(word.capitalize() for word in slug.split("-"))
    return f'''"""What makes this hazard one, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding
from jaxlint.flow.facts import JitCall
from jaxlint.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class {name}(Rule):
    """One line."""

    def suspect(self, fact: JitCall) -> bool:
        return False

    def check(self, fact: JitCall, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        yield self.finding(fact, "What happens, with the user's names. The remedy in one clause.")
'''


def _page(code: str, slug: str) -> str:
    return f"""---
code: {code}
slug: {slug}
since: {__version__}
status: preview
severity: warning
fix: none
summary: What it flags, in one sentence.
---
# {code} {slug}

## What it does

## Why is this bad?

## Example

```python bad
import jax

step = jax.jit(lambda x: x + 1)  # {code}
```

## Use instead

```python good
import jax
```

## When it stays silent

## Fix safety

There is no fix.

## Measured

## Source
"""
