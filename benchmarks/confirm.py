#!/usr/bin/env python3
"""What --confirm makes of the casebook: how many of its findings are confirmed, by rule, and why others are not.

    python benchmarks/confirm.py [--only TEXT] [--codes JAX3,JAX103] [--good] [--jobs 2] [--verbose]

Each program is checked alone, in a directory of its own, as `fixtures/casebook/score.py` does. The programs
are small on purpose, so the thresholds for memory are lowered to 64 bytes; the share of 5 % stays.
Counted are the findings of the bad programs; with `--good` the good ones and the traps instead, where nothing
that was not claimed by a finding of the bad program may be confirmed.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

CASEBOOK = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "casebook"
SETTINGS = "[tool.jaxlint.confirm]\nmin-bytes = 64\nmin-bytes-cuda = 64\n"
OUTCOMES = ("confirmed", "refuted", "unknown")


def programs(good: bool) -> list[pathlib.Path]:
    """The programs to check: files, or folders of modules."""
    found = []
    for folder in sorted(path.parent for path in CASEBOOK.glob("*/*/case.toml")):
        for name in ("good", "ok") if good else ("bad",):
            found += [path for path in (folder / name, folder / f"{name}.py") if path.exists()]
    return found


def check(program: pathlib.Path, extra: list[str]) -> list[dict[str, Any]]:
    """The findings of a program, with verdicts."""
    with tempfile.TemporaryDirectory() as directory:
        project = pathlib.Path(directory) / "project"
        if program.is_dir():
            shutil.copytree(program, project)
        else:
            project.mkdir()
            for beside in program.parent.glob("*.py"):
                if beside.stem not in {"bad", "good", "ok"}:
                    shutil.copy(beside, project / beside.name)
            name = "test_program.py" if "-test-" in program.parent.name else "program.py"
            shutil.copy(program, project / name)
        settings = pathlib.Path(directory) / "settings.toml"
        settings.write_text(SETTINGS.replace("tool.jaxlint.confirm", "confirm"))
        command = [sys.executable, "-m", "jaxlint", "check", "--select", "ALL", "--preview", "--no-cache"]
        command += ["--config", str(settings), "--confirm", "--output-format", "json", *extra, "."]
        run = subprocess.run(command, capture_output=True, text=True, cwd=project, timeout=900)
    if run.returncode not in (0, 1):
        return [
            {
                "code": "JAX000",
                "message": run.stderr,
                "severity": "error",
                "confirm": None,
                "start": {"line": 0},
            }
        ]
    return [{**finding, "program": program.parent.name} for finding in json.loads(run.stdout)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="programs whose path contains this")
    parser.add_argument("--codes", default="", help="codes, or beginnings of codes, with commas")
    parser.add_argument("--good", action="store_true", help="the good programs and the traps")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="print every verdict that is not confirmed")
    parser.add_argument("rest", nargs="*", help="options for `jaxlint check`, after --")
    args = parser.parse_args()
    chosen = [program for program in programs(args.good) if args.only in str(program)]
    prefixes = tuple(args.codes.split(","))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = [item for listed in pool.map(lambda p: check(p, args.rest), chosen) for item in listed]
    found = [finding for finding in found if finding["code"].startswith(prefixes)]
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for finding in found:
        for verdict in finding["confirm"] or [{"verdict": "none", "reason": finding["message"]}]:
            table[finding["code"]][verdict["verdict"]] += 1
            if args.verbose and (verdict["verdict"] != "confirmed" or args.good):
                where = f"{finding.get('program', '')}:{finding['start']['line']}"
                print(f"{finding['code']} {where} {verdict['verdict']}: {verdict['reason'][:150]}")
    print(f"{'code':8} " + " ".join(f"{outcome:>9}" for outcome in OUTCOMES))
    for code in sorted(table):
        print(f"{code:8} " + " ".join(f"{table[code][outcome]:>9}" for outcome in OUTCOMES))
    sums = {outcome: sum(counter[outcome] for counter in table.values()) for outcome in OUTCOMES}
    decided = sums["confirmed"] + sums["refuted"]
    print(f"{'all':8} " + " ".join(f"{sums[outcome]:>9}" for outcome in OUTCOMES))
    print(f"confirmed of decided: {sums['confirmed'] / decided:.3f}" if decided else "nothing was decided")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
