"""What the functions of numpy and jax make of shapes (jax 0.10.2). None is what is not known."""

from __future__ import annotations

import ast
import math

from jaxlint.flow.shapes import random_shapes
from jaxlint.flow.shapes.shape_values import (
    Array,
    Items,
    Known,
    Many,
    Number,
    Table,
    broadcast,
    dimensions,
    made_with,
    product,
    size,
)
from jaxlint.jax_api.shape_names import ELEMENTWISE, MAKERS, REDUCTIONS, SAME, SAME_METHODS

_HOMES = ("jax.numpy", "numpy", "jax.lax", "jax.nn", "jax.scipy.special")
_CARRYING = {"fori_loop": (3, "init_val"), "while_loop": (2, "init_val")}
_LINEAR = ("jax.numpy.linalg", "numpy.linalg", "jax.scipy.linalg", "scipy.linalg")


def _axes(axis: Known, rank: int) -> set[int] | None:
    numbers = dimensions(axis)
    if numbers is None or any(n is None or not -rank <= n < rank for n in numbers):
        return None
    return {n % rank for n in numbers}  # type: ignore[operator]  # no None in it


def _reduced(array: Known, node: ast.Call, words: dict[str, Known], axis: Known, given: bool) -> Known:
    if not isinstance(array, Array) or not set(words) <= {"axis", "keepdims", "ddof"}:
        return None
    given = given or "axis" in words
    axis = words.get("axis", axis)
    keeps = next((k.value for k in node.keywords if k.arg == "keepdims"), None)
    if keeps is not None and not (isinstance(keeps, ast.Constant) and isinstance(keeps.value, bool)):
        return None
    none = any(
        k.arg == "axis" and isinstance(k.value, ast.Constant) and k.value.value is None for k in node.keywords
    )
    rank = len(array.shape)
    axes = set(range(rank)) if not given or none else _axes(axis, rank)
    if axes is None:
        return None
    kept = [1 if i in axes else d for i, d in enumerate(array.shape)]
    if keeps is not None and keeps.value:
        return Array(tuple(kept))
    return Array(tuple(d for i, d in enumerate(array.shape) if i not in axes))


def _reshaped(array: Known, to: Known) -> Known:
    shape = dimensions(to)
    if not isinstance(array, Array) or shape is None or None in shape:
        return None
    if -1 not in shape:
        return Array(shape)
    whole, rest = size(array), -math.prod(shape)  # type: ignore[arg-type]  # no None in it
    if whole is None or rest <= 0 or shape.count(-1) > 1:
        return Array(tuple(None if d == -1 else d for d in shape)) if shape.count(-1) == 1 else None
    return Array(tuple(whole // rest if d == -1 else d for d in shape))


def _joined(arrays: Known, axis: Known) -> Known:
    """`concatenate`: along the other axes all are alike."""
    members = arrays.members if isinstance(arrays, Items) else ()
    known = [m for m in members if isinstance(m, Array) and m.shape]
    where = axis.value if isinstance(axis, Number) else None
    if not known or where is None:
        return None
    rank = len(known[0].shape)
    if any(len(m.shape) != rank for m in known) or not -rank <= where < rank:
        return None
    shape: list[int | None] = [
        next((m.shape[i] for m in known if m.shape[i] is not None), None) for i in range(rank)
    ]
    along = [m.shape[where] for m in known]
    shape[where % rank] = None if len(known) < len(members) or None in along else sum(along)  # type: ignore[arg-type]  # no None in it
    return Array(tuple(shape))


def _stacked(arrays: Known, axis: Known) -> Known:
    members = arrays.members if isinstance(arrays, Items) else ()
    known = [m for m in members if isinstance(m, (Array, Number))]
    where = axis.value if isinstance(axis, Number) else None
    if not known or where is None:
        return None
    shapes = {m.shape if isinstance(m, Array) else () for m in known}
    whole = {s for s in shapes if None not in s}
    if len(whole) != 1 and len(shapes) != 1:
        return None
    shape = list((whole or shapes).pop())
    at = where if where >= 0 else where + len(shape) + 1
    return Array((*shape[:at], len(members), *shape[at:]))


def reshaped_anyhow(arguments: list[Known], words: dict[str, Known]) -> Known:
    """`x.reshape(n, 3)` for an `x` that is not known: all that is asked for."""
    spread = arguments[0] if len(arguments) == 1 else Items(tuple(arguments))
    shape = dimensions(spread)
    if words or shape is None or None in shape:
        return None
    return Array(tuple(None if d == -1 else d for d in shape))


def method(owner: Array, name: str, node: ast.Call, arguments: list[Known], words: dict[str, Known]) -> Known:
    """A method of an array."""
    if name == "reshape":
        spread = arguments[0] if len(arguments) == 1 else Items(tuple(arguments))
        return _reshaped(owner, spread) if not words else None
    if name in ("ravel", "flatten"):
        return Array((size(owner),))
    if name in ("transpose",):
        return Array(owner.shape[::-1]) if not arguments else None
    if name in ("item", "tolist"):
        return Number(None) if name == "item" else None
    if name in REDUCTIONS:
        return _reduced(owner, node, words, arguments[0] if arguments else None, bool(arguments))
    if name == "dot":
        return product(owner, arguments[0]) if len(arguments) == 1 and len(owner.shape) < 3 else None
    return owner if name in SAME_METHODS else None


def result(dotted: str, node: ast.Call, arguments: list[Known], words: dict[str, Known]) -> Known:
    """What a function of a library gives, by its canonical name."""
    head, _, last = dotted.rpartition(".")
    first = arguments[0] if arguments else None
    if head == "builtins":
        return _builtin(last, first, arguments)
    if dotted in ("math.prod", "numpy.prod") and isinstance(first, Items) and len(arguments) == 1:
        sizes = dimensions(first)
        return Number(math.prod(sizes) if sizes is not None and None not in sizes else None)  # type: ignore[arg-type]  # no None in it
    if head == "jax.random" or head == "numpy.random":
        if head == "numpy.random":
            return random_shapes.drawn(last, arguments, words)
        return random_shapes.of_key(last, arguments, words)
    if head in _LINEAR:
        return _linear(last, node, arguments, words)
    if head == "jax.lax" and last in _CARRYING:
        return _carried(last, arguments, words)
    if dotted == "jax.device_put":
        return first if isinstance(first, Array) else None
    return _function(last, node, arguments, words) if head in _HOMES else None


def _builtin(name: str, first: Known, arguments: list[Known]) -> Known:
    """A function of Python's own."""
    if name == "range":
        return Many(Number(None))
    if name == "len":
        if isinstance(first, Array):
            return Number(first.shape[0]) if first.shape else None
        return Number(len(first.members)) if isinstance(first, (Items, Table)) else None
    numbers = [a.value for a in arguments if isinstance(a, Number)]
    if name == "float" or not numbers or len(numbers) < len(arguments) or None in numbers:
        return Number(None)
    return Number((min if name == "min" else max)(numbers))  # type: ignore[type-var]  # no None in it


def _carried(last: str, arguments: list[Known], words: dict[str, Known]) -> Known:
    """What a loop of jax is begun with has the shape of what it leaves."""
    position, word = _CARRYING[last]
    return words.get(word, arguments[position] if position < len(arguments) else None)


def _linear(last: str, node: ast.Call, arguments: list[Known], words: dict[str, Known]) -> Known:
    first, second = [*arguments, None, None][:2]
    if last == "cho_solve":
        return second if isinstance(second, Array) else None
    if last in ("solve", "solve_triangular"):
        square = isinstance(first, Array) and len(first.shape) == 2
        return second if square and isinstance(second, Array) and len(second.shape) < 3 else None
    if last == "cho_factor":
        return Items((first, Number(None))) if isinstance(first, Array) else None
    if last == "eigh" and isinstance(first, Array) and first.shape:
        return Items((Array(first.shape[:-1]), first))
    if last == "eigvalsh" and isinstance(first, Array) and first.shape:
        return Array(first.shape[:-1])
    if last in ("det", "slogdet") and isinstance(first, Array) and len(first.shape) > 1:
        batch = Array(first.shape[:-2])
        return batch if last == "det" else Items((batch, batch))
    if last == "norm":
        return _reduced(first, node, words, None, False) if len(arguments) == 1 else None
    square = isinstance(first, Array) and last in ("cholesky", "inv", "expm")
    return first if square else None


def _function(last: str, node: ast.Call, arguments: list[Known], words: dict[str, Known]) -> Known:
    first, second = [*arguments, None, None][:2]
    if last == "where":
        return broadcast(arguments) if len(arguments) == 3 else None
    if last in ELEMENTWISE:
        extra = {"min", "max", "a_min", "a_max"} if last == "clip" else set()
        return broadcast([*arguments, *(v for k, v in words.items() if k in extra)])
    if last in REDUCTIONS:
        return _reduced(first, node, words, second, len(arguments) > 1)
    if last in MAKERS:
        return made_with(words.get("shape", first))
    if last in ("asarray", "array"):
        nested = isinstance(first, Items) and all(isinstance(m, (Number, Array)) for m in first.members)
        made = _stacked(first, Number(0)) if nested else first
        return Array(()) if isinstance(made, Number) else made if isinstance(made, Array) else None
    if last in ("eye", "identity"):
        wide = words.get("M", second) if last == "eye" and (len(arguments) > 1 or "M" in words) else first
        return made_with(Items((first, wide)))
    if last == "arange" and len(arguments) == 1:
        return made_with(first) if isinstance(first, Number) else None
    if last == "linspace":
        return made_with(words.get("num", arguments[2] if len(arguments) > 2 else Number(50)))
    if last == "meshgrid":
        return _mesh(node, arguments)
    if last == "broadcast_to":
        return made_with(words.get("shape", second))
    if last == "reshape":
        return _reshaped(first, second)
    if last == "ravel":
        return Array((size(first),)) if isinstance(first, Array) else None
    if last == "transpose":
        return (
            Array(first.shape[::-1])
            if isinstance(first, Array) and len(arguments) == 1 and not words
            else None
        )
    if last in ("concatenate", "stack"):
        axis = words.get("axis", second if len(arguments) > 1 else Number(0))
        return (_joined if last == "concatenate" else _stacked)(first, axis)
    if last in ("cumsum", "cumprod") and isinstance(first, Array):
        along = "axis" in words or len(arguments) > 1
        return first if along or len(first.shape) == 1 else Array((size(first),))
    if last == "vdot":
        return Array(()) if _small(first, second) else None
    if last in ("dot", "matmul"):
        return product(first, second) if last == "matmul" or _small(first, second) else None
    if last == "outer" and isinstance(first, Array) and isinstance(second, Array):
        return Array((size(first), size(second)))
    if (
        last in ("diag", "diagonal", "trace")
        and isinstance(first, Array)
        and len(arguments) == 1
        and not words
    ):
        return _diagonal(last, first)
    if last == "one_hot" and isinstance(first, Array) and isinstance(second, Number) and not words:
        return Array((*first.shape, second.value))
    kept = last in SAME and isinstance(first, Array) and "shape" not in words
    return first if kept else None


def _mesh(node: ast.Call, arguments: list[Known]) -> Known:
    """`meshgrid(x, y)`: one array for each, of as many rows as `y` has, or as `x` has with `indexing="ij"`."""
    lengths = [a.shape[0] if isinstance(a, Array) and len(a.shape) == 1 else None for a in arguments]
    order = [k.value.value if isinstance(k.value, ast.Constant) else None for k in node.keywords]
    if any(k.arg != "indexing" for k in node.keywords) or not set(order) <= {"xy", "ij"}:
        return None
    if order != ["ij"]:
        lengths[:2] = lengths[1::-1]
    return Items((Array(tuple(lengths)),) * len(lengths))


def _small(*sides: Known) -> bool:
    return all(isinstance(side, Array) and len(side.shape) < 3 for side in sides)


def _diagonal(last: str, array: Array) -> Known:
    if len(array.shape) == 1 and last == "diag":
        return Array(array.shape * 2)
    if len(array.shape) != 2:
        return None
    if last == "trace":
        return Array(())
    known = [d for d in array.shape if d is not None]
    return Array((min(known) if len(known) == 2 else None,))
