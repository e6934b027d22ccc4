"""Whether fixed programs still do what they did.

    python scripts/run_fixed.py [--seed N] [--variants N] [--sample N] [--only CODE] [--match TEXT] [--jobs N]

Programs are those of the casebook, of the rules' pages and of the blind batches, and variants of them that are
written in another way (`benchmarks/mutations`). Of each, all safe and unsafe fixes are made. What comes out has to
parse, and nothing may be left to fix; where the program runs, the fixed one has to run and print the same, numbers
up to rounding.
Exit status 1 says that some fix did not hold, 2 that there was nothing to run.

The programs run in forks of one process that has imported jax (`warm_worker.py`), on the CPU.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from jaxlint import page, registry
from jaxlint.check import check
from jaxlint.finding import Applicability, Finding
from jaxlint.fix.draft import Draft
from jaxlint.fix.rounds import Fixed, fix
from jaxlint.project.files import SourceFile, discover
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings
from jaxlint.rule import Rule

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from mutations import MAIN  # noqa: E402  # found by the path above
from mutations.preserving import PRESERVING  # noqa: E402  # found by the path above

SECONDS = 60.0  # for one program
CLOSE = 1e-4  # what another order of the same float32 operations may change, relative
FAULTS = ("fails", "prints something else")
# What these fixes are for: the program printed what it should not. (Of JAX206, those that are unsafe.)
REPAIRS = frozenset({"JAX206", "JAX211", "JAX503"})
WANTED = frozenset({Applicability.SAFE, Applicability.UNSAFE})

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Program(NamedTuple):
    """Modules by file name, and the one that is run."""

    name: str
    modules: dict[str, str]
    main: str = MAIN


class Trial(NamedTuple):
    """A program, what its fixes made of it, the codes that were fixed, and what is wrong before it has run.

    `repairs`: a fix among them is to change what the program prints.
    """

    program: Program
    fixed: Program
    codes: list[str]
    wrong: list[str]
    repairs: bool


# ---------------------------------------------------------------- programs


def programs() -> Iterator[Program]:
    """Those that are written down, in a fixed order."""
    casebook = ROOT / "fixtures" / "casebook"
    for path in sorted((*casebook.glob("cases/*/*.py"), *casebook.glob("traps/*/*.py"))):
        if path.stem in ("bad", "good", "ok"):
            beside = [p for p in path.parent.glob("*.py") if p.stem not in ("bad", "good", "ok")]
            main = "test_program.py" if "-test-" in path.parent.name else MAIN
            modules = {main: path.read_text(), **{p.name: p.read_text() for p in beside}}
            yield Program(f"{path.parent.name}/{path.name}", modules, main)
    for path in sorted((ROOT / "fixtures" / "accuracy").glob("*/*/*.py")):
        yield Program("/".join(path.parts[-3:]), {MAIN: path.read_text()})
    for path in sorted((ROOT / "rules").rglob("*.md")):
        for example in page.read(path).examples:
            if example.kind in ("bad", "good"):
                sources = {n: s for n, s in example.sources.items() if n.endswith(".py")}
                if sources:
                    yield Program(f"{path.stem}.md:{example.line}", sources, list(sources)[-1])


def variants(originals: Sequence[Program], number: int, chance: random.Random) -> Iterator[Program]:
    """So many other ways to write some of the programs."""
    alone = [program for program in originals if len(program.modules) == 1]
    seen: set[tuple[str, str]] = set()
    tries = 0
    while len(seen) < number and tries < 50 * number:
        tries += 1
        program, edit = chance.choice(alone), chance.choice(sorted(PRESERVING))
        if (program.name, edit) in seen:
            continue
        modules = PRESERVING[edit](program.modules[program.main], chance)
        if modules is not None:
            seen.add((program.name, edit))
            yield Program(f"{program.name} ({edit})", modules)


# ---------------------------------------------------------------- fixing


def fixed(program: Program, rules: Sequence[Rule], scratch: Path) -> Trial:
    """The program with its fixes made, and what is wrong with that before it has run."""
    settings = Settings()
    put(program.modules, scratch)
    project = Project("", settings, [str(scratch)])
    files = [file for file in discover([str(scratch)], project).files if file.path.endswith(".py")]

    seen: list[list[Finding]] = []

    def look(changed: Mapping[str, SourceFile]) -> list[Finding]:
        now = [changed.get(file.path, file) for file in files]
        seen.append(check(now, project, settings, rules, jobs=1, cache=False))
        return seen[-1]

    result = fix(files, look, WANTED)
    broken = _broken_suggestions(seen[0], files)
    modules = dict(program.modules)
    for draft in result.drafts.values():
        modules[str(Path(draft.file.absolute).relative_to(scratch.resolve()))] = draft.text
    codes = [finding.code for finding in result.fixed]
    repairs = any(f.code in REPAIRS and not _is_safe_numpy(f) for f in result.fixed)
    # What a cache says of itself changes when it gets a bound.
    repairs |= "JAX402" in codes and any("cache_info" in source for source in modules.values())
    after = Program(program.name, modules, program.main)
    return Trial(program, after, codes, [*_wrong(result, seen[0], modules), *broken], repairs)


def _is_safe_numpy(finding: Finding) -> bool:
    return (
        finding.code == "JAX206"
        and finding.fix is not None
        and finding.fix.applicability is Applicability.SAFE
    )


def _wrong(result: Fixed, before: Sequence[Finding], modules: Mapping[str, str]) -> list[str]:
    wrong = [f"{f.code}: {f.message}" for f in result.findings if f.code in ("JAX000", "JAX001")]
    wrong += [f"not stable: {' '.join(codes)}" for codes in result.unsettled.values()]
    wrong += [
        f"{f.code} is still fixable" for f in result.findings if f.fix and f.fix.applicability in WANTED
    ]
    first, fixed, left = (Counter(f.code for f in fs) for fs in (before, result.fixed, result.findings))
    wrong += [
        f"{c} is found as before although it was fixed"
        for c in fixed
        if left[c] > max(first[c] - fixed[c], 0)
    ]
    for name, source in modules.items():
        try:
            ast.parse(source)
        except SyntaxError as error:
            wrong.append(f"{name} does not parse: {error}")
    return wrong


def _broken_suggestions(findings: Sequence[Finding], files: Sequence[SourceFile]) -> list[str]:
    """The suggestions that no program could come out of, whoever follows them."""
    drafts = {file.path: Draft.of(file) for file in files}
    shown = [f for f in findings if f.fix is not None and f.fix.applicability is Applicability.DISPLAY]
    return [
        f"{finding.code}: a suggestion that does not parse: {finding.fix.title}"
        for finding in shown
        if finding.fix is not None and drafts[finding.path].with_fix(finding.fix) is None
    ]


def put(modules: Mapping[str, str], directory: Path) -> Path:
    for name, source in modules.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return directory


# ---------------------------------------------------------------- running


class Worker:
    """One warm process. Not for several threads at once."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [
                os.environ.get("JAXLINT_JAX_PYTHON", sys.executable),
                str(Path(__file__).with_name("warm_worker.py")),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"JAX_PLATFORMS": "cpu"},
        )

    def run(self, program: Program, directory: Path) -> tuple[int, str, str]:
        """Exit status, output and error of a program."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"directory": str(put(program.modules, directory)), "main": program.main, "seconds": SECONDS}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return answer["status"], answer["output"], answer["error"]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(trial: Trial, worker: Worker, scratch: Path) -> tuple[str, str]:
    """How a fixed program did beside the original ("same", "cannot run" or what went wrong), and the details."""
    status, before, _ = worker.run(trial.program, scratch / "before")
    if status != 0:
        return "cannot run", ""
    status, after, error = worker.run(trial.fixed, scratch / "after")
    if status != 0:
        return "fails", error
    if not same(before, after):
        _, again, _ = worker.run(trial.program, scratch / "again")
        if not same(before, again):
            return "never the same", ""
        verdict = "repaired" if trial.repairs else "prints something else"
        return verdict, f"before:\n{before}\nafter:\n{after}"
    return "same", ""


def same(one: str, other: str) -> bool:
    """Whether two outputs say the same, numbers up to rounding (which may also change how arrays are laid out)."""
    words = ["".join(_NUMBER.sub(" # ", text).split()) for text in (one, other)]
    if words[0] != words[1]:
        return False
    numbers = [[float(n) for n in _NUMBER.findall(text)] for text in (one, other)]
    return all(
        a == b or math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-6) for a, b in zip(*numbers, strict=True)
    )


# ---------------------------------------------------------------- what is shown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of variants and samples (default: 0)")
    parser.add_argument(
        "--variants", type=int, default=200, metavar="N", help="how many are made (default: 200)"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="run no more than N programs that were fixed")
    parser.add_argument(
        "--only", default="JAX", metavar="CODE", help="run only what this code's fixes change"
    )
    parser.add_argument("--match", default="", metavar="TEXT", help="only programs whose name has this in it")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many workers (default: 1)")
    parser.add_argument("--quiet", action="store_true", help="no diffs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return report(args, Path(scratch).resolve())


def trials(seed: int, number: int, scratch: Path, match: str = "") -> list[Trial]:
    """All programs and their variants that fixes change."""
    chance = random.Random(seed)
    originals = [program for program in programs() if match in program.name]
    chosen = [*originals, *variants(originals, number, chance)]
    rules = registry.load()
    made = [fixed(program, rules, scratch / f"fix{number}") for number, program in enumerate(chosen)]
    return [trial for trial in made if trial.codes or trial.wrong]


def report(args: argparse.Namespace, scratch: Path) -> int:
    print(f"seed {args.seed}", flush=True)
    found = trials(args.seed, args.variants, scratch, args.match)
    found = [trial for trial in found if trial.wrong or any(c.startswith(args.only) for c in trial.codes)]
    random.Random(args.seed).shuffle(found)
    found = found[: args.sample]
    counts: Counter[str] = Counter()
    by_code: dict[str, Counter[str]] = {}
    for trial, (verdict, details) in run_all(found, scratch, args.jobs):
        counts[verdict] += 1
        for code in set(trial.codes):
            by_code.setdefault(code, Counter())[verdict] += 1
        counts["wrong"] += bool(trial.wrong)
        if trial.wrong or verdict in FAULTS:
            print(
                "\n".join(
                    [f"{trial.program.name}: {verdict} ({', '.join(trial.codes)})", *trial.wrong, details]
                )
            )
            print("" if args.quiet else diff(trial), flush=True)
    for code, each in sorted(by_code.items()):
        print(code, ", ".join(f"{verdict}: {number}" for verdict, number in sorted(each.items())))
    print(f"{len(found)} fixed programs:", ", ".join(f"{v}: {n}" for v, n in sorted(counts.items()) if n))
    return 2 if not found else int(any(counts[fault] for fault in (*FAULTS, "wrong")))


def run_all(found: Sequence[Trial], scratch: Path, jobs: int) -> Iterator[tuple[Trial, tuple[str, str]]]:
    """The verdict on each, as they come."""
    workers: SimpleQueue[Worker] = SimpleQueue()
    for worker in [Worker() for _ in range(jobs)]:
        workers.put(worker)

    def judge(index: int) -> tuple[Trial, tuple[str, str]]:
        worker = workers.get()
        try:
            return found[index], compare(found[index], worker, scratch / f"run{index}")
        finally:
            workers.put(worker)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(judge, range(len(found)))
    finally:
        for _ in range(jobs):
            workers.get().close()


def diff(trial: Trial) -> str:
    """What the fixes changed."""
    import difflib

    lines: list[str] = []
    for name, source in trial.program.modules.items():
        after = trial.fixed.modules[name]
        lines += difflib.unified_diff(source.splitlines(True), after.splitlines(True), name, name, n=2)
    return "".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
