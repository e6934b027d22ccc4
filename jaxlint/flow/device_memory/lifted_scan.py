"""Flax's `nn.scan` over the layers of a network: a class, or a function of a module, is applied once for each
layer, whose parameters are stacked along a new axis."""

from __future__ import annotations

import ast

from jaxlint.finding import Place
from jaxlint.flow.device_memory.remat import speaks_of_saving, under_gradient
from jaxlint.flow.domain.closures import Closure, PartialApi
from jaxlint.flow.domain.kinds import CLASS, CONSTANT, FUNCTION, PARTIAL, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import Scan
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.index.walking import nodes_of


@api_call("lifted_scan")
def lifted_scan(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`nn.scan(Block, variable_axes={"params": 0}, …)`: what it returns is made of a class that Flax writes."""
    target = call.argument(0, "target")
    if target is None:
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    if not frame.quiet and target.kind in (CLASS, FUNCTION) and _stacks_parameters(call):
        frame.log.append(PendingLiftedScan(frame, dotted, call, target))
    return UNKNOWN_VALUE


def _stacks_parameters(call: Call) -> bool:
    """Each round has parameters of its own: a recurrence over time has one set for all (`variable_broadcast`)."""
    axes = call.argument(1, "variable_axes")
    if axes is None or axes.kind != TREE or axes.data.__class__ is not dict:
        return False
    axis = axes.data.get("params")
    return axis is not None and axis.kind == CONSTANT and type(axis.data) is int


class PendingLiftedScan:
    """A scan over layers seen; whether it is differentiated is known when the run is over."""

    __slots__ = ("api", "frame", "length", "place", "proof", "symbol", "target")

    def __init__(self, frame: Frame, api: str, call: Call, target: Value) -> None:
        self.frame = frame
        self.api = api
        self.target = target
        self.place = frame.place(call.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        length = call.argument(7, "length")
        known = length is not None and length.kind == CONSTANT and type(length.data) is int
        self.length: int | None = length.data if known and length is not None else None

    def fact(self) -> Scan:
        return Scan(
            self.place,
            self.symbol,
            self.proof,
            api=self.api,
            stack="kept",
            length=self.length,
            body=self._body_place(),
            of_blocks=True,
            differentiated=_is_differentiated(self.frame),
            checkpointed=any(map(speaks_of_saving, self._scopes())),
        )

    def _body_place(self) -> Place:
        if self.target.kind == CLASS:
            place: Place = self.target.data.module.header(self.target.data.node)
            return place
        closure: Closure = self.target.data
        node = closure.function.node
        module = closure.function.module
        return module.place(node) if isinstance(node, ast.Lambda) else module.header(node)

    def _scopes(self) -> list[ast.AST]:
        """The network's class, or the function that scans, and what is scanned."""
        block = self.target.data.node if self.target.kind == CLASS else self.target.data.function.node
        frame = self.frame
        around: ast.AST | None = frame.cls.node if frame.cls is not None else None
        if around is None:
            around = frame.function.node if frame.function is not None else None
        return [scope for scope in (block, around) if scope is not None]


def _is_differentiated(frame: Frame) -> bool:
    """The function that scans runs under a gradient; or, of what `setup` makes, the module's methods do; or the
    differentiated function runs a model by `state.apply_fn`, which may be any."""
    reached = under_gradient(frame.run)
    if frame.evaluation in reached:
        return True
    functions = [evaluation.function for evaluation in reached if evaluation.function is not None]
    if frame.cls is not None and any(function.cls is frame.cls for function in functions):
        return True
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "apply_fn"
        for function in functions
        for call in nodes_of(function.node, ast.Call)
    )
