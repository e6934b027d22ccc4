"""Data sets that are put on the device whole and then read part by part."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.flow.device_memory.data_parts import Held
from jaxlint.flow.device_memory.part_reads import PartRead, PartReads, Scope
from jaxlint.flow.domain.kinds import DEVICE, FUNCTION, HOST, TREE, UNKNOWN
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.values import UNKNOWN_VALUE
from jaxlint.flow.facts import DatasetTransfer
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, returned, scope_of
from jaxlint.index.walking import COMPREHENSIONS, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

_DATA = pattern(
    r"(^|_)(x|y|xs|ys|train|test|data|dataset|images?|labels?|targets?|features|inputs|samples|corpus|tokens|"
    r"observations|frames|table|rows|records|events|sequences|texts)(_|$)",
    re.IGNORECASE,
)
_DATA_CLASS = pattern(r"Data(set|source|loader|module)?s?$|Dataset|DataLoader|Batcher", re.IGNORECASE)
_LOADERS = pattern(r"load|read_|fetch_|memmap|open_|fromfile|frombuffer|genfromtxt|to_numpy|values$|^File$")
_STEPS = 4  # names gone back to the call that loads
_MAPPING = frozenset({"map", "tree_map"})
# Give an array as large as the one they are called on.
_AS_LARGE = frozenset({"astype", "reshape", "transpose", "swapaxes", "block_until_ready"})
_COLLECTING = frozenset({"tuple", "list", "dict"})


class PendingTransfer(PendingFact):
    """A data set, `subject`, put on the device by the call `node` in a statement that binds or returns it; how it
    is read afterwards is looked at when the run is over."""

    __slots__ = ("frame", "node", "proof", "statement", "subject")

    def __init__(self, frame: Frame, node: ast.Call, subject: ast.expr, statement: ast.stmt) -> None:
        self.frame = frame
        self.node = node
        self.subject = subject
        self.statement = statement
        self.proof = frame.proof()

    def fact(self) -> DatasetTransfer | None:
        found = next(self._read(), None)
        if found is None:
            return None
        name, read = found
        place = read.module.place(read.node)
        return DatasetTransfer(
            self.frame.place(self.node), self.frame.symbol, self.proof, name=name, read=place
        )

    def _read(self) -> Iterator[tuple[str, PartRead]]:
        frame, statement = self.frame, self.statement
        reads = PartReads(frame, self.node)
        if isinstance(statement, ast.Return):
            assert statement.value is not None
            name = dotted_name(self.subject) or ast.unparse(self.subject)
            for position, held in self._returned(statement.value):
                if frame.function is not None and self._is_data(name):
                    yield from ((name, read) for read in reads.returned_by(frame.function, position, held))
            return
        for held in self._held(statement):
            if self._is_data(held.name):
                yield from ((held.name, read) for read in self._reads_of(reads, held))

    def _reads_of(self, reads: PartReads, held: Held) -> Iterator[PartRead]:
        frame = self.frame
        if held.name.startswith("self.") and frame.cls is not None:
            yield from reads.in_class(frame.cls, held)
        else:
            yield from reads.of(held, Scope(frame.module, scope_of(frame)))

    def _held(self, statement: ast.stmt) -> Iterator[Held]:
        """What holds it after an assignment."""
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            pairs = [(statement.target, statement.value)]
        elif isinstance(statement, ast.Assign):
            pairs = [(target, statement.value) for target in statement.targets]
        for target, value in pairs:
            if isinstance(target, ast.Tuple):
                pairs += self._unpacked(target, value)
                continue
            held, name = self._holds(value), dotted_name(target)
            if isinstance(target, ast.Subscript):  # `data["x"] = jnp.asarray(x)`
                key = target.slice.value if isinstance(target.slice, ast.Constant) else None
                held, name = held and Held("", True, key), dotted_name(target.value)
            if held is not None and name is not None:
                yield held._replace(name=name)

    def _unpacked(self, target: ast.Tuple, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
        """Each member with what it is bound to: the call itself where that is one of many."""
        if isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return list(zip(target.elts, value.elts, strict=True))
        return [(item, self.node) for item in target.elts] if self._holds(value) is not None else []

    def _returned(self, value: ast.expr) -> Iterator[tuple[int | None, Held]]:
        """(position, what) of it in what is returned; None for the whole."""
        if isinstance(value, ast.Tuple):
            for position, member in enumerate(value.elts):
                held = self._holds(member)
                if held is not None:
                    yield position, held
        else:
            held = self._holds(value)
            if held is not None:
                yield None, held

    def _holds(self, value: ast.expr) -> Held | None:
        """What an expression has of it: the array, or a tree with it as a leaf."""
        if self._is_whole(value):
            return Held("", last_name(self.node.func) in _MAPPING)
        members: list[tuple[object, ast.expr]] = []
        if isinstance(value, COMPREHENSIONS):
            members = [(None, value.value if isinstance(value, ast.DictComp) else value.elt)]
        elif isinstance(value, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
            members = list(zip(keys, value.values, strict=True))
        elif isinstance(value, (ast.List, ast.Tuple)):
            members = list(enumerate(value.elts))
        elif isinstance(value, ast.Call) and last_name(value.func) in _COLLECTING:
            members = [(None, a) for a in value.args] + [(k.arg, k.value) for k in value.keywords]
        for key, member in members:
            held = self._holds(member)
            if held is not None:
                return Held("", True, None if held.collected else key)
        return None

    def _is_whole(self, value: ast.expr) -> bool:
        """The array itself, or one as large that is made of it alone: `jnp.float32(x) / 255`."""
        if value is self.node:
            return True
        if isinstance(value, ast.BinOp):
            sides = (value.left, value.right)
            return any(map(self._is_whole, sides)) and any(isinstance(s, ast.Constant) for s in sides)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            return value.func.attr in _AS_LARGE and self._is_whole(value.func.value)
        return isinstance(value, ast.Attribute) and value.attr in ("T", "mT") and self._is_whole(value.value)

    def _is_data(self, name: str) -> bool:
        """By its name, by the class that keeps it, or by the call that loaded it, it is a data set."""
        cls = self.frame.cls
        if _DATA.search(name.rpartition(".")[2]) or (cls is not None and _DATA_CLASS.search(cls.name)):
            return True
        if _is_loaded(self.frame, self.subject, scope_of(self.frame), _STEPS):
            return True
        bindings = bindings_of(self.frame)
        sources: list[ast.AST] = [self.subject]
        if isinstance(self.statement, (ast.Assign, ast.AnnAssign, ast.Return)) and self.statement.value:
            sources += [n.iter for n in walk(self.statement.value) if isinstance(n, ast.comprehension)]
        names = [n.id for source in sources for n in walk(source) if isinstance(n, ast.Name)]
        sources += [bound for each in names for bound in bindings.of(each)]
        called = (n.func for value in sources for n in walk(value) if isinstance(n, ast.Call))
        return any(_LOADERS.search(last_name(f)) for f in called)


def _is_loaded(frame: Frame, node: ast.expr, scope: ast.AST, steps: int) -> bool:
    """A part of what a call loads, under other names, too: `archive["x"]`, `signals.astype(np.float32)`."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return _is_loaded(frame, node.value, scope, steps)
    if isinstance(node, ast.Tuple):
        return any(_is_loaded(frame, member, scope, steps) for member in node.elts)
    if isinstance(node, ast.Name) and steps:
        for around in (scope, frame.module.tree):
            bound = Bindings(around).of(node.id)
            if bound:
                return any(_is_loaded(frame, each, around, steps - 1) for each in bound)
    if not isinstance(node, ast.Call):
        return False
    if _LOADERS.search(last_name(node.func)):
        return True
    if isinstance(node.func, ast.Name):
        function = (frame.module.names or {}).get(node.func.id, UNKNOWN_VALUE)
        if function.kind == FUNCTION and function.data.function.module is frame.module and steps:
            inner = function.data.function.node
            return any(r is not None and _is_loaded(frame, r, inner, steps - 1) for r in returned(inner))
    return any(_is_loaded(frame, part, scope, steps) for part in (node.func, *node.args[:1]))


def _names_parts(node: ast.expr) -> bool:
    """`images`, `self.images`, `archive["images"]`."""
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return dotted_name(node) is not None


def note_transfer(frame: Frame, call: Call) -> None:
    """`X = jnp.asarray(x)` and `self.X = jax.device_put(x)`, outside any trace and loop."""
    node, statement = call.node, frame.statement
    if frame.quiet or frame.level or frame.loops or not isinstance(node, ast.Call) or not node.args:
        return
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
        return
    subject = node.args[0]
    if last_name(node.func) in _MAPPING and len(node.args) > 1:
        subject = node.args[1]
    given = call.positional[0] if call.positional else None
    if given is None or given.kind not in (HOST, UNKNOWN, DEVICE, TREE) or is_small(given):
        return
    if isinstance(subject, (ast.List, ast.Tuple, ast.Constant, ast.ListComp)):
        names = subject.elts if isinstance(subject, ast.Tuple) else ()
        if not names or not all(map(_names_parts, names)):
            return
    frame.log.append(PendingTransfer(frame, node, subject, statement))
