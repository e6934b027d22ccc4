"""What jaxlint takes for granted about jax and its neighbours is so in the versions that are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from jaxlint.jax_api import (
    arrays,
    boundaries,
    categories,
    class_families,
    loading,
    precision,
    runtime,
    transforms,
)

# An interpreter that has the libraries, where that is not the one that runs the tests.
JAX_PYTHON = os.environ.get("JAXLINT_JAX_PYTHON", sys.executable)
LIBRARIES = (
    "jax",
    "equinox",
    "flax",
    "optax",
    "chex",
    "haiku",
    "jax_dataclasses",
    "jaxopt",
    "optimistix",
    "lineax",
    "orbax",
    "penzai",
)

Release = tuple[int, ...]


class Span(NamedTuple):
    """The releases that have a name: from `since` on, and before `until`."""

    since: str
    until: str
    reason: str

    def covers(self, version: str) -> bool:
        return release(self.since or "0") <= release(version) < release(self.until or "999")


# Names that not every supported version has. Code in the wild still uses the old ones, and the new ones already.
SPANS: dict[str, Span] = {
    "jax.pjit": Span(
        "0", "0", "no public name: `categories.canonical` makes it of jax.experimental.pjit.pjit"
    ),
    "jax.tree_map": Span("", "0.6.0", "jax.tree.map"),
    "jax.tree_leaves": Span("", "0.6.0", "jax.tree.leaves"),
    "jax.tree.map_with_path": Span("0.4.38", "", "new"),
    "jax.shard_map": Span("0.6.1", "", "out of jax.experimental"),
    "jax.lax.axis_size": Span("0.6.1", "", "new"),
    "jax.scipy.linalg.solve_sylvester": Span("0.8.0", "", "new"),
    "jax.device_put_replicated": Span("", "0.10.0", "jax.device_put"),
    "jax.ad_checkpoint.checkpoint": Span("", "0.10.0", "jax.checkpoint"),
    "jax.ad_checkpoint.remat": Span("", "0.10.0", "jax.checkpoint"),
    "jax.config.config.update": Span("", "0.4.29", "the module jax.config became an object"),
    "jax.random.default_prng_impl": Span("", "0.4.35", "gone before the oldest version looked at"),
    "jax.numpy.in1d": Span("", "0.4.35", "jax.numpy.isin; gone before the oldest version looked at"),
    "jax.numpy.row_stack": Span("", "0.4.35", "jax.numpy.vstack; gone before the oldest version looked at"),
    "jax.experimental.compilation_cache.compilation_cache.initialize_cache": Span(
        "", "0.8.0", "set_cache_dir"
    ),
    "flax.nnx.Pytree": Span("0.11.1", "", "flax.nnx.Object"),
    "haiku.jit": Span("", "0.0.7", "jax.jit"),
}
# Keywords that only some versions have.
KEYWORDS = {("jax.numpy.reshape", "newshape"): Span("", "0.6.0", "shape")}

# Tables of last names, and where such a function may be found.
LAST_NAMES: dict[str, tuple[Iterable[str], tuple[str, ...]]] = {
    "STATIC_JNP": (arrays.STATIC_JNP, ("jax.numpy",)),
    "DTYPES": (arrays.DTYPES, ("jax.numpy", "numpy")),
    "TYPES": (arrays.TYPES, ("jax.numpy", "numpy")),
    "DATA_SHAPED": (arrays.DATA_SHAPED, ("jax.numpy",)),
    "BOOLEAN": (arrays.BOOLEAN, ("jax.numpy",)),
    "GROWING": (arrays.GROWING, ("jax.numpy",)),
    "REDUCTIONS": (arrays.REDUCTIONS, ("jax.numpy", "jax.nn")),
    "SIZED": (arrays.SIZED, ("jax.numpy",)),
    "MAKERS": (arrays.MAKERS, ("jax.numpy", "jax.random")),
}
DOTTED: dict[str, Iterable[str]] = {
    "categories": categories._EXACT,
    "SIZED_LAX": arrays.SIZED_LAX,
    "TRANSFORMS": transforms.TRANSFORMS,
    "COMPILED": transforms.COMPILED_PER_BODY | transforms.COMPILED_ALWAYS,
    "BACKEND": runtime.BACKEND_FREE | runtime.BACKEND_STARTERS,
    "LOADERS": loading.LOADERS,
    "class families": {*class_families.BASES, *class_families.DECORATORS},
    "solvers": precision._SOLVES | precision.SECOND_ORDER | precision.TAKES_SOLVER | precision.TREE_CASTS,
}


def release(version: str) -> Release:
    """The numbers of a version: (0, 10, 2)."""
    return tuple(int(part) for part in version.split("+")[0].split(".") if part.isdigit())


def known_names() -> list[str]:
    dotted = {name for names in DOTTED.values() for name in names}
    last = {f"{home}.{name}" for names, homes in LAST_NAMES.values() for name in names for home in homes}
    return sorted(name for name in dotted | last if name.partition(".")[0] in (*LIBRARIES, "numpy"))


class Libraries:
    """What is installed."""

    def __init__(self) -> None:
        done = subprocess.run(
            [JAX_PYTHON, str(Path(__file__).with_name("table_child.py"))],
            input=json.dumps(known_names()),
            env=os.environ | {"JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        self.versions: dict[str, str] = answer["versions"]
        self.names: dict[str, list[list[str]] | None] = answer["names"]

    def expected(self, name: str) -> bool:
        """Whether the installed version is one that has the name. Skips where the library is not there."""
        return self._in_span(name, SPANS.get(name))

    def expects_keyword(self, name: str, keyword: str) -> bool:
        return self._in_span(name, KEYWORDS.get((name, keyword)))

    def parameters(self, name: str) -> tuple[list[str], list[str]]:
        """The parameters that may be passed by position, and all of them. Skips where there is no such name."""
        if not self.expected(name):
            pytest.skip(f"{name} is not in the installed version: {SPANS[name].reason}")
        found = self.names[name]
        assert found is not None, f"{name} does not exist"
        return found[0], found[1]

    def _in_span(self, name: str, span: Span | None) -> bool:
        library = name.partition(".")[0]
        if library not in self.versions:
            pytest.skip(f"{library} is not installed")
        return span is None or span.covers(self.versions[library])


@pytest.fixture(scope="module")
def libraries() -> Libraries:
    return Libraries()


def each(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", sorted(names))


# ---------------------------------------------------------------- names


@each({name for names in DOTTED.values() for name in names if name.partition(".")[0] in LIBRARIES})
def test_name_exists(name: str, libraries: Libraries) -> None:
    assert (libraries.names.get(name) is not None) == libraries.expected(name)


def last_names() -> list[tuple[str, str]]:
    return [(table, name) for table, (names, _) in LAST_NAMES.items() for name in sorted(names)]


@pytest.mark.parametrize(("table", "name"), last_names())
def test_last_name_exists(table: str, name: str, libraries: Libraries) -> None:
    places = [f"{home}.{name}" for home in LAST_NAMES[table][1]]
    expected = [place for place in places if place not in SPANS or libraries.expected(place)]
    found = [place for place in places if libraries.names.get(place) is not None]
    assert bool(found) == bool(libraries.expected(places[0]) and expected)


# ---------------------------------------------------------------- arguments

SIZED = {f"jax.numpy.{name}": where for name, where in arrays.SIZED.items()} | arrays.SIZED_LAX


@each(SIZED)
def test_sizes_stand_where_the_table_says(name: str, libraries: Libraries) -> None:
    positions, keywords = SIZED[name]
    positional, every = libraries.parameters(name)
    assert {positional[position] for position in positions} <= set(keywords)
    for keyword in keywords:
        assert (keyword in every) == libraries.expects_keyword(name, keyword)


@pytest.mark.parametrize(("name", "position"), sorted(arrays.MAKERS.items()))
def test_makers_take_their_shape_where_the_table_says(name: str, position: int, libraries: Libraries) -> None:
    home = "jax.random" if libraries.names.get(f"jax.numpy.{name}") is None else "jax.numpy"
    positional, _ = libraries.parameters(f"{home}.{name}")
    assert positional[position] in {"shape", "N", "n"}


@each(transforms.CONTROL_FLOW)
def test_control_flow_takes_callables_where_the_table_says(name: str, libraries: Libraries) -> None:
    positional, _ = libraries.parameters(name)
    named = {positional[position] for position in transforms.CONTROL_FLOW[name]}
    assert named <= transforms.CALLABLE_KEYWORDS


@each({*transforms.TRACERS, *transforms.TRANSFORMS, *boundaries.BOUNDARIES} - {"flax.linen.jit"})
def test_the_function_is_the_first_argument(name: str, libraries: Libraries) -> None:
    assert libraries.parameters(name)[0][0] in {"fun", "f", "fn"}


@each(loading.LOADERS)
def test_loaders_take_the_tree_where_the_table_says(name: str, libraries: Libraries) -> None:
    position, keywords = loading.LOADERS[name]
    assert libraries.parameters(name)[0][position] in keywords


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("jax.jit", {"static_argnums", "static_argnames", "donate_argnums", "donate_argnames"}),
        ("jax.pmap", {"static_broadcasted_argnums", "donate_argnums"}),
        ("flax.nnx.jit", {"static_argnums", "static_argnames", "donate_argnums", "donate_argnames"}),
        ("equinox.filter_jit", {"donate"}),
        ("jax.vmap", {"in_axes"}),
        ("equinox.filter_vmap", {"in_axes"}),
    ],
)
def test_transform_has_the_keywords_that_are_understood(
    name: str, keywords: set[str], libraries: Libraries
) -> None:
    assert keywords <= set(libraries.parameters(name)[1])
