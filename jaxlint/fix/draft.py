"""A file on its way to being fixed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jaxlint.dependencies.names import format_of
from jaxlint.finding import Edit, Finding, Fix
from jaxlint.fix.apply import apply, compatible
from jaxlint.project import source
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile
from jaxlint.record import replace


class Made(NamedTuple):
    """A draft after some fixes, the findings that were fixed, and those whose fixes would have broken it."""

    draft: Draft
    fixed: list[Finding]
    dropped: list[Finding]


class Draft(NamedTuple):
    """The text of a file as it is to become.

    `before` is what the file held when the draft was begun; `encoding` makes bytes of the text, a byte order mark
    included.
    """

    file: SourceFile
    before: bytes
    text: str
    encoding: str

    @classmethod
    def of(cls, file: SourceFile) -> Draft:
        """The file as it is. Raises SourceError where its text cannot be written back as it was read."""
        data = source.read_bytes(file)
        text, encoding = source.decode(data)
        if text.encode(encoding) != data:
            raise source.SourceError(f"{encoding} cannot give its text back byte for byte")
        return cls(file, data, text, encoding)

    @property
    def data(self) -> bytes:
        """The content of the file."""
        return self.text.encode(self.encoding)

    def as_file(self) -> SourceFile:
        """A file of that content, to look at again."""
        return replace(self.file, data=self.data, tree=None)

    def with_fix(self, fix: Fix) -> Draft | None:
        """The file with one fix made, None where the result would be no program of its kind."""
        return self._with([fix])

    def fixed(self, findings: Sequence[Finding]) -> Made:
        """All fixes of these findings that can be made together, earlier ones first."""
        if not findings:
            return Made(self, [], [])
        together = compatible([fix for finding in findings if (fix := finding.fix) is not None])
        draft = self._with(together)
        if draft is not None:
            return Made(draft, [finding for finding in findings if finding.fix in together], [])
        return self._one_by_one(findings)

    def _one_by_one(self, findings: Sequence[Finding]) -> Made:
        """What is good of fixes that together are not."""
        made = Made(self, [], [])
        fixes: list[Fix] = []
        for finding in findings:
            if finding.fix is None or len(compatible([*fixes, finding.fix])) <= len(fixes):
                continue
            draft = self._with([*fixes, finding.fix])
            if draft is None:
                made.dropped.append(finding)
            else:
                fixes.append(finding.fix)
                made = Made(draft, [*made.fixed, finding], made.dropped)
        return made

    def _with(self, fixes: Iterable[Fix]) -> Draft | None:
        edits: dict[Edit, None] = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
        try:
            draft = self._replace(text=apply(self.text, edits))
            _ = draft.data  # a character that the file's encoding lacks
        except ValueError:
            return None
        return draft if draft._is_sound(self) else None

    def _is_sound(self, before: Draft) -> bool:
        """Whether Python, or what else reads a file of that name, takes the text as it took the one before."""
        if not self._is_read_back():
            return False
        if format_of(self.file.path):
            return not self.file.path.endswith(".toml") or _is_toml(self.text)
        try:
            source.parse(self.text)
        except source.SourceError:
            return False
        return _compiles(self.text) or not _compiles(before.text)

    def _is_read_back(self) -> bool:
        """Whether the bytes are the text by the encoding that they declare: its comment may have gone or come."""
        try:
            return source.decode(self.data)[0] == self.text
        except source.SourceError:
            return False


def _compiles(text: str) -> bool:
    """Whether Python takes more than the syntax: a name may be global too late, a `return` stand outside."""
    try:
        with_deep_stack(lambda: _compile(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _compile(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "<fixed>", "exec", dont_inherit=True)


def _is_toml(text: str) -> bool:
    from jaxlint.project.toml import TomlError, parse

    try:
        parse(text, "")
    except TomlError:
        return False
    return True
