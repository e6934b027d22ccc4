"""`filter_jit(donate="all-except-first")` donates the arrays among the arguments, and no settings."""

from __future__ import annotations

from pathlib import Path

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

_STEP = """\
import equinox as eqx
import jax


@eqx.filter_jit(donate="all-except-first")
def step(batch, model, clip):
    return jax.tree.map(lambda p: p - p * batch.mean() if clip is None else p, model)


"""


def codes(tmp_path: Path, use: str) -> list[str]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "program.py").write_text(_STEP + use)
    project = Project("", Settings(), [str(tmp_path / "project")])
    files = discover([str(tmp_path / "project")], project).files
    found = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    return [finding.code for finding in found if finding.code in ("JAX302", "JAX316")]


def test_a_setting_is_not_given_away(tmp_path: Path) -> None:
    use = """\
def run(batches, model, variant):
    for batch in batches:
        model = step(batch, model, variant.clip)
    return model
"""
    assert codes(tmp_path, use) == []


def test_a_model_is(tmp_path: Path) -> None:
    use = """\
def run(batches, model, variant):
    for batch in batches:
        new = step(batch, model, variant.clip)
        print(model)
    return new
"""
    assert codes(tmp_path, use) == ["JAX302", "JAX302"]
