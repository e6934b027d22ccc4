"""Whether the last entry of a scan's stack is the carry that the scan returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.shapes.array_shapes import ArrayShapes
from jaxlint.flow.shapes.callees import Scope
from jaxlint.flow.shapes.shape_values import Array, Number
from jaxlint.index.walking import children


def runs_forward(call: Call) -> bool:
    """A scan whose `reverse` is absent or literally False: its last entry is of the last step that runs.

    `scan(f, init, xs=None, length=None, reverse=False, unroll=1)`: with `reverse` the first step that runs
    writes the last entry.
    """
    node = call.node
    if not isinstance(node, ast.Call) or any(keyword.arg is None for keyword in node.keywords):
        return False
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return False
    if call.argument(4, "reverse") is None:
        return True
    written = call.argument_node(4, "reverse")
    return isinstance(written, ast.Constant) and written.value is False


def takes_a_step(call: Call, frame: Frame) -> bool:
    """Whether a scan surely runs its body: of no steps there is no last entry, but a carry. What a function is
    passed is not known, whatever the calls in view pass, nor what the command line will say."""
    function = frame.function
    if function is not None and function.parent is not None:
        return False  # its names may be those of the function around
    shapes = ArrayShapes(frame.run.program, sure=True)
    scope = Scope(frame.module, function.node if function is not None else frame.module.tree, {})
    length, rows = call.argument_node(3, "length"), call.argument_node(2, "xs")
    steps = shapes.of(length, scope) if isinstance(length, ast.expr) else None
    if isinstance(steps, Number) and steps.value:
        return steps.value > 0
    known = shapes.of(rows, scope) if isinstance(rows, ast.expr) else None
    return isinstance(known, Array) and bool(known.shape) and (known.shape[0] or 0) > 0


def stacks_its_carry(body: Closure | None) -> bool:
    """`return x, x`: what is stacked is the carry itself. What calls make twice need not be one value."""
    if body is None:
        return False
    node = body.function.node
    if isinstance(node, ast.Lambda):
        returns: list[ast.expr | None] = [node.body]
    else:
        returns = [n.value for n in _own_nodes(node.body) if isinstance(n, ast.Return)]
    return bool(returns) and all(value is not None and _is_twice_the_same(value) for value in returns)


def _is_twice_the_same(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Tuple)
        and len(value.elts) == 2
        and ast.dump(value.elts[0]) == ast.dump(value.elts[1])
        and not any(isinstance(part, (ast.Call, ast.NamedExpr, ast.Starred)) for part in ast.walk(value))
    )


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body, nested functions left out."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(children(node))
