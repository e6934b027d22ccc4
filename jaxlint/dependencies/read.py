"""From a dependency file to the environments that can be made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxlint.dependencies import conda, lock, pyproject, requirements_txt
from jaxlint.dependencies.names import format_of
from jaxlint.dependencies.text import DependencyText, load
from jaxlint.flow.facts import DependencySet
from jaxlint.project.files import SourceFile

_READERS: dict[str, Callable[[DependencyText], list[DependencySet]]] = {
    "pyproject": pyproject.read,
    "requirements": requirements_txt.read,
    "conda": conda.read,
    "lock": lock.read,
}
_INCLUDES = ("-r", "--requirement")


def environments(file: SourceFile, given: Mapping[str, SourceFile]) -> list[DependencySet]:
    """What each environment gets; nothing of a file that does not name jax, itself or in one it includes.

    `given` are the files of the run, by absolute path.
    """
    text = load(file, given)
    if text is None or not ("jax" in text.text or any(word in text.text for word in _INCLUDES)):
        return []
    return _READERS[format_of(file.path)](text)
