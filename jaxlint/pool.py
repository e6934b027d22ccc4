"""Work in several processes, which may die without taking the run with them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from typing import Any, NamedTuple, TypeVar

from jaxlint.project.deep import with_deep_stack

T = TypeVar("T")
R = TypeVar("R")

_CHUNK = 8  # tasks that a worker is given at a time: neighbours share what they import


class Died(NamedTuple):
    """In place of a result: the process that worked on it is gone."""

    reason: str


def each(work: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Generator[tuple[T, R | Died], None, None]:
    """Do some work on each task in so many processes, and give the results as they come.

    `work` must not raise. It is copied into the processes: by forking on Linux, else by pickling. Where no process
    can be started it is done here.
    """
    crew = _Crew(work, tasks, jobs)
    try:
        yield from crew.results()
    finally:
        crew.dismiss()
    for task in crew.left_over:
        yield task, with_deep_stack(lambda: work(task))  # noqa: B023  # called at once


class _Worker(NamedTuple):
    process: Any
    connection: Connection
    tasks: deque[Any]  # handed over and not answered, the one in work first


class _Crew:
    """The workers, and what is still to be done."""

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any], jobs: int) -> None:
        self.left_over: list[Any] = []
        self._work = work
        self._waiting = deque(tasks)
        self._jobs = min(jobs, len(tasks))
        self._chunk = max(1, min(_CHUNK, len(tasks) // (4 * self._jobs))) if tasks else 1
        self._workers: dict[Connection, _Worker] = {}
        self._false_starts = 0

    def results(self) -> Iterator[tuple[Any, Any]]:
        self._hire()
        while self._workers:
            for connection in wait(list(self._workers)):
                worker = self._workers[connection]  # type: ignore[index]  # we gave it connections only
                try:
                    kind, result = worker.connection.recv()
                except Exception:  # closed in the middle of whatever it was
                    yield from self._bury(worker)
                    continue
                if kind == "result":
                    yield worker.tasks.popleft(), result
                if not worker.tasks:
                    self._hand_over(worker)
            self._hire()
        self.left_over = list(self._waiting)

    def dismiss(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in self._workers.values():
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join()
        self._workers.clear()

    def _hire(self) -> None:
        """Start workers as long as there is work for them."""
        while self._waiting and len(self._workers) < self._jobs and self._false_starts < self._jobs:
            context = _context()
            ours, theirs = context.Pipe()
            inherited = [ours, *self._workers] if context.get_start_method() == "fork" else []
            process = context.Process(target=_serve, args=(self._work, theirs, inherited), daemon=True)  # type: ignore[attr-defined]  # every context has Process; typeshed says so of each alone
            try:
                process.start()
            except Exception:  # there is no room for one, or what it is to be given cannot be copied
                self._false_starts += 1
                ours.close()
                continue
            finally:
                theirs.close()
            self._workers[ours] = _Worker(process, ours, deque())

    def _hand_over(self, worker: _Worker) -> None:
        while self._waiting and len(worker.tasks) < self._chunk:
            worker.tasks.append(self._waiting.popleft())
        try:
            worker.connection.send(list(worker.tasks))
        except OSError:
            return  # it is gone, and will be found so
        if not worker.tasks:
            self._remove(worker)

    def _bury(self, worker: _Worker) -> Iterator[tuple[Any, Died]]:
        worker.process.terminate()  # perhaps it lives, and sent what cannot be read
        self._remove(worker)
        code = worker.process.exitcode
        if not worker.tasks:
            self._false_starts += 1
            return
        yield worker.tasks.popleft(), Died(_reason(code))
        self._waiting.extendleft(reversed(worker.tasks))

    def _remove(self, worker: _Worker) -> None:
        del self._workers[worker.connection]
        worker.connection.close()
        worker.process.join()


def _serve(work: Callable[[Any], Any], connection: Connection, inherited: Sequence[Connection]) -> None:
    """A worker's life: the tasks it is sent are done one after the other, until it is sent none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's business, which ends us
    for other in inherited:
        other.close()  # or nobody here would notice that the parent is gone

    def serve() -> None:
        connection.send(("ready", None))
        while tasks := connection.recv():
            for task in tasks:
                connection.send(("result", work(task)))

    try:
        with_deep_stack(serve)
    except (EOFError, OSError):
        os._exit(1)  # the parent is gone


def _context() -> BaseContext:
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"the process that checked this file was ended by {name}"
    return f"the process that checked this file ended with status {code}"
