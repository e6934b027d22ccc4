"""Which files can matter: a byte search, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

# JAX's world: a file that names none of these, directly or through the project's own modules, is let go.
_WORLD = re.compile(
    rb"jax|JAX_|XLA_|equinox|flax|haiku|optax|numpyro|blackjax|orbax|penzai|diffrax|optimistix|lineax|brax|distrax"
)
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([^#\n]+)|import[ \t]+([^#\n]+))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")


def names_jax(data: bytes) -> bool:
    """Whether a file names JAX or a library built on it."""
    return _WORLD.search(data) is not None


def imported_words(data: bytes) -> set[bytes]:
    """The words in a file's import lines: what it may import, without a parse."""
    words: set[bytes] = set()
    for match in _IMPORT.finditer(data):
        for group in match.groups():
            if group is not None:
                words.update(_WORD.findall(group))
    return words


def imported_by(passed: dict[str, bytes], others: dict[str, set[bytes]], stems: dict[str, bytes]) -> set[str]:
    """Files that were let go and that one of the passed imports: what it takes from them must be known."""
    by_stem: dict[bytes, list[str]] = {}
    for path in others:
        if path not in passed:
            by_stem.setdefault(stems[path], []).append(path)
    if not by_stem:
        return set()
    found: set[str] = set()
    for data in passed.values():
        for word in imported_words(data) & by_stem.keys():
            found.update(by_stem[word])
    return found


def through_project(
    passed: Iterable[str], others: dict[str, set[bytes]], stems: dict[str, bytes]
) -> set[str]:
    """Of the files that do not name JAX, those that import a module which does, in however many steps.

    `others` maps each to the words of its imports, `stems` every file to its module's last name.
    """
    reached: set[str] = set()
    known = {stems[path] for path in passed}
    while True:
        new = {path for path, words in others.items() if path not in reached and not words.isdisjoint(known)}
        if not new:
            return reached
        reached |= new
        known |= {stems[path] for path in new}
