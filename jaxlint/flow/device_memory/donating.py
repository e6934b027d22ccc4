"""Donations that cannot work: one buffer given twice, and buffers that no output can take."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice, takewhile

from jaxlint.flow.boundaries.described import describe
from jaxlint.flow.device_memory import consumed, sharing
from jaxlint.flow.device_memory.consumed import gives_only_numbers
from jaxlint.flow.device_memory.sharing_callees import Place, is_bound
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.facts import DoubleDonation, SharedArguments, UselessDonation
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.element_names import At
from jaxlint.flow.shapes.element_types import Elements
from jaxlint.flow.shapes.item_sizes import ItemSizes
from jaxlint.flow.shapes.shape_values import sizes
from jaxlint.flow.syntax.outputs import calls_of
from jaxlint.index.walking import nodes_of, own_nodes, walk

_SOURCES = 400  # of one call: a tuple of tuples of the same doubles with every name
_CALLERS = 3  # calls gone back to see where an argument is made


class PendingDonation(PendingFact):
    """A call that donates: do two of its arguments share an array?"""

    __slots__ = ("call", "frame", "proof", "skip", "state")

    def __init__(self, frame: Frame, state: BoundaryState, call: ast.Call, skip: int) -> None:
        self.frame = frame
        self.state = state
        self.call = call
        self.skip = skip  # parameters before the first that the call writes: a method's object
        self.proof = frame.proof()

    def fact(self) -> DoubleDonation | None:
        frame, call = self.frame, self.call
        if gives_only_numbers(self.state.result):
            return None
        for earlier, later in _shared(frame, call, self._is_donated):
            alias = earlier if _within(earlier.node, later.node, call) else later
            made = alias.way[0]
            if _has_two_names(earlier.node, later.node, call) and isinstance(made, ast.expr):
                alias = alias._replace(node=made)  # `m = v = zeros`
            return DoubleDonation(
                alias.module.place(alias.node),
                frame.symbol,
                self.proof,
                name=ast.unparse(alias.node),
                call=frame.place(call),
                other=earlier.module.place(earlier.node)
                if alias is later
                else later.module.place(later.node),
                made=alias.module.place(maker) if (maker := alias.made_at()) is not None else None,
                boundary=describe(self.state),
            )
        return None

    def _is_donated(self, position: int | None, word: str | None) -> bool:
        donated = self.state.donated or frozenset()
        return (position is not None and position + self.skip in donated) or word in donated


def _shared(
    frame: Frame, call: ast.Call, is_donated: Callable[[int | None, str | None], bool]
) -> Iterator[tuple[sharing.Source, sharing.Source]]:
    """The pairs of arguments of a call, or parts of them, that are one array."""
    scope: ast.AST = frame.function.node if frame.function is not None else frame.module.tree
    at = Place(frame.module, scope, call.lineno, {})
    finder = sharing.Sources(frame.run.program)
    sources = (
        (source, is_donated(position, word))
        for position, word, node in _arguments(call)
        for source in finder.of(*_handed_down(node, at, frame.function))
    )
    return sharing.shared(list(islice(sources, _SOURCES)))


def _handed_down(node: ast.expr, at: Place, function: Function | None) -> tuple[ast.expr, Place]:
    """An argument that is a parameter of the function around it, as the one call of that function in the module
    passes it: `def train(state): for …: state = step(state)`."""
    for _ in range(_CALLERS):
        if function is None or not isinstance(node, ast.Name) or is_bound(at, node.id):
            break
        calls = calls_of(at.module).get(function.name, [])
        named = [f for f in at.module.functions.values() if f.name == function.name]
        if len(calls) != 1 or len(named) != 1 or node.id not in function.params:
            break
        caller, call = calls[0]
        position = function.params.index(node.id) - function.is_method
        given = [a for a in call.args[position : position + 1] if not isinstance(a, ast.Starred)]
        given += [k.value for k in call.keywords if k.arg == node.id]
        if not given or any(isinstance(a, ast.Starred) for a in call.args):
            break
        scope: ast.AST = caller.node if caller is not None else at.module.tree
        node, at, function = given[0], Place(at.module, scope, call.lineno, {}), caller
    return node, at


class PendingSharing(PendingFact):
    """A call that could donate: do two of its arguments share an array?"""

    __slots__ = ("call", "frame", "proof")

    def __init__(self, frame: Frame, call: ast.Call) -> None:
        self.frame = frame
        self.call = call
        self.proof = frame.proof()

    def fact(self) -> SharedArguments | None:
        frame, call = self.frame, self.call
        for earlier, later in _shared(frame, call, lambda position, word: True):
            names = ast.unparse(earlier.node), ast.unparse(later.node)
            return SharedArguments(frame.place(call), frame.symbol, self.proof, names=names)
        return None


def _arguments(call: ast.Call) -> list[tuple[int | None, str | None, ast.expr]]:
    """(position, keyword, expression), without what follows arguments that are spread: it may stand anywhere."""
    known = takewhile(lambda a: not isinstance(a, ast.Starred), call.args)
    positional: list[tuple[int | None, str | None, ast.expr]] = [(i, None, a) for i, a in enumerate(known)]
    return [*positional, *((None, k.arg, k.value) for k in call.keywords if k.arg is not None)]


def _within(earlier: ast.expr, later: ast.expr, call: ast.Call) -> bool:
    """The later one stands in the call itself and the earlier one, where the alias is made, does not."""
    nodes = set(walk(call))
    return later in nodes and earlier not in nodes


def _has_two_names(earlier: ast.expr, later: ast.expr, call: ast.Call) -> bool:
    """Two names in the call that were bound by one statement."""
    nodes = set(walk(call))
    named = isinstance(earlier, ast.Name) and isinstance(later, ast.Name) and earlier.id != later.id
    return named and earlier in nodes and later in nodes


class PendingUselessDonation(PendingFact):
    """A boundary that donates: is there an output for each donated argument? `calls` are those to judge by, where
    they stand in another module than the boundary."""

    __slots__ = ("calls", "frame", "proof", "state", "symbol")

    def __init__(
        self, frame: Frame, state: BoundaryState, calls: list[tuple[LoadedModule, ast.AST]] | None = None
    ) -> None:
        self.frame = frame
        self.state = state
        self.calls = calls
        self.symbol = frame.symbol
        self.proof = frame.proof()

    def fact(self) -> UselessDonation | None:
        state = self.state
        closure, donated = state.closure, state.donated
        if closure is None or not donated:
            return None
        function = closure.function
        params = function.params[closure.offset + len(closure.bound) :]
        named = [name for name in params if name in donated]
        absent = sorted(d for d in donated if isinstance(d, int) and d >= len(params) and function.variadic)
        why, useless = "", tuple(named)
        if self.calls is not None:
            useless, why = tuple(name for name in named if self._is_converted(name, params)), "dtype"
        elif gives_only_numbers(state.result):
            why = "numbers"
        elif absent:
            why, useless = "absent", tuple(str(index) for index in absent)
        else:
            owners = consumed.owners(closure.function, params, state.result)
            # `donate="all"` of Equinox speaks of the arrays among the arguments, whichever they are.
            chosen = state.flavour != "filter"
            useless = tuple(n for n in named if chosen and owners and n not in owners and owners <= donated)
            why = "taken"
            if not useless:
                useless, why = tuple(name for name in named if self._is_converted(name, params)), "dtype"
        if not useless and not absent:
            useless, why = tuple(name for name in named if self._has_no_match(name, params)), "size"
        if not useless:
            return None
        return UselessDonation(
            state.module.place(state.node),
            self.symbol,
            self.proof,
            boundary=describe(state),
            parameters=useless,
            why=why,
        )

    def _is_converted(self, name: str, params: list[str]) -> bool:
        """At every call in view its elements are of another size than those of each output."""
        closure, uses = self.state.closure, self.state.uses if self.calls is None else self.calls
        assert closure is not None
        if self.state.partly_bound:
            return False
        sizes = ItemSizes(self.frame.run.program)
        given = [self._given(module, call, name, params, sizes) for module, call in uses]
        if not given or None in given:
            return False
        lent = frozenset(element for elements in given for element in elements or ())
        sizes.assume(closure.function.node, name, lent)
        outputs = sizes.returned(closure.function.node, closure.function.module)
        return bool(outputs and lent) and not {e.bytes for e in outputs or ()} & {e.bytes for e in lent}

    def _has_no_match(self, name: str, params: list[str]) -> bool:
        """At every call in view each output has another number of elements, which jax matches buffers by."""
        closure, uses = self.state.closure, self.state.uses if self.calls is None else self.calls
        assert closure is not None
        if params != closure.function.params or closure.transforms:
            return False
        for module, call in uses:
            if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
                return False
            shapes = ArrayShapes(self.frame.run.program)
            around = (f for f in module.functions.values() if call in own_nodes(f.node))
            arguments, words = shapes.passed(call, shapes.around(module, next(around, None)))
            given = words[name] if name in words else dict(zip(params, arguments, strict=False)).get(name)
            lent, made = sizes(given), sizes(shapes.returned(closure.function, arguments, words))
            if not lent or not made or lent & made:
                return False
        return bool(uses)

    def _given(
        self, module: LoadedModule, call: ast.AST, name: str, params: list[str], sizes: ItemSizes
    ) -> Elements | None:
        if not isinstance(call, ast.Call):
            return None
        position = params.index(name)
        given = call.args[position : position + 1] or [k.value for k in call.keywords if k.arg == name]
        if not given:
            return None
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        around = [f for kind in kinds for f in nodes_of(module.tree, kind) if call in own_nodes(f)]
        return sizes.of(given[0], At(module, around[0] if around else None))


def note_donation(frame: Frame, state: BoundaryState, call: Call, skip: int) -> None:
    """A boundary is called that donates, or might as well."""
    if frame.quiet or frame.level or call.bound or not isinstance(call.node, ast.Call):
        return  # of a partial, what the call writes stands at other positions
    if state.donated:
        frame.log.append(PendingDonation(frame, state, call.node, skip))
        if frame.run.top is not None and frame.run.top.module is not state.module:
            known = frame.run.donating.get(state)
            if known is None:
                known = frame.run.donating[state] = []
                frame.log.append(PendingUselessDonation(frame, state, known))
            known.append((frame.module, call.node))
    elif state.donated is not None and frame.targets and len(call.node.args) + len(call.node.keywords) > 1:
        frame.log.append(PendingSharing(frame, call.node))
