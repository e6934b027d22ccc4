"""Callables made by running code: functions with the names around them, library callables with bound arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.flow.domain.kinds import FUNCTION, INSTANCE

if TYPE_CHECKING:
    from jaxlint.flow.calls.linen import Applied
    from jaxlint.flow.domain.classes import ClassInfo
    from jaxlint.flow.domain.functions import Function
    from jaxlint.flow.domain.values import Value
    from jaxlint.flow.evaluations import Evaluation


class Scope:
    """The names around a nested function. `home` is the evaluation they belong to: branches and loops work on
    copies of the names, so only it identifies a variable."""

    __slots__ = ("home", "names", "up")

    def __init__(self, names: dict[str, Value], up: Scope | None, home: Evaluation | None = None) -> None:
        self.names = names
        self.up = up
        self.home = home


class Closure:
    """A function object made somewhere.

    `home` and `loop` say where: the evaluation that made it and how many loops were around it there.
    `transforms` are (level, name) pairs, innermost first. `via` is "partial" or "".
    `receiver` is the instance of a bound method.
    """

    __slots__ = (
        "applied", "argnums", "axes_unknown", "bound", "bound_keywords", "by_equinox", "by_position", "dropped",
        "function",
        "home", "in_axes", "initialises",
        "inner_fresh", "loop", "node", "receiver", "scope", "transforms", "via",
    )  # fmt: skip

    def __init__(
        self, function: Function, scope: Scope | None, home: Evaluation | None, loop: int, node: ast.AST
    ) -> None:
        self.function = function
        self.scope = scope
        self.home = home
        self.loop = loop
        self.node = node
        self.transforms: tuple[tuple[int, str], ...] = ()
        self.bound: list[Value] = []
        self.bound_keywords: dict[str, Value] = {}
        self.receiver: Value | None = None
        self.in_axes: list[Any] | None = None  # see flow.calls.mapped_axes
        self.argnums: list[int] | None = [0]  # what grad differentiates; None: not understood
        self.axes_unknown = False
        self.by_position = False  # a transform goes by where arguments stand: `vmap(f, in_axes=1)`
        self.dropped = 0  # leading arguments that the function does not get (Haiku's params and rng)
        self.initialises = False  # Haiku's `init`: what comes out are the parameters
        self.applied: Applied | None = None  # run by a linen module's `apply` or `init`
        self.via = ""
        self.by_equinox = False  # transformed by Equinox's own transforms, which hash by value
        self.inner_fresh = False  # what is transformed is itself made anew

    def copy(self, home: Evaluation | None, loop: int, node: ast.AST) -> Closure:
        """The same function as another object, made here."""
        new = Closure(self.function, self.scope, home, loop, node)
        new.transforms = self.transforms
        new.bound = self.bound
        new.bound_keywords = self.bound_keywords
        new.receiver = self.receiver
        new.in_axes = self.in_axes
        new.argnums = self.argnums
        new.axes_unknown = self.axes_unknown
        new.by_position = self.by_position
        new.dropped = self.dropped
        new.applied = self.applied
        new.initialises = self.initialises
        new.via = self.via
        new.by_equinox = self.by_equinox
        new.inner_fresh = self.inner_fresh
        return new

    @property
    def offset(self) -> int:
        """How many leading parameters a call does not pass (self of a bound method)."""
        return 1 if self.receiver is not None and self.function.is_method else 0


def run_by(value: Value, node: ast.AST) -> Closure | None:
    """What a call of a function runs, or of an object of the project: its `__call__`. None for anything else."""
    if value.kind == FUNCTION:
        closure: Closure = value.data
        return closure
    method = value.data.cls.lookup("__call__") if value.kind == INSTANCE else None
    if method is None:
        return None
    scope = method.cls.scope if method.cls is not None else None
    made = Closure(method, scope, value.data.home, value.data.loop, node)
    made.receiver = value
    made.via = "instance"
    return made


class PartialApi:
    """`partial(jax.jit, static_argnums=0)`: a library callable with arguments bound, a class of the project, or a
    jit boundary."""

    __slots__ = ("api", "args", "boundary", "cls", "home", "keywords", "loop", "node")

    def __init__(
        self,
        api: str,
        args: list[Value],
        keywords: dict[str, Value],
        home: Evaluation | None = None,
        loop: int = 0,
        node: ast.AST | None = None,
    ) -> None:
        self.api = api
        self.args = args
        self.keywords = keywords
        self.home = home
        self.loop = loop
        self.node = node or ast.Pass()
        self.cls: ClassInfo | None = None  # instead of an `api`
        self.boundary: Value | None = None  # instead of an `api`
