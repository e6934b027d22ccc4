"""What an executable takes if what a finding advises is done at its place.

Advice is no edit of the source, but for some rules it can be tried without one: the boundary is traced once more,
and the call of `jax.vmap`, `jax.lax.map` or `jax.lax.scan` at the finding's lines does what the advice says.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from . import memory
from .pending import REDUCTIONS, Pending, Unsupported, Variants

PARTS = 16  # a chunk is a sixteenth of what is mapped over

Site = tuple[str, int, int]


def run(trace: int, target: dict[str, Any], root: str, remedy: str, sites: list[Site]) -> dict[str, Any]:
    """As `memory.run`, with the remedy at the sites, and `chunk` and `results_bytes` as `Tried` has them.

    Raises Unsupported where the place does not allow it.
    """
    with applied(remedy, sites) as tried:
        figures = memory.measured(trace, target, root, memory.lowered_now(trace, target))
    if not tried.done:
        raise Unsupported("the call that it is about was not traced again")
    return {**figures, "chunk": tried.chunk, "results_bytes": tried.results_bytes}


@contextlib.contextmanager
def applied(remedy: str, sites: list[Site]) -> Iterator[Tried]:
    """What is traced meanwhile has the remedy at the sites (file, first line, last line).

    `remedy` is "chunked map" (lax.map with a batch size in place of vmap, or with a smaller one), "reduced chunks"
    (the chunks are reduced as they come) or "remat" (jax.checkpoint around a scan's body).
    """
    import jax

    clear: Any = jax.clear_caches  # or what was traced before would be taken
    tried = Tried([(os.path.realpath(file), first, last) for file, first, last in sites])
    clear()
    try:
        with _patched(_replacements(remedy, tried)):
            yield tried
    finally:
        clear()


class Tried:
    """Where a remedy is to be applied, and what became of it.

    `done` says whether the place was reached, `chunk` how many go together, `results_bytes` what all results of the
    map are together.
    """

    def __init__(self, sites: list[Site]) -> None:
        self._sites = sites
        self.done = False
        self.chunk = 0
        self.results_bytes = 0

    def is_here(self, depth: int) -> bool:
        """Whether the frame so many calls up is at one of the sites."""
        frame = sys._getframe(depth + 1)
        file, line = os.path.realpath(frame.f_code.co_filename), frame.f_lineno
        return any(file == path and first <= line <= last for path, first, last in self._sites)


def _replacements(remedy: str, tried: Tried) -> dict[Any, Any]:
    """Functions of jax, and what stands for them meanwhile."""
    import jax
    import jax.numpy as jnp

    if remedy == "remat":
        return {jax.lax.scan: _remat_scan(tried)}
    if remedy == "chunked map":
        return {jax.vmap: _vmap(tried, _mapped), jax.lax.map: _smaller_map(tried)}
    reductions = {getattr(jnp, name): _reduction(name) for name in REDUCTIONS}
    return {jax.vmap: _vmap(tried, _reduced), **reductions}


@contextlib.contextmanager
def _patched(replacements: dict[Any, Any]) -> Iterator[None]:
    """Wherever a module has one of the functions under some name, it has the other one meanwhile."""
    changed: list[tuple[dict[str, Any], str, Any]] = []
    by_id = {id(old): new for old, new in replacements.items()}
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith(("jax._src", "jaxlib")):
            continue  # jax's own inside stays what it is
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            if id(value) in by_id:
                changed.append((names, name, value))
                names[name] = by_id[id(value)]
    try:
        yield
    finally:
        for names, name, value in changed:
            names[name] = value


# ---------------------------------------------------------------- what stands for what


def _remat_scan(tried: Tried) -> Callable[..., Any]:
    import jax

    scan = jax.lax.scan

    def replaced(f: Any, *args: Any, **options: Any) -> Any:
        if tried.is_here(1):
            tried.done = True
            f = jax.checkpoint(f, prevent_cse=False)
        return scan(f, *args, **options)

    return replaced


def _smaller_map(tried: Tried) -> Callable[..., Any]:
    import jax

    original = jax.lax.map

    def replaced(f: Any, xs: Any, *, batch_size: int | None = None) -> Any:
        if not tried.is_here(1):
            return original(f, xs, batch_size=batch_size)
        number = jax.tree_util.tree_leaves(xs)[0].shape[0]
        tried.done, tried.chunk = True, _chunk(number)
        results = original(f, xs, batch_size=tried.chunk)
        tried.results_bytes = _bytes(results)
        return results

    return replaced


def _vmap(tried: Tried, instead: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    vmap = jax.vmap

    def replaced(fun: Any, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Any:
        wide = vmap(fun, in_axes, out_axes, **options)
        made_here = tried.is_here(1)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not (made_here or tried.is_here(1)):
                return wide(*args, **kwargs)
            if out_axes != 0 or kwargs or options:
                raise Unsupported("the vmap has options")
            tried.done = True
            return instead(tried, vmap, fun, in_axes, args)

        return call

    return replaced


def _mapped(tried: Tried, vmap: Any, fun: Any, in_axes: Any, args: tuple[Any, ...]) -> Any:
    """`lax.map` in chunks."""
    import jax

    mapped, call, number = _split(fun, in_axes, args)
    tried.chunk = _chunk(number)
    results = jax.lax.map(call, mapped, batch_size=tried.chunk)
    tried.results_bytes = _bytes(results)
    return results


def _reduced(tried: Tried, vmap: Any, fun: Any, in_axes: Any, args: tuple[Any, ...]) -> Any:
    """Results that are reduced a chunk at a time."""
    import jax

    mapped, call, number = _split(fun, in_axes, args)
    tried.chunk = chunk = _chunk(number)
    chunks = jax.tree_util.tree_map(
        lambda leaf: leaf.reshape(number // chunk, chunk, *leaf.shape[1:]), mapped
    )
    return Variants(vmap(call), chunks, number, chunk).pending()


def _split(fun: Any, in_axes: Any, args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], Any], int]:
    """The arguments that are mapped over, the function of those alone, and over how many they are."""
    import jax

    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    if len(axes) != len(args) or any(axis not in (0, None) for axis in axes):
        raise Unsupported("the vmap maps over other axes than the first")
    mapped = tuple(arg for arg, axis in zip(args, axes, strict=True) if axis == 0)

    def call(given: Any) -> Any:
        rest = iter(given)
        return fun(*(next(rest) if axis == 0 else arg for arg, axis in zip(args, axes, strict=True)))

    leaves = jax.tree_util.tree_leaves(mapped)
    if not leaves:
        raise Unsupported("the vmap maps over nothing")
    return mapped, call, leaves[0].shape[0]


def _chunk(number: int) -> int:
    """The largest divisor of the number that is no more than a sixteenth of it."""
    return max(part for part in range(1, max(1, number // PARTS) + 1) if number % part == 0)


def _reduction(name: str) -> Callable[..., Any]:
    import jax.numpy as jnp

    original = getattr(jnp, name)

    def replaced(a: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        if not isinstance(a, Pending):
            return original(a, axis, *args, **options)
        if args or options:
            raise Unsupported("the reduction has options")
        return a.reduce(name, axis)

    return replaced


def _bytes(tree: Any) -> int:
    import jax

    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree_util.tree_leaves(tree))
