"""Where the captures are that tests read."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "captures"
RUNS = ("plain", "donated", "remat")
SCENARIOS = sorted(path.name.removesuffix(".hlo_proto.pb") for path in FIXTURES.glob("*.hlo_proto.pb"))


def fixture(name: str) -> Path:
    """A capture or a module of that name."""
    capture = FIXTURES / f"{name}.xplane.pb"
    return capture if capture.exists() else FIXTURES / f"{name}.hlo_proto.pb"


def analysis(name: str) -> dict[str, int]:
    """What compiled.memory_analysis() says of it, in bytes."""
    return json.loads((FIXTURES / f"{name}.memory_analysis.json").read_text())


def public(name: str) -> Path:
    """A public capture, where somebody has it; otherwise the test is skipped."""
    folder = os.environ.get("JAXLINT_CAPTURES")
    path = Path(folder, name) if folder else None
    if path is None or not path.exists():
        pytest.skip(f"{name} is not here: JAXLINT_CAPTURES names no folder that holds it")
    return path
