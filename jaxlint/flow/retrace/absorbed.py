"""Changes that a test makes and a trace from before absorbs: the compiled function outlives the test.

What counts as a trace from before is a call in view that does not follow the change: in another test, in the
same one, anywhere. The tests of a suite run in one process, in any order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.boundaries.boundary import PendingJit
from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState, Read
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.facts import AbsorbedMutation, Proof
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.retrace.mutation import Cleared, Invoked, Made, Mutated
from jaxlint.flow.retrace.staleness import calls_boundary, events, trace_of
from jaxlint.flow.run import Run
from jaxlint.index.table import ModuleTable
from jaxlint.index.walking import walk
from jaxlint.jax_api.transforms import EAGER, JIT

_EVENTS = 2000  # of one test; beyond that order is not worth the time
_OTHERS = 3  # calls named in a fact
_SET_UP = frozenset({"setUp", "setup_method", "setUpClass", "setup_class"})


def absorbed_mutations(
    run: Run, module: LoadedModule, evaluations: Iterable[Evaluation], table: ModuleTable
) -> list[AbsorbedMutation]:
    """What the tests of one module change in vain."""
    tests = [e for e in evaluations if e.function is not None and _is_test(e.function)]
    if not tests or _clears_for_all(module, table):
        return []
    found: list[AbsorbedMutation] = []
    for test in tests:
        found += _Test(run, module, test, table).facts()
    return found


def _is_test(function: Function) -> bool:
    return function.name.startswith("test")


def _is_parametrised(function: Function | None) -> bool:
    """The same test runs several times, each with a value of its own."""
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    words = (
        n.attr if isinstance(n, ast.Attribute) else n.id if isinstance(n, ast.Name) else ""
        for decorator in function.node.decorator_list
        for n in walk(decorator)
    )
    return any(word.startswith("parametri") or word == "parameterized" for word in words)


def _clears_for_all(module: LoadedModule, table: ModuleTable) -> bool:
    """A fixture or a set-up method, here or in a conftest, forgets all traces."""
    entries = [entry for path, entry in table.entries.items() if path.endswith("conftest.py")]
    for entry in (module.entry, *entries):
        for site in entry.record.calls.get("clear_caches", ()):
            last = site.caller.rpartition(".")[2]
            if site.receiver not in ("eqx", "equinox") and site.caller and not last.startswith("test"):
                return True
    return False


class _Test:
    """One test: the changes made so far, and what they can have reached."""

    def __init__(self, run: Run, module: LoadedModule, test: Evaluation, table: ModuleTable) -> None:
        self.run = run
        self.module = module
        self.test = test
        self.table = table
        self.function = test.function
        # A change, and the traces of this test from before it; whether those of other tests are forgotten.
        self.changes: dict[Any, tuple[Mutated, frozenset[Any], bool]] = {}
        self.invoked: set[Any] = set()
        self.cleared = False
        self.own: set[BoundaryState] = set()  # made anew by the test itself
        self.made: set[int] = set()  # identities of the objects it makes
        self.repeats = _is_parametrised(test.function)

    def facts(self) -> Iterator[AbsorbedMutation]:
        first = self._first()
        if not any(map(calls_boundary, (*first, self.test))):
            return
        assert self.function is not None
        parts = chain(self.function.patches, *map(events, first), events(self.test))
        for count, event in enumerate(parts):
            if count > _EVENTS:
                return
            if isinstance(event, Cleared):
                self._clear(event)
            elif isinstance(event, PendingJit):
                if event.state.fresh:
                    self.own.add(event.state)
            elif isinstance(event, Made):
                self.made.add(id(event.identity))
            elif isinstance(event, Mutated) and _outlives_calls(event.key):
                self.changes.setdefault(event.key, (event, frozenset(self.invoked), self.cleared))
            elif isinstance(event, Invoked):
                yield from self._call(event)

    def _first(self) -> list[Evaluation]:
        """What comes before the test: its fixtures and set-up methods."""
        function = self.function
        assert function is not None
        found: list[Evaluation] = []
        for other in self.module.functions.values():
            fixture = other.parent is None and other.cls is None and other.name in function.params
            if fixture or (other.cls is function.cls is not None and other.name in _SET_UP):
                of_other = (e for e in self.run.memo.values() if e.function is other and e.level == EAGER)
                found += islice(of_other, 1)
        return found

    def _clear(self, event: Cleared) -> None:
        if event.boundary is not None:
            self.own.add(event.boundary)  # from here on as good as new
            return
        self.cleared = True
        self.changes.clear()
        self.invoked.clear()
        self.own.clear()

    def _call(self, event: Invoked) -> Iterator[AbsorbedMutation]:
        boundary, trace = event.boundary, trace_of(event.boundary)
        if event.made is not None and event.made != (self.test, False):
            return  # with an argument that this call alone has
        for key, (change, before, cleared) in list(self.changes.items()):
            read = self._read(boundary, key)
            of_test = cleared or event.made is not None
            if read is None or not self._outlives(boundary) or (of_test and trace not in before):
                continue
            others = self._others(event, change)
            if others or self._called_elsewhere(boundary):
                del self.changes[key]
                yield self._fact(change, read, event, others)
        self.invoked.add(trace)

    def _read(self, boundary: BoundaryState, key: Any) -> Read | None:
        """Where the trace read what was changed: a value, or a function it called."""
        known = boundary.reads.get(key)
        if known is not None:
            return None if key[0] == "self" and key[1] in self.made else known
        if key[0] not in ("global", "attribute") or boundary.closure is None:
            return None
        traced = [
            e for e in self.run.memo.values() if e.function is boundary.closure.function and e.level >= JIT
        ]
        return next((read for e in traced if (read := _called(e, key, set())) is not None), None)

    def _outlives(self, boundary: BoundaryState) -> bool:
        """It is there before and after the test, and every test calls the same one."""
        if boundary in self.own or boundary.fresh:
            return False
        of_instance = boundary.in_class is not None and not boundary.in_class.is_pytree_module
        return not (of_instance and boundary.static and 0 in boundary.static)

    def _others(self, event: Invoked, change: Mutated) -> tuple[Place, ...]:
        """Calls in view that may have traced it before: all but those of this test after the change."""
        changed = change.module.place(change.node)
        node = self.function.node if self.function is not None else None
        places = []
        trace = trace_of(event.boundary)
        sharing = {event.boundary, *(b for b in self.run.boundaries if trace_of(b) is trace)}
        for module, at in (use for boundary in sharing for use in boundary.uses):
            place = module.place(at)
            inside = node is not None and module is self.module and _within(place, module.place(node))
            if not inside or place < changed or self.repeats:
                places.append(place)
        return tuple(sorted(set(places)))[:_OTHERS]

    def _called_elsewhere(self, boundary: BoundaryState) -> bool:
        function = boundary.closure.function if boundary.closure is not None else None
        if function is None:
            return False
        sites = self.table.callers(function.module.entry, function.record_name)
        own = self.function.record_name if self.function is not None else ""
        return any(entry is not self.module.entry or site.caller != own for entry, site in sites)

    def _fact(
        self, change: Mutated, read: Read, call: Invoked, others: tuple[Place, ...]
    ) -> AbsorbedMutation:
        return AbsorbedMutation(
            change.module.place(change.node),
            self.function.qualname if self.function is not None else "",
            Proof("eager"),
            name=str(change.key[-1]),
            read=read.module.place(read.node),
            boundary=describe(call.boundary),
            call=call.module.place(call.node),
            others=others,
        )


def _called(evaluation: Evaluation, key: Any, seen: set[Evaluation]) -> Read | None:
    """The call, in a trace, of the function that a global name stands for."""
    if evaluation in seen:
        return None
    seen.add(evaluation)
    for item in evaluation.log:
        if not isinstance(item, Called):
            continue
        if hasattr(item.node, "lineno") and _is_behind(item.evaluation.function, key):
            return Read(item.module, item.node, "function")
        found = _called(item.evaluation, key, seen)
        if found is not None:
            return found
    return None


def _outlives_calls(key: Any) -> bool:
    """Not a variable of a function: that is another one in each call."""
    return key[0] != "closure" and not (key[0] == "attribute" and key[1][0] == "closure")


def _is_behind(function: Function | None, key: Any) -> bool:
    """Whether a global name, or an attribute of a class, stands for the function."""
    if function is None or function.parent is not None:
        return False
    if function.cls is not None:
        return bool(key == ("attribute", ("class", id(function.cls)), function.name))
    return bool(key == ("global", function.module.path, function.name))


def _within(inner: Place, outer: Place) -> bool:
    return outer.contains(inner)
