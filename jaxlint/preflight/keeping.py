"""Points 4 and 5: what each frame yields is let go of, and what is cached has a bound."""

from __future__ import annotations

import re

from jaxlint.finding import Confidence, Finding, Severity
from jaxlint.flow.facts import Append, BoundaryUse, CacheStore
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Evidence, Point, Status, failures, place, remarks

OUTPUT_CODES = ("JAX308", "JAX401")
CACHE_CODES = ("JAX402", "JAX403", "JAX404")


def outputs(material: Material) -> Point:
    """Point 4."""
    title = "What each step yields is streamed or compressed, never appended raw"
    advice = "consume it in the loop; or keep it small: `np.packbits` and zlib, uint8, a memory map"
    found = Point("4", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, OUTPUT_CODES)
    if found.evidence:
        found.status = Status.FAIL
        return found
    in_loops = [use for use in material.of(BoundaryUse) if use.loop is not None]
    if not in_loops:
        found.evidence = [Evidence("no loop in view calls anything that is jitted")]
        return found
    loops = {use.loop for use in in_loops}
    appends = [append for append in material.of(Append) if not append.emptied]
    inside = [a for a in appends if a.loop in loops or a.proof.repeated in loops]
    found.status = Status.PASS if not inside else Status.NOT_SHOWN
    found.evidence = [
        Evidence(f"{len(loops)} loops call what is jitted", place(in_loops[0].place)),
        *(
            Evidence(
                f"`{a.container}` grows in such a loop, by what is not known to be large", place(a.place)
            )
            for a in inside
        ),
        *remarks(material.findings, OUTPUT_CODES),
    ]
    if not inside:
        found.evidence.append(Evidence("no list or dict grows in them, or in what they call in view"))
    return found


def caches(material: Material) -> Point:
    """Point 5."""
    title = "Every cache has a bound, sized as entries x measured size x workers"
    advice = "`lru_cache(maxsize=N)`, with N from the size of an entry and the machine's memory"
    found = Point("5", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, CACHE_CODES)
    if found.evidence:
        found.status = Status.FAIL
        return found
    stores = list(material.of(CacheStore))
    if not stores:
        found.evidence = [Evidence("nothing in view is cached")]
        return found
    bounded = [store for store in stores if store.bounded or store.evicts]
    closed = [store for store in stores if store not in bounded and _has_few_keys(store)]
    rest = [store for store in stores if store not in bounded and store not in closed]
    unbounded = [store for store in rest if _asks_for_no_bound(store) and not _is_suppressed(store, material)]
    found.status = Status.FAIL if unbounded else Status.NOT_SHOWN if rest else Status.PASS
    rest = [store for store in rest if store not in unbounded]
    found.evidence = [
        *(
            Evidence(
                f"{_said(store)} has no bound: it keeps whatever it is called with",
                place(store.place),
            )
            for store in unbounded
        ),
        *(
            Evidence(
                f"{_said(store)} has a bound; what an entry takes only a run can tell", place(store.place)
            )
            for store in bounded
        ),
        *(Evidence(f"{_said(store)} has a closed set of keys", place(store.place)) for store in closed),
        *(Evidence(f"{_said(store)} has no bound that is seen", place(store.place)) for store in rest),
        *remarks(material.findings, CACHE_CODES),
    ]
    return found


_DECORATORS = ("cache", "lru_cache")
_FEW = re.compile(r"bool|(?:typing\.)?Literal\[.*")  # annotations of arguments that have a handful of values


def _has_few_keys(store: CacheStore) -> bool:
    """The keys are a closed set, or the function takes nothing that could vary."""
    alone = store.how in _DECORATORS and not store.on_method
    return store.key_open is False or (alone and all(_FEW.fullmatch(p.annotation) for p in store.parameters))


def _asks_for_no_bound(store: CacheStore) -> bool:
    """A decorator that says to keep every result: the keys are whatever it is called with."""
    return store.how in _DECORATORS


def _is_suppressed(store: CacheStore, material: Material) -> bool:
    """Whether a comment beside it says that it is meant to have none."""
    said = Finding("JAX402", "unbounded-cache", "", Severity.WARNING, Confidence.HIGH, store.place)
    return material.is_suppressed(said)


def _said(store: CacheStore) -> str:
    return f"{store.how} of `{store.function}`" if store.function else store.how
