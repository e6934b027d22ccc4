"""The documentation names what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.project.settings import Settings, as_table

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize("key", as_table(Settings()))
def test_setting_is_documented(key: str) -> None:
    assert f"| `{key}` |" in (DOCS / "settings.md").read_text(encoding="utf-8")
