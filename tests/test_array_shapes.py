"""Shapes by syntax against what jax and numpy give."""

from __future__ import annotations

import ast
from pathlib import Path

from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.callees import Scope
from jaxlint.flow.shapes.shape_values import Array, Known, Number
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.session import Session

# A name that ends in an underscore may be unknown; every other has to be known, and none may be wrong.
PROGRAM = """
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular

N, D = 12, 3
rng = np.random.default_rng(0)
old = np.random.RandomState(0)
x = jnp.asarray(rng.normal(0, 1, (N, D)), jnp.float32)
drawn = old.rand(4, 2)
parts = jax.random.normal(jax.random.key(0), shape=(2, N))
outer = x[:, None] - x[None]
square = (outer ** 2).sum(-1) + jnp.eye(N)
mean = square.mean(axis=(0, 1), keepdims=True)
column = x[:, 0]
row = x[0]
tail = x[-5:, ..., 1:]
strided = x[1::4]
unknown_ = x[x[:, 0] > 0]
rolled = jnp.roll(x, 1, axis=0)
flat = x.reshape(-1)
folded = x.reshape(D, -1)
whole = x.ravel()
turned = x.T @ x
dotted = x @ row
number = row @ row
chol = jnp.linalg.cholesky(square)
alpha = cho_solve((chol, True), column)
low = solve_triangular(chol, x, lower=True)
values, vectors = jnp.linalg.eigh(square)
sign, logdet = jnp.linalg.slogdet(square)
length = jnp.linalg.norm(x, axis=1)
diagonal = jnp.diag(square)
matrix = jnp.diag(row)
stacked = jnp.stack([x, x, x], axis=1)
joined = jnp.concatenate([x, jnp.ones((N, 2))], axis=-1)
long = jnp.concatenate([x, x[:4]])
steps = jnp.arange(N)
fine = jnp.linspace(0, 1, 7)
either = jnp.where(steps > 3, x.T, 0.0)
chances = jax.nn.softmax(x, axis=-1)
hot = jax.nn.one_hot(steps, 5)
biggest = x.max(1)
place = jnp.argmax(x, axis=0)
written = x.at[0].set(1.0)
count = len(x) // 2
wide = jnp.zeros((count, x.shape[1]))
literal = jnp.array([1.0, 2.0])
sorted_ = jnp.sort(x, axis=None)
summed_ = jnp.cumsum(x)
for member in x:
    inner = member * 2
total = jnp.zeros(D)
total += row
grown_ = jnp.zeros(D)
grown_ += jnp.ones((2, D))
either_ = x
if count > 3:
    either_ = either_.T
key = jax.random.key(0)
keys = jax.random.split(key, N)
sub, other = jax.random.split(key)
chances_of = jax.random.gamma(sub, 2.0, (50,))
kept_or_not = jax.random.bernoulli(other, chances)
summed = jnp.cumsum(row)
running = jnp.cumsum(x, axis=0)
levels = jax.vmap(lambda r: r.sum())(x)
apart = jax.vmap(lambda r, other: r - other, in_axes=(0, None))(x, x)
swapped_ = jax.vmap(lambda c: c * 2, in_axes=1)(x)
last_ages = lax.map(lambda k: jnp.cumsum(jax.random.gamma(k, 2.0, (50,)))[-1], keys)


class Tracked(NamedTuple):
    place: jax.Array
    speed: jax.Array


tracked = Tracked(x, speed=row)
placed = tracked.place
like_speed = jnp.zeros(tracked.speed.shape[0])
first_of, second_of = Tracked(row, column)
moved = jax.vmap(lambda t: t.place - t.speed)(Tracked(x, x)).sum(0)


def smooth(carry, entry):
    carry = 0.9 * carry + entry
    return carry, {"now": carry, "norm": carry @ carry}


end, trail = lax.scan(smooth, jnp.zeros(D), x)
nows, norms = trail["now"], trail["norm"]
_, walked = lax.scan(lambda c, _: (c + 1.0, c), jnp.zeros(2), None, length=9)


def simulate(start, n):
    scale = start * 2

    def move(position, k):
        return position + scale * jax.random.normal(k, start.shape), (position * scale).max()

    def off(v):
        return v - start

    path = lax.scan(move, start, jax.random.split(jax.random.key(1), n))[1]
    return path, jax.vmap(off)(x)


peaks, offsets = simulate(row, 6)


def kernel(a, b, scale=1.0):
    a = a / scale
    return jnp.exp(-jnp.sqrt(((a[:, None] - b) ** 2).sum(-1)))


def pair(a):
    return a.sum(), {"mean": a.mean(0)}


def endless(n):
    for _ in range(n):
        yield jnp.ones((n, 4))


gram = kernel(x, x[:5], 0.5)
first, table = pair(x)
mean_of = table["mean"]
fast = jax.jit(kernel)
quick = fast(x, x)
members = [m.sum(0) for m in endless(3)]
for batch in endless(count):
    kept = batch[0]
"""


def _shape(known: Known) -> tuple[int | None, ...] | None:
    return known.shape if isinstance(known, Array) else () if isinstance(known, Number) else None


def test_as_jax_has_them(tmp_path: Path) -> None:
    import numpy as np

    (tmp_path / "program.py").write_text(PROGRAM)
    project = Project(str(tmp_path), Settings(), [str(tmp_path)])
    session = Session(discover([str(tmp_path)], project).files, project, [])
    analysis = session.analysis()
    (entry,) = session.survey.roots
    module = analysis.program.load(entry)
    assert module is not None
    analysis.program.environment(module)
    names: dict[str, object] = {}
    exec(PROGRAM, names)
    top = Scope(module, module.tree, {})
    checked, wrong = 0, {}
    for name, value in names.items():
        if not isinstance(value, (int, np.ndarray)) and not hasattr(value, "aval"):
            continue
        if "key" in str(getattr(value, "dtype", "")):
            continue
        found = ArrayShapes(analysis.program).of(ast.Name(name, ast.Load()), top)
        wanted = (np.shape(value), None) if name.endswith("_") else (np.shape(value),)
        if _shape(found) not in wanted:
            wrong[name] = found, np.shape(value)
        if isinstance(found, Number) and found.value is not None:
            assert found.value == value, name
        checked += 1
    assert checked > 70
    assert not wrong
