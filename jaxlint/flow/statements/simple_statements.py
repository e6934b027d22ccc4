"""Statements that hold no others: expressions, assignments, `del`, `assert`, `global`, and those that leave."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.watching import forget
from jaxlint.flow.domain.joining import join, join_environments
from jaxlint.flow.domain.kinds import BOUNDARY, HOST, SCALAR, TREE
from jaxlint.flow.domain.origin_words import ACCUMULATOR
from jaxlint.flow.domain.tags import BOUNDED
from jaxlint.flow.domain.values import NONE, PER_CALL, Origin, parts
from jaxlint.flow.expressions.arithmetic import combine
from jaxlint.flow.frame import Frame, evaluate, statement
from jaxlint.flow.host_memory import lending
from jaxlint.flow.host_memory.keeping import note_extension
from jaxlint.flow.host_memory.lookups import lookup_of
from jaxlint.flow.retrace.grouping import added
from jaxlint.flow.statements.assignment import assign, target_names
from jaxlint.flow.statements.iteration import element_of
from jaxlint.flow.trace import effects, traced
from jaxlint.index.written_names import dotted_name


@statement(ast.Expr)
def expression_statement(frame: Frame, node: ast.Expr) -> None:
    if node.value.__class__ is not ast.Constant:
        frame.statement = node
        evaluate(frame, node.value)


@statement(ast.Assign)
def assignment(frame: Frame, node: ast.Assign) -> None:
    frame.statement = node
    if node.value.__class__ is ast.Call:
        names: list[str] = []
        for target in node.targets:
            target_names(target, names)
        frame.targets = tuple(names)
        value = evaluate(frame, node.value)
        frame.targets = ()
        looked_up = lookup_of(node.value)
        if looked_up is not None and isinstance(node.targets[0], ast.Name):
            frame.lookups[node.targets[0].id] = looked_up
    else:
        value = evaluate(frame, node.value)
        if frame.level and node.value.__class__ is ast.BinOp:
            effects.counted_by_hand(frame, node)
    for target in node.targets:
        assign(frame, target, value, node.value)


@statement(ast.AnnAssign)
def annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is None:
        return
    frame.statement = node
    if isinstance(node.value, ast.Call):
        names: list[str] = []
        target_names(node.target, names)
        frame.targets = tuple(names)
    value = evaluate(frame, node.value)
    frame.targets = ()
    assign(frame, node.target, value, node.value)


@statement(ast.AugAssign)
def augmented(frame: Frame, node: ast.AugAssign) -> None:
    frame.statement = node
    before = evaluate(frame, node.target)
    by = evaluate(frame, node.value)
    value = combine(frame, before, by, node.op, node)
    if frame.level:
        effects.counted(frame, node, before, by)
    elif before.kind == HOST:
        lending.written(frame, node, node.target)
    else:
        note_extension(frame, node)
    if value.varies and value.origin is not None and value.origin.word == ACCUMULATOR:
        word = "counter" if isinstance(node.target, ast.Attribute) and not frame.loop else ACCUMULATOR
        value = value.but(origin=value.origin._replace(node=node, word=word))
    if isinstance(node.target, ast.Attribute) and value.kind == SCALAR and not value.varies:
        value = value.but(
            varies=PER_CALL, tags=value.tags & ~BOUNDED, origin=Origin(frame.module, node, "counter")
        )
    assign(frame, node.target, value)
    if isinstance(node.target, ast.Subscript) and by.kind == TREE and not frame.level:
        added(frame, node.target, node, element_of(by))  # `groups[key] += [row]`


@statement(ast.Return)
def return_(frame: Frame, node: ast.Return) -> bool:
    frame.statement = node
    value = evaluate(frame, node.value) if node.value is not None else NONE
    for member in [value, *(parts(value) if value.kind == TREE else [])]:
        if member.kind == BOUNDARY:
            member.data.returned = True
    frame.result = value if frame.result is None else join(frame.result, value)
    return True


@statement(ast.Raise)
def raise_(frame: Frame, node: ast.Raise) -> bool:
    if node.exc is not None and frame.eager:  # `raise SystemExit(main())`
        evaluate(frame, node.exc)
    return True


@statement(ast.Break)
def break_(frame: Frame, node: ast.Break) -> bool:
    if frame.loops:
        loop = frame.loops[-1]
        loop.broken = join_environments(loop.broken, frame.names)
    return True


@statement(ast.Continue)
def continue_(frame: Frame, node: ast.Continue) -> bool:
    if frame.loops:
        loop = frame.loops[-1]
        loop.continued = join_environments(loop.continued, frame.names)
    return True


@statement(ast.Assert)
def assert_(frame: Frame, node: ast.Assert) -> None:
    traced.truth(frame, node.test, evaluate(frame, node.test), "assert")


@statement(ast.Global)
def global_(frame: Frame, node: ast.Global) -> None:
    frame.globals.update(node.names)
    for name in node.names:
        value = (frame.module.names or {}).get(name)
        if value is not None:
            frame.names[name] = value


@statement(ast.Nonlocal)
def nonlocal_(frame: Frame, node: ast.Nonlocal) -> None:
    frame.nonlocals.update(node.names)


@statement(ast.Delete)
def delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        name = dotted_name(target)
        if name is not None:
            forget(frame, name)
            frame.names.pop(name, None)
        elif isinstance(target, ast.Subscript):
            evaluate(frame, target.value)
