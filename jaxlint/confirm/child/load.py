"""User modules, and what they define by qualified name."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any


def run(module: str, file: str) -> dict[str, Any]:
    """Import a module and say where from."""
    loaded = user_module(module, file)
    return {"name": loaded.__name__, "file": getattr(loaded, "__file__", None)}


def user_module(name: str, file: str) -> ModuleType:
    """The module `name`, which lies in `file` (absolute). Raises what its import raises.

    A dotted name is imported as the project does, through its packages. Where that leads elsewhere (another
    installed copy), or the name is no identifier (a script "train-2.py"), the file itself is loaded.
    """
    known = sys.modules.get(name)
    if known is not None and _same(getattr(known, "__file__", None), file):
        return known
    if all(part.isidentifier() for part in name.split(".")) and _same(_origin(name), file):
        return importlib.import_module(name)
    return _from_file(name, file)


def _origin(name: str) -> str | None:
    """Where a module would be imported from. Imports the packages it lies in."""
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return None
    return spec.origin if spec is not None else None


def _from_file(name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    try:
        spec.loader.exec_module(loaded)
    except BaseException:
        del sys.modules[name]
        raise
    return loaded


def _same(found: str | None, file: str) -> bool:
    return found is not None and os.path.realpath(found) == os.path.realpath(file)


def member(module: ModuleType, qualified: str) -> Any:
    """What a module defines by the qualified name "Class.method". Raises AttributeError."""
    found: Any = module
    for part in qualified.split("."):
        if part == "<locals>":
            raise AttributeError(f"`{qualified}` is made inside a function")
        found = getattr(found, part)
    return found
