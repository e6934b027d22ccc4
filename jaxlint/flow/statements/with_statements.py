"""`with`: what it binds, and contexts in which code is expected to fail or jit is off."""

from __future__ import annotations

import ast

from jaxlint.flow.calls import patching
from jaxlint.flow.domain.kinds import CONSTANT, FOREIGN, INSTANCE, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Frame, evaluate, execute, statement
from jaxlint.flow.retrace.mutation import UnjittedEnd, UnjittedStart
from jaxlint.flow.statements.assignment import assign
from jaxlint.flow.statements.iteration import element_of
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.processes import EXECUTOR, POOL

_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "ensure_compile_time_eval"})
_UNJITTING = frozenset({"disable_jit", "fake_jit", "fake_pmap_and_jit"})


def _entered(value: Value) -> Value:
    """What `with` binds: an object whose `__enter__` returns itself, what a generator yields, a pool."""
    if value.kind == INSTANCE:
        return value if _enters_as_itself(value) else UNKNOWN_VALUE
    if value.kind == TREE:
        return element_of(value)
    if value.kind == FOREIGN and value.data.api in (EXECUTOR, POOL):
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
            name = last_name(context.func)
            if name in _EXPECTING:
                return False  # what the body does there is expected to fail, or concrete
            if name in _UNJITTING:
                frame.log.append(UnjittedStart())
                unjitted += 1
    ends = execute(frame, node.body)
    for _ in range(unjitted):
        frame.log.append(UnjittedEnd())
    return ends
