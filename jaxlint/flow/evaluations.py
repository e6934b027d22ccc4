"""Evaluations: one function body evaluated for one kind of arguments at one trace level; and the calls that
entered them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.values import (
    UNKNOWN_VALUE,
    Value,
)
from jaxlint.flow.program import LoadedModule
from jaxlint.index.once import is_remembered

if TYPE_CHECKING:
    from jaxlint.flow.config.configuration import DeviceUse
    from jaxlint.flow.frame import Frame


class Evaluation:
    """One function body evaluated for one kind of arguments at one trace level."""

    __slots__ = (
        "active", "device", "donates", "entries", "frame", "function", "level", "log",
        "module", "reads", "result", "scope", "tells",
        "traced_by",
    )  # fmt: skip

    def __init__(self, module: LoadedModule, function: Function | None, level: int) -> None:
        self.module = module
        self.function = function
        self.level = level
        self.result: Value = UNKNOWN_VALUE
        self.log: list[Any] = []
        self.reads: dict[Any, Read] = {}
        self.frame: Frame | None = None  # that of its body
        self.entries: list[
            tuple[Frame, ast.AST]
        ] = []  # the calls that entered it, and the frames they stand in
        self.active = False
        self.donates: dict[str, Any] = {}  # the parameters that it surely gives away, and to which boundary
        self.device: DeviceUse | None = None  # its first device work, see flow.configuration
        # What it was called with; kept alive, the scope's identity is part of the memo's key.
        self.scope: tuple[Any, Closure, dict[str, Value]] | None = None
        self.traced_by: Place | None = None  # the boundary or control flow whose trace it belongs to
        self.tells: int | None = None  # the kinds of events in its log and below, see flow.staleness


class Called(NamedTuple):
    """A log entry: a call that entered another evaluation."""

    node: ast.AST
    module: LoadedModule
    evaluation: Evaluation
    in_loop: bool
    sometimes: bool = False  # under a test
    declared: bool = False  # traced as a transform declares, before any call
    tests: tuple[ast.AST, ...] = ()  # those around it
    scope: ast.AST | None = None  # the function or module that calls
    loop: ast.AST | None = None  # the innermost one around it there

    @property
    def remembered(self) -> bool:
        """Whether what is made is kept, and asked for before: however often the caller runs, this does once."""
        return self.scope is not None and is_remembered(self.scope, self.node)


def with_all_called(roots: Iterable[Evaluation]) -> set[Evaluation]:
    """Evaluations, with those that they call, at any depth."""
    reached = set(roots)
    stack = list(reached)
    while stack:
        for item in stack.pop().log:
            if isinstance(item, Called) and item.evaluation not in reached:
                reached.add(item.evaluation)
                stack.append(item.evaluation)
    return reached


def entered_by(log: list[Any], node: ast.AST) -> Evaluation | None:
    """The evaluation that a call has just entered, if it did."""
    entry = log[-1] if log else None
    return entry.evaluation if isinstance(entry, Called) and entry.node is node else None
