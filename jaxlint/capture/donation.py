"""Which outputs of a step are new versions of its parameters: what a donation could put into the same memory.

Equal shapes are not enough: a gradient has the shape of its parameter, and the output of a residual network that
of its input. An output counts when it is computed element by element from a parameter of its shape (an optimiser's
update), or is a parameter of which a slice was overwritten (a cache), and when it is no gradient itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from jaxlint.capture.program import PASSING_ON, Instruction, Program
from jaxlint.capture.roles import Role, of_name
from jaxlint.capture.shape import Shape

_DEEPEST = 200
# Operations that leave a new version of what goes in: which operands pass it on. A difference is one of its first
# operand, a choice one of either branch, a quotient one of what is divided.
_VERSIONS: dict[str, slice] = {
    **dict.fromkeys(("add", "maximum", "minimum"), slice(None)),
    **dict.fromkeys(("subtract", "divide"), slice(1)),
    "select": slice(1, None),
    "clamp": slice(1, 2),
}
_LEAST_KEPT = (
    0.5  # of the old value: a decay keeps most of it, and `gradient + 1e-4 * parameter` is a gradient
)
_OVERWRITING = frozenset({"dynamic-update-slice", "scatter"})


class Update(NamedTuple):
    """An output that is a new version of a parameter which keeps its old buffer."""

    parameter: int
    name: str  # of the parameter
    shape: Shape
    overwritten: bool  # a slice of it

    @property
    def size(self) -> int:
        """Bytes."""
        return self.shape.size


class _Reached(NamedTuple):
    """Parameters of the enclosing computation that a value is an update of."""

    numbers: frozenset[int]
    overwritten: bool = False


_NOTHING = _Reached(frozenset())


def updates(program: Program) -> list[Update]:
    """Of the parameters that are not donated, each once. Empty for what only computes forward, or gradients."""
    root = program.root(program.entry)
    if root is None:
        return []
    trained = any(of_name(i.op_name) is Role.BACKWARD for i in program.instructions.values())
    parameters = {i.links.parameter: i for i in program.parameters()}
    taken = {alias.parameter for alias in program.aliases}
    aliased = {alias.output for alias in program.aliases}
    search = _Search(program)
    found: list[Update] = []
    for index, shape in root.shape.leaves():
        if index in aliased or not shape.size or of_name(search.name_stack(root, index)) is Role.BACKWARD:
            continue
        reached = search.reach(root, index)
        if not trained and not reached.overwritten:
            continue
        for number in sorted(reached.numbers - taken):
            parameter = parameters.get(number)
            if parameter is not None and parameter.shape == shape:
                taken.add(number)
                found.append(Update(number, parameter.op_name or parameter.name, shape, reached.overwritten))
                break
    return found


class _Search:
    """Follows values back through element by element operations, into and out of fusions."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[int, tuple[int, ...]], _Reached] = {}

    def reach(self, value: Instruction, index: tuple[int, ...], depth: int = 0) -> _Reached:
        """The parameters of its computation that a part of a value is an update of."""
        key = value.identity, index
        if key not in self._known:
            self._known[key] = _NOTHING  # a damaged program may go in circles
            self._known[key] = self._reach(value, index, depth + 1) if depth < _DEEPEST else _NOTHING
        return self._known[key]

    def _reach(self, value: Instruction, index: tuple[int, ...], depth: int) -> _Reached:
        operands = self._program.operands(value)
        opcode = value.opcode
        if opcode == "parameter":
            return _Reached(frozenset({value.links.parameter})) if not index else _NOTHING
        if opcode == "tuple":
            part = index[0] if index else -1
            return self.reach(operands[part], index[1:], depth) if 0 <= part < len(operands) else _NOTHING
        if opcode == "get-tuple-element" and operands:
            return self.reach(operands[0], (value.links.element, *index), depth)
        if opcode in ("fusion", "call"):
            return self._through(value, operands, index, depth)
        if opcode in _OVERWRITING and operands:
            return self.reach(operands[0], (), depth)._replace(overwritten=True)
        if opcode in PASSING_ON and opcode != "broadcast" and operands:
            return self.reach(operands[0], index, depth) if _same_elements(value, operands[0]) else _NOTHING
        if opcode == "multiply" and len(operands) == 2:
            operands = self._decayed(*operands)
        elif opcode in _VERSIONS:
            operands = operands[_VERSIONS[opcode]]
        else:
            return _NOTHING
        return _together([self.reach(o, (), depth) for o in operands if _same_elements(value, o)])

    def _decayed(self, one: Instruction, other: Instruction) -> list[Instruction]:
        """What a product is a smaller version of: the one factor, where the other is a number near 1."""
        factors = ((one, self._number(other)), (other, self._number(one)))
        return [value for value, factor in factors if factor is not None and factor >= _LEAST_KEPT]

    def _number(self, value: Instruction) -> float | None:
        """The constant that a value is, or is filled with."""
        current: Instruction | None = value
        for _ in range(_DEEPEST):
            if current is None or current.opcode == "constant":
                break
            operands = self._program.operands(current)
            if current.opcode == "parameter":
                operands = self._passed(current)
            elif current.opcode not in PASSING_ON:
                return None
            current = operands[0] if operands else None
        return current.links.number if current is not None else None

    def _passed(self, parameter: Instruction) -> list[Instruction]:
        """What a fusion is given for a parameter of its computation."""
        for caller in self._callers.get(parameter.computation, ())[:1]:
            return self._program.operands(caller)[parameter.links.parameter :][:1]
        return []

    @cached_property
    def _callers(self) -> dict[int, list[Instruction]]:
        callers: dict[int, list[Instruction]] = {}
        for instruction in self._program.instructions.values():
            for computation in instruction.links.called if instruction.opcode == "fusion" else ():
                callers.setdefault(computation, []).append(instruction)
        return callers

    def _through(
        self, value: Instruction, operands: list[Instruction], index: tuple[int, ...], depth: int
    ) -> _Reached:
        """A fusion: what its root reaches inside, then what is passed in for that."""
        for computation in value.links.called[:1]:
            root = self._program.root(computation)
            if root is None:
                continue
            inside = self.reach(root, index, depth)
            outside = [self.reach(operands[n], (), depth) for n in inside.numbers if 0 <= n < len(operands)]
            found = _together(outside)
            return found._replace(
                overwritten=found.overwritten or (inside.overwritten and bool(found.numbers))
            )
        return _NOTHING

    def name_stack(self, value: Instruction, index: tuple[int, ...]) -> str:
        """Of the operation that computes a part of a value."""
        for _ in range(_DEEPEST):
            operands = self._program.operands(value)
            if value.opcode == "tuple" and index and 0 <= index[0] < len(operands):
                value, index = operands[index[0]], index[1:]
            elif value.opcode == "get-tuple-element" and operands:
                value, index = operands[0], (value.links.element, *index)
            elif value.opcode in ("fusion", "call") and value.links.called and (index or not value.op_name):
                root = self._program.root(value.links.called[0])
                if root is None:
                    break
                value = root
            elif value.opcode in PASSING_ON and not value.op_name and operands:
                value = operands[0]
            else:
                break
        return value.op_name


def _same_elements(one: Instruction, other: Instruction) -> bool:
    return one.shape.elements == other.shape.elements and not one.shape.parts and not other.shape.parts


def _together(found: list[_Reached]) -> _Reached:
    return _Reached(frozenset().union(*(r.numbers for r in found)), any(r.overwritten for r in found))
