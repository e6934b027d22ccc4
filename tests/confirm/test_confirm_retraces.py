"""A claim about a retrace is measured on the function that it is about, and not on another one beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HAZARDS = Path(__file__).resolve().parents[2] / "fixtures" / "record" / "hazards.py"


def test_each_claim_is_measured_on_its_own_function(tmp_path: Path) -> None:
    shutil.copy(HAZARDS, tmp_path / "program.py")
    command = [sys.executable, "-m", "jaxlint", "check", "--isolated", "--no-cache", "--confirm"]
    options = ["--timeout", "300", "--select", "JAX1", "--output-format", "json"]
    done = subprocess.run(
        [*command, *options, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    found = {
        finding["code"]: (verdict["verdict"], verdict["reason"].split(" (")[0])
        for finding in json.loads(done.stdout)
        for verdict in finding["confirm"]
        if "schedule" not in finding["message"].lower()
    }
    assert found == {
        "JAX101": ("confirmed", "`denoise` was compiled 4 times"),
        "JAX102": ("confirmed", "`rollout` was compiled 4 times"),
        "JAX103": ("confirmed", "`<lambda>` was compiled 4 times"),
        "JAX106": ("confirmed", "`attend` was compiled 4 times"),
        "JAX110": ("confirmed", "`solve` was compiled twice"),
        "JAX111": ("confirmed", "`accumulate` was compiled twice"),
        "JAX114": ("confirmed", "`score` was compiled twice"),
    }
