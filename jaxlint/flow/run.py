"""Running functions: evaluated on demand, once for each kind of arguments, and replayed from then on.

A run analyses one module of the project (its root): the module's top level, then each of its functions with
unknown arguments, following calls into whatever they reach. Every evaluation keeps a log of the facts it
left and the evaluations it called. At the end the logs are walked from the root, so that one evaluation
reached by several call chains gives its facts once for each state of proof.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.finding import Place
from jaxlint.flow.calls.parameter_values import as_annotated, as_passed, when_unknown
from jaxlint.flow.calls.returned_values import HOLDERS, as_seen_by, rehome
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import FUNCTION, TREE, UNKNOWN
from jaxlint.flow.domain.tags import LENGTHENED
from jaxlint.flow.domain.values import NONE, PER_CALL_UNKNOWN, UNKNOWN_VALUE, Value, has_types
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.frame import Frame, evaluate, execute
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.retrace.drawn_members import made_anew
from jaxlint.flow.statements.guards import TRACER_BRANCH
from jaxlint.flow.statements.rounds import yielded_in_rounds
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.index.once import runs_once
from jaxlint.jax_api.transforms import EAGER

if TYPE_CHECKING:
    from jaxlint.flow.retrace.carry import Carry
    from jaxlint.flow.retrace.restarts import FieldStored
    from jaxlint.flow.syntax.bindings import Bindings
    from jaxlint.index.walking import LoopNode


# Limits of the analysis. A function is evaluated for so many different kinds of arguments, calls are followed
# so deep; beyond that a result is unknown.
_VARIANTS = 6
_OF_FUNCTIONS = 24  # of those that are given functions: a decorator makes something else of each
_DEPTH = 11
_WRAPPED = 2  # so many functions of one wrapper are followed into each other


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
        self.loops: list[LoopNode] = []  # those that are running
        self.field_carries: dict[tuple[object, str], Carry] = {}  # see flow.field_carry
        self.field_stores: dict[tuple[object, str], list[FieldStored]] = {}  # see flow.retrace.restarts
        self.field_leaves: dict[int, tuple[object, str, Carry]] = {}
        # Loops: what they go through, and their bodies; None until a generator throws compiled code away.
        self.consumers: list[tuple[Frame, ast.expr, Place]] | None = None
        self.resized: dict[ast.AST, dict[str, ast.AST]] = {}  # see flow.lengths
        self.filled: dict[tuple[ast.AST, str], ast.AST | None] = {}  # see flow.filled
        # Evaluations that a gradient is taken of, and all they call: see flow.remat.
        self.differentiated: set[Evaluation] = set()
        self.under_gradient: set[Evaluation] | None = None
        # Evaluations that are mapped: their arrays have an axis more than the code says. See flow.stacked_sizes.
        self.mapped: set[Evaluation] = set()
        self.under_map: set[Evaluation] | None = None

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
            if result.kind in HOLDERS and not closure.function.cached:
                result = rehome(result, evaluation, caller)
            seen = as_seen_by(result, closure.function, caller)
            return made_anew(caller, seen, arguments.values(), closure)
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
        evaluation.frame = frame
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
                value = (
                    when_unknown(self.program, function, name, value or missing)
                    if eager
                    else value or missing
                )
            if value.tags & LENGTHENED:
                value = value.but(tags=value.tags & ~LENGTHENED)
            names[name] = (
                as_passed(self.program, function, name, value)
                if eager
                else as_annotated(self.program, function, name, value)
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
                    evaluation.result = Value(TREE, 0, 0, frame.yields, element, yielded_in_rounds(frame))
        finally:
            evaluation.active = False
            self.stack.pop()

    def entered(self, node: ast.AST, caller: Frame, evaluation: Evaluation, declared: bool = False) -> Called:
        """The log entry for an evaluation that is not entered through `call` (a traced body)."""
        tests = caller.branches
        scope = scope_of(caller)
        evaluation.entries.append((caller, node))
        in_loop = caller.loop > 0 and not runs_once(scope, node)
        around = [loop.node for loop in caller.loops[-1:]]
        loop = [*around, *caller.comprehensions][-1] if around or caller.comprehensions else None
        return Called(node, caller.module, evaluation, in_loop, bool(tests), declared, tests, scope, loop)

    def generic(self, frame: Frame, closure: Closure) -> Evaluation | None:
        """An eager function with unknown arguments."""
        arguments: dict[str, Value] = {}
        if closure.receiver is not None and closure.function.params and closure.function.is_method:
            arguments[closure.function.params[0]] = closure.receiver
        return self.evaluation(frame, closure, arguments, EAGER, None)
