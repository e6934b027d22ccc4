"""The first command of the README: the example program has six hazards, and nothing else is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What is found and the source line it is reported at.
HAZARDS = {
    ("JAX101", "train.py", "certainty = predict(model, test_waves, temperature)"),
    ("JAX201", "train.py", "noise = noise * 0.5"),
    ("JAX301", "train.py", "@eqx.filter_jit"),
    ("JAX303", "model.py", "_, states = jax.lax.scan(advance, start, recording)"),
    ("JAX402", "data.py", "@functools.cache"),
    ("JAX503", "train.py", 'os.environ["JAX_DEBUG_NANS"] = "1"'),
}


def check(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", *options, "fixtures/quickstart"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.returncode == 1
    return done.stdout


def test_quickstart() -> None:
    found = json.loads(check("--output-format", "json"))
    assert {(one["code"], Path(one["path"]).name, _line(one)) for one in found} == HAZARDS
    assert len(found) == len(HAZARDS)


def _line(found: dict[str, object]) -> str:
    path, start = ROOT / str(found["path"]), found["start"]
    assert isinstance(start, dict)
    return path.read_text().splitlines()[start["line"] - 1].strip()


def test_readme_shows_real_output() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0]
    assert "JAX201" in shown
    assert shown in check()
