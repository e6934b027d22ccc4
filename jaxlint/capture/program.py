"""The instructions of a compiled module, as far as a memory plan is explained by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from jaxlint.capture.frames import Frame
from jaxlint.capture.shape import Shape

# Operations that pass a value on in another form.
PASSING_ON = frozenset(
    {
        "bitcast",
        "copy",
        "reshape",
        "convert",
        "broadcast",
        "transpose",
        "get-tuple-element",
        "bitcast-convert",
    }
)


class Links(NamedTuple):
    """What an instruction is connected with."""

    operands: tuple[int, ...] = ()
    called: tuple[int, ...] = ()  # computations
    parameter: int = 0  # which one, of an instruction that is one
    element: int = 0  # which part, of a get-tuple-element
    number: float | None = None  # the value, of a constant that is one real number


class Instruction:
    """One HLO instruction. Shape, links and frames are worked out when they are asked for."""

    def __init__(
        self,
        identity: int,
        name: str,
        opcode: str,
        op_name: str,
        computation: int,
        *,
        shape: Callable[[], Shape],
        links: Callable[[], Links],
        frames: Callable[[], tuple[Frame, ...]],
    ) -> None:
        """`op_name` is JAX's name stack, such as `jit(step)/transpose(jvp(loss))/dot_general`."""
        self.identity = identity
        self.name = name
        self.opcode = opcode
        self.op_name = op_name
        self.computation = computation
        self._shape, self._links, self._frames = shape, links, frames

    @cached_property
    def shape(self) -> Shape:
        return self._shape()

    @cached_property
    def links(self) -> Links:
        return self._links()

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The Python stack, innermost first."""
        return self._frames()


class Alias(NamedTuple):
    """A part of the output that takes the buffer of a parameter: a donation that is used."""

    output: tuple[int, ...]
    parameter: int
    shape_index: tuple[int, ...]


class Program:
    """The instructions of a module by id and name."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.instructions: dict[int, Instruction] = {}
        self.by_name: dict[str, Instruction] = {}
        self.roots: dict[int, int] = {}  # computation -> instruction
        self.entry: int | None = None  # a computation
        self.schedule: dict[
            int, tuple[int, ...]
        ] = {}  # computation -> instructions in the order in which they run
        self.aliases: list[Alias] = []

    def add(self, instruction: Instruction) -> None:
        self.instructions[instruction.identity] = instruction
        self.by_name[instruction.name] = instruction

    def find(self, identity: int | None, name: str = "") -> Instruction | None:
        """By id, or by name where the id is not there (older XLA stores names)."""
        found = self.instructions.get(identity) if identity is not None else None
        return found or self.by_name.get(name)

    def root(self, computation: int | None) -> Instruction | None:
        """What a computation returns."""
        return self.instructions.get(self.roots.get(computation, -1)) if computation is not None else None

    def operands(self, instruction: Instruction) -> list[Instruction]:
        """Those that are there. A list with a gap would shift the others, so it ends at the first one."""
        found: list[Instruction] = []
        for identity in instruction.links.operands:
            operand = self.instructions.get(identity)
            if operand is None:
                break
            found.append(operand)
        return found

    def parameters(self) -> list[Instruction]:
        """Of the entry computation, by number."""
        found = [i for i in self.of_computation(self.entry) if i.opcode == "parameter"]
        return sorted(found, key=lambda i: i.links.parameter)

    def of_computation(self, computation: int | None) -> Sequence[Instruction]:
        return self._members.get(computation, ()) if computation is not None else ()

    def scheduled(self, computation: int) -> Sequence[Instruction]:
        """The instructions of a computation in the order in which they run, as far as that is known."""
        order = self.schedule.get(computation)
        if order is None:
            return self.of_computation(computation)
        return [self.instructions[i] for i in order if i in self.instructions]

    @cached_property
    def _members(self) -> dict[int, list[Instruction]]:
        members: dict[int, list[Instruction]] = defaultdict(list)
        for instruction in self.instructions.values():
            members[instruction.computation].append(instruction)
        return members

    def users(self, instruction: Instruction) -> Sequence[Instruction]:
        """Instructions that take it as an operand, in the order of the module."""
        return self._users.get(instruction.identity, ())

    @cached_property
    def _users(self) -> dict[int, list[Instruction]]:
        users: dict[int, list[Instruction]] = defaultdict(list)
        for instruction in self.instructions.values():
            for operand in instruction.links.operands:
                users[operand].append(instruction)
        return users
