"""Reads of memory counters that never fall: which arms of a comparison they are meant to tell apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import PeakRead
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import REPEATING, children, nodes_of, walk
from jaxlint.pattern import pattern

COUNTERS = frozenset({"peak_bytes_in_use", "peak_pool_bytes", "allocated_bytes.all.peak"})
_PROCESSES = pattern(r"subprocess|multiprocessing|Process$|ProcessPool|spawn|Popen|(^|_)mp$")
_SIZING = (ast.Mult, ast.FloorDiv, ast.LShift, ast.RShift)
_IMPLIED = frozenset(
    {"__init__", "__enter__", "__exit__", "__call__"}
)  # called through their class or object
_STEPS = pattern(r"loader|batch$|batches|steps?$|epochs?|dataset|iterator|stream", re.IGNORECASE)
_DEVICES = pattern(r"devices?$|gpus?$", re.IGNORECASE)


class PendingPeak(PendingFact):
    """A read of a high-water mark; what is around it is looked at when the run is over."""

    __slots__ = ("counter", "frame", "loops", "node", "proof")

    def __init__(self, frame: Frame, node: ast.AST, counter: str) -> None:
        self.frame = frame
        self.node = node
        self.counter = counter
        self.loops: list[Any] = [loop.node for loop in frame.loops] + list(frame.comprehensions)
        self.loops += _mapping(frame)
        self.proof = frame.proof()

    def fact(self) -> PeakRead:
        modules = self._modules()
        words = {_word(node) for module in modules for node in walk(module.tree)}
        kinds = (kind_of_loop(loop, self.frame.module.tree) for loop in self.loops)
        own = [kind for kind in kinds if kind not in ("", "devices")]  # one arm may run on several devices
        name = self._name()
        callers = [] if own else _calls_of(modules[0], name, 2)
        for module in modules[1:] if not own else ():
            if not _defines(module.tree, name):  # what is called there would be its own
                callers += _calls_of(module, name, 2)
        own = own or [kind for c in callers if c.loop is not None and (kind := c.kind())]
        return PeakRead(
            self.frame.place(self.node),
            self.frame.symbol,
            self.proof,
            counter=self.counter,
            over=own[-1] if own else "arms" if self._is_parametrised() else "",
            callers=tuple(c.module.place(c.node) for c in callers),
            reset=any(word.startswith("reset_") and "peak" in word for word in words),
            own_process=any(_PROCESSES.search(word) for word in words),
        )

    def _modules(self) -> list[LoadedModule]:
        """The reader's module, and the one whose program it is part of."""
        top = self.frame.run.top
        own = self.frame.module
        return [own] if top is None or top.module is own else [own, top.module]

    def _name(self) -> str:
        """By which the reader is called: a class where it is one of the methods that run by themselves."""
        function = self.frame.function
        while function is not None and function.is_lambda:
            function = function.parent
        if function is None:
            return ""
        return function.cls.name if function.cls is not None and function.name in _IMPLIED else function.name

    def _is_parametrised(self) -> bool:
        function = self.frame.function
        decorators = getattr(function.node, "decorator_list", []) if function is not None else []
        return any("parametrize" in ast.dump(decorator) for decorator in decorators)


def _mapping(frame: Frame) -> list[ast.AST]:
    """The `map(lambda device: …, devices)` that a lambda is written for."""
    function = frame.function
    if function is None or not function.is_lambda:
        return []
    calls = nodes_of(frame.module.tree, ast.Call)
    return [call for call in calls if _is_map(call) and call.args[0] is function.node]


def _is_map(call: ast.Call) -> bool:
    return _word(call.func) == "map" and len(call.args) > 1


def _maps(call: ast.Call, name: str) -> bool:
    return _is_map(call) and _word(call.args[0]) == name


def _defines(tree: ast.Module, name: str) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, definitions) and node.name == name for node in tree.body)


class _Owner(NamedTuple):
    """The name of a function, or of the class of a method that runs by itself."""

    name: str = ""
    is_class: bool = False


class _Caller(NamedTuple):
    """A call, the innermost loop around it in its function, and by what that function is called."""

    module: LoadedModule
    node: ast.Call
    loop: ast.AST | None
    owner: _Owner

    def kind(self) -> str:
        return kind_of_loop(self.loop, self.module.tree) if self.loop is not None else ""


def _calls_of(module: LoadedModule, name: str, depth: int) -> list[_Caller]:
    """The calls of a function in a module, or of the only function or class there that calls it."""
    direct = list(_calls(module, module.tree, name)) if name else []
    owner = direct[0].owner if direct else _Owner()
    if owner.name in ("", name) or not depth or any(c.loop is not None or c.owner != owner for c in direct):
        return direct
    if owner.is_class:  # before and after: an object of it measures once
        return _calls_of(module, owner.name, depth - 1)
    return (_calls_of(module, owner.name, depth - 1) or direct) if len(direct) == 1 else direct


def _calls(
    module: LoadedModule,
    node: ast.AST,
    name: str,
    loop: ast.AST | None = None,
    owner: _Owner = _Owner(),  # noqa: B008  # of no function: a tuple that nobody changes
) -> Iterator[_Caller]:
    for child in children(node):
        inner, home = loop, owner
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner, home = None, _Owner(child.name)
            if isinstance(node, ast.ClassDef) and child.name in _IMPLIED:
                home = _Owner(node.name, is_class=True)
        elif isinstance(child, REPEATING) and kind_of_loop(child, module.tree) != "devices":
            inner = child
        if isinstance(child, ast.Call) and _word(child.func) == name:
            yield _Caller(module, child, inner, home)
        elif isinstance(child, ast.Call) and _maps(child, name):
            over_devices = kind_of_loop(child, module.tree) == "devices"
            yield _Caller(module, child, inner if over_devices else child, home)
        yield from _calls(module, child, name, inner, home)


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


def kind_of_loop(loop: ast.AST, tree: ast.AST) -> str:
    """What a loop goes through: "arms" of a comparison, "steps", "devices", or "" when it cannot be told."""
    if isinstance(loop, ast.While):
        return "arms" if _searches(loop) else "steps"
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        source, target = loop.iter, loop.target
    elif isinstance(loop, (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
        source, target = loop.generators[0].iter, loop.generators[0].target
    elif isinstance(loop, ast.Call):  # `map(measure, widths)`
        source = target = loop.args[1]
    else:
        return ""
    words = {_word(node) for part in (source, target) for node in walk(part)} - {""}
    if any(_DEVICES.search(word) for word in words):
        return "devices"
    if any(_STEPS.search(word) for word in words) and not _is_display(source, tree):
        sizes = any(word.lower().rstrip("s").endswith("size") for word in words)
        return "arms" if sizes else "steps"
    call = source if isinstance(source, ast.Call) else None
    if call is not None and _word(call.func) in ("range", "trange", "count"):
        return "arms" if len(call.args) > 1 else "steps"
    return "arms"


def _is_display(source: ast.expr, tree: ast.AST) -> bool:
    """A tuple or list that is written down, under a name of the module perhaps: `BATCHES = [256, 64, 16]`."""
    bound = Bindings(tree).of(source.id) if isinstance(source, ast.Name) else [source]
    return len(bound) == 1 and isinstance(bound[0], (ast.Tuple, ast.List))


def _searches(loop: ast.While) -> bool:
    """`size *= 2`, `middle = (low + high) // 2`: each round tries another size, which it hands to a call."""
    sizes: set[str] = set()
    for node in walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.op, _SIZING) and _is_whole(node.value):
                sizes.add(node.target.id)
        elif isinstance(node, ast.Assign) and _halves(node.value):
            sizes |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    calls = (node for node in walk(loop) if isinstance(node, ast.Call))
    return any(isinstance(a, ast.Name) and a.id in sizes for call in calls for a in call.args)


def _halves(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, _SIZING) and _is_whole(node.right)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias):
        return node.name
    return node.id if isinstance(node, ast.Name) else ""
