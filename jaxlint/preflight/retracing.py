"""Points 2 and 3: what crosses a jit boundary keeps its static values and its shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.facts import Boundary, BoundaryUse, JitCall, Kind, Operand
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Evidence, Point, Status, failures, place, remarks

STATIC_CODES = ("JAX101", "JAX102", "JAX107", "JAX108", "JAX110", "JAX111", "JAX114", "JAX210")
SHAPE_CODES = ("JAX104", "JAX105", "JAX106", "JAX207", "JAX208")

# Operations whose number of results depends on data, and the arguments that fix it.
_COUNTING = frozenset(
    {"nonzero", "flatnonzero", "argwhere", "unique", "unique_values", "compress", "extract"}
)
_FIXING = frozenset({"size", "length", "total_repeat_length"})
_ALWAYS_FIXED = frozenset({"top_k", "approx_max_k"})


def static_values(material: Material) -> Point:
    """Point 2."""
    title = "No Python value that varies from call to call is static at a jit boundary"
    advice = "pass it as an array: `jnp.asarray(n)`; where it is a shape or a branch, use a few bucket values"
    found = Point("2", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, STATIC_CODES)
    if found.evidence:
        found.status = Status.FAIL
        return found
    boundaries = [call.boundary for call in material.of(JitCall) if _takes_static(call.boundary)]
    if not boundaries:
        found.evidence = [
            Evidence("nothing that is jitted takes static values: jax.jit traces Python numbers")
        ]
        return found
    calls = [use for use in material.of(BoundaryUse) if _takes_static(use.boundary)]
    arguments = [o for use in calls for o in _static_arguments(use)]
    unknown = [o for o in arguments if any(part.kind is Kind.UNKNOWN for part in o.walk())]
    shown = bool(calls) and not unknown and not any(use.starred for use in calls)
    found.status = Status.PASS if shown else Status.NOT_SHOWN
    found.evidence = [
        Evidence(
            f"{len(boundaries)} boundaries take static values; {len(calls)} calls of them are in view, with "
            f"{len(arguments)} such arguments, of which {len(unknown)} could not be followed",
            place((calls or boundaries)[0].place),
        ),
        *remarks(material.findings, STATIC_CODES),
    ]
    return found


def _takes_static(boundary: Boundary) -> bool:
    return boundary.flavour == "filter" or boundary.static is None or bool(boundary.static)


def _static_arguments(use: BoundaryUse) -> Iterator[Operand]:
    """Those that would be static if they were Python values: all of filter_jit's, or the declared ones."""
    static = use.boundary.static
    for operand in use.arguments:
        declared = static is None or operand.parameter in static or operand.index in static
        if use.boundary.flavour == "filter" or declared:
            yield operand


def variable_counts(material: Material) -> Point:
    """Point 3."""
    title = "What comes in varying numbers is padded to a static maximum, with a mask"
    advice = "`jnp.argsort(-scores)[:N_MAX]` and a mask, `size=`, preallocated slots, or bucket sizes"
    found = Point("3", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, SHAPE_CODES)
    if found.evidence:
        found.status = Status.FAIL
        return found
    counting = [e for module in material.modules for e in _counting(module.path, module.tree)]
    fixed = [evidence for evidence, is_fixed in counting if is_fixed]
    open_ = [evidence for evidence, is_fixed in counting if not is_fixed]
    if not counting:
        found.evidence = [Evidence("nothing in view has a number of results that depends on data")]
    else:
        found.status = Status.PASS if not open_ else Status.NOT_SHOWN
        found.evidence = fixed + open_
    return found


def _counting(path: str, tree: ast.Module) -> Iterator[tuple[Evidence, bool]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, where = node.func.attr, f"{path}:{node.lineno}"
        if name in _ALWAYS_FIXED:
            yield Evidence(f"`{name}` gives a fixed number", where), True
        elif name in _COUNTING or (name == "where" and len(node.args) == 1):
            fixing = next((k.arg for k in node.keywords if k.arg in _FIXING), "")
            if fixing:
                yield Evidence(f"`{name}` with `{fixing}=`", where), True
            else:
                yield (
                    Evidence(
                        f"`{name}` gives as many as there are; it is not seen to reach a boundary", where
                    ),
                    False,
                )
