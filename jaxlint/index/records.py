"""What the index keeps of a module: plain, small, storable as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from jaxlint.finding import Place, Span


class CallSite(NamedTuple):
    """A call by name. `caller` is the qualified name of the function around it ("" at module level)."""

    caller: str
    loop: int  # how many loops of the caller are around it
    receiver: str | None  # `self` in `self.step()`, "" for another expression, None for a plain name
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def span(self) -> Span:
        return Span(self.line, self.column, self.end_line, self.end_column)

    def place(self, path: str) -> Place:
        return Place(path, self.span)


class FunctionRecord(NamedTuple):
    """A function or method. `jitted`: a decorator names a boundary or a transform; `cached`: an lru_cache."""

    name: str
    in_class: str
    parent: str  # qualified name of the enclosing function, ""
    jitted: bool
    cached: bool


@dataclass(slots=True)
class ModuleRecord:
    """One module."""

    imports: dict[str, str] = field(default_factory=dict)  # alias → dotted, at module level
    local_imports: list[str] = field(default_factory=list)  # dotted, inside functions
    functions: dict[str, FunctionRecord] = field(default_factory=dict)  # by qualified name
    classes: dict[str, list[str]] = field(default_factory=dict)  # name → spelled bases
    calls: dict[str, list[CallSite]] = field(default_factory=dict)  # by last name
    is_application: bool = False
    is_test: bool = False
    has_main_guard: bool = False
    loose: bool = True  # outside any package
    names_x64: bool = False  # the text speaks of 64-bit mode

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ModuleRecord:
        """Raises KeyError or TypeError on data of another shape."""
        record = cls(**data)
        record.functions = {k: FunctionRecord(*v) for k, v in record.functions.items()}
        record.calls = {k: [CallSite(*c) for c in v] for k, v in record.calls.items()}
        return record
