"""The jit boundaries that a program made and traced, kept so that they can be lowered again afterwards.

Built on the recorder (`recording`), which hands out what it sees of each trace. Of every boundary one trace is
kept, that with the largest arguments: arrays as shapes, static values as they are, so that little is pinned.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from .recording import patches
from .recording.boundaries import Boundaries, Boundary
from .recording.definitions import definition
from .recording.journal import Journal
from .recording.shims import Shims


class Trace(NamedTuple):
    """A trace: the boundary's own object, and arguments that lower it as they did then."""

    api: str
    jitted: Any
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argument_bytes: int


class _Nowhere(Journal):
    """A journal that nobody reads."""

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def write(self, kind: str, **fields: Any) -> None:
        """Nothing."""


class Kept(Boundaries):
    """The recorder's boundaries, with a trace of each to go back to. `by_number` are those."""

    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.by_number: dict[int, Trace] = {}
        self.about: dict[int, dict[str, Any]] = {}
        self.made: dict[int, tuple[Any, Any]] = {}
        self.numbered: dict[int, Boundary] = {}
        self.closed = False

    def of(self, api: str, function: Any, wrapped: list[Any]) -> Boundary:
        """As the recorder's; what it is and where is noted."""
        boundary = super().of(api, function, wrapped)
        self.numbered[boundary.number] = boundary
        about = self.about.setdefault(
            boundary.number,
            {"id": boundary.number, "api": api, "name": boundary.name, "place": definition(function)},
        )
        about.setdefault("wrapped", []).append(wrapped)
        return boundary

    def note_made(self, shim: Any, result: Any) -> None:
        """A boundary was made: the last one of a definition is the one that is traced next."""
        boundary: Boundary = shim.__jaxlint_boundary__
        self.made[boundary.number] = (result, shim)

    @contextlib.contextmanager
    def note_trace(
        self,
        boundary: Boundary,
        serial: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parameters: inspect.Signature | None,
    ) -> Iterator[None]:
        """Keep the trace if its arguments are the largest so far."""
        if not self.closed:
            boundary.traces += 1
            with contextlib.suppress(Exception):  # a flaw of ours is not to become the program's
                self._keep(boundary, args, kwargs)
        self.work.tracing.append(boundary)
        try:
            yield
        finally:
            self.work.tracing.pop()

    def _keep(self, boundary: Boundary, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        made = self.made.get(boundary.number)
        if made is None:
            return
        api = str(self.about[boundary.number]["api"])
        size = _bytes((args, kwargs))
        known = self.by_number.get(boundary.number)
        if known is None or size >= known.argument_bytes:
            abstract = _abstract_nnx if api.startswith("nnx") else _abstract
            shapes, named = abstract((args, kwargs))
            self.by_number[boundary.number] = Trace(api, *made, shapes, named, size)


_kept: list[Kept] = []


def begin() -> None:
    """Keep boundaries from now on. jax has been imported, what uses it has not."""
    from .recording import __file__ as recorder

    found = Kept()
    _kept.append(found)
    patches.hide_frames(os.path.dirname(os.path.abspath(recorder)))
    patches.Patches(Shims(found), lambda: None, found.note_made).install()


def tracing() -> list[int]:
    """The boundaries that are being traced, outermost first."""
    return [boundary.number for boundary in _kept[-1].work.tracing] if _kept else []


def made_as(function: Any) -> tuple[str, Any] | None:
    """The api that made a boundary and the function it traces; None for what is no boundary that is known."""
    kept = _kept[-1]
    for number, (result, shim) in kept.made.items():
        if result is function:
            return str(kept.about[number]["api"]), shim
    return ("jax.jit", function) if hasattr(function, "lower") else None


def register(trace: Trace, place: list[Any]) -> int:
    """Keep a trace that nobody made yet, as one of a boundary of its own."""
    kept = _kept[-1]
    boundary = kept.of("jaxlint", trace.function, place)
    boundary.name = str(place[2])
    boundary.traces += 1
    kept.about[boundary.number].update(name=boundary.name, place=place)
    kept.by_number[boundary.number] = trace
    return boundary.number


@contextlib.contextmanager
def at(number: int) -> Iterator[None]:
    """Be tracing a registered boundary while the block runs."""
    kept = _kept[-1]
    kept.work.tracing.append(kept.numbered[number])
    try:
        yield
    finally:
        kept.work.tracing.pop()


def described() -> list[dict[str, Any]]:
    """The boundaries: id, api, name, place (of the function), wrapped (places of jit calls), traces."""
    if not _kept:
        return []
    kept = _kept[-1]
    return [{**about, "traces": kept.numbered[number].traces} for number, about in kept.about.items()]


def trace(number: int) -> Trace:
    """The trace that was kept of a boundary. Raises LookupError."""
    if not _kept or number not in _kept[-1].by_number:
        raise LookupError("the boundary was not traced")
    _kept[-1].closed = True
    return _kept[-1].by_number[number]


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
