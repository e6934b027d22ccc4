"""Whatever is fixed stays fixed, and fixed programs do what they did: over all examples and the casebook."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxlint import registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import run_fixed  # noqa: E402 - its folder is put on the path above

PROGRAMS = [program for program in run_fixed.programs() if not program.name.endswith(("good.py", "ok.py"))]
PROGRAMS = [program for program in PROGRAMS if "good_" not in program.name]
JAX_PYTHON = os.environ.get("JAXLINT_JAX_PYTHON", sys.executable)
RUN = 30  # programs


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[run_fixed.Trial]:
    rules, scratch = registry.load(), tmp_path_factory.mktemp("fixed")
    return [run_fixed.fixed(program, rules, scratch / str(n)) for n, program in enumerate(PROGRAMS)]


def test_fixed_programs_parse_and_have_nothing_left_to_fix(trials: list[run_fixed.Trial]) -> None:
    """Fixing is idempotent, the second look finds nothing of what was fixed, and suggestions parse, too."""
    assert {trial.program.name: trial.wrong for trial in trials if trial.wrong} == {}


def test_every_rule_with_a_fix_was_tried(trials: list[run_fixed.Trial]) -> None:
    fixable = {rule.meta.code for rule in registry.load() if rule.meta.fix in ("safe", "unsafe")}
    assert fixable <= {code for trial in trials for code in trial.codes}


@pytest.fixture
def worker() -> Iterator[run_fixed.Worker]:
    worker = run_fixed.Worker()
    yield worker
    worker.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs run in forks")
def test_fixed_programs_print_what_they_printed(
    trials: list[run_fixed.Trial], worker: run_fixed.Worker, tmp_path: Path
) -> None:
    """30 of them, drawn anew each time; the seed in a failure draws the same ones again."""
    seed = int(os.environ.get("JAXLINT_SEED", random.randrange(1_000_000)))
    print(f"JAXLINT_SEED={seed}")
    changed = [trial for trial in trials if trial.codes]
    chosen = random.Random(seed).sample(changed, min(RUN, len(changed)))
    verdicts = {
        trial.program.name: run_fixed.compare(trial, worker, tmp_path / str(number))
        for number, trial in enumerate(chosen)
    }
    faults = {name: verdict for name, verdict in verdicts.items() if verdict[0] in run_fixed.FAULTS}
    assert not faults, f"JAXLINT_SEED={seed} draws the same programs again"
    assert any(verdict[0] == "same" for verdict in verdicts.values()), "nothing ran"
