"""What modules are called: by where they lie, and by what imports say."""

from __future__ import annotations

import os


def module_names(absolute: str, root: str, packages: dict[str, bool]) -> tuple[tuple[str, ...], bool]:
    """(importable dotted names, shortest first; whether it is a package's `__init__`).

    A module inside packages must be imported by at least its package chain; a loose one by its stem. Longer
    names up to the root also count, for namespace packages. `packages` remembers which directories are packages;
    it is filled.
    """
    folder, file = os.path.split(absolute)
    stem = os.path.splitext(file)[0]
    is_package = stem == "__init__"
    parts = [] if is_package else [stem]
    while _is_package(folder, packages) and folder != os.path.dirname(folder):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if not parts:
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    names = [".".join(parts)]
    while folder.startswith(root) and folder != root and folder != os.path.dirname(folder):
        folder, name = os.path.split(folder)
        if not name.isidentifier():
            break
        parts.insert(0, name)
        names.append(".".join(parts))
    return tuple(names), is_package


def _is_package(folder: str, packages: dict[str, bool]) -> bool:
    if folder not in packages:
        packages[folder] = os.path.exists(os.path.join(folder, "__init__.py"))
    return packages[folder]


def imported_module(name: str, is_package: bool, level: int, module: str | None) -> str:
    """The absolute dotted module that a `from … import` in the module `name` names."""
    if not level:
        return module or ""
    parts = name.split(".")
    parts = parts[: max(len(parts) - level + is_package, 0)]
    return ".".join([*parts, module] if module else parts)
