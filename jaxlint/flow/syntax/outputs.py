"""Whether an expression is what a jit boundary returned, or a part of it: looked up by syntax, for the few values
that loops keep."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CLASS,
    CONSTANT,
    DEVICE,
    FUNCTION,
    INSTANCE,
    SCALAR,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.bindings import Bindings, look, scope_of
from jaxlint.flow.syntax.entries import called_at, passed_for, rest_for
from jaxlint.index.walking import nodes_of, own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.pattern import pattern

_DEPTH = 8
_CALLERS = 8  # of one function, whose calls are all looked at
# Names of what is a number, whatever its shape cannot tell.
_NUMBERS = pattern(
    r"loss|acc(uracy)?(\b|_|$)|reward|score|err(or)?s?(\b|_|$)|metric|norm|elbo|nll|cost|energy|fitness|return|done"
    r"|lr|rate|time|step|mse|mae|rmse|psnr|ssim|perplexity|entropy|kl|iou|auc|f1|total|count|value$|val$|objective"
    r"|logs?$|stats$|infos?$",
    re.IGNORECASE,
)
_PASSING = frozenset({"block_until_ready", "stop_gradient"})
_MEMBERS = frozenset({"items", "values", "get", "pop", "copy"})
_HANDING_ON = frozenset(
    {
        *(f"builtins.{name}" for name in ("list", "tuple", "dict", "enumerate", "zip", "reversed")),
        "types.SimpleNamespace",
        "jax.tree.leaves",
        "jax.tree_util.tree_leaves",
    }
)
_RECORDS = frozenset({"namedtuple", "struct"})
_JITTING = frozenset({"jit", "filter_jit"})
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setup"})


class Output(NamedTuple):
    """What a boundary returned: "tree", "array", "number" or "unknown", and the call."""

    what: str
    call: Place


def output_of(frame: Frame, node: ast.expr, value: Value) -> Output | None:
    """The output that `node` is, if it is one; `value` is what is known of it."""
    call = _source(frame, node, node.lineno, _DEPTH)
    if call is None:
        return None
    return Output(_what(value, (dotted_name(node) or _key(node)).rpartition(".")[2]), call)


def is_called_a_number(node: ast.expr) -> bool:
    """Whether a value has the name of a number: `loss`, `metrics["accuracy"]`."""
    return bool(_NUMBERS.search((dotted_name(node) or _key(node)).rpartition(".")[2]))


def _key(node: ast.expr) -> str:
    """`loss` in `metrics["loss"]`, `metrics` in `metrics[name]`."""
    while isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant):
            return str(node.slice.value)
        node = node.value
    return dotted_name(node) or ""


def _what(value: Value, name: str) -> str:
    if value.kind == TREE and value.data.__class__ is dict:
        found = {_what(member, str(key)) for key, member in value.data.items()}
        return "number" if found <= {"number"} else "tree"
    if value.kind == TREE:
        members = value.data if value.data.__class__ is list else [value.element] if value.element else []
        found = {_what(member, name) for member in members}
        return "number" if found <= {"number"} else "tree"
    if value.kind == INSTANCE:
        return "tree"
    if value.kind in (SCALAR, CONSTANT) or value.size == 1 or _NUMBERS.search(name):
        return "number"
    return "array" if value.kind == DEVICE else "unknown"


def _source(frame: Frame, node: ast.expr, line: int, depth: int) -> Place | None:
    """The boundary call that an expression is the result, or a part of the result, of."""
    if not depth:
        return None
    if isinstance(node, ast.Name):
        for scope in _scopes(frame):
            bound = _bindings(frame, scope).of(node.id)
            if bound:
                earlier = [b for b in bound if b.lineno <= line and not _loads(b, node.id, line)]
                last = (earlier or bound)[-1]
                member = _bindings(frame, scope).member(node.id)
                at = member[1] if member is not None and member[0] is last else None
                if at is not None and isinstance(last, ast.Call):
                    return _called(frame, last, line, depth - 1, at)
                return _source(frame, last, line, depth - 1)
        return _passed(frame, node.id, depth)
    if isinstance(node, (ast.NamedExpr, ast.Starred)):
        return _source(frame, node.value, line, depth)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        field = _field_source(frame, f"{node.value.id}.{node.attr}", line, depth)
        if field is not None:
            return field
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return _source(frame, node.value, line, depth) if not _indexes(node) else None
    if isinstance(node, (*_DISPLAYS, ast.BinOp)):
        return next(
            (s for s in (_source(frame, m, line, depth - 1) for m in _members(node)) if s is not None), None
        )
    if isinstance(node, ast.Call):
        return _called(frame, node, line, depth)
    return None


def _members(node: ast.expr) -> list[ast.expr]:
    """Of a display, or of two containers that are made one of which one is a display: `{"step": i} | outputs`."""
    if isinstance(node, ast.BinOp):
        united = isinstance(node.left, _DISPLAYS) or isinstance(node.right, _DISPLAYS)
        return [node.left, node.right] if united else []
    return node.values if isinstance(node, ast.Dict) else node.elts  # type: ignore[attr-defined]  # a display


def _passed(frame: Frame, name: str, depth: int) -> Place | None:
    """The boundary call whose result every call passes for a parameter: `log.add(step(x))`. The calls are those
    that entered this evaluation; where nobody in view has, those of the function's name in its module."""
    function = frame.function
    if function is None or depth < 2:
        return None
    if name not in (*function.index, *function.keyword_only):
        return _among_rest(frame, name, depth)
    passed = passed_for(frame, name)
    if passed:
        first = None
        for caller, given in passed if len(passed) <= _CALLERS else ():
            source = _source(caller, given, given.lineno, depth - 1)
            if source is None:
                return None
            first = first or source
        return first
    position = function.index.get(name, len(function.params)) - function.is_method
    places: list[Place | None] = []
    for scope, call in calls_of(frame.module).get(function.name, ()):
        inside = Frame(frame.run, frame.module, frame.evaluation, scope, frame.level, 0, None)
        written = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg == name)]
        places.append(_source(inside, written[0], call.lineno, depth - 1) if written else None)
    return places[0] if places and None not in places else None


def _among_rest(frame: Frame, name: str, depth: int) -> Place | None:
    """The boundary call whose result every call passes among others: `log.write(step, grads=grads)`."""
    passed = rest_for(frame, name)
    first = None
    for caller, given in passed if len(passed) <= _CALLERS else ():
        sources = (_source(caller, each, each.lineno, depth - 1) for each in given)
        source = next((found for found in sources if found is not None), None)
        if source is None:
            return None
        first = first or source
    return first


def calls_of(module: LoadedModule) -> dict[str, list[tuple[Function | None, ast.Call]]]:
    """The calls in a module by the last name of what is called, and the functions around them."""
    known: dict[str, list[tuple[Function | None, ast.Call]]] | None = module.tree.__dict__.get("calls")
    if known is None:
        known = module.tree.calls = {}  # type: ignore[attr-defined]  # once for each tree
        for caller in (None, *module.functions.values()):
            for node in own_nodes(caller.node if caller is not None else module.tree):
                if isinstance(node, ast.Call):
                    known.setdefault(last_name(node.func), []).append((caller, node))
    return known


def calls_by_name(module: LoadedModule, name: str) -> list[tuple[Function | None, ast.Call]]:
    """The calls in a module of a function, by its name or through `jit`; none where it goes another way."""
    known: dict[str, list[tuple[Function | None, ast.Call]]] = module.tree.__dict__.setdefault(
        "calls_named", {}
    )
    if name not in known:
        known[name] = []  # for two names that are made of each other
        known[name] = _found_calls(module, name)
    return known[name]


def _found_calls(module: LoadedModule, name: str) -> list[tuple[Function | None, ast.Call]]:
    every = [pair for pairs in calls_of(module).values() for pair in pairs]
    found = [(caller, call) for caller, call in every if _is_name(call.func, name)]
    jitted = [
        call
        for _, call in every
        if _is_name(next(iter(call.args), None), name) and last_name(call.func) in _JITTING
    ]
    if sum(_is_name(node, name) for node in walk(module.tree)) != len(found) + len(jitted):
        return []
    for made in jitted:
        at_once = [(caller, call) for caller, call in every if call.func is made]
        bound = [n for n in nodes_of(module.tree, ast.Assign) if n.value is made]
        alias = bound[0].targets[0] if len(bound) == 1 else None
        if not at_once and isinstance(alias, ast.Name) and alias.id != name:
            at_once = calls_by_name(module, alias.id)
        if not at_once:
            return []
        found += at_once
    return found


def _is_name(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _field_source(frame: Frame, name: str, line: int, depth: int) -> Place | None:
    """`self.state` after `self.state = step(self.state)`, here or in another method of the class."""
    bound = _bindings(frame, scope_of(frame)).of(name)
    earlier = [b for b in bound if b.lineno <= line]
    if bound:
        last = (earlier or bound)[-1]
        return _source(frame, last, last.lineno, depth - 1)
    if frame.cls is None or not name.startswith("self."):
        return None
    methods = (m for m in frame.cls.methods.values() if m.name not in _CONSTRUCTORS)
    calls = (b for m in methods for b in _bindings(frame, m.node).of(name) if isinstance(b, ast.Call))
    return next((found for b in calls if (found := _called(frame, b, b.lineno, 1)) is not None), None)


def _loads(bound: ast.expr, name: str, line: int) -> bool:
    """`m = device_get(m)` counts as what it is, `state = step(state)` on the same line too."""
    return bound.lineno == line and isinstance(bound, ast.Name) and bound.id == name


def _indexes(node: ast.expr) -> bool:
    """`x[3]`, `x[:, 0]`: a piece of an array, a new one."""
    if not isinstance(node, ast.Subscript):
        return isinstance(node, ast.Attribute) and node.attr in ("T", "shape", "dtype", "at")
    index = node.slice
    return not isinstance(index, (ast.Constant, ast.Name))


def _called(frame: Frame, node: ast.Call, line: int, depth: int, position: int | None = None) -> Place | None:
    """The boundary call that a call is, or hands on: all of it, or the member at a position."""
    if not depth:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted_name(node.func) or ""
    if name in _PASSING and (node.args or isinstance(node.func, ast.Attribute)):
        passed = node.args[0] if node.args else node.func.value  # type: ignore[attr-defined]  # a method if nothing is passed
        return _source(frame, passed, line, depth - 1)
    callee = _value(frame, node.func)
    if callee.kind == BOUNDARY:
        return frame.place(node)
    if isinstance(node.func, ast.Attribute) and name in _MEMBERS and callee.kind == UNKNOWN:
        return _source(frame, node.func.value, line, depth)  # `outputs.items()`
    record = callee.kind == CLASS and (callee.data.dataclass or callee.data.family in _RECORDS)
    if record or (callee.kind == API and callee.data in _HANDING_ON):
        given = [*node.args, *(k.value for k in node.keywords)]
        return next((s for a in given if (s := _source(frame, a, line, depth - 1)) is not None), None)
    if callee.kind == FUNCTION and depth > 1 and not callee.data.function.is_lambda:
        function = callee.data.function
        inside = next((e.frame for e in called_at(frame, node) if e.frame is not None), None)
        if inside is not None:
            return _handed_on(inside, position, depth)
        if function.module is frame.module and _returns_output(frame, function.node, function.module):
            return frame.place(node)
    return None


def _handed_on(frame: Frame, position: int | None, depth: int) -> Place | None:
    """The boundary call whose result a function that has been run returns, or yields, at a position of a tuple."""
    for node in own_nodes(scope_of(frame)):
        if not isinstance(node, (ast.Return, ast.Yield)) or node.value is None:
            continue
        value = node.value
        if position is not None and isinstance(value, ast.Tuple) and position < len(value.elts):
            value = value.elts[position]
        source = _source(frame, value, value.lineno, depth - 1)
        if source is not None:
            return source
    return None


def _returns_output(frame: Frame, function: ast.AST, module: LoadedModule) -> bool:
    """Whether a function of the module hands on, or yields, what a boundary returns."""
    bindings = Bindings(function)
    for node in own_nodes(function):
        if not isinstance(node, (ast.Return, ast.Yield)) or node.value is None:
            continue
        for value in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
            sources = bindings.of(value.id) if isinstance(value, ast.Name) else [value]
            for source in sources[-1:]:
                if isinstance(source, ast.Call) and _value(frame, source.func).kind == BOUNDARY:
                    return True
    return False


def _bindings(frame: Frame, scope: ast.AST) -> Bindings:
    known = frame.run.bindings.get(scope)
    if known is None:
        known = frame.run.bindings[scope] = Bindings(scope)
    return known


def _scopes(frame: Frame) -> list[ast.AST]:
    scopes: list[ast.AST] = []
    function = frame.function
    while function is not None:
        scopes.append(function.node)
        function = function.parent
    return [*scopes, frame.module.tree]


def _value(frame: Frame, callee: ast.expr) -> Value:
    return look(frame, callee) if isinstance(callee, (ast.Name, ast.Attribute)) else UNKNOWN_VALUE
