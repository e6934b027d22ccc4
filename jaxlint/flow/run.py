"""Running functions: evaluated on demand, once for each kind of arguments, and replayed from then on.

A run analyses one module of the project (its root): the module's top level, then each of its functions with
unknown arguments, following calls into whatever they reach. Every evaluation keeps a log of the facts it
left and the evaluations it called. At the end the logs are walked from the root, so that one evaluation
reached by several call chains gives its facts once for each state of proof.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.few import is_one_of_few
from jaxlint.flow.frame import Frame, evaluate, execute
from jaxlint.flow.guards import TRACER_BRANCH
from jaxlint.flow.objects import BoundaryState, Closure, Foreign, Function, Instance, PartialApi, Read
from jaxlint.flow.program import LoadedModule, Program, api
from jaxlint.flow.values import (
    API,
    BOUNDED,
    CLASS,
    FOREIGN,
    FUNCTION,
    INSTANCE,
    LAZY,
    LENGTHENED,
    NONE,
    PARAMETER,
    PER_CALL,
    PER_CALL_UNKNOWN,
    PER_ITERATION,
    SCALAR,
    SHAPED,
    TRACED,
    TREE,
    UNKNOWN,
    UNKNOWN_VALUE,
    Value,
    as_member,
    has_types,
    join,
    tree,
)
from jaxlint.jax_api.precision import dtype_named
from jaxlint.jax_api.transforms import EAGER

if TYPE_CHECKING:
    from jaxlint.flow.bindings import Bindings
    from jaxlint.flow.carry import Carry
    from jaxlint.flow.configuration import DeviceUse

# Limits of the analysis. A function is evaluated for so many different kinds of arguments, calls are followed
# so deep; beyond that a result is unknown.
_VARIANTS = 6
_OF_FUNCTIONS = 24  # of those that are given functions: a decorator makes something else of each
_DEPTH = 11
_WRAPPED = 2  # so many functions of one wrapper are followed into each other
_NESTED = 3  # how deep what a call returns is looked into
_HOLDERS = frozenset((FUNCTION, INSTANCE, FOREIGN, TREE))


class Evaluation:
    """One function body evaluated for one kind of arguments at one trace level."""

    __slots__ = (
        "active", "device", "function", "level", "log", "module", "reads", "result", "scope", "tells", "traced_by",
    )  # fmt: skip

    def __init__(self, module: LoadedModule, function: Function | None, level: int) -> None:
        self.module = module
        self.function = function
        self.level = level
        self.result: Value = UNKNOWN_VALUE
        self.log: list[Any] = []
        self.reads: dict[Any, Read] = {}
        self.active = False
        self.device: DeviceUse | None = None  # its first device work, see flow.configuration
        # What it was called with; kept alive, the scope's identity is part of the memo's key.
        self.scope: tuple[Any, Closure, dict[str, Value]] | None = None
        self.traced_by: Place | None = None  # the boundary or control flow whose trace it belongs to
        self.tells: int | None = None  # the kinds of events in its log and below, see flow.staleness


class Called(NamedTuple):
    """A log entry: a call that entered another evaluation."""

    node: ast.AST
    module: LoadedModule
    evaluation: Evaluation
    in_loop: bool
    sometimes: bool = False  # under a test
    declared: bool = False  # traced as a transform declares, before any call
    tests: tuple[ast.AST, ...] = ()  # those around it


class Run:
    """The analysis of one root module."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memo: dict[Any, Evaluation] = {}
        self.variants: dict[Any, int] = {}  # by function, and by the names around it where it is nested
        self.traced: set[Function] = set()
        self.stack: list[Evaluation] = []
        self.top: Frame | None = None  # the module's own top level
        # Boundaries declared at top level: a body may name what the module defines further down, so they are
        # traced when they are called or when all of it has run. None from then on.
        self.declared: dict[BoundaryState, tuple[Frame, ast.AST]] | None = {}
        self.boundaries: list[BoundaryState] = []
        # Calls of functions with a cache: the place and the arguments of each.
        self.cached_calls: dict[Function, list[tuple[Place, dict[str, Value]]]] = {}
        self.start_method: tuple[str, Place] | None = None  # what `set_start_method` was told, and where
        # Calls in this run that donate to a boundary of another module than the root.
        self.donating: dict[BoundaryState, list[tuple[LoadedModule, ast.AST]]] = {}
        self.bindings: dict[ast.AST, Bindings] = {}  # see flow.bindings
        self.parents: dict[ast.AST, dict[ast.AST, ast.AST]] = {}  # see flow.stack_use
        self.carries: dict[int, Carry] = {}  # see flow.carry
        self.field_carries: dict[tuple[object, str], Carry] = {}
        self.resized: dict[ast.AST, dict[str, ast.AST]] = {}  # see flow.lengths
        self.filled: dict[tuple[ast.AST, str], ast.AST | None] = {}  # see flow.filled
        # Evaluations that a gradient is taken of, and all they call: see flow.remat.
        self.differentiated: set[Evaluation] = set()
        self.under_gradient: set[Evaluation] | None = None

    def call(
        self,
        caller: Frame,
        closure: Closure,
        arguments: dict[str, Value],
        level: int,
        node: ast.AST,
        traced_by: Place | None = None,
    ) -> Value:
        """Enter a function with bound arguments; its result."""
        evaluation = self.evaluation(caller, closure, arguments, level, traced_by)
        if evaluation is None:
            return UNKNOWN_VALUE
        caller.log.append(self.entered(node, caller, evaluation))
        if caller.reads is not None and evaluation.reads:
            for key, read in evaluation.reads.items():
                caller.reads.setdefault(key, read)
        result = evaluation.result
        if level == EAGER:
            if result.kind in _HOLDERS and not closure.function.cached:
                result = rehome(result, evaluation, caller)
            return _as_seen_by(result, closure.function, caller)
        return result

    def evaluation(
        self,
        caller: Frame,
        closure: Closure,
        arguments: dict[str, Value],
        level: int,
        traced_by: Place | None,
    ) -> Evaluation | None:
        """The evaluation for these arguments, made or remembered; None where the analysis gives up."""
        function = closure.function
        scope = closure.scope
        key = (
            function,
            level,
            caller.guard & TRACER_BRANCH,
            None if scope is None else id(scope.names),
            tuple([(name, value.signature()) for name, value in arguments.items()]),
        )
        known = self.memo.get(key)
        if known is not None:
            return known
        counted = function if scope is None or function.parent is None else (function, id(scope.names))
        count = self.variants.get(counted, 0)
        limit = _OF_FUNCTIONS if any(v.kind == FUNCTION for v in arguments.values()) else _VARIANTS
        if count >= limit or len(self.stack) >= _DEPTH or self._recurs(closure):
            return None
        self.variants[counted] = count + 1
        if level:
            self.traced.add(function)
        evaluation = self.memo[key] = Evaluation(function.module, function, level)
        evaluation.scope = (scope, closure, arguments)
        self._interpret(caller, closure, arguments, evaluation, traced_by)
        return evaluation

    def _recurs(self, closure: Closure) -> bool:
        """Whether the function is being run already. What one outer function makes twice, such as the wrapper of
        a decorator, may call the other one of its kind."""
        running = [e.scope[0] for e in self.stack if e.function is closure.function and e.scope is not None]
        names = None if closure.scope is None else closure.scope.names
        same = any((None if scope is None else scope.names) is names for scope in running)
        return same or len(running) > _WRAPPED

    def _interpret(
        self,
        caller: Frame,
        closure: Closure,
        arguments: dict[str, Value],
        evaluation: Evaluation,
        traced_by: Place | None,
    ) -> None:
        function = closure.function
        module = function.module
        self.program.environment(module)
        if self.top is not None and module is self.top.module and self.top.names is not module.names:
            module.names = self.top.names
        frame = Frame(
            self, module, evaluation, function, evaluation.level, len(self.stack) + 1, closure.scope
        )
        frame.guard = caller.guard & TRACER_BRANCH
        frame.reads = evaluation.reads if evaluation.level else None
        frame.traced_by = evaluation.traced_by = traced_by or caller.traced_by
        frame.weakly_typed = caller.weakly_typed or (
            evaluation.level > caller.level and any(map(has_types, arguments.values()))
        )
        missing = PER_CALL_UNKNOWN if evaluation.level == EAGER else UNKNOWN_VALUE
        names = frame.names
        eager = evaluation.level == EAGER
        for name in (*function.params, *function.keyword_only):
            value = arguments.get(name)
            if value is None or (eager and value.kind == UNKNOWN and not value.tags):
                value = self._parameter(function, name, value or missing) if eager else value or missing
            if value.tags & LENGTHENED:
                value = value.but(tags=value.tags & ~LENGTHENED)
            names[name] = (
                self._as_passed(function, name, value) if eager else self._as_annotated(function, name, value)
            )
        if function.args.vararg is not None:
            names[function.args.vararg.arg] = arguments.get("*", UNKNOWN_VALUE)
        if function.args.kwarg is not None:
            names[function.args.kwarg.arg] = arguments.get("**", UNKNOWN_VALUE)
        self.stack.append(evaluation)
        evaluation.active = True
        try:
            if isinstance(function.node, ast.Lambda):
                evaluation.result = evaluate(frame, function.node.body)
            else:
                execute(frame, function.node.body)
                evaluation.result = frame.result if frame.result is not None else NONE
                if frame.yielded is not None:
                    element = frame.yielded if frame.yields is None else None
                    evaluation.result = Value(TREE, 0, 0, frame.yields, element)
        finally:
            evaluation.active = False
            self.stack.pop()

    def _as_passed(self, function: Function, name: str, value: Value) -> Value:
        """An argument in the function's terms: what the caller made once is constant to it."""
        if value.kind == UNKNOWN and value.varies and is_one_of_few(self.program, function, name):
            return value.but(tags=value.tags | BOUNDED)
        if value.varies == PER_CALL and value.origin is not None:
            return value.but(varies=0)
        return value

    def _as_annotated(self, function: Function, name: str, value: Value) -> Value:
        """A parameter of traced code that is annotated with a pytree class: its array fields are tracers."""
        annotation = function.annotations.get(name)
        if value.kind != PARAMETER or annotation is None or not annotation.isidentifier():
            return value
        found = (function.module.names or {}).get(annotation)
        if found is not None and found.kind == LAZY:
            found = self.program.force(found)
        if found is None or found.kind != CLASS or not found.data.is_pytree_value:
            return value
        thing = Instance(found.data, None, 0, function.node)
        thing.fields = {field: Value(TRACED) for field in found.data.array_fields()}
        return Value(INSTANCE, 0, value.tags, thing)

    def entered(self, node: ast.AST, caller: Frame, evaluation: Evaluation, declared: bool = False) -> Called:
        """The log entry for an evaluation that is not entered through `call` (a traced body)."""
        tests = caller.branches
        return Called(node, caller.module, evaluation, caller.loop > 0, bool(tests), declared, tests)

    def _parameter(self, function: Function, name: str, unknown: Value) -> Value:
        """An unknown argument of eager code: a number where the default or the annotation says so."""
        default = function.defaults.get(name)
        if isinstance(default, ast.Constant) and type(default.value) in (int, float):
            return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
        if function.annotations.get(name) in ("int", "float"):
            return Value(SCALAR, max(unknown.varies, PER_CALL), 0, None, None, unknown.origin)
        if isinstance(default, ast.Attribute):
            found = default_value(default, function.module)
            return found if found.kind == API else unknown
        return unknown

    def generic(self, frame: Frame, closure: Closure) -> Evaluation | None:
        """An eager function with unknown arguments."""
        arguments: dict[str, Value] = {}
        if closure.receiver is not None and closure.function.params and closure.function.is_method:
            arguments[closure.function.params[0]] = closure.receiver
        return self.evaluation(frame, closure, arguments, EAGER, None)


# Words for values that are read off data or drawn: new in each call of the code that makes them.
LEN_OF_ANOTHER = "len of another"  # thing each time: they may all be of one length
ROUNDS = "rounds"  # that a loop with an open end went
DRAWN = frozenset(
    {
        *("item", "int of array", "float of array", "random number", "clock", "identifier", "counter"),
        *("len", LEN_OF_ANOTHER, ROUNDS),
    }
)


def _as_seen_by(value: Value, function: Function, caller: Frame) -> Value:
    """A returned value's variation in the caller's terms: what the function's own loops or data made of it is
    new in each call of the function."""
    if value.kind == TREE and value.data.__class__ is list:
        members = [_as_seen_by(v, function, caller) for v in value.data]
        return Value(TREE, value.varies, value.tags, members, None, value.origin)
    if value.kind == TREE and value.data.__class__ is dict:
        known = {key: _as_seen_by(v, function, caller) for key, v in value.data.items()}
        return Value(TREE, value.varies, value.tags, known, None, value.origin)
    if value.kind == TREE and value.element is not None and value.element.varies:
        element = as_member(value.element)
        if element.data.__class__ is not dict:  # what tells members apart tells them apart for the caller
            element = _as_seen_by(element, function, caller)
        value = Value(TREE, value.varies, value.tags, None, element, value.origin)
    if value.kind == INSTANCE and any(f.varies and f.tags & SHAPED for f in value.data.fields.values()):
        seen = value.data.described()
        seen.fields = {
            name: _as_seen_by(field, function, caller) if field.tags & SHAPED else field
            for name, field in value.data.fields.items()
        }
        return Value(INSTANCE, value.varies, value.tags, seen, None, value.origin)
    if not value.varies or not _varied_inside(value, function):
        return value
    word = value.origin.word if value.origin is not None else ""
    again = caller.loop and (value.tags & SHAPED or word in DRAWN)
    tags = value.tags | BOUNDED if word == "list element" else value.tags
    return value.but(varies=PER_ITERATION if again else PER_CALL, tags=tags)


def _varied_inside(value: Value, function: Function) -> bool:
    """Whether the loop that varies a returned value is the function's own."""
    origin, node = value.origin, function.node
    if origin is None or origin.module is not function.module or not hasattr(origin.node, "lineno"):
        return False
    line: int = origin.node.lineno
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def rehome(value: Value, evaluation: Evaluation, caller: Frame, depth: int = 0) -> Value:
    """What a call returns fresh is as fresh as the call: it belongs to the caller from then on, and so does
    what it holds."""
    if value.kind == TREE and depth < _NESTED:
        return _rehomed_tree(value, evaluation, caller, depth)
    if value.kind not in (FUNCTION, INSTANCE, FOREIGN):
        return value
    thing: Closure | Instance | Foreign = value.data
    if thing.home is not evaluation:
        return value
    element = value.element
    new: Closure | Instance | Foreign
    if isinstance(thing, Closure):
        new = thing.copy(caller.evaluation, caller.loop, thing.node)
    elif isinstance(thing, Instance):
        new = Instance(thing.cls, caller.evaluation, caller.loop, caller.statement or thing.node)
        new.fields = thing.fields
        new.identity = thing.identity
    else:
        new = Foreign(thing.api, caller.evaluation, caller.loop, thing.node)
        if element is not None and depth < _NESTED:
            element = rehome(element, evaluation, caller, depth + 1)
    return Value(value.kind, value.varies, value.tags, new, element, value.origin)


def _rehomed_tree(value: Value, evaluation: Evaluation, caller: Frame, depth: int) -> Value:
    if value.data.__class__ is list:
        members: object = [rehome(v, evaluation, caller, depth + 1) for v in value.data]
    elif value.data.__class__ is dict:
        members = {k: rehome(v, evaluation, caller, depth + 1) for k, v in value.data.items()}
    else:
        return value
    return Value(TREE, value.varies, value.tags, members, value.element, value.origin)


def freshness(frame: Frame, thing: Closure | Instance | Foreign | PartialApi) -> str:
    """Whether a thing is new where the frame now stands: "loop" (each iteration), "call" (each call of the
    function that makes it) or "" (it outlives both)."""
    home = thing.home
    if home is None:
        return ""
    if home is frame.evaluation:
        if thing.loop and frame.loop >= thing.loop:
            return "loop"
        return "call" if home.function is not None else ""
    if not home.active:
        return ""
    if thing.loop:
        return "loop"
    return "call" if home.function is not None else ""


def bind(
    closure: Closure,
    positional: list[Value],
    keywords: dict[str, Value],
    frame: Frame,
    starred: bool = False,
) -> dict[str, Value]:
    """Arguments by parameter name, bound ones and constant defaults included; what `**` takes in under that name,
    unless the call is `starred`: then some are not in view."""
    function = closure.function
    params = function.params
    bound: dict[str, Value] = {}
    start = 0
    if closure.receiver is not None and function.is_method and params:
        bound[params[0]] = closure.receiver
        start = 1
    if closure.dropped:
        positional = positional[closure.dropped :]
    values = [*closure.bound, *positional] if closure.bound else positional
    extra: list[Value] = []
    for offset, value in enumerate(values):
        if start + offset < len(params):
            bound[params[start + offset]] = value
        else:
            extra.append(value)
    if extra and function.variadic:
        bound["*"] = Value(TREE, 0, 0, extra)
    if closure.bound_keywords:
        keywords = {**closure.bound_keywords, **keywords}
    others: dict[Any, Value] = {}
    for name, value in keywords.items():
        if name in function.index or name in function.keyword_only:
            bound[name] = value
        else:
            others[name] = value
    if function.args.kwarg is not None and others and not starred:
        bound["**"] = tree(others)
    for name, default in function.defaults.items():
        if name not in bound:
            bound[name] = default_value(default, function.module)
    return bound


def default_value(node: ast.expr, module: LoadedModule | None = None) -> Value:
    """The value of a default: only constants, tuples of them and dtypes are looked at."""
    if isinstance(node, ast.Constant):
        return Value(1, data=node.value)
    if isinstance(node, ast.Tuple) and all(isinstance(item, ast.Constant) for item in node.elts):
        return tree([default_value(item) for item in node.elts])
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        operand = node.operand.value
        if isinstance(operand, (int, float)):
            return Value(1, data=-operand)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and module is not None:
        owner = (module.names or {}).get(node.value.id)
        if owner is not None and owner.kind == API:
            named = api(f"{owner.data}.{node.attr}")
            return named if dtype_named(named.data) else UNKNOWN_VALUE
    return UNKNOWN_VALUE


def returned(frame: Frame, value: Value) -> None:
    """A `return`."""
    frame.result = value if frame.result is None else join(frame.result, value)
