"""How often a container gets another entry: the rounds of the loops that it grows in, all together."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory.growing_loops import names_in, targets
from jaxlint.flow.statements.iteration import is_literal_display
from jaxlint.flow.statements.loop_sources import kind_of_loop
from jaxlint.flow.statements.rounds import counted_members
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, scope_of
from jaxlint.flow.syntax.entries import passed_for
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.index.walking import nodes_of, own_nodes
from jaxlint.index.written_names import dotted_name

_DEPTH = 3


def rounds_of(frame: Frame, loop: Any) -> int | None:
    """How many times a loop goes round, where that is in view."""
    if not isinstance(loop, (ast.For, ast.ListComp, ast.DictComp)):
        return None
    source = loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter
    if is_literal_display(source):
        return len(source.elts)  # type: ignore[attr-defined]  # a display
    return counted_members(frame, source)


def all_rounds(frame: Frame, loops: list[Any]) -> int | None:
    """How many times the innermost of nested loops goes round in all, None where one is not known."""
    numbers = [rounds_of(frame, loop) for loop in loops]
    return math.prod(numbers) if numbers and None not in numbers else None  # type: ignore[arg-type]  # no None in it


def kind_of_loops(frame: Frame, loops: list[Any], bindings: Bindings) -> str:
    """What nested loops run over, see `facts.Append`: the innermost that is not over a display."""
    kinds = [kind_of_loop(frame, loop, bindings) for loop in loops]
    return next((kind for kind in kinds if kind != "literal"), kinds[0] if kinds else "")


def adds_in(frame: Frame, node: ast.AST, container: str, at: Frame, loop: Any) -> bool:
    """Whether each round of a loop of `at` adds to a container that `node` fills in `frame`: an entry under a key
    that the loop does not change takes the place of the last one, and so does a field that a method begins anew."""
    if "." in container and _is_begun_again(frame, container.rpartition(".")[2]):
        return False
    keys = list(_keys(node))
    if not keys:
        return True
    stepped = targets(loop) | _stepped(loop) | (_stepped(scope_of(frame)) if at is not frame else set())
    made = _made_of(frame, keys, at, _DEPTH)
    return container in made or not stepped.isdisjoint(made)


def _keys(node: ast.AST) -> Iterator[ast.expr]:
    while isinstance(node, ast.Subscript):
        yield node.slice
        node = node.value


def _stepped(scope: ast.AST) -> set[str]:
    """What counts the rounds: `step += 1`."""
    return {dotted_name(n.target) or "" for n in own_nodes(scope) if isinstance(n, ast.AugAssign)}


def _made_of(frame: Frame, keys: list[ast.expr], at: Frame, depth: int) -> set[str]:
    """The names that keys are made of, in `frame` and, where calls pass them, up to `at`."""
    names = {name for key in keys for name in names_in(key)}
    for _ in range(_DEPTH):
        bound = [value for name in names for value in bindings_of(frame).of(name)]
        names |= {name for value in bound for name in names_in(value)}
    if at is frame or not depth:
        return names
    for name in list(names):
        for caller, given in passed_for(frame, name):
            names |= _made_of(caller, [given], at, depth - 1)
    return names


def _is_begun_again(frame: Frame, field: str) -> bool:
    """Whether a method that is no constructor stores the field: `def reset(self): self.rows = []`."""
    functions = (f for f in nodes_of(frame.module.tree, ast.FunctionDef) if f.name not in CONSTRUCTORS)
    return any(
        isinstance(n, ast.Attribute) and n.attr == field and isinstance(n.ctx, ast.Store)
        for function in functions
        for n in own_nodes(function)
    )
