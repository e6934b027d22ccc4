"""A class of the project: what it defines and inherits, and how a jit cache keys its instances."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.flow.syntax.annotations import is_array_annotation
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS, stored_on_self
from jaxlint.index import installed

if TYPE_CHECKING:
    from jaxlint.flow.domain.closures import Scope
    from jaxlint.flow.domain.functions import Function
    from jaxlint.flow.domain.values import Value
    from jaxlint.flow.program import LoadedModule


class ClassInfo:
    """A class of the project. `attributes` are class-level values; `fields` the annotated names in order."""

    __slots__ = (
        "annotations", "attributes", "bases", "changing", "converted", "dataclass", "eq", "family", "fields",
        "frozen", "generic",
        "methods", "module", "name", "node", "qualname", "scope", "static_fields",
        "unknown_bases", "unsettled",
    )  # fmt: skip

    def __init__(self, node: ast.ClassDef, module: LoadedModule, qualname: str) -> None:
        self.node = node
        self.name = node.name
        self.module = module
        self.qualname = qualname
        self.methods: dict[str, Function] = {}
        self.attributes: dict[str, Value] = {}
        self.bases: list[ClassInfo] = []
        self.unknown_bases: list[str] = []  # bases that are not in view, as dotted names or ""
        self.unsettled = False
        self.family = ""  # "equinox", "nnx", "linen", "haiku", "enum", "namedtuple", "struct", ...
        self.fields: list[str] = []
        self.annotations: dict[str, str] = {}
        self.static_fields: set[str] = set()
        self.converted: set[str] = set()  # fields that pass through a converter
        self.dataclass = False
        self.frozen = False
        self.eq = True
        self.scope: Scope | None = None
        self.generic: Value | None = None
        self.changing: set[str] | None = None

    def lookup(self, name: str, depth: int = 0) -> Function | None:
        """A method, inherited ones included."""
        found = self.methods.get(name)
        if found is None and depth < 6:
            for base in self.bases:
                found = base.lookup(name, depth + 1)
                if found is not None:
                    break
        return found

    def attribute(self, name: str, depth: int = 0) -> Value | None:
        """A class-level value, inherited ones included."""
        found = self.attributes.get(name)
        if found is None and depth < 6:
            for base in self.bases:
                found = base.attribute(name, depth + 1)
                if found is not None:
                    break
        return found

    def annotation(self, name: str, depth: int = 0) -> str:
        """What a field is said to be, inherited ones included; "" where nothing is said."""
        found = self.annotations.get(name, "")
        if not found and depth < 6:
            found = next(filter(None, (base.annotation(name, depth + 1) for base in self.bases)), "")
        return found

    def all_fields(self, depth: int = 0) -> list[str]:
        """Dataclass fields in constructor order, inherited ones first."""
        names: list[str] = []
        if depth < 6:
            for base in self.bases:
                names += [n for n in base.all_fields(depth + 1) if n not in names]
        return names + [n for n in self.fields if n not in names]

    @property
    def unresolved(self) -> bool:
        """Has a base that nothing is known of, after asking what is installed. It may set the family."""
        while self.unknown_bases:
            dotted = self.unknown_bases.pop()
            family = installed.class_family(dotted) if dotted else None
            self.unsettled |= family is None
            self.family = self.family or family or ""
        return self.unsettled and not self.family

    def stores_later(self, name: str, depth: int = 0) -> bool:
        """Whether a method other than a constructor stores the field, on `self`; inherited ones included."""
        if self.changing is None:
            methods = (m for m in self.methods.values() if m.name not in CONSTRUCTORS)
            self.changing = {field for method in methods for field in stored_on_self(method.node)}
        if name in self.changing:
            return True
        return depth < 6 and any(base.stores_later(name, depth + 1) for base in self.bases)

    def array_fields(self, depth: int = 0) -> set[str]:
        """Fields annotated as arrays and nothing else, inherited ones included."""
        found = {
            n for n, a in self.annotations.items() if is_array_annotation(a) and n not in self.static_fields
        }
        if depth < 6:
            for base in self.bases:
                found |= base.array_fields(depth + 1)
        return found

    def all_static_fields(self, depth: int = 0) -> frozenset[str]:
        """Fields that are part of the pytree's structure, inherited ones included."""
        found = frozenset(self.static_fields)
        if depth < 6:
            for base in self.bases:
                found |= base.all_static_fields(depth + 1)
        return found

    @property
    def is_pytree_module(self) -> bool:
        """An Equinox or Flax module: a pytree (or a graph node) to its own jit."""
        if not self.family and self.unknown_bases and self.unresolved:
            return False
        return self.family in ("equinox", "nnx", "linen", "struct", "pytree")

    @property
    def is_pytree_value(self) -> bool:
        """Its instances are pytrees that a call takes apart, named tuples included."""
        return self.family in ("equinox", "struct", "pytree", "namedtuple")

    @property
    def hashing(self) -> str:
        """How a jit cache keys an instance: "value", "identity", "unhashable" or "" (unknown)."""
        if self.unresolved:
            return ""
        if self.family in ("enum", "namedtuple"):
            return "value"
        if self.family == "linen":
            return "value"
        if self.family:
            return ""
        defines_eq, defines_hash = self.lookup("__eq__") is not None, self.lookup("__hash__") is not None
        if defines_hash:
            return "value" if defines_eq else "identity"
        if self.dataclass and self.eq:
            return "value" if self.frozen else "unhashable"
        if defines_eq:
            return "unhashable"
        return "identity"
