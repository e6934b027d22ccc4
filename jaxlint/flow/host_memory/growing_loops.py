"""Which loop a container grows in, and in which one what it gets is made."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from jaxlint.flow.frame import Frame
from jaxlint.flow.statements.loop_sources import is_generated
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name

_DEALING = frozenset(
    {
        "items",
        "values",
        "keys",
        "get",
        "pop",
        "zip",
        "enumerate",
        "list",
        "tuple",
        "dict",
        "sorted",
        "reversed",
    }
)


def growing_loop(frame: Frame, name: str) -> ast.AST | None:
    """The innermost loop that does not begin with an empty container."""
    for loop in reversed(frame.loops):
        if not makes_anew(loop.node, name):
            return loop.node
    return None


def makes_anew(loop: ast.AST, name: str) -> bool:
    """Whether each round of a loop begins with another container of that name."""
    binds = (n for n in own_nodes(loop) if isinstance(n, (ast.Assign, ast.AnnAssign)))
    targets = (t for n in binds for t in (n.targets if isinstance(n, ast.Assign) else [n.target]))
    return any(dotted_name(t) == name for t in targets)


def repeated(loop: Any) -> list[ast.AST]:
    """What a loop does in each round."""
    if isinstance(loop, ast.DictComp):
        return [loop.key, loop.value]
    return [loop.elt] if isinstance(loop, ast.ListComp) else list(getattr(loop, "body", ()))


def targets(loop: Any) -> set[str]:
    """The names that a loop binds anew in each round."""
    targets = [g.target for g in getattr(loop, "generators", ())] or [getattr(loop, "target", None)]
    return {n.id for target in targets if target is not None for n in walk(target) if isinstance(n, ast.Name)}


def is_counted(loop: ast.AST) -> bool:
    """`for i in range(…)`."""
    return (
        isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range"
    )


def loop_that_makes(
    frame: Frame, node: ast.expr, innermost: ast.AST, around: Sequence[ast.AST]
) -> ast.AST | None:
    """The loop in whose rounds the copies that an expression stands for are made, from `innermost` outwards: one
    that goes through what was made before only deals that out. None where they were made before all of them."""
    names = names_in(node)
    for loop in reversed(around[: around.index(innermost) + 1]):
        dealt = names & names_in(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else set()
        if dealt and is_generated(frame, loop):
            return loop
        if names & bound_in(loop) or (loop is innermost and _makes(node)):
            return loop
        if dealt:
            source = loop.iter  # type: ignore[attr-defined]  # a for loop, see above
            outer = around[: around.index(loop)]
            if _makes(source):
                return outer[-1] if outer else None
            names = names - dealt | names_in(source)
    return None


def names_in(node: ast.AST) -> set[str]:
    """The names in an expression, `self.x` as one."""
    return {name for n in walk(node) if isinstance(n, (ast.Name, ast.Attribute)) and (name := dotted_name(n))}


def bound_in(loop: ast.AST) -> set[str]:
    """The names that the body of a loop assigns."""
    targets = [t for n in own_nodes(loop) if isinstance(n, ast.Assign) for t in n.targets]
    targets += [n.target for n in own_nodes(loop) if isinstance(n, (ast.AnnAssign, ast.NamedExpr))]
    return {name for target in targets for name in names_in(target)}


def _makes(node: ast.expr) -> bool:
    """Whether a call in an expression may make something new: not one that hands on the members it is given."""
    return any(isinstance(n, ast.Call) and last_name(n.func) not in _DEALING for n in walk(node))
