"""`jaxlint check`, around a made-up engine: output, exit status, and one clear line for what goes wrong."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import made_engine
import pytest

from jaxlint import __version__, registry
from jaxlint.cli import main
from jaxlint.project import foreign, source


class Outcome(NamedTuple):
    """How a run ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def errors(self) -> list[str]:
        return self.err.splitlines()


class Jaxlint:
    """Runs the command line in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        try:
            status = main(list(arguments))
        except SystemExit as stop:  # argparse
            status = int(stop.code or 0)
        return Outcome(status, *self._capsys.readouterr())


@pytest.fixture
def jaxlint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Jaxlint:
    """The command line with the made-up engine, in an empty directory."""
    engine = ModuleType("jaxlint.check")
    engine.check = made_engine.check  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "jaxlint.check", engine)
    monkeypatch.setattr(registry, "listed", lambda: made_engine.RULES)
    monkeypatch.chdir(tmp_path)
    return Jaxlint(capsys)


def write(name: str, text: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


# ---------------------------------------------------------------- findings and exit status


def test_findings_of_a_directory(jaxlint: Jaxlint) -> None:
    write("b.py", "x = 1\ny = hazard103\n")
    write("a/c.py", "hazard301\n")
    outcome = jaxlint("--output-format", "concise", ".")
    assert outcome == (1, "a/c.py:1:1: JAX301 A missing-donation.\nb.py:2:5: JAX103 A jit-in-loop.\n", "")


def test_check_is_the_default_and_so_is_the_directory(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    expected = jaxlint("check", ".")
    assert expected.status == 1
    assert jaxlint(".") == jaxlint() == jaxlint("check") == jaxlint("--preview", ".") == expected


def test_nothing_found(jaxlint: Jaxlint) -> None:
    write("a.py", "x = 1\n")
    assert jaxlint() == (0, "No findings in 1 file.\n", "")
    assert jaxlint("--output-format", "concise") == (0, "", "")
    assert jaxlint("--output-format", "json") == (0, "[]\n", "")
    assert jaxlint("--output-format", "jsonl") == (0, "", "")


def test_no_files(jaxlint: Jaxlint) -> None:
    outcome = jaxlint()
    assert outcome.status == 0
    assert outcome.errors == ["jaxlint: no Python files found"]


@pytest.mark.parametrize(
    ("code", "options", "status"),
    [
        ("304", [], 0),
        ("304", ["--fail-on", "info"], 1),
        ("103", [], 1),
        ("103", ["--fail-on", "error"], 0),
        ("301", ["--fail-on", "error"], 1),
        ("301", ["--exit-zero"], 0),
        ("000", ["--exit-zero"], 2),
    ],
)
def test_exit_status(code: str, options: list[str], status: int, jaxlint: Jaxlint) -> None:
    write("a.py", f"hazard{code}\n")
    assert jaxlint(*options).status == status


def test_fail_on_in_the_settings(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard304\n")
    write("jaxlint.toml", "fail-on = 'info'")
    assert jaxlint().status == 1
    assert jaxlint("--fail-on", "error").status == 0


def test_rules_on_the_command_line(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard101, hazard103, hazard301, hazard304, hazard306\n")
    write("jaxlint.toml", "select = ['JAX3']\nignore = ['JAX304']\n")

    def codes(*options: str) -> list[str]:
        return [line.split()[1] for line in jaxlint("--output-format", "concise", *options).lines]

    assert codes() == ["JAX301"]
    assert codes("--preview") == ["JAX301", "JAX306"]
    assert codes("--extend-select", "jit-in-loop,JAX101") == ["JAX101", "JAX103", "JAX301"]
    assert codes("--extend-select", "JAX304") == ["JAX301", "JAX304"]
    assert codes("--ignore", "JAX301") == []
    assert codes("--select", "JAX304,JAX1", "--ignore", "JAX103") == ["JAX101", "JAX304"]
    assert codes("--select", "JAX1", "--select", "JAX304") == ["JAX101", "JAX103", "JAX304"]
    assert codes("--select", "ALL", "--min-severity", "error") == ["JAX301"]
    assert codes("--select", "ALL", "--min-confidence", "high") == []
    assert codes("--isolated") == ["JAX101", "JAX103", "JAX301", "JAX304"]


def test_settings_of_nested_projects(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103, hazard301\n")
    write("sub/b.py", "hazard103, hazard301\n")
    write("sub/jaxlint.toml", "select = ['JAX3']\n")
    assert jaxlint("--output-format", "concise").lines == [
        "a.py:1:1: JAX103 A jit-in-loop.",
        "a.py:1:12: JAX301 A missing-donation.",
        "sub/b.py:1:12: JAX301 A missing-donation.",
    ]


def test_suppressions(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103  # jaxlint: ignore[JAX103] twice only\nhazard103  # noqa: JAX103\n")
    write("b.py", "x = 1  # jaxlint: ignore[JAX103]\ny = 2  # jaxlint: ignore\n")
    assert [line.split()[:2] for line in jaxlint("--output-format", "concise").lines] == [
        ["b.py:1:8:", "JAX002"],
        ["b.py:2:8:", "JAX003"],
    ]


def test_unknown_codes_in_the_settings(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    write("jaxlint.toml", "preview = true\nignore = ['JAX904']\n")
    outcome = jaxlint("--output-format", "concise")
    assert outcome.status == 1
    assert [line.split()[:2] for line in outcome.lines] == [
        ["a.py:1:1:", "JAX103"],
        ["jaxlint.toml:2:11:", "JAX003"],
    ]


# ---------------------------------------------------------------- input


def test_standard_input(jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch) -> None:
    def feed() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n(hazard103)\n")))

    feed()
    concise = ("--output-format", "concise")
    assert jaxlint(*concise, "-").lines == ["<stdin>:2:2: JAX103 A jit-in-loop."]
    feed()
    assert jaxlint(*concise, "-", "--stdin-filename", "pkg/a.py").lines == [
        "pkg/a.py:2:2: JAX103 A jit-in-loop."
    ]
    write("jaxlint.toml", "exclude = ['pkg']\nforce-exclude = true\n")
    feed()
    assert jaxlint(*concise, "-", "--stdin-filename", "pkg/a.py").lines == []
    feed()
    full = jaxlint("-", "--isolated").out
    assert "2 | (hazard103)" in full


def test_what_is_given_wins_over_what_is_on_disk(jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py", "hazard301\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hazard103\n")))
    lines = jaxlint("--output-format", "concise", ".", "-", "--stdin-filename", "a.py").lines
    assert lines == ["a.py:1:1: JAX103 A jit-in-loop."]


BAD_INPUTS: dict[str, bytes] = {
    "undecodable.py": b"x = '\xff'\n",
    "python_2.py": b"print 'x'\n",
    "broken.py": b"x = (\n",
    "null.py": b"x = 1\0\n",
    "cookie.py": b"# coding: klingon\n",
}


def test_files_that_cannot_be_checked(jaxlint: Jaxlint) -> None:
    for name, data in BAD_INPUTS.items():
        write(name, data)
    write("good.py", "hazard103\n")
    outcome = jaxlint("--output-format", "json")
    assert outcome.status == 2
    found = {(finding["path"], finding["code"]) for finding in json.loads(outcome.out)}
    assert found == {("good.py", "JAX103"), *((name, "JAX001") for name in BAD_INPUTS)}
    assert len(outcome.errors) == len(BAD_INPUTS)
    for name in BAD_INPUTS:
        assert any(
            line.startswith(f"jaxlint: {name}:") and " JAX001 cannot " in line for line in outcome.errors
        )


def test_files_that_are_odd_but_fine(jaxlint: Jaxlint) -> None:
    write("empty.py", b"")
    write("bom.py", b"\xef\xbb\xbfhazard103\n")
    write("crlf.py", b"x = 1\r\nhazard103\r\n")
    write("deep.py", "x = " + " + ".join(["a"] * 1_500) + "\n")
    write("long.py", "x = 1\n" * 6_000)
    write("tabs.py", b"if x:\n\ty = 1\n\x0c\nlatin = 1\n")
    write("latin.py", b"# coding: latin-1\nx = '\xe9'; hazard103\n")
    outcome = jaxlint("--output-format", "concise")
    assert outcome.err == ""
    assert [line.split()[0] for line in outcome.lines] == ["bom.py:1:1:", "crlf.py:2:1:", "latin.py:2:10:"]


def test_paths_that_lead_to_nothing(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    outcome = jaxlint("--output-format", "concise", "gone.py", "a.py", "none/*.py")
    assert outcome == (
        2,
        "a.py:1:1: JAX103 A jit-in-loop.\n",
        "jaxlint: gone.py: no such file or directory\njaxlint: none/*.py: no file matches\n",
    )


def test_a_file_that_vanishes_and_one_that_cannot_be_read(
    jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "gone.py", "locked.py"):
        write(name, "hazard103\n")
    read_bytes = source.read_bytes

    def read(file: source.SourceFile) -> bytes:
        if file.path == "gone.py" and os.path.exists("gone.py"):
            os.remove("gone.py")
        if file.path == "locked.py":
            raise source.SourceError("cannot read: Permission denied")
        return read_bytes(file)

    monkeypatch.setattr(source, "read_bytes", read)
    outcome = jaxlint("--output-format", "concise")
    assert outcome.status == 2
    assert outcome.errors == [
        "jaxlint: gone.py:1:1: JAX001 cannot read: No such file or directory",
        "jaxlint: locked.py:1:1: JAX001 cannot read: Permission denied",
    ]
    assert outcome.lines[0] == "a.py:1:1: JAX103 A jit-in-loop."


@pytest.mark.parametrize("format_", ["full", "concise", "json"])
def test_names_that_are_no_text(format_: str, jaxlint: Jaxlint) -> None:
    try:
        with open(b"caf\xe9.py", "wb") as file:
            file.write(b"hazard103\n")
    except OSError:
        pytest.skip("this file system takes text only")
    outcome = jaxlint("--output-format", format_)
    assert outcome.status == 1
    assert "udce9" in outcome.out


# ---------------------------------------------------------------- settings that cannot be used


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.jaxlint\n", "broken TOML"),
        ("[project\n", "broken TOML"),
        ("[tool.jaxlint]\nselct = []\n", "unknown key `selct`, did you mean `select`?"),
        ("[tool.jaxlint]\nselect = 'JAX1'\n", "`select` must be a list of strings"),
    ],
)
def test_settings_that_cannot_be_used(text: str, words: str, jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    write("pyproject.toml", text)
    outcome = jaxlint()
    assert (outcome.status, outcome.out) == (2, "")
    (line,) = outcome.errors
    assert line.startswith("jaxlint: ") and "pyproject.toml" in line and words in line


def test_settings_of_the_other_program_of_our_name(jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", "[tool.jaxlint]\nstrict-shapes = true\n")
    monkeypatch.setattr(foreign, "notice", lambda: "the other one is installed")
    assert jaxlint().errors[1:] == ["jaxlint: the other one is installed"]
    assert jaxlint("--version").errors == ["jaxlint: the other one is installed"]
    write("pyproject.toml", "[tool.jaxlint]\nselect = 1\n")
    assert len(jaxlint().errors) == 1


def test_the_other_program_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    assert foreign.notice() is None
    monkeypatch.setattr("importlib.metadata.version", lambda name: {"jaxlint": "0.1.0a1"}[name])
    notice = foreign.notice()
    assert notice is not None and "`jaxlint` 0.1.0a1" in notice


def test_a_settings_file_that_is_not_there(jaxlint: Jaxlint) -> None:
    outcome = jaxlint("--config", "none.toml")
    assert outcome.status == 2
    assert outcome.errors[0].endswith("none.toml: cannot read: No such file or directory")


# ---------------------------------------------------------------- the call


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nonsense",),
        ("--output-format", "xml"),
        ("--min-severity", "fatal"),
        ("--jobs", "-1"),
        ("--jobs", "many"),
        ("--config", "jaxlint.toml", "--isolated"),
        ("--select", "JAX9"),
        ("--ignore", "jit-in-lop"),
        ("--output-file", "none/report.txt"),
    ],
)
def test_calls_that_are_wrong(arguments: tuple[str, ...], jaxlint: Jaxlint) -> None:
    write("a.py", "x = 1\n")
    outcome = jaxlint(*arguments, "a.py")
    assert (outcome.status, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err and outcome.err


def test_a_misspelt_rule_is_guessed(jaxlint: Jaxlint) -> None:
    assert jaxlint("--ignore", "jit-in-lop").errors == [
        "jaxlint: unknown rule 'jit-in-lop', did you mean 'jit-in-loop'?"
    ]


def test_an_error_of_ours_is_one_line(jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAXLINT_TRACEBACK", raising=False)
    write("a.py", "hazard000\n")
    outcome = jaxlint()
    assert (outcome.status, outcome.out) == (2, "")
    (line,) = outcome.errors
    assert line.startswith("jaxlint: internal error: RuntimeError: made to fail ")
    monkeypatch.setenv("JAXLINT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        jaxlint()


def test_help_and_version(jaxlint: Jaxlint) -> None:
    for arguments in (["-h"], ["--help"], ["check", "--help"]):
        outcome = jaxlint(*arguments)
        assert outcome.status == 0 and outcome.out.startswith("usage: jaxlint")
    assert jaxlint("--version") == (0, f"jaxlint {__version__}\n", "")


# ---------------------------------------------------------------- output


def test_output_file(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    assert jaxlint("--output-file", "report.json", "--output-format", "json") == (1, "", "")
    assert [finding["code"] for finding in json.loads(Path("report.json").read_text())] == ["JAX103"]


def test_statistics(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\nhazard301\nhazard103\n")
    outcome = jaxlint("--statistics")
    assert (outcome.status, outcome.lines) == (1, ["2  JAX103  jit-in-loop", "1  JAX301  missing-donation"])
    counted = json.loads(jaxlint("--statistics", "--output-format", "json").out)
    assert counted[0] == {"code": "JAX103", "slug": "jit-in-loop", "count": 2}
    write("a.py", "x = 1\n")
    assert jaxlint("--statistics") == (0, "", "")


def test_show_files(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard000\n")
    write("b/c.py", "")
    write("build/d.py", "")
    assert jaxlint("--show-files") == (0, "a.py\nb/c.py\n", "")
    assert jaxlint("--show-files", "a.py", "gone.py") == (
        2,
        "a.py\n",
        "jaxlint: gone.py: no such file or directory\n",
    )


def test_show_settings(jaxlint: Jaxlint, tmp_path: Path) -> None:
    write("jaxlint.toml", "select = ['JAX1']\njax-version = '0.5.1'\n[severity]\nJAX1 = 'info'\n")
    outcome = jaxlint("--show-settings", "--min-severity", "error")
    assert outcome.status == 0
    assert f"# settings file: {tmp_path / 'jaxlint.toml'}" in outcome.lines
    assert 'select = ["JAX1"]' in outcome.lines
    assert 'severity = {"JAX1" = "info"}' in outcome.lines
    assert 'min-severity = "error"' in outcome.lines
    write("again.toml", outcome.out)
    again = jaxlint("--show-settings", "--config", "again.toml")
    assert [line for line in again.lines if line[0] != "#"] == [
        line for line in outcome.lines if line[0] != "#"
    ]


def test_a_reader_that_leaves_early(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxlint", "--show-settings", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert errors == b""


def test_a_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    (tmp_path / "é.py").write_text("x = 1\n")
    shown = subprocess.run(
        [sys.executable, "-m", "jaxlint", "--show-files", str(tmp_path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"\\xe9.py" in shown.stdout


def test_an_empty_path_is_not_the_directory(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    outcome = jaxlint("", "--output-format", "concise")
    assert outcome == (2, "", "jaxlint: '': no such file or directory\n")


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
@pytest.mark.parametrize("value", ["", " ", ","])
def test_an_empty_selection_is_not_everything(option: str, value: str, jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")
    outcome = jaxlint(option, value)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.errors[-1] == f"jaxlint check: error: argument {option}: names nothing"


def test_a_slug_in_a_suppression(jaxlint: Jaxlint) -> None:
    write(
        "a.py", "hazard103  # jaxlint: ignore[jit-in-loop]\nhazard301  # jaxlint: ignore[mising-donation]\n"
    )
    assert jaxlint("--output-format", "concise").lines == [
        "a.py:2:1: JAX301 A missing-donation.",
        "a.py:2:30: JAX003 There is no code `mising-donation`. Did you mean `missing-donation`?",
    ]


def test_the_report_of_a_run_says_how_it_ends(jaxlint: Jaxlint) -> None:
    write("a.py", "hazard103\n")

    def code(*options: str) -> tuple[int, int]:
        outcome = jaxlint("--output-format", "sarif", *options)
        return outcome.status, json.loads(outcome.out)["runs"][0]["invocations"][0]["exitCode"]

    assert code("--select", "JAX3") == (0, 0)
    assert code("--select", "JAX3", "missing.py") == (2, 2)


def test_a_report_that_fails_leaves_the_file_of_the_last(
    jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.py", "hazard103\n")
    write("report.txt", "old")

    def half(run: object, output_format: str, stream: io.StringIO) -> None:
        stream.write("half")
        raise RuntimeError("made to fail")

    monkeypatch.setattr("jaxlint.report.write", half)
    assert jaxlint("--output-file", "report.txt").status == 2
    assert Path("report.txt").read_text() == "old"
    assert sorted(os.listdir()) == ["a.py", "report.txt"]


def test_a_report_goes_to_a_file_that_cannot_be_replaced(
    jaxlint: Jaxlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is mounted, as into a container."""
    write("a.py", "hazard103\n")
    write("report.txt", "old")

    def busy(*paths: object) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", busy)
    outcome = jaxlint("--output-file", "report.txt", "--output-format", "concise", "--no-cache")
    assert outcome == (1, "", "")
    assert Path("report.txt").read_text() == "a.py:1:1: JAX103 A jit-in-loop.\n"
    assert sorted(os.listdir()) == ["a.py", "report.txt"]
