"""Which modules are libraries, which are the run itself, which are tests."""

from __future__ import annotations

import ast

import pytest

from jaxlint.flow.facts import ModuleRole
from jaxlint.project.role import is_script, role
from jaxlint.project.settings import Settings

LIBRARY, APPLICATION, TEST = ModuleRole.LIBRARY, ModuleRole.APPLICATION, ModuleRole.TEST


def role_of(source: str, path: str = "pkg/module.py", **options: bool) -> ModuleRole:
    return role(ast.parse(source), path, Settings(), **options)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pkg/module.py", LIBRARY),
        ("test_train.py", TEST),
        ("pkg/train_test.py", TEST),
        ("conftest.py", TEST),
        ("tests/helpers.py", TEST),
        ("pkg/tests/helpers.py", TEST),
        ("setup.py", APPLICATION),
        ("noxfile.py", APPLICATION),
        ("examples/mnist.py", APPLICATION),
        ("scripts/run/all.py", APPLICATION),
        ("benchmarks/speed.py", APPLICATION),
        ("docs/conf.py", APPLICATION),
        ("docs/source/plot_gallery.py", APPLICATION),
        ("notebooks/01_fit.py", APPLICATION),
        ("notebook.ipynb", APPLICATION),
        ("pkg/setup_data.py", LIBRARY),
        ("pkg/testing.py", LIBRARY),
        ("pkg/examples.py", LIBRARY),
    ],
)
def test_name_and_place(path: str, expected: ModuleRole) -> None:
    assert role_of("import jax\n", path) is expected


@pytest.mark.parametrize(
    "source",
    [
        "if __name__ == '__main__':\n    main()\n",
        "if '__main__' == __name__:\n    main()\n",
        "for epoch in range(3):\n    step(epoch)\n",
        "while True:\n    x = step()\n",
        "with open('f') as f:\n    text = f.read()\n",
        "main()\n",
        "parser.add_argument('--n')\n",
        "print('hello')\n",
        "if fast:\n    train()\n",
        "try:\n    train()\nexcept KeyboardInterrupt:\n    pass\n",
        "for name in names:\n    register(name)\n    train(name)\n",
        "jax.distributed.initialize()\n",
    ],
)
def test_what_runs_is_an_application(source: str) -> None:
    assert role_of(source) is APPLICATION


@pytest.mark.parametrize(
    "source",
    [
        "'''Docs.'''\nX = 1\ndef f():\n    for i in range(3):\n        train()\n",
        "jax.config.update('jax_enable_x64', True)\n",
        "from jax import config\nconfig.update('jax_enable_x64', True)\n",
        "from jax.experimental.compilation_cache import compilation_cache as cc\ncc.initialize_cache('/tmp/c')\n",
        "os.environ.setdefault('XLA_FLAGS', '')\n",
        "logging.basicConfig()\n_LOGGER.info('loaded')\nlogging.getLogger(__name__).addHandler(h)\n",
        "warnings.filterwarnings('ignore')\n",
        "jax.tree_util.register_pytree_node(A, f, g)\natexit.register(stop)\n",
        "f.defvjp(forward, backward)\nprimitive.def_impl(impl)\n",
        "sys.path.insert(0, here)\n",
        "flags.DEFINE_string('name', '', '')\n",
        "for name in names:\n    if name:\n        register(name)\n",
        "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    import noisy\n",
        "try:\n    import flax\nexcept ImportError:\n    warnings.warn('no flax')\n",
        "if __name__ == 'pkg.module':\n    X = 1\n",
        "x = train()\n",
    ],
)
def test_what_prepares_is_a_library(source: str) -> None:
    assert role_of(source) is LIBRARY


@pytest.mark.parametrize(
    "text",
    [
        "#!/usr/bin/env python\nimport jax\n",
        "import jax\n\n# %%\nx = 1\n",
        "# %% [markdown]\n# # A title\n",
        "#%%\nx = 1\n",
        "# coding: utf-8\n\n# In[1]:\n\nimport jax\n",
        "# Databricks notebook source\nx = 1\n# COMMAND ----------\n",
    ],
)
def test_scripts_and_notebooks_by_their_text(text: str) -> None:
    assert is_script(text)


@pytest.mark.parametrize("text", ["import jax\n", "# 5 %% of it\n", "x = 1  # %%\n", "# In[dex] of it\n"])
def test_other_texts(text: str) -> None:
    assert not is_script(text)


def test_a_shebang_makes_an_application() -> None:
    assert role_of("", script=True) is APPLICATION


def test_the_setting_decides_for_all_but_tests_and_scripts() -> None:
    script = ast.parse("if __name__ == '__main__':\n    main()\n")
    library, application = Settings(kind="library"), Settings(kind="application")
    assert role(script, "pkg/module.py", library) is LIBRARY
    assert role(script, "examples/a.py", library) is APPLICATION
    assert role(ast.parse(""), "pkg/module.py", application) is APPLICATION
    assert role(ast.parse(""), "tests/a.py", application) is TEST
