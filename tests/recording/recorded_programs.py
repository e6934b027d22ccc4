"""Where the recorded programs are, and how they are run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "record"
QUIET = {
    **{name: value for name, value in os.environ.items() if not name.startswith("JAX")},
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

Run = Callable[..., subprocess.CompletedProcess[str]]
