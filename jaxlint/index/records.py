"""What the index keeps of a module: plain, small, storable as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from jaxlint.finding import Place, Span


class CallSite(NamedTuple):
    """A call by name. `caller` is the qualified name of the function around it ("" at module level)."""

    caller: str
    loop: int  # how many loops of the caller are around it, 0 where it runs once all the same
    receiver: str | None  # `self` in `self.step()`, "" for another expression, None for a plain name
    line: int
    column: int
    end_line: int
    end_column: int
    remembered: bool = False  # what it makes outlives the caller, which asks for that first

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


class ModuleRecord:
    """One module.

    `imports` are those at module level, alias → dotted, `local_imports` those inside functions, dotted.
    `functions` are by qualified name, `classes` name → spelled bases, `calls` by last name.
    """

    __slots__ = (
        "_definitions", "calls", "classes", "functions", "imports", "is_application", "is_test", "local_imports",
        "loose",
    )  # fmt: skip

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.local_imports: list[str] = []
        self.functions: dict[str, FunctionRecord] = {}
        self.classes: dict[str, list[str]] = {}
        self.calls: dict[str, list[CallSite]] = {}
        self.is_application = False
        self.is_test = False
        self.loose = True  # outside any package
        self._definitions: Counter[str] | None = None

    @property
    def definitions(self) -> Counter[str]:
        """How many functions and methods have a name."""
        if self._definitions is None:
            self._definitions = Counter(function.name for function in self.functions.values())
        return self._definitions

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ModuleRecord:
        """Raises KeyError, TypeError or AttributeError on data of another shape."""
        record = cls()
        for name in _FIELDS:
            setattr(record, name, data[name])
        record.functions = {k: FunctionRecord(*v) for k, v in record.functions.items()}
        record.calls = {k: [CallSite(*c) for c in v] for k, v in record.calls.items()}
        return record


_FIELDS = tuple(name for name in ModuleRecord.__slots__ if not name.startswith("_"))
