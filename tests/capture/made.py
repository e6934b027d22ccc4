"""Small modules made by hand, for what no compiler at hand produces: a program, its buffers, and a run of them."""

from __future__ import annotations

from typing import NamedTuple

from capture.simulated import MIB, NEW, Exhausted, Machine

from jaxlint.capture.written import Plane, field, message, packed, space

F32, BF16, S8 = 11, 16, 2


class Buffer(NamedTuple):
    """An instruction whose result is live from its turn to the end."""

    name: str
    opcode: str
    op_name: str
    element: int
    dimensions: tuple[int, ...]
    size: int
    parameter: bool = False


WORKSPACE = (
    Buffer("x", "parameter", "x", F32, (1024, 1024), 4 * MIB, parameter=True),
    Buffer("gemm.1", "custom-call", "jit(step)/dot_general", S8, (64 * MIB,), 64 * MIB),
    Buffer("gemm.2", "custom-call", "jit(step)/dot_general", S8, (64 * MIB,), 64 * MIB),
)
WIDE_GRADIENTS = (
    Buffer("w", "parameter", "w", BF16, (4096, 4096), 32 * MIB, parameter=True),
    Buffer(
        "convert.1", "convert", "jit(step)/transpose(jvp())/convert_element_type", F32, (4096, 4096), 64 * MIB
    ),
    Buffer("dot.1", "dot", "jit(step)/transpose(jvp())/dot_general", BF16, (4096, 4096), 32 * MIB),
)


def trained_convolution(forward: int, backward: int) -> tuple[Buffer, ...]:
    """A step that returns its new weights; so many arrays of 16 MiB of each role live at its peak."""
    rows = (4, 8, 512, 256)
    return (
        Buffer("w", "parameter", "w", F32, (8, 8, 3, 3), 2304, parameter=True),
        Buffer("x", "parameter", "x", F32, rows, 16 * MIB, parameter=True),
        *(Buffer(f"conv.{n}", "convolution", "jit(step)/jvp()/conv_general_dilated", F32, rows, 16 * MIB)
          for n in range(forward)),
        *(Buffer(f"select.{n}", "select", "jit(step)/transpose(jvp())/select_n", F32, rows, 16 * MIB)
          for n in range(backward)),
        Buffer("subtract.1", "subtract", "jit(step)/sub", F32, (8, 8, 3, 3), 2304),
    )  # fmt: skip


def hlo(buffers: tuple[Buffer, ...], name: str = "jit_step") -> bytes:
    """An HloProto whose temporary block holds all but the parameters."""
    entry = message((1, "main"), (5, 1), (6, len(buffers)))
    entry += b"".join(field(2, _instruction(number, buffer)) for number, buffer in enumerate(buffers, 1))
    module = message((1, name), (2, "main"), (3, entry), (6, 1))
    return message((1, module), (3, _assignment(buffers)))


def _instruction(number: int, buffer: Buffer) -> bytes:
    shape = message((2, buffer.element)) + packed(3, buffer.dimensions)
    return message(
        (1, buffer.name),
        (2, buffer.opcode),
        (3, shape),
        (7, message((2, buffer.op_name))),
        (9, 0),
        (35, number),
    )


def _assignment(buffers: tuple[Buffer, ...]) -> bytes:
    out = b""
    temporary = [(number, b) for number, b in enumerate(buffers, 1) if not b.parameter]
    for number, buffer in enumerate(buffers, 1):
        out += field(1, message((1, number), (2, buffer.size), (3, message((4, number)))))
    for number, buffer in enumerate(buffers, 1):
        if buffer.parameter:
            out += field(3, message((1, number), (2, buffer.size), (5, 1), (9, message((1, number)))))
    block = message((1, 0), (2, sum(buffer.size for _, buffer in temporary)))
    out += field(3, block + b"".join(field(9, message((1, number))) for number, _ in temporary))
    return out + field(4, b"".join(field(1, message((1, 0), (2, number))) for number, _ in temporary))


def capture(buffers: tuple[Buffer, ...], *, limit: int, client: str = NEW) -> bytes:
    """One execution of the module in a pool of that size."""
    metadata = Plane("/host:metadata")
    metadata.module("jit_step(1)", 1, hlo(buffers))
    machine = Machine(client, limit)
    for buffer in buffers:
        if buffer.parameter:
            machine.allocate(buffer.size)
    machine.recording = True
    try:
        machine.release(machine.device_put(256))
        machine.execute("step", [], [sum(b.size for b in buffers if not b.parameter)])
    except Exhausted:
        pass
    return space(metadata.content(), machine.plane.content())


def eager(number: int, *, spike: int = 0) -> bytes:
    """So many modules of one operation, each run twice; before that an array of `spike` bytes comes and goes."""
    metadata = Plane("/host:metadata")
    machine = Machine(NEW, 1 << 30)
    machine.recording = True
    machine.release(machine.device_put(max(spike, 256)))
    for index in range(number):
        operation = Buffer(f"add.{index}", "add", "jit(add)/add", F32, (1024,), 4096)
        metadata.module(
            f"jit_op{index}({index + 1})", index + 1, hlo((WORKSPACE[0], operation), f"jit_op{index}")
        )
        for _ in range(2):
            machine.execute(f"op{index}", [], [4096])
    return space(metadata.content(), machine.plane.content())
