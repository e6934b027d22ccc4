"""`jaxlint triage` from outside: exit statuses, formats, and what no log may do to it."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.cli import main

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
RETRACE = LOGS / "real" / "0.10.2-016-filter-jit-python-step-bad.log"
HEALTHY = LOGS / "real" / "0.8.2-001-sweep-closure-jit-good.log"
STAIRS = LOGS / "written" / "gpu-stairs-retrace.log"

Captured = pytest.CaptureFixture[str]


def test_a_family_is_status_1_and_says_what_it_rests_on(capsys: Captured) -> None:
    assert main(["triage", str(RETRACE)]) == 1

    out = capsys.readouterr().out
    assert out.startswith(
        "retrace leak: `train_step` was compiled 6 times: the value of a static argument varies\n"
    )
    assert "lines 37, 46, 55, 64, 82" in out
    assert "0 → 1" in out


def test_a_healthy_log_is_status_0(capsys: Captured) -> None:
    assert main(["triage", str(HEALTHY)]) == 0

    assert capsys.readouterr().out.startswith("nothing found\n")


def test_json_holds_the_same(capsys: Captured) -> None:
    assert main(["triage", "--json", str(STAIRS)]) == 1

    table = json.loads(capsys.readouterr().out)
    assert table["families"] == ["retrace leak", "device memory"]
    assert table["boundaries"][0]["name"] == "infer"
    assert table["memory"][0]["growth"]["per_step"] == 380 << 20
    assert len(table["memory"][0]["samples"]) == 7


def test_several_logs_are_named_with_their_lines(capsys: Captured) -> None:
    main(["triage", str(HEALTHY), str(STAIRS)])

    assert f"{STAIRS}:3" in capsys.readouterr().out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(RETRACE.read_bytes()))))  # type: ignore[arg-type]  # text read from bytes stands in for it

    assert main(["triage", "-"]) == 1
    assert "<stdin> (85 lines)" in capsys.readouterr().out


def test_the_page_is_whole_and_loads_nothing(tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "page.html"

    assert main(["triage", str(STAIRS), "--html", str(target)]) == 1

    page = target.read_text()
    assert page.count("<svg") == 1 and page.endswith("</html>\n")
    assert not re.search(r"(?:src|href)=|<script|@import|url\(", page)


def test_text_of_the_log_cannot_become_markup(tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "run.log"
    log.write_text(
        "x <script>alert(1)</script> RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes\n"
    )

    main(["triage", str(log), "--html", str(tmp_path / "page.html")])

    assert "<script>" not in (tmp_path / "page.html").read_text()


def test_a_page_that_cannot_be_written_is_status_2(tmp_path: Path, capsys: Captured) -> None:
    assert main(["triage", str(STAIRS), "--html", str(tmp_path / "no" / "page.html")]) == 2

    assert capsys.readouterr().err.count("\n") == 1


# ---------------------------------------------------------------- what a log may be like


@pytest.mark.parametrize(
    "content",
    [b"", b"\x7fELF\x02\x01\x01" + bytes(4096), bytes(range(256)) * 64, b"\x1f\x8b\x08\x00broken"],
    ids=["empty", "binary", "bytes", "damaged gzip"],
)
def test_what_is_no_log_gives_one_line(content: bytes, tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(content)

    assert main(["triage", str(log)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1 and "run.log" in captured.err


def test_a_missing_log_and_a_directory_give_one_line(tmp_path: Path, capsys: Captured) -> None:
    for path in (tmp_path / "missing.log", tmp_path):
        assert main(["triage", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"\xff\xfe" + text.decode().encode("utf-16-le"),
        lambda text: b"\xfe\xff" + text.decode().encode("utf-16-be"),
        lambda text: gzip.compress(text),
        lambda text: text.replace(b"sec\n", b"sec\xff\xc3\x28\n"),
        lambda text: b"\x1b[33m" + text.replace(b"\n", b"\x1b[0m\n\x1b[33m"),
        lambda text: text.replace(b"\n", b"\n  0%|  | 0/6 [00:00<?]\r 50%|##  | 3/6 [00:03<00:03]\r\n"),
        lambda text: b"".join(b"[rank0]: " + line for line in text.splitlines(keepends=True)),
        lambda text: b"".join(b"3: " + line for line in text.splitlines(keepends=True)),
        lambda text: b"".join(b"trainer-1  | " + line for line in text.splitlines(keepends=True)),
        lambda text: text.replace(b"Compiling", b"2026-01-01 00:00:00 WARNING jax: Compiling"),
    ],
    ids=[
        "crlf",
        "bom",
        "utf-16",
        "utf-16-be",
        "gzip",
        "bad-bytes",
        "colours",
        "bars",
        "torchrun",
        "slurm",
        "compose",
        "prefix",
    ],
)
def test_how_a_log_was_kept_makes_no_difference(change, tmp_path: Path, capsys: Captured) -> None:  # type: ignore[no-untyped-def]  # a parameter of pytest
    log = tmp_path / "run.log"
    log.write_bytes(change(RETRACE.read_bytes()))

    assert main(["triage", str(log)]) == 1
    out = capsys.readouterr().out
    assert "`train_step` was compiled 6 times: the value of a static argument varies" in out


@pytest.mark.parametrize(
    "name", ["real/0.6.2-030-static-drift-closures-sde-bad.log", "written/gpu-disguised-load.log"]
)
def test_a_log_may_end_anywhere(name: str, tmp_path: Path, capsys: Captured) -> None:
    content = (LOGS / name).read_bytes()
    log = tmp_path / "run.log"
    for end in range(1, len(content), max(1, len(content) // 60)):
        log.write_bytes(content[:end])
        assert main(["triage", str(log)]) in (0, 1)


def test_a_long_log_takes_bounded_memory(tmp_path: Path) -> None:
    """6 MB of every kind of line, and a line of 30 MB, in a process that may not have much more."""
    log = tmp_path / "run.log"
    kinds = b"".join(path.read_bytes() for path in sorted(LOGS.rglob("*.log")))
    with log.open("wb") as stream:
        for _ in range(6_000_000 // len(kinds)):
            stream.write(kinds)
        stream.write(b"x" * 30_000_000)
    limit = 400 << 20

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "triage", str(log)],
        capture_output=True,
        text=True,
        preexec_fn=bound,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
