"""Points 7 and 8: the persistent compilation cache is opted into, and precision is decided where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Confidence, Finding, Severity
from jaxlint.flow.facts import ConfigChange
from jaxlint.preflight import running
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Evidence, Point, Status, failures, place, remarks

CACHE_CODES = ("JAX502",)
PRECISION_CODES = ("JAX501", "JAX601")
PRECISION_REMARKS = ("JAX501", "JAX601", "JAX602", "JAX603")

_CACHE_OPTIONS = ("compilation_cache", "persistent_cache")
_X64 = ("jax_enable_x64", "JAX_ENABLE_X64")
_LOW = frozenset({"bfloat16", "float16"})


def compilation_cache(material: Material) -> Point:
    """Point 7."""
    title = "The persistent compilation cache is opted into, and wiped after changes of CUDA or cuDNN"
    advice = (
        "a set-up function that the application calls with a directory; `rm -r` it in the upgrade procedure"
    )
    found = Point("7", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, CACHE_CODES)
    changes = [c for c in material.of(ConfigChange) if any(o in c.option.lower() for o in _CACHE_OPTIONS)]
    variables = [a for a in material.variables if any(o in a.name.lower() for o in _CACHE_OPTIONS)]
    named = [Evidence(f"{a.name}={a.value or '(not a literal)'}", a.place) for a in variables]
    if found.evidence:
        found.status = Status.FAIL
    elif not changes and not variables:
        found.evidence = [Evidence("neither the code nor the project's files nor this shell turn it on")]
    elif any(change.at_import for change in changes if not change.in_main_guard):
        found.status, found.evidence = Status.NOT_SHOWN, [_said(change) for change in changes] + named
    else:
        found.status, found.evidence = Status.PASS, [_said(change) for change in changes] + named
        found.evidence.append(
            Evidence("that it is wiped after a change of CUDA or cuDNN cannot be seen from files")
        )
    return found


def _said(change: ConfigChange) -> Evidence:
    where = "at import" if change.at_import else "in a function" if change.symbol else "in the program itself"
    return Evidence(f"`{change.option}` is set {where}", place(change.place))


def precision(material: Material) -> Point:
    """Point 8."""
    title = "64-bit mode is off globally; bfloat16 only where it was validated, never in fits"
    advice = "float32 by default, `jax.enable_x64` around what needs it, bfloat16 for forward passes"
    found = Point("8", title, Status.PASS, advice=advice)
    found.evidence = failures(material.findings, PRECISION_CODES)
    found.evidence += [
        Evidence(f"{a.name}={a.value}", a.place)
        for a in material.variables
        if a.name in _X64 and a.value.lower() in ("true", "1", "t", "yes", "on")
    ]
    changes = [c for c in material.of(ConfigChange) if c.option in _X64]
    if not found.evidence:
        found.evidence = [
            Evidence(f"`{change.option}` is turned on by every run of this module", place(change.place))
            for change in _lasting(changes, material)
        ]
    if found.evidence:
        found.status = Status.FAIL
        return found
    x64 = [c for c in changes if not (c.value_known and not c.value)]
    if x64:
        found.status = Status.NOT_SHOWN
    elif not material.modules:
        found.status = Status.NOT_APPLICABLE
    found.evidence = [_said(change) for change in x64]
    if not x64:
        read = len(material.modules)
        found.evidence.append(
            Evidence(f"none of {read} modules, nor a file, nor this shell turns 64-bit mode on")
        )
    low = [e for module in material.modules for e in _low_precision(module.path, module.tree)]
    found.evidence += low[:5]
    if low:
        found.evidence.append(Evidence("none of it is seen to reach a solver or a line search"))
    found.evidence += remarks(material.findings, PRECISION_REMARKS)
    return found


def _lasting(changes: list[ConfigChange], material: Material) -> list[ConfigChange]:
    """Of each module the last change that always runs, where that turns 64-bit mode on and nothing says it may."""
    always = {module.path: running.lines(module.tree) for module in material.modules}
    last: dict[str, ConfigChange] = {}
    for change in sorted(changes, key=lambda c: c.place.span):
        if change.how == "config.update" and change.place.span.line in always.get(change.place.path, ()):
            last[change.place.path] = change
    return [c for c in last.values() if c.value_known and c.value and not _is_suppressed(c, material)]


def _is_suppressed(change: ConfigChange, material: Material) -> bool:
    said = Finding("JAX501", "global-x64", "", Severity.WARNING, Confidence.HIGH, change.place)
    return material.is_suppressed(said)


def _low_precision(path: str, tree: ast.Module) -> Iterator[Evidence]:
    for node in ast.walk(tree):
        name = (
            node.attr
            if isinstance(node, ast.Attribute)
            else node.value
            if isinstance(node, ast.Constant)
            else ""
        )
        if isinstance(name, str) and name in _LOW:
            yield Evidence(f"`{name}` is used", f"{path}:{getattr(node, 'lineno', 1)}")
