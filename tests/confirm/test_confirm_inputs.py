"""Functions of modules: where their inputs come from, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from checked_programs import Check, verdicts

from jaxlint.confirm.child import callsites, specs
from jaxlint.confirm.overlay import Overlay, import_root, module_name

HEAD = """
import jax
import jax.numpy as jnp


@jax.jit
def last(x):
    def step(x, _):
        x = jnp.cos(x)
        return x, x

    _, xs = jax.lax.scan(step, x, None, 50)
    return xs[-1]
"""


def test_a_module_without_inputs_is_unknown_and_told_what_to_write(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"pkg/__init__.py": "", "pkg/model.py": HEAD}), "JAX303")
    assert verdict["verdict"] == "unknown"
    assert '[tool.jaxlint.confirm."pkg.model:last"]' in verdict["reason"]


@pytest.mark.parametrize("source", ["settings", "provider", "call"])
def test_inputs_come_from_settings_a_provider_or_a_call_in_the_source(confirm: Check, source: str) -> None:
    text, settings = HEAD, ""
    if source == "settings":
        settings = '[confirm."pkg.model:last"]\nargs = ["f32[100,1000]"]\n'
    elif source == "provider":
        text += '\n\ndef jaxlint_inputs():\n    return {"last": (jax.ShapeDtypeStruct((100, 1000), "float32"),)}\n'
    else:
        text += "\n\ndef use(key):\n    n = 1000\n    grid = jnp.zeros((100, n))\n    return last(grid)\n"
    [verdict] = verdicts(
        confirm({"pkg/__init__.py": "", "pkg/model.py": text, "jaxlint.toml": settings}), "JAX303"
    )
    assert verdict["verdict"] == "confirmed"
    assert verdict["arms"][0]["argument_bytes"] == 400_000


def test_specifications_are_shapes_keys_factories_and_plain_values() -> None:
    found = specs.value(["f32[8,128]", "bf16[]", "key[]", "rawkey[]", 3, "mean"])
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in found[:4]]
    assert shapes == [((8, 128), "float32"), ((), "bfloat16"), ((), "key<fry>"), ((2,), "uint32")]
    assert found[4:] == [3, "mean"]


def test_a_dtype_is_never_guessed() -> None:
    with pytest.raises(specs.WrongSpec, match="'f31' is no dtype"):
        specs.value("f31[2]")


def test_calls_are_evaluated_without_arrays() -> None:
    source = "a = jnp.zeros((1 << 20, 1 << 20))\nfirst, second = a.T, 3\nf(first, n=second)\n"
    module = ModuleType("made")
    module.jnp = jnp  # type: ignore[attr-defined]
    args, kwargs = callsites.inputs(module, source, "f")
    assert isinstance(args[0], jax.ShapeDtypeStruct)
    assert (args[0].shape, kwargs) == ((1 << 20, 1 << 20), {"n": 3})


def test_an_overlay_replaces_one_file_and_links_all_else(tmp_path: Path) -> None:
    package = tmp_path / "src" / "pkg" / "deep"
    package.mkdir(parents=True)
    for directory in (package, package.parent):
        (directory / "__init__.py").write_text("")
    (package / "model.py").write_text("old")
    (package / "data.bin").write_bytes(b"\0")
    file = str(package / "model.py")
    assert (import_root(file), module_name(file)) == (str(tmp_path / "src"), "pkg.deep.model")
    with Overlay(file, "new") as overlay:
        copy = Path(overlay.file)
        assert copy.read_text() == "new"
        assert (copy.parent / "data.bin").is_symlink()
        assert copy.relative_to(overlay.root) == Path("pkg/deep/model.py")
    assert not copy.exists()
    assert (package / "model.py").read_text() == "old"
    assert (package / "data.bin").exists()
