"""`jaxlint preflight`: what the code itself sets, and whether every run of it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli import main

Captured = pytest.CaptureFixture[str]
ON = 'jax.config.update("jax_enable_x64", True)'
OFF = 'jax.config.update("jax_enable_x64", False)'
STEP = "step = jax.jit(abs)\nif __name__ == '__main__':\n    print(step(1.0))\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("JAX_ENABLE_X64", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "jaxlint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def point(project: Path, capsys: Captured, text: str, key: str) -> dict[str, Any]:
    (project / "train.py").write_text(f"import sys\nimport jax\n{text}\n{STEP}")
    main(["preflight", "--output-format", "json"])
    return next(p for p in json.loads(capsys.readouterr().out) if p["point"] == key)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (ON, "fail"),
        (f'if __name__ == "__main__":\n    {ON}', "fail"),
        (f"def main():\n    {ON}\nif __name__ == '__main__':\n    main()", "fail"),
        (f"{OFF}\n{ON}", "fail"),
        (f"{ON}\n{OFF}", "not shown"),  # something ran in between, with or without it
        (f"if '--double' in sys.argv:\n    {ON}", "not shown"),
        (f"def main():\n    {ON}", "not shown"),  # nobody calls it here
        (f"def main():\n    if len(sys.argv) < 2:\n        return\n    {ON}\nmain()", "not shown"),
        (f"if len(sys.argv) < 2:\n    sys.exit()\n{ON}", "not shown"),
        (f"for _ in sys.argv:\n    {ON}", "not shown"),
        ('jax.config.update("jax_enable_x64", len(sys.argv) > 1)', "not shown"),
        (f"{ON}  # jaxlint: ignore[JAX501] orbits need it", "not shown"),
        (OFF, "pass"),
    ],
)
def test_64_bit_mode_that_every_run_turns_on_fails_point_8(
    text: str, status: str, project: Path, capsys: Captured
) -> None:
    assert point(project, capsys, text, "8")["status"] == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('jax.config.update("jax_compilation_cache_dir", "/c")', "pass"),
        ('jax.config.update("jax_compilation_cache_dir", sys.argv[1])', "pass"),
        ("from jax.experimental.compilation_cache import compilation_cache as cc\ncc.set_cache_dir('/c')", "pass"),
        ('jax.config.update("jax_compilation_cache_dir", "/c")\n'
         'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)', "fail"),
        ('jax.config.update("jax_compilation_cache_dir", None)', "not applicable"),
    ],
)  # fmt: skip
def test_a_cache_directory_that_the_code_sets_is_set(
    text: str, status: str, project: Path, capsys: Captured
) -> None:
    assert point(project, capsys, text, "C")["status"] == status


@pytest.mark.parametrize(
    ("script", "is_set"),
    [
        ('echo "set XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 please"', False),
        ("cd /w && echo use XLA_PYTHON_CLIENT_MEM_FRACTION=0.99", False),
        ("printf 'XLA_PYTHON_CLIENT_MEM_FRACTION=0.99; too much' >&2", False),
        ("python a.py  # XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 was too much", False),
        ("cat <<EOF\nXLA_PYTHON_CLIENT_MEM_FRACTION=0.99 python train.py\nEOF", False),
        ('echo "XLA_PYTHON_CLIENT_MEM_FRACTION=0.99" >> "$GITHUB_ENV"', True),
        ("echo XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 | tee -a .env", True),
        ('echo "starting"; XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 python a.py', True),
        ("cat <<EOF\nhello\nEOF\nexport XLA_PYTHON_CLIENT_MEM_FRACTION=0.99", True),
        ("cat > job.env <<EOF\nXLA_PYTHON_CLIENT_MEM_FRACTION=0.99\nEOF", True),
        ("bash -c 'export XLA_PYTHON_CLIENT_MEM_FRACTION=0.99; python a.py'", True),
        ("A='#' XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 python a.py", True),
    ],
)
def test_what_a_script_only_says_is_not_set(
    script: str, is_set: bool, project: Path, capsys: Captured
) -> None:
    (project / "run.sh").write_text(f"#!/bin/sh\n{script}\n")

    assert (point(project, capsys, "", "6")["status"] == "fail") == is_set


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("for s in 1 2 3 4; do python train.py --seed $s & done\nwait", "not shown"),
        ("for s in 1 2 3 4\ndo\n  CUDA_VISIBLE_DEVICES=$s python3 -u train.py &\ndone", "not shown"),
        ("\n\nsrun --ntasks=4 python train.py\n\n", "not shown"),
        ("mpirun -np 2 python train.py > log", "not shown"),
        ("python train.py", "not applicable"),
        ("for s in 1 2; do python train.py; done", "not applicable"),
        ("for s in 1 2; do python train.py & wait; done", "not applicable"),
        ("for s in 1 2; do echo $s; done\npython train.py &", "not applicable"),
        ("srun --ntasks=1 python train.py", "not applicable"),
        ("# srun --ntasks=4 python train.py", "not applicable"),
        ("srun -n 4 hostname", "not applicable"),
        ("for s in 1 2; do python train.py > log 2>&1; done", "not applicable"),
    ],
)
def test_processes_that_a_script_starts_leave_point_b_open(
    script: str, status: str, project: Path, capsys: Captured
) -> None:
    (project / "run.sh").write_text(f"#!/bin/sh\n{script}\n")

    assert point(project, capsys, "", "B")["status"] == status
