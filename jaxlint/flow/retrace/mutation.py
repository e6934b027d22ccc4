"""Changes of outer names, in the order the program makes them: the raw material of stale reads.

A key says what is changed, in the terms in which traced code reads it: ("global", module path, name),
("attribute", key of the owner, name), ("self", class, name), ("closure", scope, name).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.kinds import CLASS, INSTANCE, MODULE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.frame import Frame, evaluate
from jaxlint.flow.program import LoadedModule

if TYPE_CHECKING:
    from jaxlint.flow.evaluations import Evaluation
    from jaxlint.flow.retrace.shared_containers import Held

Key = tuple[Any, ...]


NAMELESS: Key = ("nameless",)  # of what no name leads to: `settings["model"]["scale"] = …`


class Mutated(NamedTuple):
    """A log entry: something outer code may read is changed. `held`: the container of which an item is, see
    flow.shared_containers."""

    key: Key
    module: LoadedModule
    node: ast.AST
    held: Held | None = None


class Invoked(NamedTuple):
    """A log entry: a boundary is called outside any trace. `made` says what makes a static argument that no trace
    from before knows, see flow.new_statics."""

    boundary: BoundaryState
    module: LoadedModule
    node: ast.AST
    made: tuple[Evaluation, bool] | None = None


class Made(NamedTuple):
    """A log entry: an instance comes into being; what was said of an earlier one is over."""

    identity: object


class Cleared(NamedTuple):
    """A log entry: traces are forgotten: all (`jax.clear_caches()`) or one boundary's."""

    boundary: BoundaryState | None = None


class UnjittedStart(NamedTuple):
    """A log entry: up to the matching end no boundary is compiled or asked (`with jax.disable_jit()`)."""


class UnjittedEnd(NamedTuple):
    """A log entry."""


class LoopStart(NamedTuple):
    """A log entry: what follows, up to the matching end, happens again."""


class LoopEnd(NamedTuple):
    """A log entry."""


def global_key(module: LoadedModule, name: str) -> Key:
    return ("global", module.path, name)


def environment_key(name: str) -> Key:
    """The key of an environment variable."""
    return ("environ", name)


def self_key(owner: Value, attr: str) -> Key:
    """The key of a field of one instance."""
    return ("self", id(owner.data.identity), attr)


def attribute_key(frame: Frame, node: ast.expr, owner: Value, attr: str) -> Key:
    """The key of `owner.attr`."""
    if owner.kind == MODULE:
        return global_key(owner.data, attr)
    if owner.kind == INSTANCE:
        return self_key(owner, attr)
    if owner.kind == CLASS:
        return ("attribute", ("class", id(owner.data)), attr)
    if isinstance(node, ast.Name):
        if node.id in frame.names and frame.function is not None:
            return ("attribute", ("closure", id(frame.evaluation), node.id), attr)
        origin = (frame.module.names or {}).get(node.id)
        if origin is not None and origin.kind == 19:  # an import not looked at: its own module's global
            dotted, near = origin.data
            found = frame.run.program.table.definition(dotted, near)
            if found is not None:
                return ("attribute", ("global", found[0].path, found[1]), attr)
        return ("attribute", global_key(frame.module, node.id), attr)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = evaluate(frame, node.value)
        if module.kind == MODULE:
            return ("attribute", global_key(module.data, node.attr), attr)
    return ("attribute", ("", 0, ast.dump(node)), attr)
