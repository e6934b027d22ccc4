"""Runs programs in the worker and hands out what was observed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from jaxlint.confirm.claim import Site
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.options import Options
from jaxlint.confirm.process import Worker

# Programs that speak of the environment may set what jax reads when it is imported: they import it themselves.
_ENVIRONMENT = (b"environ", b"putenv", b"XLA_FLAGS")
_PARTIAL = 0.8  # of the time limit: then a program is stopped, and what it did so far is told


class Observer:
    """The worker of a run: one with jax imported, and one without for programs that have to do that themselves."""

    def __init__(self, python: str, directory: str, options: Options) -> None:
        """`directory` is where programs run."""
        self._timeout = options.timeout

        def worker(preload: bool) -> Worker:
            return Worker(python, directory=directory, memory=options.memory_limit, preload=preload)

        self._warm, self._bare = worker(True), worker(False)

    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        self._warm.close()
        self._bare.close()

    def versions(self) -> Mapping[str, Any]:
        """What the interpreter has. Raises Unanswered."""
        return self._warm.start()

    def program(
        self,
        file: str,
        source: bytes,
        sites: Iterable[Site],
        *,
        growth: bool = False,
        disable_jit: bool = False,
    ) -> Observed:
        """Run a program whole. Raises Unanswered and Raised."""
        worker = self._bare if any(word in source for word in _ENVIRONMENT) else self._warm
        watched = sorted({(os.path.realpath(site.file), site.first, site.last) for site in sites})
        try:
            return Observed(
                worker.ask(
                    "program",
                    timeout=self._timeout,
                    file=file,
                    watched=watched,
                    growth=growth,
                    disable_jit=disable_jit,
                    seconds=self._timeout * _PARTIAL,
                )
            )
        finally:
            worker.leave()
