"""The points in their order."""

from __future__ import annotations

from jaxlint.preflight import configuration, environment, guards, keeping, retracing
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Point, Status

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


def points(material: Material) -> list[Point]:
    """The eight points, then the hygiene of the environment."""
    return [point(material) for point in (*_CHECKLIST, *_HYGIENE)]


def failed(found: list[Point]) -> bool:
    """Whether a point failed."""
    return any(point.status is Status.FAIL for point in found)
