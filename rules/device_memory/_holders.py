"""Who else holds an array that a call is about to give away."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jaxlint.flow.facts import BoundaryUse
from jaxlint.index.walking import COMPREHENSIONS
from jaxlint.pattern import pattern

from ._aliases import defaults, held, parameters
from ._fresh import Function, around, names_in, own

if TYPE_CHECKING:
    from jaxlint.context import Context

# Methods of containers that keep what they are given.
_STORES = frozenset(
    {"append", "appendleft", "add", "extend", "insert", "put", "push", "setdefault", "update"}
)
_KEY = pattern(r"(^|_)(key|rng|rngs|prng|seed|shape|n|num|size|dim)s?(_|$)")
_HOPS = 3  # from a caller to its own caller


def held_elsewhere(use: BoundaryUse, name: str, ctx: Context) -> bool:
    """Whether an argument (a plain or dotted name) of a call of this file is also kept under another name, in a
    container, or by who called the function around it."""
    call = use.place
    if call.path != ctx.path:
        return False
    scope, loop = around(call, ctx.focus.tree)
    tree = ctx.focus.tree
    drawn = names_in(loop.target) if isinstance(loop, ast.For) else set()
    for node in own(scope.body):
        # What the call itself is given in each round is new in each round.
        new = drawn if isinstance(node, ast.Assign) and call.span.line == node.value.lineno else set()
        if keeps(node, name, tree) or comes_from_another(node, name, new, tree):
            return True
    since = loop.lineno if loop is not None else call.span.end_line
    if any(_is_made_of(node, name, use.rebinds, since, scope.body) for node in own(scope.body)):
        return True
    if isinstance(scope, ast.Module) or not is_parameter(scope, name):
        return False
    return _keeps_default(scope, name, tree) or caller_keeps(scope, scope.name, name, tree)


def comes_from_another(node: ast.AST, name: str, new: set[str], tree: ast.Module) -> bool:
    """`u = jnp.asarray(u0)`, where somebody uses `u0` again: the two may be one array."""
    if not isinstance(node, ast.Assign) or not any(_is(target, name) for target in node.targets):
        return False
    roots = [r for r in held(node.value, tree) if not _is(r, name) and ast.unparse(r) not in new]
    return any(isinstance(root, ast.Attribute) or is_used_again(root.id, node, tree) for root in roots)


def keeps(node: ast.AST, name: str, tree: ast.Module) -> bool:
    """A statement or an expression by which the value gets one more holder. A name that begins with a dot is that
    attribute, of whichever object."""
    if isinstance(node, ast.Global):  # `from program import params` elsewhere has the first of them
        return name in node.names
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return name in names_in(node.target) or shows(node.iter, name, tree)  # what it is drawn from
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return any(shows(value, name, tree) for value in defaults(node))
    if isinstance(node, ast.Assign) and any(name in names_in(target) for target in node.targets):
        several = any(_is(target, name) for target in node.targets) and len(node.targets) > 1
        return several or is_drawn(node.value) or _repeats_part(node.value, name)
    if isinstance(node, ast.Assign):
        others = [target for target in node.targets if not _is(target, name)]
        return bool(others) and shows(node.value, name, tree)
    if isinstance(node, ast.AugAssign):  # film += [frame]
        return shows(node.value, name, tree)
    if isinstance(node, (ast.Yield, ast.NamedExpr)):
        return node.value is not None and shows(node.value, name, tree)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STORES:
        return any(shows(a, name, tree) for a in (*node.args, *(k.value for k in node.keywords)))
    return False


def _repeats_part(value: ast.expr, name: str) -> bool:
    """`learner._replace(ema=learner.params)`: from then on two fields are one array."""
    if not isinstance(value, ast.Call):
        return False
    given = (*value.args, *(keyword.value for keyword in value.keywords))
    return any(isinstance(v, ast.Attribute) and ast.unparse(v).startswith(f"{name}.") for v in given)


def _is_made_of(node: ast.AST, name: str, rebound: Iterable[str], since: int, body: list[ast.stmt]) -> bool:
    """`state = create(params)`: the state may hold the parameters' own arrays, and they are used later on."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or node.lineno >= since:
        return False
    if not any(ast.unparse(target) == name for target in node.targets):
        return False
    given = (*node.value.args, *(keyword.value for keyword in node.value.keywords))
    parts = {value.id for value in given if isinstance(value, ast.Name)} - {*rebound}
    return any(_is_passed_on(other, parts, since) for other in own(body))


def _is_passed_on(node: ast.AST, names: set[str], since: int) -> bool:
    """One of the names is an argument below a line, and no random key by its name."""
    if not isinstance(node, ast.Call) or node.lineno < since:
        return False
    values = (*node.args, *(keyword.value for keyword in node.keywords))
    return any(isinstance(v, ast.Name) and v.id in names and not _KEY.search(v.id) for v in values)


def is_drawn(value: ast.expr) -> bool:
    """Whether a value is one that has a name or a place already: `self.params`, `states[0]`, `a if b else c`."""
    if isinstance(value, ast.Tuple):
        return any(map(is_drawn, value.elts))
    if isinstance(value, ast.IfExp):
        return is_drawn(value.body) or is_drawn(value.orelse)
    if isinstance(value, ast.Subscript):
        return not any(isinstance(node, ast.Slice) for node in ast.walk(value.slice))
    return isinstance(value, (ast.Name, ast.Attribute))


def _is(value: ast.expr, name: str) -> bool:
    if name.startswith("."):
        return isinstance(value, ast.Attribute) and value.attr == name[1:]
    return ast.unparse(value) == name


def shows(value: ast.expr, name: str, tree: ast.Module) -> bool:
    """Whether a value may be the named one, or hold it."""
    return any(_is(root, name) for root in held(value, tree))


# ---------------------------------------------------------------- callers


def is_parameter(scope: Function, name: str) -> bool:
    return name in parameters(scope)


def _keeps_default(scope: Function, name: str, tree: ast.Module) -> bool:
    """Whether a parameter has a default that may be an array, which a second call would be given again."""
    arguments = scope.args
    named = [*arguments.posonlyargs, *arguments.args]
    given = [*zip(named[::-1], arguments.defaults[::-1], strict=False)]
    given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    if all(a.arg != name or isinstance(default, ast.Constant) for a, default in given):
        return False
    loops = [n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While, *COMPREHENSIONS))]
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _called(n) == scope.name]
    return len(calls) != 1 or any(calls[0] in ast.walk(loop) for loop in loops)


def caller_keeps(scope: Function, called: str, name: str, tree: ast.Module, hops: int = _HOPS) -> bool:
    """Whether some call in this file, of a function by the name it is called by, passes for a parameter what it, or
    its own caller, goes on using."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if _called(call) == called:
            for given in _given(call, scope, name):
                for root in held(given, tree):
                    if isinstance(root, ast.Attribute) or is_used_again(root.id, call, tree, hops):
                        return True
    return False


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _given(call: ast.Call, scope: Function, name: str) -> Iterator[ast.expr]:
    """What a call passes for a parameter. A method's own object is not written among the arguments."""
    names = parameters(scope)
    position = names.index(name) - (
        names[0] in ("self", "cls") and (isinstance(call.func, ast.Attribute) or scope.name == "__init__")
    )
    yield from call.args[position : position + 1] if position >= 0 else ()
    yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def _drawn_names(comprehension: ast.AST) -> set[str]:
    """What a comprehension gives a new value in each of its rounds."""
    generators: list[ast.comprehension] = getattr(comprehension, "generators", [])
    return {name for generator in generators for name in names_in(generator.target)}


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def is_used_again(name: str, call: ast.Call | ast.stmt, tree: ast.Module, hops: int = _HOPS) -> bool:
    """Whether the caller reads a name below a call, or the call runs again, without giving the name a new value."""
    span = call.lineno, call.end_lineno or call.lineno
    scopes = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    scope: ast.AST = next((s for s in reversed(scopes) if s.lineno <= span[0] <= (s.end_lineno or 0)), tree)
    nodes = list(ast.walk(scope))
    if any(
        name not in _drawn_names(n) and call in ast.walk(n) for n in nodes if isinstance(n, COMPREHENSIONS)
    ):
        return True  # `[train(params, d) for d in clients]`: the next round passes it again
    assigned = [n for n in nodes if isinstance(n, ast.Assign) and n.lineno <= span[0] <= (n.end_lineno or 0)]
    if any(name in names_in(target) for node in assigned for target in node.targets):
        return False
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if is_parameter(scope, name) and hops and caller_keeps(scope, scope.name, name, tree, hops - 1):
            return True
        if not is_parameter(scope, name) and not any(_stores(n, name) for n in nodes):
            return True  # a name of the module, which outlives the call
    loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
    again = any(loop.lineno < span[0] <= (loop.end_lineno or 0) for loop in loops)
    reads = (n for n in nodes if isinstance(n, ast.Name) and n.id == name)
    end = span[1], call.end_col_offset or 0  # `compare(train(params, 1), params)` reads it on the same line
    return again or any(isinstance(n.ctx, ast.Load) and (n.lineno, n.col_offset) > end for n in reads)
