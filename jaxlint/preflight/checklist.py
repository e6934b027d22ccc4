"""The points in their order."""

from __future__ import annotations

from jaxlint.preflight import configuration, environment, guards, keeping, retracing
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Evidence, Point, Status

_CHECKLIST = (
    guards.point,
    retracing.static_values,
    retracing.variable_counts,
    keeping.outputs,
    keeping.caches,
    environment.headroom,
    configuration.compilation_cache,
    configuration.precision,
)
_HYGIENE = (
    environment.client_variables,
    environment.processes,
    environment.cache_directory,
    environment.cudnn,
)


# What these points say they read out of the modules.
_OF_SOURCE = frozenset("1234578B")


def points(material: Material) -> list[Point]:
    """The eight points, then the hygiene of the environment."""
    found = [point(material) for point in (*_CHECKLIST, *_HYGIENE)]
    for point in found:
        if material.unread and point.key in _OF_SOURCE and point.status is not Status.FAIL:
            point.status = Status.NOT_SHOWN  # whatever the rest holds
            point.evidence += [Evidence("cannot be parsed", path) for path in material.unread]
    return found


def failed(found: list[Point]) -> bool:
    """Whether a point failed."""
    return any(point.status is Status.FAIL for point in found)
