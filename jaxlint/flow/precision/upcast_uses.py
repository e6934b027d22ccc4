"""Who has both a tree and its cast copy in hand: told by the syntax of the functions that hold them."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.frame import Frame
from jaxlint.flow.precision.model_trees import passes_model
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.flow.syntax.calls_in_view import calls_in_view
from jaxlint.index.walking import children, nodes_of, own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.precision import LOW

_OPTIMISING = frozenset({"update", "apply_gradients"})


class Uses(NamedTuple):
    """`original`: where the tree is read after the cast. `copy`: where the copy is read again, by a second
    statement or inside an optimiser, so that no one use can take the cast in. `caller`: the call that is handed
    the copy, where a helper makes it."""

    original: Place | None = None
    copy: Place | None = None
    caller: Place | None = None


def uses_of(frame: Frame, node: ast.expr, subject: ast.expr) -> Uses:
    """What becomes of a cast (`node`) and of the tree that it is of (`subject`), in its function or its callers."""
    scope = scope_of(frame)
    here = _uses(frame.module, scope, node, subject)
    function, name = frame.function, dotted_name(subject) or ""
    if here.original is not None or function is None or not _is_returned(scope, node):
        return here
    for call in calls_in_view(frame):
        given = call.passes(function, name)
        if name in function.index and not passes_model(call, given):
            continue
        found = _uses(call.module, call.scope, call.node, given)
        if found.original is not None or found.copy is not None:
            return found._replace(caller=call.module.place(call.node))
    return here


def targets_of(scope: ast.AST, node: ast.expr) -> list[str]:
    """The names that a value is bound to."""
    for statement in nodes_of(scope, ast.Assign):
        if statement.value is node:
            return [name for target in statement.targets if (name := dotted_name(target)) is not None]
    return []


def names_low_dtype(module: LoadedModule) -> bool:
    """Whether a module speaks of a dtype of 16 bits or less."""
    return (
        any(node.attr in LOW for node in nodes_of(module.tree, ast.Attribute))
        or any(node.id in LOW for node in nodes_of(module.tree, ast.Name))
        or any(
            node.value in LOW for node in nodes_of(module.tree, ast.Constant) if isinstance(node.value, str)
        )
    )


def _uses(module: LoadedModule, scope: ast.AST, node: ast.expr, subject: ast.expr | None) -> Uses:
    held = targets_of(scope, node)
    original = dotted_name(subject) if subject is not None else None
    again = None
    if original is not None and original not in held:
        again = next((n for n in own_nodes(scope) if _reads(n, original) and _is_after(n, node)), None)
    second = next((use for name in held for use in _read_again(scope, name, node)), None)
    return Uses(
        module.place(again) if again is not None else None,
        module.place(second) if second is not None else None,
    )


def _read_again(scope: ast.AST, name: str, made: ast.expr) -> list[ast.AST]:
    """The second read of a name. An optimiser reads its gradients more than once: for their norm and the update,
    for the first and the second moment."""
    readers = _readers(scope, name, made)
    updates = (n for n in own_nodes(scope) if isinstance(n, ast.Call) and last_name(n.func) in _OPTIMISING)
    inside = {n for call in updates for part in (*call.args, *call.keywords) for n in walk(part)}
    return readers[1:2] or [read for read in readers[:1] if read in inside]


def _readers(scope: ast.AST, name: str, made: ast.expr) -> list[ast.AST]:
    """A read of a name in each statement that does so, from where it was bound to where it is bound anew."""
    found: list[ast.AST] = []
    for statement in own_nodes(scope):
        if not isinstance(statement, ast.stmt) or not _is_after(statement, made):
            continue
        nodes = [n for part in children(statement) if not isinstance(part, ast.stmt) for n in walk(part)]
        read = next((n for n in nodes if _reads(n, name)), None)
        if read is not None:
            found.append(read)
        if isinstance(statement, ast.Assign) and name in map(dotted_name, statement.targets):
            break
    return found


def _reads(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and dotted_name(node) == name
    )


def _is_after(node: ast.AST, cast: ast.expr) -> bool:
    line: int = node.lineno  # type: ignore[attr-defined]  # statements, names and attributes have one
    return line > (cast.end_lineno or cast.lineno)


# ---------------------------------------------------------------- helpers


def _is_returned(scope: ast.AST, node: ast.expr) -> bool:
    """Whether a function does nothing with the copy but return it."""
    if isinstance(scope, ast.Lambda):
        return scope.body is node
    held = set(targets_of(scope, node))
    returned = [n.value for n in own_nodes(scope) if isinstance(n, ast.Return) and n.value is not None]
    return any(value is node or dotted_name(value) in held for value in returned)
