"""What a loop puts into a list or dict, round after round: judged when the run is over."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.bindings import Bindings, bindings_of, look, scope_of
from jaxlint.flow.facts import Append
from jaxlint.flow.frame import Call, Frame, evaluate
from jaxlint.flow.operand import dotted_name, operand
from jaxlint.flow.outputs import output_of
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.unrolled import rounds
from jaxlint.flow.values import (
    API,
    ARRAYS,
    CONCRETE,
    DEVICE,
    INSTANCE,
    SCALAR,
    TREE,
    UNKNOWN,
    Value,
    is_small,
    parts,
)
from jaxlint.flow.walking import own_nodes, walk

_ADDING = frozenset({"append", "appendleft", "extend", "insert", "add"})
_COPIES = frozenset({"asarray", "array", "device_get", "ascontiguousarray"})
_PACKING = frozenset({"packbits", "compress", "imencode"})
_DECODERS = re.compile(
    r"VideoCapture|VideoReader|get_reader|imiter|to_ndarray|read_frame|decode_frame|imread"
)
_VIDEO_LIBRARIES = frozenset({"cv2", "imageio", "av", "decord", "skvideo", "mediapy", "torchvision"})
_STREAMS = re.compile(r"stream|video|camera|frames?$|socket|capture|queue|reader|live|feed", re.IGNORECASE)
_LOADERS = re.compile(r"loader|batches|dataset|pipeline|iterator", re.IGNORECASE)
_EXPRESSIONS = (ast.Call, ast.Subscript, ast.BinOp)
_JOINING = frozenset({"concatenate", "stack", "vstack", "hstack", "concat", "array", "asarray", "block"})
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "flush"})
_WRAPPERS = frozenset(
    {"enumerate", "zip", "tqdm", "track", "iter", "islice", "alive_it", "prefetch_to_device"}
)


class PendingAppend(PendingFact):
    """A value put into a container that outlives the round."""

    __slots__ = ("around", "container", "copies", "frame", "loop", "node", "proof", "value", "value_node")

    def __init__(
        self, frame: Frame, node: ast.AST, container: str, value_node: ast.expr, value: Value, loop: Any
    ) -> None:
        self.frame = frame
        self.node = node
        self.container = container
        self.value_node = value_node
        self.value = value
        self.loop = loop
        self.around = [outer.node for outer in frame.loops]
        self.copies = _copies_of_device_arrays(frame, value_node, 2)
        self.proof = frame.proof()

    def fact(self) -> Append | None:
        frame = self.frame
        scope, bindings = scope_of(frame), bindings_of(frame)
        decoded = _has_decoder(frame) and _is_decoded(self.value_node, bindings, 3)
        output = output_of(frame, self.value_node, self.value)
        if output is not None:
            self.loop = self._loop_of(output.call)
        if output is not None and self._deals_out(output.call):
            output = None
        if self.value.kind in (UNKNOWN, INSTANCE) and not self.copies and not decoded and output is None:
            return None
        return Append(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            container=self.container,
            value=operand(frame, self.value_node, self.value),
            loop=frame.place(self.loop) if self.loop is not None else None,
            over=_kind_of_loop(frame, self.loop, bindings),
            emptied=_is_emptied(frame, self.container, self.loop, scope),
            sampled=_is_sampled(self.loop, self.node),
            host_copy=self.copies,
            decoded=decoded,
            output=output.what if output is not None else "",
            made_by=output.call if output is not None else None,
            rounds=self._rounds(),
            collected=isinstance(self.node, (ast.ListComp, ast.DictComp)),
            joined=_is_joined(self.container, scope),
        )

    def _loop_of(self, call: Place) -> Any:
        """The loop whose rounds make what is kept: a loop over one output's members only deals it out."""
        if self.loop not in self.around:
            return self.loop
        around = self.around[: self.around.index(self.loop) + 1]
        bodies = [
            (loop, self.frame.place(statement))
            for loop in reversed(around)
            for statement in getattr(loop, "body", ())
        ]
        return next((loop for loop, body in bodies if body.contains(call)), self.loop)

    def _deals_out(self, made_by: Place | None) -> bool:
        """`weights[f"layer_{i}"] = stacked[i]`: the entries of one array, made before the loop, get names. With
        nothing but counted loops around, they are the parts of one thing, as are the members of what a loop goes
        through: `[leaf for leaf in outputs]`."""
        loop = self.loop
        if made_by is None or loop is None:
            return False
        within = any(self.frame.place(part).contains(made_by) for part in _repeated(loop))
        if not within and _first_name(self.value_node) in _targets(loop):
            return True
        counted = isinstance(self.value_node, ast.Subscript) and all(_is_counted(o) for o in self.around)
        return counted and not self.frame.place(loop).contains(made_by)

    def _rounds(self) -> int | None:
        """How many times the loop goes round, where that is in view."""
        loop = self.loop
        if not isinstance(loop, (ast.For, ast.ListComp, ast.DictComp)):
            return None
        source = loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter
        found = rounds(self.frame, look(self.frame, source))
        return found.number if found is not None else None


def note_append(frame: Frame, name: str, call: Call) -> None:
    """`kept.append(value)` and its like, where the value may be an array."""
    node = call.node
    if (
        name not in _ADDING
        or frame.quiet
        or frame.level
        or not call.positional
        or not isinstance(node, ast.Call)
    ):
        return
    if isinstance(node.func, ast.Attribute) and len(node.args) == len(call.positional):
        _note(frame, node, node.func.value, node.args[-1], call.positional[-1])


def note_extension(frame: Frame, node: ast.AugAssign) -> None:
    """`kept += [value]`."""
    added = node.value
    if not frame.quiet and isinstance(node.op, ast.Add) and isinstance(added, ast.List) and added.elts:
        _note(frame, node, node.target, added.elts[-1], evaluate(frame, added.elts[-1]))


def note_entry(frame: Frame, node: ast.Subscript, value: Value) -> None:
    """`kept[step] = value`, a new entry each round."""
    source = getattr(frame.statement, "value", None)
    if frame.loops and isinstance(source, ast.expr):
        _note(frame, node, node.value, source, value)


def note_collected(frame: Frame, node: ast.ListComp | ast.DictComp, value: Value) -> None:
    """`[np.asarray(step(x)) for x in stream]`."""
    if frame.quiet or frame.level or not _may_hold(value):
        return
    container = frame.targets[0] if len(frame.targets) == 1 else ""
    element = node.value if isinstance(node, ast.DictComp) else node.elt
    frame.log.append(PendingAppend(frame, node, container, element, value, node))


def _note(frame: Frame, node: ast.AST, container: ast.expr, value_node: ast.expr, value: Value) -> None:
    while isinstance(container, ast.Subscript):
        container = container.value  # `history["frames"].append(…)`
    if isinstance(container, ast.Call) and _last_name(container.func) == "setdefault":
        container = container.func.value  # type: ignore[attr-defined]  # `history.setdefault(name, []).append(…)`
    name = dotted_name(container)
    if name is None or not _may_hold(value):
        return
    if frame.loops or "." in name or name not in frame.names or name in frame.globals:
        loop = _growing_loop(frame, name)
        if loop is None and frame.loops:
            return  # made anew in each round
        frame.log.append(PendingAppend(frame, node, name, value_node, value, loop))


def _may_hold(value: Value) -> bool:
    if value.kind in CONCRETE:
        return value.kind == DEVICE or not is_small(value) or value.size != 1
    if value.kind == TREE:
        return any(_may_hold(member) for member in parts(value))
    if value.kind == INSTANCE and value.data.cls.is_pytree_value:
        return any(part.kind in ARRAYS for part in parts(value))
    return value.kind == UNKNOWN


def _repeated(loop: Any) -> list[ast.AST]:
    """What a loop does in each round."""
    if isinstance(loop, ast.DictComp):
        return [loop.key, loop.value]
    return [loop.elt] if isinstance(loop, ast.ListComp) else list(getattr(loop, "body", ()))


def _targets(loop: Any) -> set[str]:
    """The names that a loop binds anew in each round."""
    targets = [g.target for g in getattr(loop, "generators", ())] or [getattr(loop, "target", None)]
    return {n.id for target in targets if target is not None for n in walk(target) if isinstance(n, ast.Name)}


def _first_name(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_counted(loop: ast.AST) -> bool:
    """`for i in range(…)`."""
    return (
        isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and _last_name(loop.iter.func) == "range"
    )


def _growing_loop(frame: Frame, name: str) -> ast.AST | None:
    """The innermost loop that does not begin with an empty container."""
    for loop in reversed(frame.loops):
        binds = (n for n in own_nodes(loop.node) if isinstance(n, (ast.Assign, ast.AnnAssign)))
        targets = [t for n in binds for t in (n.targets if isinstance(n, ast.Assign) else [n.target])]
        if not any(dotted_name(t) == name for t in targets):
            return loop.node
    return None


def _copies_of_device_arrays(frame: Frame, node: ast.expr, depth: int) -> bool:
    """Whether the expression copies an array from the device, which is not proven to be a number.

    What is kept packed is what the rule advises: it is no copy.
    """
    if isinstance(node, ast.Call) and _last_name(node.func) in _PACKING:
        return False
    for part in walk(node):
        if isinstance(part, ast.Call) and part.args and _last_name(part.func) in _COPIES:
            if _on_device(frame, part.args[0], 2):
                return True
        elif (
            isinstance(part, ast.Call) and _last_name(part.func) in ("map", "tree_map") and len(part.args) > 1
        ):
            if _last_name(part.args[0]) in _COPIES and _on_device(frame, part.args[1], 2):
                return True
        elif isinstance(part, ast.Name) and depth:
            made = (v for v in bindings_of(frame).of(part.id)[-1:] if isinstance(v, _EXPRESSIONS))
            if any(_copies_of_device_arrays(frame, value, 0) for value in made):
                return True
    return False


def _on_device(frame: Frame, node: ast.expr, depth: int) -> bool:
    """An array on the device, or what a boundary returned or was made of that, not proven a number."""
    value = look(frame, node)
    if value.kind not in (UNKNOWN, SCALAR):
        return _holds_device(value)
    output = output_of(frame, node, value)
    if output is not None:
        return output.what != "number"
    made: list[ast.expr] = []
    if isinstance(node, ast.Name) and depth:
        made = [v for v in bindings_of(frame).of(node.id)[-1:] if isinstance(v, (ast.BinOp, ast.Compare))]
    elif isinstance(node, ast.BinOp):
        made = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        made = [node.left]
    return any(_on_device(frame, part, depth - 1) for part in made) if depth else False


def _holds_device(value: Value) -> bool:
    if value.kind == TREE:
        return any(_holds_device(member) for member in parts(value))
    return value.kind == DEVICE and value.size != 1


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _has_decoder(frame: Frame) -> bool:
    """Whether a library that decodes video is imported here."""
    names = [*frame.names.values(), *(frame.module.names or {}).values()]
    return any(value.kind == API and value.data.partition(".")[0] in _VIDEO_LIBRARIES for value in names)


def _is_decoded(node: ast.expr, bindings: Bindings, depth: int) -> bool:
    """A frame that a video library decoded, by the names of what the expression comes from."""
    for part in walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and _DECODERS.search(_last_name(part)):
            return True
        followed = bindings.of(part.id) if isinstance(part, ast.Name) and depth else ()
        if any(_is_decoded(value, bindings, depth - 1) for value in followed):
            return True
    return False


def _kind_of_loop(frame: Frame, loop: Any, bindings: Bindings) -> str:
    if loop is None:
        return ""
    if isinstance(loop, ast.While):
        return "range" if _counts(loop) else "stream"
    source = loop.generators[0].iter if isinstance(loop, (ast.ListComp, ast.DictComp)) else loop.iter
    return _kind_of_source(frame, source, bindings, 3)


def _counts(loop: ast.While) -> bool:
    """`while i < n`, with `i += 1` in the body, or `len(kept) < n`."""
    if not isinstance(loop.test, ast.Compare):
        return False
    tested = {n.id for n in walk(loop.test) if isinstance(n, ast.Name)}
    stepped = {
        n.target.id for n in walk(loop) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    return bool(tested & stepped) or "len" in tested


def _kind_of_source(frame: Frame, source: ast.expr, bindings: Bindings, depth: int) -> str:
    if isinstance(source, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Constant)):
        return "literal"
    if isinstance(source, ast.Call):
        name = _last_name(source.func)
        if name in _WRAPPERS and source.args:
            kinds = [
                _kind_of_source(frame, a, bindings, depth)
                for a in source.args
                if not isinstance(a, ast.Constant)
            ]
            if name == "islice" or "range" in kinds or "literal" in kinds:
                return "range"
            return "stream" if "stream" in kinds else kinds[0] if kinds else ""
        if name in (
            "range",
            "trange",
            "arange",
            "linspace",
            "split",
            "items",
            "keys",
            "values",
            "sorted",
            "reversed",
        ):
            return "range"
        if name in ("count", "cycle"):
            return "stream"
    if isinstance(source, ast.Name) and depth:
        for value in bindings.of(source.id)[-1:]:
            known = _kind_of_source(frame, value, bindings, depth - 1)
            if known:
                return known
    words = " ".join(_last_name(n) for n in walk(source) if isinstance(n, (ast.Name, ast.Attribute)))
    if any(_STREAMS.search(word) for word in words.split()):
        return "stream"
    return "loader" if any(_LOADERS.search(word) for word in words.split()) else ""


def _is_emptied(frame: Frame, container: str, loop: Any, scope: ast.AST) -> bool:
    """Whether the container loses members again, or a bound on its length is looked at."""
    last = container.rpartition(".")[2]
    where: ast.AST = frame.module.tree if "." in container else loop if loop is not None else scope
    for node in walk(where):
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in _EMPTYING and owner is not None and _last_name(owner) == last:
                return True
        elif isinstance(node, ast.Delete):
            if any(isinstance(t, ast.Subscript) and _last_name(t.value) == last for t in node.targets):
                return True
        elif isinstance(node, ast.Compare):
            sides = [
                side for side in (node.left, *node.comparators) if isinstance(side, ast.Call) and side.args
            ]
            if any(_last_name(side.func) == "len" and _last_name(side.args[0]) == last for side in sides):
                return True
    return any(_has_bound(value) for value in Bindings(scope).of(container)) or _attribute_has_bound(
        where, container
    )


def _attribute_has_bound(where: ast.AST, container: str) -> bool:
    assigned = (n for n in walk(where) if isinstance(n, ast.Assign)) if "." in container else ()
    return any(_has_bound(n.value) for n in assigned if dotted_name(n.targets[0]) == container)


def _has_bound(value: ast.expr) -> bool:
    """`deque(maxlen=…)`."""
    return isinstance(value, ast.Call) and any(k.arg == "maxlen" for k in value.keywords)


def _is_joined(container: str, scope: ast.AST) -> bool:
    """`jnp.concatenate(kept)`: the loop puts a result together, piece by piece."""
    return any(
        isinstance(node, ast.Call)
        and _last_name(node.func) in _JOINING
        and any(dotted_name(argument) == container for argument in node.args)
        for node in walk(scope)
    )


def _is_sampled(loop: Any, node: ast.AST) -> bool:
    """Only every so many rounds: under `if step % 100 == 0`."""
    tests = (test for test in walk(loop) if isinstance(test, ast.If)) if loop is not None else ()
    around = (test.test for test in tests if any(child is node for child in walk(test)))
    remainders = (n for test in around for n in walk(test) if isinstance(n, ast.BinOp))
    return any(isinstance(n.op, ast.Mod) for n in remainders)
