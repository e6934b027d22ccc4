"""The comments that suppress findings: where they are and what they name. Strings never count."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from jaxlint.columns import split_lines
from jaxlint.finding import Span
from jaxlint.record import record

_DIRECTIVE = re.compile(r"#\s*jaxlint:\s*(?P<word>ignore-file|ignore)\b(?!-)\s*(?:\[(?P<codes>[^\]#]*)\])?")
_PLAIN_COMMENT = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?<!\s)\#|[^#])*?(?:^|(?<=\s))(?P<comment>\#.*)"""
)
_NEXT_COMMENT = re.compile(r"\s*#\s*[A-Za-z]")
_STRING_STARTS, _STRING_ENDS = (
    {getattr(tokenize, f"{letter}STRING_{end}", None) for letter in "FT"} for end in ("START", "END")
)
# As flake8 reads it: what follows the colon without being a code makes it a bare noqa.
_NOQA = re.compile(r"#\s*noqa\b(?::\s?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


@record
class Code:
    """A code that a comment names, upper case, and where it stands. A name that stands for a code is that code."""

    text: str
    span: Span


@record
class Directive:
    """A comment `# jaxlint: ignore[...]` or, for the whole file, `# jaxlint: ignore-file[...]`.

    `span` runs from its hash to its end or to the next comment within the comment (a noqa, a type comment).
    `slot` is where its codes stand, brackets included; an empty place where it has none.
    """

    span: Span
    codes: tuple[Code, ...]
    whole_file: bool
    slot: Span

    @property
    def line(self) -> int:
        return self.span.line


class Comments:
    """The comments of a source, and what a suppression needs to know of its lines."""

    def __init__(
        self, text: str, *, python: bool = True, aliases: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Read the comments; what follows a place that cannot be tokenized is not read.

        `aliases` are other names of codes (slugs), in lower case.

        In text that is no Python (TOML, YAML, requirements) a comment runs from a hash outside quotes that
        begins its line or follows white space.
        """
        self.lines = split_lines(text)
        self.aliases = aliases
        self.directives: list[Directive] = []
        self.colons: list[tuple[int, int]] = []  # positions (line, column from 1) of every colon
        self._noqa: dict[int, tuple[str, ...]] = {}
        self._commented: set[int] = set()
        self._alone: set[int] = set()
        self._within_strings: set[int] = set()  # lines that end inside one
        self._read() if python else self._read_lines()

    def alone(self, line: int) -> bool:
        """Whether nothing but a comment stands on a line."""
        return line in self._alone

    def takes_comment(self, line: int) -> bool:
        """Whether a comment can stand at the end of a line: it does not end in a string, nor by a backslash."""
        continued = line not in self._commented and self.lines[line - 1].rstrip("\r\n").endswith("\\")
        return not continued and line not in self._within_strings

    def begins_in_string(self, line: int) -> bool:
        """Whether a line goes on with a string that begins above it."""
        return line - 1 in self._within_strings

    def noqa(self, line: int, code: str) -> bool:
        """Whether a noqa comment on a line holds for a code."""
        codes = self._noqa.get(line)
        return codes is not None and (not codes or code.startswith(codes))

    def _read(self) -> None:
        opened: list[int] = []  # lines where f-strings begin, which are several tokens since Python 3.12
        try:
            for token in self._tokens():
                (line, column), (last, _) = token.start, token.end
                if token.type == tokenize.COMMENT:
                    self._comment(token.string, line, column + 1)
                elif token.string == ":" and token.type == tokenize.OP:
                    self.colons.append((line, column + 1))
                elif token.type in _STRING_STARTS:
                    opened.append(line)
                elif token.type in _STRING_ENDS and opened:
                    self._within_strings.update(range(opened.pop(), last))
                elif token.type == tokenize.STRING and line < last:
                    self._within_strings.update(range(line, last))
        except (tokenize.TokenError, SyntaxError):  # a file that does not parse
            return

    def _read_lines(self) -> None:
        for number, line in enumerate(self.lines, start=1):
            found = _PLAIN_COMMENT.match(line.rstrip("\r\n"))
            if found is not None:
                self._comment(found["comment"], number, found.start("comment") + 1)

    def _tokens(self) -> Iterator[tokenize.TokenInfo]:
        # The tokenizer counts lines by line feeds, the parser by any line end.
        rows = (line.rstrip("\r\n") + "\n" for line in self.lines)
        return tokenize.generate_tokens(lambda: next(rows, ""))

    def _comment(self, text: str, line: int, column: int) -> None:
        self._commented.add(line)
        if not self.lines[line - 1][: column - 1].strip():
            self._alone.add(line)
        noqa = _NOQA.search(text)
        if noqa is not None:
            codes = re.split(r"[,\s]+", noqa["codes"].upper()) if noqa["codes"] else ()
            self._noqa[line] = tuple(codes)
        for found in _DIRECTIVE.finditer(text):
            following = _NEXT_COMMENT.search(text, found.end())
            end = following.start() if following else len(text)
            self.directives.append(
                Directive(
                    Span(line, column + found.start(), line, column + end),
                    tuple(self._codes(found, line, column)),
                    found["word"] == "ignore-file",
                    Span(line, column + found.end("word"), line, column + found.end()),
                )
            )

    def _codes(self, found: re.Match[str], line: int, column: int) -> Iterator[Code]:
        if found["codes"] is None:
            return
        for code in re.finditer(r"[^\s,]+", found["codes"]):
            start = column + found.start("codes") + code.start()
            name = self.aliases.get(code[0].lower(), code[0].upper())
            yield Code(name, Span(line, start, line, start + len(code[0])))

    def written(self, code: Code) -> str:
        """A code as the comment has it."""
        return self.lines[code.span.line - 1][code.span.column - 1 : code.span.end_column - 1]
