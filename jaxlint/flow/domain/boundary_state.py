"""A jit boundary while the analysis goes on, and what its trace reads from outside."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxlint.flow.domain.classes import ClassInfo
    from jaxlint.flow.domain.closures import Closure
    from jaxlint.flow.domain.values import Value
    from jaxlint.flow.evaluations import Evaluation
    from jaxlint.flow.program import LoadedModule


class Read:
    """An outer name that traced code reads: what the program may change afterwards without a retrace. `value` is
    what it was before the trace; None for what the trace itself made."""

    __slots__ = ("module", "node", "subject", "value")

    def __init__(self, module: LoadedModule, node: ast.AST, subject: str, value: Value | None = None) -> None:
        self.module = module
        self.node = node
        self.subject = subject
        self.value = value


class BoundaryState:
    """A jit boundary as the analysis meets it; `flow.boundary` turns it into a fact at the end of a run."""

    __slots__ = (
        "api", "by_position", "closure", "donated", "escapes", "flavour", "form", "fresh", "fresh_in",
        "guarded", "home", "in_class", "library", "literal_loop", "lowered", "module", "node", "partly_bound",
        "reads", "result", "returned", "several", "static", "target", "traced_as_body", "uses",
    )  # fmt: skip

    def __init__(self, api: str, flavour: str, module: LoadedModule, node: ast.AST, form: str) -> None:
        self.api = api
        self.flavour = flavour
        self.module = module
        self.node = node
        self.form = form
        self.closure: Closure | None = None
        self.several = False  # the closure is one of several, with other signatures
        self.by_position = False  # as of a closure
        self.library = ""  # the library's function that it wraps
        self.home: Evaluation | None = None  # that makes it
        self.static: frozenset[str | int] | None = frozenset()
        self.donated: frozenset[str | int] | None = frozenset()
        self.fresh = ""
        self.fresh_in = ""
        self.uses: list[tuple[LoadedModule, ast.AST]] = []
        self.escapes = False
        self.partly_bound = False  # a partial of it is made: its calls do not write all arguments
        self.returned = False
        self.guarded = False
        self.traced_as_body = False
        self.lowered = 0
        self.literal_loop = False
        self.in_class: ClassInfo | None = None
        self.result: Value | None = None
        self.target: Value | None = None  # the class that is called: `jit(Model)`
        self.reads: dict[Any, Read] = {}
