"""Which files are dependency files, by their names."""

from __future__ import annotations

import re

# Patterns are compiled when they are first needed: every start comes through here.
_BY_NAME = (
    ("pyproject", r"(pyproject|pixi)\.toml"),
    ("setup.cfg", r"setup\.cfg"),
    ("lock", r"uv\.lock|poetry\.lock|pylock(\.[^.]+)?\.toml"),
    (  # pip-compile, uv and rye write what they found in the same format, to requirements.lock, for one
        "requirements",
        r"(([\w.-]*[_.-])?requirements?([_.-][\w.-]*)?|requirements[\w.-]*)\.(txt|in|lock)",
    ),
    ("conda", r"([\w.-]*[_.-])?(environment|conda[_.-]env|env)([_.-][\w.-]*)?\.ya?ml"),
)
# Files that are named one by one may be called anything.
_BY_SUFFIX = {
    ".txt": "requirements",
    ".in": "requirements",
    ".toml": "pyproject",
    ".cfg": "setup.cfg",
    ".lock": "lock",
    ".yml": "conda",
    ".yaml": "conda",
}
_SUFFIXES = tuple(_BY_SUFFIX)


def is_dependency_name(path: str) -> bool:
    """Whether a file of this name is looked at when its directory is."""
    return path.endswith(_SUFFIXES) and _by_name(path) != ""


def format_of(path: str) -> str:
    """What reads a file that is no Python ("pyproject", "setup.cfg", "lock", ...); "" for one that may be."""
    if not path.endswith(_SUFFIXES):
        return ""
    return _by_name(path) or _BY_SUFFIX[path[path.rfind(".") :]]


def states_dependencies(path: str) -> bool:
    """Whether a file says what a project depends on. One of these is Python, too."""
    return bool(format_of(path)) or path.replace("\\", "/").rpartition("/")[2] == "setup.py"


def _by_name(path: str) -> str:
    directory, _, name = path.replace("\\", "/").rpartition("/")
    for kind, pattern in _BY_NAME:
        if re.fullmatch(pattern, name):
            return kind
    in_folder = directory.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in"))
    return "requirements" if in_folder else ""
