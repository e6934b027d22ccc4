"""What an expression has of arrays that something holds, and whether it reads a part of them: by syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.index.walking import COMPREHENSIONS, ComprehensionNode, walk
from jaxlint.index.written_names import dotted_name, last_name

_MAPPING = frozenset({"map", "tree_map"})
_TAKING = frozenset({"take", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_index_in_dim"})
_MEMBERS = frozenset({"items", "values"})
_FACTS = frozenset({"shape", "ndim", "dtype", "size"})


class Held(NamedTuple):
    """What holds the arrays: `x`, `self.x`. `collected`: a tree of them, whose members are not its parts; `key`:
    the one key of the tree that has them, None where any may."""

    name: str
    collected: bool
    key: object = None


def part_of(node: ast.expr, held: Held) -> Held | None:
    """What an expression names of it: all, or one array of a tree."""
    if dotted_name(node) == held.name:
        return held
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            given = part_of(value, held)
            if given is not None and isinstance(key, ast.Constant) and not given.collected:
                return Held("", True, key.value)
        return None
    owner = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
    if owner is None or not held.collected or dotted_name(owner) != held.name or not _leads_to(node, held):
        return None
    return Held("", False)


def _leads_to(node: ast.expr, held: Held) -> bool:
    """Whether `data["x"]`, `data.x` is one of the arrays of a tree."""
    if isinstance(node, ast.Attribute):
        return node.attr not in _FACTS and held.key in (None, node.attr)
    key = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(key, ast.Constant) and held.key in (None, key.value)


def other_names(target: ast.expr, value: ast.expr, held: Held) -> Iterator[tuple[ast.expr, Held]]:
    """`x = data`, `x, y = data["x"], data["y"]`, `train = x[:n]`."""
    given = part_of(value, held)
    if given is None and _is_slice_of(value, held.name):
        given = held
    if given is not None and dotted_name(target) != held.name:
        yield target, given
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for item, part in zip(target.elts, value.elts, strict=False):
            yield from other_names(item, part, held)


def returned(value: ast.expr, held: Held) -> Iterator[tuple[int | None, Held]]:
    """(position, what) a returned value has of it; None for the whole."""
    given = part_of(value, held)
    if given is not None:
        yield None, given
    elif isinstance(value, ast.Tuple):
        for position, member in enumerate(value.elts):
            given = held if _is_slice_of(member, held.name) else part_of(member, held)
            if given is not None:
                yield position, given


def _is_slice_of(node: ast.expr, name: str) -> bool:
    """`x`, `x[:, 1:]`: the columns of all its rows."""
    while isinstance(node, ast.Subscript) and any(isinstance(n, ast.Slice) for n in walk(node.slice)):
        node = node.value
    return dotted_name(node) == name


def is_part(node: ast.expr, held: Held) -> bool:
    if isinstance(node, ast.Subscript):
        return _is_piece(node, held)
    if isinstance(node, COMPREHENSIONS):
        return _takes_of_each(node, held)
    return isinstance(node, ast.Call) and _is_taken(node, held)


def _is_piece(node: ast.Subscript, held: Held) -> bool:
    """`data[i:j]`, `data["x"][rows]`: not `data[name]` of a dict."""
    whole: ast.expr = node.value
    member: ast.expr | None = None
    while isinstance(whole, ast.Attribute) or (
        isinstance(whole, ast.Subscript) and isinstance(whole.slice, ast.Constant)
    ):
        if dotted_name(whole) == held.name:
            break
        if isinstance(whole, ast.Attribute) and whole.attr in _FACTS:
            return False
        whole, member = whole.value, whole
    if not isinstance(node.ctx, ast.Load) or dotted_name(whole) != held.name:
        return False
    if held.collected and (member is None or not _leads_to(member, held)):
        return False
    index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    return _names(index)


def _takes_of_each(node: ComprehensionNode, held: Held) -> bool:
    """`{name: array[rows] for name, array in data.items()}`, `[array[rows] for array in arrays]`."""
    source = node.generators[0].iter
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
        source = source.func.value if source.func.attr in _MEMBERS else source
    if dotted_name(source) != held.name:
        return False
    drawn = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
    made = node.value if isinstance(node, ast.DictComp) else node.elt
    return any(
        isinstance(n, ast.Subscript) and last_name(n.value) in drawn and _names(n.slice, drawn)
        for n in walk(made)
    )


def _is_taken(node: ast.Call, held: Held) -> bool:
    """`jnp.take(data, rows, axis=0)`, `jax.tree.map(lambda array: array[rows], data)`."""
    name = last_name(node.func)
    if name in _TAKING:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        given = [*node.args, *(k.value for k in node.keywords)]
        whole = [a for a in (owner, *given) if a is not None and dotted_name(a) == held.name]
        return bool(whole) and any(_names(a) for a in given if a not in whole)
    function = node.args[0] if name in _MAPPING and len(node.args) > 1 else None
    if not isinstance(function, ast.Lambda) or held.name not in map(dotted_name, node.args[1:]):
        return False
    drawn = {a.arg for a in function.args.args}
    return any(
        isinstance(n, ast.Subscript) and last_name(n.value) in drawn and _names(n.slice, drawn)
        for n in walk(function.body)
    )


def _names(index: ast.AST, drawn: set[str] | frozenset[str] = frozenset()) -> bool:
    """Whether an index is another one each time: it has a name in it."""
    return any(isinstance(n, ast.Name) and n.id not in drawn for n in walk(index))
