"""Runs at the start of every Python process of a recorded program: this directory is on its PYTHONPATH.

It puts the recorder in wait for jax and gets out of the way: this directory leaves sys.path, and a sitecustomize of
the user's own is imported in this one's place.
"""


def _wait_for_jax() -> None:
    import importlib
    import importlib.util
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    sys.path_importer_cache.pop(here, None)
    sys.modules.pop("sitecustomize", None)
    record = os.environ.get("JAXLINT_RECORD")
    if not record or sys.version_info < (3, 10):
        return
    try:
        child = os.path.dirname(os.path.dirname(here))
        spec = importlib.util.spec_from_file_location(
            "jaxlint_child", os.path.join(child, "__init__.py"), submodule_search_locations=[child]
        )
        assert spec is not None and spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules["jaxlint_child"] = package
        spec.loader.exec_module(package)
        importlib.import_module("jaxlint_child.recording.waiting").for_jax(record)
    except Exception as error:  # the program goes first
        sys.stderr.write(f"jaxlint: not recorded: {type(error).__name__}: {error}\n")


_wait_for_jax()
del _wait_for_jax

# The user's own; where there is none, Python takes this one for absent too.
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401  # the one that this hides
