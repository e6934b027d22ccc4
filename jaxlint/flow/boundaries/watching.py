"""Following a boundary's arguments after the call: is the old value read again before it is rebound?

A watch lives in the environment under the name with `~` before it, so that it takes part in branches and
loops as values do: it survives a join if either side has it.
"""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import UNKNOWN
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import ReadAfterDonation
from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory import lending
from jaxlint.flow.program import LoadedModule
from jaxlint.jax_api.transforms import JIT


class Watch:
    """A boundary call whose argument is followed to see whether its old value is read again."""

    __slots__ = ("boundary", "donating", "module", "name", "node", "read", "read_as_alias")

    def __init__(
        self, boundary: BoundaryState, module: LoadedModule, node: ast.AST, name: str, donating: bool
    ) -> None:
        self.boundary = boundary
        self.module = module
        self.node = node
        self.name = name
        self.donating = donating
        self.read = False
        self.read_as_alias = False  # through another name for the same object


def watch(frame: Frame, name: str, boundary: BoundaryState, node: ast.AST, donating: bool) -> Watch:
    """Start to watch a plain or dotted name, and the names that mean the same object."""
    record = Watch(boundary, frame.module, node, name, donating)
    for alias in (name, *_aliases(frame, name)):
        frame.names[f"~{alias}"] = Value(UNKNOWN, data=record)
    frame.watching = True
    return record


def _aliases(frame: Frame, name: str) -> list[str]:
    source = frame.aliases.get(name)
    found = [
        other for other, of in frame.aliases.items() if of == name or (source is not None and of == source)
    ]
    if source is not None:
        found.append(source)
    return [other for other in found if other != name]


def forget(frame: Frame, name: str) -> None:
    """A name is rebound: what it meant before is out of reach through it."""
    if frame.watching:
        frame.names.pop(f"~{name}", None)
    if frame.lends:
        lending.forget(frame, name)
    if frame.aliases:
        frame.aliases.pop(name, None)
        for other in [o for o, of in frame.aliases.items() if of == name]:
            del frame.aliases[other]


def note_read(frame: Frame, node: ast.AST, name: str) -> None:
    """A name is read: tell the watches on it."""
    held = frame.names.get(f"~{name}")
    if held is None or not isinstance(held.data, Watch):
        return
    record = held.data
    record.read = True
    record.read_as_alias |= name != record.name
    if record.donating and frame.level < JIT and not frame.quiet:
        frame.record(
            ReadAfterDonation(
                frame.place(node),
                frame.symbol,
                frame.proof(),
                name=name,
                call=record.module.place(record.node),
                boundary=describe(record.boundary),
            )
        )
