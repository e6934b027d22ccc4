"""Statements: control flow, assignment, imports."""

from __future__ import annotations

import ast

from jaxlint.flow import effects, lending, patching, traced
from jaxlint.flow.assignment import assign
from jaxlint.flow.filled import ACCUMULATOR
from jaxlint.flow.frame import Frame, evaluate, execute, statement
from jaxlint.flow.guards import TRACER_BRANCH, TRY, asks_for_tracer, guard_of, takes_tracer_errors
from jaxlint.flow.iteration import element_of
from jaxlint.flow.joining import join, join_environments
from jaxlint.flow.keeping import note_extension
from jaxlint.flow.kinds import BOUNDARY, CONSTANT, FOREIGN, HOST, INSTANCE, SCALAR, TRACERS, TREE
from jaxlint.flow.mutation import UnjittedEnd, UnjittedStart
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.operators import combine
from jaxlint.flow.tags import BOUNDED
from jaxlint.flow.values import NONE, PER_CALL, UNKNOWN_VALUE, Origin, Value, parts
from jaxlint.flow.walking import walk
from jaxlint.flow.watching import forget
from jaxlint.index.naming import imported_module
from jaxlint.jax_api.processes import EXECUTOR


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


def target_names(target: ast.expr, names: list[str]) -> None:
    """Plain and dotted names that a target binds."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            target_names(item, names)
    elif isinstance(target, ast.Starred):
        target_names(target.value, names)
    else:
        name = dotted_name(target)
        if name is not None:
            names.append(name)


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
        value = value.but(origin=value.origin._replace(node=node))
    if isinstance(node.target, ast.Attribute) and value.kind == SCALAR and not value.varies:
        value = value.but(
            varies=PER_CALL, tags=value.tags & ~BOUNDED, origin=Origin(frame.module, node, "counter")
        )
    assign(frame, node.target, value)


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


@statement(ast.If)
def if_(frame: Frame, node: ast.If) -> bool:
    if is_type_checking(node.test):
        return execute(frame, node.orelse)
    known = traced.truth(frame, node.test, evaluate(frame, node.test), "if")
    filling = asks_for_absence(node.test)
    if known is not None:
        frame.filling += known and filling
        ends = execute(frame, node.body if known else node.orelse)
        frame.filling -= known and filling
        return ends
    base = frame.names
    before = frame.guard
    branches = frame.branches
    frame.branches = (*branches, node)
    frame.names = dict(base)
    frame.guard = before | guard_of(frame, node.test, True)
    if node.body and isinstance(node.body[-1], ast.Return):
        _note_answered(frame, node.test)
    frame.filling += filling
    body_ends = execute(frame, node.body)
    frame.filling -= filling
    after_body = frame.names
    frame.names = base
    frame.guard = before | guard_of(frame, node.test, False)
    else_ends = execute(frame, node.orelse)
    frame.guard = before
    if body_ends and asks_for_tracer(node.test):
        frame.guard |= TRACER_BRANCH  # who comes here holds no tracer
    if not skips_rest(frame, node):
        frame.branches = branches
    if not body_ends and not else_ends:
        frame.names = join_environments(frame.names, after_body) or base
    elif not body_ends:
        frame.names = after_body
    return body_ends and else_ends


def skips_rest(frame: Frame, node: ast.If) -> bool:
    """One side goes on to the next round, or leaves the function: what follows runs only sometimes."""
    ways_out = ast.Continue if frame.loops else ast.Return
    return any(isinstance(side[-1], ways_out) for side in (node.body, node.orelse) if side)


def is_type_checking(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`: never runs."""
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _note_answered(frame: Frame, test: ast.expr) -> None:
    """`if key in cache:` or `if hit is not None:` before a return: what follows is a miss."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
        name = dotted_name(test.comparators[0])
        if name is not None:
            frame.answered.add(name)
    elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        looked_up = (
            frame.lookups.get(dotted_name(test.left) or "")
            if not isinstance(test.left, ast.NamedExpr)
            else None
        )
        source = test.left.value if isinstance(test.left, ast.NamedExpr) else None
        if source is not None:
            looked_up = lookup_of(source)
        if looked_up:
            frame.answered.add(looked_up)


def _note_found(frame: Frame, value: ast.expr | None) -> None:
    """`try: return cache[key]` before an `except KeyError`: what follows is a miss."""
    name = dotted_name(value.value) if isinstance(value, ast.Subscript) else None
    if name is not None:
        frame.answered.add(name)


def lookup_of(node: ast.expr | None) -> str | None:
    """The container that `cache.get(key)` asks."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return dotted_name(node.func.value)
    return None


def asks_for_absence(test: ast.expr) -> bool:
    """`x is None`, `key not in cache`, `not hasattr(self, "step")`, `not self.compiled`: what follows fills it."""
    if isinstance(test, ast.BoolOp):
        return any(asks_for_absence(item) for item in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.NotIn):
            return True
        right = test.comparators[0]
        return isinstance(test.ops[0], ast.Is) and isinstance(right, ast.Constant) and right.value is None
    return False


@statement(ast.Assert)
def assert_(frame: Frame, node: ast.Assert) -> None:
    traced.truth(frame, node.test, evaluate(frame, node.test), "assert")


_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "ensure_compile_time_eval"})


_UNJITTING = frozenset({"disable_jit", "fake_jit", "fake_pmap_and_jit"})


def _entered(value: Value) -> Value:
    """What `with` binds: an object whose `__enter__` returns itself, what a generator yields, an executor."""
    if value.kind == INSTANCE:
        return value if _enters_as_itself(value) else UNKNOWN_VALUE
    if value.kind == TREE:
        return element_of(value)
    if value.kind == FOREIGN and value.data.api == EXECUTOR:
        return value
    return value.element if value.kind == CONSTANT and value.element else UNKNOWN_VALUE


def _enters_as_itself(value: Value) -> bool:
    """`def __enter__(self): …; return self`. The methods are not run: what they change they put back."""
    method = value.data.cls.lookup("__enter__")
    last = method.node.body[-1] if method is not None and isinstance(method.node.body, list) else None
    return isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and last.value.id == "self"


@statement(ast.With, ast.AsyncWith)
def with_(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    unjitted = 0
    for item in node.items:
        value = evaluate(frame, item.context_expr)
        patching.enter(frame, value)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, _entered(value))
        context = item.context_expr
        if isinstance(context, ast.Call):
            callee = context.func
            name = (
                callee.attr
                if isinstance(callee, ast.Attribute)
                else callee.id
                if isinstance(callee, ast.Name)
                else ""
            )
            if name in _EXPECTING:
                return False  # what the body does there is expected to fail, or concrete
            if name in _UNJITTING:
                frame.log.append(UnjittedStart())
                unjitted += 1
    ends = execute(frame, node.body)
    for _ in range(unjitted):
        frame.log.append(UnjittedEnd())
    return ends


def _try(frame: Frame, node: ast.Try) -> bool:
    base = dict(frame.names)
    before = frame.guard
    if takes_tracer_errors(node.handlers):
        frame.guard |= TRY
    ends = execute(frame, node.body)
    frame.guard = before
    if not ends and node.orelse:
        ends = execute(frame, node.orelse)
    if frame.level and takes_tracer_errors(node.handlers):
        _doubt(frame, base)
    at_end = frame.names
    after: dict[str, Value] | None = None if ends else frame.names
    for handler in node.handlers:
        frame.names = dict(base)
        if handler.name:
            frame.names[handler.name] = UNKNOWN_VALUE
        missed = handler.type is not None and any(
            error in ast.dump(handler.type) for error in ("'KeyError'", "'AttributeError'")
        )
        frame.filling += missed
        branches = frame.branches
        frame.branches = (*branches, handler)
        if not execute(frame, handler.body):
            after = join_environments(after, frame.names)
        frame.branches = branches
        frame.filling -= missed
        if missed and node.body and isinstance(node.body[-1], ast.Return):
            _note_found(frame, node.body[-1].value)
    if frame.level and takes_tracer_errors(node.handlers) and after is at_end and not ends:
        frame.guard |= TRY  # every handler leaves: whoever comes here holds concrete values
    if not node.finalbody:
        frame.names = after if after is not None else base
        return after is None
    # `finally` also runs when the body returns: what it had done by then holds.
    frame.names = join_environments(dict(after) if after is not None else None, dict(at_end)) or base
    finally_ends = execute(frame, node.finalbody)
    return after is None or finally_ends


def _doubt(frame: Frame, before: dict[str, Value]) -> None:
    """After a try that takes tracer errors, what its body bound from a tracer may not be one: it got here."""
    for name, value in frame.names.items():
        if value is not before.get(name) and value.kind in TRACERS:
            frame.names[name] = UNKNOWN_VALUE


statement(ast.Try)(_try)
if hasattr(ast, "TryStar"):
    statement(ast.TryStar)(_try)


@statement(ast.Match)
def match(frame: Frame, node: ast.Match) -> bool:
    subject = evaluate(frame, node.subject)
    if any(isinstance(c.pattern, ast.MatchValue) for c in node.cases):
        traced.demand(frame, node.subject, subject, "match")
    base = frame.names
    after: dict[str, Value] | None = None
    exhaustive = False
    for case in node.cases:
        frame.names = dict(base)
        for pattern in walk(case.pattern):
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                frame.names[name] = UNKNOWN_VALUE
        if case.guard is not None:
            evaluate(frame, case.guard)
        elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            exhaustive = True
        branches = frame.branches
        frame.branches = (*branches, node)
        if not execute(frame, case.body):
            after = join_environments(after, frame.names)
        frame.branches = branches
    if not exhaustive:
        after = join_environments(after, dict(base))
    frame.names = after if after is not None else base
    return after is None


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


@statement(ast.Import)
def import_(frame: Frame, node: ast.Import) -> None:
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        dotted = alias.name if alias.asname else bound
        frame.names[bound] = frame.run.program.imported(dotted, frame.module.entry)


@statement(ast.ImportFrom)
def import_from(frame: Frame, node: ast.ImportFrom) -> None:
    entry = frame.module.entry
    base = imported_module(entry.name, entry.is_package, node.level, node.module)
    for alias in node.names:
        if alias.name == "*":
            _import_all(frame, base)
        else:
            frame.names[alias.asname or alias.name] = frame.run.program.imported(
                f"{base}.{alias.name}", entry
            )


def _import_all(frame: Frame, base: str) -> None:
    """`from module import *`: the names the module defines, if it is the project's."""
    program = frame.run.program
    found = program.table.find(base, frame.module.entry)
    if found is None or found is frame.module.entry:
        return
    record = found.record
    for name in (*record.functions, *record.classes, *record.imports):
        if "." not in name and not name.startswith("_"):
            frame.names[name] = program.imported(f"{base}.{name}", frame.module.entry)
