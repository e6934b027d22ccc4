"""What fixes change, as a unified diff."""

from __future__ import annotations

import difflib

from jaxlint.columns import split_lines
from jaxlint.fix.draft import Draft

_NO_END = "\\ No newline at end of file"


def unified(draft: Draft) -> bytes:
    """The diff of a file, in the file's own encoding and with its own line ends, so that it can be applied."""
    encoding = draft.encoding.removesuffix("-sig")
    mark = "" if encoding == draft.encoding else "\ufeff"  # part of the file's first line
    before, after = (split_lines(mark + text) for text in (draft.before.decode(draft.encoding), draft.text))
    lines = difflib.unified_diff(before, after, draft.file.path, draft.file.path)
    text = "".join(line if line.endswith(("\n", "\r")) else f"{line}\n{_NO_END}\n" for line in lines)
    return text.encode(encoding)
