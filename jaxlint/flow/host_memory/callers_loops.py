"""The loop whose rounds call what fills a container."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.flow.evaluations import Called
from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory.growing_loops import bound_in, names_in
from jaxlint.flow.run import Run
from jaxlint.flow.statements.loop_sources import kind_of_loop
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import own_nodes, walk


def kind_of_callers_loop(run: Run, called: Called) -> str:
    """What the loop around a call runs over, see `facts.Append`: "" where that is not known."""
    scope = called.scope
    if scope is None:
        return ""
    around = [
        n
        for n in own_nodes(scope)
        if isinstance(n, (ast.For, ast.While)) and any(called.node is part for part in walk(n))
    ]
    function = next((f for f in called.module.functions.values() if f.node is scope), None)
    frame = Frame(run, called.module, called.evaluation, function, 0, 0, None)
    owner = names_in(called.node.func) if isinstance(called.node, ast.Call) else set()
    kinds: list[str] = []
    for loop in sorted(around, key=lambda loop: loop.lineno, reverse=True):
        if not kinds and _begins_with_another(loop, owner):
            return "anew"
        kinds.append(kind_of_loop(frame, loop, Bindings(scope)))
        if kinds[-1] in ("stream", "loader"):
            return kinds[-1]
        if owner & bound_in(loop):
            break  # what is filled belongs to one round of it
    return kinds[0] if kinds else ""


def _begins_with_another(loop: ast.For | ast.While, owner: set[str]) -> bool:
    """Whether each round makes the object anew: `log = Log()`, and not `log = log.with_(x)`."""
    made = (s for s in loop.body if isinstance(s, ast.Assign) and not names_in(s.value) & owner)
    return any(names_in(target) & owner for s in made for target in s.targets)


def is_seldom(tests: Iterable[ast.AST]) -> bool:
    """Under `if step % 100 == 0`."""
    return any(isinstance(n, ast.Mod) for test in tests for n in walk(getattr(test, "test", test)))
