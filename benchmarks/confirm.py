#!/usr/bin/env python3
"""What --confirm makes of the casebook: how many of its findings are confirmed, by rule, and why others are not.

    python benchmarks/confirm.py [--only TEXT] [--codes JAX3,JAX103] [--good] [--defaults] [--jobs 2] [--verbose]

Each program is checked alone, in a directory of its own, as `fixtures/casebook/score.py` does. The programs
are small on purpose, so the thresholds for memory are lowered to 64 bytes; the share of 5 % stays. With
`--defaults` they are what a user has.
Counted are the findings of the bad programs; with `--good` the good ones and the traps instead, where nothing
that was not claimed by a finding of the bad program may be confirmed.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

CASEBOOK = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "casebook"
SETTINGS = "[confirm]\nmin-bytes = 64\nmin-bytes-cuda = 64\n"
TOGETHER = 8  # programs that one run of jaxlint checks
OUTCOMES = ("confirmed", "refuted", "unknown")


def programs(good: bool) -> list[pathlib.Path]:
    """The programs to check: files, or folders of modules."""
    found = []
    for folder in sorted(path.parent for path in CASEBOOK.glob("*/*/case.toml")):
        for name in ("good", "ok") if good else ("bad",):
            found += [path for path in (folder / name, folder / f"{name}.py") if path.exists()]
    return found


def check(chosen: list[pathlib.Path], settings_text: str, extra: list[str]) -> list[dict[str, Any]]:
    """The findings of some programs, each in a directory of its own, with verdicts."""
    with tempfile.TemporaryDirectory() as directory:
        project = pathlib.Path(directory) / "project"
        for program in chosen:
            copy(program, project / program.parent.name)
        settings = pathlib.Path(directory) / "settings.toml"
        settings.write_text(settings_text)
        command = [sys.executable, "-m", "jaxlint", "check", "--select", "ALL", "--preview", "--no-cache"]
        command += ["--config", str(settings), "--confirm", "--output-format", "json", *extra, "."]
        run = subprocess.run(command, capture_output=True, text=True, cwd=project)
    if run.returncode not in (0, 1):
        failure = {"code": "JAX000", "message": run.stderr, "severity": "error", "confirm": None}
        return [{**failure, "program": "?", "start": {"line": 0}}]
    return [{**finding, "program": finding["path"].partition("/")[0]} for finding in json.loads(run.stdout)]


def copy(program: pathlib.Path, directory: pathlib.Path) -> None:
    """Lay a program out as the case means it."""
    if program.is_dir():
        shutil.copytree(program, directory)
        return
    directory.mkdir(parents=True)
    for beside in program.parent.glob("*.py"):
        if beside.stem not in {"bad", "good", "ok"}:
            shutil.copy(beside, directory / beside.name)
    shutil.copy(program, directory / ("test_program.py" if "-test-" in program.parent.name else "program.py"))


def count(finding: dict[str, Any], table: dict[str, collections.Counter[str]], verbose: bool) -> None:
    """Enter a finding's verdicts into the table, and print them."""
    for verdict in finding["confirm"] or [{"verdict": "none", "reason": finding["message"]}]:
        table[finding["code"]][verdict["verdict"]] += 1
        if verbose:
            where = f"{finding['program']}:{finding['start']['line']}"
            print(f"{finding['code']} {where} {verdict['verdict']}: {verdict['reason'][:160]}", flush=True)


def expected(case: str) -> set[str]:
    """The codes that a case of the casebook is about."""
    found = next(CASEBOOK.glob(f"*/{case}/case.toml"), None)
    return set(re.findall(r'code = "(JAX\d+)"', found.read_text())) if found else set()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="programs whose path contains this")
    parser.add_argument("--codes", default="", help="codes, or beginnings of codes, with commas")
    parser.add_argument("--good", action="store_true", help="the good programs and the traps")
    parser.add_argument("--defaults", action="store_true", help="the thresholds that a user has")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="print every verdict")
    parser.add_argument("rest", nargs="*", help="options for `jaxlint check`, after --")
    args = parser.parse_args()
    chosen = [program for program in programs(args.good) if args.only in str(program)]
    prefixes = tuple(args.codes.split(","))
    settings = "" if args.defaults else SETTINGS
    groups = [chosen[i : i + TOGETHER] for i in range(0, len(chosen), TOGETHER)]
    found = []
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for listed in pool.map(lambda group: check(group, settings, args.rest), groups):
            kept = [finding for finding in listed if finding["code"].startswith(prefixes)]
            found += kept
            for finding in kept:
                count(finding, table, args.verbose)
    print(f"{'code':8} " + " ".join(f"{outcome:>9}" for outcome in OUTCOMES))
    for code in sorted(table):
        print(f"{code:8} " + " ".join(f"{table[code][outcome]:>9}" for outcome in OUTCOMES))
    sums = {outcome: sum(counter[outcome] for counter in table.values()) for outcome in OUTCOMES}
    decided = sums["confirmed"] + sums["refuted"]
    print(f"{'all':8} " + " ".join(f"{sums[outcome]:>9}" for outcome in OUTCOMES))
    print(f"confirmed of decided: {sums['confirmed'] / decided:.3f}" if decided else "nothing was decided")
    wanted = [finding for finding in found if finding["code"] in expected(finding["program"])]
    known = [verdict["verdict"] for finding in wanted for verdict in finding["confirm"] or ()]
    print("of the codes that a case is about: " + ", ".join(f"{known.count(o)} {o}" for o in OUTCOMES))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
