"""A file's text and syntax tree, or one clear sentence why there is none."""

from __future__ import annotations

import ast
import codecs
import warnings
from typing import NamedTuple

from jaxlint.engine_codes import CANNOT_PARSE
from jaxlint.finding import Finding, Place, Span
from jaxlint.index.scalar_replacement import replace_containers
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.files import SourceFile


class SourceError(Exception):
    """A file cannot be analysed. `line` and `column` count from 1, in code points."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def finding(self, path: str) -> Finding:
        """The error as a JAX001 finding."""
        span = Span(self.line, self.column, self.line, self.column + 1)
        return CANNOT_PARSE.finding(Place(path, span), self.message)


class Source(NamedTuple):
    """A file as text. `tree` is None exactly when there is an `error`; `text` may be there all the same.

    `encoding` is what the text has to be encoded with to give the file again ("utf-8-sig" with a byte order
    mark, which is not part of the text).
    """

    text: str
    encoding: str
    tree: ast.Module | None
    error: SourceError | None = None


def read(file: SourceFile) -> Source:
    """Read, decode and parse a file. Never raises: what goes wrong is the source's `error`."""
    text, encoding = "", "utf-8"
    try:
        text, encoding = decode(read_bytes(file))
        return Source(text, encoding, file.tree or parse(text))
    except SourceError as error:
        return Source(text, encoding, None, error)


def read_bytes(file: SourceFile) -> bytes:
    """The content of a file. Raises SourceError when it vanished or cannot be read."""
    if file.data is not None:
        return file.data
    try:
        with open(file.absolute, "rb") as stream:
            return stream.read()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise SourceError(f"cannot read: {getattr(error, 'strerror', None) or error}") from None


def decode(data: bytes) -> tuple[str, str]:
    """The text of a source and its encoding, by byte order mark and PEP 263 comment. Raises SourceError."""
    encoding = declared_encoding(data)
    try:
        return data.decode(encoding), encoding
    except (LookupError, UnicodeError) as error:
        if not isinstance(error, UnicodeDecodeError):  # a codec that is none of text
            raise SourceError(f"cannot decode: {error}") from None
        line = data.count(b"\n", 0, error.start) + 1
        begin = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode(encoding, "replace")) + 1
        byte = data[error.start]
        raise SourceError(
            f"cannot decode: byte 0x{byte:02x} is not {encoding.removesuffix('-sig')}; a comment"
            " `# -*- coding: ... -*-` on the first line declares another encoding",
            line,
            column,
        ) from None


def declared_encoding(data: bytes) -> str:
    """The encoding that a source declares for itself, "utf-8" when it says nothing. Raises SourceError."""
    start = data[:4096]
    if b"coding" not in start:  # the usual case, without the cost of importing tokenize
        return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    import io
    import tokenize

    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if data.startswith(codecs.BOM_UTF8):
            message = "its byte order mark says UTF-8, its comment another encoding"
            raise SourceError(f"cannot decode: {message}") from None
        if "invalid or missing" in str(error):
            return "utf-8"  # a byte beyond ASCII, and no declaration: decoding will say where
        raise SourceError(f"cannot decode: {error}") from None


def parse(text: str) -> ast.Module:
    """The syntax tree of a source, however deep. Raises SourceError."""
    try:
        return _parse(text)
    except SyntaxError as error:
        from jaxlint.project.syntax_errors import explain

        raise explain(error, text) from None
    except ValueError as error:  # a null byte, before Python 3.12, or half of a surrogate pair
        from jaxlint.project.syntax_errors import null_byte

        raise (null_byte(text) if "\0" in text else SourceError(f"cannot parse: {error}")) from None
    except (RecursionError, MemoryError):
        try:
            return with_deep_stack(lambda: _parse(text))
        except (RecursionError, MemoryError):
            raise SourceError("cannot parse: nested too deeply") from None


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape is not ours to report, least of all on stderr
        tree = ast.parse(text)
    replace_containers(tree, text)
    return tree
