"""An HloModuleProto, from a capture or a dump, read into a Program.

Field numbers are those of hlo.proto; checked against captures of jaxlib 0.4.35 to 0.10. Instruction ids may exceed
32 bits. Where an instruction comes from stands in its metadata (`source_file`), or, in newer versions, as the
number of a stack frame: both are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

from jaxlint.capture import shape as shapes
from jaxlint.capture import wire
from jaxlint.capture.frames import Frame, StackFrames
from jaxlint.capture.program import Alias, Instruction, Links, Program
from jaxlint.capture.shape import Shape


def read(data: wire.Data, start: int, end: int) -> Program:
    """The module in data[start:end]. Raises wire.Damaged."""
    program = Program()
    frames = StackFrames()
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 6 and kind == wire.VARINT:
            program.entry = wire.signed(value)
        elif kind != wire.BYTES:
            continue
        elif number == 1:
            program.name = wire.text(data, value, stop)
        elif number == 3:
            _computation(program, frames, data, value, stop)
        elif number == 7:
            program.schedule.update(_schedule(data, value, stop))
        elif number == 8:
            program.aliases += _aliases(data, value, stop)
        elif number == 17:
            frames.read(data, value, stop)
    return program


def _computation(program: Program, frames: StackFrames, data: wire.Data, start: int, end: int) -> None:
    identity = root = 0
    members: list[tuple[int, int]] = []
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 2 and kind == wire.BYTES:
            members.append((value, stop))
        elif number == 5 and kind == wire.VARINT:
            identity = wire.signed(value)
        elif number == 6 and kind == wire.VARINT:
            root = wire.signed(value)
    program.roots[identity] = root
    for begin, stop in members:
        program.add(_instruction(identity, frames, data, begin, stop))


def _instruction(computation: int, index: StackFrames, data: wire.Data, start: int, end: int) -> Instruction:
    identity = 0
    name = opcode = op_name = file = ""
    line = frame = 0
    shape: tuple[int, int] | None = None
    for number, kind, value, stop in wire.fields(data, start, end):
        if number == 35 and kind == wire.VARINT:
            identity = wire.signed(value)
        elif kind != wire.BYTES:
            continue
        elif number == 1:
            name = wire.text(data, value, stop)
        elif number == 2:
            opcode = wire.text(data, value, stop)
        elif number == 3:
            shape = value, stop
        elif number == 7:
            for sub, _, at, upto in wire.fields(data, value, stop):
                if sub == 2 and upto:
                    op_name = wire.text(data, at, upto)
                elif sub == 3 and upto:
                    file = wire.text(data, at, upto)
                elif sub == 4 and not upto:
                    line = at
                elif sub == 15 and not upto:
                    frame = at
    return Instruction(
        identity,
        name,
        opcode,
        op_name,
        computation,
        shape=partial(_shape, data, shape),
        links=partial(_links, data, start, end),
        frames=partial(_frames, index, file, line, frame),
    )


def _shape(data: wire.Data, span: tuple[int, int] | None) -> Shape:
    return shapes.read(data, *span) if span is not None else Shape("opaque")


def _frames(index: StackFrames, file: str, line: int, frame: int) -> tuple[Frame, ...]:
    return index.stack(frame) or ((Frame(file, line),) if file else ())


def _links(data: wire.Data, start: int, end: int) -> Links:
    operands: list[int] = []
    called: list[int] = []
    parameter = element = 0
    constant: float | None = None
    for field in wire.fields(data, start, end):
        number, kind, value, stop = field
        if number == 36:
            operands.extend(wire.integers(data, field))
        elif number == 38:
            called.extend(wire.integers(data, field))
        elif number == 9 and kind == wire.VARINT:
            parameter = wire.signed(value)
        elif number == 13 and kind == wire.VARINT:
            element = wire.signed(value)
        elif number == 8 and kind == wire.BYTES:
            constant = _number(data, value, stop)
    return Links(tuple(operands), tuple(called), parameter, element, constant)


# LiteralProto: where the values of a type lie, and how one of them is written.
_REAL = {8: "<f", 9: "<d", 11: "<e", 13: "bfloat16"}


def _number(data: wire.Data, start: int, end: int) -> float | None:
    """The value of a literal that holds one real number, None of any other."""
    for number, kind, value, stop in wire.fields(data, start, end):
        form = _REAL.get(number)
        if form is None or kind != wire.BYTES:
            continue
        raw = bytes(data[value:stop])
        if form == "bfloat16":
            raw, form = b"\0\0" + raw, "<f"
        if len(raw) == struct.calcsize(form):
            return float(struct.unpack(form, raw)[0])
    return None


def _schedule(data: wire.Data, start: int, end: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """HloScheduleProto: a map from computations to their sequences."""
    for number, kind, value, stop in wire.fields(data, start, end):
        if number != 1 or kind != wire.BYTES:
            continue
        computation = 0
        order: list[int] = []
        for sub, form, at, upto in wire.fields(data, value, stop):
            if sub == 1 and form == wire.VARINT:
                computation = wire.signed(at)
            elif sub == 2 and form == wire.BYTES:
                for field in wire.fields(data, at, upto):
                    if field[0] == 1:
                        order.extend(wire.integers(data, field))
        yield computation, tuple(order)


def _aliases(data: wire.Data, start: int, end: int) -> list[Alias]:
    """HloInputOutputAliasProto."""
    found: list[Alias] = []
    for number, kind, value, stop in wire.fields(data, start, end):
        if number != 1 or kind != wire.BYTES:
            continue
        output: list[int] = []
        index: list[int] = []
        parameter = 0
        for field in wire.fields(data, value, stop):
            if field[0] == 1:
                output.extend(wire.integers(data, field))
            elif field[0] == 2 and field[1] == wire.VARINT:
                parameter = wire.signed(field[2])
            elif field[0] == 3:
                index.extend(wire.integers(data, field))
        found.append(Alias(tuple(output), parameter, tuple(index)))
    return found
