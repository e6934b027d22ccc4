"""Whether findings survive another spelling, and whether what is broken on purpose is found.

    python benchmarks/mutate.py [--seed N] [--sample SHARE] [--only CODE] [--misses]

Programs are those of the casebook, of the pages and of the blind batches. Hazard-preserving edits are made to bad
programs: every code that was found before must be found afterwards. Hazard-introducing edits are made to good
programs about the rule: one of its codes must be found that was not found before. What an edit makes is never
run, so read the misses before believing them: an edit may turn out harmless in one program.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mutations import MAIN
from mutations.containers import CONTAINERS
from mutations.functions import FUNCTIONS
from mutations.introducing import INTRODUCING
from mutations.preserving import AT_IMPORT, MOVING, PRESERVING

from jaxlint import page, registry
from jaxlint.check import check
from jaxlint.project import toml
from jaxlint.project.files import discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.rule import Rule

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "fixtures" / "casebook" / "cases"
BATCHES = ROOT / "fixtures" / "accuracy"
AIM = 0.9  # of the hazard-preserving edits


class Program(NamedTuple):
    """One module that stands alone, and the codes of the rules it is about."""

    name: str
    source: str
    codes: frozenset[str]
    jax: tuple[int, ...] | None = None  # the version it is judged by


class Trial(NamedTuple):
    """An edit of a program, and what became of one code (or of the edit's codes together)."""

    edit: str
    code: str
    program: str
    found: bool


# ---------------------------------------------------------------- programs


def programs(kinds: Iterable[str]) -> Iterator[Program]:
    """The bad or the good programs of the casebook, of the pages and of the blind batches, in a fixed order."""
    kinds = frozenset(kinds)
    yield from _from_casebook(kinds)
    for path in sorted((ROOT / "rules").rglob("*.md")):
        yield from _from_page(path, kinds)
    for kind in sorted(kinds):
        for path in sorted(BATCHES.glob(f"*/JAX*/{kind}_*.py")):
            yield Program(str(path.relative_to(BATCHES)), path.read_text(), frozenset({path.parent.name}))


def _from_casebook(kinds: frozenset[str]) -> Iterator[Program]:
    for settings in sorted(CASES.glob("*/case.toml")):
        expected = frozenset(entry["code"] for entry in toml.load(str(settings)).get("expect", ()))
        modules = {path.stem: path for path in settings.parent.glob("*.py")}
        if "-test-" in settings.parent.name or modules.keys() - {"bad", "good"}:
            continue  # judged by another file name, or together with other modules
        for kind in sorted(kinds & modules.keys()):
            yield Program(f"{settings.parent.name}/{kind}.py", modules[kind].read_text(), expected)


def _from_page(path: Path, kinds: frozenset[str]) -> Iterator[Program]:
    parsed = page.read(path)
    for example in parsed.examples:
        version = example.options.get("jax")
        release = tuple(map(int, version.split("."))) if version else None
        blocks = [
            *(example.blocks if example.kind in kinds else ()),
            *(example.fixed if "good" in kinds else ()),
        ]
        alone = len(example.blocks) == 1 and example.blocks[0].file == page.DEFAULT_FILE
        for block in blocks if alone else ():
            codes = frozenset({parsed.meta.code} | {mark.code for mark in block.marks})
            yield Program(f"{path.stem}.md:{block.line}", block.source, codes, release)


# ---------------------------------------------------------------- trials


class Laboratory:
    """Checks programs, each in a directory of its own."""

    def __init__(self, rules: list[Rule], scratch: Path) -> None:
        self._rules = rules
        self._scratch = scratch
        self._made = 0

    def codes(self, modules: dict[str, str], jax: tuple[int, ...] | None) -> set[str]:
        """What is found. Raises SystemExit where the analysis fails: that is worse than any miss."""
        self._made += 1
        folder = self._scratch / str(self._made)
        folder.mkdir()
        for name, source in modules.items():
            (folder / name).write_text(source)
        settings = Settings(jax_version=jax)
        project = Project("", settings, [str(folder)])
        files = discover([str(folder)], project).files
        found = check(files, project, settings, self._rules, jobs=1, cache=False)
        for finding in found:
            if finding.code in ("JAX000", "JAX001"):
                raise SystemExit(f"{finding.path}: {finding.message}\n\n{modules}")
        return {finding.code for finding in found}


def preserve(laboratory: Laboratory, program: Program, seed: int) -> Iterator[Trial]:
    """Try each hazard-preserving edit on a bad program."""
    before = laboratory.codes({MAIN: program.source}, program.jax) & program.codes
    for name, edit in {**PRESERVING, **CONTAINERS, **FUNCTIONS}.items():
        expected = {code for code in before if not (name in MOVING and code.startswith(AT_IMPORT))}
        made = edit(program.source, random.Random(f"{seed} {program.name}")) if expected else None
        if made is not None:
            after = laboratory.codes(made, program.jax)
            for code in sorted(expected):
                yield Trial(name, code, program.name, code in after)


def introduce(laboratory: Laboratory, program: Program, seed: int) -> Iterator[Trial]:
    """Try each hazard-introducing edit on a good program."""
    for name, introduction in INTRODUCING.items():
        if introduction.about and not program.codes & set(introduction.about):
            continue
        made = introduction.edit(program.source, random.Random(f"{seed} {program.name}"))
        if made is None or laboratory.codes({MAIN: program.source}, program.jax) & set(introduction.codes):
            continue
        found = laboratory.codes(made, program.jax) & set(introduction.codes)
        yield Trial(name, min(found, default=introduction.codes[0]), program.name, bool(found))


# ---------------------------------------------------------------- what is shown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of names and samples (default: 0)")
    parser.add_argument(
        "--sample", type=float, default=1.0, metavar="SHARE", help="of the programs (default: 1)"
    )
    parser.add_argument("--only", default="", metavar="CODE", help="programs about rules of this prefix")
    parser.add_argument("--misses", action="store_true", help="list what was not found")
    args = parser.parse_args()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as scratch:
        laboratory = Laboratory(registry.load(), Path(scratch))
        for title, kind, try_all in (
            (f"hazard-preserving edits of bad programs (aim {AIM})", "bad", preserve),
            ("hazard-introducing edits of good programs", "good", introduce),
        ):
            chosen = list(_chosen(programs([kind]), args))
            trials = [trial for program in chosen for trial in try_all(laboratory, program, args.seed)]
            print(f"\n{title}: {_share(trials)} of {len(trials)}, {len(chosen)} programs")
            _table("edit", trials)
            _table("code", trials)
            if args.misses:
                for trial in trials:
                    if not trial.found:
                        print(f"  missed {trial.code} after {trial.edit!r}: {trial.program}")
    return 0


def _chosen(all_programs: Iterator[Program], args: argparse.Namespace) -> Iterator[Program]:
    chance = random.Random(args.seed)
    for program in all_programs:
        drawn = chance.random() < args.sample
        if drawn and any(code.startswith(args.only) for code in program.codes):
            yield program


def _table(field: str, trials: list[Trial]) -> None:
    counts = Counter(getattr(trial, field) for trial in trials)
    for key in sorted(counts):
        chosen = [trial for trial in trials if getattr(trial, field) == key]
        print(f"  {key:16}{counts[key]:6}  {_share(chosen)}")


def _share(trials: list[Trial]) -> str:
    return f"{sum(trial.found for trial in trials) / len(trials):.2f}" if trials else "-"


if __name__ == "__main__":
    sys.exit(main())
