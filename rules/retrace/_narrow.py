"""Whether a Python number keeps its value as a 32-bit array."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Above this, a product of two whole numbers takes more than 32 bits.
_LARGE = 2**15
# Calls that give whole numbers of any size.
_WIDE = frozenset(
    [
        "time_ns",
        "monotonic_ns",
        "perf_counter_ns",
        "hash",
        "id",
        "getrandbits",
        "randint",
        "randrange",
        "from_bytes",
        "factorial",
    ]
)


def fits(code: str, tree: ast.Module) -> bool:
    """Whether an expression, given by its source, and what its names are bound to in the file, has no large
    whole number in it, nor what makes one."""
    try:
        value = ast.parse(f"({code}\n)", mode="eval").body
    except SyntaxError:
        return False
    return _is_small(value, tree, set(), 3)


def _is_small(value: ast.expr, tree: ast.Module, seen: set[str], depth: int) -> bool:
    ranges = {a for node in ast.walk(value) if _called(node) == "range" for a in ast.walk(node)}
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            if abs(node.value) >= (2**31 if node in ranges else _LARGE):
                return False
        elif _called(node) in _WIDE or (isinstance(node, ast.BinOp) and _grows(node)):
            return False
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} - seen
    if depth == 0 or not names:
        return True
    return all(_is_small(bound, tree, seen | names, depth - 1) for bound in _values(tree, names))


def _grows(node: ast.BinOp) -> bool:
    """Shifts and powers; a power of a float stays one."""
    if isinstance(node.op, ast.LShift):
        return True
    small = isinstance(node.right, ast.Constant) and node.right.value in (0, 1, 2)
    floats = any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))
    return isinstance(node.op, ast.Pow) and not small and not floats


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _values(tree: ast.Module, names: set[str]) -> Iterator[ast.expr]:
    """What names are bound to, anywhere in the file."""
    for node in ast.walk(tree):
        value: ast.expr | None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            targets, value = [node.target], node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            targets, value = [node.target], node.iter
        else:
            continue
        bound = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        if bound & names and value is not None:
            yield value
