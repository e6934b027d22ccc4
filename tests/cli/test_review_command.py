"""`jaxlint review` in real repositories: it speaks of what a change touches, or has caused, and of nothing else."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint import report
from jaxlint.cli import main

IMPORTS = "import jax\nimport jax.numpy as jnp\n\n\n"
LOOP = """\
def {name}():
    for i in range(100):
        f = jax.jit(lambda x: x + i)
        f(1.0)


{name}()
"""
QUICKSTART = Path(__file__).parents[2] / "fixtures" / "quickstart"
STEP = "def step(x, n):\n    return x * n\n"
CALLS = """\
from model import step


def main():
    for n in range(100):
        print(step(1.0, n))


main()
"""


class Repository:
    """A git repository, and the command line in it."""

    def __init__(
        self, top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.top = top
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.chdir(top)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> bytes:
        settings = ("-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false")
        done = subprocess.run(["git", *settings, *arguments], cwd=self.top, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.top / f"{name}.py").write_bytes(text.encode())

    def commit(self, **texts: str) -> None:
        self.write(**texts)
        self.git("add", "-A")
        self.git("commit", "-qm", "a change")

    def review(self, *arguments: str, diff: bytes = b"") -> list[tuple[str, int, str]]:
        """The findings: file, line and code of each. The exit status agrees with them, and nobody complains."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(diff)))
        status = main(["review", *arguments, "--output-format", "jsonl", "--isolated"])
        out, err = self._capsys.readouterr()
        assert (status, err) == (1 if out else 0, "")
        found = [json.loads(line) for line in out.splitlines()]
        return [(item["path"], item["start"]["line"], item["code"]) for item in found]


@pytest.fixture
def repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Repository:
    return Repository(tmp_path, monkeypatch, capsys)


def lines_of(found: list[tuple[str, int, str]]) -> list[str]:
    return [f"{path} {code}" for path, _, code in found]


def test_three_commits_and_it_speaks_of_the_last(repository: Repository) -> None:
    repository.commit(one=IMPORTS + LOOP.format(name="first"))
    repository.commit(two=IMPORTS + LOOP.format(name="second"))
    repository.commit(one=IMPORTS + LOOP.format(name="first") + "\n\n" + LOOP.format(name="third"))
    assert main(["--isolated", "--output-format", "concise", "."]) == 1
    everything = repository._capsys.readouterr().out
    assert everything.count("JAX103") == 3
    assert lines_of(repository.review("HEAD~1")) == ["one.py JAX103"]
    assert lines_of(repository.review("HEAD~2")) == ["one.py JAX103", "two.py JAX103"]
    assert repository.review("HEAD") == []


def test_what_is_not_committed_belongs_to_it(repository: Repository) -> None:
    repository.commit(one=IMPORTS)
    repository.write(one=IMPORTS + LOOP.format(name="first"))
    assert lines_of(repository.review("HEAD")) == ["one.py JAX103"]


def test_sources_that_git_takes_for_binary(repository: Repository) -> None:
    (repository.top / "picture.png").write_bytes(b"x")
    repository.commit(one=IMPORTS, two=IMPORTS)
    (repository.top / "picture.png").write_bytes(bytes(range(256)) * 9)
    (repository.top / ".gitattributes").write_text("one.py -diff\n")
    repository.commit(one=IMPORTS + LOOP.format(name="first"), two=IMPORTS + "# \0\n")
    status = main(["review", "HEAD~1", "--output-format", "concise", "--isolated"])
    out = repository._capsys.readouterr().out
    assert status == 2
    assert [line.split(" ")[1] for line in out.splitlines()] == ["JAX103", "JAX001"]


def test_paths_behind_options(repository: Repository) -> None:
    repository.commit(one=IMPORTS, two=IMPORTS)
    repository.write(one=IMPORTS + LOOP.format(name="first"), two=IMPORTS + LOOP.format(name="second"))
    found = repository.review("HEAD", "--no-cache", "two.py", "--preview")
    assert lines_of(found) == ["two.py JAX103"]


def test_what_others_did_meanwhile_does_not(repository: Repository) -> None:
    repository.commit(one=IMPORTS)
    repository.git("branch", "mine")
    repository.commit(two=IMPORTS + LOOP.format(name="theirs"))
    repository.git("checkout", "-q", "mine")
    repository.commit(three=IMPORTS + LOOP.format(name="ours"))
    assert lines_of(repository.review("main")) == ["three.py JAX103"]


def test_a_cause_elsewhere(repository: Repository) -> None:
    """The call is old; that what it calls is compiled is new."""
    repository.commit(model=STEP, train=CALLS)
    assert repository.review("HEAD") == []
    repository.commit(model=f"import equinox as eqx\n\n\n@eqx.filter_jit\n{STEP}")
    assert lines_of(repository.review("HEAD~1")) == ["train.py JAX101"]
    repository.commit(model=f"import equinox as eqx\n\n\n@eqx.filter_jit\n{STEP}\n\nOTHER = 1\n")
    assert repository.review("HEAD~1") == []


HELD = LOOP.replace("        f = jax", "{above}        f = jax").replace("x + i)", "x + i){beside}")
IGNORE = "# jaxlint: ignore[{}] three trials\n"


@pytest.mark.parametrize(
    ("above", "beside", "begin"),
    [
        ("        " + IGNORE.format("JAX103"), "", ""),
        ("        # So\n        " + IGNORE.format("JAX103") + "        # it is.\n", "", ""),
        ("        " + IGNORE.format("jit-in-loop"), "", ""),
        ("", "  " + IGNORE.format("JAX1").rstrip(), ""),
        ("", "", IGNORE.replace("ignore", "ignore-file").format("JAX103")),
    ],
)
def test_a_suppression_that_is_gone(above: str, beside: str, begin: str, repository: Repository) -> None:
    """It was the cause of the silence; the finding is as old as the code."""

    def text(above: str, beside: str, begin: str) -> str:
        return IMPORTS + begin + HELD.format(name="first", above=above, beside=beside) + "\n\nx = 1\n"

    repository.commit(one=text(above, beside, begin))
    assert repository.review("HEAD") == []
    rest = "\n".join(line for line in above.splitlines() if "jaxlint" not in line)
    repository.write(one=text(f"{rest}\n" if rest else "", "", ""))
    assert lines_of(repository.review("HEAD")) == ["one.py JAX103"]
    repository.write(one=text(*(each.replace("three", "few") for each in (above, beside, begin))))
    assert repository.review("HEAD") == []


def test_a_suppression_of_something_else_that_is_gone(repository: Repository) -> None:
    second = HELD.format(name="second", above="", beside="")
    repository.commit(
        one=IMPORTS
        + HELD.format(name="first", above="        " + IGNORE.format("JAX104"), beside="")
        + second
    )
    repository.write(one=IMPORTS + HELD.format(name="first", above="", beside="") + second)
    assert repository.review("HEAD") == []


NORM = """\
@jax.jit
def norm(x):
    y = x
{before}    z = np.sort(x)
{after}    return y + z


norm(jnp.ones(2))
"""


@pytest.mark.parametrize("line", ["    x = np.ones(2)\n", "\n", "    # Sorts.\n"])
def test_a_statement_beside_it_that_is_gone(line: str, repository: Repository) -> None:
    """Blank lines and comments have no effect, a statement may."""
    imports = IMPORTS.replace("\n\n\n", "\nimport numpy as np\n\n\n")
    expected = ["one.py JAX206"] if "ones" in line else []
    for before, after in ((line, ""), ("", line)):
        repository.commit(one=imports + NORM.format(before=before, after=after))
        repository.write(one=imports + NORM.format(before="", after=""))
        assert lines_of(repository.review("HEAD")) == expected


def test_a_function_beside_it_that_is_gone(repository: Repository) -> None:
    loop = "for i in range(9):\n    f = jax.jit(lambda x: x + i)\n    f(1.0)\n"
    repository.commit(one=IMPORTS + "def gone():\n    return 1\n" + loop)
    repository.write(one=IMPORTS + loop)
    assert repository.review("HEAD") == []


def test_renames(repository: Repository) -> None:
    text = IMPORTS + LOOP.format(name="first") + "".join(f"x{i} = {i}\n" for i in range(50))
    repository.commit(one=text)
    repository.git("mv", "one.py", "two.py")
    repository.commit()
    assert repository.review("HEAD~1") == []
    repository.git("mv", "two.py", "three.py")
    repository.commit(three=text.replace("lambda x: x + i", "lambda x: x - i"))
    assert lines_of(repository.review("HEAD~1")) == ["three.py JAX103"]


def test_a_file_that_went_and_one_that_is_not_python(repository: Repository) -> None:
    repository.commit(one=IMPORTS + LOOP.format(name="first"), two=IMPORTS)
    (repository.top / "one.py").unlink()
    (repository.top / "image.png").write_bytes(b"\x89PNG\0\xff")
    repository.commit()
    assert repository.review("HEAD~1") == []


@pytest.mark.parametrize("name", ["with space", "naïve", "#1%20", 'q"uote', "日本", "a\tb"])
def test_odd_names(name: str, repository: Repository) -> None:
    repository.commit(other=IMPORTS)
    repository.commit(**{name: IMPORTS + LOOP.format(name="first")})
    assert lines_of(repository.review("HEAD~1")) == [f"{name}.py JAX103"]


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_ends(ending: str, repository: Repository) -> None:
    old, new = (IMPORTS + LOOP.format(name=name) for name in ("first", "second"))
    repository.commit(one=old.replace("\n", ending))
    repository.commit(one=(old + new).replace("\n", ending))
    assert repository.review("HEAD~1") == [("one.py", 18, "JAX103")]


@pytest.mark.parametrize("setting", ["diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.context=0"])
def test_settings_of_git(setting: str, repository: Repository) -> None:
    repository.commit(one=IMPORTS)
    repository.commit(one=IMPORTS + LOOP.format(name="first"))
    repository.git("config", *setting.split("="))
    assert lines_of(repository.review("HEAD~1")) == ["one.py JAX103"]
    diff = repository.git("diff", "HEAD~1")
    assert lines_of(repository.review("-", diff=diff)) == ["one.py JAX103"]
    assert lines_of(repository.review("--diff-file", "-", diff=diff)) == ["one.py JAX103"]
    (repository.top / "change.diff").write_bytes(diff)
    assert lines_of(repository.review("--diff-file", "change.diff")) == ["one.py JAX103"]


def test_from_a_directory_below(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository.top / "below").mkdir()
    repository.commit(one=IMPORTS)
    repository.commit(
        **{"one": IMPORTS + LOOP.format(name="first"), "below/two": IMPORTS + LOOP.format(name="f")}
    )
    monkeypatch.chdir(repository.top / "below")
    found = repository.review("HEAD~1")
    assert [Path(path).name for path, _, _ in found] == ["one.py", "two.py"]
    assert [path for path, _, _ in repository.review("HEAD~1", ".")] == ["two.py"]


def test_from_a_directory_beside_it(
    repository: Repository,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Names of a diff, and commits, are those of the repository whose paths are given."""
    (repository.top / "src").mkdir()
    repository.commit(**{"src/one": IMPORTS})
    repository.commit(**{"src/one": IMPORTS + LOOP.format(name="first")})
    diff = repository.git("diff", "HEAD~1")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    (elsewhere / "change.diff").write_bytes(diff)
    for path in (repository.top, repository.top / "src", repository.top / "src" / "one.py"):
        for call in (["--diff-file", "change.diff"], ["-"], ["HEAD~1"]):
            assert [code for _, _, code in repository.review(*call, str(path), diff=diff)] == ["JAX103"]
    assert "no " + str(elsewhere / "src" / "one.py") in refusal(capsys, "--diff-file", "change.diff", ".")
    other = tmp_path_factory.mktemp("other")
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    assert "several repositories" in refusal(capsys, "HEAD~1", str(other), str(repository.top))


def test_a_file_of_the_diff_that_is_not_here(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(one=IMPORTS, two=IMPORTS)
    repository.commit(one=IMPORTS + LOOP.format(name="first"), two=IMPORTS + "x = 1\n")
    (repository.top / "change.diff").write_bytes(repository.git("diff", "HEAD~1"))
    (repository.top / "two.py").unlink()
    assert main(["review", "--diff-file", "change.diff", "--isolated"]) == 1
    out, err = capsys.readouterr()
    assert "one.py:7:13: JAX103" in out
    assert err.count("\n") == 1 and "two.py: the diff changes it" in err


def test_a_file_that_fails_is_spoken_of_where_it_was_changed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(old="import jax\ndef (\n", one=IMPORTS)
    repository.commit(one=IMPORTS + LOOP.format(name="first"))
    assert lines_of(repository.review("HEAD~1")) == ["one.py JAX103"]
    repository.commit(two="import jax\n)\n")
    assert main(["review", "HEAD~1", "--isolated"]) == 2
    assert "two.py:2:1: JAX001" in capsys.readouterr().err


def test_suggestions_stay_within_the_diff(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A finding that a change elsewhere has caused comes without the fix that a host could not show."""

    def fixes(*options: str) -> dict[str, bool]:
        main(["review", "HEAD", *options, "--isolated", "--output-format", "json"])
        return {item["path"]: item["fix"] is not None for item in json.loads(capsys.readouterr().out)}

    train = (QUICKSTART / "train.py").read_text()
    repository.commit(**{path.stem: path.read_text() for path in QUICKSTART.glob("*.py")})
    loading = next(line for line in train.splitlines() if "recordings(seed=epoch" in line)
    repository.write(train=train.replace(loading, f"{loading}  # changed"))
    assert fixes("--select", "JAX402") == {"data.py": False}
    data = (QUICKSTART / "data.py").read_text()
    repository.write(data=data.replace("@functools.cache", "@functools.lru_cache(maxsize=None)"))
    assert fixes("--select", "JAX402") == {"data.py": True}


@pytest.mark.parametrize("output_format", report.FORMATS)
def test_every_format(output_format: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit(one=IMPORTS + LOOP.format(name="first"))
    repository.commit(two=IMPORTS + LOOP.format(name="second"))
    assert main(["review", "HEAD~1", "--isolated", "--output-format", output_format]) == 1
    out = capsys.readouterr().out
    assert "two.py" in out and "JAX103" in out and "one.py" not in out


def test_what_there_is_to_say_is_of_the_change(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is told how many files there are, nor what has become stale elsewhere."""
    repository.commit(one=IMPORTS + LOOP.format(name="first"), two=IMPORTS)
    main(["--isolated", "--baseline", "known.json", "--update-baseline", "."])
    repository.write(one=IMPORTS, two=IMPORTS + "# more\n")
    capsys.readouterr()
    assert main(["review", "HEAD", "--isolated", "--baseline", "known.json"]) == 0
    assert capsys.readouterr() == ("No findings in what the change touches.\n", "")


# ---------------------------------------------------------------- what cannot be reviewed


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["review", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("jaxlint: ")
    return err


def test_refusals(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit(one=IMPORTS)
    assert "not a commit" in refusal(capsys, "no-such-branch")
    assert "not a commit" in refusal(capsys, "--", "--output=evil")
    assert "review what?" in refusal(capsys)
    assert "cannot read" in refusal(capsys, "--diff-file", "missing.diff")
    (repository.top / "bad.diff").write_text("{}\n")
    assert "no unified diff" in refusal(capsys, "--diff-file", "bad.diff")
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit(two=IMPORTS)
    assert "no commit in common" in refusal(capsys, "main")
    assert not (repository.top / "evil").exists()


def test_outside_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no git repository" in refusal(capsys, "main")
    (tmp_path / "one.py").write_text(IMPORTS + LOOP.format(name="first"))
    (tmp_path / "a.diff").write_text("--- /dev/null\n+++ b/one.py\n@@ -0,0 +1,9 @@\n" + "+x\n" * 9)
    assert main(["review", "--diff-file", "a.diff", "--isolated"]) == 1
    assert "one.py:7:13: JAX103" in capsys.readouterr().out
