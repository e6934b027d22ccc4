"""JAX704 names the requirement of jax that leaves no jaxlib: that of an extra, where it is the extra's."""

from __future__ import annotations

from pathlib import Path

from jaxlint import registry
from jaxlint.check import check
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings


def test_the_extra_is_what_refuses(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("jax[cuda12]==0.4.35\njaxlib==0.4.35\n")
    project = Project("", Settings(), [str(tmp_path)])
    files = discover([str(tmp_path)], project).files
    found = check(files, project, Settings(), registry.load(), jobs=1, cache=False)
    (message,) = [finding.message for finding in found if finding.code == "JAX704"]
    assert "asks for ==0.4.34" in message
