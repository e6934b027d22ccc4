"""What an optimiser updated: values that hold it, and the parameters whose new value it is."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory import consumed
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.tags import UPDATED
from jaxlint.flow.domain.values import Value, parts
from jaxlint.flow.syntax.bindings import Bindings, returned
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name
from jaxlint.pattern import pattern

_DEPTH = 3
# What a step calls the state that it hands to the function which updates it.
_STATES = pattern(r"^(train(ing)?_?)?(state|params|parameters|opt_state|carry|model|variables|learner)$")
_OPTIMIZERS = pattern(r"^(opt|optim|optimi[sz]er|tx)$|_(opt|optim|optimi[sz]er|tx)$")


def holds_updated(value: Value | None, depth: int = 0) -> bool:
    """Whether a value, or a member of it, went through an optimiser's update."""
    if value is None or depth > _DEPTH:
        return False
    return bool(value.tags & UPDATED) or any(holds_updated(v, depth + 1) for v in parts(value))


def replaced_by_update(function: Function, params: list[str], result: Value | None) -> frozenset[str]:
    """The parameters of which an updated result is the new value: by what the outputs are made of, else those with
    the name of a state that the returned call is given."""
    owners = consumed.owners(function, params, result)
    if owners:
        return owners
    bindings = Bindings(function.node)
    found: set[str] = set()
    for value in filter(None, returned(function.node)):
        for output in value.elts if isinstance(value, ast.Tuple) else [value]:
            sources = [output, *(bindings.of(output.id)[-1:] if isinstance(output, ast.Name) else ())]
            calls = (source for source in sources if isinstance(source, ast.Call))
            found |= {n.id for call in calls for n in walk(call) if isinstance(n, ast.Name)}
    return frozenset(name for name in params if name in found and _STATES.search(name))


def updated_in_place(function: Function) -> frozenset[str]:
    """The parameters that `optimizer.update(model, grads)` changes in a function of nnx modules: the optimiser, and
    the model where it is given."""
    found: set[str] = set()
    for node in own_nodes(function.node):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update"
        ):
            continue
        owner = dotted_name(node.func.value) or ""
        root, _, field = owner.partition(".")
        if "Optimizer" in function.annotations.get(owner, "") or _OPTIMIZERS.search(field or root):
            given = node.args[0] if len(node.args) > 1 else None
            found |= {root, *((dotted_name(given) or "").partition(".")[:1] if given is not None else ())}
    return frozenset(name for name in function.params[function.is_method :] if name in found)
