"""What a loop over a generator runs over, where that only hands on: `for i in range(0, n, 32): yield i`."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import FUNCTION
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import look
from jaxlint.index.walking import walk


def handed_on(frame: Frame, source: ast.expr) -> ast.expr:
    """The range, or whatever it is, that a generator goes through and yields member by member, in the terms of the
    caller; the source itself where it is no call of such a generator."""
    if not isinstance(source, ast.Call):
        return source
    callee = look(frame, source.func)
    if callee.kind != FUNCTION or callee.data.transforms or callee.data.bound or callee.data.offset:
        return source
    function: Function = callee.data.function
    inner = _source(function)
    given = _arguments(function, source)
    if inner is None or given is None or function.module is not frame.module:
        return source
    names = {n.id for n in walk(inner) if isinstance(n, ast.Name)} - given.keys()
    nested = function.parent is frame.function is not None
    hidden = frame.names.keys() if frame.function is not None else frozenset[str]()
    if not nested and (function.parent is not None or names & hidden):
        return source
    made: ast.expr = _Filled(given).visit(ast.parse(ast.unparse(inner), mode="eval").body)
    for node in ast.walk(made):
        if "lineno" in node._attributes:
            ast.copy_location(node, source)
    return made


def _source(function: Function) -> ast.expr | None:
    """What the one loop of a generator runs over, if all that it does is to yield."""
    node = function.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    loop = body[0] if len(body) == 1 else None
    if isinstance(loop, ast.Expr) and isinstance(loop.value, ast.YieldFrom):
        return loop.value.value
    if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
        return None
    inner = loop.body[0]
    given = inner.value.value if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Yield) else None
    same = isinstance(given, ast.Name) and isinstance(loop.target, ast.Name) and given.id == loop.target.id
    return loop.iter if same else None


def _arguments(function: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """parameter → what the call passes for it, or its default; None where that cannot be told."""
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    if starred or function.variadic or function.args.kwarg is not None or function.is_method:
        return None
    given = {**function.defaults, **dict(zip(function.params, call.args, strict=False))}
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return given if given.keys() == {*function.params, *function.keyword_only} else None


class _Filled(ast.NodeTransformer):
    """Arguments in the place of parameters."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self._given.get(node.id)
        return node if known is None else ast.parse(ast.unparse(known), mode="eval").body
