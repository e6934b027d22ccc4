"""Whether an argument's arrays are made for the call, so that nobody else can still be holding them.

What comes out of a container, a cache, a loader or an attribute may be handed out again; what a computation of
jax has just returned is new.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from jaxlint.finding import Place

if TYPE_CHECKING:
    from jaxlint.context import Context

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_LIBRARIES = ("jax.numpy.", "jax.random.", "numpy.")
# May return what they were given.
_SAME_NAMES = """
asarray astype reshape ravel squeeze transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis
expand_dims broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d real convert_element_type
device_put stop_gradient block_until_ready with_sharding_constraint collapse
"""
SAME = frozenset(_SAME_NAMES.split())


def made_for(call: Place, name: str, ctx: Context) -> bool:
    """Whether each value that a plain name has at a call of this file was made in the same round of its loop."""
    if call.path != ctx.path:
        return False
    scope, loop = around(call, ctx.focus.tree)
    if loop is None:
        return _all_new(name, scope.body, ctx, 3)
    if isinstance(loop, ast.For) and name in names_in(loop.target):
        return _yields_new(loop.iter, ctx)
    return _all_new(name, loop.body, ctx, 3)


def around(call: Place, tree: ast.Module) -> tuple[ast.Module | Function, ast.For | ast.While | None]:
    """The innermost function around a place, and the innermost loop in it."""
    scope: ast.Module | Function = tree
    loop: ast.For | ast.While | None = None
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(node, call):
            scope, loop = node, None
    for node in own(scope.body):
        if isinstance(node, (ast.For, ast.While)) and _holds(node, call):
            loop = node
    return scope, loop


def _holds(node: ast.stmt, place: Place) -> bool:
    return node.lineno <= place.span.line <= (node.end_lineno or node.lineno)


def own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body, outer ones first, those of functions within it left out."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _all_new(name: str, body: list[ast.stmt], ctx: Context, depth: int) -> bool:
    """Every binding of a name in a body is to a new array."""
    found = False
    for node in own(body):
        if isinstance(node, ast.Assign) and any(name in names_in(target) for target in node.targets):
            if not _is_new(node.value, body, ctx, depth):
                return False
            found = True
        elif isinstance(node, (ast.For, ast.NamedExpr, ast.withitem, ast.AugAssign, ast.AnnAssign)):
            target = node.optional_vars if isinstance(node, ast.withitem) else node.target
            if target is not None and name in names_in(target):
                return False
    return found


def _is_new(value: ast.expr, body: list[ast.stmt], ctx: Context, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, ast.Call):
        spelled = ast.unparse(value.func)
        own = any(spelled.startswith(f"{alias}.") for alias in _spellings(ctx))
        return own and spelled.rpartition(".")[2] not in SAME
    if isinstance(value, ast.BinOp):
        return all(_is_array(side, body, ctx, depth - 1) for side in (value.left, value.right))
    return isinstance(value, ast.Subscript) and _is_array(value.value, body, ctx, depth - 1)


def _is_array(value: ast.expr, body: list[ast.stmt], ctx: Context, depth: int) -> bool:
    """A number, or what is new itself: a list that is indexed or multiplied hands out what it holds."""
    if isinstance(value, ast.Name):
        return depth > 0 and _all_new(value.id, body, ctx, depth)
    return isinstance(value, ast.Constant) or _is_new(value, body, ctx, depth)


def _spellings(ctx: Context) -> list[str]:
    found = (ctx.spell(library.removesuffix(".")) for library in _LIBRARIES)
    return [spelled for spelled in found if spelled is not None]


def _yields_new(iterated: ast.expr, ctx: Context) -> bool:
    """A generator of this file, called for the loop, of which everything that it yields is new."""
    if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Name):
        return False
    made = [n for n in ctx.focus.tree.body if isinstance(n, ast.FunctionDef) and n.name == iterated.func.id]
    if len(made) != 1 or made[0].decorator_list:
        return False
    yielded = [node.value for node in own(made[0].body) if isinstance(node, ast.Yield)]
    items = [item for value in yielded for item in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return bool(items) and all(item is not None and _is_item_new(item, made[0], ctx) for item in items)


def _is_item_new(item: ast.expr, generator: ast.FunctionDef, ctx: Context) -> bool:
    loop = next((n for n in own(generator.body) if isinstance(n, (ast.For, ast.While))), None)
    body = loop.body if loop is not None else generator.body
    return _all_new(item.id, body, ctx, 3) if isinstance(item, ast.Name) else _is_new(item, body, ctx, 3)


def names_in(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
