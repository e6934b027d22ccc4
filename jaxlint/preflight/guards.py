"""Point 1: jitted steps are guarded against retraces, and a test asserts how often they are traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.facts import BoundaryUse, JitCall
from jaxlint.preflight.material import Material, Module
from jaxlint.preflight.points import Evidence, Point, Status, failures, place

TITLE = "Jitted step functions are guarded (`assert_max_traces`, on demand), and a test asserts their trace counts"
CODES = ("JAX103", "JAX109", "JAX112", "JAX113")

# What counts traces, or fails on one: Equinox, chex, jax, and the counters that projects write themselves.
_COUNTERS = frozenset({"get_num_traces", "assert_max_traces", "no_tracing", "_cache_size", "trace_counts"})
_COUNTER_NAMES = (
    "num_traces",
    "n_traces",
    "trace_count",
    "traces",
    "compile_count",
    "num_compiles",
    "compiles",
)
_ADVICE = (
    "guard: `filter_jit(assert_max_traces(step, max_traces=1))` behind an environment variable; test: call the "
    "step with each length that occurs, then assert that the count is 1"
)


def point(material: Material) -> Point:
    """The point."""
    boundaries = list(material.of(JitCall))
    found = Point("1", TITLE, Status.NOT_APPLICABLE, advice=_ADVICE)
    if not boundaries:
        found.evidence = [Evidence("nothing is jitted in what was read")]
        return found
    repeated = {use.boundary.place for use in material.of(BoundaryUse) if use.loop or use.proof.repeated}
    found.evidence = failures(material.findings, CODES)
    guards = [e for module in material.modules for e in _guards(module)]
    related = [module for module in material.tests if _concerns(module, material.modules)]
    tests = [found_in for module in related for found_in in _tests(module)]
    found.evidence += guards + [evidence for evidence, _ in tests]
    jits = f"{len(boundaries)} jitted, {len(repeated)} of them called in a loop in view"
    read = f"{len(related)} test modules import what was read"
    found.evidence.append(Evidence(f"{jits}; {read}", place(boundaries[0].place)))
    if not tests and material.unread_tests and not failures(material.findings, CODES):
        found.status = Status.NOT_SHOWN
        found.evidence += [Evidence("a test that cannot be parsed", path) for path in material.unread_tests]
    elif failures(material.findings, CODES) or not tests:
        found.status = Status.FAIL
        if not tests:
            found.evidence.insert(0, Evidence("no test asserts how often anything is traced"))
    elif not any(varied for _, varied in tests):
        found.status = Status.NOT_SHOWN
        found.evidence.append(Evidence("no such test is seen to try several inputs"))
    elif not guards:
        found.status = Status.FAIL
        found.evidence.insert(0, Evidence("no guard in the program itself: only the tests would notice"))
    else:
        found.status = Status.PASS
    return found


def _concerns(test: Module, modules: list[Module]) -> bool:
    """Whether a test imports one of the modules, or from the package of one."""
    names: set[str] = set()
    for node in ast.walk(test.tree):
        if isinstance(node, ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names.update(node.module.split(".") if node.module else (alias.name for alias in node.names))
    return any(names & _parts(module.path) for module in modules)


def _parts(path: str) -> set[str]:
    """The names that a module can be imported by: its own, and those of the directories around it."""
    *directories, name = path.split("/")
    return {*directories, name.partition(".")[0]} - {"", "src", "__init__", ".."}


def _guards(module: Module) -> Iterator[Evidence]:
    """Where the program wraps functions in a guard, and whether a variable turns it on."""
    gated = any(
        isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        for node in ast.walk(module.tree)
    )
    for node in ast.walk(module.tree):
        name = _called(node)
        if name in ("assert_max_traces", "no_tracing"):
            how = "in a module that reads the environment" if gated else "always on"
            yield Evidence(f"guarded by `{name}`, {how}", f"{module.path}:{getattr(node, 'lineno', 1)}")


def _tests(module: Module) -> Iterator[tuple[Evidence, bool]]:
    """The tests that assert a trace count, and whether each tries several inputs."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            counter = _counter(node)
            if counter:
                text = f"`{node.name}` asserts trace counts by `{counter}`"
                yield Evidence(text, f"{module.path}:{node.lineno}"), _tries_several(node)


def _counter(test: ast.AST) -> str:
    """What a test counts traces by, "" where it does not: a guard that it calls, or a count in an assertion."""
    for node in ast.walk(test):
        name = _called(node)
        if name in ("assert_max_traces", "no_tracing"):
            return name
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                said = _called(part) or _name(part)
                if said in _COUNTERS or said in _COUNTER_NAMES:
                    return said
    return ""


def _tries_several(test: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A loop, a parametrised test, or the function called several times."""
    if any("parametrize" in ast.unparse(decorator) for decorator in test.decorator_list):
        return True
    if any(isinstance(node, (ast.For, ast.comprehension)) for node in ast.walk(test)):
        return True
    calls = [_called(node) for node in ast.walk(test) if isinstance(node, ast.Call)]
    return any(calls.count(name) > 1 for name in set(calls) - {"", "array", "ones", "zeros", "asarray"})


def _called(node: ast.AST) -> str:
    return _name(node.func) if isinstance(node, ast.Call) else ""


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
