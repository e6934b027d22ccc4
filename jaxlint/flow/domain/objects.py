"""The objects that running code makes: instances of the project's classes, and what known libraries give."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import INSTANCE, ONE_OF, TREE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value

if TYPE_CHECKING:
    from jaxlint.flow.domain.classes import ClassInfo
    from jaxlint.flow.evaluations import Evaluation

_NESTING = frozenset((INSTANCE, TREE))


def _nests(value: Value) -> bool:
    return value.kind in _NESTING or (
        value.kind == ONE_OF and any(each.kind == INSTANCE for each in value.data)
    )


class Instance:
    """An object in view. `fields` holds what was stored on it, joined over all stores."""

    __slots__ = ("cls", "copied", "copy", "fields", "home", "identity", "loop", "node")

    def __init__(self, cls: ClassInfo, home: Evaluation | None, loop: int, node: ast.AST) -> None:
        self.identity: object = self  # shared by what is the same object under another home
        self.copied = False  # a pytree argument of traced code: what is stored on it stays in the trace
        self.copy: Instance | None = None  # the one that traces have as an argument, where that is asked for
        self.cls = cls
        self.fields: dict[str, Value] = {}
        self.home = home
        self.loop = loop
        self.node = node

    def as_argument(self) -> Instance:
        """What a trace has of it as an argument: the same object to look at, a copy to write to."""
        if self.copied:
            return self
        if self.copy is None:
            self.copy = Instance(self.cls, self.home, self.loop, self.node)
            self.copy.identity = self.identity
            self.copy.fields = self.fields
            self.copy.copied = True
        return self.copy

    def described(self) -> Instance:
        """The same object, to be described otherwise."""
        new = Instance(self.cls, self.home, self.loop, self.node)
        new.identity = self.identity
        new.fields = dict(self.fields)
        return new

    def joined(self, other: Instance) -> Instance:
        """Either of two instances of one class: its plain fields are what both may be. Nested things are not
        looked into: object graphs have cycles."""
        if self.fields is other.fields:
            return self
        new = self.described()
        for name, value in other.fields.items():
            known = new.fields.get(name)
            if known is None or known is value:
                new.fields[name] = value
            elif _nests(known) and _nests(value):
                new.fields[name] = UNKNOWN_VALUE
            else:
                new.fields[name] = join(known, value)
        return new


class Foreign:
    """An object that a known library made (`optax.adam(…)`)."""

    __slots__ = ("api", "home", "loop", "node", "replays", "trees")

    def __init__(self, api: str, home: Evaluation | None, loop: int, node: ast.AST) -> None:
        self.api = api
        self.home = home
        self.loop = loop
        self.node = node
        self.replays = False  # a generator made while tracing: what it draws is its seed's doing
        self.trees: int | None = None  # of an optimiser: so many trees like the parameters are in its state
