"""Lists and other containers whose length is not the same each time: what a loop or a method adds to them."""

from __future__ import annotations

import ast
import re

from jaxlint.flow.domain.kinds import INSTANCE, TREE, UNKNOWN
from jaxlint.flow.domain.origin_words import LENGTH
from jaxlint.flow.domain.tags import BOUNDED, EVEN, RAGGED, SHAPED, TEXT
from jaxlint.flow.domain.values import (
    PER_CALL,
    PER_ITERATION,
    TEXT_VALUE,
    UNKNOWN_VALUE,
    Origin,
    Value,
    collection,
    tree,
)
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace.filled import flushes, open_loop
from jaxlint.flow.shapes import text_lengths
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name
from jaxlint.pattern import pattern

_ADDING = frozenset({"append", "extend", "add", "insert", "appendleft", "setdefault"})
_TAKING = frozenset({"pop", "popleft", "popitem", "remove", "clear"})
_FROM_SEQUENCE = frozenset(
    {
        *("array", "asarray", "stack", "concatenate", "concat"),
        *("vstack", "hstack", "column_stack", "dstack", "block"),
    }
)
_CONSTRUCTORS = frozenset({"__init__", "setup", "__post_init__", "reset", "clear"})


def resized(frame: Frame, code: ast.AST) -> dict[str, ast.AST]:
    """The names of the containers that some code makes longer or shorter, and where it does; not those that it
    makes anew as well, or that it takes from what it puts there, unless it does that when it happens to."""
    known = frame.run.resized.get(code)
    if known is None:
        added: dict[str, ast.AST] = {}
        taken: dict[str, ast.AST] = {}
        anew: set[str] = set()
        emptied = flushes(code) if isinstance(code, (ast.For, ast.AsyncFor, ast.While)) else ()
        for node in walk(code):
            if node in emptied:
                continue
            name = _added_to(node)
            if name is not None:
                added.setdefault(name, node)
            elif (name := _taken_from(node)) is not None:
                taken.setdefault(name, node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and not _in_constructor(code, node):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                anew.update(filter(None, map(dotted_name, targets)))
        either = {**taken, **added}
        known = {name: either[name] for name in added.keys() ^ taken.keys() if name not in anew}
        frame.run.resized[code] = known
    return known


def _in_constructor(code: ast.AST, node: ast.AST) -> bool:
    """Of a class: what its constructor assigns is made once."""
    if not isinstance(code, ast.ClassDef):
        return False
    methods = (m for m in code.body if isinstance(m, ast.FunctionDef) and m.name in _CONSTRUCTORS)
    return any(m.lineno <= node.lineno <= (m.end_lineno or m.lineno) for m in methods)  # type: ignore[attr-defined]  # only located nodes are asked for


def _added_to(node: ast.AST) -> str | None:
    """`xs.append(x)`, `xs += [x]`, `xs = xs + [x]`, `xs = [*xs, x]`."""
    if isinstance(node, ast.Call):
        return _receiver(node, _ADDING)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return dotted_name(node.target) if isinstance(node.value, (ast.List, ast.Tuple)) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        name = dotted_name(node.targets[0])
        return name if name is not None and _contains(node.value, name) else None
    return None


def _taken_from(node: ast.AST) -> str | None:
    """`xs.pop()`, `del xs[0]`."""
    if isinstance(node, ast.Call):
        return _receiver(node, _TAKING)
    if isinstance(node, ast.Delete) and isinstance(node.targets[0], ast.Subscript):
        return dotted_name(node.targets[0].value)
    return None


def _receiver(node: ast.Call, methods: frozenset[str]) -> str | None:
    callee = node.func
    return dotted_name(callee.value) if isinstance(callee, ast.Attribute) and callee.attr in methods else None


def _contains(node: ast.expr, name: str) -> bool:
    """Whether a list is made from the one of that name, with more members."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = (node.left, node.right)
        displayed = any(isinstance(side, (ast.List, ast.Tuple)) for side in sides)
        return displayed and any(dotted_name(side) == name for side in sides)
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
        return any(isinstance(e, ast.Starred) and dotted_name(e.value) == name for e in node.elts)
    return False


def changing(frame: Frame, node: ast.AST, value: Value) -> Value | None:
    """The container that an expression names, where its length changes from one time to the next."""
    name = dotted_name(node)
    if name is None or value.kind not in (TREE, UNKNOWN) or value.tags & BOUNDED:
        return None
    for loop in reversed(frame.loops):
        at = resized(frame, loop.node).get(name)
        if at is not None:
            return _of_length(frame, value, at, PER_ITERATION)
    owner, _, field = name.rpartition(".")
    held = frame.names.get(owner) if field and frame.function is not None else None
    if held is None or held.kind != INSTANCE or held.data.cls.module is not frame.module:
        return None
    if frame.function is not None and frame.function.name in _CONSTRUCTORS:
        return None
    at = resized(frame, held.data.cls.node).get(f"self.{field}")
    return _of_length(frame, value, at, PER_CALL) if at is not None else None


def of_own_length(frame: Frame, node: ast.AST | None, iterable: Value) -> Value | None:
    """What goes through an iterable that does not have one length each time, the letters of a word among them: a
    value that is as ragged as the result."""
    if node is not None:
        iterable = changing(frame, node, iterable) or iterable
    if iterable.tags & SHAPED:
        return iterable
    letters = iterable.tags & TEXT and iterable.varies >= PER_ITERATION and not iterable.tags & EVEN
    return iterable.but(tags=RAGGED) if letters else None


def as_long(frame: Frame, node: ast.AST | None, iterable: Value, result: Value) -> Value:
    """A container of what becomes of each member of an iterable: it has as many."""
    own = of_own_length(frame, node, iterable)
    if own is None and not iterable.tags & EVEN:
        return result
    length = own or iterable
    tags = result.tags | length.tags & (SHAPED | EVEN)
    return Value(TREE, length.varies, tags, result.data, result.element, length.origin or result.origin)


def _of_length(frame: Frame, value: Value, at: ast.AST, varies: int) -> Value:
    element = value.element if value.kind == TREE else None
    return Value(TREE, varies, RAGGED, None, element, Origin(frame.module, at, LENGTH))


def from_sequence(frame: Frame, kind: int, last: str, call: Call) -> Value | None:
    """The array that a function makes of a list whose length changes."""
    if last not in _FROM_SEQUENCE or not call.positional or frame.level:
        return None
    node = call.argument_node(0)
    listed = changing(frame, node, call.positional[0]) if node is not None else None
    if listed is not None:
        return Value(kind, listed.varies, RAGGED, None, None, listed.origin)
    loop = open_loop(frame, node) if node is not None else None
    if loop is None:
        return None
    varies = PER_ITERATION if frame.loop else PER_CALL
    return Value(kind, varies, RAGGED, None, None, Origin(frame.module, loop, LENGTH))


# ---------------------------------------------------------------- what comes in its own length

_TAKES_APART = frozenset({"encode", "tokenize", "split", "rsplit", "splitlines"})
_READING = frozenset({"read_text", "readline"})
_TO_ONE_LENGTH = frozenset({"padding", "max_length", "pad_to_max_length", "length"})
_TOKENIZERS = pattern(r"tok|bpe|spm?$|vocab", re.IGNORECASE)
_SAME_LENGTH = frozenset({"astype", "copy", "numpy", "reshape", "to_list", "to_numpy", "tolist", "ravel"})


def of_method(frame: Frame, receiver: Value, node: ast.Attribute, call: Call) -> Value | None:
    """The result of a method of an object that is not in view, where its length is that of a text or a group."""
    if frame.level:
        return None
    name = node.attr
    if receiver.tags & RAGGED:
        return receiver if name in _SAME_LENGTH else None
    if name == "groupby":
        group = Value(UNKNOWN, PER_CALL, RAGGED, None, None, Origin(frame.module, call.node, LENGTH))
        return collection(tree([UNKNOWN_VALUE, group]))
    if name in _READING:
        return TEXT_VALUE
    if receiver.tags & TEXT:
        of_text = text_lengths.of_method(frame, receiver, name, call)
        if of_text is not None:
            return of_text
    if name not in _TAKES_APART or not _TO_ONE_LENGTH.isdisjoint(call.keywords):
        return None
    taken = receiver
    if call.positional and not receiver.tags & TEXT:
        taken = call.positional[0]
        if not taken.tags & TEXT and not _TOKENIZERS.search(dotted_name(node.value) or ""):
            return None
    elif not receiver.tags & TEXT:
        return None
    if not taken.varies:
        return None
    origin = Origin(frame.module, call.node, LENGTH)
    return Value(TREE, taken.varies, RAGGED, None, UNKNOWN_VALUE, origin)
