"""Where an import goes."""

from __future__ import annotations

import ast

import pytest

from jaxlint.fix import imports
from jaxlint.fix.apply import apply


def added(source: str, dotted: str) -> str | None:
    found = imports.add(dotted, ast.parse(source))
    return apply(source, [found.edit]) if found is not None else None


USE = "\n\ndef f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("head", "dotted", "expected"),
    [
        ("from jax import jit\n", "jax.numpy.sin", "import jax.numpy as jnp\nfrom jax import jit\n"),
        (
            "import os\n\nimport flax\nimport optax\n",
            "jax.numpy.sin",
            "import os\n\nimport flax\nimport jax.numpy as jnp\nimport optax\n",
        ),
        ("import jaxlib\n", "jax.jit", "import jax\nimport jaxlib\n"),
        (
            '"""Doc."""\nfrom __future__ import annotations\n\nimport jax\n',
            "functools.partial",
            '"""Doc."""\nfrom __future__ import annotations\n\nimport functools\n\nimport jax\n',
        ),
        (
            "import dataclasses\nimport os\nfrom typing import Any\n\nimport jax\n",
            "functools.partial",
            "import dataclasses\nimport functools\nimport os\nfrom typing import Any\n\nimport jax\n",
        ),
        (
            "from functools import cache\n",
            "functools.lru_cache",
            "import functools\nfrom functools import cache\n",
        ),
        (
            "import os\n\nfrom . import a\n",
            "numpy.zeros",
            "import os\n\nimport numpy as np\nfrom . import a\n",
        ),
        ("import os\n", "numpy.zeros", "import os\n\nimport numpy as np\n"),
        ('"""Doc."""\n', "jax.jit", '"""Doc."""\nimport jax\n'),
        ("import os; import jaxlib; x = (1,\n2)\n", "jax.jit", None),
        ("import functools as jnp\n", "jax.numpy.sin", None),
        ("import os\n", "scipy.stats.norm", None),
        (
            "from equinox import (\n    Module,\n)\n",
            "jax.numpy.sin",
            "import jax.numpy as jnp\nfrom equinox import (\n    Module,\n)\n",
        ),
    ],
)
def test_place(head: str, dotted: str, expected: str | None) -> None:
    made = added(head + USE, dotted)
    assert made == (None if expected is None else expected + USE)
    if made is not None:
        ast.parse(made)


def test_below_what_shares_its_line() -> None:
    source = "import jax; x = (1,\n2)\n" + USE
    assert added(source, "jax.numpy.sin") == "import jax; x = (1,\n2)\nimport jax.numpy as jnp\n" + USE


def test_spelling() -> None:
    found = imports.add("jax.numpy.linalg.norm", ast.parse("import os\n"))
    assert found is not None and found.spelled == "jnp.linalg.norm"
