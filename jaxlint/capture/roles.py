"""What a buffer is for, told from the name stack that JAX leaves on each operation."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from jaxlint.capture import stacks
from jaxlint.capture.assignment import Assignment, Definition
from jaxlint.capture.program import PASSING_ON, Instruction, Program


class Role(str, Enum):
    """Of a buffer in the temporary heap."""

    FORWARD = "forward"  # made by the forward pass, and kept for the backward pass while it lives at the peak
    BACKWARD = "backward"
    RECOMPUTED = "recomputed"  # a forward value computed again inside the backward pass: remat at work
    WORKSPACE = "workspace"  # scratch of a library call
    OTHER = "other"

    def __str__(self) -> str:
        return self.value


class Origin(NamedTuple):
    """What a role rests on: the instruction whose name stack decides, and how it was come to."""

    role: Role
    instruction: Instruction
    how: str


_BYTE_ELEMENTS = ("s8", "u8")
_MOST_STEPS = 32


def of_name(op_name: str) -> Role:
    """The role that a name stack speaks of. `transpose(` stands around `jvp(`, so it is asked for first."""
    if "rematted_computation" in op_name:
        return Role.RECOMPUTED
    if "transpose(" in op_name:
        return Role.BACKWARD
    if "jvp(" in op_name:
        return Role.FORWARD
    return Role.OTHER


def origin(definition: Definition, aliases: Iterable[Definition], program: Program) -> Origin | None:
    """The role of a buffer; None where the instruction that defines it is not in the program.

    An operation that XLA made itself has no name stack. Then speak, in this order: what it computes inside, the
    buffers it is an alias of, what it is a copy of, and the first operation that uses it.
    """
    instruction = program.find(definition.instruction, definition.name)
    if instruction is None:
        return None
    if (
        instruction.opcode == "custom-call"
        and instruction.shape.at(definition.shape_index).element in _BYTE_ELEMENTS
    ):
        return Origin(Role.WORKSPACE, instruction, "own name")
    for candidate, how in _candidates(instruction, aliases, program):
        role = of_name(candidate.op_name)
        if role is not Role.OTHER:
            return Origin(role, candidate, how)
    return Origin(Role.OTHER, instruction, "own name" if "/" in instruction.op_name else "no name stack")


def _candidates(
    instruction: Instruction, aliases: Iterable[Definition], program: Program
) -> Iterable[tuple[Instruction, str]]:
    yield instruction, "own name"
    if "/" in instruction.op_name:
        return  # it has a stack of its own, and it is neither forward nor backward
    for computation in instruction.links.called:
        root = program.root(computation)
        if root is not None:
            yield root, f"computes {root.name}"
    for alias in aliases:
        found = program.find(alias.instruction, alias.name)
        if found is not None and found.op_name:
            yield found, f"alias {found.name}"
    source = copied(instruction, program)
    if source is not None:
        yield stacks.stacked_value([source], program) or source, f"copy of {source.name}"
    for user in program.users(instruction)[:1]:
        yield user, f"used by {user.name}"


def copied(instruction: Instruction, program: Program) -> Instruction | None:
    """What a copy or a conversion that XLA made is one of: back to the first operation that has a name stack, or
    that writes the rows of a stack.
    """
    current: Instruction | None = instruction
    for _ in range(_MOST_STEPS):
        if current is None:
            return None
        carried = _carried(current, program)
        if carried is None and (
            "/" in current.op_name or "dynamic-update-slice" in current.name.replace("_", "-")
        ):
            return current
        current = carried or _one_back(current, program)
    return None


def _one_back(instruction: Instruction, program: Program) -> Instruction | None:
    operands = program.operands(instruction)
    if not operands:
        return None
    first = operands[0]
    called = instruction.links.called
    root = program.root(called[0]) if called and instruction.opcode in ("fusion", "call") else instruction
    return first if root is not None and root.opcode in PASSING_ON else None


def _carried(instruction: Instruction, program: Program) -> Instruction | None:
    """Of a part of a loop's result: what the body puts there."""
    if instruction.opcode != "get-tuple-element":
        return None
    for loop in program.operands(instruction)[:1]:
        for computation in loop.links.called if loop.opcode == "while" else ():
            root = program.root(computation)
            if root is not None and root.opcode == "tuple":
                parts = program.operands(root)
                element = instruction.links.element
                return parts[element] if 0 <= element < len(parts) else None
    return None


def defined_by(buffer: int, assignment: Assignment) -> Definition:
    """Where a logical buffer is defined."""
    found = assignment.buffers.get(buffer)
    return found.definition if found is not None else Definition(None, "", ())
