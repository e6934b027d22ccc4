"""The jit boundaries that a program made and traced, kept so that they can be lowered again afterwards.

Built on the recorder (`recording`), which hands out what it sees of each trace. Arrays are kept as shapes, static
values as they are, and few traces of each boundary, so that little is pinned.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import weakref
from collections.abc import Callable, Iterator
from types import MethodType, ModuleType
from typing import Any, NamedTuple

from . import state
from .recording import patches
from .recording.boundaries import Boundaries, Boundary
from .recording.definitions import definition
from .recording.journal import Journal
from .recording.shims import Shims

Holder = Callable[[], Any]

_MOST = 4  # traces of a boundary that are kept because they were asked about


class Trace(NamedTuple):
    """A trace: the boundary's own object, and arguments that lower it as they did then.

    While it is kept `jitted` and `function` are holders, which are called for the object.
    `ordinal` counts the traces of a boundary from 1.
    """

    api: str
    jitted: Any
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argument_bytes: int
    boundary: int = 0
    ordinal: int = 0


class _Nowhere(Journal):
    """A journal that nobody reads."""

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def write(self, kind: str, **fields: Any) -> None:
        """Nothing."""


class Kept(Boundaries):
    """The recorder's boundaries, with traces to go back to: `traces`, by number.

    Of each boundary are kept the trace with the largest arguments, those that somebody asked about while they
    were made (`tracing`), and those that `keep` names, as (name of the boundary, which of its traces).
    """

    def __init__(self, keep: set[tuple[str, int]], hold: bool = False) -> None:
        super().__init__(_Nowhere())
        self._hold = hold
        self.traces: dict[int, Trace] = {}
        self.about: dict[int, dict[str, Any]] = {}
        self.made: dict[int, tuple[Holder, Holder]] = {}
        self.open: list[int] = []
        self.closed = False
        self.patches: patches.Patches
        self._keep = keep
        self._asked: set[int] = set()
        self._codes: dict[
            int, set[Any]
        ] = {}  # of each boundary: several where one line defines several lambdas
        self._next = itertools.count(1)

    def of(self, api: str, function: Any, wrapped: list[Any]) -> Boundary:
        """As the recorder's; what it is and where is noted."""
        boundary = super().of(api, function, wrapped)
        about = self.about.setdefault(
            boundary.number,
            {
                "id": boundary.number,
                "api": api,
                "name": boundary.name,
                "place": definition(function),
                "traces": 0,
            },
        )
        about.setdefault("wrapped", []).append(wrapped)
        codes = self._codes.setdefault(boundary.number, set())
        codes.add(_code(function))
        about["definitions"] = len(codes)
        state.own(wrapped)
        return boundary

    def note_made(self, shim: Any, result: Any) -> None:
        """A boundary was made: the last one of a definition is the one that is traced next."""
        boundary: Boundary = shim.__jaxlint_boundary__
        # A method that somebody holds is what keeps its entry in jit's cache: it must be let go as ever.
        hold = weakly if isinstance(shim.__wrapped__, MethodType) and not self._hold else strongly
        self.made[boundary.number] = (hold(result), hold(shim))

    @contextlib.contextmanager
    def note_trace(
        self,
        boundary: Boundary,
        serial: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parameters: inspect.Signature | None,
    ) -> Iterator[None]:
        """Keep the trace, and be at it while the block runs."""
        number = 0
        if not self.closed:
            self.work.traced.append((boundary, serial))  # for `compiled`, which hands it out again
            with contextlib.suppress(Exception):  # a flaw of ours is not to become the program's
                number = self._note(boundary.number, args, kwargs)
        with self.at(number, boundary.number):
            yield

    @contextlib.contextmanager
    def at(self, number: int, boundary: int) -> Iterator[None]:
        """Be at a trace while the block runs; let go of what is not worth keeping then."""
        self.open.append(number)
        try:
            yield
        finally:
            self.open.pop()
            self._let_go(boundary)

    def add(self, boundary: int, trace: Trace) -> int:
        """A trace of a boundary, which is its next one."""
        number = next(self._next)
        self.about[boundary]["traces"] += 1
        self.traces[number] = trace._replace(boundary=boundary, ordinal=self.about[boundary]["traces"])
        return number

    def ask(self) -> list[int]:
        """The traces in progress, outermost first; those are kept."""
        found = [number for number in self.open if number]
        self._asked.update(found)
        return found

    def _note(self, boundary: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        api = str(self.about[boundary]["api"])
        made = self.made.get(boundary)
        if made is None:
            self.about[boundary]["traces"] += 1
            return 0
        abstract = _abstract_nnx if api.startswith("nnx") else _abstract
        shapes, named = abstract((args, kwargs))
        return self.add(boundary, Trace(api, *made, shapes, named, _bytes((args, kwargs))))

    def _let_go(self, boundary: int) -> None:
        name = str(self.about[boundary]["name"])
        done = [n for n, trace in self.traces.items() if trace.boundary == boundary and n not in self.open]
        done.sort(key=lambda n: self.traces[n].argument_bytes, reverse=True)
        named = [n for n in done if (name, self.traces[n].ordinal) in self._keep]
        asked = [n for n in done if n in self._asked][:_MOST]
        for number in set(done) - {*named, *asked, *done[:1]}:
            del self.traces[number]


_kept: list[Kept] = []


def begin(keep: list[list[Any]], hold: bool = False) -> None:
    """Keep traces from now on, with `hold` those of methods that nobody else holds too.

    jax has been imported, what uses it has not.
    """
    from .recording import __file__ as recorder

    found = Kept({(str(name), int(ordinal)) for name, ordinal in keep}, hold)
    _kept.append(found)
    patches.hide_frames(os.path.dirname(os.path.abspath(recorder)))
    found.patches = patches.Patches(Shims(found), lambda: None, found.note_made)


def patch(module: ModuleType) -> None:
    """Keep what is made by the makers of a module that has just been imported (`recording.waiting.MODULES`)."""
    if _kept:
        _kept[-1].patches.patch(module)


def tracing() -> list[int]:
    """The traces in progress, outermost first. They are kept."""
    return _kept[-1].ask() if _kept else []


def compiled(name: str) -> dict[str, int | None]:
    """What is being compiled under this name, where that is a boundary's trace: `boundary`, and `function`, the
    number of the very function object, of which one definition may have several."""
    boundary, serial = _kept[-1].compiled(name) if _kept and name else (None, None)
    return {"boundary": boundary.number if boundary is not None else None, "function": serial}


def made_as(function: Any) -> tuple[str, Any] | None:
    """The api that made a boundary and the function it traces; None for what is no boundary that is known."""
    kept = _kept[-1]
    for number, (result, shim) in kept.made.items():
        if result() is function:
            return str(kept.about[number]["api"]), shim()
    return ("jax.jit", function) if hasattr(function, "lower") else None


@contextlib.contextmanager
def registered(trace: Trace, place: list[Any]) -> Iterator[None]:
    """Keep a trace of a boundary that is ours, and be at it while the block runs."""
    kept = _kept[-1]
    boundary = kept.of("jaxlint", trace.function, place).number
    kept.about[boundary].update(name=str(place[2]), place=place)
    held = trace._replace(jitted=strongly(trace.jitted), function=strongly(trace.function))
    number = kept.add(boundary, held)
    kept.ask()
    with kept.at(number, boundary):
        kept.ask()
        yield


def strongly(thing: Any) -> Holder:
    """A holder that keeps a thing alive."""
    return lambda: thing


def weakly(thing: Any) -> Holder:
    """A holder that does not: it gives None when the thing is gone."""
    return weakref.ref(thing)


def described() -> list[dict[str, Any]]:
    """The boundaries: id, api, name, place (of the function), wrapped (places of jit calls), traces (how many),
    definitions (how many stand at the place).

    `kept` are the traces that can be lowered again: id, ordinal (which of the boundary's), bytes (of arguments).
    """
    if not _kept:
        return []
    found = {number: {**about, "kept": []} for number, about in _kept[-1].about.items()}
    for number, one in _kept[-1].traces.items():
        entry = {"id": number, "ordinal": one.ordinal, "bytes": one.argument_bytes}
        found[one.boundary]["kept"].append(entry)
    return list(found.values())


def trace(number: int) -> Trace:
    """A trace that was kept. Raises LookupError."""
    if not _kept or number not in _kept[-1].traces:
        raise LookupError("the trace was not kept")
    _kept[-1].closed = True
    found = _kept[-1].traces[number]
    jitted, function = found.jitted(), found.function()
    if jitted is None or function is None:
        raise LookupError("the jitted method is gone after the run, and with it what could be compiled again")
    return found._replace(jitted=jitted, function=function)


def _code(function: Any) -> Any:
    """What tells a lambda from another on its line; from Python 3.11 columns do."""
    code = getattr(function, "__code__", None)
    positions = getattr(code, "co_positions", None)
    return code, next(iter(positions()), None) if positions is not None else None


def _bytes(tree: Any) -> int:
    import jax

    return sum(
        int(leaf.size) * int(getattr(leaf.dtype, "itemsize", 4))
        for leaf in jax.tree_util.tree_leaves(tree)
        if hasattr(leaf, "dtype") and hasattr(leaf, "size")
    )


def _abstract(tree: Any) -> Any:
    """Arguments with shapes in place of the tracers."""
    import jax

    def shape(leaf: Any) -> Any:
        if not isinstance(leaf, jax.core.Tracer):
            return leaf
        weak = {"weak_type": True} if getattr(leaf, "weak_type", False) else {}
        struct: Any = jax.ShapeDtypeStruct
        return struct(leaf.shape, leaf.dtype, **weak)

    return jax.tree_util.tree_map(shape, tree)


def _abstract_nnx(tree: Any) -> Any:
    """The same for the modules of flax.nnx, which are graphs and no trees."""
    from flax import nnx

    definition, state = nnx.split(tree)
    return nnx.merge(definition, _abstract(state))
