"""Reads of memory counters that never fall: which arms of a comparison they are meant to tell apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from jaxlint.flow.facts import PeakRead
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.values import CONSTANT, UNKNOWN_VALUE, Value
from jaxlint.flow.walking import children, walk

COUNTERS = frozenset({"peak_bytes_in_use", "peak_pool_bytes", "allocated_bytes.all.peak"})
_PROCESSES = re.compile(r"subprocess|multiprocessing|Process$|ProcessPool|spawn|Popen|mp$")
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_STEPS = re.compile(r"loader|batch$|batches|steps?$|epochs?|dataset|iterator|stream", re.IGNORECASE)
_DEVICES = re.compile(r"devices?$|gpus?$", re.IGNORECASE)


class PendingPeak(PendingFact):
    """A read of a high-water mark; what is around it is looked at when the run is over."""

    __slots__ = ("counter", "frame", "loops", "node", "proof")

    def __init__(self, frame: Frame, node: ast.AST, counter: str) -> None:
        self.frame = frame
        self.node = node
        self.counter = counter
        self.loops: list[Any] = [loop.node for loop in frame.loops] + list(frame.comprehensions)
        self.proof = frame.proof()

    def fact(self) -> PeakRead:
        tree = self.frame.module.tree
        words = {_word(node) for node in walk(tree)}
        own = [kind for loop in self.loops if (kind := kind_of_loop(loop))]
        callers = [] if own else self._callers(tree, 2)
        own = own or [kind for _, loop in callers if loop is not None and (kind := kind_of_loop(loop))]
        return PeakRead(
            self.frame.place(self.node),
            self.frame.symbol,
            self.proof,
            counter=self.counter,
            over=own[-1] if own else "arms" if self._is_parametrised() else "",
            callers=tuple(self.frame.module.place(call) for call, _ in callers),
            reset=any(word.startswith("reset_") and "peak" in word for word in words),
            own_process=any(_PROCESSES.search(word) for word in words),
        )

    def _callers(self, tree: ast.AST, depth: int, name: str = "") -> list[tuple[ast.Call, ast.AST | None]]:
        """The calls in the module of the function that reads, each with the loop around it."""
        function = self.frame.function
        name = name or (function.name if function is not None else "")
        direct = list(_calls(tree, name)) if name else []
        if len(direct) == 1 and direct[0][1] is None and direct[0][2] not in ("", name) and depth:
            return self._callers(tree, depth - 1, direct[0][2]) or [direct[0][:2]]
        return [(call, loop) for call, loop, _ in direct]

    def _is_parametrised(self) -> bool:
        function = self.frame.function
        decorators = getattr(function.node, "decorator_list", []) if function is not None else []
        return any("parametrize" in ast.dump(decorator) for decorator in decorators)


def _calls(
    node: ast.AST, name: str, loop: ast.AST | None = None, owner: str = ""
) -> Iterator[tuple[ast.Call, ast.AST | None, str]]:
    """(call, innermost loop in its function, that function's name) of the calls of a name."""
    for child in children(node):
        inner, home = loop, owner
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner, home = None, child.name
        elif isinstance(child, _LOOPS):
            inner = child
        if isinstance(child, ast.Call) and _word(child.func) == name:
            yield child, inner, home
        yield from _calls(child, name, inner, home)


def note_counter(frame: Frame, node: ast.AST, key: Value) -> None:
    """`stats["peak_bytes_in_use"]` and `stats.get("peak_bytes_in_use")`."""
    if key.kind == CONSTANT and key.data.__class__ is str and key.data in COUNTERS and not frame.quiet:
        frame.log.append(PendingPeak(frame, node, key.data))


@api_call("peak")
def peak(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`torch.cuda.max_memory_allocated()`."""
    if not frame.quiet:
        frame.log.append(PendingPeak(frame, call.node, last))
    return UNKNOWN_VALUE


def kind_of_loop(loop: ast.AST) -> str:
    """What a loop goes through: "arms" of a comparison, "steps", "devices", or "" when it cannot be told."""
    if isinstance(loop, ast.While):
        return "steps"
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        source, target = loop.iter, loop.target
    elif isinstance(loop, (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
        source, target = loop.generators[0].iter, loop.generators[0].target
    else:
        return ""
    words = {_word(node) for part in (source, target) for node in walk(part)} - {""}
    if any(_DEVICES.search(word) for word in words):
        return "devices"
    if any(_STEPS.search(word) for word in words) and not isinstance(source, (ast.Tuple, ast.List)):
        sizes = any(word.lower().rstrip("s").endswith("size") for word in words)
        return "arms" if sizes else "steps"
    call = source if isinstance(source, ast.Call) else None
    if call is not None and _word(call.func) in ("range", "trange", "count"):
        return "arms" if len(call.args) > 1 else "steps"
    return "arms"


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias):
        return node.name
    return node.id if isinstance(node, ast.Name) else ""
