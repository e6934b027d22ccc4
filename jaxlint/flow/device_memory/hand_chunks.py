"""Chunks made by hand, `lax.map(vmap(f), xs.reshape(n_chunks, -1, d))`: where there is one, it is one wide vmap."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.mapped_lengths import Lengths
from jaxlint.flow.device_memory.variants import Sources
from jaxlint.flow.facts import Chunked
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.shapes.run_shapes import RunShapes
from jaxlint.flow.shapes.shape_values import Array
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name

_VMAPS = frozenset({"vmap", "filter_vmap"})


class PendingParts(PendingFact):
    """A `lax.map` of a `vmap`."""

    __slots__ = ("call", "frame", "node", "proof")

    def __init__(self, frame: Frame, call: Call, node: ast.Call) -> None:
        self.frame = frame
        self.call = call
        self.node = node
        self.proof = frame.proof()

    def fact(self) -> Chunked | None:
        sources = Sources(self.frame)
        body, parts = (
            _bound(sources, self.call.argument_node(position, word))
            for position, word in ((0, "f"), (1, "xs"))
        )
        cut = _first_size(parts)
        if body is None or parts is None or cut is None or not _is_vmapped(body):
            return None
        lengths = Lengths(self.frame, sources)
        absent = lengths.default_node(cut)
        by_default = (
            isinstance(cut, ast.Name) and sources.number(absent) == 1 and not lengths.is_passed(cut.id)
        )
        made = RunShapes(self.frame.run.program).at(self.frame, parts)
        length = made.shape[1] if isinstance(made, Array) and len(made.shape) > 1 else None
        alone = isinstance(made, Array) and length is not None and made.shape[0] == 1
        if not by_default and (not alone or isinstance(cut, ast.Constant)):
            return None  # an axis of one that is asked for is no chunk
        return Chunked(
            self.frame.place(self.node),
            self.frame.symbol,
            self.proof,
            why="default" if by_default else "part",
            chunk=length,
            length=length,
            parameter=ast.unparse(cut) if by_default else "",
        )


def _bound(sources: Sources, node: ast.expr | None) -> ast.expr | None:
    """What a name is bound to, where that is one expression."""
    bound = sources.bound(node.id) if isinstance(node, ast.Name) else []
    return bound[0] if len(bound) == 1 else node


def _first_size(parts: ast.expr | None) -> ast.expr | None:
    """`n` of `x.reshape(n, -1, 3)`, `x.reshape((n, -1) + x.shape[1:])`, `jnp.reshape(x, (n, -1, 3))`."""
    if not isinstance(parts, ast.Call) or last_name(parts.func) != "reshape" or not parts.args:
        return None
    first = parts.args[0]
    if len(parts.args) == 2 and isinstance(parts.args[1], (ast.Tuple, ast.List, ast.BinOp)):
        first = parts.args[1]
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
        first = first.left
    if isinstance(first, (ast.Tuple, ast.List)):
        return first.elts[0] if len(first.elts) > 1 else None
    return first if len(parts.args) > 1 else None


def _is_vmapped(body: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and last_name(n.func) in _VMAPS for n in walk(body))


def note_parts(frame: Frame, call: Call) -> None:
    """`lax.map(vmap(f), parts)`, without a batch size."""
    if not frame.quiet and "batch_size" not in call.keywords and isinstance(call.node, ast.Call):
        frame.log.append(PendingParts(frame, call, call.node))
