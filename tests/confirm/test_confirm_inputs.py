"""Functions of modules: where their inputs come from, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from checked_programs import Check, verdicts

from jaxlint.cli import main
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


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ('["f32[100,1000"]', "'f32[100,1000' is no shape ('f32[8,128]' is one)"),
        ('["f32[8]", "f32[8]"]', "does not fit `last(x)`: too many positional arguments"),
        ('["f31[8]"]', "'f31' is no dtype"),
        ('["f32[99999999999,99999999999]"]', "'f32[99999999999,99999999999]' is too large"),
        (
            '["last"]',
            "the code fails when it is traced: TypeError: Error interpreting argument to <function last",
        ),
        ('["pkg.model:nobody"]', "'pkg.model:nobody' cannot be found"),
    ],
)
def test_inputs_that_do_not_fit_are_the_reason(confirm: Check, args: str, said: str) -> None:
    settings = f'[confirm."pkg.model:last"]\nargs = {args}\n'
    [verdict] = verdicts(
        confirm({"pkg/__init__.py": "", "pkg/model.py": HEAD, "jaxlint.toml": settings}), "JAX303"
    )
    assert verdict["verdict"] == "unknown"
    assert said in verdict["reason"]


def test_entries_that_name_nothing_are_told_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "model.py").write_text(
        "import jax\n\n\nclass Net:\n    def loss(self, x):\n        return x\n"
    )
    entries = ("pkg.model:Net.loss", "pkg.model:Net.gain", "pkg.other:f", "pkg:f")
    (tmp_path / "jaxlint.toml").write_text("".join(f'[confirm."{key}"]\nargs = []\n' for key in entries))
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "--confirm", "."]) == 0
    said = [line.partition("[tool.jaxlint.confirm.")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        '"pkg.model:Net.gain"] is used for nothing: `pkg.model` has no `gain`',
        '"pkg.other:f"] is used for nothing: there is no module `pkg.other`',
        '"pkg:f"] is used for nothing: `pkg` has no `f`',
    ]


def test_specifications_are_shapes_keys_factories_and_plain_values() -> None:
    found = specs.value(["f32[8,128]", "bf16[]", "key[]", "rawkey[]", 3, "mean"])
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in found[:4]]
    assert shapes == [((8, 128), "float32"), ((), "bfloat16"), ((), "key<fry>"), ((2,), "uint32")]
    assert found[4:] == [3, "mean"]


@pytest.mark.parametrize(
    "spec", ["f32[1048576,1048576,1048576]", "i8[0,9999999999999999999999]", "key[999999999999999999]"]
)
def test_a_size_that_no_machine_holds_is_refused(spec: str) -> None:
    with pytest.raises(specs.WrongSpec, match="too large"):
        specs.value(spec)
    assert specs.value("i8[1048576,1048576,1048576]").size == 1 << 60


def test_a_dtype_is_never_guessed() -> None:
    with pytest.raises(specs.WrongSpec, match="'f31' is no dtype"):
        specs.value("f31[2]")


def test_calls_are_evaluated_without_arrays() -> None:
    source = "a = jnp.zeros((1 << 20, 1 << 20))\nfirst, second = a.T, 3\nf(first, n=second)\n"
    module = ModuleType("made")
    module.jnp = jnp  # type: ignore[attr-defined]  # a module made here
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
