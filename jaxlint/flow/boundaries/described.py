"""A jit boundary as facts carry it."""

from __future__ import annotations

import ast

from jaxlint.finding import Place
from jaxlint.flow.calls.argument_binding import default_value
from jaxlint.flow.calls.instances import generic_instance, holds_arrays
from jaxlint.flow.calls.updates import holds_updated, replaced_by_update, updated_in_place
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.operand import maker
from jaxlint.flow.facts import Boundary, Parameter
from jaxlint.flow.syntax.parameters import parameter_uses


def signature(closure: Closure | None) -> list[str] | None:
    """Parameter names as the boundary's caller counts them; None when unknown."""
    if closure is None:
        return None
    params = closure.function.params[closure.offset :]
    return [*[""] * closure.dropped, *params[len(closure.bound) :]]


def describe(state: BoundaryState) -> Boundary:
    """The boundary as facts carry it."""
    closure = state.closure
    function: Function | None = closure.function if closure is not None else None
    params = signature(closure) or []
    cls = state.in_class
    static_self = bool(
        cls is not None
        and not cls.is_pytree_module
        and params[:1] == ["self"]
        and state.static
        and 0 in state.static
    )
    uses = parameter_uses(function) if function is not None else {}
    replaced = frozenset(name for name, how in uses.items() if "returned" in how)
    updates = holds_updated(state.result)
    if function is not None and state.flavour == "nnx":
        in_place = updated_in_place(function)
        replaced, updates = replaced | in_place, updates or bool(in_place)
    elif function is not None and updates and not replaced:
        replaced = replaced_by_update(function, params, state.result)
    by_position = {a.arg for a in function.args.posonlyargs} if function is not None else set()
    return Boundary(
        place=state.module.place(state.node),
        api=state.api,
        flavour=state.flavour,
        form=state.form,
        function=function.qualname if function is not None else "",
        definition=_definition(function),
        library=state.library,
        parameters=tuple(
            Parameter(
                name,
                has_default=name in function.defaults,
                keyword_only=name in function.keyword_only,
                positional_only=name in by_position,
                annotation=function.annotations.get(name, ""),
                uses=frozenset(uses.get(name, ())),
                default=_literal(function.defaults.get(name)),
            )
            for name in (*params, *function.keyword_only)
        )
        if function is not None
        else (),
        static=state.static,
        donated=state.donated,
        forms_alike=not (state.several or state.by_position),
        fresh=state.fresh,
        made_in=_maker(state),
        in_class=cls.qualname if cls is not None else "",
        static_self=static_self,
        self_hashing=cls.hashing if cls is not None else "",
        self_holds_arrays=cls is not None and holds_arrays(generic_instance(cls)),
        updates=updates,
        returns_argument=replaced,
    )


def _literal(default: ast.expr | None) -> str:
    """A literal default as `repr` shows it."""
    value = default_value(default) if default is not None else None
    return repr(value.data) if value is not None and value.kind == CONSTANT else ""


def _maker(state: BoundaryState) -> str:
    if state.fresh in ("", "nnx") or state.closure is None:
        made_by = state.home.function if state.fresh and state.home is not None else None
        return made_by.qualname if made_by is not None else ""
    return maker(state.closure)


def _definition(function: Function | None) -> Place | None:
    if function is None:
        return None
    node = function.node
    return function.module.place(node) if isinstance(node, ast.Lambda) else function.module.header(node)
