"""Collections whose members are drawn anew each time they are made: what is selected among them is of another
number each time. That the members of a list differ from each other says nothing of the next list."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import INSTANCE, TREE
from jaxlint.flow.domain.origin_words import RANDOM
from jaxlint.flow.domain.values import PER_ITERATION, Origin, Value, parts
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.written_names import last_name

_NESTED = 3
_GENERATORS = frozenset({"default_rng", "RandomState", "Random"})


def made_anew(frame: Frame, value: Value, given: Iterable[Value], closure: Closure | None = None) -> Value:
    """A collection that an expression of a loop, or a call in one, makes: it is another one in each round where its
    members are drawn in making it, and not those of what is `given`."""
    if not frame.loop or frame.level or value.kind != TREE or value.element is None or value.varies:
        return value
    draw = _draw(value.element)
    if draw is None or any(_draw(v) is not None for v in given):
        return value
    if closure is not None and _replays(draw.node, closure.function.node):
        return value
    return value.but(varies=PER_ITERATION)


def _draw(value: Value, depth: int = _NESTED) -> Origin | None:
    """Where a number in a value was drawn."""
    if value.origin is not None and value.origin.word == RANDOM and value.varies:
        return value.origin
    if value.kind not in (TREE, INSTANCE) or not depth:
        return None
    members = [*parts(value), *([value.element] if value.element is not None else [])]
    return next((found for member in members if (found := _draw(member, depth - 1)) is not None), None)


def _replays(draw: ast.AST, function: ast.AST) -> bool:
    """Whether the function draws from a generator that it makes of constants: the same numbers in each call."""
    callee = draw.func if isinstance(draw, ast.Call) else None
    owner = callee.value if isinstance(callee, ast.Attribute) else None
    if not isinstance(owner, ast.Name):
        return False
    made = Bindings(function).of(owner.id)
    return any(
        isinstance(node, ast.Call)
        and last_name(node.func) in _GENERATORS
        and bool(node.args)
        and all(isinstance(a, ast.Constant) for a in node.args)
        for node in made
    )
