"""Entries of the settings that give inputs to nothing: their module or function is not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from jaxlint.confirm.options import Options
from jaxlint.confirm.overlay import import_root, module_name
from jaxlint.project.files import SourceFile
from jaxlint.project.source import SourceError, decode, read_bytes
from jaxlint.project.workspace import Part


def strays(options: Options, part: Part) -> Iterator[str]:
    """A line for each entry `pkg.mod:function` that names nothing which can be found by looking.

    A name that stands anywhere in the module will do: it may be imported there, or made by a call.
    """
    for key in options.inputs:
        module, _, function = key.partition(":")
        file = _file(module, part)
        where = f'[tool.jaxlint.confirm."{key}"] is used for nothing'
        if file is None:
            yield f"{where}: there is no module `{module}`"
        elif missing := [name for name in function.split(".") if not _names(file, name)]:
            yield f"{where}: `{module}` has no `{missing[0]}`"


def _file(module: str, part: Part) -> SourceFile | None:
    files = {module_name(file.absolute): file for file in part.files}
    if module in files:
        return files[module]
    roots = {import_root(file.absolute) for file in part.files}
    roots |= {part.project.root, os.path.join(part.project.root, "src")} if part.project.root else set()
    stem = os.path.join(*module.split("."))
    for root in sorted(roots):
        for end in (".py", f"{os.sep}__init__.py"):
            path = os.path.join(root, stem + end)
            if os.path.isfile(path):
                return SourceFile(path, path)
    return None


def _names(file: SourceFile, name: str) -> bool:
    try:
        text, _ = decode(read_bytes(file))
    except SourceError:
        return True
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
