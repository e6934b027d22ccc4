"""Shapes along the calls of a run: what a parameter was passed, what a call of whatever object entered, and numbers
as the analysis knows them there (`self.cfg.rows`)."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import Program
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.callees import Scope
from jaxlint.flow.shapes.shape_values import Array, Known, Number, member
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.flow.syntax.entries import entered_by, returned_by, spread_for
from jaxlint.flow.syntax.ways import bound_in, parameters_of

_SEEN = (ast.Name, ast.Attribute, ast.Subscript)


def rows(frame: Frame, node: ast.expr, axes: int = 1) -> int | None:
    """The first size of an array of no fewer axes, where it is known."""
    known = RunShapes(frame.run.program).at(frame, node)
    return known.shape[0] if isinstance(known, Array) and len(known.shape) >= max(axes, 1) else None


class RunShapes(ArrayShapes):
    """Evaluates expressions of functions that have been run."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._frames: dict[ast.AST, Frame] = {}  # the functions that are looked at, as they were run

    def at(self, frame: Frame, node: ast.expr) -> Known:
        """What an expression gives in a function that has been run."""
        scope = self._scope(frame)
        outer = self._frames.get(scope.node)
        self._frames[scope.node] = frame
        try:
            return self.of(node, scope)
        finally:
            if outer is None:
                del self._frames[scope.node]
            else:
                self._frames[scope.node] = outer

    def _scope(self, frame: Frame) -> Scope:
        scope = scope_of(frame)
        return Scope(frame.module, scope, dict.fromkeys(parameters_of(scope)))

    def _expression(self, node: ast.expr, scope: Scope) -> Known:
        known = super()._expression(node, scope)
        frame = self._frames.get(scope.node)
        if frame is None or not isinstance(node, _SEEN) or (known is not None and known != Number(None)):
            return known
        if isinstance(node, ast.Name) and len(bound_in(scope.node).get(node.id) or ()) > 1:
            return known  # it is another one by the end of the function
        value = look(frame, node)
        return Number(value.data) if value.kind == CONSTANT and type(value.data) is int else known

    def _named(self, name: str, scope: Scope) -> Known:
        frame = self._frames.get(scope.node)
        if frame is None or bound_in(scope.node).get(name):
            return super()._named(name, scope)
        if name in scope.given:
            return self._passed(name, frame)
        around = frame.outer.home.frame if frame.outer is not None and frame.outer.home is not None else None
        if around is not None and around.function is not None:
            return self.at(around, ast.copy_location(ast.Name(name, ast.Load()), frame.function.node))  # type: ignore[union-attr]  # what is in a function is one
        return super()._named(name, scope)

    def _passed(self, name: str, frame: Frame) -> Known:
        """What all calls pass for a parameter."""
        found = []
        for caller, node, position in spread_for(frame, name):
            known = self.at(caller, node)
            found.append(known if position is None else member(known, position))
        return found[0] if found and all(known == found[0] for known in found) else None

    def _called(self, node: ast.Call, scope: Scope) -> Known:
        frame = self._frames.get(scope.node)
        inside = entered_by(frame, node) if frame is not None else []
        if not inside:
            return super()._called(node, scope)
        found = [self.at(at, value) for at in inside for value in returned_by(at)]
        return found[0] if found and all(known == found[0] for known in found) else None
