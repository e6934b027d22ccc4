"""One function being interpreted, and the dispatch over syntax nodes.

Transfer functions live in modules of their own and register here by node type or API category:

    @expression(ast.Name)
    def name(frame: Frame, node: ast.Name) -> Value: ...

    @statement(ast.Return)
    def return_(frame: Frame, node: ast.Return) -> bool: ...      # True: control does not go on

    @api_call("jnp")
    def jnp(frame: Frame, dotted: str, last: str, call: Call) -> Value: ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from jaxlint.finding import Place
from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.closures import Scope
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import Fact, Guard, Proof
from jaxlint.flow.program import LoadedModule
from jaxlint.index.walking import ComprehensionNode, LoopNode
from jaxlint.jax_api.transforms import EAGER, LEVEL_NAMES

if TYPE_CHECKING:
    from jaxlint.flow.evaluations import Evaluation
    from jaxlint.flow.run import Run


class Call:
    """A call being evaluated: its node and the values of its arguments.

    The first `bound` positional values were bound by a partial: they have no syntax in the call.
    """

    __slots__ = ("bound", "decorator", "keywords", "node", "positional", "several", "starred")

    def __init__(
        self,
        node: ast.AST,
        positional: list[Value],
        keywords: dict[str, Value],
        starred: bool = False,
        decorator: bool = False,
        bound: int = 0,
    ) -> None:
        self.node = node
        self.bound = bound
        self.positional = positional
        self.keywords = keywords
        self.starred = starred
        self.decorator = decorator
        self.several = False  # of one of several callables, with other signatures

    def argument(self, position: int, *names: str) -> Value | None:
        """The value at a position or under a keyword."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.positional[position] if position < len(self.positional) else None

    def values(self) -> list[Value]:
        """All argument values."""
        return [*self.positional, *self.keywords.values()] if self.keywords else self.positional

    def argument_node(self, position: int, *names: str) -> ast.expr | None:
        """The syntax of an argument, if the call stands in the source as such."""
        if not isinstance(self.node, ast.Call):
            return None
        for keyword in self.node.keywords:
            if keyword.arg in names:
                return keyword.value
        position -= self.bound
        return self.node.args[position] if 0 <= position < len(self.node.args) else None


ExpressionHandler = Callable[["Frame", Any], Value]
StatementHandler = Callable[["Frame", Any], bool | None]
ApiHandler = Callable[["Frame", str, str, Call], Value]

EXPRESSIONS: dict[type, ExpressionHandler] = {}
STATEMENTS: dict[type, StatementHandler] = {}
API_CALLS: dict[str, ApiHandler] = {}

E = TypeVar("E", bound=ExpressionHandler)
S = TypeVar("S", bound=StatementHandler)
A = TypeVar("A", bound=ApiHandler)


def expression(*types: type[ast.expr]) -> Callable[[E], E]:
    """Register the evaluation of expression nodes."""

    def register(handler: E) -> E:
        EXPRESSIONS.update(dict.fromkeys(types, handler))
        return handler

    return register


def statement(*types: type[ast.stmt]) -> Callable[[S], S]:
    """Register the execution of statement nodes."""

    def register(handler: S) -> S:
        STATEMENTS.update(dict.fromkeys(types, handler))
        return handler

    return register


def api_call(*categories: str) -> Callable[[A], A]:
    """Register the meaning of calls of a category of library names."""

    def register(handler: A) -> A:
        API_CALLS.update(dict.fromkeys(categories, handler))
        return handler

    return register


class Loop:
    """A loop being executed: the environments at its breaks and continues. `inner` are the rounds of the loops
    in it, see flow.unrolled; `growing` the paths of what is longer at the start of each round, see flow.growth,
    None while that is being found out."""

    __slots__ = ("broken", "continued", "growing", "inner", "iterable", "node")

    def __init__(self, node: LoopNode, iterable: Value | None) -> None:
        self.node = node
        self.iterable = iterable
        self.inner = 1
        self.growing: frozenset[str] | None = None
        self.broken: dict[str, Value] | None = None
        self.continued: dict[str, Value] | None = None


class Frame:
    """The state of one interpretation of a function body (or a module's top level).

    `level` is the trace level; `loop` counts the run-time loops around the current statement; `quiet` is set
    while a loop's first pass rehearses; `targets` are the names the current statement assigns from its call.
    """

    __slots__ = (
        "aliases",
        "answered",
        "branches",
        "cls",
        "comprehensions",
        "defining",
        "depth",
        "dotted",
        "evaluation",
        "filling",
        "function",
        "globals",
        "grows",
        "guard",
        "in_default",
        "last_operand",
        "lends",
        "level",
        "literal_loops",
        "log",
        "lookups",
        "loop",
        "loops",
        "module",
        "names",
        "nonlocals",
        "outer",
        "quiet",
        "reads",
        "result",
        "run",
        "statement",
        "targets",
        "traced_by",
        "watching",
        "weakly_typed",
        "yielded",
        "yields",
    )  # fmt: skip

    def __init__(
        self,
        run: Run,
        module: LoadedModule,
        evaluation: Evaluation,
        function: Function | None,
        level: int,
        depth: int,
        outer: Scope | None,
    ) -> None:
        self.run = run
        self.module = module
        self.evaluation = evaluation
        self.function = function
        self.cls = function.cls if function is not None else None
        self.level = level
        self.depth = depth
        self.outer = outer
        self.names: dict[str, Value] = {}
        self.log: list[Any] = evaluation.log
        self.loop = 0
        self.loops: list[Loop] = []
        self.literal_loops = 0
        self.quiet = 0
        self.guard = 0
        self.targets: tuple[str, ...] = ()
        self.statement: ast.stmt | None = None
        self.result: Value | None = None
        self.yielded: Value | None = None
        self.yields: list[Value] | None = []  # all that is yielded, in order; None where that cannot be told
        self.reads: dict[Any, Read] | None = None
        self.traced_by: Place | None = None
        self.watching = False
        self.lends = False  # some numpy array was given to jax, see flow.lending
        self.filling = 0  # inside how many tests that something is not there yet
        self.branches: tuple[ast.AST, ...] = ()  # the tests around here, inside the innermost loop
        self.comprehensions: list[ComprehensionNode] = []  # those being evaluated, but over literal displays
        self.lookups: dict[str, str] = {}  # name → the container its value was looked up in
        self.answered: set[str] = set()  # containers that were asked first: `if key in cache: return …`
        self.weakly_typed = False  # weak types are followed here, see flow.weak_types
        self.dotted = False  # some name of the environment has a dot
        self.grows = False  # a value that a loop here makes longer was stored, see flow.growth
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.defining: ClassInfo | None = None  # the class whose body is being executed
        self.in_default = False  # a default argument is being evaluated
        # The last operand of the `and` or `or` evaluated last, where it decides, and the guard it stands under.
        self.last_operand: tuple[Value, int] | None = None
        self.aliases: dict[str, str] = {}

    def place(self, node: ast.AST) -> Place:
        return self.module.place(node)

    @property
    def symbol(self) -> str:
        return self.function.qualname if self.function is not None else ""

    def proof(self) -> Proof:
        """The proof state here; eagerness and repetition are added when the run's facts are collected."""
        return Proof(LEVEL_NAMES[self.level], why_traced=self.traced_by, guard=Guard(self.guard))

    def innermost_loop(self) -> Place | None:
        """The loop around the current statement or expression, here."""
        if self.comprehensions:
            return self.place(self.comprehensions[-1])
        return self.place(self.loops[-1].node) if self.loops else None

    def record(self, fact: Fact) -> None:
        """Leave a fact."""
        self.log.append(fact)

    def scope(self) -> Scope | None:
        """The names a nested function sees; None at module level."""
        if self.function is None and self.outer is None:
            return None
        return Scope(self.names, self.outer, self.evaluation)

    @property
    def eager(self) -> bool:
        return self.level == EAGER


def evaluate(frame: Frame, node: ast.AST) -> Value:
    """The abstract value of an expression."""
    handler = EXPRESSIONS.get(node.__class__)
    return handler(frame, node) if handler is not None else UNKNOWN_VALUE


def execute(frame: Frame, body: list[ast.stmt]) -> bool:
    """Run statements; True when control does not reach their end."""
    for node in body:
        handler = STATEMENTS.get(node.__class__)
        if handler is not None and handler(frame, node):
            return True
    return False
