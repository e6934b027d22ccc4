"""JAX503: an environment variable is set after jax has read it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from jaxlint.columns import split_lines
from jaxlint.finding import Applicability, Edit, Finding, Fix, Place, Related, Span
from jaxlint.flow.facts import ConfigChange
from jaxlint.jax_api.options import OPTIONS
from jaxlint.jax_api.runtime import CLIENT_TIME_VARIABLES
from jaxlint.pattern import pattern
from jaxlint.rule import Confidence, Rule

from ._moved import means_the_same_above

if TYPE_CHECKING:
    from jaxlint.context import Context

# Libraries that start processes: those read the environment afresh.
_STARTERS = ("subprocess", "multiprocessing", "concurrent.futures", "torch.multiprocessing")
# Of `os`: what reads or clears the environment, or starts processes that inherit it.
_READERS = ("getenv", "unsetenv", "system", "popen", "fork", "forkpty", "execv", "execvp", "execl", "execlp")
# Comments that are not about the statement below them alone: of formatters and linters, cells, folds.
_MARKER = pattern(
    r"#\s*(%%|In ?\[|[A-Z ]*={3}|-{3}|(end)?region\b|(fmt|isort|ruff|yapf|pylint|mypy|pragma)\b)"
)


class EnvTooLate(Rule):
    """`JAX_*` is set after jax was imported, or a client option after the client was made."""

    def suspect(self, fact: ConfigChange) -> bool:
        return fact.how == "environ" and _too_late(fact) is not None

    def check(self, fact: ConfigChange, ctx: Context) -> Iterator[Finding]:
        passed = _too_late(fact)
        starts_processes = any(name.startswith(_STARTERS) for name in ctx.aliases)
        if passed is None or (starts_processes and fact.symbol):
            return
        variable = _variable(fact)
        where = f"on line {passed.span.line}" + (f" of {passed.path}" if passed.path != ctx.path else "")
        if variable.lower() in OPTIONS:
            message = (
                f"Setting `{variable}` here does nothing: jax read it when it was imported {where}. Set it "
                f'above that import, or call `jax.config.update("{variable.lower()}", ...)`.'
            )
            why = "jax is imported here"
        else:
            message = (
                f"Setting `{variable}` here does nothing: the backend started {where} and read it then. "
                "Set it above the import of jax."
            )
            why = "the backend is started here"
        yield self.finding(
            fact,
            message,
            confidence=Confidence.MEDIUM if starts_processes else Confidence.HIGH,
            related=[Related(passed, why)],
            fix=self._move(fact, ctx),
        )

    def _move(self, fact: ConfigChange, ctx: Context) -> Fix | None:
        """Move every late setting of the module above the import, in one fix at the first of them."""
        if _is_read_elsewhere(ctx):
            return None
        late = [
            other for other in ctx.facts(ConfigChange) if self.suspect(other) and other.place.path == ctx.path
        ]
        if not late or fact != late[0] or fact.after_jax_import is None:
            return None
        lines = split_lines(ctx.source)
        above = _start(fact.after_jax_import.span, ctx)
        moved = [_lines(other, above, lines, ctx) for other in late] if above else []
        if not moved or not all(moved):
            return None
        runs = dict.fromkeys(run for run in moved if run is not None)
        text = "".join("".join(lines[run.start : run.stop]) for run in runs)
        gone = (_with_blank_lines(run, lines) for run in _merged(runs))
        edits = (
            Edit(Span(above, 1, above, 1), text),
            *(Edit(Span(run.start + 1, 1, run.stop + 1, 1), "") for run in gone),
        )
        # A module of the project may set or read the variable while it is imported.
        last = max(run.stop for run in runs)
        own = any(_is_own(s, ctx) for s in ctx.focus.tree.body if above <= s.lineno <= last)
        kind = Applicability.UNSAFE if own else Applicability.SAFE
        return Fix("Move the setting above the import of jax", kind, edits)


def _too_late(fact: ConfigChange) -> Place | None:
    """What has already read the variable."""
    variable = _variable(fact)
    if variable.startswith(CLIENT_TIME_VARIABLES):
        return fact.after_device_use
    return fact.after_jax_import if variable.lower() in OPTIONS else None


def _variable(fact: ConfigChange) -> str:
    return fact.option.upper()


def _start(jax_import: Span, ctx: Context) -> int:
    """The line, from 1, of the first statement of the module that may import jax, and of its comment; 0 where
    another statement stands on that line, too."""
    statement = next(
        s for s in ctx.focus.tree.body if s.lineno <= jax_import.line <= (s.end_lineno or 0) or _may_import(s)
    )
    return _with_comment(statement.lineno - 1, ctx) + 1 if statement.col_offset == 0 else 0


def _may_import(statement: ast.stmt) -> bool:
    """Whether a statement with others in it imports more than the standard library, whose modules import no jax."""
    if not isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        return False
    modules: list[str] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module if node.module and not node.level else "")
    return any(name.partition(".")[0] not in sys.stdlib_module_names for name in modules)


def _with_comment(first: int, ctx: Context) -> int:
    """The first line (from 0) of the comment right above a line, or the line itself. What speaks to a tool or
    starts a cell is about more than one statement. A line of a string may look like a comment, too."""
    from jaxlint.project.comments import Comments

    comments = Comments(ctx.source)
    while comments.alone(first) and _is_about_the_next(comments.lines[first - 1]):
        first -= 1
    return first


def _is_about_the_next(line: str) -> bool:
    return line.startswith("#") and not _MARKER.match(line)


def _lines(fact: ConfigChange, above: int, lines: list[str], ctx: Context) -> range | None:
    """The lines (from 0) of a statement that can stand above the import as it is."""
    import libcst as cst

    node = ctx.node(fact.place)
    if node is None or not fact.value_known:
        return None
    around = [node, *ctx.parents(node)]
    statement = next((p for p in around if isinstance(p, cst.SimpleStatementLine)), None)
    if statement is None or len(statement.body) != 1:
        return None
    if not isinstance(next(ctx.parents(statement), None), cst.Module):
        return None
    span = ctx.span(statement)
    environment = re.split(r"[.\[(]", lines[span.line - 1], maxsplit=1)[0].strip()
    if environment not in _imported(ctx.focus.tree, above):
        return None
    same = next((s for s in ctx.focus.tree.body if s.lineno == span.line), None)
    if same is None or not means_the_same_above(same, above, ctx.focus.tree):
        return None
    return range(_with_comment(span.line - 1, ctx), span.end_line)


def _is_own(statement: ast.stmt, ctx: Context) -> bool:
    """Whether a statement imports, also below an `if` or `try`, from the project itself."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ImportFrom) and (node.level or any(a.name == "*" for a in node.names)):
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            if not set(ctx.own_imports).isdisjoint(bound):
                return True
    return False


def _imported(tree: ast.Module, line: int) -> set[str]:
    """The names of `os` or its `environ` that the module's imports above a line bind."""
    bound: set[str] = set()
    for statement in tree.body:
        if statement.lineno >= line:
            break
        if isinstance(statement, ast.Import):
            of_os = [n for n in statement.names if n.name == "os" or (n.name[:3] == "os." and not n.asname)]
            bound.update(n.asname or "os" for n in of_os)
        elif isinstance(statement, ast.ImportFrom) and statement.module == "os" and not statement.level:
            bound.update(n.asname or n.name for n in statement.names if n.name in ("environ", "putenv"))
    return bound


def _is_read_elsewhere(ctx: Context) -> bool:
    """Whether the module does more with the environment than set it, or starts processes that inherit it."""
    tree = ctx.focus.tree
    if any(name.startswith(_STARTERS) for name in ctx.aliases):
        return True
    environments = {"environ", *(a for a in (ctx.aliases.get("os.environ"),) if a)}
    written = {
        id(target.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript)
    }
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _READERS or (name in environments and id(node) not in written):
            return True
    return False


def _merged(runs: Iterable[range]) -> list[range]:
    """Neighbouring runs of lines as one."""
    merged: list[range] = []
    for run in sorted(runs, key=lambda run: run.start):
        if merged and merged[-1].stop == run.start:
            merged[-1] = range(merged[-1].start, run.stop)
        else:
            merged.append(run)
    return merged


def _with_blank_lines(run: range, lines: list[str]) -> range:
    """The run and as many blank lines below it as leave the larger of the two gaps around it; at the end of the
    file those above it."""

    def blank(found: Iterable[str]) -> int:
        return sum(1 for _ in takewhile(lambda line: not line.strip(), found))

    if run.stop == len(lines):
        return range(run.start - blank(reversed(lines[: run.start])), run.stop)
    both = min(blank(reversed(lines[: run.start])), blank(lines[run.stop :]))
    return range(run.start, run.stop + both)
