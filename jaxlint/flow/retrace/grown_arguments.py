"""Arguments of boundary calls that grow, told when the run is over."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.crossing import Passed
from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import INSTANCE
from jaxlint.flow.domain.objects import Instance
from jaxlint.flow.domain.tags import GROWN
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import Growth
from jaxlint.flow.frame import Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.retrace.growth import bare, each


class PendingGrowth(PendingFact):
    """A boundary's argument that grows, or may turn out to: a field that a method not yet seen lengthens."""

    __slots__ = ("field", "loop", "owner", "place", "proof", "state", "symbol", "value")

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        node: ast.AST,
        value: Value,
        owner: Instance | None,
        field: str,
    ) -> None:
        self.state = state
        self.place = frame.place(node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.loop = frame.innermost_loop()
        self.value = value
        self.owner = owner
        self.field = field

    def fact(self) -> Growth | None:
        value = self.value if self.owner is None else self.owner.fields.get(self.field, self.value)
        grown = next(iter(_grown(value)), None)
        if grown is None or grown.origin is None:
            return None
        return Growth(
            grown.origin.module.place(grown.origin.node),
            self.symbol,
            self.proof,
            name=grown.origin.extra.path,
            use=self.place,
            loop=self.loop,
            boundary=describe(self.state),
        )


def _grown(value: Value) -> list[Value]:
    found: list[Value] = []

    def note(part: Value, _: str) -> Value:
        if part.tags & GROWN:
            found.append(part)
        return part

    each(value, note)
    return found


def note_growth(frame: Frame, state: BoundaryState, node: ast.AST, arguments: list[Passed]) -> None:
    """The arguments of an eager boundary call that grow, or are fields which may."""
    for passed in arguments:
        parts = _grown(passed.value)
        frame.log += [PendingGrowth(frame, state, node, part, None, "") for part in parts]
        owner, name = _field(frame, passed.node)
        if owner is not None and not parts:
            frame.log.append(PendingGrowth(frame, state, node, passed.value, owner, name))


def _field(frame: Frame, node: ast.AST) -> tuple[Instance | None, str]:
    """The object and the name of a field that is passed."""
    subject = bare(frame, node)
    if isinstance(subject, ast.Attribute) and isinstance(subject.value, ast.Name):
        owner = frame.names.get(subject.value.id)
        if owner is not None and owner.kind == INSTANCE:
            return owner.data, subject.attr
    return None, ""
