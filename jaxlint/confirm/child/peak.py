"""Which buffers are live when an executable needs the most memory, and which lines make them.

XLA writes down what it decided when asked for a dump: which value lies where in which allocation, and which
values are live at the peak. Joined with the HLO's metadata that gives lines of Python.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import deviceless, hlo_text
from .hlo_text import Frame, Instruction, Module

_ALLOCATION = re.compile(r"allocation (\d+): (.*)")
_VALUE = re.compile(r" value: <\d+ (\S+?)(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\): (.*)")
_AT_PEAK = re.compile(r"    (\S+): (\d+) bytes \(cumulative")
_THROUGH = ("bitcast", "copy", "reshape", "transpose", "convert", "broadcast", "get-tuple-element")
_FAR = 12  # instructions to look through for where a value comes from

SMALL = 1 << 16  # bytes; what is smaller explains nothing


class _Slot(NamedTuple):
    """A place in an allocation, which several values may share one after another."""

    allocation: int
    offset: int
    size: int


def compile_explained(lowered: Any, device: Any, root: str, top: int = 5) -> tuple[Any, list[dict[str, Any]]]:
    """Compile, and the largest buffers that are live at the peak, largest first.

    Each is {"bytes", "shape", "kind": "argument" | "output" | "temp", "name", "place", "op", "stacks", "calls"}:
    `calls` are the places of the calls below `root` that lead to it, outermost first, and `place` is
    the innermost [file, line, function] below the directory `root` that makes it, None where XLA does not say;
    `stacks` the place of the values that a scan stacks there; `name` that of an argument. A list that is empty says
    only that this XLA could not be read.
    """
    directory = tempfile.mkdtemp(prefix="jaxlint-")
    try:
        options = {"xla_dump_to": directory, "xla_dump_hlo_as_text": True}
        compiled = deviceless.compile_lowered(lowered, device, options)
        return compiled, _buffers(directory, root)[:top]
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _buffers(directory: str, root: str) -> list[dict[str, Any]]:
    assignment = _newest(directory, "*buffer-assignment.txt")
    if not assignment:
        return []
    begin = assignment[: -len("-buffer-assignment.txt")]
    ranges = f"{begin}-live-range.txt"
    with open(assignment, errors="replace") as file:
        assigned = file.read()
    with open(ranges if os.path.exists(ranges) else assignment, errors="replace") as file:
        live = _at_peak(file.read())
    with open(f"{begin}.txt", errors="replace") as file:
        module = hlo_text.read(file.read())
    return _explained(assigned, live, module, root)


def _newest(directory: str, pattern: str) -> str:
    """The dump of the function itself: helpers that jax compiled on the way came before it."""
    found = glob.glob(os.path.join(directory, pattern))
    return max(found, key=os.path.getmtime) if found else ""


def _at_peak(text: str) -> list[str]:
    """The names of the values that are live at the peak, as `fusion.1{0}`; "{}" is left out."""
    _, _, listed = text.partition("(peak):\n")
    names = []
    for line in listed.splitlines():
        found = _AT_PEAK.match(line)
        if not found:
            break
        names.append(found[1].removesuffix("{}"))
    return names


def _explained(assigned: str, live: list[str], module: Module, root: str) -> list[dict[str, Any]]:
    kinds: dict[int, str] = {}
    places: dict[str, _Slot] = {}
    shapes: dict[str, str] = {}
    for allocation, kind, name, slot, shape in _values(assigned):
        kinds[allocation], places[name], shapes[name] = kind, slot, shape
    sharing: dict[_Slot, list[str]] = {}
    for name, slot in places.items():
        sharing.setdefault(slot, []).append(name)
    found: dict[_Slot, dict[str, Any]] = {}
    for name in live:
        if name not in places:
            continue
        slot = places[name]
        if slot.size < SMALL or slot in found:
            continue
        kind = kinds[slot.allocation]
        names = [name, *(other for other in sharing[slot] if shapes[other] == shapes[name])]
        found[slot] = {
            "bytes": slot.size,
            "shape": re.sub(r"\{.*?\}", "", shapes[name]),
            "kind": kind,
            **_origin(list(dict.fromkeys(names)), kind, module, root),
        }
    return sorted(found.values(), key=lambda buffer: -buffer["bytes"])


def _values(text: str) -> Iterator[tuple[int, str, str, _Slot, str]]:
    """Allocation, its kind, value, slot and shape of all that lies in the device's main memory."""
    allocation, kind = 0, ""
    for line in text.splitlines():
        if found := _ALLOCATION.match(line):
            allocation, kind = int(found[1]), _kind(found[2])
        elif kind and (found := _VALUE.match(line)):
            slot = _Slot(allocation, int(found[3]), int(found[2]))
            yield allocation, kind, found[1].removesuffix("{}"), slot, found[4]
        elif line.startswith("Total bytes"):
            break


def _kind(allocation: str) -> str:
    if re.search(r"\bcolor [1-9]", allocation):  # a TPU's fast memory
        return ""
    if "parameter" in allocation:
        return "argument"
    if "maybe-live-out" in allocation:
        return "output"
    return "temp" if "preallocated-temp" in allocation or "thread-local" not in allocation else ""


# ---------------------------------------------------------------- where a buffer comes from


def _origin(names: list[str], kind: str, module: Module, root: str) -> dict[str, Any]:
    made = [one for name in names if (one := _made(name, module)) is not None]
    if kind == "argument":
        argument = next((one.op for one in made if one.opcode == "parameter"), "")
        return {"name": argument, "place": None, "op": "", "stacks": None, "calls": []}
    for instruction in made:
        update = _update(instruction, module)
        if update is not None:
            stored = (
                _source(module.instructions.get(update.operands[1]), module) if update.operands[1:] else ()
            )
            place = _place(update.frames or instruction.frames, root)
            calls = _calls(update.frames or instruction.frames, root)
            return {"name": "", "place": place, "op": "scan", "stacks": _place(stored, root), "calls": calls}
    for instruction in made:
        frames = _source(instruction, module)
        if frames:
            op = instruction.op.rpartition("/")[2]
            place, calls = _place(frames, root), _calls(frames, root)
            return {"name": "", "place": place, "op": op, "stacks": None, "calls": calls}
    return {"name": "", "place": None, "op": "", "stacks": None, "calls": []}


def _made(value: str, module: Module) -> Instruction | None:
    """The instruction that makes a value. One output of several, `fusion.1{0}`, is made in the fusion's body."""
    name, _, index = value.partition("{")
    instruction = module.instructions.get(name)
    if instruction is None or instruction.opcode != "fusion" or not index:
        return instruction
    root = module.root(instruction.calls)
    position = index.rstrip("}")
    if root is None or root.opcode != "tuple" or not position.isdecimal():
        return instruction
    part = root.operands[int(position)] if int(position) < len(root.operands) else ""
    return module.instructions.get(part, instruction)


def _update(instruction: Instruction, module: Module) -> Instruction | None:
    """The dynamic-update-slice inside a loop that an instruction is: how a scan stacks its outputs."""
    inner: Instruction | None = instruction
    for _ in range(_FAR):
        if inner is None or inner.opcode == "dynamic-update-slice":
            break
        if inner.opcode == "fusion":
            inner = module.root(inner.calls)
        elif inner.opcode in _THROUGH and inner.operands:
            inner = module.instructions.get(inner.operands[0])
        else:
            return None
    if inner is None or inner.opcode != "dynamic-update-slice":
        return None
    return inner if re.search(r"\bwhile\b", inner.op or instruction.op) else None


def _source(instruction: Instruction | None, module: Module) -> tuple[Frame, ...]:
    """The frames of what computes a value, looking through copies, into fusions and out of them."""
    for _ in range(_FAR):
        if instruction is None:
            return ()
        through = instruction.opcode in _THROUGH and bool(instruction.operands)
        if instruction.frames and not through:
            return instruction.frames
        if through:
            following = module.instructions.get(instruction.operands[0])
            if following is None or following.opcode == "parameter":
                following = _passed(following, module)
            if following is None:
                return instruction.frames
            instruction = following
        elif instruction.opcode == "fusion":
            instruction = module.root(instruction.calls)
        elif instruction.opcode == "parameter":
            instruction = _passed(instruction, module)
        else:
            return ()
    return ()


def _passed(parameter: Instruction | None, module: Module) -> Instruction | None:
    """What a fusion passes for a parameter of its body."""
    if parameter is None:
        return None
    fusion = module.caller(module.home[parameter.name])
    if fusion is None or not 0 <= parameter.number < len(fusion.operands):
        return None
    return module.instructions.get(fusion.operands[parameter.number])


def _place(frames: tuple[Frame, ...], root: str) -> list[Any] | None:
    """The innermost frame of the user's own code, else the innermost one."""
    own = [frame for frame in frames if frame.file.startswith(os.path.join(root, "")) and not _foreign(frame)]
    chosen = (own or list(frames))[-1:]
    return list(chosen[0]) if chosen else None


def _calls(frames: tuple[Frame, ...], root: str) -> list[list[Any]]:
    """All frames of the user's own code, outermost first."""
    begin = os.path.join(root, "")
    return [list(frame) for frame in frames if frame.file.startswith(begin) and not _foreign(frame)]


def _foreign(frame: Frame) -> bool:
    return f"{os.sep}site-packages{os.sep}" in frame.file
