"""Casts of a whole tree, leaf by leaf: by `tree.map`, in a comprehension, by a library's helper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import API, CONSTANT, FOREIGN, FUNCTION, LAZY, PARTIAL
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.tags import LOW as LOW_FLOATS
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, tree
from jaxlint.flow.facts import TreeUpcast
from jaxlint.flow.frame import Call, Frame, api_call, evaluate
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.precision.dtypes import dtype_of, is_low, lowered
from jaxlint.flow.precision.model_trees import DATA, is_of_model, name_of
from jaxlint.flow.precision.upcast_uses import names_low_dtype, targets_of, uses_of
from jaxlint.flow.program import api
from jaxlint.flow.syntax.bindings import look, scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.precision import CASTS, FULL, LOW, dtype_named, policy_dtypes

_LEAVES = frozenset({"leaves", "tree_leaves", "items", "values"})
_PROMOTING = frozenset({"promote_types", "result_type", "dtype", "canonicalize_dtype"})
_HOST = ("numpy.", "builtins.")


class PendingUpcast(PendingFact):
    """A cast of all leaves; what the tree is, and whether it is read afterwards, is looked up in the end."""

    __slots__ = ("api", "dtype", "frame", "node", "proof", "subject", "value")

    def __init__(
        self, frame: Frame, node: ast.expr, api_name: str, dtype: str, subject: ast.expr, value: Value
    ) -> None:
        self.frame = frame
        self.node = node
        self.api = api_name
        self.dtype = dtype
        self.subject = subject
        self.value = value
        self.proof = frame.proof()

    def fact(self) -> TreeUpcast | None:
        frame, name = self.frame, name_of(self.subject)
        low = is_low(self.value)
        if not (is_of_model(frame, self.subject) or (low and not DATA.search(name.lower()))):
            return None
        uses = uses_of(frame, self.node, self.subject)
        return TreeUpcast(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            api=self.api,
            dtype=self.dtype,
            operand=operand(frame, self.subject, self.value),
            low=low,
            names_low=low or names_low_dtype(frame.module),
            rebinds=dotted_name(self.subject) in targets_of(scope_of(frame), self.node),
            read_again=uses.original,
            copy_read_again=uses.copy,
            caller=uses.caller,
        )


# ---------------------------------------------------------------- which casts


def cast_tree(frame: Frame, dotted: str, call: Call) -> Value:
    """`optax.tree_utils.tree_cast(tree, dtype)`."""
    subject, given = call.argument(0, "tree"), call.argument(1, "dtype")
    asked = dtype_of(given) if given is not None else ""
    if subject is None:
        return UNKNOWN_VALUE
    return _as_cast(frame, call, dotted, asked, subject, call.argument_node(0, "tree"), subject.but(tags=0))


@api_call("cast_policy")
def cast_policy(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`jmp.get_policy("params=float32,compute=bfloat16")`: remembers the dtypes it casts to."""
    given = call.argument(0, "policy_name")
    text = given.data if given is not None and given.kind == CONSTANT else None
    made = Value(FOREIGN, data=Foreign("jmp.get_policy", frame.evaluation, frame.loop, call.node))
    asked = policy_dtypes(text) if isinstance(text, str) else {}
    made.element = tree({name: Value(CONSTANT, data=dtype) for name, dtype in asked.items()})
    return made


@api_call("policy_cast")
def policy_cast(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`policy.cast_to_param(grads)`: what has 32 bits already stays as it is, so only what is known to have 16 is
    copied up."""
    subject = call.argument(0, "x")
    callee = call.node.func if isinstance(call.node, ast.Call) else None
    owner = evaluate(frame, callee.value) if isinstance(callee, ast.Attribute) else UNKNOWN_VALUE
    dtypes = owner.element.data if owner.kind == FOREIGN and owner.element is not None else None
    if subject is None or dtypes.__class__ is not dict:
        return UNKNOWN_VALUE
    to = dtypes.get(last.removeprefix("cast_to_"))
    asked = str(to.data) if to is not None else ""
    if asked in FULL and not is_low(subject):
        return subject
    return _as_cast(frame, call, dotted, asked, subject, call.argument_node(0, "x"), subject.but(tags=0))


def mapped(frame: Frame, dotted: str, call: Call, leaf: Value, result: Value) -> Value:
    """`tree_map(function, tree)`: is it a cast of the whole tree? `leaf` is what the function gives."""
    function = call.argument(0, "f")
    if function is None or len(call.positional) != 2:
        return result
    if leaf.tags & LOW_FLOATS and leaf.origin is not None and leaf.origin.extra in LOW:
        return lowered(frame, call.node, result, leaf.origin.extra)
    asked = _leaf_dtype(frame, function, 1 if "with_path" in dotted else 0)
    if not asked or (asked in LOW and function.kind == FUNCTION):
        return result
    return _as_cast(frame, call, dotted, asked, call.positional[1], call.argument_node(1), result)


def collected(frame: Frame, node: ast.ListComp | ast.DictComp) -> None:
    """`[g.astype(jnp.float32) for g in jax.tree.leaves(grads)]`, `{k: v.astype(…) for k, v in grads.items()}`."""
    generator = node.generators[0]
    source, target = generator.iter, generator.target
    leaf = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
    body = node.value if isinstance(node, ast.DictComp) else node.elt
    if len(node.generators) != 1 or not isinstance(leaf, ast.Name) or not isinstance(body, ast.Call):
        return
    asked = _cast_dtype(frame, None, body, leaf.id)
    if asked not in FULL or frame.quiet:
        return
    if isinstance(source, ast.Call) and last_name(source.func) in _LEAVES:
        if source.args:
            source = source.args[0]
        elif isinstance(source.func, ast.Attribute):
            source = source.func.value
        else:
            return  # a function of the same name, of which nothing says that it has a tree
    frame.log.append(PendingUpcast(frame, node, "comprehension", asked, source, look(frame, source)))


def _as_cast(
    frame: Frame, call: Call, dotted: str, asked: str, subject: Value, node: ast.expr | None, result: Value
) -> Value:
    if asked in LOW:
        return lowered(frame, call.node, result, asked)
    if asked in FULL and node is not None and not frame.quiet and isinstance(call.node, ast.Call):
        frame.log.append(PendingUpcast(frame, call.node, dotted, asked, node, subject))
    return result


def _leaf_dtype(frame: Frame, function: Value, position: int) -> str:
    """The dtype that a function casts a leaf to and does nothing else but to scale it, "" otherwise."""
    if function.kind == API:
        return "" if function.data.startswith(_HOST) else dtype_named(function.data)
    if function.kind == PARTIAL and not function.data.args:
        given = function.data.keywords.get("dtype") or function.data.keywords.get("new_dtype")
        last = function.data.api.rpartition(".")[2]
        host = function.data.api.startswith(_HOST)
        return dtype_of(given) if given is not None and last in CASTS and not host else ""
    if function.kind != FUNCTION:
        return ""
    closure: Closure = function.data
    params = closure.function.params[closure.offset + len(closure.bound) :]
    if len(params) <= position or closure.transforms:
        return ""
    found = {
        _result_dtype(frame, closure, body, params[position]) for body in _results(closure.function.node)
    }
    found.discard("the leaf")
    return found.pop() if len(found) == 1 else ""


def _results(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.expr | None]:
    """What a function may return: the arms of a choice each by itself."""
    returned = (
        [node.body]
        if isinstance(node, ast.Lambda)
        else [n.value for n in own_nodes(node) if isinstance(n, ast.Return)]
    )
    for value in returned:
        yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _result_dtype(frame: Frame, closure: Closure, body: ast.expr | None, leaf: str) -> str:
    """ "the leaf" for the leaf as it is, the dtype of its cast, "" for anything else."""
    if isinstance(body, ast.Name) and body.id == leaf:
        return "the leaf"
    if isinstance(body, ast.BinOp) and isinstance(body.op, (ast.Mult, ast.Div)):
        sides = [s for s in (body.left, body.right) if any(_names(n, leaf) for n in walk(s))]
        return _result_dtype(frame, closure, sides[0], leaf) if len(sides) == 1 else ""
    return _cast_dtype(frame, closure, body, leaf) if isinstance(body, ast.Call) else ""


def _cast_dtype(frame: Frame, closure: Closure | None, body: ast.Call, leaf: str) -> str:
    callee = body.func
    words = [k.value for k in body.keywords if k.arg in ("dtype", "new_dtype")]
    if isinstance(callee, ast.Attribute) and callee.attr == "astype" and _names(callee.value, leaf):
        asked = [*body.args[:1], *words]
    elif not body.args or not _names(body.args[0], leaf):
        return ""
    else:
        named = _resolved(frame, closure, callee)
        dotted = str(named.data) if named.kind == API else ""
        if not dotted or dotted.startswith(_HOST):
            return ""
        if dotted.rpartition(".")[2] not in CASTS:
            return dtype_named(dotted) if len(body.args) == 1 else ""
        asked = [*body.args[1:2], *words]
    return _dtype(frame, closure, asked[0]) if asked else ""


def _dtype(frame: Frame, closure: Closure | None, node: ast.expr) -> str:
    if isinstance(node, ast.Call) and last_name(node.func) in _PROMOTING:
        found = (_dtype(frame, closure, argument) for argument in node.args)
        return next((dtype for dtype in found if dtype in FULL), "")
    return dtype_of(_resolved(frame, closure, node))


def _resolved(frame: Frame, closure: Closure | None, node: ast.expr) -> Value:
    """A name, or an attribute of a library, as the function sees it."""
    if closure is None or isinstance(node, ast.Constant):
        return evaluate(frame, node)
    if isinstance(node, ast.Attribute):
        owner = _resolved(frame, closure, node.value)
        return api(f"{owner.data}.{node.attr}") if owner.kind == API else UNKNOWN_VALUE
    if not isinstance(node, ast.Name):
        return UNKNOWN_VALUE
    function, name = closure.function, node.id
    if name in closure.bound_keywords:
        return closure.bound_keywords[name]
    if name in function.params:
        at = function.params.index(name) - closure.offset
        if at < len(closure.bound):
            return closure.bound[at]
        default = function.defaults.get(name)
        return (
            _resolved(frame, closure, default)
            if default is not None and default is not node
            else UNKNOWN_VALUE
        )
    scope = closure.scope
    while scope is not None:
        if name in scope.names:
            return _forced(frame, scope.names[name])
        scope = scope.up
    return _forced(frame, (function.module.names or {}).get(name, UNKNOWN_VALUE))


def _forced(frame: Frame, value: Value) -> Value:
    return frame.run.program.force(value) if value.kind == LAZY else value


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
