"""Displays: tuples, lists, sets and dicts that are written out."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.escaping import escape_all
from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Origin, Value, collection, tree
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.retrace.optional import handed_on
from jaxlint.flow.statements.iteration import element_of


@expression(ast.Tuple, ast.List)
def sequence(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    members: list[Value] = []
    starred = False
    for item in node.elts:
        if item.__class__ is ast.Starred:
            inner = evaluate(frame, item.value)
            if inner.kind == TREE and inner.data.__class__ is list:
                members += inner.data
            else:
                starred = True
                members.append(element_of(inner))
        else:
            members.append(evaluate(frame, item))
    escape_all(members)
    word = "list" if node.__class__ is ast.List else "tuple"
    origin = Origin(frame.module, node, word)
    if starred:
        joined = members[0]
        for member in members[1:]:
            joined = join(joined, member)
        return collection(joined, origin)
    return tree(members, origin)


@expression(ast.Set)
def set_display(frame: Frame, node: ast.Set) -> Value:
    members = [evaluate(frame, item) for item in node.elts]
    escape_all(members)
    return tree(members, Origin(frame.module, node, "set"))


@expression(ast.Dict)
def dictionary(frame: Frame, node: ast.Dict) -> Value:
    members: dict[object, Value] = {}
    known = True
    opened: list[Value] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(frame, item)
        if key is None:
            opened.append(value)
            if value.kind == TREE and value.data.__class__ is dict:
                members.update(value.data)
            else:
                known = False
            continue
        key_value = evaluate(frame, key)
        escape_all([value])
        if key_value.kind == CONSTANT and isinstance(key_value.data, (str, int)):
            members[key_value.data] = value
        else:
            known = False
            members[object()] = value
    origin = Origin(frame.module, node, "dict", handed_on(opened, node.keys) or frame.branches)
    if known:
        return tree(members, origin)
    joined: Value | None = None
    for value in members.values():
        joined = value if joined is None else join(joined, value)
    return collection(joined if node.keys and None not in node.keys else UNKNOWN_VALUE, origin)
