"""Starts the worker: `python .../child/__main__.py REQUESTS REPLIES`, the numbers of two open pipes.

The interpreter is not isolated (`-I`): the user's jax may well come from PYTHONPATH or the user's own site
directory. Instead this directory is taken off the path again, so that no module of ours hides one of theirs.
"""

import importlib
import importlib.util
import os
import sys

PACKAGE = "jaxlint_child"


def main() -> None:
    """Load this directory as a package of its own name, and serve."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    serve = importlib.import_module(f"{PACKAGE}.serve")
    serve.main(*map(int, sys.argv[1:3]))


main()
