"""What code is compiled for: the devices that jax finds, or ones that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxlint.record import record


class UnknownTarget(Exception):
    """A target that does not exist. The text is one line that names those that do."""


@record
class Target:
    """A device to compile for. `description` goes to the worker as it is."""

    name: str
    description: Mapping[str, Any]
    present: bool  # code can be run on it, not only compiled


PRESENT = ("auto", "cpu", "gpu")


def resolve(name: str) -> Target:
    """The target of a name. Raises UnknownTarget."""
    if name in PRESENT:
        return Target(name, {"platform": "" if name == "auto" else name}, present=True)
    raise UnknownTarget(f"unknown target {name!r}, known targets are {', '.join(PRESENT)}")
