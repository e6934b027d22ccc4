"""What a checkpoint is read into, by syntax: the calls that made it, the names it had on the way, and whether
anything else reads them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.domain.kinds import FUNCTION
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.bindings import bindings_of, look, scope_of
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.loading import LOADERS

_HOPS = 6  # from name to name
# `graphdef, state = nnx.split(model)`: the arrays are those of the model.
_TAKING_APART = frozenset(
    {"split", "state", "filter", "partition", "to_state_dict", "to_pure_dict", "unfreeze", "asdict", "vars"}
)
_REPLACING = frozenset({"replace", "_replace"})
_STRUCTURE = frozenset({"apply_fn", "tx", "graphdef"})  # of a state, what is no array
_STATE_TREES = frozenset({"params", "opt_state"})  # the arrays of a training state
_LOADING = frozenset(name.rpartition(".")[2] for name in LOADERS)


class Origin(NamedTuple):
    """A call that made a part of the template."""

    made: ast.Call
    names: tuple[str, ...] = ()  # from the template's own to that of what was made


class Template:
    """The tree that a call reads into."""

    def __init__(self, frame: Frame, load: ast.Call, skeleton: ast.expr) -> None:
        self.frame = frame
        self.load = load
        self.followed: list[ast.expr] = [load]  # what puts it together
        self.taken: dict[str, set[str]] = {}  # the fields of each name that are in it, "" for the whole
        self.origins = list(self._origins(skeleton, (), _HOPS))

    def _origins(self, node: ast.expr, names: tuple[str, ...], hops: int) -> Iterator[Origin]:
        """The calls that made the tree, or the parts of it: the last bound to their names before the load."""
        if not hops:
            return
        field, node = _first_field(node), subject(node)
        if isinstance(node, ast.Call):
            parts = _taken_apart(node) or self._put_together(node)
            for part in parts:
                yield from self._origins(part, names, hops - 1)
            if not parts:
                yield Origin(node, names)
            return
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
            for member in members(node):
                yield from self._origins(member, names, hops - 1)
            return
        name = dotted_name(node)
        earlier = [b for b in self._bound(name) if b.lineno < self.load.lineno] if name else []
        if not name or not earlier:
            return
        self.followed.append(earlier[-1])
        self.taken.setdefault(name, set()).add(field)
        yield from self._origins(earlier[-1], (*names, name), hops - 1)

    def _bound(self, name: str) -> list[ast.expr]:
        """What a name or a field of `self` was bound to in this function."""
        if "." not in name:
            return bindings_of(self.frame).of(name)
        assigned = (n for n in own_nodes(scope_of(self.frame)) if isinstance(n, ast.Assign))
        return [n.value for n in assigned if any(dotted_name(t) == name for t in n.targets)]

    def _put_together(self, call: ast.Call) -> list[ast.expr]:
        """What a function of the project puts into a dict or tuple: `payload(state)`, in terms of its arguments."""
        value = look(self.frame, call.func)
        if value.kind != FUNCTION or value.data.transforms or value.data.function.is_lambda:
            return []
        function = value.data.function
        returns = [n.value for n in own_nodes(function.node) if isinstance(n, ast.Return)]
        if len(returns) != 1 or not isinstance(returns[0], (ast.Dict, ast.Tuple, ast.List)):
            return []
        params = function.params[value.data.offset :]
        given = dict(zip(params, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        parts: list[ast.expr] = []
        for member in members(returns[0]):
            root, field = subject(member), _first_field(member)
            if isinstance(root, ast.Name) and root.id in given:
                whole = given[root.id]
                taken = ast.copy_location(ast.Attribute(whole, field, ast.Load()), whole)
                parts.append(taken if field else whole)
        return parts


def members(node: ast.expr) -> list[ast.expr]:
    """What a tuple, list or dict display puts together, or the expression itself."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    return node.values if isinstance(node, ast.Dict) else [node]


def subject(node: ast.expr) -> ast.expr:
    """`state` in `state.params["w"]`, `self.model` in `self.model.layers`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            break
        node = node.value
    return node


def _first_field(node: ast.expr) -> str:
    """`params` in `state.params["w"]`."""
    root, field = subject(node), ""
    while node is not root and isinstance(node, (ast.Attribute, ast.Subscript)):
        field = node.attr if isinstance(node, ast.Attribute) else ""
        node = node.value
    return field


def _taken_apart(call: ast.Call) -> list[ast.expr]:
    """The tree whose arrays a call of a library gives in another form, or those that `dict(…)` puts together."""
    name = last_name(call.func)
    if name == "dict" and not call.args:
        return [k.value for k in call.keywords]
    if name == "_asdict" and isinstance(call.func, ast.Attribute):
        return [call.func.value]
    return call.args[:1] if name in _TAKING_APART else []


def is_used(scope: ast.AST, name: str, template: Template, origin: Origin) -> bool:
    """Whether anything but the load, and what is put together for it, reads what was built."""
    load = template.load
    inside = {n for node in template.followed for n in walk(node)}
    idle = set(_structure_only(scope, name, template))
    named = [n for n in walk(scope) if isinstance(n, (ast.Name, ast.Attribute)) and dotted_name(n) == name]
    stored = [n.lineno for n in named if isinstance(n.ctx, ast.Store) and n.lineno >= load.lineno]
    stored += [n.lineno for n in walk(scope) if _overwrites(n, name) and n.lineno >= load.lineno]  # type: ignore[attr-defined]  # a call
    end = min(stored, default=1 << 30)
    return any(
        isinstance(n.ctx, ast.Load)
        and n not in inside
        and n not in idle
        and origin.made.lineno < n.lineno < end
        for n in named
    )


def _overwrites(node: ast.AST, name: str) -> bool:
    """`nnx.update(model, restored)`."""
    update = isinstance(node, ast.Call) and last_name(node.func) == "update" and len(node.args) == 2
    return update and dotted_name(node.args[0]) == name  # type: ignore[attr-defined]  # a call if it updates


def _structure_only(scope: ast.AST, name: str, template: Template) -> Iterator[ast.expr]:
    """The reads of a name that ask for none of the arrays that were read anew: `state.replace(**restored)`,
    `state.tx`, the next load into it."""
    taken = template.taken.get(name, set())
    for node in walk(scope):
        if isinstance(node, ast.Attribute) and node.attr in _STRUCTURE:
            yield node.value
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in _REPLACING:
            if dotted_name(node.func.value) == name and _replaces(node, taken):
                yield node.func.value
        elif last_name(node.func) in _LOADING and node.lineno > template.load.lineno:
            yield from node.args


def _replaces(call: ast.Call, taken: set[str]) -> bool:
    """Whether all that was in the template is replaced."""
    words = {k.arg for k in call.keywords}
    needed = (taken - {""}) | (_STATE_TREES if "" in taken else set())
    return None in words or (bool(taken) and needed <= words)
