"""What a loop goes over: a count, a stream, a loader; and whether a video library decodes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, CLASS, FUNCTION, INSTANCE
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, look
from jaxlint.flow.syntax.entries import passed_for
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import last_name
from jaxlint.pattern import pattern

_DECODERS = pattern(r"VideoCapture|VideoReader|get_reader|imiter|to_ndarray|read_frame|decode_frame|imread")
_VIDEO_LIBRARIES = frozenset({"cv2", "imageio", "av", "decord", "skvideo", "mediapy", "torchvision"})
_STREAMS = pattern(r"stream|video|camera|frames?$|socket|capture|queue|reader|live|feed", re.IGNORECASE)
_LOADERS = pattern(r"loader|batches|dataset|pipeline|iterator", re.IGNORECASE)
MEMBER_METHODS = ("__next__", "__getitem__")
_READING = frozenset(
    {
        "read",
        "read1",
        "readinto",
        "readinto1",
        "readline",
        "readlines",
        "recv",
        "recv_into",
        "recvfrom",
        "recvmsg",
    }
)
_WRAPPERS = frozenset(
    {"enumerate", "zip", "tqdm", "track", "iter", "islice", "alive_it", "prefetch_to_device"}
)


def has_decoder(frame: Frame) -> bool:
    """Whether a library that decodes video is imported here."""
    names = [*frame.names.values(), *(frame.module.names or {}).values()]
    return any(value.kind == API and value.data.partition(".")[0] in _VIDEO_LIBRARIES for value in names)


def is_decoded(node: ast.expr, bindings: Bindings, depth: int) -> bool:
    """A frame that a video library decoded, by the names of what the expression comes from."""
    for part in walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and _DECODERS.search(last_name(part)):
            return True
        followed = bindings.of(part.id) if isinstance(part, ast.Name) and depth else ()
        if any(is_decoded(value, bindings, depth - 1) for value in followed):
            return True
    return False


def kind_of_loop(frame: Frame, loop: Any, bindings: Bindings) -> str:
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
    if any(_reads(part) for part in walk(loop.test)):
        return False  # until a read gives less than was asked for
    tested = {n.id for n in walk(loop.test) if isinstance(n, ast.Name)}
    stepped = {
        n.target.id for n in walk(loop) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    read = {
        t.id
        for n in own_nodes(loop)
        if isinstance(n, ast.Assign) and _reads(n.value)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    return bool(tested & stepped) or ("len" in tested and not tested & read)


def _reads(node: ast.AST) -> bool:
    """`pipe.read(size)`, `sock.recv_into(buffer)`: the next piece of something, as long as there is one."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READING


def _kind_of_source(frame: Frame, source: ast.expr, bindings: Bindings, depth: int) -> str:
    if isinstance(source, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Constant)):
        return "literal"
    if isinstance(source, ast.Call):
        name = last_name(source.func)
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
    generator = _generator(frame, source)
    if generator is not None and _ends_with_data(generator.node):
        return "range"
    if isinstance(source, ast.Name) and depth:
        for value in bindings.of(source.id)[-1:]:
            known = _kind_of_source(frame, value, bindings, depth - 1)
            if known:
                return known
    words = " ".join(last_name(n) for n in walk(source) if isinstance(n, (ast.Name, ast.Attribute)))
    if any(_STREAMS.search(word) for word in words.split()):
        return "stream"
    return "loader" if any(_LOADERS.search(word) for word in words.split()) else ""


def is_generated(frame: Frame, loop: Any) -> bool:
    """Whether a loop runs over what a generator of the project yields, which makes one after the other."""
    source = loop.iter if isinstance(loop, ast.For) else None
    while isinstance(source, ast.Call) and last_name(source.func) in _WRAPPERS and source.args:
        source = source.args[0]
    return source is not None and _yields(frame, source, 3)


def givers(frame: Frame, source: ast.expr, depth: int = 3) -> Iterator[Function]:
    """The project's functions that give what a loop runs over, one member after the other: generators, and the
    `__next__` or `__getitem__` of a class."""
    while (
        isinstance(source, ast.Call) and last_name(source.func) in (*_WRAPPERS, "zip", "map") and source.args
    ):
        for other in source.args[1:]:
            yield from givers(frame, other, depth)
        source = source.args[0]
    if isinstance(source, ast.Name) and depth:
        bound = bindings_of(frame).of(source.id)
        for at, given in [(frame, b) for b in bound[-1:]] or passed_for(frame, source.id):
            yield from givers(at, given, depth - 1)
    generator = _generator(frame, source)
    if generator is not None:
        yield generator
    value = look(frame, source)
    if value.kind == INSTANCE:
        methods = map(value.data.cls.methods.get, MEMBER_METHODS)
        yield from (method for method in methods if method is not None)


def _yields(frame: Frame, source: ast.expr, depth: int) -> bool:
    """Whether a call of a generator is written here, under a name or where a parameter is passed."""
    if isinstance(source, ast.Name) and depth:
        bound = bindings_of(frame).of(source.id)
        if bound:
            return _yields(frame, bound[-1], depth - 1)
        passed = passed_for(frame, source.id)
        return bool(passed) and all(_yields(at, given, depth - 1) for at, given in passed)
    generator = _generator(frame, source) if isinstance(source, ast.Call) else None
    return generator is not None and any(isinstance(n, ast.Yield) for n in own_nodes(generator.node))


def _generator(frame: Frame, source: ast.expr) -> Function | None:
    """The project's generator that a loop runs over, or the `__iter__` of its class."""
    made = isinstance(source, ast.Call)
    value = look(frame, source.func if isinstance(source, ast.Call) else source)
    if value.kind == FUNCTION and made:
        found: Function = value.data.function
        return found
    cls = value.data if value.kind == CLASS and made else value.data.cls if value.kind == INSTANCE else None
    return cls.methods.get("__iter__") if cls is not None else None


def _ends_with_data(generator: ast.AST) -> bool:
    """Whether its loops end where an array or a list does that is in memory anyway: `while end <= clip.size`,
    `for start in count(): if start > x.shape[0]: return`."""
    loops = [node for node in own_nodes(generator) if isinstance(node, (ast.For, ast.While))]
    yielding = [loop for loop in loops if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in walk(loop))]
    return bool(yielding) and all(any(map(_compares_length, _ends(loop))) for loop in yielding)


def _ends(loop: ast.For | ast.While) -> list[ast.expr]:
    """The tests that end a loop."""
    leaving = (ast.Break, ast.Return)
    tests = [
        n for n in own_nodes(loop) if isinstance(n, ast.If) and any(isinstance(s, leaving) for s in n.body)
    ]
    return [*(test.test for test in tests), *([loop.test] if isinstance(loop, ast.While) else [])]


def _compares_length(test: ast.expr) -> bool:
    """A position against a length: `start + size > x.shape[0]`, `i < len(rows)`."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    return any(_is_length(n) for side in sides for n in walk(side)) and not any(
        isinstance(side, ast.Constant) for side in sides
    )


def _is_length(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) == "len"
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "size")
