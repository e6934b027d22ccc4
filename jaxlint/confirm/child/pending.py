"""The results of a wide vmap before they are computed: only a reduction of them is, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REDUCTIONS = ("mean", "sum", "std", "var", "max", "min")


class Unsupported(Exception):
    """The program does more with the results than reduce them."""


class Variants:
    """`compute(chunk)` gives the results, a tree of arrays with a leading axis, of a chunk of `chunks`."""

    def __init__(self, compute: Callable[[Any], Any], chunks: Any, number: int, chunk: int) -> None:
        """`chunks` is a tree of arrays of shape (number // chunk, chunk, ...)."""
        self._compute = compute
        self._chunks = chunks
        self._number = number
        self._chunk = chunk
        self._known: dict[str, list[Any]] = {}

    def pending(self) -> Any:
        """The tree of results, none of which is there."""
        import jax

        first = jax.tree_util.tree_map(lambda leaf: leaf[0], self._chunks)
        leaves, structure = jax.tree_util.tree_flatten(jax.eval_shape(self._compute, first))
        return jax.tree_util.tree_unflatten(
            structure,
            [Pending(self, index, (self._number, *leaf.shape[1:])) for index, leaf in enumerate(leaves)],
        )

    def reduced(self, kind: str, index: int, change: Callable[[Any], Any] | None) -> Any:
        """One reduction over the mapped axis, of the result of that number, changed element by element before."""
        if change is not None:
            return self._scan(kind, lambda leaves: [change(leaves[index])])[0]
        if kind not in self._known:
            self._known[kind] = self._scan(kind, lambda leaves: leaves)
        return self._known[kind][index]

    def _scan(self, kind: str, choose: Callable[[list[Any]], list[Any]]) -> list[Any]:
        import jax
        import jax.numpy as jnp

        def results(chunk: Any) -> list[Any]:
            return choose(jax.tree_util.tree_leaves(self._compute(chunk)))

        def step(carry: tuple[Any, list[Any]], chunk: Any) -> tuple[Any, None]:
            done, states = carry
            merged = [
                _merge(kind, done, s, self._chunk, new) for s, new in zip(states, results(chunk), strict=True)
            ]
            return (done + self._chunk, merged), None

        first = jax.tree_util.tree_map(lambda leaf: leaf[0], self._chunks)
        shapes = jax.eval_shape(results, first)
        begin = [_begin(kind, shape.shape[1:], shape.dtype) for shape in shapes]
        (_, states), _ = jax.lax.scan(step, (jnp.float32(0), begin), self._chunks)
        return [_end(kind, state, self._number) for state in states]


def _begin(kind: str, shape: tuple[int, ...], dtype: Any) -> Any:
    import jax.numpy as jnp

    if kind in ("max", "min"):
        limits: Any = jnp.iinfo
        least, most = -jnp.inf, jnp.inf
        if not jnp.issubdtype(dtype, jnp.inexact):
            least, most = limits(dtype).min, limits(dtype).max
        return jnp.full(shape, least if kind == "max" else most, dtype)
    dtype = dtype if kind == "sum" or jnp.issubdtype(dtype, jnp.inexact) else jnp.float32
    zeros = jnp.zeros(shape, dtype)
    return (zeros, zeros) if kind in ("std", "var") else zeros


def _merge(kind: str, done: Any, state: Any, chunk: int, new: Any) -> Any:
    """The state of a reduction after a chunk more (for variances: Chan's update of mean and squares)."""
    import jax.numpy as jnp

    if kind in ("max", "min"):
        return getattr(jnp, f"{kind}imum")(state, getattr(new, kind)(axis=0))
    if kind in ("std", "var"):
        mean, squares = state
        inside = new.mean(axis=0)
        away = inside - mean
        total = done + chunk
        squares = squares + ((new - inside) ** 2).sum(axis=0) + away**2 * (done * chunk / total)
        return (mean + away * (chunk / total)).astype(mean.dtype), squares.astype(mean.dtype)
    return (state + new.sum(axis=0)).astype(state.dtype)


def _end(kind: str, state: Any, number: int) -> Any:
    if kind == "mean":
        return state / number
    if kind in ("std", "var"):
        variance = state[1] / number
        return variance**0.5 if kind == "std" else variance
    return state


class Pending:
    """One array of the results. It can be changed element by element and reduced over its first axis."""

    def __init__(
        self, of: Variants, index: int, shape: tuple[int, ...], change: Callable[[Any], Any] | None = None
    ) -> None:
        self._of = of
        self._index = index
        self._change = change
        self.shape = shape

    @property
    def ndim(self) -> int:
        """As an array's."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def reduce(self, kind: str, axis: Any = None) -> Any:
        """What `jnp.KIND(self, axis)` is. Raises Unsupported."""
        over = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
        if over is None and kind in ("mean", "sum", "max", "min"):
            return getattr(self._of.reduced(kind, self._index, self._change), kind)()
        if over not in (0, -len(self.shape)):
            raise Unsupported(f"it is reduced over axis {axis}")
        return self._of.reduced(kind, self._index, self._change)

    def changed(self, how: Callable[[Any], Any]) -> Pending:
        """The same with a change of each element."""
        before = self._change
        return Pending(self._of, self._index, self.shape, how if before is None else lambda x: how(before(x)))

    def __getattr__(self, name: str) -> Any:
        if name in REDUCTIONS:
            return lambda axis=None: self.reduce(name, axis)
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(f"it uses `.{name}` of the results")


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Pending, *others: Any) -> Any:
        if any(getattr(other, "shape", ()) for other in others):
            raise Unsupported("it combines the results with other arrays")
        return self.changed(lambda x: getattr(x, name)(*others))

    return apply


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Pending, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Pending, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in ("neg", "abs"):
    setattr(Pending, f"__{_name}__", _operator(f"__{_name}__"))
