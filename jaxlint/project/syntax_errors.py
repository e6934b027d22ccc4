"""What is wrong with a file that does not parse: broken code, Python 2, or Python newer than this one."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from jaxlint.columns import split_lines
from jaxlint.project.source import SourceError


class _Grammar(NamedTuple):
    """A piece of grammar: what it is called, the first Python that has it, how a line of it looks."""

    name: str
    since: tuple[int, int]
    line: re.Pattern[str]


_STRING = r"(?<![\w'\"]){prefix}['\"]"

_NEWER = (
    _Grammar("a template string", (3, 14), re.compile(_STRING.format(prefix=r"(?i:t|rt|tr)"))),
    _Grammar("`except` without parentheses", (3, 14), re.compile(r"^\s*except\*?\s+[^(\s][^:]*,")),
    _Grammar(
        "a default of a type parameter", (3, 13), re.compile(r"^\s*(class|def|async\s+def)\s+\w+\[[^\]]*=")
    ),
    _Grammar("a type parameter list", (3, 12), re.compile(r"^\s*(class|def|async\s+def)\s+\w+\s*\[")),
    _Grammar("a `type` statement", (3, 12), re.compile(r"^\s*type\s+\w+\s*(\[.*\])?\s*=")),
    _Grammar("this f-string", (3, 12), re.compile(_STRING.format(prefix=r"(?i:f|rf|fr)"))),
    _Grammar("`except*`", (3, 11), re.compile(r"^\s*except\s*\*")),
)

_PYTHON_2_MESSAGE = re.compile(
    r"Missing parentheses in call to '(print|exec)'|leading zeros in decimal integer"
)
_PYTHON_2_LINE = re.compile(
    r"\s*except\s+([\w.]+|\([^)]*\))\s*,\s*[a-z_]\w*\s*:"
    r"|\s*(print|exec)\s+[\w'\"]"
    r"|\s*raise\s+[\w.]+\s*,"
    r"|\s*def\s+\w+\s*\([^=:()]*\(\w|.*\blambda\s*\("
)
_PYTHON_2_TOKEN = re.compile(r"<>|`|\b\d+[lL]\b|\b[uU][rR]['\"]")
_NEAR = 4  # characters around the place that the parser points at


def explain(error: SyntaxError, text: str) -> SourceError:
    """The sentence for a syntax error."""
    if "null byte" in error.msg:
        return null_byte(text)
    lines = split_lines(text)
    number = min(max(error.lineno or 1, 1), max(len(lines), 1))
    line = lines[number - 1] if lines else ""
    column = min(max(error.offset or 1, 1), len(line.rstrip("\r\n")) + 1)
    message = f"cannot parse: {error.msg}"
    if _is_python_2(error.msg, line, column):
        return SourceError(f"{message} (it looks like Python 2)", number, column)
    grammar = _newer_grammar(line, lines, text)
    if grammar is not None:
        needed, running = ".".join(map(str, grammar.since)), ".".join(map(str, sys.version_info[:2]))
        message = f"cannot parse: {grammar.name} needs Python {needed} or newer to analyse, this is {running}"
    return SourceError(message, number, column)


def _is_python_2(message: str, line: str, column: int) -> bool:
    near = line[max(column - _NEAR, 0) : column + _NEAR]
    return bool(
        _PYTHON_2_MESSAGE.search(message) or _PYTHON_2_LINE.match(line) or _PYTHON_2_TOKEN.search(near)
    )


def null_byte(text: str) -> SourceError:
    """The sentence for a source with a null byte."""
    before = text[: text.find("\0")]
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return SourceError(
        "cannot parse: it contains a null byte, so it is UTF-16 or no text at all", line, column
    )


def _newer_grammar(line: str, lines: list[str], text: str) -> _Grammar | None:
    """The piece of grammar that this Python lacks, if that is all that is wrong.

    libcst brings a parser of its own, which knows more than the `ast` of an old Python: what it accepts is
    not broken. It is lenient about some real errors, so a line that shows the new grammar is needed too.
    """
    newer = [grammar for grammar in _NEWER if grammar.since > sys.version_info[:2]]
    found = next(
        (grammar for place in (line, *lines) for grammar in newer if grammar.line.search(place)), None
    )
    if found is None:
        return None
    try:
        import libcst

        libcst.parse_module(text)
    except Exception:  # a syntax error, or whatever else its parser trips over
        return None
    return found
