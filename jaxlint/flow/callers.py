"""What the index's call edges say of a function that no evaluation reached from a known place."""

from __future__ import annotations

from jaxlint.finding import Place
from jaxlint.flow.domain.functions import Function
from jaxlint.index.records import CallSite
from jaxlint.index.table import ModuleEntry, ModuleTable

# Functions that run once: what is made there is made once.
RUN_ONCE = frozenset(
    {
        "main",
        "_main",
        "__init__",
        "setup",
        "setUp",
        "setUpClass",
        "__post_init__",
        "setup_method",
        "setup_class",
    }
)
_DEPTH = 4


def _traced_names(traced: set[Function]) -> set[tuple[str, str]]:
    return {(f.module.entry.absolute, f.record_name) for f in traced}


def repeating_call(
    table: ModuleTable, module: ModuleEntry, function: Function, traced: set[Function]
) -> Place | None:
    """A call in view, in a loop or in a function that is itself repeated, that makes the function run again."""
    return _repeating(table, module, function.record_name, _traced_names(traced), 0, set())


def _repeating(
    table: ModuleTable,
    module: ModuleEntry,
    qualname: str,
    traced: set[tuple[str, str]],
    depth: int,
    seen: set[tuple[str, str]],
) -> Place | None:
    record = module.record.functions.get(qualname)
    if record is None or record.cached or record.name in RUN_ONCE or depth > _DEPTH:
        return None
    if (module.absolute, qualname) in seen:
        return None
    seen.add((module.absolute, qualname))
    sites = [
        (m, s)
        for m, s in table.callers(module, qualname)
        if s.caller != qualname and not s.remembered and not _is_traced(m, s, traced)
    ]
    for owner, site in sites:
        if site.loop:
            return site.place(owner.path)
    for owner, site in sites:
        if site.caller:
            found = _repeating(table, owner, site.caller, traced, depth + 1, seen)
            if found is not None:
                return found
    return None


def _is_traced(module: ModuleEntry, site: CallSite, traced: set[tuple[str, str]]) -> bool:
    caller = site.caller
    while caller:
        record = module.record.functions.get(caller)
        if (module.absolute, caller) in traced or (record is not None and record.jitted):
            return True
        caller = record.parent if record is not None else ""
    return False


def reached_eagerly(
    table: ModuleTable, module: ModuleEntry, function: Function, traced: set[Function], tests: bool = True
) -> bool:
    """Whether a chain of calls from module level, main or a test reaches the function outside any trace.
    `tests`: whether calls in test modules count."""
    seen: set[tuple[str, str]] = set()
    return _reached(table, module, function.record_name, _traced_names(traced), 0, seen, tests)


def _reached(
    table: ModuleTable,
    module: ModuleEntry,
    qualname: str,
    traced: set[tuple[str, str]],
    depth: int,
    seen: set[tuple[str, str]],
    tests: bool,
) -> bool:
    record = module.record.functions.get(qualname)
    if record is None or depth > _DEPTH or (module.absolute, qualname) in seen:
        return False
    if (module.absolute, qualname) in traced or record.jitted:
        return False
    if record.name in ("main", "_main") or (
        record.name.startswith("test") and (module.record.is_test or record.in_class)
    ):
        return True
    seen.add((module.absolute, qualname))
    for owner, site in table.callers(module, qualname):
        if site.caller == qualname or _is_traced(owner, site, traced) or (owner.record.is_test and not tests):
            continue
        if not site.caller or _reached(table, owner, site.caller, traced, depth + 1, seen, tests):
            return True
    return False


def library_callers(table: ModuleTable, module: ModuleEntry, qualname: str) -> tuple[Place, ...]:
    """Calls of a function in the project's own library modules."""
    return tuple(
        site.place(owner.path)
        for owner, site in table.callers(module, qualname)
        if not owner.record.is_application and not owner.record.is_test and site.caller != qualname
    )[:4]
