"""From the logs of a run to its facts: every chain of calls from the root gives its proof state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.boundaries.boundary import PendingJit
from jaxlint.flow.boundaries.boundary_calls import PendingUse
from jaxlint.flow.config.configuration import DeviceUse
from jaxlint.flow.device_memory.lifted_scan import PendingLiftedScan
from jaxlint.flow.device_memory.pending_scan import PendingScan
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.origin_words import DRAWN
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.facts import (
    Append,
    BoundaryUse,
    ConfigChange,
    Fact,
    FieldStore,
    FreshControlBody,
    JitCall,
    Operand,
    ProcessStart,
    Proof,
    Step,
    Tag,
    Varies,
)
from jaxlint.flow.host_memory.cached_functions import PendingCache
from jaxlint.flow.host_memory.callers_loops import is_seldom, kind_of_callers_loop
from jaxlint.flow.host_memory.dict_caches import PendingFill
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.retrace.eager_control import PendingDerivative
from jaxlint.flow.run import Run
from jaxlint.jax_api.transforms import EAGER
from jaxlint.record import replace

Pending = (
    PendingJit,
    PendingUse,
    PendingFill,
    PendingCache,
    PendingScan,
    PendingLiftedScan,
    PendingDerivative,
    PendingFact,
)
_CHAIN = 6
Tests = tuple[ast.AST, ...]


class Way(NamedTuple):
    """A call on the way to something, or the thing itself, and the tests that it stands under in its function."""

    place: Place
    tests: Tests


class Root:
    """Where a walk starts: the module's top level or one of its functions, with what is known of its callers."""

    __slots__ = (
        "at_import",
        "by_test",
        "device",
        "device_chain",
        "devices",
        "eager",
        "evaluation",
        "repeated",
        "traced",
    )

    def __init__(
        self, evaluation: Evaluation, eager: bool, repeated: Place | None, at_import: bool, traced: bool
    ) -> None:
        self.evaluation = evaluation
        self.eager = eager
        self.repeated = repeated
        self.at_import = at_import
        self.traced = traced
        self.device: Place | None = None  # the first device work of the walk so far
        self.device_chain: tuple[Step, ...] = ()  # the calls that led to it
        self.devices: list[tuple[Way, ...]] = []  # the ways to all of it
        self.by_test = False  # only tests are seen to lead to it

    def used_device(self, place: Place, chain: tuple[Step, ...], path: list[Way], tests: Tests) -> None:
        """Remember device work."""
        if self.device is None:
            self.device, self.device_chain = place, chain
        self.devices.append((*path, Way(place, tests)))

    def surely_used(self, path: list[Way], later: Place) -> Place | None:
        """The first device work that has run whenever `later` runs."""
        return next((way[-1].place for way in self.devices if _has_run(way, [*path, Way(later, ())])), None)


class Collector:
    """Walks the logs of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.facts: list[Fact] = []
        self.device_uses: list[DeviceUse] = []
        self._made: dict[int, Fact | None] = {}
        self._keep: list[Any] = []
        self._sure: dict[Evaluation, tuple[Way, ...]] = {}
        self._repeating: dict[Place, Called] = {}  # the calls in loops that what is walked is repeated by
        self._path: list[Way] = []  # the calls that lead to what is being walked

    def collect(self, roots: list[Root]) -> None:
        seen: set[tuple[Evaluation, bool, bool, bool]] = set()
        for root in roots:
            self._walk(root.evaluation, root, (), root.repeated, seen)

    def _walk(
        self,
        evaluation: Evaluation,
        root: Root,
        chain: tuple[Step, ...],
        repeated: Place | None,
        seen: set[tuple[Evaluation, bool, bool, bool]],
    ) -> None:
        key = (evaluation, root.eager, repeated is not None, root.at_import)
        if key in seen:
            return
        seen.add(key)
        if root.at_import and evaluation.device is not None and chain:
            self._note_device(evaluation.device, chain)
        for item in evaluation.log:
            if isinstance(item, Called):
                self._enter(item, root, chain, repeated, seen)
            elif isinstance(item, DeviceUse):
                root.used_device(item.place, chain, self._path, item.tests)
                if evaluation.function is None:
                    self.device_uses.append(item)
            elif isinstance(item, (Fact, *Pending)):
                self._used(item, root, chain)
                fact = self._fact(item)
                if fact is not None:
                    self._emit(fact, root, chain, repeated)

    def _enter(
        self,
        item: Called,
        root: Root,
        chain: tuple[Step, ...],
        repeated: Place | None,
        seen: set[tuple[Evaluation, bool, bool, bool]],
    ) -> None:
        if not hasattr(item.node, "lineno"):
            return
        function = item.evaluation.function
        again = repeated is not None or item.in_loop
        if again:
            again = not (function is not None and function.cached) and not item.remembered
        if (item.evaluation, root.eager, again, root.at_import) in seen:
            known = self._sure_use(item.evaluation)  # most are: the places of few are worth to be looked up
            if known:
                root.devices.append((*self._path, Way(item.module.place(item.node), item.tests), *known))
            return
        place = item.module.place(item.node)
        name = function.qualname if function is not None else ""
        step = Step(place, name, item.in_loop, item.sometimes, item.declared)
        inner_repeated = (repeated or place) if again else None
        if again and repeated is None:
            self._repeating[place] = item
        self._path.append(Way(place, item.tests))
        self._walk(item.evaluation, root, (*chain, step)[-_CHAIN:], inner_repeated, seen)
        self._path.pop()

    def _fact(self, item: Any) -> Fact | None:
        """What an entry says; None when a pending one turns out to be nothing."""
        if isinstance(item, Fact):
            return item
        if id(item) not in self._made:
            self._made[id(item)] = item.fact()
            self._keep.append(item)
        return self._made[id(item)]

    def _emit(self, fact: Fact, root: Root, chain: tuple[Step, ...], repeated: Place | None) -> None:
        # Control flow costs below jit, whatever the level.
        outside = isinstance(fact, FreshControlBody) and fact.proof.level != "jit"
        eager_fact = outside or fact.proof.level == "eager"
        if eager_fact and root.traced and isinstance(fact, (JitCall, FreshControlBody)):
            return  # the function is also traced, and nothing proves that it runs outside a trace
        eager = root.eager and eager_fact
        by_test = root.by_test or self._tests_another(fact)
        proof = replace(fact.proof, eager=eager, repeated=repeated, chain=chain, by_test=by_test)
        if repeated is not None and isinstance(fact, BoundaryUse):
            fact = _varying_by_call(fact)
        elif repeated is not None and isinstance(fact, FieldStore):
            loop = fact.loop or self._loop_around(repeated)
            fact = replace(fact, value=_upgraded(fact.value), in_loop=True, loop=loop)
        elif isinstance(fact, Append) and fact.loop is None and repeated in self._repeating:
            seldom = fact.sampled or is_seldom(test for way in self._path for test in way.tests)
            fact = replace(
                fact, over=kind_of_callers_loop(self.run, self._repeating[repeated]), sampled=seldom
            )
        if isinstance(fact, ConfigChange):
            at_import = fact.at_import or (root.at_import and bool(chain))
            started = root.surely_used(self._path, fact.place)
            fact = replace(fact, at_import=at_import, after_device_use=started)
        elif isinstance(fact, ProcessStart) and root.device is not None:
            order = _parting(root, chain, fact.start)
            fact = replace(fact, after_device_use=root.device, order=order)
        self.facts.append(replace(fact, proof=proof))

    def _loop_around(self, repeated: Place) -> Place | None:
        """The loop around a call that code is repeated by."""
        call = self._repeating.get(repeated)
        return call.module.place(call.loop) if call is not None and call.loop is not None else None

    def _used(self, item: Any, root: Root, chain: tuple[Step, ...]) -> None:
        """A jitted function that runs uses the device, too."""
        if isinstance(item, PendingUse) and item.proof.level == "eager":
            root.used_device(item.place, chain, self._path, item.tests)

    def _sure_use(self, evaluation: Evaluation) -> tuple[Way, ...]:
        """The way to the first device work of every call of a function; empty where there is none."""
        if evaluation not in self._sure:
            self._sure[evaluation] = ()
            self._sure[evaluation] = next((way for way in map(self._sure_way, evaluation.log) if way), ())
        return self._sure[evaluation]

    def _sure_way(self, item: Any) -> tuple[Way, ...]:
        if isinstance(item, DeviceUse) or (isinstance(item, PendingUse) and item.proof.level == "eager"):
            return () if item.tests else (Way(item.place, ()),)
        if not isinstance(item, Called) or item.tests or item.evaluation.level != EAGER:
            return ()
        further = self._sure_use(item.evaluation) if hasattr(item.node, "lineno") else ()
        return (Way(item.module.place(item.node), ()), *further) if further else ()

    def _tests_another(self, fact: Fact) -> bool:
        top = self.run.top
        return top is not None and top.module.entry.record.is_test and fact.place.path != top.module.path

    def _note_device(self, use: DeviceUse, chain: tuple[Step, ...]) -> None:
        moved = DeviceUse.__new__(DeviceUse)
        moved.place, moved.module, moved.node = chain[0].place, use.module, use.node
        moved.api, moved.where = use.api, "call"
        moved.tests = use.tests
        moved.proof = Proof("eager", chain=chain)
        self.device_uses.append(moved)


def _has_run(way: tuple[Way, ...], later: list[Way]) -> bool:
    """Whether what one way leads to has run when another gets where it leads: where they part, the first stands
    under no test but those that the other stands under, and under none after that."""
    for index, (one, other) in enumerate(zip(way, later, strict=False)):
        if one.place != other.place:
            alike = all(_answered_alike(test, one.place, other.place) for test in one.tests)
            return alike and not any(step.tests for step in way[index + 1 :])
    return True


def _answered_alike(test: ast.AST, one: Place, other: Place) -> bool:
    """Whether two places of one function lie on the same side of a test, or both after it."""
    sides = [test.body, test.orelse] if isinstance(test, ast.If) else [[test]]

    def side(place: Place) -> list[bool]:
        line = place.span.line
        return [bool(s) and s[0].lineno <= line <= (s[-1].end_lineno or 0) for s in sides]  # type: ignore[attr-defined]  # statements and tests have lines

    return side(one) == side(other)


def _parting(root: Root, chain: tuple[Step, ...], place: Place) -> tuple[Place, ...]:
    """The two lines of one function that lead to the first device work and to a later place."""
    assert root.device is not None
    shared = 0
    for one, other in zip(root.device_chain, chain, strict=False):
        if one.place != other.place:
            break
        shared += 1
    before = root.device_chain[shared].place if shared < len(root.device_chain) else root.device
    return before, chain[shared].place if shared < len(chain) else place


_SHAPED = Tag.DATA_SHAPE | Tag.RAGGED


def _varying_by_call(use: BoundaryUse) -> BoundaryUse:
    """In code that runs again and again, what is read off data in it changes from run to run."""
    arguments = tuple(_upgraded(argument) for argument in use.arguments)
    return use if arguments == use.arguments else replace(use, arguments=arguments)


def _upgraded(operand: Operand) -> Operand:
    leaves = tuple(_upgraded(leaf) for leaf in operand.leaves)
    varies = operand.varies
    if varies is Varies.PER_CALL and (operand.origin_kind in DRAWN or operand.tags & _SHAPED):
        varies = Varies.PER_ITERATION
    if varies is operand.varies and leaves == operand.leaves:
        return operand
    return replace(operand, varies=varies, leaves=leaves)


def in_traced(function: Function | None, traced: set[Function]) -> bool:
    """Whether a function, or one around it, is traced in this run."""
    while function is not None:
        if function in traced:
            return True
        function = function.parent
    return False


def unique(facts: list[Fact]) -> Iterator[Fact]:
    """The facts without exact repetitions, in source order."""
    seen: set[Fact] = set()
    for fact in facts:
        if fact not in seen:
            seen.add(fact)
            yield fact


__all__ = ["EAGER", "Collector", "Root", "in_traced", "unique"]
