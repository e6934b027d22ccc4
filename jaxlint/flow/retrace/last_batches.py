"""The last batch of a loop over data: whether the end of the data may cut it short."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.origin_words import PARTIAL, PERHAPS_PARTIAL
from jaxlint.flow.frame import Frame
from jaxlint.flow.shapes.widths import Width, width
from jaxlint.flow.syntax.bindings import look, resolved
from jaxlint.flow.syntax.handed_on import handed_on
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name


def cut_short(frame: Frame, lower: ast.expr, between: Width) -> str:
    """Whether a slice of one width may be cut short by the end of the data: a word for it, or ""."""
    for comprehension in reversed(frame.comprehensions):
        for generator in comprehension.generators:
            ends = _for_ends(frame, generator, lower, between)
            if ends is not None:
                return ends
    for loop in reversed(frame.loops):
        if isinstance(loop.node, ast.While):
            ends = _while_ends(frame, loop.node, lower, between)
        else:
            ends = _for_ends(frame, loop.node, lower, between)
        if ends is not None:
            return "" if _asks_length(loop.node) else ends
    return ""


def _for_ends(
    frame: Frame, loop: ast.For | ast.AsyncFor | ast.comprehension, lower: ast.expr, between: Width
) -> str | None:
    """The verdict on `for start in range(0, n, size)` and `for i in range(n_batches)`; None for another loop."""
    call = handed_on(frame, loop.iter)
    while isinstance(call, ast.Call) and last_name(call.func) in ("tqdm", "enumerate", "track") and call.args:
        call = handed_on(frame, call.args[0])
    target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    if not isinstance(call, ast.Call) or last_name(call.func) not in ("range", "trange") or not call.args:
        return None
    if not isinstance(target, ast.Name):
        return None
    start = width(frame, ast.Constant(0), lower)
    if len(call.args) == 3 and start.is_name(target.id):
        step = width(frame, ast.Constant(0), call.args[2])
        return remainder(frame, call.args[1], call.args[2]) if step.terms == between.terms else None
    if len(call.args) == 1 and start.is_product(target.id, between):
        return PERHAPS_PARTIAL if _rounds_up(frame, call.args[0]) else ""
    return None


def _while_ends(frame: Frame, loop: ast.While, lower: ast.expr, between: Width) -> str | None:
    """The verdict on `while start < n: … start += size`."""
    test = loop.test
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
        return None
    name = test.left.id
    if not isinstance(test.ops[0], ast.Lt) or not width(frame, ast.Constant(0), lower).is_name(name):
        return None
    steps = [
        n.value for n in loop.body if isinstance(n, ast.AugAssign) and getattr(n.target, "id", "") == name
    ]
    if len(steps) == 1 and width(frame, ast.Constant(0), steps[0]).terms == between.terms:
        return remainder(frame, test.comparators[0], steps[0])
    return None


def remainder(frame: Frame, stop: ast.expr, step: ast.expr) -> str:
    """What is left behind the last full batch."""
    end, size = look(frame, stop), look(frame, step)
    if end.kind == CONSTANT and size.kind == CONSTANT and type(end.data) is type(size.data) is int:
        return PARTIAL if size.data > 0 and end.data % size.data else ""
    made = resolved(frame, stop)
    whole = (ast.Sub, ast.FloorDiv, ast.Mod, ast.Mult)
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, whole) for n in walk(made)):
        return ""  # full batches only
    return PERHAPS_PARTIAL


def _rounds_up(frame: Frame, count: ast.expr) -> bool:
    """`ceil(n / size)`, `-(-n // size)`, `(n + size - 1) // size`, `n // size + 1`."""
    node = resolved(frame, count)
    if isinstance(node, ast.Call):
        inner = node.args[0] if last_name(node.func) == "int" and node.args else node
        return isinstance(inner, ast.Call) and last_name(inner.func) == "ceil"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.FloorDiv)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.FloorDiv):
        return isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub))
    return isinstance(node.op, ast.Add) and isinstance(node.left, ast.BinOp)


def _asks_length(loop: ast.AST) -> bool:
    """Whether the loop tests the length of something: it treats the last batch in a way of its own."""
    tests = [node.test for node in walk(loop) if isinstance(node, (ast.If, ast.IfExp))]
    names = {n.id for test in tests for n in walk(test) if isinstance(n, ast.Name)}
    made = (  # `missing = size - len(batch)`, then `if missing:`
        node.value
        for node in walk(loop)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id in names for t in node.targets)
    )
    return any(_is_length(n) for asked in (*tests, *made) for n in walk(asked))


def _is_length(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) == "len"
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "size")
