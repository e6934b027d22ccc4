"""Calls of functions mapped by `vmap`: looked up when the run is over are what is mapped over and what becomes of
the stack of results."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.flow.device_memory.stack_use import StackUses
from jaxlint.flow.device_memory.variants import (
    MODELS,
    Sources,
    calls_model,
    captures_arrays,
    makes_arrays,
    takes_scalars,
    variants_of,
    writes_to_captured,
)
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import WideMap
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.index.walking import nodes_of, own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name

_LOOPS = frozenset({"scan", "map", "fori_loop", "while_loop"})


class PendingMap(PendingFact):
    """A call of a mapped function."""

    __slots__ = ("axes", "call", "closure", "frame", "proof")

    def __init__(self, frame: Frame, call: Call, closure: Closure | None, axes: list[Any] | None) -> None:
        self.frame = frame
        self.call = call
        self.closure = closure  # None where the function is not in view
        self.axes = axes
        self.proof = frame.proof()

    def fact(self) -> WideMap | None:
        frame, node, closure = self.frame, self.call.node, self.closure
        assert isinstance(node, ast.Call)
        sources = Sources(frame)
        function = closure.function if closure is not None else None
        copies = closure is not None and self._copies(sources, closure, node)
        finder = StackUses(frame, node, "vmap.map")
        stack, uses = finder.find()
        if stack != "reduced" and not copies:
            return None
        if not copies and self._is_of_chunk(node, uses):
            return None
        variants, number = self._variants(sources, node)
        makes = function is not None and makes_arrays(sources, function, number)
        if variants == "parameter" and not (makes and finder.along and takes_scalars(function)):
            return None
        runs_model = (closure is not None and closure.applied is not None) or (
            calls_model(function) if function is not None else _maps_model(node)
        )
        heavy = copies or makes or runs_model
        if not variants or not (heavy or (self._captures(node) and variants != "indices")):
            return None  # an index alone picks a piece of what is there
        return WideMap(
            frame.place(node),
            frame.symbol,
            self.proof,
            variants=variants,
            number=number,
            reducer=finder.reducer if stack == "reduced" else "",
            uses=tuple(frame.place(use) for use in uses[:3]) if stack == "reduced" else (),
            function=function.qualname if function is not None and not function.is_lambda else "",
            makes_arrays=makes,
            calls_model=runs_model,
            copies=copies,
        )

    def _copies(self, sources: Sources, closure: Closure, node: ast.Call) -> bool:
        """Whether each variant writes into a copy of its own of an array that all share."""
        params, first = closure.function.params, closure.offset + len(closure.bound)
        unmapped = (p for p in range(len(node.args)) if self._is_unmapped(p) and first + p < len(params))
        shared = {params[first + position]: node.args[position] for position in unmapped}
        mapped = node.func.args[0] if isinstance(node.func, ast.Call) and node.func.args else node.func
        if isinstance(mapped, ast.Name):
            mapped = next(reversed(sources.bound(mapped.id)), mapped)
        if isinstance(mapped, ast.Call) and last_name(mapped.func) == "partial":
            shared |= dict(zip(params[closure.offset : first], mapped.args[1:], strict=False))
            shared |= {keyword.arg: keyword.value for keyword in mapped.keywords if keyword.arg}
        return writes_to_captured(
            sources, closure.function, set(params[closure.offset :]) - set(shared), shared
        )

    def _is_of_chunk(self, node: ast.Call, uses: list[ast.AST]) -> bool:
        """Whether it runs in a loop over chunks: maps over what a scan hands its body, or adds each chunk's sum to
        the carry."""
        function = self.frame.function
        if function is None or not _is_looped(function):
            return False
        given = set(function.params)
        mapped = {n.id for argument in node.args for n in walk(argument) if isinstance(n, ast.Name)}
        return bool(mapped & given) or all(_is_added(use, function) for use in uses)

    def _variants(self, sources: Sources, node: ast.Call) -> tuple[str, int | None]:
        """What the mapped arguments are together, "" where one of them is data."""
        variants, count, given = "", None, False
        for position, argument in enumerate(node.args):
            if self._is_unmapped(position):
                continue
            found, number = variants_of(sources, argument, 3)
            if found == "data":
                return "", None
            given |= found == "parameter"
            variants = found if found != "parameter" or not variants else variants
            count = number if number is not None else count
        if given and variants == "keys":
            return "", None  # a key for each member of a batch
        return variants, count

    def _captures(self, node: ast.Call) -> bool:
        """Whether every variant works on one input."""
        if any(self._is_unmapped(position) for position in range(len(node.args))):
            return True
        closure = self.closure
        return closure is not None and bool(
            closure.bound or closure.receiver or captures_arrays(closure.function)
        )

    def _is_unmapped(self, position: int) -> bool:
        at = position + (self.closure.offset if self.closure is not None else 0)
        return self.axes is not None and at < len(self.axes) and self.axes[at] is None


def _is_looped(function: Function) -> bool:
    """Whether the function around hands it to a scan, a map or a loop of jax as the body."""
    around = function.parent.node if function.parent is not None else function.module.tree
    return any(
        last_name(call.func) in _LOOPS
        and any(
            argument is function.node or (isinstance(argument, ast.Name) and argument.id == function.name)
            for argument in (*call.args, *(k.value for k in call.keywords))
        )
        for call in nodes_of(around, ast.Call)
    )


def _is_added(use: ast.AST, function: Function) -> bool:
    """`total + jnp.sum(results, 0)`, `total += …`: onto what the round before has left."""
    sums = (n for n in own_nodes(function.node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add))
    onto = (n for n in own_nodes(function.node) if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add))
    return any(use in (n.left, n.right) for n in sums) or any(use is n.value for n in onto)


def note_map(frame: Frame, closure: Closure, call: Call) -> None:
    """`vmap(f)(…)` is called."""
    node = call.node
    if frame.quiet or call.decorator or closure.axes_unknown or not isinstance(node, ast.Call):
        return
    if closure.transforms and closure.transforms[-1][1] == "vmap" and node.args:
        frame.log.append(PendingMap(frame, call, closure, closure.in_axes))


def is_mapped(callee: Value) -> bool:
    """`vmap(f)` of a function that is not in view."""
    return callee.origin is not None and callee.origin.extra == "vmap"


def note_unknown_map(frame: Frame, callee: Value, call: Call) -> None:
    """`vmap(model, in_axes=(None, 0))(x, keys)` of a model that is not in view."""
    made = callee.origin.node if callee.origin is not None and is_mapped(callee) else None
    if frame.quiet or call.decorator or not isinstance(call.node, ast.Call) or not isinstance(made, ast.Call):
        return
    given = [*made.args[1:2], *(k.value for k in made.keywords if k.arg == "in_axes")]
    if given and isinstance(given[0], (ast.Tuple, ast.List)):
        axes = [a.value if isinstance(a, ast.Constant) else 0 for a in given[0].elts]
        frame.log.append(PendingMap(frame, call, None, axes))


def _maps_model(node: ast.Call) -> bool:
    """`vmap(model, …)(…)`, by the name of what is mapped."""
    mapped = node.func.args[:1] if isinstance(node.func, ast.Call) else []
    return any(bool(MODELS.search((dotted_name(m) or "").rpartition(".")[2].lower())) for m in mapped)
