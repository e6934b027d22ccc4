"""Expressions that copy an array from the device to the host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.kinds import DEVICE, FUNCTION, SCALAR, TREE, UNKNOWN
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of, look
from jaxlint.flow.syntax.called_functions import frame_inside
from jaxlint.flow.syntax.outputs import is_called_a_number, output_of
from jaxlint.index.walking import children, own_nodes, walk
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.arrays import REDUCTIONS

_COPIES = frozenset({"asarray", "array", "device_get", "ascontiguousarray"})
_PAIRING = frozenset({"zip", "enumerate"})
_PACKING = frozenset({"packbits", "compress", "imencode"})
# What gives a number, a short list, or an array of fewer axes, however large its argument.
_COUNTING = frozenset(
    {"len", "float", "int", "bool", "str", "repr", "round", "sum", "min", "max", "any", "all"}
)
_TAKING = frozenset({"item", "tolist", "join", "format", "save", "savez", "array_equal", "allclose", "norm"})
_REDUCING = REDUCTIONS - {"argmax", "argmin"} | _TAKING  # over an axis those two make masks
_MEASURES = frozenset({"shape", "size", "ndim", "dtype", "nbytes"})
_FEW = 8  # coordinates
_EXPRESSIONS = (ast.Call, ast.Subscript, ast.BinOp, ast.Compare)


def copy_of_device_array(frame: Frame, node: ast.expr, depth: int) -> ast.Call | None:
    """The call that copies an array from the device, in the expression or in what it is made of, which is not
    proven to be a number.

    What is kept packed is what the rule advises: it is no copy. Nor is a number that is taken of a copy, or a few.
    """
    if isinstance(node, ast.Call) and last_name(node.func) in _PACKING:
        return None
    for part in _kept(frame, node):
        if isinstance(part, ast.Call) and part.args and last_name(part.func) in _COPIES:
            if _on_device(frame, part.args[0], 2):
                return part
        elif (
            isinstance(part, ast.Call) and last_name(part.func) in ("map", "tree_map") and len(part.args) > 1
        ):
            if last_name(part.args[0]) in _COPIES and _on_device(frame, part.args[1], 2):
                return part
        elif (
            isinstance(part, (ast.DictComp, ast.ListComp))
            and (made := _copy_of_each(frame, part)) is not None
        ):
            return made
        elif isinstance(part, ast.Call) and _yields_copies(frame, part):
            return part
        elif isinstance(part, ast.Name) and depth:
            for value, left in _made_of(frame, part.id, depth):
                found = copy_of_device_array(frame, value, left)
                if found is not None:
                    return found
    return None


def _yields_copies(frame: Frame, call: ast.Call) -> bool:
    """`masks(stream)`, of a generator of the project that yields a copy each time."""
    callee = look(frame, call.func) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    if callee is None or callee.kind != FUNCTION or callee.data.function.is_lambda:
        return False
    yielded = [n.value for n in own_nodes(callee.data.function.node) if isinstance(n, ast.Yield)]
    if not yielded:
        return False
    inside = frame_inside(frame, callee.data)
    return any(v is not None and copy_of_device_array(inside, v, 0) is not None for v in yielded)


def _copy_of_each(frame: Frame, node: ast.DictComp | ast.ListComp) -> ast.Call | None:
    """`{name: np.asarray(x) for name, x in outputs.items()}`."""
    made = node.value if isinstance(node, ast.DictComp) else node.elt
    if not (isinstance(made, ast.Call) and last_name(made.func) in _COPIES and made.args):
        return None
    source = node.generators[0].iter
    whole = _whole(source) or source
    target = node.generators[0].target
    member = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
    given = made.args[0]
    dealt = isinstance(given, ast.Name) and isinstance(member, ast.Name) and given.id == member.id
    return made if dealt and _on_device(frame, whole, 2) else None


def _whole(node: ast.expr) -> ast.expr | None:
    """`outputs` in `outputs.items()` and `outputs.values()`."""
    members = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    return node.func.value if members and node.func.attr in ("items", "values") else None  # type: ignore[attr-defined]  # a method


def _kept(frame: Frame, node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression whose arrays end up in its value whole: not the index of a subscript, what is
    counted or reduced, or members of one array that stand among others in a display (`(step, *centre)`)."""
    yield node
    parts: list[ast.AST]
    if isinstance(node, ast.Call):
        reduced = last_name(node.func) in (_REDUCING if isinstance(node.func, ast.Attribute) else _COUNTING)
        parts = [] if reduced else children(node)
    elif isinstance(node, ast.Subscript):
        parts = [] if _is_few(node.slice) else [node.value]
    elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Attribute) and node.attr in _MEASURES):
        parts = []
    elif isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        members = children(node)
        parts = [m for m in members if len(members) == 1 or not _is_coordinate(frame, m)]
    else:
        parts = children(node)
    for part in parts:
        yield from _kept(frame, part)


def _is_few(index: ast.expr) -> bool:
    """`[0, 1]`, `[:4]`: a number, or a few of them."""
    if isinstance(index, ast.Slice):
        upper = index.upper
        return isinstance(upper, ast.Constant) and type(upper.value) is int and 0 < upper.value <= _FEW
    members = index.elts if isinstance(index, ast.Tuple) else []
    return bool(members) and all(isinstance(m, (ast.Constant, ast.Name)) for m in members)


def _is_coordinate(frame: Frame, node: ast.AST) -> bool:
    """`*centre`, `centre[0]` of an array: a member, or all of them, beside others."""
    if isinstance(node, ast.Starred):
        return _is_array_copy(frame, node.value)
    picked = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return picked and _is_array_copy(frame, node.value)  # type: ignore[attr-defined]  # a subscript


def _is_array_copy(frame: Frame, node: ast.expr) -> bool:
    """`np.asarray(x)` and what its methods make of it: one array, where `device_get` may give a tree of them."""
    while isinstance(node, ast.Call) and last_name(node.func) not in _COPIES:
        if not isinstance(node.func, ast.Attribute):
            return False
        node = node.func.value
    if isinstance(node, ast.Name):
        bound = bindings_of(frame).of(node.id)[-1:]
        return any(isinstance(value, ast.Call) and _is_array_copy(frame, value) for value in bound)
    return isinstance(node, ast.Call) and last_name(node.func) != "device_get"


def _made_of(frame: Frame, name: str, depth: int) -> Iterator[tuple[ast.expr, int]]:
    """What a name was bound to last, and how far to go from there: a loop variable is followed further."""
    bindings = bindings_of(frame)
    unpacked = bindings.member(name)
    for value in bindings.of(name)[-1:]:
        if unpacked is not None and unpacked[0] is value and _is_array_copy(frame, value):
            continue  # `x, y = np.asarray(centre)`
        if isinstance(value, ast.Call) and last_name(value.func) in _PAIRING and unpacked is not None:
            paired = value.args[unpacked[1]] if unpacked[1] < len(value.args) else value.args[-1]
            dealt = value.args[0] if last_name(value.func) == "enumerate" else paired
            if not is_called_a_number(dealt):
                yield dealt, depth - 1
        elif (whole := _whole(value)) is not None and not is_called_a_number(whole):
            yield whole, depth - 1
        elif isinstance(value, ast.Name) and not is_called_a_number(value):
            yield value, depth - 1
        elif isinstance(value, _EXPRESSIONS):
            yield value, 0


def _on_device(frame: Frame, node: ast.expr, depth: int) -> bool:
    """An array on the device, or what a boundary returned or was made of that, not proven a number."""
    value = look(frame, node)
    before = _before(frame, node)
    if before is not None and not is_called_a_number(node):
        return bool(depth) and _on_device(frame, before, depth - 1)
    if value.kind not in (UNKNOWN, SCALAR):
        return _holds_device(value)
    output = output_of(frame, node, value)
    if output is not None:
        return output.what != "number"
    made: list[ast.expr] = []
    if isinstance(node, ast.Name) and depth:
        made = [v for v in bindings_of(frame).of(node.id)[-1:] if isinstance(v, (ast.BinOp, ast.Compare))]
    elif isinstance(node, ast.BinOp):
        made = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        made = [node.left]
    return any(_on_device(frame, part, depth - 1) for part in made) if depth else False


def _before(frame: Frame, node: ast.expr) -> ast.expr | None:
    """What a name was before a statement that copies it under its own name: `x = np.asarray(x)`."""
    if not isinstance(node, ast.Name):
        return None
    bound = bindings_of(frame).of(node.id)
    copies = any(any(part is node for part in walk(value)) for value in bound)
    earlier = [value for value in bound if (value.end_lineno or value.lineno) < node.lineno]
    return earlier[-1] if copies and earlier else None


def _holds_device(value: Value) -> bool:
    if value.kind == TREE:
        return any(_holds_device(member) for member in parts(value))
    return value.kind == DEVICE and value.size != 1
