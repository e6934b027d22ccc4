"""HLO as text, from an XLA dump (`…after_optimizations.txt`), read into a Program.

Both spellings are read: names with and without `%`, computations with and without their parameters in the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from jaxlint.capture.frames import Frame, StackFrames
from jaxlint.capture.program import Alias, Instruction, Links, Program
from jaxlint.capture.shape import Shape

_COMPUTATION = re.compile(r"(ENTRY )?%?([\w.\-]+)(?: \(.*\) -> .*)? \{(?:$|\s)")
_INSTRUCTION = re.compile(r"\s+(ROOT )?%?([\w.\-]+) = ")
_ARRAY = re.compile(r"([a-z]+\d*\w*)\[([\d,]*)\](?:\{([^}]*)\})?")
_OPCODE = re.compile(r"\s*([\w\-]+)\(")
_CALLED = re.compile(
    r"(?:calls|to_apply|body|condition|branch_computations|called_computations)=\{?((?:%?[\w.\-]+,? ?)+)"
)
_METADATA = re.compile(r"metadata=\{((?:[^{}\"]|\"[^\"]*\")*)\}")
_ENTRY_OF_TABLE = re.compile(r"(\w+)=(\d+)")
_COMMENT = re.compile(r"/\*.*?\*/")
_REAL = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}")


def read(text: str) -> Program:
    """The module. What is no line of HLO is passed over."""
    return _Reader(text).program


class _Reader:
    def __init__(self, text: str) -> None:
        self.program = Program()
        self._frames = StackFrames()
        self._computations: dict[str, int] = {}
        self._names: dict[str, int] = {}
        computation = 0
        table = ""
        for line in text.splitlines():
            if line.startswith("HloModule "):
                self._header(line)
            elif line[:1].isspace():
                self._instruction(line, computation)
            elif header := _COMPUTATION.match(line):
                computation = self._computation(header[2])
                if header[1]:
                    self.program.entry = computation
            elif line[:1].isdigit():
                self._table(table, line)
            else:
                table = line.strip()
        self._number_frames()

    def _number_frames(self) -> None:
        """A frame's parent comes before it. Where the text says otherwise, it counts parents one too high."""
        frames = self._frames.frames
        if any(parent >= number for number, (_, parent) in enumerate(frames, 1)):
            self._frames.frames = [(location, parent - 1) for location, parent in frames]

    def _header(self, line: str) -> None:
        self.program.name = line.split()[1].rstrip(",")
        _, _, aliases = line.partition("input_output_alias={")
        for output, parameter, index in _ALIAS.findall(aliases.partition("entry_computation_layout")[0]):
            self.program.aliases.append(Alias(_integers(output), int(parameter), _integers(index)))

    def _table(self, table: str, line: str) -> None:
        """A row of the tables of stack frames, which are numbered from 1."""
        if table in ("FileNames", "FunctionNames"):
            name = line.partition('"')[2].rpartition('"')[0]
            (self._frames.files if table == "FileNames" else self._frames.functions).append(name)
            return
        row = {name: int(value) for name, value in _ENTRY_OF_TABLE.findall(line)}
        if table == "FileLocations":
            self._frames.locations.append(
                (row.get("file_name_id", 0), row.get("function_name_id", 0), row.get("line", 0))
            )
        elif table == "StackFrames":
            self._frames.frames.append((row.get("file_location_id", 0), row.get("parent_frame_id", 0)))

    def _computation(self, name: str) -> int:
        return self._computations.setdefault(name, len(self._computations) + 1)

    def _instruction(self, line: str, computation: int) -> None:
        match = _INSTRUCTION.match(line)
        if match is None:
            return
        rest = _COMMENT.sub("", line[match.end() :])
        shape_end = _end_of_shape(rest)
        opcode = _OPCODE.match(rest, shape_end)
        if opcode is None:
            return
        end = _closing(rest, opcode.end() - 1)
        operands, attributes = rest[opcode.end() : end], rest[end + 1 :]
        metadata = _fields(attributes)
        identity = len(self._names) + 1
        self._names[match[2]] = identity
        self.program.add(
            Instruction(
                identity,
                match[2],
                opcode[1],
                metadata.get("op_name", ""),
                computation,
                shape=partial(_shape, rest[:shape_end]),
                links=partial(self._links, opcode[1], operands, attributes),
                frames=partial(self._stack, metadata),
            )
        )
        if match[1]:
            self.program.roots[computation] = identity

    def _links(self, opcode: str, operands: str, attributes: str) -> Links:
        if opcode == "parameter":
            return Links(parameter=int(operands) if operands.isdigit() else 0)
        if opcode == "constant":
            return Links(number=float(operands) if _REAL.fullmatch(operands.strip()) else None)
        names = (part.split()[-1].lstrip("%") for part in _parts(operands) if part.strip())
        called = (name.strip(" %") for found in _CALLED.findall(attributes) for name in found.split(","))
        element = re.search(r"\bindex=(\d+)", attributes)
        return Links(
            tuple(self._names[name] for name in names if name in self._names),
            tuple(self._computations[name] for name in called if name in self._computations),
            element=int(element[1]) if element else 0,
        )

    def _stack(self, metadata: dict[str, str]) -> tuple[Frame, ...]:
        found = self._frames.stack(int(metadata.get("stack_frame_id", 0)))
        file = metadata.get("source_file", "")
        return found or ((Frame(file, int(metadata.get("source_line", 0))),) if file else ())


def _fields(attributes: str) -> dict[str, str]:
    """What the metadata say: texts without their quotes, numbers as text."""
    match = _METADATA.search(attributes)
    if match is None:
        return {}
    found = re.findall(r'(\w+)=(?:"([^"]*)"|(\d+))', match[1])
    return {name: text or number for name, text, number in found}


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _end_of_shape(text: str) -> int:
    """Where the shape ends that a text begins with."""
    if text.startswith("("):
        return _closing(text, 0) + 1
    end = text.find(" ")
    return end if end >= 0 else len(text)


def _closing(text: str, start: int) -> int:
    """Where the bracket closes that is open at the start."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in "({[":
            depth += 1
        elif text[index] in ")}]":
            depth -= 1
            if not depth:
                return index
    return len(text)


def _parts(text: str) -> Iterator[str]:
    """What commas separate that stand in no bracket."""
    depth = start = 0
    for index, character in enumerate(text):
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character == "," and not depth:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def _shape(text: str) -> Shape:
    text = text.strip()
    if text.startswith("("):
        return Shape("tuple", parts=tuple(_shape(part) for part in _parts(text[1:-1]) if part.strip()))
    match = _ARRAY.match(text)
    if match is None:
        return Shape(text.partition("[")[0] or "opaque")
    space = re.search(r"S\((\d+)\)", match[3] or "")
    return Shape(match[1], _integers(match[2]), space=int(space[1]) if space else 0)
