"""Reads the text of a compiled HLO module as far as it says where its instructions come from."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = re.compile(r"(\d+) (.*)")
_COMPUTATION = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"\s+(ROOT )?%?([\w.\-]+) = (.*)")
_OPCODE = re.compile(r"([a-z][a-z\-]*)\(")
_NAME = re.compile(r"%([\w.\-]+)")
_CALLS = re.compile(r"calls=%?([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_SOURCE = re.compile(r'source_file="([^"]*)" source_line=(\d+)')


class Frame(NamedTuple):
    """A place in the user's program: file, line from 1, function ("" where it is not said)."""

    file: str
    line: int
    function: str


class Instruction(NamedTuple):
    """An instruction. `frames` are the calls that led to it, outermost first; `op` is jax's name for it."""

    name: str
    opcode: str
    operands: tuple[str, ...]
    number: int  # of a parameter, else -1
    calls: str
    op: str
    frames: tuple[Frame, ...]
    root: bool


class Module(NamedTuple):
    """All instructions by name, the instructions of each computation, and which computation a name lies in."""

    instructions: dict[str, Instruction]
    computations: dict[str, list[Instruction]]
    home: dict[str, str]

    def root(self, computation: str) -> Instruction | None:
        """The instruction whose value a computation returns."""
        return next((one for one in self.computations.get(computation, ()) if one.root), None)

    def caller(self, computation: str) -> Instruction | None:
        """The fusion that a computation is the body of."""
        return next((one for one in self.instructions.values() if one.calls == computation), None)


def read(text: str) -> Module:
    """The module that `text` (xla_dump_hlo_as_text) shows. Lines that cannot be understood are passed over."""
    frames = _Frames(text)
    module = Module({}, defaultdict(list), {})
    computation = ""
    for line in text.splitlines():
        if header := _COMPUTATION.match(line):
            computation = header[1]
        elif found := _INSTRUCTION.match(line):
            instruction = _instruction(found[2], found[3], bool(found[1]), frames)
            module.instructions[instruction.name] = instruction
            module.computations[computation].append(instruction)
            module.home[instruction.name] = computation
    return module


def _instruction(name: str, rest: str, root: bool, frames: _Frames) -> Instruction:
    opcode, number = _OPCODE.search(_without_shape(rest)), -1
    operands: tuple[str, ...] = ()
    if opcode:
        start = rest.index(opcode[0]) + len(opcode[0])
        inside = rest[start : _closing(rest, start)]
        operands = tuple(_NAME.findall(inside))
        if opcode[1] == "parameter" and inside.isdecimal():
            number = int(inside)
    calls, op = _CALLS.search(rest), _OP_NAME.search(rest)
    return Instruction(
        name,
        opcode[1] if opcode else "",
        operands,
        number,
        calls[1] if calls else "",
        op[1] if op else "",
        frames.of(rest),
        root,
    )


def _without_shape(rest: str) -> str:
    """What follows the shape, which may be a tuple: `(s32[], f32[8]{0}) while(...)`."""
    return rest[_closing(rest, 1) :] if rest.startswith("(") else rest.partition(" ")[2]


def _closing(text: str, start: int) -> int:
    """The position of the bracket that closes one opened before `start`."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


class _Frames:
    """The stack frames of a module: tables above it in newer jax, file and line at each instruction before."""

    def __init__(self, text: str) -> None:
        self._tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
        current = ""
        for line in text.splitlines():
            if line in _TABLES:
                current = line
            elif line.startswith(("%", "ENTRY")):
                break
            elif current and (row := _ROW.match(line)):
                self._tables[current][int(row[1])] = row[2]
        parents = [_fields(row).get("parent_frame_id", 0) for row in self._tables["StackFrames"].values()]
        self._offset = (
            1 if parents and min(parents) > 0 else 0
        )  # 0.10 writes the number plus one, and 1 for none

    def of(self, instruction: str) -> tuple[Frame, ...]:
        """The frames that an instruction's line names, outermost first."""
        if found := _FRAME.search(instruction):
            return tuple(reversed(self._chain(int(found[1]))))
        if found := _SOURCE.search(instruction):
            return (Frame(found[1], int(found[2]), ""),)
        return ()

    def _chain(self, number: int) -> list[Frame]:
        frames: list[Frame] = []
        rows, seen = self._tables["StackFrames"], set()
        while number in rows and number not in seen:
            seen.add(number)
            fields = _fields(rows[number])
            location = self._location(fields.get("file_location_id", 0))
            if location is not None:
                frames.append(location)
            number = fields.get("parent_frame_id", 0) - self._offset
        return frames

    def _location(self, number: int) -> Frame | None:
        row = self._tables["FileLocations"].get(number)
        if row is None:
            return None
        fields = _fields(row)
        file = self._tables["FileNames"].get(fields.get("file_name_id", 0), "")
        function = self._tables["FunctionNames"].get(fields.get("function_name_id", 0), "")
        return Frame(file.strip('"'), fields.get("line", 0), function.strip('"'))


def _fields(row: str) -> dict[str, Any]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", row)}
