"""What is put on the devices whole: a state copied to each of them, a data set that is then read slice by slice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.flow.config.configuration import device_use
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import DEVICE, HOST, TREE, UNKNOWN
from jaxlint.flow.domain.operand import dotted_name, last_name
from jaxlint.flow.domain.values import DEVICE_VALUE, Value, is_small
from jaxlint.flow.facts import DatasetTransfer, Replication
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import bindings_of, scope_of
from jaxlint.flow.syntax.walking import REPEATING, children, walk
from jaxlint.pattern import pattern

_DATA = pattern(
    r"(^|_)(x|y|xs|ys|train|test|data|dataset|images?|labels?|targets?|features|inputs|samples|corpus|tokens|"
    r"observations|frames|table|rows|records|events|sequences|texts)(_|$)",
    re.IGNORECASE,
)
_LOADERS = pattern(r"load|read_|fetch_|memmap|open_|fromfile|genfromtxt|to_numpy|values$")
_ITERATES = frozenset(
    {"__iter__", "__getitem__", "__next__", "next_batch", "get_batch", "sample", "sample_batch"}
)


@api_call("replicate")
def replicate(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`flax.jax_utils.replicate(state)`: a copy on each device."""
    if not frame.level:
        device_use(frame, call.node, dotted)
    if not frame.quiet and not frame.level:
        subject = call.argument_node(0, "tree", "x")
        name = dotted_name(subject) if subject is not None else None
        frame.record(
            Replication(frame.place(call.node), frame.symbol, frame.proof(), api=dotted, name=name or "")
        )
    given = call.argument(0, "tree", "x")
    if given is None or given.kind in (DEVICE, HOST):
        return DEVICE_VALUE
    return given


class PendingTransfer(PendingFact):
    """An array put on the device under a name; how it is read afterwards is looked at when the run is over."""

    __slots__ = ("_entered", "_in_loops", "frame", "node", "proof", "target")

    def __init__(self, frame: Frame, node: ast.Call, target: str) -> None:
        self.frame = frame
        self.node = node
        self.target = target
        self.proof = frame.proof()
        self._in_loops: set[str] = set()  # the names of what the module's loops call
        self._entered: set[tuple[Function, str]] = set()  # the parameters that it was followed to

    def fact(self) -> DatasetTransfer | None:
        frame = self.frame
        if not self._is_data():
            return None
        local = "." not in self.target and frame.function is not None
        tree: ast.AST = scope_of(frame) if local else frame.module.tree
        loops = (loop for loop in walk(frame.module.tree) if isinstance(loop, REPEATING))
        calls = (n for loop in loops for n in walk(loop) if isinstance(n, ast.Call))
        self._in_loops = {*_ITERATES, *(last_name(n.func) for n in calls)}
        read = next(self._slices(tree, self.target, looped=False, traced=False), None)
        if read is None:
            return None
        return DatasetTransfer(
            frame.place(self.node), frame.symbol, self.proof, name=self.target, read=frame.module.place(read)
        )

    def _is_data(self) -> bool:
        """By its name, or by the call that loaded it, it is a data set."""
        argument = self.node.args[0]
        if _DATA.search(self.target.rpartition(".")[2]):
            return True
        made = [
            argument,
            *(bindings_of(self.frame).of(argument.id) if isinstance(argument, ast.Name) else ()),
        ]
        called = (n.func for value in made for n in walk(value) if isinstance(n, ast.Call))
        return any(_LOADERS.search((dotted_name(f) or "").rpartition(".")[2]) for f in called)

    def _slices(self, node: ast.AST, target: str, looped: bool, traced: bool) -> Iterator[ast.Subscript]:
        """Reads of a part of it, another one each time, outside any trace, here or where it is passed to."""
        for child in children(node):
            inside, in_trace = looped, traced
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                function = self.frame.module.functions.get(child)
                in_trace = traced or function in self.frame.run.traced
                inside = not isinstance(child, ast.Lambda) and child.name in self._in_loops
            elif isinstance(child, REPEATING):
                inside = True
            if isinstance(child, ast.Subscript) and looped and not traced and _is_part(child, target):
                yield child
            if isinstance(child, ast.Call) and not traced and node is not self.node:
                yield from self._passed_on(child, target, inside)
            yield from self._slices(child, target, inside, in_trace)

    def _passed_on(self, call: ast.Call, target: str, looped: bool) -> Iterator[ast.Subscript]:
        """`batches(data, 32)` of a function of the module."""
        words = [k.arg for k in call.keywords if dotted_name(k.value) == target]
        at = [i for i, a in enumerate(call.args) if dotted_name(a) == target]
        if not (at or words) or not isinstance(call.func, ast.Name):
            return
        for function in list(self.frame.module.functions.values()):
            if function.name != call.func.id or function in self.frame.run.traced or function.is_method:
                continue
            names = [*(function.params[i] for i in at if i < len(function.params)), *words]
            for name in names:
                if name is not None and (function, name) not in self._entered:
                    self._entered.add((function, name))
                    yield from self._slices(function.node, name, looped, traced=False)


def _is_part(node: ast.Subscript, target: str) -> bool:
    """`data[i:j]`, `data["x"][rows]`: not `data[name]` of a dict."""
    whole = node.value
    while isinstance(whole, ast.Attribute) or (
        isinstance(whole, ast.Subscript) and isinstance(whole.slice, ast.Constant)
    ):
        if dotted_name(whole) == target:
            break
        whole = whole.value
    if not isinstance(node.ctx, ast.Load) or dotted_name(whole) != target:
        return False
    index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return any(isinstance(n, ast.Name) for n in walk(index))


def note_transfer(frame: Frame, call: Call) -> None:
    """`X = jnp.asarray(x)` and `self.X = jax.device_put(x)`, outside any trace and loop."""
    node, statement = call.node, frame.statement
    if frame.quiet or frame.level or frame.loop or not isinstance(node, ast.Call) or not node.args:
        return
    given = call.positional[0] if call.positional else None
    if given is None or given.kind not in (HOST, UNKNOWN, DEVICE, TREE) or is_small(given):
        return
    if isinstance(node.args[0], (ast.List, ast.Tuple, ast.Constant, ast.ListComp)):
        names = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else ()
        if not names or any(dotted_name(name) is None for name in names):
            return
    if not isinstance(statement, ast.Assign):
        return
    pairs = [(target, statement.value) for target in statement.targets]
    for target, value in pairs:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs += zip(target.elts, value.elts, strict=True)
        elif isinstance(target, ast.Tuple) and value is node:
            pairs += [(item, node) for item in target.elts]  # `x, y = device_put((x, y))`
        name = dotted_name(target)
        if value is node and name is not None:
            frame.log.append(PendingTransfer(frame, node, name))
