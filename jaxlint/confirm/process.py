"""The worker as seen from here: start it, ask it, and end it with all that it has started.

What is asked and answered is documented in `child/serve.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.confirm import processes

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child", "__main__.py")
_MARK = "JAXLINT_WORKER"  # in the environment of the worker and, inherited, of all that it starts
_LOOK = 0.05  # seconds between two looks at memory
_START = 120.0  # seconds that the start of Python and the import of jax may take
_TAIL = 2000  # bytes of what the worker printed that a reason may quote

GIB = 1 << 30


class Unanswered(Exception):
    """The worker gave no answer: it ran out of time or memory, or user code ended it. The text says which."""


class Raised(Exception):
    """The request raised in the worker. `kinds` are the names of the type and its bases."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        message = " ".join(str(error["message"]).split())
        super().__init__(f"{error['kind']}: {message}" if message else str(error["kind"]))
        self.kind = str(error["kind"])
        self.kinds = tuple(map(str, error["kinds"]))
        self.message = str(error["message"])
        self.frames = [(str(path), int(line), str(name)) for path, line, name in error["frames"]]


class Worker:
    """A process of the user's interpreter. It starts when first asked, and again after it has died.

    `path` goes in front of the worker's sys.path; `memory` is the most that it and its children may hold in
    memory together (resident bytes). A limit on address space (RLIMIT_AS) was rejected: XLA reserves far more than
    it uses, on a GPU machine hundreds of gigabytes, and aborts where it cannot.
    """

    def __init__(
        self,
        python: str,
        *,
        directory: str,
        path: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        memory: int = 8 * GIB,
        preload: bool = True,
    ) -> None:
        self._python = python
        self._directory = directory
        self._path = list(path)
        self._environment = dict(environment or {})
        self._memory = memory
        self._preload = preload
        self._process: subprocess.Popen[bytes] | None = None
        self._requests = self._replies = -1
        self._read = b""
        self._number = 0
        self._in_room = False
        self._token = ""
        self._printed: Any = None
        self.versions: dict[str, Any] = {}

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ asking

    def start(self) -> dict[str, Any]:
        """Start if need be. The versions that the interpreter has, as `child/hello.py` gives them."""
        if self._process is None:
            self._spawn()
            self.versions = self._exchange(
                {
                    "do": "hello",
                    "in": "server",
                    "preload": self._preload,
                    "path": self._path,
                    "environment": self._environment,
                },
                _START,
            )
        return self.versions

    def ask(self, do: str, *, timeout: float, **fields: Any) -> Any:
        """What `child/DO.py` answers, in the open room or in a new one. Raises Unanswered and Raised.

        `timeout` in seconds. After Unanswered the room is gone, and with it all that user code did there.
        """
        self.start()
        self._in_room = True
        try:
            return self._exchange({**fields, "do": do, "in": "room"}, timeout)
        except Unanswered:
            self._in_room = False
            raise

    def leave(self) -> None:
        """Leave the room: the next request begins in a fresh one."""
        if self._in_room:
            self._in_room = False
            with contextlib.suppress(Unanswered):
                self._exchange({"do": "leave", "in": "room"}, 10.0)

    def close(self) -> None:
        """End the worker and all that was started in it."""
        process, self._process = self._process, None
        self._in_room = False
        if process is None:
            return
        process.terminate()  # the server takes its room along
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        processes.kill_marked(f"{_MARK}={self._token}")
        for end in (self._requests, self._replies):
            os.close(end)
        self._printed.close()

    # ------------------------------------------------------------ the process

    def _spawn(self) -> None:
        theirs_in, self._requests = os.pipe()
        self._replies, theirs_out = os.pipe()
        self._token, self._read = secrets.token_hex(8), b""
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the process is
        try:
            self._process = subprocess.Popen(
                [self._python, _CHILD, str(theirs_in), str(theirs_out)],
                cwd=self._directory,
                env={**os.environ, _MARK: self._token, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,  # Ctrl-C is ours to deal with
            )
        except OSError as error:
            os.close(self._requests)
            os.close(self._replies)
            raise Unanswered(f"{self._python} cannot be run: {error.strerror}") from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    def _exchange(self, request: dict[str, Any], timeout: float) -> Any:
        self._number += 1
        line = json.dumps({**request, "id": self._number}).encode() + b"\n"
        try:
            self._send(line)
            reply = self._receive(timeout)
        except BaseException:
            self.close()
            raise
        if "died" in reply:
            raise Unanswered(_ending(reply["died"]))
        if "error" in reply:
            raise Raised(reply["error"])
        return reply["value"]

    def _send(self, line: bytes) -> None:
        while line:
            try:
                line = line[os.write(self._requests, line) :]
            except OSError:
                raise Unanswered(self._gone()) from None

    def _receive(self, timeout: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout
        process = self._process
        assert process is not None
        while True:
            if b"\n" in self._read:
                line, _, self._read = self._read.partition(b"\n")
                reply: dict[str, Any] = json.loads(line)
                if reply["id"] == self._number:
                    return reply
                continue
            ready, _, _ = select.select([self._replies], [], [], _LOOK)
            if ready:
                chunk = os.read(self._replies, 1 << 16)
                if not chunk:
                    raise Unanswered(self._gone())
                self._read += chunk
                continue
            if process.poll() is not None:
                raise Unanswered(self._gone())
            if time.monotonic() > deadline:
                raise Unanswered(f"took longer than {timeout:g} s (--timeout allows more)")
            held = processes.resident(process.pid)
            if held > self._memory:
                allowed = f"{self._memory / GIB:.3g} GiB"
                raise Unanswered(f"needed more than {allowed} of host memory (setting `memory-limit`)")

    def _gone(self) -> str:
        """Why the server itself ended, which user code is kept from bringing about."""
        process = self._process
        status = process.wait(5.0) if process is not None else None
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - _TAIL))
        lines = self._printed.read().decode(errors="replace").strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
        if not self.versions:
            return f"{self._python} gave no answer and ended with status {status}, is it a Python?{said}"
        if status is not None and status < 0:  # what was printed before need not say why
            return f"the worker was killed by {_name(-status)}"
        return f"the worker ended with status {status}{said}"


def _ending(died: Mapping[str, int]) -> str:
    """How user code ended the process it ran in."""
    if "unable" in died:
        return "the process could not answer: the program closed its files, or replaced what Python needs for that"
    if "status" in died:
        return f"the program ended its process by itself (os._exit, status {died['status']})"
    number = died["signal"]
    if number == signal.SIGKILL:
        return "the process was killed (SIGKILL), perhaps for want of memory"
    return f"the program crashed ({_name(number)})"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
