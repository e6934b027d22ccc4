"""What a scan stacks: the value of each step behind a stacked buffer.

A scan keeps the values that its backward pass needs in one buffer with a row a step, written by a
dynamic-update-slice in the loop's body. That buffer has the line of the `lax.scan`, or none. What a person can
change is the value in the row, so it is followed from the update to the operation that computed it.
"""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.capture.program import PASSING_ON, Instruction, Program

_MOST_STEPS = 48


def stacked_value(writers: Iterable[Instruction], program: Program) -> Instruction | None:
    """The operation whose results are stacked by one of the writers; None where none of them stacks."""
    for writer in writers:
        value = _stacked_by(writer, program)
        if value is not None and value.op_name:
            return value
    return None


def _stacked_by(writer: Instruction, program: Program) -> Instruction | None:
    if writer.opcode not in ("fusion", "call", "dynamic-update-slice", *PASSING_ON):
        return None
    called = writer.links.called
    inside = called[0] if writer.opcode in ("fusion", "call") and called else None
    update = _update(writer if inside is None else program.root(inside), program)
    if update is None:
        return None
    operands = program.operands(update)
    return _producer(operands[1], writer, inside, program) if len(operands) > 1 else None


def _update(instruction: Instruction | None, program: Program) -> Instruction | None:
    """The dynamic-update-slice that gives a computation's result."""
    for _ in range(_MOST_STEPS):
        if instruction is None or instruction.opcode == "dynamic-update-slice":
            return instruction
        if instruction.opcode not in PASSING_ON:
            return None
        operands = program.operands(instruction)
        instruction = operands[0] if operands else None
    return None


def _producer(
    value: Instruction, writer: Instruction, inside: int | None, program: Program
) -> Instruction | None:
    """Back through copies and reshapes, and out of the fusion that writes, to what computed the value.

    Of a carry that is what the step before has computed it by.
    """
    element, carried = -1, False
    for _ in range(_MOST_STEPS):
        if value.opcode == "parameter" and inside is not None:
            outer = program.operands(writer)
            number = value.links.parameter
            if not 0 <= number < len(outer):
                return value
            value, inside = outer[number], None
        elif value.opcode == "parameter" and element >= 0 and not carried:
            step = program.root(value.computation)
            parts = program.operands(step) if step is not None and step.opcode == "tuple" else []
            if element >= len(parts):
                return value
            value, element, carried = parts[element], -1, True
        elif value.opcode in PASSING_ON and program.operands(value):
            element = value.links.element if value.opcode == "get-tuple-element" else -1
            value = program.operands(value)[0]
        elif value.opcode in ("call", "fusion") and not value.op_name:
            root = program.root(value.links.called[0]) if value.links.called else None
            if root is None:
                return value
            value, inside = root, None  # a part that XLA split off, to run in parallel
        else:
            return value
    return value
