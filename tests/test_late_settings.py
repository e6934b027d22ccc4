"""Where JAX503 moves a setting, and what goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint import registry
from jaxlint.check import check
from jaxlint.finding import Applicability, Fix
from jaxlint.fix.apply import apply_fixes
from jaxlint.project.files import SourceFile
from jaxlint.project.root import Project
from jaxlint.project.settings import Settings

LATE = 'os.environ["JAX_DEBUG_NANS"] = "1"\n'


def fixes(source: str, root: Path, *others: str) -> list[Fix | None]:
    """The fix of each finding."""
    (root / "main.py").write_text(source, encoding="utf-8")
    files = [SourceFile(name, str(root / name), None) for name in ("main.py", *others)]
    rules = [rule for rule in registry.load() if rule.meta.code == "JAX503"]
    project = Project(str(root), Settings())
    return [found.fix for found in check(files, project, Settings(), rules, jobs=1, cache=False)]


def fixed(source: str, root: Path) -> str:
    (fix,) = [fix for fix in fixes(source, root) if fix is not None]
    return apply_fixes(source, [fix])


@pytest.mark.parametrize(
    ("comment", "goes"),
    [
        ("# Look at every step.\n", True),
        ("# Look at every step,\n# in production, too.\n", True),
        ("# %% The configuration\n", False),
        ("# fmt: off\n", False),
        ("# The settings.\n\n", False),
    ],
)
def test_a_comment_goes_with_the_statement_below_it(comment: str, goes: bool, tmp_path: Path) -> None:
    source = f"import os\nimport jax\n\n{comment}{LATE}"
    moved, left = (comment, "") if goes else ("", comment)
    assert fixed(source, tmp_path).split() == f"import os\n{moved}{LATE}import jax\n\n{left}".split()


def test_the_comment_of_the_import_stays_with_it(tmp_path: Path) -> None:
    source = f"import os\n\n# The library.\nimport jax\n\n{LATE}"
    assert fixed(source, tmp_path) == f"import os\n\n{LATE}# The library.\nimport jax\n"


@pytest.mark.parametrize(
    "around",
    [
        "try:\n    import jax\nexcept ImportError:\n    raise SystemExit(1)\n",
        "import warnings\nwith warnings.catch_warnings():\n    import jax\n",
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None\nimport jax\n",
        "if os.name == 'nt':\n    import flax\nimport jax\n",
        "for _ in range(2):\n    from . import first\nimport jax\n",
    ],
)
def test_a_setting_goes_above_all_that_may_import_jax(around: str, tmp_path: Path) -> None:
    after = fixed(f"import os\n{around}{LATE}", tmp_path)
    first = around.removeprefix("import warnings\n")
    before = around.removesuffix(first)
    assert after == f"import os\n{before}{LATE}{first}"
    assert fixes(after, tmp_path) == []


def test_a_block_of_the_standard_library_may_stay_above(tmp_path: Path) -> None:
    block = "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None\nimport os\n"
    assert fixed(f"{block}import jax\n{LATE}", tmp_path) == f"{block}{LATE}import jax\n"


def test_no_fix_where_os_is_imported_with_jax(tmp_path: Path) -> None:
    source = f"try:\n    import jax\n    import os\nexcept ImportError:\n    raise\n{LATE}"
    assert fixes(source, tmp_path) == [None]


@pytest.mark.parametrize(
    "source",
    [
        f"import os\ntry:\n    import jax\nexcept ImportError:\n    {LATE}    import jax\n",
        f"import os\ntry:\n    import absent\n    import jax\nexcept ImportError:\n    pass\n{LATE}",
        f"import os\nif os.name == 'nt':\n    import jax\n{LATE}",
    ],
)
def test_silent_where_the_import_may_not_have_run(source: str, tmp_path: Path) -> None:
    assert fixes(source, tmp_path) == []


@pytest.mark.parametrize(
    ("above", "below", "late"),
    [
        ("", 'DIR = "/tmp"\n', 'os.environ["JAX_COMPILATION_CACHE_DIR"] = DIR\n'),
        ("", 'NAME = "JAX_DEBUG_INFS"\n', 'os.environ[NAME] = "1"\n'),
        ("", "DEBUG = False\n", 'os.environ["JAX_DEBUG_NANS"] = "1" if DEBUG else "0"\n'),
        ("", 'class Cfg:\n    NANS = "1"\n', 'os.environ["JAX_DEBUG_NANS"] = Cfg.NANS\n'),
        ("", 'N = "1"\n', 'os.environ["JAX_DEBUG_NANS"] = f"{N}"\n'),
        ("", "import json\n", 'os.environ["JAX_DEBUG_NANS"] = json.dumps(1)\n'),
        ('N = "0"\n', 'N = "1"\n', 'os.environ["JAX_DEBUG_NANS"] = N\n'),
        ('N = "0"\n', "def f():\n    global N\n    N = '1'\n\n\nf()\n", 'os.environ["JAX_DEBUG_NANS"] = N\n'),
        ('N = "0"\n', "from jax.numpy import *\n", 'os.environ["JAX_DEBUG_NANS"] = N\n'),
        ('N = ["0"]\n', 'N[0] = "1"\n', 'os.environ["JAX_DEBUG_NANS"] = N[0]\n'),
        ('class Cfg:\n    NANS = "0"\n', 'Cfg.NANS = "1"\n', 'os.environ["JAX_DEBUG_NANS"] = Cfg.NANS\n'),
        ("", "", 'os.environ["JAX_DEBUG_NANS"] = (N := "1")\n'),
    ],
)
def test_a_setting_stays_below_what_it_reads(above: str, below: str, late: str, tmp_path: Path) -> None:
    assert not any(fixes(f"import os\n{above}import jax\n{below}{late}", tmp_path))


@pytest.mark.parametrize("above", ['N = "1"\n', 'N: str = "1"\n', "import json\nN = M = '1'\n"])
def test_a_setting_goes_where_all_it_reads_is_there(above: str, tmp_path: Path) -> None:
    late = 'os.environ["JAX_DEBUG_NANS"] = N\n'
    after = fixed(f"import os\n{above}import jax\n{late}", tmp_path)
    assert after == f"import os\n{above}{late}import jax\n"


@pytest.mark.parametrize("kept", ["# python b8.py\n", "# one run"])
def test_a_line_of_a_string_is_no_comment(kept: str, tmp_path: Path) -> None:
    text = f'USAGE = """\n{kept}"""\n'
    assert fixed(f"import os\nimport jax\n{text}{LATE}", tmp_path) == f"import os\n{LATE}import jax\n{text}"
    before = f"import os\n{text}import jax\n"
    assert fixed(before + LATE, tmp_path) == f"import os\n{text}{LATE}import jax\n"
    formatted = f"import os\nimport jax\nUSAGE = f{text.removeprefix('USAGE = ')}"
    assert fixed(formatted + LATE, tmp_path) == formatted.replace("import jax\n", f"{LATE}import jax\n")


@pytest.mark.parametrize(
    ("source", "safe"),
    [
        (f"import os\nimport jax\nimport own\n{LATE}", False),
        (f"import os\nimport jax\nfrom own import f as g\n{LATE}", False),
        (f"import os\nimport jax\nfrom own import *\n{LATE}", False),
        (f"import os\nimport jax\nif jax:\n    import own.part\n{LATE}", False),
        (f"import os\nimport own\nimport jax\n{LATE}", True),
        (f"import os\nimport jax\nimport numpy\n{LATE}", True),
        (f"import os\nimport jax\n{LATE}import own\n", True),
    ],
)
def test_a_module_of_the_project_may_read_the_environment(source: str, safe: bool, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text("def f():\n    return 1\n")
    (tmp_path / "own" / "part.py").write_text("import os\n")
    (fix,) = fixes(source, tmp_path, "own/__init__.py", "own/part.py")
    assert fix is not None
    assert fix.applicability is (Applicability.SAFE if safe else Applicability.UNSAFE)
