"""numpy buffers of an object that one of its methods hands to jax and another one writes.

`self.ring.push(frame)` writes `self.ring.storage`, `self.ring.to_device()` returns what jax made of it: to whoever
calls both they are one write and one loan, see flow.lending.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, HOST, INSTANCE
from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory.buffers import made_to_share
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.buffers import TRANSFERS
from jaxlint.jax_api.categories import canonical

_DEPTH = 3  # methods that call methods


class BufferUse(NamedTuple):
    """A place where a numpy array is written, or handed to jax by the function `api`, its name there, and
    whether whoever is told of it calls a method that does it."""

    module: LoadedModule
    node: ast.AST
    api: str = ""
    name: str = ""
    by_method: bool = False
    donating: bool = False  # of two joined either will do, see flow.joining


class FieldUses(NamedTuple):
    """What a method does to the fields of its `self`, by their names."""

    written: dict[str, BufferUse]
    lent: dict[str, BufferUse]  # and returned


def of_buffers(frame: Frame, closure: Closure) -> FieldUses:
    """What a method that is called does to the numpy arrays of its object."""
    receiver = closure.receiver
    if receiver is None or receiver.kind != INSTANCE or not closure.function.is_method:
        return FieldUses({}, {})
    uses = _uses(frame.run.program, closure.function, _DEPTH)
    if not uses.written and not uses.lent:
        return uses
    fields = receiver.data.fields
    arrays = {name for name, value in fields.items() if value.kind == HOST}
    return FieldUses(
        {n: use for n, use in uses.written.items() if n in arrays},
        {n: use for n, use in uses.lent.items() if n in arrays},
    )


def _uses(program: Program, function: Function, depth: int) -> FieldUses:
    known: FieldUses | None = program.field_uses.get(function)
    if known is not None:
        return known
    found = program.field_uses[function] = FieldUses({}, {})  # a method that calls itself adds nothing
    own = function.params[0] if function.params else ""
    if not own or function.cls is None or isinstance(function.node, ast.Lambda):
        return found
    for name, node in _written(function.node, own):
        found.written.setdefault(name, BufferUse(function.module, node, by_method=True))
    for call, returned in _calls(function.node):
        field = _field(call.args[0], own) if returned and call.args else ""
        api = _transfer(program, function.module, call) if field else ""
        if api and made_to_share(function.cls.node, f"{own}.{field}"):
            found.lent.setdefault(field, BufferUse(function.module, call, api, f"{own}.{field}", True))
        method = function.cls.lookup(_field(call.func, own)) if depth else None
        if method is not None:
            inner = _uses(program, method, depth - 1)
            _add(found.written, inner.written)
            _add(found.lent, inner.lent if returned else {})
    return found


def _add(to: dict[str, BufferUse], more: dict[str, BufferUse]) -> None:
    for name, use in more.items():
        to.setdefault(name, use)


def _written(scope: ast.AST, own: str) -> Iterator[tuple[str, ast.AST]]:
    """The fields of which elements are stored, and the targets."""
    targets = [t for node in nodes_of(scope, ast.Assign) for t in node.targets]
    targets += [node.target for node in nodes_of(scope, ast.AugAssign)]
    for target in targets:
        if isinstance(target, ast.Subscript) and _field(target.value, own):
            yield _field(target.value, own), target


def _calls(scope: ast.AST) -> Iterator[tuple[ast.Call, bool]]:
    """The calls in a method, and whether their result is what it returns or yields."""
    given = {n.value for n in nodes_of(scope, ast.Return)} | {n.value for n in nodes_of(scope, ast.Yield)}
    for call in nodes_of(scope, ast.Call):
        yield call, call in given


def _field(node: ast.AST, own: str) -> str:
    """`x` of `self.x`."""
    name = dotted_name(node) or ""
    owner, _, field = name.rpartition(".")
    return field if owner == own else ""


def _transfer(program: Program, module: LoadedModule, call: ast.Call) -> str:
    head, dot, rest = (dotted_name(call.func) or "").partition(".")
    value = program.named(module, head)
    if value is None or value.kind != API:
        return ""
    name = canonical(f"{value.data}{dot}{rest}")
    return name if name in TRANSFERS else ""
