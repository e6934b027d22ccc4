"""Which function is compiled again and again, and why: compile log and explanations put together.

The first compilation of a function is its warm-up, every later one is not. A few more are normal: training and
evaluation, the last and smaller batch, a handful of bucket sizes. What is called a retrace leak here is one that
goes on: the same definition made anew again and again, the same argument types compiled again and again, values
or sizes that are different each time.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import pairwise
from math import gcd

from jaxlint.triage.cache_misses import CacheMisses, Change, Miss, Reason, by_identity
from jaxlint.triage.compile_log import Compilations, CompileLog
from jaxlint.triage.evidence import Place
from jaxlint.triage.progress import Moment, Progress
from jaxlint.triage.warm_up import is_over

# From how many compilations on it counts. Below, buckets and training beside evaluation look the same.
_REMADE = 3  # times that one definition was made into a new function, or a static object was made anew
_SAME = 4  # compilations for the very same argument types
_SIZES = 5  # different sizes of one argument
GROWING = 4  # different sizes that grow by the same amount each time
_VALUES = 4  # different static values
_STEPS = 4  # steps of the run at which one of jax's own operations was compiled
_STRUCTURES = 5  # different structures of one argument
_BUCKETS = 8  # sizes that are all multiples of one number, a width of buckets
_WIDTH = 8  # the least of such numbers: by smaller ones lengths vary by themselves
_OWN = 12  # compilations of one of jax's own operations


@dataclass(slots=True)
class Boundary:
    """A jitted function: what the logs of all its compilations come to.

    `leaks` says that the compilations go on; `why` says what about the arguments was new, `rules` which rules
    find it in source. `defined` and `callers` are `file:line`, where jax has explained itself.
    """

    name: str
    rank: str
    count: int
    forms: int
    loaded: int
    seconds: float
    seconds_after_warm_up: float
    places: list[Place]
    reason: Reason
    leaks: bool = False
    over: bool = False  # it was compiled as often at the start, and the run went on without
    inferred: bool = False
    own: bool = False
    why: str = ""
    remedy: str = ""
    rules: tuple[str, ...] = ()
    changes: list[Change] = field(default_factory=list)
    defined: str = ""
    callers: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


@cache
def own_operations() -> frozenset[str]:
    """The names that jax compiles its own operations by, outside jit."""
    text = resources.files("jaxlint.triage").joinpath("own_operations.json").read_text("utf-8")
    return frozenset(json.loads(text)["names"])


def boundaries(log: CompileLog, misses: CacheMisses, progress: Progress) -> list[Boundary]:
    """Every function that was compiled or traced more than once, those that leak first, the dearest first."""
    explained: dict[tuple[str, str, str], list[Miss]] = defaultdict(list)
    for miss in misses.misses:
        if miss.name and not miss.is_of_jax:
            explained[miss.place.file, miss.rank, miss.name].append(miss)
    processes = _processes(log)
    found = [
        _boundary(of, explained.pop(key, []), processes.get(key[:2], 1), progress.now(*key[:2]))
        for key, of in log.functions.items()
    ]
    if not log.lines:  # explanations alone
        found += [_unlogged(key, of, progress.now(*key[:2])) for key, of in explained.items()]
    again = [boundary for boundary in found if boundary.count > 1]
    return sorted(again, key=lambda b: (not b.leaks, b.own, -b.seconds_after_warm_up, -b.count, b.name))


def _processes(log: CompileLog) -> dict[tuple[str, str], int]:
    """How many processes wrote each log without saying who is who.

    They compile the same functions for the same types, each as often as the others. A single process compiles
    most of its functions once.
    """
    times: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, of in log.functions.items():
        times[key[:2]] += of.forms.values()
    found = {}
    for writer, counts in times.items():
        if not counts:  # loaded from the persistent cache, nothing compiled
            continue
        number, often = Counter(counts).most_common(1)[0]
        alike = sum(count % number == 0 for count in counts)
        if number > 1 and len(counts) >= 5 and often * 2 > len(counts) and alike * 10 >= 9 * len(counts):
            found[writer] = number
    return found


def _boundary(of: Compilations, misses: list[Miss], processes: int, end: Moment) -> Boundary:
    own = of.name in own_operations() and not misses
    boundary = Boundary(
        name=of.name,
        rank=of.rank,
        count=-(-of.count // processes),
        forms=len(of.forms),
        loaded=of.loaded,
        seconds=of.seconds,
        seconds_after_warm_up=of.seconds_after_warm_up,
        places=[compiled.place for compiled in of.kept],
        reason=Reason.UNEXPLAINED,
        own=own,
        steps=sorted(of.steps),
    )
    if of.last is not None and of.last.place != boundary.places[-1]:
        boundary.places.append(of.last.place)
    _explain(boundary, misses)
    if boundary.count > 1 and not boundary.changes and boundary.reason in (Reason.UNEXPLAINED, Reason.NEW):
        _infer(boundary, of, misses, processes)
    boundary.over = is_over([compiled.moment for compiled in (*of.kept, of.last) if compiled], end)
    boundary.leaks = not boundary.over and _leaks(boundary, of, misses, processes)
    return boundary


def _unlogged(key: tuple[str, str, str], misses: list[Miss], end: Moment) -> Boundary:
    """What is known where only cache misses were logged."""
    places = [miss.place for miss in misses]
    boundary = Boundary(key[2], key[1], len(misses), 0, 0, 0.0, 0.0, places, Reason.UNEXPLAINED)
    _explain(boundary, misses)
    boundary.over = is_over([miss.moment for miss in misses], end)
    boundary.leaks = not boundary.over and _goes_on(boundary, misses)
    return boundary


# ---------------------------------------------------------------- why


def _explain(boundary: Boundary, misses: Sequence[Miss]) -> None:
    """What jax itself says."""
    later = misses[1:] if misses and misses[0].reason in (Reason.NEW, Reason.REMADE) else misses
    reasons = Counter(miss.reason for miss in later)
    if reasons:
        boundary.reason = reasons.most_common(1)[0][0]
    for miss in later:
        boundary.changes += [c for c in miss.changes[:2] if c not in boundary.changes]
    boundary.changes = boundary.changes[:32]
    places = [miss.defined for miss in misses if miss.defined and _is_users(miss.defined)]
    boundary.defined = Counter(places).most_common(1)[0][0] if places else ""
    callers = Counter(miss.caller for miss in misses if _is_users(miss.caller))
    boundary.callers = [caller for caller, _ in callers.most_common(3)]


def _is_users(place: str) -> bool:
    return "site-packages" not in place and "dist-packages" not in place and not place.startswith("<frozen")


def _infer(boundary: Boundary, of: Compilations, misses: Sequence[Miss], processes: int) -> None:
    """What the argument types of the compilations say, where jax says nothing."""
    boundary.inferred = boundary.reason is Reason.UNEXPLAINED
    if of.most_alike > processes and of.most_alike * 2 > of.count:
        if boundary.reason is Reason.UNEXPLAINED:
            # jax 0.12 and those up to 0.5 explain everything else.
            known = len(misses) > 1 and all(miss.known for miss in misses[1:])
            rest = "what is left is a static value" if known else "a static value, or a new function object"
            boundary.why = f"always for the same argument types: {rest}"
        return
    if len(of.forms) > 1:
        boundary.reason = Reason.TYPES
        boundary.changes = _type_changes(of)
        if boundary.changes and all(
            c.before.removesuffix("~weak") == c.now.removesuffix("~weak") for c in boundary.changes
        ):
            boundary.reason = Reason.WEAK
        elif boundary.changes and not any(change.where for change in boundary.changes):
            boundary.reason = Reason.STRUCTURE


def _type_changes(of: Compilations) -> list[Change]:
    """What differs between one compilation and the next."""
    changes: list[Change] = []
    for before, now in pairwise(of.kept):
        if len(before.types) != len(now.types):
            change = Change("", f"{len(before.types)} arrays", f"{len(now.types)} arrays")
            changes += [change] if change not in changes else []
            continue
        for index, (old, new) in enumerate(zip(before.types, now.types, strict=True)):
            change = Change(f"array {index + 1} of {len(now.types)}", old, new)
            if old != new and change not in changes:
                changes.append(change)
    return changes[:32]


# ---------------------------------------------------------------- does it go on?


def _leaks(boundary: Boundary, of: Compilations, misses: Sequence[Miss], processes: int) -> bool:
    if boundary.own:
        return boundary.count >= _OWN and len(of.steps) >= _STEPS
    if _goes_on(boundary, misses):
        return True
    if of.most_alike // processes >= _SAME:
        return True
    numbers = list(dict.fromkeys(len(compiled.types) for compiled in of.kept))
    sizes = _sizes(compiled.types for compiled in of.kept)
    return any(_is_open(values) for values in (numbers, *sizes.values()))


def _goes_on(boundary: Boundary, misses: Sequence[Miss]) -> bool:
    """By what jax explains."""
    # Counted without the first, which is new to a process; processes that write one log are each new.
    made = Counter(miss.defined for miss in misses if miss.reason is Reason.REMADE)
    if made and max(made.values()) >= _REMADE - 1:
        return True
    if boundary.count >= _REMADE and any(map(by_identity, boundary.changes)):
        return True
    if boundary.reason is Reason.STATIC:
        values = {change.now for change in boundary.changes} | {change.before for change in boundary.changes}
        return len(values) >= _VALUES or len(misses) > _VALUES
    if boundary.reason in (Reason.STRUCTURE, Reason.CALL_FORM):
        forms: dict[str, set[str]] = defaultdict(set)
        for change in boundary.changes:
            forms[change.where] |= {change.before, change.now}
        return max(map(len, forms.values()), default=0) >= _STRUCTURES
    if boundary.reason is Reason.TYPES and boundary.count >= GROWING:
        named = sizes_of_changes(boundary.changes)
        return any(_is_open(values) for values in named.values())
    return boundary.reason is Reason.UNEXPLAINED and len(misses) > _SAME


def _sizes(forms: Iterable[Sequence[str]]) -> dict[tuple[int, int], list[int]]:
    """The sizes that each axis of each argument had, in the order they first came."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for types in forms:
        for index, text in enumerate(types):
            for axis, size in enumerate(_shape(text)):
                if size not in found[index, axis]:
                    found[index, axis].append(size)
    return found


def sizes_of_changes(changes: Iterable[Change]) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for change in changes:
        for text in (change.before, change.now):
            for axis, size in enumerate(_shape(text)):
                if size not in found[change.where, axis]:
                    found[change.where, axis].append(size)
    return found


def _shape(text: str) -> list[int]:
    _, bracket, rest = text.partition("[")
    parts = rest.partition("]")[0].split(",")
    return [int(part) for part in parts if part.strip().isdigit()] if bracket else []


def _is_open(sizes: Sequence[int]) -> bool:
    """Whether there is no end of sizes in sight: they grow steadily, or there are many and no buckets."""
    if len(sizes) < GROWING:
        return False
    if gcd(*sizes) >= _WIDTH and len(sizes) <= _BUCKETS:
        return False
    steps = {later - earlier for earlier, later in pairwise(sizes)}
    if len(steps) == 1:
        return True
    doubling = all(size & (size - 1) == 0 for size in sizes)
    return len(sizes) >= _SIZES and not doubling
