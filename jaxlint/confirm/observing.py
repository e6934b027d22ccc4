"""Runs programs in the worker: what was observed, and what their boundaries take, while the room is open."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jaxlint.confirm.claim import Claim, Site
from jaxlint.confirm.measurements import Measurements
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.options import Options
from jaxlint.confirm.process import Raised, Unanswered, Worker
from jaxlint.confirm.targets import Target

# Programs that speak of the environment may set what jax reads when it is imported: they import it themselves.
_ENVIRONMENT = (b"environ", b"putenv", b"XLA_FLAGS")
_PARTIAL = 0.8  # of the time limit: then a program is stopped, and what it did so far is told


class Observer:
    """The worker of a run: one with jax imported, and one without for programs that have to do that themselves."""

    def __init__(
        self,
        python: str,
        directory: str,
        environment: Mapping[str, str],
        options: Options,
        say: Callable[[str], None] = lambda text: None,
        measurements: Measurements | None = None,
    ) -> None:
        """`directory` is where programs run, `environment` what they find there besides the user's own.

        `say` is told what is being done, `measurements` are those of earlier runs.
        """
        self.timeout = options.timeout
        self._say = say
        self._measurements = measurements

        def worker(preload: bool) -> Worker:
            return Worker(
                python,
                directory=directory,
                environment=environment,
                memory=options.memory_limit,
                preload=preload,
            )

        self._warm, self._bare = worker(True), worker(False)

    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        self._warm.close()
        self._bare.close()

    def versions(self) -> Mapping[str, Any]:
        """What the interpreter has. Raises Unanswered."""
        return self._warm.start()

    def installed(self) -> Mapping[str, Any]:
        """What it has of what targets need (`child/installed.py`). Raises Unanswered."""
        found: Mapping[str, Any] = self._warm.ask("installed", timeout=self.timeout)
        self._warm.leave()
        return found

    def program(self, file: str, source: bytes, sites: Iterable[Site], **how: Any) -> Program:
        """Run a program whole, or import a module and use its functions; `how` as `child/program.py` has it.

        Raises Unanswered and Raised.
        """
        worker = self._bare if any(word in source for word in _ENVIRONMENT) else self._warm
        watched = sorted({(os.path.realpath(site.file), site.first, site.last) for site in sites})
        worker.leave()
        self._say(f"{'imports' if how.get('module') else 'runs'} {os.path.basename(file)}")
        seconds = self.timeout * _PARTIAL
        data = worker.ask("program", timeout=self.timeout, file=file, watched=watched, seconds=seconds, **how)
        return Program(worker, self.timeout, file, Observed(data), self._say, self._measurements)


class Program:
    """A program that has run, and whose boundaries can be compiled until the next one runs."""

    def __init__(
        self,
        worker: Worker,
        timeout: float,
        file: str,
        seen: Observed,
        say: Callable[[str], None],
        measurements: Measurements | None,
    ) -> None:
        self.seen = seen
        self._measurements = measurements
        self._say = say
        self._worker = worker
        self._timeout = timeout
        self._root = os.path.dirname(file)
        self._memory: dict[tuple[int, str], Mapping[str, Any] | str] = {}
        self._gone = ""

    def memory(self, trace: int, target: Target) -> Mapping[str, Any] | str:
        """What a kept trace takes on a target (`child/memory.py`), or why that cannot be told."""
        key = trace, target.name
        if key not in self._memory:
            self._say(f"compiles for {target.name}")
            self._memory[key] = self._measured(trace, target.description)
        return self._memory[key]

    def _measured(self, trace: int, target: Mapping[str, Any]) -> Mapping[str, Any] | str:
        """The same, from an earlier run if the executable is the same."""
        about = {"trace": trace, "target": target, "root": self._root}
        if self._measurements is None:
            return self._ask("memory", **about)
        found = self._ask("fingerprint", **about)
        if isinstance(found, str):
            return found
        known = self._measurements.get(str(found["digest"]))
        if known is not None:
            return known
        measured = self._ask("memory", **about)
        if not isinstance(measured, str):
            self._measurements.put(str(found["digest"]), measured)
        return measured

    def advised(self, trace: int, target: Target, remedy: str, claim: Claim) -> Mapping[str, Any] | str:
        """What it takes with a remedy at a claim's place (`child/remedy.py`), or why that cannot be told."""
        sites = [(site.file, site.first, site.last) for site in claim.sites]
        about = {"target": target.description, "root": self._root}
        return self._ask("remedy", trace=trace, remedy=remedy, sites=sites, **about)

    def outputs(self, trace: int, directory: str, *, compare: bool) -> Mapping[str, Any] | str:
        """What it computes from random inputs (`child/outputs.py`), or why that cannot be told."""
        return self._ask("outputs", trace=trace, directory=directory, compare=compare)

    def _ask(self, do: str, **fields: Any) -> Mapping[str, Any] | str:
        if self._gone:
            return self._gone
        try:
            found: Mapping[str, Any] = self._worker.ask(do, timeout=self._timeout, **fields)
            return found
        except Unanswered as error:
            self._gone = str(error)
            return self._gone
        except Raised as error:
            ours = error.kind in ("Unavailable", "Unsupported", "LookupError")
            return error.message if ours else f"the code fails when it is traced: {error}"
