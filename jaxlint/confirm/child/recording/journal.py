"""The record as it is written: a file of JSON lines that every process of a program appends to.

A line is written when something happens, and is whole or not there: a program that is killed has left all that
happened until then. Each line has `kind`, `pid` and `t` (seconds since the epoch). A *place* is [path, line,
function]; a *stack* is the user's frames, innermost first.

process   a process has imported jax: python, executable, jax, argv, directory, parent; `too_old` where that
          jax cannot be recorded; `forked` in the first line of a fork
source    a user's file that is named below: path, sha256
boundary  a jit boundary was made for the first time: id (within the process), api, name, place (definition),
          wrapped (place of the jit call)
trace     its function was traced: boundary, stack, callable (a number for each function object), wraps (how often a
          boundary of this definition was made so far), signature (parts by name) or, where it has come before in
          this process, same_as (number of that trace), inputs (the arguments as in `arguments`, with a few of the
          signatures), form (how arguments were passed), options (jax settings that
          differ from their defaults), nested (inside the trace of another boundary)
compile   an executable was made: name, stack, boundary and trace (the number, from 1) or null for other work,
          trace_s, lower_s, compile_s (seconds), loaded (true where it came from the persistent cache)
sample    executables, arrays and bytes (of live arrays; on the devices), rss (bytes)
cleared   jax.clear_caches() was called: stack
raised    what ended the program: type, kinds (of its bases too), message, stack
end       the process ends in good order: the same figures as `sample`
flaw      the recorder itself failed at something, which the program does not notice: error
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

listeners: list[Callable[[dict[str, Any]], object]] = []  # are told each line of this process


class Journal:
    """Appends lines to a file, which is opened for each of them, if there is one.

    A descriptor kept open would not survive programs that close all they find, and might then be somebody
    else's. A line costs some 20 µs, what it tells of costs milliseconds. Writing never fails: a full disk ends
    the record, not the program.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path) if path else ""
        self._sources: set[str] = set()
        self._pid = os.getpid()

    def write(self, kind: str, **fields: Any) -> None:
        """Append one line."""
        pid = os.getpid()
        if pid != self._pid:  # a fork: it says who it is before anything else
            self._pid = pid
            self._sources.clear()
            self._append({"kind": "process", "pid": pid, "parent": os.getppid(), "forked": True})
        self._append({"kind": kind, "pid": pid, "t": round(time.time(), 4), **fields})

    def write_sources(self, places: list[list[Any]]) -> None:
        """Note the content of the files that places are in, once for each file."""
        for path, *_ in places:
            if path not in self._sources:
                self._sources.add(path)
                digest = _digest(path)
                if digest:
                    self.write("source", path=path, sha256=digest)

    def _append(self, line: dict[str, Any]) -> None:
        for listener in listeners:
            listener(line)
        if not self.path:
            return
        try:
            data = json.dumps(line, default=repr).encode() + b"\n"
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)
        except (OSError, ValueError):
            pass


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (OSError, ValueError):
        return ""
