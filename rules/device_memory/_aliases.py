"""Which names an expression's value may share its arrays with.

Many functions return what they were given where there is nothing to do: `asarray`, `astype` to the same dtype,
`reshape` to the same shape. Others wrap it. Whatever may be the same buffer counts as the same; what computes does
not. A function of the file is looked into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.index.walking import COMPREHENSIONS

from ._fresh import SAME, Function, names_in, own

DISPLAYS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred)
# Beside those: they keep what they are given, or hand it on.
_HOLDER_NAMES = """
partial Partial iter list tuple dict set zip enumerate reversed sorted next deque cycle chain replace
_replace create filter partition combine split state merge leaves flatten unflatten tree_leaves
tree_flatten tree_unflatten ravel_pytree freeze unfreeze
"""
_HOLDERS = frozenset(_HOLDER_NAMES.split())
_OF_TREES = frozenset({"copy", "items", "values", "get", "pop", "view"})  # a dict's copy has the same arrays
_MAPS = frozenset({"map", "tree_map", "map_with_path", "tree_map_with_path", "apply"})
_NO_ARRAY = frozenset({"shape", "dtype", "size", "ndim", "nbytes", "sharding", "at"})
_VIEWS = frozenset({"T", "mT", "real"})
_HOPS = 3  # from a function to one that it calls


def held(value: ast.expr, tree: ast.Module, hops: int = _HOPS) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes whose arrays a value may be, or hold."""
    if isinstance(value, (ast.Name, ast.Attribute)):
        yield from _named(value, tree, hops)
    elif isinstance(value, ast.Call):
        for given in _handed_on(value, tree, hops):
            yield from held(given, tree, hops)
    elif isinstance(value, COMPREHENSIONS):
        yield from _drawn(value, tree, hops)
    else:
        for part in _parts(value):
            yield from held(part, tree, hops)


def _named(
    value: ast.Name | ast.Attribute, tree: ast.Module, hops: int
) -> Iterator[ast.Name | ast.Attribute]:
    root: ast.expr = value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in _imported(tree):
        return
    if isinstance(value, ast.Attribute) and value.attr in _VIEWS:
        yield from held(value.value, tree, hops)
    elif isinstance(value, ast.Name) or value.attr not in _NO_ARRAY:
        yield value


def _parts(value: ast.expr) -> Iterable[ast.expr]:
    """The expressions of which one is the value, or which it shows."""
    if isinstance(value, (ast.Dict, ast.BoolOp)):
        return value.values
    if isinstance(value, ast.IfExp):
        return value.body, value.orelse
    if isinstance(value, ast.BinOp):  # film + [frame]
        return [side for side in (value.left, value.right) if isinstance(side, DISPLAYS)]
    if isinstance(value, ast.Subscript):
        return [value.value] if _is_whole(value.slice) else []
    if isinstance(value, ast.NamedExpr):
        return [value.value]
    if isinstance(value, ast.Lambda):  # what it reads is looked up when it is called
        return defaults(value)
    if isinstance(value, DISPLAYS):
        return [item for item in ast.iter_child_nodes(value) if isinstance(item, ast.expr)]
    return []


def defaults(function: ast.Lambda | Function) -> list[ast.expr]:
    """What the parameters of a function keep."""
    return [*function.args.defaults, *(value for value in function.args.kw_defaults if value is not None)]


def _is_whole(index: ast.expr) -> bool:
    """`u[:]`, `u[...]`, `u[0:n]`: as far as one sees it may be everything."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    whole = (Ellipsis, None)
    return all(isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and i.value in whole) for i in items)


def _drawn(value: ast.expr, tree: ast.Module, hops: int) -> Iterator[ast.Name | ast.Attribute]:
    """Of a comprehension that keeps what it draws: what it draws from."""
    generators: list[ast.comprehension] = getattr(value, "generators", [])
    results = (getattr(value, field, None) for field in ("elt", "value"))
    kept = {
        ast.unparse(root)
        for result in results
        if isinstance(result, ast.expr)
        for root in held(result, tree, hops)
    }
    for generator in generators:
        if kept & names_in(generator.target):
            yield from held(generator.iter, tree, hops)


# ---------------------------------------------------------------- calls


def _handed_on(call: ast.Call, tree: ast.Module, hops: int) -> Iterator[ast.expr]:
    """The expressions of a call that its result may be, or hold."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    function = call.func
    if isinstance(function, ast.Name):
        known = _definition(function.id, tree)
        if known is not None:
            yield from _kept_by(known, call, tree, hops)
            if isinstance(known, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lent = list(_lent(known, tree, hops))
                yield from [*lent, function] if lent or _is_cached(known) else ()
            return
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    receiver = function.value if isinstance(function, ast.Attribute) else None
    library = receiver is None or not any(True for _ in held(receiver, tree, hops))
    if name in _MAPS:
        yield from given[1:] if given and _hands_on(given[0], tree, hops) else ()
    elif name in SAME or name in _HOLDERS or (name == "array" and _is_no_copy(call)):
        yield from given
        yield from [receiver] if receiver is not None else ()
    elif name in _OF_TREES and not library and receiver is not None:
        yield receiver
    elif ast.unparse(function) == "copy.copy":
        yield from given


def _is_no_copy(call: ast.Call) -> bool:
    return any(k.arg == "copy" and ast.unparse(k.value) != "True" for k in call.keywords)


def _hands_on(function: ast.expr, tree: ast.Module, hops: int) -> bool:
    """Whether a function that is mapped over leaves may return one as it is."""
    if isinstance(function, ast.Lambda):
        own_names = {a.arg for a in (*function.args.posonlyargs, *function.args.args)}
        return any(ast.unparse(root) in own_names for root in held(function.body, tree, hops))
    known = _definition(function.id, tree) if isinstance(function, ast.Name) else None
    if isinstance(known, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return any(_returns(known, parameter, tree, hops) for parameter in parameters(known))
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return known is not None or name in SAME


def _kept_by(
    known: Function | ast.ClassDef, call: ast.Call, tree: ast.Module, hops: int
) -> Iterator[ast.expr]:
    """The arguments that a function of the file may return; all, where a class is called."""
    if isinstance(known, ast.ClassDef):
        yield from (*call.args, *(keyword.value for keyword in call.keywords))
        return
    names = parameters(known)
    for index, argument in enumerate(call.args):
        starred = isinstance(argument, ast.Starred) or index >= len(names)
        if starred or _returns(known, names[index], tree, hops):
            yield argument
    for keyword in call.keywords:
        if keyword.arg is None or _returns(known, keyword.arg, tree, hops):
            yield keyword.value


def _returns(function: Function, parameter: str, tree: ast.Module, hops: int) -> bool:
    """Whether a function may return what it gets for a parameter, under whatever name."""
    if not hops:
        return True
    names = {parameter}
    nodes = list(own(function.body))
    for node in nodes:
        if isinstance(node, ast.Assign) and _shares(node.value, names, tree, hops - 1):
            names |= {name for target in node.targets for name in names_in(target)}
    results = (n.value for n in nodes if isinstance(n, (ast.Return, ast.Yield)) and n.value is not None)
    return any(_shares(result, names, tree, hops - 1) for result in results)


def _lent(function: Function, tree: ast.Module, hops: int) -> Iterator[ast.expr]:
    """What a function may return that neither it nor its caller made: another call returns it again."""
    nodes = list(own(function.body))
    assigned = [(t, n.value) for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
    assigned += [
        (n.target, n.value) for n in nodes if isinstance(n, (ast.AnnAssign, ast.NamedExpr)) and n.value
    ]
    own_names = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    shared = {name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    followed = {*parameters(function)}
    waiting = [n.value for n in nodes if isinstance(n, (ast.Return, ast.Yield)) and n.value is not None]
    while waiting and hops:
        value = waiting.pop()
        picked = isinstance(value, ast.Subscript)  # `STATES["first"]`
        for root in [_root(value)] if picked else [_root(each) for each in held(value, tree, hops - 1)]:
            if root is None or root.id in followed:
                continue
            followed.add(root.id)
            if root.id in own_names - shared:
                waiting += [given for target, given in assigned if root.id in names_in(target)]
            else:
                yield root


def _is_cached(function: Function) -> bool:
    return any("cache" in ast.unparse(decorator) for decorator in function.decorator_list)


def _root(value: ast.expr) -> ast.Name | None:
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        value = value.value
    return value if isinstance(value, ast.Name) else None


def _shares(value: ast.expr, names: set[str], tree: ast.Module, hops: int) -> bool:
    return any(ast.unparse(root).partition(".")[0] in names for root in held(value, tree, hops))


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, those by position first."""
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _definition(name: str, tree: ast.Module) -> Function | ast.ClassDef | None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next((node for node in ast.walk(tree) if isinstance(node, kinds) and node.name == name), None)


def _imported(tree: ast.Module) -> set[str]:
    imports = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
