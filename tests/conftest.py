"""Fixtures that several test modules share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_rules import MODULE, PAGE, AddRule

from jaxlint import registry


@pytest.fixture
def add_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddRule]:
    """Adds a rule to a package of made-up rules that stands in for jaxlint's own."""
    package = tmp_path / "sample_rules"
    (package / "group").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "group" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "PACKAGE", "sample_rules")

    def add(
        code: str, slug: str, module: str = MODULE, status: str = "stable", folder: str = "group"
    ) -> Path:
        path = package / folder / f"{slug.replace('-', '_')}.py"
        path.write_text(module)
        path.with_suffix(".md").write_text(PAGE.format(code=code, slug=slug, status=status))
        return path

    yield add
    for name in [name for name in sys.modules if name.startswith(("sample_rules", "other_rules"))]:
        del sys.modules[name]
