"""Settings files: what they may say, and how their mistakes are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxlint.finding import Confidence, Severity
from jaxlint.project import settings
from jaxlint.project.settings import Settings, SettingsError
from jaxlint.project.toml import TomlError

EVERY_KEY = """\
select = ["JAX1"]
ignore = ["JAX103"]
extend-select = ["jit-in-loop"]
preview = true
min-severity = "warning"
min-confidence = "medium"
fail-on = "error"
exclude = ["gen"]
extend-exclude = ["*_pb2.py"]
force-exclude = true
kind = "library"
jax-version = "0.4.35"
equinox-version = "0.11"
flax-version = "0.10.2"
jobs = 2
cache-dir = ".cache/lint"
output-format = "concise"
baseline = "lint/known.json"
[per-file-ignores]
"tests/*" = ["JAX5", "JAX301"]
[severity]
JAX301 = "error"
[confirm."pkg.mod:function"]
args = ["f32[8,128]"]
"""


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_every_key(tmp_path: Path) -> None:
    path = write(tmp_path / "jaxlint.toml", EVERY_KEY)
    assert settings.load(path) == Settings(
        file=path,
        select=("JAX1",),
        ignore=("JAX103",),
        extend_select=("jit-in-loop",),
        preview=True,
        min_severity=Severity.WARNING,
        min_confidence=Confidence.MEDIUM,
        fail_on=Severity.ERROR,
        exclude=("gen",),
        extend_exclude=("*_pb2.py",),
        force_exclude=True,
        per_file_ignores={"tests/*": ("JAX5", "JAX301")},
        severity={"JAX301": Severity.ERROR},
        kind="library",
        jax_version=(0, 4, 35),
        equinox_version=(0, 11),
        flax_version=(0, 10, 2),
        jobs=2,
        cache_dir=os.path.join(str(tmp_path), ".cache", "lint"),
        output_format="concise",
        baseline=os.path.join(str(tmp_path), "lint", "known.json"),
        confirm={"pkg.mod:function": {"args": ["f32[8,128]"]}},
    )


def test_shown_settings_can_be_read_again(tmp_path: Path) -> None:
    loaded = settings.load(write(tmp_path / "jaxlint.toml", EVERY_KEY))
    table = settings.as_table(loaded)
    assert set(table) == set(settings._KEYS)
    assert table["jax-version"] == "0.4.35"
    assert "jax-version" not in settings.as_table(Settings())


def test_the_table_of_pyproject(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n[tool.jaxlint]\npreview = true\n")
    assert settings.load(path) == Settings(file=path, preview=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("selct = []", "unknown key `selct`, did you mean `select`?"),
        ("min_severity = 'info'", "unknown key `min_severity`, did you mean `min-severity`?"),
        ("zzz = 1", "unknown key `zzz`, known keys are select, ignore,"),
        ("select = 'JAX1'", "`select` must be a list of strings, not 'JAX1'"),
        ("select = [1]", "`select` must be a list of strings, not a list"),
        ("preview = 'yes'", "`preview` must be true or false, not 'yes'"),
        ("jobs = true", "`jobs` must be a number from 0 (one per processor), not true"),
        ("jobs = -1", "`jobs` must be"),
        ("min-severity = 'fatal'", "`min-severity` must be one of info, warning, error, not 'fatal'"),
        ("min-confidence = 1", "`min-confidence` must be one of low, medium, high, not 1"),
        ("output-format = 'xml'", "`output-format` must be one of full, concise, json, jsonl"),
        ("kind = 'script'", "`kind` must be one of library, application, not 'script'"),
        ("jax-version = 0.4", "`jax-version` must be a version such as"),
        ("jax-version = '>=0.4'", "`jax-version` must be a version such as"),
        ("cache-dir = 1979-05-27", "`cache-dir` must be a string, not a date"),
        ("per-file-ignores = ['x']", "`per-file-ignores` must be a table, not a list"),
        ("per-file-ignores = {a = 'JAX1'}", "`per-file-ignores` of `a` must be a list of strings"),
        ("severity = {JAX1 = 'bad'}", "`severity` of `JAX1` must be one of info, warning, error"),
        ("confirm = 1", "`confirm` must be a table, not 1"),
    ],
)
def test_wrong_keys_and_values(line: str, words: str, tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", f"[tool.jaxlint]\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        settings.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: [tool.jaxlint]: ")
    assert words in message
    assert caught.value.unknown_key is ("unknown key" in words)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", "[tool]\njaxlint = 1\n")
    with pytest.raises(SettingsError, match="must be a table"):
        settings.load(path)


def test_the_own_file_has_no_table(tmp_path: Path) -> None:
    path = write(tmp_path / "jaxlint.toml", "[tool.jaxlint]\nselect = []\n")
    with pytest.raises(SettingsError, match="stand at its top"):
        settings.load(path)


@pytest.mark.parametrize(
    "text", ["[tool.jaxlint\n", "[tool.jaxlint]\nselect = [\n", "[tool.jaxlint]\na=1\na=2\n"]
)
def test_broken_toml(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(TomlError) as caught:
        settings.load(path)
    assert str(caught.value).startswith(f"{path}: broken TOML: ")
    assert "\n" not in str(caught.value)


def test_toml_that_is_no_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "jaxlint.toml"
    path.write_bytes(b"kind = '\xff'\n")
    with pytest.raises(TomlError, match="cannot decode"):
        settings.load(str(path))


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", "[tool.jaxlint]\n")
    inner = write(tmp_path / "a" / "b" / "jaxlint.toml", "")
    write(tmp_path / "a" / "pyproject.toml", "[tool.ruff]\n# jaxlint is not set up here\n")
    (tmp_path / "a" / "b" / "c").mkdir()
    assert settings.find(str(tmp_path / "a")) == outer
    assert settings.find(str(tmp_path / "a" / "b" / "c")) == inner


def test_the_own_file_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.jaxlint]\n")
    own = write(tmp_path / "jaxlint.toml", "")
    assert settings.find(str(tmp_path)) == own
