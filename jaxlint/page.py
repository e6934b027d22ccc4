"""A rule's page: specification, documentation and test in one Markdown file.

    ---
    code: JAX103
    slug: jit-in-loop
    since: 0.1.0
    status: stable
    severity: warning
    fix: unsafe
    summary: One sentence.
    ---
    # JAX103 jit-in-loop
    ## What it does
    ...

Fences say what their code is for: `python bad` (each expected finding marked by a trailing `# JAX103` on its
line), `python fixed` (what the fixes make of the bad block before it), `python good`, and `python measure`
(prints what the `text` block after it shows). A fence without such a word only illustrates. Options stand
in brackets: `[file=pkg/train.py]` where an example needs several modules (such blocks of one kind with
nothing but blank lines between them are one example), `[jax=0.8]` for the version the code is judged by, and
`[process=own]` for a measurement that must not share a process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint import front_matter
from jaxlint.rule import Meta, RuleError

HEADINGS = (
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "When it stays silent",
    "Fix safety",
    "Measured",
    "Source",
)
KINDS = ("bad", "fixed", "good", "measure", "output")
DEFAULT_FILE = "example.py"

_MARK = re.compile(r"[ \t]*#[ \t]*(?P<codes>[A-Z]{2,}\d{3}(?:[ \t]*,[ \t]*[A-Z]{2,}\d{3})*)[ \t]*$")
_OPTION = re.compile(r"(\w+)=([^\s,\]]+)")


@dataclass(frozen=True, slots=True)
class Mark:
    """An expected finding: its line in the block (from 1) and its code."""

    line: int
    code: str


@dataclass(frozen=True, slots=True)
class Block:
    """One fence. `source` is its text without the marks, `line` the page's line of the fence."""

    language: str
    kind: str  # one of KINDS, or "" for an illustration
    file: str
    options: dict[str, str]
    source: str
    marks: tuple[Mark, ...]
    line: int

    @property
    def end(self) -> int:
        """The page's line of the closing fence."""
        return self.line + self.source.count("\n") + 1


@dataclass(frozen=True, slots=True)
class Example:
    """What is judged or run together: the modules of one program.

    `fixed` are the modules as the fixes leave them (bad examples only), `output` what a measurement prints.
    """

    kind: str
    blocks: tuple[Block, ...]
    fixed: tuple[Block, ...] = ()
    output: str | None = None

    @property
    def line(self) -> int:
        return self.blocks[0].line

    @property
    def sources(self) -> dict[str, str]:
        """The text of each file, by path."""
        return {block.file: block.source for block in self.blocks}

    @property
    def options(self) -> dict[str, str]:
        return {key: value for block in self.blocks for key, value in block.options.items()}


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page: the lines as they are, and what they mean."""

    meta: Meta
    lines: tuple[str, ...]
    start: int  # how many lines the front matter takes
    sections: dict[str, str]
    blocks: tuple[Block, ...]
    examples: tuple[Example, ...]

    def body(self, fence: Callable[[Block], str]) -> str:
        """Everything below the front matter, with each fence opened by what `fence` says."""
        lines = list(self.lines)
        for block in self.blocks:
            lines[block.line - 1] = fence(block)
        return "\n".join(lines[self.start :]).strip() + "\n"


def read(path: Path | str) -> Page:
    """The whole page. Raises RuleError with the line of what is wrong."""
    name = str(path)
    meta = front_matter.read(path)
    lines = tuple(Path(path).read_text(encoding="utf-8").split("\n"))
    start = next(number for number, line in enumerate(lines) if number and line.rstrip() == "---") + 1
    blocks = tuple(_blocks(name, lines, start))
    inside = {line for block in blocks for line in range(block.line, block.end)}
    return Page(
        meta=meta,
        lines=lines,
        start=start,
        sections=_sections(name, meta, lines, start, inside),
        blocks=blocks,
        examples=tuple(_examples(name, lines, blocks)),
    )


def _sections(path: str, meta: Meta, lines: Sequence[str], start: int, inside: set[int]) -> dict[str, str]:
    """The text below each heading. Lines inside fences are not headings."""
    title = ""
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(lines[start:], start=start + 1):
        if number in inside or not line.startswith(("# ", "## ")):
            if current is not None:
                current.append(line)
        elif line.startswith("# "):
            title = line[2:].strip()
            if title != f"{meta.code} {meta.slug}":
                raise RuleError(path, number, f"the title is {title!r}, not '{meta.code} {meta.slug}'")
        else:
            heading = line[3:].strip()
            if heading not in HEADINGS:
                raise RuleError(path, number, f"unknown heading {heading!r} (known: {', '.join(HEADINGS)})")
            if any(HEADINGS.index(known) >= HEADINGS.index(heading) for known in sections):
                raise RuleError(path, number, f"heading {heading!r} is repeated or out of order")
            current = sections[heading] = []
    if not title:
        raise RuleError(path, start, f"the page has no title '# {meta.code} {meta.slug}'")
    return {heading: "\n".join(text).strip() for heading, text in sections.items()}


def _blocks(path: str, lines: Sequence[str], start: int) -> Iterator[Block]:
    opened: int | None = None
    for number, line in enumerate(lines[start:], start=start + 1):
        if opened is None:
            if line.startswith("```"):
                opened = number
        elif line.rstrip() == "```":
            yield _block(path, lines[opened - 1], lines[opened : number - 1], opened)
            opened = None
    if opened is not None:
        raise RuleError(path, opened, "this fence has no end")


def _block(path: str, fence: str, lines: Sequence[str], number: int) -> Block:
    words, _, options = fence[3:].partition("[")
    language, kind = (*words.split(), "", "")[:2]
    if kind and kind not in KINDS:
        raise RuleError(path, number, f"unknown kind of fence {kind!r} (known: {', '.join(KINDS)})")
    settings = dict(_OPTION.findall(options))
    marks = [
        Mark(row, code.strip())
        for row, line in enumerate(lines, start=1)
        if kind and (found := _MARK.search(line))
        for code in found["codes"].split(",")
    ]
    if marks and kind != "bad":
        raise RuleError(path, number + marks[0].line, f"a {kind} block expects no finding")
    return Block(
        language=language,
        kind=kind,
        file=settings.pop("file", DEFAULT_FILE),
        options=settings,
        source="".join(f"{_MARK.sub('', line) if kind else line}\n" for line in lines),
        marks=tuple(marks),
        line=number,
    )


def _examples(path: str, lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[Example]:
    """Group what belongs together: modules of one program, the fixed form, the output of a measurement."""
    pending: Example | None = None
    end = 0  # the page's last line of the block before
    for block in blocks:
        follows = pending is not None and not "".join(lines[end : block.line - 1]).strip()
        end = block.end
        if pending is not None:
            if block.kind == "fixed" and pending.kind == "bad":
                pending = Example(pending.kind, pending.blocks, (*pending.fixed, block))
                continue
            if follows and pending.kind == "measure" and block.language == "text" and pending.output is None:
                pending = Example(pending.kind, pending.blocks, output=block.source)
                continue
            if follows and block.kind == pending.kind and _one_program(pending, block):
                pending = Example(pending.kind, (*pending.blocks, block))
                continue
            yield pending
            pending = None
        if block.kind in ("fixed", "output"):
            raise RuleError(path, block.line, f"this {block.kind} block follows nothing it could belong to")
        if block.kind:
            pending = Example(block.kind, (block,))
    if pending is not None:
        yield pending


def _one_program(example: Example, block: Block) -> bool:
    files = {known.file for known in example.blocks}
    return not example.fixed and DEFAULT_FILE not in files | {block.file} and block.file not in files
