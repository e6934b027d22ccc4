"""TOML files, and clear words when they are broken."""

from __future__ import annotations

import importlib
import sys
from typing import Any


class TomlError(Exception):
    """A TOML file cannot be read or parsed."""


def load(path: str) -> dict[str, Any]:
    """The content of a TOML file. Raises TomlError, whose text names the file."""
    return parse(read(path), path)


def read(path: str) -> str:
    """The text of a TOML file. Raises TomlError."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise TomlError(f"{path}: cannot read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TomlError(f"{path}: cannot decode: {error.reason} at byte {error.start}") from None


def parse(text: str, path: str) -> dict[str, Any]:
    """The content of a text of TOML. Raises TomlError, whose text names the file."""
    # The standard library has had the parser since Python 3.11; its back port has the same interface.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = toml.loads(text)
    except (toml.TOMLDecodeError, RecursionError) as error:
        raise TomlError(f"{path}: broken TOML: {error}") from None
    return document
