"""Functions whose results a decorator keeps, called in traced code: what they keep then is a tracer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import INSTANCE
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.facts import CachedTracer, Fact, Proof
from jaxlint.flow.run import Run
from jaxlint.flow.trace.effects import leaks
from jaxlint.jax_api.transforms import EAGER, JIT

_CALLS = 4  # places named in a fact
_STEPS = 4000  # of the walk through a run's calls


def cached_tracers(run: Run, roots: Iterable[Evaluation]) -> list[Fact]:
    """One fact for each cache that traced code fills before eager code does."""
    filled: dict[Function, list[Evaluation]] = {}
    for evaluation in run.memo.values():
        function = evaluation.function
        if function is not None and function.cached and evaluation.level >= JIT and _keeps_tracer(evaluation):
            filled.setdefault(function, []).append(evaluation)
    if not filled:
        return []
    calls = _calls(run, roots)
    return [
        fact
        for function, evaluations in filled.items()
        if (fact := _fact(function, evaluations, calls.get(function, []))) is not None
    ]


def _keeps_tracer(evaluation: Evaluation) -> bool:
    """The result is made of tracers although no argument is: an argument that is one cannot be a key."""
    if evaluation.scope is None or not leaks(evaluation.result):
        return False
    _, closure, arguments = evaluation.scope
    receiver = closure.receiver
    if receiver is not None and receiver.kind == INSTANCE and _goes_with_trace(receiver.data):
        return False
    return not any(leaks(value) for name, value in arguments.items() if name not in ("self", "cls"))


def _goes_with_trace(thing: Instance) -> bool:
    """An object made in the trace, or perhaps its own copy of an argument."""
    cls = thing.cls
    if thing.copied or cls.is_pytree_module or cls.family == "haiku" or cls.unresolved:
        return True
    return thing.home is not None and thing.home.level > EAGER


def _fact(function: Function, evaluations: list[Evaluation], calls: list[Called]) -> CachedTracer | None:
    traced = [call for call in calls if call.evaluation in evaluations]
    if function.cached_at is None or (calls and calls[0].evaluation.level == EAGER):
        return None  # eager code has filled it by then
    places = dict.fromkeys(call.module.place(call.node) for call in traced if hasattr(call.node, "lineno"))
    return CachedTracer(
        function.cached_at,
        function.qualname,
        Proof("jit", why_traced=evaluations[0].traced_by),
        how=function.cached,
        function=function.qualname,
        name=function.name,
        calls=tuple(places)[:_CALLS],
    )


def _calls(run: Run, roots: Iterable[Evaluation]) -> dict[Function, list[Called]]:
    """The calls of each cached function, in the order of the program. What a declaration alone traces comes
    last: it has not run yet."""
    declared: list[Called] = []
    made = {id(state.node) for state in run.boundaries}
    found: dict[Function, list[Called]] = {}
    seen: set[Evaluation] = set()
    for root in roots:
        for call in _walk(root, made, declared, seen):
            _note(found, call)
    for call in declared:
        _note(found, call)
        for inner in _walk(call.evaluation, set(), [], seen):
            _note(found, inner)
    return found


def _note(found: dict[Function, list[Called]], call: Called) -> None:
    function = call.evaluation.function
    if function is not None and function.cached:
        found.setdefault(function, []).append(call)


def _walk(
    evaluation: Evaluation, made: set[int], declared: list[Called], seen: set[Evaluation]
) -> Iterator[Called]:
    if evaluation in seen or len(seen) > _STEPS:
        return
    seen.add(evaluation)
    for item in evaluation.log:
        if not isinstance(item, Called):
            continue
        if id(item.node) in made:
            declared.append(item)
            continue
        yield item
        yield from _walk(item.evaluation, made, declared, seen)
