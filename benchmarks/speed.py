"""How fast jaxlint is, beside its peers and beside the parsers that nobody can be faster than.

    python benchmarks/speed.py TREE --alpha DIR --flake8 DIR --fixit DIR --pylint DIR

Each DIR is a virtual environment that has the peer; nothing is installed here, and a row without one says so.
Every figure is processor time, user and system, of one process and its children, so that what else the
machine does hardly matters. A peer and jaxlint run in turn, and the ratio is the median over such pairs:
machines differ and drift, ratios of neighbours do not. Run it on a quiet machine all the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from jaxlint.index.gate import names_jax

PARSE = """
import sys, {module}
for path in sys.argv[1:]:
    try:
        {module}.{function}(open(path, encoding="utf-8").read())
    except Exception:
        pass
"""
CLEAN = "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef square(x):\n    return jnp.square(x)\n"


class Cost(NamedTuple):
    """Of one run: processor seconds of the process and its children, and the peak memory of the largest."""

    seconds: float
    peak: int  # bytes


class Row(NamedTuple):
    """Something to measure. `command` is None where it is not installed."""

    name: str
    command: Callable[[], Sequence[str]] | None
    flags: str


class Tree(NamedTuple):
    """What is linted."""

    root: str
    files: tuple[str, ...]
    lines: int


def main() -> int:
    args = _parser().parse_args()
    tree = _tree(args.tree)
    print(f"{args.tree}: {len(tree.files)} files, {tree.lines} lines, {args.pairs} pairs a row\n")
    with tempfile.TemporaryDirectory() as scratch:
        jaxlint = Jaxlint(args.jaxlint, Path(scratch))
        _against(jaxlint, _peers(args, tree), tree, args.pairs)
        _caches(jaxlint, tree, args.pairs)
        _start(jaxlint, args.pairs)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", help="a directory of Python files")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each side (default: 3)")
    parser.add_argument(
        "--jaxlint", type=_directory, metavar="DIR", help="environment (default: this interpreter's)"
    )
    parser.add_argument(
        "--alpha", type=_directory, metavar="DIR", help="environment with PyPI's jaxlint 0.1.0a1"
    )
    for peer in ("flake8", "fixit", "pylint"):
        parser.add_argument(f"--{peer}", type=_directory, metavar="DIR", help=f"environment with {peer}")
    return parser


def _directory(path: str) -> Path:
    return Path(os.path.abspath(path))


# ---------------------------------------------------------------- what is run


class Jaxlint:
    """Our own command, with a cache that is ours to empty."""

    def __init__(self, environment: Path | None, scratch: Path) -> None:
        self.python = str(environment / "bin" / "python") if environment else sys.executable
        self.scratch = scratch
        self.settings = scratch / "jaxlint.toml"
        self._caches = 0
        self.cold()

    def cold(self) -> None:
        """Begin with an empty cache."""
        self._caches += 1
        self.settings.write_text(f'cache-dir = "{self.scratch / f"cache{self._caches}"}"\n')

    def command(self, path: str) -> list[str]:
        options = "--select ALL --preview --jobs 1 --exit-zero --output-format concise"
        return [self.python, "-m", "jaxlint", *options.split(), "--config", str(self.settings), path]

    def cost(self, path: str, *, cold: bool) -> Cost:
        if cold:
            self.cold()
        return run(self.command(path))


def _peers(args: argparse.Namespace, tree: Tree) -> Iterator[Row]:
    def parser(module: str, function: str, files: Sequence[str]) -> Callable[[], Sequence[str]]:
        program = PARSE.format(module=module, function=function)
        python = str(args.jaxlint / "bin" / "python") if args.jaxlint else sys.executable
        return lambda: [python, "-c", program, *files]

    def peer(environment: Path | None, name: str, options: str) -> Callable[[], Sequence[str]] | None:
        if environment is None or not (environment / "bin" / name).exists():
            return None
        return lambda: [str(environment / "bin" / name), *options.split(), tree.root]

    gated = [path for path in tree.files if names_jax(Path(path).read_bytes())]
    yield Row("ast.parse", parser("ast", "parse", gated), "floor: read and parse what names JAX")
    yield Row(
        "libcst.parse_module",
        parser("libcst", "parse_module", tree.files),
        "floor of a libcst linter: read and parse",
    )
    yield Row(
        "jaxlint 0.1.0a1", peer(args.alpha, "jaxlint", "check --jobs 1"), "all rules, no cache, one worker"
    )
    yield Row(
        "flake8", peer(args.flake8, "flake8", "--isolated --jobs 1 --exit-zero"), "default rules, no cache"
    )
    yield Row("Fixit", peer(args.fixit, "fixit", "--quiet lint"), "default rules, no cache, own workers")
    yield Row(
        "pylint",
        peer(args.pylint, "pylint", "--rcfile /dev/null --recursive y --jobs 1 --exit-zero"),
        "default rules, no cache",
    )


def run(command: Sequence[str]) -> Cost:
    """Run to the end with its output thrown away. Raises SystemExit where the command itself broke."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=_environment(),
            cwd=tempfile.gettempdir(),  # `python -m` would take a package that lies where we are
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    # The exit status does not tell: linters exit with 1 or 2 on findings, an interpreter on a missing module.
    if child.returncode < 0 or "Traceback (most recent call last)" in said or "No module named" in said:
        raise SystemExit(f"{' '.join(command)[:200]} failed:\n{said[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def _environment() -> dict[str, str]:
    return {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "FLAKE8", "PYLINT"))
    }


def _tree(root: str) -> Tree:
    root = os.path.abspath(root)
    files = sorted(str(path) for path in Path(root).rglob("*.py") if path.is_file())
    lines = sum(Path(path).read_bytes().count(b"\n") for path in files)
    if not lines:
        raise SystemExit(f"{root} holds no Python")
    return Tree(root, tuple(files), lines)


# ---------------------------------------------------------------- what is shown


def _against(jaxlint: Jaxlint, peers: Iterator[Row], tree: Tree, pairs: int) -> None:
    thousands = tree.lines / 1000
    own: list[Cost] = []
    table = [("", "CPU s / 1000 lines", "times jaxlint", "peak MiB", "measured")]
    for row in peers:
        if row.command is None:
            table.append((row.name, "not installed", "", "", row.flags))
            continue
        costs: list[tuple[Cost, Cost]] = []
        for _ in range(pairs):
            costs.append((jaxlint.cost(tree.root, cold=True), run(row.command())))
        own += [ours for ours, _ in costs]
        seconds = median(theirs.seconds for _, theirs in costs) / thousands
        ratio = median(theirs.seconds / ours.seconds for ours, theirs in costs)
        table.append(
            (row.name, f"{seconds:.4f}", f"{ratio:.2f}", _mebibytes(theirs for _, theirs in costs), row.flags)
        )
    seconds = median(cost.seconds for cost in own) / thousands
    table.insert(
        1,
        (
            "jaxlint",
            f"{seconds:.4f}",
            "1.00",
            _mebibytes(own),
            "all rules, preview too, empty cache, one process",
        ),
    )
    _print(table)


def _caches(jaxlint: Jaxlint, tree: Tree, pairs: int) -> None:
    ratios = []
    for _ in range(pairs):
        cold = jaxlint.cost(tree.root, cold=True)
        warm = jaxlint.cost(tree.root, cold=False)
        ratios.append(warm.seconds / cold.seconds)
    print(f"warm cache: {median(ratios):.2f} of cold")


def _start(jaxlint: Jaxlint, pairs: int) -> None:
    """One clean file against what any Python tool pays."""
    clean = jaxlint.scratch / "clean.py"
    clean.write_text(CLEAN)
    floor = [jaxlint.python, "-c", "import ast, argparse, json"]
    cold, warm = [], []
    for _ in range(5 * pairs):  # short runs scatter more
        cold.append(jaxlint.cost(str(clean), cold=True).seconds / run(floor).seconds)
        warm.append(jaxlint.cost(str(clean), cold=False).seconds / run(floor).seconds)
    print(
        f"one clean file: {median(cold):.2f} (empty cache) and {median(warm):.2f} (warm) times "
        "`python -c 'import ast, argparse, json'`"
    )


def _mebibytes(costs: Iterator[Cost] | Sequence[Cost]) -> str:
    return f"{max(cost.peak for cost in costs) / 2**20:.0f}"


def _print(table: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


if __name__ == "__main__":
    sys.exit(main())
