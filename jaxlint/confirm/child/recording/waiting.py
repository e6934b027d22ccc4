"""Waits for modules to be imported. Imports little itself: every Python process of a recorded program does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = ("jax", "jax.experimental.pjit", "equinox", "flax.nnx", "flax.linen")  # see `patches`


class Waiting:
    """A finder on sys.meta_path that calls `then` with each of the modules as soon as it has been imported."""

    def __init__(self, then: Callable[[ModuleType], object]) -> None:
        self._names = set(MODULES)
        self._then = then

    def begin(self) -> None:
        """Wait. Modules that are there already, or about to be, are told at once."""
        for name in MODULES:
            module = sys.modules.get(name)
            if module is not None:
                self._names.discard(name)
                self._then(module)
        if self._names:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders say, with a loader that tells when the module has run."""
        if name not in self._names:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._watch(spec.loader)
                return spec
        return None

    def _watch(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            execute(module)
            self._names.discard(module.__name__)
            if not self._names and self in sys.meta_path:
                sys.meta_path.remove(self)
            self._then(module)

        loader.exec_module = exec_module


def for_jax(path: str) -> None:
    """Start a recorder that writes to `path` when jax is imported, and have it see to the other modules."""
    recorder: Any = None

    def imported(module: ModuleType) -> None:
        nonlocal recorder
        if module.__name__ == "jax":
            recorder = importlib.import_module(f"{__package__}.start").start(path)
        if recorder is not None:
            recorder.patch(module)

    Waiting(imported).begin()
