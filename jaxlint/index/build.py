"""One pass over a module's tree: imports, functions, classes and call edges.

Written as explicit recursion over the fields that can hold something of interest: `ast.walk` and
`NodeVisitor` cost three times as much, and this runs on every line of a project.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.index.memos import LEAVING
from jaxlint.index.naming import imported_module
from jaxlint.index.once import Repetition, repetition
from jaxlint.index.records import CallSite, FunctionRecord, ModuleRecord
from jaxlint.jax_api.boundaries import BOUNDARIES
from jaxlint.jax_api.transforms import TRANSFORMS

_JIT_WORDS = frozenset(name.rpartition(".")[2] for name in (*BOUNDARIES, *TRANSFORMS))
_CACHE_WORDS = frozenset({"lru_cache", "cache"})
_UNTESTED = Repetition(False, False)
_LITERAL_LOOP = 8  # a comprehension over a display of at most so many elements is no loop

# Fields that never hold a call, an import or a definition.
_DULL = frozenset(
    [
        "ctx",
        "op",
        "ops",
        "id",
        "attr",
        "arg",
        "name",
        "names",
        "module",
        "level",
        "n",
        "s",
        "kind",
        "type_comment",
        "type_ignores",
        "annotation",
        "returns",
        "asname",
        "conversion",
        "is_async",
        "lineno",
        "simple",
        "type_params",
        "rest",
    ]
)


def _children() -> dict[type, tuple[str, ...]]:
    table: dict[type, tuple[str, ...]] = {}
    for cls in vars(ast).values():
        if isinstance(cls, type) and issubclass(cls, ast.AST):
            table[cls] = tuple(f for f in cls._fields if f not in _DULL)
    for leaf in (ast.Constant, ast.Name, ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue):
        table[leaf] = ()
    table[ast.arguments] = ("defaults", "kw_defaults")
    return table


_CHILDREN = _children()


def build(
    tree: ast.Module, name: str, is_package: bool, ascii_only: bool, lines: list[str] | None = None
) -> ModuleRecord:
    """The record of a module.

    `name` is its dotted name (for relative imports). `lines` are needed for code-point columns when the
    source is not ASCII.
    """
    builder = _Builder(name, is_package, None if ascii_only else lines)
    builder.path = [tree]
    builder.statements(tree.body)
    return builder.record


class _Builder:
    def __init__(self, name: str, is_package: bool, lines: list[str] | None) -> None:
        self.record = ModuleRecord()
        self.name = name
        self.is_package = is_package
        self.lines = lines
        self.function = ""
        self.cls = ""
        self.loop = 0
        self.path: list[ast.AST] = []  # from the function or module down to what is visited
        self.tested = False  # whether it leads through a test, or there was one above that leaves the block

    def statements(self, body: list[ast.stmt]) -> None:
        visit = self.visit
        for node in body:
            visit(node)

    def visit(self, node: ast.AST) -> None:
        cls = node.__class__
        special = _SPECIAL.get(cls)
        self.path.append(node)
        if special is not None:
            special(self, node)
        else:
            for name in _CHILDREN[cls]:
                value: Any = getattr(node, name)
                if value.__class__ is list:
                    for child in value:
                        if child.__class__ in _INNER:
                            self.visit(child)
                elif value.__class__ in _INNER:
                    self.visit(value)
        self.path.pop()

    def call(self, node: ast.Call) -> None:
        callee = node.func
        receiver: str | None
        if isinstance(callee, ast.Name):
            name, receiver = callee.id, None
        elif isinstance(callee, ast.Attribute):
            name = callee.attr
            receiver = callee.value.id if isinstance(callee.value, ast.Name) else ""
            self.visit(callee.value)
        else:
            self.visit(callee)
            name = ""
        if name:
            told = repetition(self._placed_path()) if self.tested or self.loop else _UNTESTED
            site = CallSite(
                self.function,
                0 if told.once else self.loop,
                receiver,
                node.lineno,
                self.column(node.lineno, node.col_offset),
                node.end_lineno or node.lineno,
                self.column(node.end_lineno or node.lineno, node.end_col_offset or 0),
                told.remembered and bool(self.function),
            )
            self.record.calls.setdefault(name, []).append(site)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def _placed_path(self) -> list[ast.AST]:
        return [self.path[0], *(node for node in self.path[1:] if hasattr(node, "lineno"))]

    def column(self, line: int, offset: int) -> int:
        if self.lines is None or offset == 0:
            return offset + 1
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace")) + 1

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.visit(node.args)
        prefix = self.function or self.cls
        qualname = f"{prefix}.{node.name}" if prefix else node.name
        words = {word for d in node.decorator_list for word in _names(d)}
        in_class = self.cls
        self.record.functions[qualname] = FunctionRecord(
            node.name, in_class, self.function, bool(words & _JIT_WORDS), bool(words & _CACHE_WORDS)
        )
        saved = self.function, self.cls, self.loop, self.path, self.tested
        self.function, self.cls, self.loop, self.path, self.tested = qualname, "", 0, [node], False
        self.statements(node.body)
        self.function, self.cls, self.loop, self.path, self.tested = saved

    def define_class(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.record.classes[node.name] = [
            ast.unparse(base) for base in node.bases if isinstance(base, (ast.Name, ast.Attribute))
        ]
        saved = self.function, self.cls, self.loop
        self.function, self.cls, self.loop = "", node.name, 0
        self.statements(node.body)
        self.function, self.cls, self.loop = saved

    def test(self, node: ast.If | ast.IfExp | ast.BoolOp | ast.Try) -> None:
        saved, self.tested = self.tested, True
        for child in ast.iter_child_nodes(node):
            if child.__class__ in _INNER:
                self.visit(child)
        self.tested = saved or (isinstance(node, ast.If) and isinstance(node.body[-1], LEAVING))

    def for_loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self.body(node)

    def while_loop(self, node: ast.While) -> None:
        self.loop += 1
        self.visit(node.test)
        self.loop -= 1
        self.body(node)

    def body(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        self.loop += 1
        self.statements(node.body)
        self.loop -= 1
        self.statements(node.orelse)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        first = node.generators[0].iter
        self.visit(first)
        literal = isinstance(first, (ast.List, ast.Tuple)) and len(first.elts) <= _LITERAL_LOOP
        self.loop += not literal
        for generator in node.generators:
            if generator.iter is not first:
                self.visit(generator.iter)
            for test in generator.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.loop -= not literal

    def lambda_(self, node: ast.Lambda) -> None:
        saved, self.loop = self.loop, 0
        self.visit(node.body)
        self.loop = saved

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            if self.function:
                self.record.local_imports.append(alias.name)
            else:
                self.record.imports[alias.asname or dotted] = dotted
                if not alias.asname and "." in alias.name:
                    self.record.local_imports.append(alias.name)

    def import_from(self, node: ast.ImportFrom) -> None:
        base = imported_module(self.name, self.is_package, node.level, node.module)
        for alias in node.names:
            if self.function:
                self.record.local_imports.append(f"{base}.{alias.name}")
            else:
                self.record.imports[alias.asname or alias.name] = f"{base}.{alias.name}"


def _names(node: ast.AST) -> set[str]:
    return {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(node)
        if isinstance(n, (ast.Name, ast.Attribute))
    }


_SPECIAL: dict[type, Callable[..., None]] = {
    ast.Call: _Builder.call,
    ast.FunctionDef: _Builder.define,
    ast.AsyncFunctionDef: _Builder.define,
    ast.ClassDef: _Builder.define_class,
    ast.If: _Builder.test,
    ast.IfExp: _Builder.test,
    ast.BoolOp: _Builder.test,
    ast.Try: _Builder.test,
    ast.For: _Builder.for_loop,
    ast.AsyncFor: _Builder.for_loop,
    ast.While: _Builder.while_loop,
    ast.ListComp: _Builder.comprehension,
    ast.SetComp: _Builder.comprehension,
    ast.GeneratorExp: _Builder.comprehension,
    ast.DictComp: _Builder.comprehension,
    ast.Lambda: _Builder.lambda_,
    ast.Import: _Builder.import_,
    ast.ImportFrom: _Builder.import_from,
}
# What there is to visit: has something below it, or means something itself.
_INNER: frozenset[Any] = frozenset(cls for cls, fields in _CHILDREN.items() if fields or cls in _SPECIAL)
