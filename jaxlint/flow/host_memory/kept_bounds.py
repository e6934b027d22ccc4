"""Whether a container that a loop fills loses members again, has a bound, or is filled only now and then."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import Bindings
from jaxlint.index.walking import nodes_of, walk
from jaxlint.index.written_names import dotted_name, last_name

_JOINING = frozenset({"concatenate", "stack", "vstack", "hstack", "concat", "array", "asarray", "block"})
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "flush"})


def is_emptied(frame: Frame, container: str, loop: Any, scope: ast.AST) -> bool:
    """Whether the container loses members again, or a bound on its length is looked at."""
    last = container.rpartition(".")[2]
    where: ast.AST = frame.module.tree if "." in container else loop if loop is not None else scope
    for call in nodes_of(where, ast.Call):
        callee = call.func
        if isinstance(callee, ast.Attribute) and callee.attr in _EMPTYING and last_name(callee.value) == last:
            return True
    for deletion in nodes_of(where, ast.Delete):
        if any(isinstance(t, ast.Subscript) and last_name(t.value) == last for t in deletion.targets):
            return True
    for test in nodes_of(where, ast.Compare):
        sides = [side for side in (test.left, *test.comparators) if isinstance(side, ast.Call) and side.args]
        if any(last_name(side.func) == "len" and last_name(side.args[0]) == last for side in sides):
            return True
    return any(_has_bound(value) for value in Bindings(scope).of(container)) or _attribute_has_bound(
        where, container
    )


def _attribute_has_bound(where: ast.AST, container: str) -> bool:
    assigned = nodes_of(where, ast.Assign) if "." in container else []
    return any(_has_bound(n.value) for n in assigned if dotted_name(n.targets[0]) == container)


def _has_bound(value: ast.expr) -> bool:
    """`deque(maxlen=…)`."""
    return isinstance(value, ast.Call) and any(k.arg == "maxlen" for k in value.keywords)


def is_joined(container: str, scope: ast.AST) -> bool:
    """`jnp.concatenate(kept)`: the loop puts a result together, piece by piece."""
    return any(
        last_name(node.func) in _JOINING and any(dotted_name(argument) == container for argument in node.args)
        for node in nodes_of(scope, ast.Call)
    )


def is_sampled(loop: Any, node: ast.AST) -> bool:
    """Only every so many rounds: under `if step % 100 == 0`."""
    tests = (test for test in walk(loop) if isinstance(test, ast.If)) if loop is not None else ()
    around = (test.test for test in tests if any(child is node for child in walk(test)))
    remainders = (n for test in around for n in walk(test) if isinstance(n, ast.BinOp))
    return any(isinstance(n.op, ast.Mod) for n in remainders)
