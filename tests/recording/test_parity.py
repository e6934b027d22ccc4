"""A program does the same with the recorder and without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from recorded_programs import FIXTURES, QUIET, Run


def test_caches_behave_the_same(run: Run, tmp_path: Path) -> None:
    command = [sys.executable, str(FIXTURES / "parity.py"), "some", "argument"]
    bare = subprocess.Popen(
        command, cwd=tmp_path, env=QUIET, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    done = run(*command)
    output, errors = bare.communicate(timeout=300)
    assert done.returncode == bare.returncode == 0, errors + done.stderr
    expected = json.loads(output)
    assert len(expected) >= 70
    assert json.loads(done.stdout) == expected
    record = (tmp_path / "record.jsonl").read_text()
    assert '"kind": "flaw"' not in record
    assert record.count('"kind": "trace"') > 80
