"""From a dependency file to the environments that can be made from it."""

from __future__ import annotations

from collections.abc import Callable

from jaxlint.dependencies import conda, lock, pyproject, requirements_txt, setuptools
from jaxlint.dependencies.names import format_of
from jaxlint.dependencies.text import DependencyText
from jaxlint.flow.facts import DependencySet

_READERS: dict[str, Callable[[DependencyText], list[DependencySet]]] = {
    "pyproject": pyproject.read,
    "requirements": requirements_txt.read,
    "conda": conda.read,
    "lock": lock.read,
    "setup.cfg": setuptools.read_cfg,
    "": setuptools.read_py,
}
_INCLUDES = ("-r", "--requirement", "file:")


def environments(text: DependencyText) -> list[DependencySet]:
    """What each environment gets."""
    return _READERS[format_of(text.path)](text)


def may_name_jax(text: DependencyText) -> bool:
    """Whether a file names jax, or includes another that may."""
    return "jax" in text.text or any(word in text.text for word in _INCLUDES)
