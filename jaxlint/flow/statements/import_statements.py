"""`import` and `from … import …`: the names that they bind."""

from __future__ import annotations

import ast

from jaxlint.flow.frame import Frame, statement
from jaxlint.index.naming import imported_module


@statement(ast.Import)
def import_(frame: Frame, node: ast.Import) -> None:
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        dotted = alias.name if alias.asname else bound
        frame.names[bound] = frame.run.program.imported(dotted, frame.module.entry)


@statement(ast.ImportFrom)
def import_from(frame: Frame, node: ast.ImportFrom) -> None:
    entry = frame.module.entry
    base = imported_module(entry.name, entry.is_package, node.level, node.module)
    for alias in node.names:
        if alias.name == "*":
            _import_all(frame, base)
        else:
            frame.names[alias.asname or alias.name] = frame.run.program.imported(
                f"{base}.{alias.name}", entry
            )


def _import_all(frame: Frame, base: str) -> None:
    """`from module import *`: the names the module defines, if it is the project's."""
    program = frame.run.program
    found = program.table.find(base, frame.module.entry)
    if found is None or found is frame.module.entry:
        return
    record = found.record
    for name in (*record.functions, *record.classes, *record.imports):
        if "." not in name and not name.startswith("_"):
            frame.names[name] = program.imported(f"{base}.{name}", frame.module.entry)
