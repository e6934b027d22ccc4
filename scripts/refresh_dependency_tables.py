"""Make jaxlint/dependencies/releases.json anew: what the wheels of jax and torch themselves require.

    python scripts/refresh_dependency_tables.py [--all]

Asks the package index, through pip, which versions of five packages there are, and reads the METADATA of their
Linux wheels (pip fetches that part of a wheel alone). Versions that the table has already are not asked for
again unless --all is given: a released wheel does not change. Needs pip 23.2 or newer.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parents[1] / "jaxlint" / "dependencies" / "releases.json"
# The oldest version of each package whose requirements are kept. Before, jax had no wheels.
READ = {"jax": (0, 4, 16), "jax-cuda12-plugin": (0, 4), "jax-cuda13-plugin": (0, 7), "torch": (2, 0)}
LISTED = {"jax": (0, 3), "jaxlib": (0, 3)}  # source releases included
KEPT = re.compile(r"(jaxlib|jax-cuda\d+-plugin|nvidia-cudnn[\w-]*)\b")
PYTHONS = ("3.12", "3.11", "3.13", "3.14", "3.10", "3.9", "3.8")
PLATFORMS = tuple(
    f"manylinux{glibc}_x86_64"
    for glibc in ("1", "2010", "2014", "_2_27", "_2_28", "_2_31", "_2_34", "_2_35", "_2_39")
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="ask for every version again")
    again = parser.parse_args().all
    table = {} if again or not TABLE.exists() else json.loads(TABLE.read_text(encoding="utf-8"))
    known = table.get("requires", {})
    requires = {name: read(name, oldest, known.get(name, {})) for name, oldest in READ.items()}
    made = {
        "made": datetime.date.today().isoformat(),
        "versions": {name: versions(name, oldest) for name, oldest in LISTED.items()},
        "requires": requires,
    }
    TABLE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


def read(name: str, oldest: tuple[int, ...], known: dict[str, list[str]]) -> dict[str, list[str]]:
    """Version → the requirements of its wheel that the rules look at, oldest first."""
    found: dict[str, list[str]] = {}
    for version in versions(name, oldest):
        lines = known.get(version)
        if lines is None:
            lines = requirements(name, version)
            print(name, version, "no wheel" if lines is None else len(lines), flush=True)
        if lines is not None:
            found[version] = lines
    return found


def versions(name: str, oldest: tuple[int, ...]) -> list[str]:
    """The released versions of a package, for any known Python, oldest first."""
    found: set[str] = set()
    targets = [["--only-binary=:all:", "--python-version", python] for python in PYTHONS]
    for target in [[], *targets]:
        printed = pip("index", "versions", name, *target)
        line = re.search(r"^Available versions: (.*)$", printed or "", re.MULTILINE)
        found.update(line[1].split(", ") if line else [])
    return sorted((v for v in found if re.fullmatch(r"[\d.]+", v) and key(v) >= oldest), key=key)


def key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def requirements(name: str, version: str) -> list[str] | None:
    """What the Linux wheel of one version requires; None when there is none for any known Python."""
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    for python in PYTHONS:
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.json"
            done = pip(
                *("install", f"{name}=={version}", "--no-deps", "--dry-run", "--ignore-installed"),
                *("--target", scratch, "--report", str(report), "--use-feature=fast-deps"),
                *("--only-binary=:all:", "--python-version", python, *platforms),
            )
            if done is not None and report.exists():
                metadata = json.loads(report.read_text(encoding="utf-8"))["install"][0]["metadata"]
                return [line for line in metadata.get("requires_dist", []) if KEPT.match(line)]
    return None


def pip(*arguments: str) -> str | None:
    """What pip prints, None when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PIP_CONSTRAINT": os.devnull},  # what this machine pins is not what there is
    )
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
