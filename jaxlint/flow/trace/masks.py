"""Which arrays hold booleans: indexing with one selects as many elements as it has True.

A mask is a comparison, what a test of each element gives, what was made or cast to `bool`, and what only moves the
elements of masks about. The dtypes are measured on jax 0.10.2 and numpy 2.
"""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, ARRAYS, CONSTANT, TREE
from jaxlint.flow.domain.tags import BOOLEAN_MASK
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.frame import Call, Frame
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.arrays import BOOLEAN, BOOLEAN_DTYPES, BOOLEAN_METHODS, MOVING, TAKES_DTYPE

CATEGORIES = frozenset({"jnp", "lax", "numpy", "numpy_random", "dtype"})
_DRAWN = frozenset({"bernoulli"})
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setup"})


def is_mask(value: Value) -> bool:
    """An array of booleans; a Python bool counts, as a member of one."""
    return bool(value.tags & BOOLEAN_MASK) or (value.kind == CONSTANT and isinstance(value.data, bool))


def _names_bool(value: Value) -> bool:
    return value.kind in (API, CONSTANT) and value.data in BOOLEAN_DTYPES


def _asked(last: str, call: Call) -> bool | None:
    """Whether a call names `bool` as its dtype; None where it names none."""
    given = call.keywords.get("dtype")
    if given is not None:
        return _names_bool(given)
    position = TAKES_DTYPE.get(last)
    if position is None or position >= len(call.positional):
        return None
    return _names_bool(call.positional[position])


def of_call(last: str, call: Call, result: Value) -> Value:
    """The result of an array function, with what is known of its being a mask."""
    if result.kind not in ARRAYS:
        return result
    mask = _asked(last, call)
    if mask is None:
        mask = last in BOOLEAN or last in _DRAWN or (last in MOVING and _of_masks(last, call))
    return marked(result, mask)


def _of_masks(last: str, call: Call) -> bool:
    if not call.positional:
        return False
    if last == "where":
        return len(call.positional) == 3 and all(map(is_mask, call.positional[1:]))
    if last == "full":
        return len(call.positional) > 1 and is_mask(call.positional[1])
    first = call.positional[0]
    return _all_masks(first)


def _all_masks(value: Value, depth: int = 0) -> bool:
    if value.kind == TREE and depth < 3:
        members = parts(value)
        return bool(members) and all(_all_masks(member, depth + 1) for member in members)
    return is_mask(value)


def of_method(receiver: Value, name: str, call: Call, result: Value) -> Value:
    """The result of an array's method."""
    if result.kind not in ARRAYS:
        return result
    if name in ("astype", "view"):
        given = call.argument(0, "dtype")
        return marked(result, given is not None and _names_bool(given))
    return marked(result, name in BOOLEAN_METHODS or (name in MOVING and is_mask(receiver)))


def marked(value: Value, mask: bool) -> Value:
    """The same array as a mask, or as none."""
    if mask == bool(value.tags & BOOLEAN_MASK):
        return value
    return value.but(tags=value.tags ^ BOOLEAN_MASK)


def mask_in(index: Value) -> Value | None:
    """The mask in an index: `x[mask]`, `x[mask, 0]`, `x[:, mask]`."""
    if index.kind in ARRAYS and index.tags & BOOLEAN_MASK:
        return index
    members = index.data if index.kind == TREE and index.data.__class__ is list else ()
    return next((m for m in members if m.kind in ARRAYS and m.tags & BOOLEAN_MASK), None)


# ---------------------------------------------------------------- one mask in every round


def is_fixed(frame: Frame, index: ast.expr) -> bool:
    """Whether a mask is the same in every round of the loops around: they store in nothing that it is made of."""
    if not frame.loop:
        return False
    nodes = walk(index)
    if any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Compare)) for node in nodes):
        return False  # made here, of what may be other data each time
    stored = _stored_in_loops(frame)
    named = [name for node in nodes if (name := dotted_name(node)) is not None]
    return bool(named) and all(name not in stored and not _changes(frame, name) for name in named)


def leaves_the_same(frame: Frame, iterable: ast.expr, member: ast.expr, tests: list[ast.expr]) -> bool:
    """Whether tests leave the same members of an iterable in every round of the loops around: they compare numbers
    or texts, the members themselves, and the loops store in nothing that they read. What a member holds may change.
    """
    if not frame.loops or not isinstance(iterable, (ast.Name, ast.Attribute)):
        return False
    own = {n.id for n in walk(member) if isinstance(n, ast.Name)}
    stored = _stored_in_loops(frame)
    names = [dotted_name(iterable)]
    for node in (n for test in tests for n in walk(test)):
        if isinstance(node, (ast.Call, ast.NamedExpr, ast.Subscript, ast.Attribute)):
            return False
        if isinstance(node, ast.Name) and node.id not in own:
            names.append(node.id)
    return all(name is not None and name not in stored and not _changes(frame, name) for name in names)


def _stored_in_loops(frame: Frame) -> set[str]:
    """The names that the loops around bind, or store in."""
    around = [*(loop.node for loop in frame.loops), *frame.comprehensions]
    found: set[str] = set()
    for node in (n for loop in around for n in walk(loop)):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(dotted_name(node) or "")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(dotted_name(node.value) or "")
        elif isinstance(node, ast.Call):  # `np.copyto(mask, …)`, `mask.fill(…)`, `np.less(a, b, out=mask)`
            given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "out")]
            given += [node.func.value] if isinstance(node.func, ast.Attribute) else []
            found.update(filter(None, map(dotted_name, given)))
    return found


def _changes(frame: Frame, name: str) -> bool:
    """A field that the class stores anywhere but in its constructor may be another one in each round."""
    owner, dot, field = name.rpartition(".")
    if not dot:
        return False
    held = frame.names.get(owner)
    cls = getattr(held.data, "cls", None) if held is not None else None
    if cls is None:
        return True
    for method in cls.methods.values():
        for node in walk(method.node) if method.name not in _CONSTRUCTORS else ():
            if isinstance(node, ast.Attribute) and node.attr == field and _is_written(node, method.node):
                return True
    return False


def _is_written(node: ast.Attribute, method: ast.AST) -> bool:
    if isinstance(node.ctx, ast.Store):
        return True
    stores = (n for n in walk(method) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return any(n.value is node for n in stores)
