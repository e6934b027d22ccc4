"""Jit boundaries: made (in any spelling), called, traced, described."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow import growth
from jaxlint.flow.carry import note_carried
from jaxlint.flow.facts import Boundary, BoundaryUse, JitCall, Operand, Parameter
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.grown_arguments import note_growth
from jaxlint.flow.instances import generic_instance, holds_arrays
from jaxlint.flow.mutation import Invoked
from jaxlint.flow.objects import BoundaryState, Closure, Function, Instance, PartialApi, Watch
from jaxlint.flow.operand import closure_word, dotted_name, maker, operand
from jaxlint.flow.optional import note_unstable
from jaxlint.flow.parameters import parameter_uses
from jaxlint.flow.remat import note_gradient
from jaxlint.flow.run import Run, bind, default_value, freshness
from jaxlint.flow.values import (
    API,
    BOOLEAN_MASK,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DTYPE,
    FOREIGN,
    FRESH,
    FUNCTION,
    HOST,
    INSTANCE,
    LOW,
    MODULE,
    NONE,
    ONE_OF,
    PARTIAL,
    SCALAR,
    SHAPE,
    TRACED_MASK,
    TRACED_PARAMETER,
    TRACED_VALUE,
    TRACERS,
    TREE,
    UNKNOWN,
    UNKNOWN_VALUE,
    UPDATED,
    Value,
    collection,
    is_number,
    parts,
    tree,
)
from jaxlint.flow.weak_types import holds_weak, typed
from jaxlint.index import installed
from jaxlint.jax_api.boundaries import BOUNDARIES
from jaxlint.jax_api.transforms import EAGER, JIT

_ARRAY_KINDS = frozenset((3, 4, 5, 6, 7))  # SHAPE, HOST, DEVICE, TRACED, PARAMETER


@api_call("jit")
def make(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jit(f, …)`: the boundary; `jit(static_argnames=…)`: a decorator that makes one."""
    target = call.argument(0, "fun", "f", "fn")
    if target is None:
        return Value(PARTIAL, data=PartialApi(dotted, [], call.keywords))
    form = "decorator" if call.decorator else "call"
    state = BoundaryState(dotted, BOUNDARIES[dotted], frame.module, call.node, form)
    state.function = frame.function
    state.closure = _closure_of(frame, target, call)
    state.literal_loop = frame.literal_loops > 0
    state.guarded = frame.filling > 0 or (frame.function is not None and bool(frame.function.cached))
    params = _signature(state.closure)
    state.static = argument_set(call.keywords, params, "static_argnums", "static_argnames")
    if state.flavour == "pmap":
        state.static = argument_set(call.keywords, params, "static_broadcasted_argnums", "static_argnames")
    state.donated = argument_set(call.keywords, params, "donate_argnums", "donate_argnames")
    if state.flavour == "filter" and "donate" in call.keywords:
        state.donated = _equinox_donation(call.keywords["donate"], params)
    _judge_freshness(frame, state, target)
    frame.run.boundaries.append(state)
    if not frame.quiet:
        frame.log.append(PendingJit(frame, state))
        if frame.level == EAGER:
            from jaxlint.flow.capturing import PendingCapture

            frame.log.append(PendingCapture(frame, state))
            if state.donated:
                from jaxlint.flow.donating import PendingUselessDonation

                frame.log.append(PendingUselessDonation(frame, state))
    if state.closure is not None:
        if frame.function is None and frame.run.declared is not None:
            frame.run.declared[state] = frame, call.node
        else:
            _trace_declaration(frame, state, call.node)
    return Value(BOUNDARY, data=state)


def _closure_of(frame: Frame, target: Value, call: Call) -> Closure | None:
    if target.kind == FUNCTION:
        closure: Closure = target.data
        return closure
    if target.kind == ONE_OF:
        return _closure_of(frame, target.data[0], call)
    if target.kind == BOUNDARY:
        nested: Closure | None = target.data.closure
        return nested
    if target.kind == INSTANCE:
        method = target.data.cls.lookup("__call__")
        if method is not None:
            made = Closure(
                method,
                method.cls.scope if method.cls else None,
                target.data.home,
                target.data.loop,
                call.node,
            )
            made.receiver = target
            made.via = "instance"
            return made
    return None


def _signature(closure: Closure | None) -> list[str] | None:
    """Parameter names as the boundary's caller counts them; None when unknown."""
    if closure is None:
        return None
    params = closure.function.params[closure.offset :]
    return [*[""] * closure.dropped, *params[len(closure.bound) :]]


def argument_set(
    keywords: dict[str, Value], params: list[str] | None, numbers: str, names: str
) -> frozenset[str | int] | None:
    """Resolved names and indices of static or donated arguments; None when they are not understood."""
    found: set[str | int] = set()
    for key in (numbers, names):
        given = keywords.get(key)
        if given is None or (given.kind == CONSTANT and given.data is None):
            continue
        if given.kind == API:
            given = _installed_constant(given.data)
        members = parts(given) if given.kind == TREE else [given]
        if given.kind == TREE and given.data is None:
            return None
        for member in members:
            if member.kind != CONSTANT or not isinstance(member.data, (int, str)):
                return None
            _resolve(member.data, params, found)
    return frozenset(found)


def _installed_constant(dotted: str) -> Value:
    """`static_argnames=otherlib.STATIC`: a constant of an installed package."""
    found = installed.constant(dotted)
    if isinstance(found, tuple):
        return tree([Value(CONSTANT, data=item) for item in found])
    return Value(CONSTANT, data=found) if found is not None else UNKNOWN_VALUE


def _resolve(given: int | str, params: list[str] | None, found: set[str | int]) -> None:
    if isinstance(given, str):
        for name in given.replace(",", " ").split():
            found.add(name)
            if params is not None and name in params:
                found.add(params.index(name))
        return
    if params is not None:
        index = given if given >= 0 else len(params) + given
        found.add(index)
        if 0 <= index < len(params):
            found.add(params[index])
    else:
        found.add(given)


def _equinox_donation(value: Value, params: list[str] | None) -> frozenset[str | int] | None:
    """`donate=` of filter_jit: "all" (and "warn") donate everything, "…-except-first" all but the first."""
    if value.kind != CONSTANT or not isinstance(value.data, str) or params is None:
        return None
    if value.data == "none":
        return frozenset()
    start = 1 if value.data.endswith("except-first") else 0
    return frozenset([*range(start, len(params)), *params[start:]])


def _judge_freshness(frame: Frame, state: BoundaryState, target: Value) -> None:
    closure = state.closure
    if target.kind == UNKNOWN and target.tags & FRESH:
        state.fresh = target.origin.word if target.origin is not None else "bound method"
        state.fresh_in = "loop" if frame.loop else "call" if frame.function is not None else ""
        return
    # A method of a library's object is bound anew, but Optax's transformations are tuples of functions.
    if target.kind == API and "()." in target.data and not target.data.startswith("optax."):
        state.fresh = "bound method"
        state.fresh_in = "loop" if frame.loop else "call" if frame.function is not None else ""
        return
    if closure is None or target.kind == BOUNDARY:
        return
    fresh_in = freshness(frame, closure)
    if state.flavour == "filter" and not closure.via and (closure.by_equinox or not closure.transforms):
        bound = closure.receiver is not None or closure.transforms
        if bound and not closure.inner_fresh:
            return  # hashed by value: re-wrapping hits the cache (measured)
    if state.flavour == "nnx" and not fresh_in:
        state.fresh = "nnx"
        state.fresh_in = (
            "loop"
            if frame.loop
            else "call"
            if frame.function is not None and state.form != "decorator"
            else ""
        )
        return
    if fresh_in:
        state.fresh = closure_word(closure)
        state.fresh_in = fresh_in


def trace_declared(run: Run, state: BoundaryState) -> None:
    """Trace a boundary of the top level, if that has not been done yet."""
    waiting = run.declared.pop(state, None) if run.declared else None
    if waiting is not None:
        frame, node = waiting
        _trace_declaration(frame, state, node)


def _trace_declaration(frame: Frame, state: BoundaryState, node: ast.AST) -> None:
    """Trace the body as the declaration alone tells: parameters without defaults are tracers or trees."""
    closure = state.closure
    assert closure is not None
    function = closure.function
    arguments: dict[str, Value] = {}
    unsure = state.flavour in ("filter", "nnx")
    static = state.static if state.static is not None else None
    for index, name in enumerate(function.params):
        if index == 0 and function.is_method and name in ("self", "cls"):
            receiver = closure.receiver
            if receiver is None and function.cls is not None:
                receiver = _passed_self(state, generic_instance(function.cls))
            if receiver is not None:
                arguments[name] = receiver
            continue
        if name in function.defaults:
            continue
        is_static = static is None or name in static or index - closure.offset - len(closure.bound) in static
        if not is_static and not unsure:
            arguments[name] = TRACED_PARAMETER
    for name in function.keyword_only:
        if name not in function.defaults and static is not None and name not in static and not unsure:
            arguments[name] = TRACED_PARAMETER
    for name, value in bind(closure, [], {}, frame).items():
        if name in closure.bound_keywords or (
            closure.bound and name in function.params[: len(closure.bound) + closure.offset]
        ):
            arguments[name] = value
    if unsure:
        for name, text in function.annotations.items():
            from jaxlint.flow.objects import is_array_annotation

            if name not in arguments and is_array_annotation(text) and name not in function.defaults:
                arguments[name] = TRACED_VALUE
    _trace(frame, state, arguments, node)


def _trace(frame: Frame, state: BoundaryState, arguments: dict[str, Value], node: ast.AST) -> Value | None:
    closure = state.closure
    assert closure is not None
    evaluation = frame.run.evaluation(frame, closure, arguments, JIT, frame.place(state_node(state, frame)))
    if evaluation is None:
        return None
    frame.log.append(frame.run.entered(node, frame, evaluation))
    note_gradient(frame, closure, node)
    for key, read in evaluation.reads.items():
        state.reads.setdefault(key, read)
        if frame.reads is not None:
            frame.reads.setdefault(key, read)
    if state.result is None or not (state.result.tags & UPDATED):
        state.result = evaluation.result
    return evaluation.result


def state_node(state: BoundaryState, frame: Frame) -> ast.AST:
    """The boundary's node where it lies in the frame's module, else the place it is used."""
    return state.node if state.module is frame.module else frame.statement or state.node


def call_boundary(frame: Frame, callee: Value, call: Call) -> Value:
    """A boundary is called: its use is noted, its donated arguments watched, its body traced."""
    from jaxlint.flow.calls import outside

    state: BoundaryState = callee.data
    state.uses.append((frame.module, call.node))
    if frame.run.declared:
        trace_declared(frame.run, state)
    closure = state.closure
    receiver = callee.element
    skip = 1 if receiver is not None else 0
    params = _signature(closure)
    names = _argument_names(call, params, skip, closure)
    if isinstance(call.node, ast.Call):
        watches = _watch_arguments(frame, state, call, names)
        if not frame.quiet:
            frame.log.append(PendingUse(frame, state, call, names, watches, receiver))
            if frame.level == EAGER:
                note_growth(frame, state, call.node, names)
                note_carried(frame, state, call.node, names)
                note_unstable(frame, state, call.node, names)
            if state.donated or (frame.targets and not frame.level):
                from jaxlint.flow.donating import note_donation

                note_donation(frame, state, call)
    if frame.level < JIT:
        frame.log.append(Invoked(state, frame.module, call.node))
    result = state.result
    if closure is not None and not call.starred:
        arguments = _traced_arguments(frame, state, call, names, receiver)
        traced = _trace(frame, state, arguments, call.node)
        if traced is not None:
            result = growth.renamed(traced, closure, lambda: growth.argument_paths(closure, call))
    if frame.level >= JIT:
        return result if result is not None else UNKNOWN_VALUE
    if frame.level == EAGER and result is not None and result.kind == INSTANCE:
        return result
    return outside(result, state.flavour)


def _argument_names(call: Call, params: list[str] | None, skip: int, closure: Closure | None) -> list[Passed]:
    """What each argument of a call binds."""
    nodes = call.node.args if isinstance(call.node, ast.Call) else []
    found: list[Passed] = []
    exact = len(nodes) == len(call.positional)
    for position, value in enumerate(call.positional):
        index = position + skip
        name = params[index] if params is not None and index < len(params) else None
        found.append(Passed(index, name, value, nodes[position] if exact else call.node, False))
    keyword_nodes = {k.arg: k.value for k in call.node.keywords} if isinstance(call.node, ast.Call) else {}
    for word, value in call.keywords.items():
        position_of = params.index(word) if params is not None and word in params else None
        found.append(Passed(position_of, word, value, keyword_nodes.get(word, call.node), True))
    return found


def _watch_arguments(frame: Frame, state: BoundaryState, call: Call, names: list[Passed]) -> list[Watch]:
    from jaxlint.flow.watching import watch

    if frame.level >= JIT:
        return []
    watches: list[Watch] = []
    for index, name, value, node, _ in names:
        dotted = dotted_name(node)
        if dotted is None or dotted.count(".") > 1 or dotted == "self":
            continue
        donated = state.donated
        donating = donated is not None and (index in donated or name in donated) and not _only_scalars(state)
        donating = donating and not _has_no_buffer(value)
        if donating and frame.level > EAGER:
            continue  # under grad a donation has no effect
        if dotted in frame.names or "." in dotted or frame.function is None:
            watches.append(watch(frame, dotted, state, call.node, donating))
    return watches


_WITHOUT_BUFFERS = frozenset(
    (CONSTANT, SCALAR, SHAPE, HOST, FUNCTION, BOUNDARY, CLASS, API, MODULE, DTYPE, PARTIAL, ONE_OF)
)


def _has_no_buffer(value: Value) -> bool:
    """Nothing on the device that could be given away: numbers, functions, numpy's arrays (what is donated is their
    copy), Optax's transformations (`filter_jit(donate="all")` donates the arrays among its arguments)."""
    if value.kind == FOREIGN:
        return value.data is not None and str(value.data.api).startswith("optax.")
    return value.kind in _WITHOUT_BUFFERS


def _only_scalars(state: BoundaryState) -> bool:
    """No output can take a donated array: they are all numbers. Nothing is deleted then (measured)."""
    result = state.result
    if result is None:
        return False
    leaves = parts(result) if result.kind == TREE else [result]
    return bool(leaves) and all(leaf.size == 1 for leaf in leaves)


def _traced_arguments(
    frame: Frame, state: BoundaryState, call: Call, names: list[Passed], receiver: Value | None
) -> dict[str, Value]:
    closure = state.closure
    assert closure is not None
    function = closure.function
    arguments = bind(closure, [], {}, frame)
    bound = set(closure.bound_keywords) | set(function.params[: closure.offset + len(closure.bound)])
    arguments = {name: value for name, value in arguments.items() if name in bound}
    if receiver is not None and function.params and function.is_method:
        arguments[function.params[0]] = _passed_self(state, receiver)
    elif (
        function.is_method
        and closure.receiver is None
        and function.cls is not None
        and function.params[:1] == ["self"]
    ):
        arguments["self"] = _passed_self(state, generic_instance(function.cls))
    for index, name, value, _, _ in names:
        if name is None or (name not in function.index and name not in function.keyword_only):
            continue
        if receiver is not None and name == function.params[0]:
            continue
        static = state.static
        if static is None or name in static or index in static:
            arguments[name] = still(value)
        else:
            arguments[name] = as_traced(value, state.flavour)
    if frame.level == EAGER and any(holds_weak(passed.value) for passed in names):
        for passed in names:
            if passed.name in arguments:
                arguments[passed.name] = typed(passed.value, arguments[passed.name])
    return arguments


def _passed_self(state: BoundaryState, receiver: Value) -> Value:
    """`self` of a jitted method: a pytree argument, unless it is static."""
    if receiver.kind != INSTANCE or (state.static is not None and not state.static.isdisjoint((0, "self"))):
        return receiver
    return Value(INSTANCE, receiver.varies, receiver.tags, receiver.data.as_argument())


def still(value: Value) -> Value:
    """A static argument as the trace sees it: one value, whatever changes outside."""
    if value.kind in TRACERS:
        return UNKNOWN_VALUE
    if value.kind in (SCALAR, UNKNOWN) and value.varies:
        return Value(value.kind, 0, value.tags & ~0)
    return value


def as_traced(value: Value, flavour: str) -> Value:
    """An argument inside the trace."""
    kind = value.kind
    if value.tags & LOW and kind != TREE:
        return Value(TRACED_VALUE.kind, 0, LOW, None, None, value.origin)
    if kind in _ARRAY_KINDS and kind != 3:
        if kind == TRACED_PARAMETER.kind:
            return value
        return TRACED_MASK if value.tags & BOOLEAN_MASK else TRACED_VALUE
    if kind == INSTANCE and value.data.cls.is_pytree_value:
        return _traced_instance(value, flavour)
    if kind == INSTANCE and flavour not in ("filter", "nnx"):  # there a plain object is a constant
        return Value(INSTANCE, value.varies, value.tags, value.data.as_argument())
    if is_number(value) or kind == 3:
        return still(value) if flavour == "filter" else TRACED_VALUE
    if kind == CONSTANT and value.data is None:
        return NONE
    if kind == TREE:
        if value.data.__class__ is list:
            return Value(TREE, 0, 0, [as_traced(v, flavour) for v in value.data], None, value.origin)
        if value.data.__class__ is dict:
            return Value(
                TREE, 0, 0, {k: as_traced(v, flavour) for k, v in value.data.items()}, None, value.origin
            )
        return collection(
            as_traced(value.element, flavour) if value.element is not None else None, value.origin
        )
    if kind == UNKNOWN:
        return UNKNOWN_VALUE if flavour in ("filter", "nnx") or value.tags & ~0 else TRACED_PARAMETER
    return value


def _traced_instance(value: Value, flavour: str) -> Value:
    """A pytree object inside the trace: its leaves are tracers, its static fields are not."""
    old: Instance = value.data
    new = Instance(old.cls, old.home, old.loop, old.node)
    new.identity = old.identity
    new.copied = True
    static = old.cls.all_static_fields()
    for name, field in old.fields.items():
        new.fields[name] = still(field) if name in static else as_traced(field, flavour)
    return Value(INSTANCE, 0, value.tags, new)


class Passed(NamedTuple):
    """An argument of a boundary's call: the parameter it binds, its value and its syntax."""

    position: int | None
    name: str | None
    value: Value
    node: ast.AST
    keyword: bool


class PendingJit:
    """A boundary made; the fact waits for its uses."""

    __slots__ = ("place", "proof", "state", "symbol")

    def __init__(self, frame: Frame, state: BoundaryState) -> None:
        self.state = state
        self.place = frame.place(state.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()

    def fact(self) -> JitCall:
        state = self.state
        return JitCall(
            self.place,
            self.symbol,
            self.proof,
            boundary=describe(state),
            fresh_in=state.fresh_in,
            kept=state.escapes,
            guarded=state.guarded,
            uses=tuple(module.place(node) for module, node in state.uses[:8]),
            only_lowered=bool(state.lowered) and not state.uses,
            literal_loop=state.literal_loop,
            returned=state.returned,
        )


class PendingUse:
    """A boundary called; the fact waits to see which arguments are read again."""

    __slots__ = (
        "arguments",
        "frame_loop",
        "place",
        "proof",
        "rebinds",
        "receiver",
        "starred",
        "state",
        "symbol",
        "watches",
    )

    def __init__(
        self,
        frame: Frame,
        state: BoundaryState,
        call: Call,
        names: list[Passed],
        watches: list[Watch],
        receiver: Value | None,
    ) -> None:
        self.receiver = None
        if receiver is not None and receiver.kind == INSTANCE and receiver.data.home is not None:
            self.receiver = operand(frame, call.node, receiver, parameter="self", index=0)
        self.state = state
        self.place = frame.place(call.node)
        self.symbol = frame.symbol
        self.proof = frame.proof()
        self.starred = call.starred
        self.watches = watches
        self.arguments: tuple[Operand, ...] = tuple(
            operand(frame, node, value, parameter=name, index=index, keyword=keyword)
            for index, name, value, node, keyword in names
        )
        passed = {a.name for a in self.arguments if a.name}
        self.rebinds = tuple(name for name in frame.targets if name in passed)
        self.frame_loop: Place | None = frame.innermost_loop()

    def fact(self) -> BoundaryUse:
        return BoundaryUse(
            self.place,
            self.symbol,
            self.proof,
            boundary=describe(self.state),
            arguments=self.arguments,
            loop=self.frame_loop,
            rebinds=self.rebinds,
            reads_after=tuple(
                w.name for w in self.watches if w.read_as_alias or (w.read and w.name not in self.rebinds)
            ),
            starred=self.starred,
            receiver=self.receiver,
        )


def describe(state: BoundaryState) -> Boundary:
    """The boundary as facts carry it."""
    closure = state.closure
    function: Function | None = closure.function if closure is not None else None
    params = _signature(closure) or []
    cls = state.in_class
    static_self = bool(
        cls is not None
        and not cls.is_pytree_module
        and params[:1] == ["self"]
        and state.static
        and 0 in state.static
    )
    uses = parameter_uses(function) if function is not None else {}
    return Boundary(
        place=state.module.place(state.node),
        api=state.api,
        flavour=state.flavour,
        form=state.form,
        function=function.qualname if function is not None else "",
        definition=_definition(function),
        parameters=tuple(
            Parameter(
                name,
                has_default=name in function.defaults,
                keyword_only=name in function.keyword_only,
                annotation=function.annotations.get(name, ""),
                uses=frozenset(uses.get(name, ())),
                default=_literal(function.defaults.get(name)),
            )
            for name in (*params, *function.keyword_only)
        )
        if function is not None
        else (),
        static=state.static,
        donated=state.donated,
        fresh=state.fresh,
        made_in=_maker(state),
        in_class=cls.qualname if cls is not None else "",
        static_self=static_self,
        self_hashing=cls.hashing if cls is not None else "",
        self_holds_arrays=cls is not None and holds_arrays(generic_instance(cls)),
        updates=_updated(state.result),
        returns_argument=frozenset(name for name, how in uses.items() if "returned" in how),
    )


def _literal(default: ast.expr | None) -> str:
    """A literal default as `repr` shows it."""
    value = default_value(default) if default is not None else None
    return repr(value.data) if value is not None and value.kind == CONSTANT else ""


def _maker(state: BoundaryState) -> str:
    if state.fresh in ("", "nnx") or state.closure is None:
        return state.function.qualname if state.fresh and state.function is not None else ""
    return maker(state.closure)


def _definition(function: Function | None) -> Place | None:
    if function is None:
        return None
    node = function.node
    return function.module.place(node) if isinstance(node, ast.Lambda) else function.module.header(node)


def _updated(value: Value | None, depth: int = 0) -> bool:
    if value is None or depth > 3:
        return False
    return bool(value.tags & UPDATED) or any(_updated(v, depth + 1) for v in parts(value))
