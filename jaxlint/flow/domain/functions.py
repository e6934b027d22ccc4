"""A function of the project as its source defines it: its parameters, what decorators say of it, whose it is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.flow.syntax.annotations import annotation_text

if TYPE_CHECKING:
    from jaxlint.finding import Place
    from jaxlint.flow.domain.classes import ClassInfo
    from jaxlint.flow.program import LoadedModule

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Signature:
    """The parameters of a function by its syntax. Nobody changes it: all runs over a tree share it."""

    __slots__ = ("annotations", "defaults", "index", "keyword_only", "params")

    def __init__(self, args: ast.arguments) -> None:
        self.params = [a.arg for a in args.posonlyargs] + [a.arg for a in args.args]
        self.keyword_only = [a.arg for a in args.kwonlyargs]
        self.index = {name: i for i, name in enumerate(self.params)}
        self.defaults: dict[str, ast.expr] = {}
        if args.defaults:
            self.defaults.update(zip(self.params[-len(args.defaults) :], args.defaults, strict=True))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if default is not None:
                self.defaults[arg.arg] = default
        self.annotations: dict[str, str] = {
            a.arg: annotation_text(a.annotation)
            for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)
            if a.annotation is not None
        }


def signature_of(node: FunctionNode) -> Signature:
    """The signature of a function, found once for its node."""
    known: Signature | None = node.__dict__.get("signature")
    if known is None:
        known = node.__dict__["signature"] = Signature(node.args)  # as long as the tree lives
    return known


class Function:
    """A def or lambda of the project, once for its node in a run."""

    __slots__ = (
        "annotations", "args", "cached", "cached_at", "cls", "defaults", "index", "is_classmethod", "is_property",
        "is_static", "keyword_only", "lends", "module", "name", "node", "params", "parent", "patches", "qualname",
        "uses",
        "variadic",
    )  # fmt: skip

    def __init__(
        self,
        node: FunctionNode,
        name: str,
        module: LoadedModule,
        cls: ClassInfo | None,
        parent: Function | None,
    ) -> None:
        self.node = node
        self.name = name
        self.module = module
        self.cls = cls
        self.parent = parent
        outer: str = cls.qualname if cls is not None else parent.qualname if parent is not None else ""
        self.qualname: str = f"{outer}.{name}" if outer else name
        signature = signature_of(node)
        self.args = node.args
        self.params = signature.params
        self.keyword_only = signature.keyword_only
        self.variadic = node.args.vararg is not None
        self.index = signature.index
        self.defaults = signature.defaults
        self.annotations = signature.annotations
        self.cached: str = ""  # "lru_cache", "cache": a decorator keeps its results
        self.cached_at: Place | None = None  # that decorator
        self.is_property = False
        self.is_classmethod = False
        self.is_static = False
        self.patches: tuple[Any, ...] = ()  # what decorators change while it runs, see flow.patching
        self.uses: dict[str, set[str]] | None = None  # see flow.parameters
        self.lends: dict[str, str] | None = None  # parameter → what it hands it to, see flow.lending

    @property
    def is_method(self) -> bool:
        return self.cls is not None and not self.is_static

    @property
    def is_lambda(self) -> bool:
        return self.node.__class__ is ast.Lambda

    @property
    def record_name(self) -> str:
        """The qualified name the index uses: a class inside a function starts anew."""
        if self.cls is not None:
            return f"{self.cls.name}.{self.name}"
        return f"{self.parent.record_name}.{self.name}" if self.parent is not None else self.name
