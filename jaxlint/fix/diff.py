"""What fixes change, as a unified diff."""

from __future__ import annotations

import difflib
import os
import re

from jaxlint.fix.draft import Draft

_NO_END = b"\\ No newline at end of file"
# Programs that apply a diff know no other end of a line: a carriage return alone stands within one.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def unified(draft: Draft) -> bytes:
    """The diff of a file, in the file's own encoding and with its own line ends, so that it can be applied."""
    encoding = draft.encoding.removesuffix("-sig")
    mark = "" if encoding == draft.encoding else "\ufeff"  # part of the file's first line
    texts = draft.before.decode(draft.encoding), draft.text
    before, after = (_LINE.findall(mark + text) for text in texts)
    _, _, *lines = difflib.unified_diff(before, after)
    name = _name(draft.file.path)
    made = [b"--- " + name, b"+++ " + name]
    for line in lines:
        made.append(line.removesuffix("\n").encode(encoding))
        made += [] if line.endswith("\n") else [_NO_END]
    return b"\n".join((*made, b""))


def _name(path: str) -> bytes:
    """A name as git writes it: in quotes, with escapes, where it has signs that do not print, or is no text."""
    data = os.fsencode(path)
    try:
        data.decode()
    except UnicodeDecodeError:
        plain = False
    else:
        plain = not any(byte < 32 or byte in (34, 92, 127) for byte in data)
    if plain:
        return data
    escaped = (
        f"\\{_ESCAPED[b]}" if b in _ESCAPED else chr(b) if 32 <= b < 127 else f"\\{b:03o}" for b in data
    )
    return f'"{"".join(escaped)}"'.encode()
