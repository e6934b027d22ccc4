"""The worker's loop: one request, one reply, each a line of JSON on pipes of their own.

Request   {"id": 7, "do": "MODULE", "in": "room" | "server", ...}      fields are the keyword arguments
Reply     {"id": 7, "value": ...}                                      what MODULE.run(...) returned
          {"id": 7, "error": {"kind", "message", "frames"}}            what it raised; see `raised`
          {"id": 7, "died": {"signal": 11} | {"status": 3} | {"unable": 1}}  how the room ended unanswered

`do` names a module of this package; its function `run` is called with the request's other fields. The server
never runs user code: it forks a *room* for that, which answers requests until one has {"do": "leave"}. So user
code that exits, crashes, changes the directory or the configuration of jax, or leaves threads behind has done it
to its room alone, and the next room starts from a process that has imported jax and nothing else (the fork
comes before jax starts a backend: afterwards it would not be safe). A room is the leader of a process group, which
is killed when the room is left, with all that user code has started; see `orphans` for what leaves the group.

The parent sends a request only when the last one is answered, so that nothing is ever read ahead of a fork.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import mmap
import os
import signal
import sys
import traceback
from typing import Any, BinaryIO

from . import orphans, stack

PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


_room_now = 0  # the process id of the room that is open, in the server; 0 when there is none


def main(requests: int, replies: int) -> None:
    """Answer requests until there are no more."""
    _die_with_parent()
    _no_core_dumps()
    orphans.adopt()
    reader, writer = os.fdopen(requests, "rb"), os.fdopen(replies, "wb", buffering=0)
    signal.signal(signal.SIGTERM, _end)
    for line in reader:
        request = json.loads(line)
        if request.get("in") == "server":
            _write(writer, answered(request))
        else:
            _open_room(request, reader, writer)


def _end(*_: Any) -> None:
    """Take the open room along, with all that user code has started in it."""
    if _room_now:
        with contextlib.suppress(OSError):
            os.killpg(_room_now, signal.SIGKILL)
        orphans.kill_all()
    os._exit(0)


def _open_room(request: dict[str, Any], reader: BinaryIO, writer: BinaryIO) -> None:
    """Fork, let the room answer, and report if it went without answering."""
    global _room_now
    read_end, write_end = os.pipe()  # the room notes here which request it is at
    unable = mmap.mmap(-1, 1)  # and here that answering failed: user code may have closed every file
    room = os.fork()
    if room == 0:
        os.close(read_end)
        status = 1
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _die_with_parent()
            _room(request, reader, writer, write_end)
            status = 0
        except BaseException:
            unable[0] = 1
        finally:
            os._exit(status)  # no exit handlers, no waiting for threads
    os.close(write_end)
    with contextlib.suppress(OSError):
        os.setpgid(room, room)
    _room_now = room
    status = orphans.wait_for(room)
    with contextlib.suppress(OSError):
        os.killpg(room, signal.SIGKILL)
    orphans.kill_all()
    _room_now = 0
    at = _last_noted(read_end)
    if os.WIFSIGNALED(status):
        _write(writer, {"id": at, "died": {"signal": os.WTERMSIG(status)}})
    elif at != _LEFT and unable[0]:
        _write(writer, {"id": at, "died": {"unable": 1}})
    elif at != _LEFT:
        _write(writer, {"id": at, "died": {"status": os.WEXITSTATUS(status)}})


_LEFT = -1


def _room(request: dict[str, Any], reader: BinaryIO, writer: BinaryIO, notes: int) -> None:
    room = os.getpid()
    while True:
        os.write(notes, b"%d\n" % request["id"])
        if request["do"] == "leave":
            os.write(notes, b"%d\n" % _LEFT)
            _write(writer, {"id": request["id"], "value": None})
            return
        reply = answered(request)
        if os.getpid() != room:  # user code forked, and this is its child come back: it has no business here
            os._exit(0)
        _write(writer, reply)
        line = reader.readline()
        if not line:
            os.write(notes, b"%d\n" % _LEFT)
            return
        request = json.loads(line)


def _last_noted(notes: int) -> int:
    os.set_blocking(notes, False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while chunk := os.read(notes, 65536):
            data += chunk
    os.close(notes)
    return int(data.split()[-1]) if data.split() else _LEFT


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request, whatever user code raises."""
    fields = {key: value for key, value in request.items() if key not in ("id", "do", "in")}
    try:
        module = importlib.import_module(f"{__package__}.{request['do']}")
        reply: dict[str, Any] = {"value": module.run(**fields)}
    except BaseException as error:
        reply = {"error": raised(error)}
    return {"id": request["id"], **reply}


def raised(error: BaseException) -> dict[str, Any]:
    """An exception as plain data: its type by name, its text, and the frames outermost first; the innermost one of
    the user's is `at`."""
    frames = [
        [frame.filename, frame.lineno or 0, frame.name] for frame in traceback.extract_tb(error.__traceback__)
    ]
    kinds = [kind.__name__ for kind in type(error).__mro__[:-1]]
    at = stack.raised_at(error.__traceback__)
    return {"kind": kinds[0], "kinds": kinds, "message": _text(error), "frames": frames, "at": at}


def _text(error: BaseException) -> str:
    try:
        return str(error)[:4000]
    except Exception:  # a user's own exception may fail at this too
        return ""


def _write(writer: BinaryIO, reply: dict[str, Any]) -> None:
    writer.write(json.dumps(reply, default=repr).encode() + b"\n")


def _die_with_parent() -> None:
    """Where the system can: be killed when the process that started this one is gone."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _no_core_dumps() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
