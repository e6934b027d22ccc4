"""`check --record`: findings with what happened, and retraces that no finding foresaw."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded_programs import FIXTURES, Run

CHECK = (sys.executable, "-m", "jaxlint", "check", "--isolated", "--no-cache")
UNFORESEEN = """\
import json
import sys

import jax
import jax.numpy as jnp

HANDLERS = {}


@jax.jit
def total(batch):
    return batch["x"].sum()


HANDLERS["total"] = total


def feed(lines):
    for line in lines:
        record = json.loads(line)
        batch = {"x": jnp.asarray(record["values"])}
        HANDLERS[record["kind"]](batch)


feed(json.dumps({"kind": "total", "values": [1.0] * n}) for n in map(int, sys.argv[1:]))
"""


def check(directory: Path, *options: str, status: int | None = None) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*CHECK, "--preview", "--record", "record.jsonl", "--output-format", "json", *options, "program.py"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == status if status is not None else done.returncode in (0, 1), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def verdicts(findings: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in findings:
        for verdict in finding["confirm"] or ():
            assert verdict["target"] == "record" and verdict["reason"]
            found.setdefault(finding["code"], set()).add(verdict["verdict"])
    return found


def test_findings_are_confirmed_by_what_happened(run: Run, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "hazards.py", tmp_path / "program.py")
    assert run(sys.executable, "program.py").returncode == 0
    findings = check(tmp_path)
    codes = ("JAX101", "JAX102", "JAX103", "JAX106", "JAX107", "JAX110", "JAX111", "JAX114")
    assert verdicts(findings) == {code: {"confirmed"} for code in codes}
    assert not [finding for finding in findings if finding["code"] == "JAX190"]
    (scalar,) = (finding for finding in findings if finding["code"] == "JAX101")
    assert "(level: static 0 -> static 1)" in scalar["confirm"][0]["reason"]
    assert scalar["confirm"][0]["arms"][0]["traces"] == 4
    (none_first,) = (finding for finding in findings if finding["code"] == "JAX110")
    assert "aux: None -> float32[4]" in none_first["confirm"][0]["reason"]


def test_program_that_did_not_get_there(run: Run, tmp_path: Path) -> None:
    source = (
        (FIXTURES / "hazards.py")
        .read_text()
        .replace("\nmain()\n", "\nif len(jax.__version__) > 90:\n    main()\n")
    )
    (tmp_path / "program.py").write_text(source)
    run(sys.executable, "program.py")
    found = verdicts(check(tmp_path))
    assert found
    assert set().union(*found.values()) == {"unknown"}


def test_record_of_another_source(run: Run, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "hazards.py", tmp_path / "program.py")
    run(sys.executable, "program.py")
    with (tmp_path / "program.py").open("a") as file:
        file.write("# edited\n")
    findings = check(tmp_path)
    assert set().union(*verdicts(findings).values()) == {"unknown"}
    assert "record it again" in json.dumps(findings)


def test_retrace_that_no_finding_foresaw(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(UNFORESEEN)
    run(sys.executable, "program.py", "1", "2", "3", "4")
    (finding,) = check(tmp_path)
    assert (finding["code"], finding["slug"], finding["severity"]) == ("JAX190", "observed-retrace", "info")
    assert "HANDLERS[record" in UNFORESEEN.splitlines()[finding["start"]["line"] - 1]
    assert "`total` was traced 4 times in the recorded run, 2 of them after the warm-up" in finding["message"]
    assert "batch['x']: float32[2] -> float32[3]" in finding["message"]
    assert finding["related"][0]["start"]["line"] == 10
    assert check(tmp_path, "--ignore", "JAX190") == []


def test_warm_up_is_no_retrace(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UNFORESEEN)
    run(sys.executable, "program.py", "3", "3", "3", "2", "2")
    assert check(tmp_path) == []


def test_suppression_of_an_observed_retrace(run: Run, tmp_path: Path) -> None:
    line = '        HANDLERS[record["kind"]](batch)\n'
    assert line in UNFORESEEN
    ignored = UNFORESEEN.replace(line, line.rstrip() + "  # jaxlint: ignore[JAX190] few sizes\n")
    (tmp_path / "program.py").write_text(ignored)
    run(sys.executable, "program.py", "1", "2", "3", "4")
    assert check(tmp_path) == []
    without = subprocess.run(
        [*CHECK, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert without.returncode == 0 and "JAX002" not in without.stdout  # it was not looked for, so not unused


@pytest.mark.parametrize(
    "text, complaint", [(None, "cannot read"), ("{}\n", "no record of `jaxlint record`")]
)
def test_record_that_is_none(text: str | None, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("x = 1\n")
    if text is not None:
        (tmp_path / "record.jsonl").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "check", "--record", "record.jsonl", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert complaint in done.stderr


def test_explain() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "explain", "observed-retrace"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith("# JAX190 observed-retrace")
    assert "## When it stays silent" in done.stdout
