"""How a function's body uses each parameter: asked for boundaries only, once a function."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from jaxlint.flow.domain.functions import Function
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name
from jaxlint.jax_api.updating import UPDATING_METHODS

_SHAPE_CALLS = frozenset(
    [
        "zeros",
        "ones",
        "full",
        "empty",
        "eye",
        "arange",
        "linspace",
        "reshape",
        "broadcast_to",
        "tile",
        "split",
        "normal",
        "uniform",
    ]
)
LARGE = 2**15
_WHERE_CALLS = frozenset({"where", "cond", "select", "switch", "clip", "minimum", "maximum"})

# What happens to the result of arithmetic says nothing of the parts: they are used in arithmetic.
_OF_THE_WHOLE = frozenset({"call", "returned"})


def parameter_uses(function: Function) -> dict[str, set[str]]:
    """Words for what the body does with each parameter: "arithmetic", "comparison", "where", "index",
    "list index", "range", "branch", "slice", "shape", "call", "attribute", "returned", "formatted"; "returned
    number" for what is returned as it is, or after arithmetic with nothing but numbers; "power" and "large" for
    arithmetic that comes out otherwise with a 32-bit integer array. What is done with a number that is made of
    parameters (`last = n - 1`) is done with them."""
    if function.uses is None:
        names = {*function.params, *function.keyword_only}
        body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
        made = _numbers_made(body, names)
        collector = _Uses(names | made.keys())
        for child in body:
            collector.visit(child)
        if isinstance(function.node, ast.Lambda):
            collector.hands_back(function.node.body)
        for name, of in made.items():
            for parameter in of:
                collector.found.setdefault(parameter, set()).update(collector.found.get(name, ()))
        function.uses = collector.found
    return function.uses


def _numbers_made(body: list[ast.stmt] | list[ast.expr], names: set[str]) -> dict[str, set[str]]:
    """The names that are bound once, to arithmetic on nothing but parameters and numbers: to which parameters."""
    made: dict[str, set[str]] = {}
    bound: Counter[str] = Counter()
    for child in body:
        for node in walk(child):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound[node.id] += 1
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                parts = _parts(node.value)
                if parts and parts <= names | made.keys():
                    of = (made.get(part, {part}) for part in parts)
                    made[node.targets[0].id] = set().union(*of)
    return {name: of for name, of in made.items() if bound[name] == 1 and name not in names}


def _parts(value: ast.expr) -> set[str]:
    """The names in arithmetic, none where there is anything else in it."""
    nodes = list(walk(value))
    plain = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    if not all(isinstance(node, plain) for node in nodes):
        return set()
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def updated(node: ast.expr | None) -> ast.expr | None:
    """What `node` is a new version of: `state` in `state.apply_gradients(…)`, `params` in
    `optax.apply_updates(params, …)`; else the node itself."""
    if isinstance(node, ast.Call):
        callee = node.func
        name = last_name(callee)
        if name == "apply_updates" and node.args:
            return node.args[0]
        if name in UPDATING_METHODS and isinstance(callee, ast.Attribute):
            return callee.value
    return node


def member_uses(functions: Iterable[Function], member: str) -> set[str]:
    """The same words for a field or a string key, whatever it is a member of."""
    collector = _MemberUses({member})
    for function in functions:
        collector.visit(function.node)
    return collector.found.get(member, set())


class _Uses(ast.NodeVisitor):
    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.found: dict[str, set[str]] = {}

    def name_of(self, node: ast.AST | None) -> str | None:
        """The parameter that a node is."""
        return node.id if isinstance(node, ast.Name) and node.id in self.names else None

    def note(self, node: ast.AST | None, word: str) -> None:
        """Every parameter that is `node`, or an arithmetic part of it, is used so."""
        name = self.name_of(node)
        if name is not None:
            self.found.setdefault(name, set()).add(word)
        elif isinstance(node, ast.BinOp) and word not in _OF_THE_WHOLE:
            self.note(node.left, word)
            self.note(node.right, word)
        elif isinstance(node, ast.UnaryOp):
            self.note(node.operand, word)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for item in node.elts:
                self.note(item, word)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        for side in (node.left, node.right):
            if not isinstance(side, ast.BinOp):  # whose own visit it is: a sum of a thousand terms is deep
                self.note(side, "arithmetic")
            if isinstance(node.op, ast.Pow) and not _is_same_power(node, side):
                self.note(side, "power")
            elif any(map(_is_large, (node.left, node.right))) or isinstance(node.op, ast.LShift):
                self.note(side, "large")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        truths = any(isinstance(c, ast.Constant) and isinstance(c.value, bool) for c in node.comparators)
        for side in (node.left, *node.comparators):
            self.note(side, "identity" if truths else "comparison")  # `n is True`, `n == False`
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp | ast.Assert) -> None:
        for child in walk(node.test):
            self.note(child, "branch")
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_Assert = visit_If

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper, node.step):
            self.note(bound, "slice")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.note(node.slice, "index")
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        for child in walk(node):
            self.note(child, "formatted")

    def visit_Return(self, node: ast.Return) -> None:
        returned = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for value in returned:
            self.note(updated(value), "returned")
        self.hands_back(node.value)
        self.generic_visit(node)

    def hands_back(self, value: ast.expr | None) -> None:
        """Whoever gets a number back may need one: a key of a dict, a size."""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            for item in value.elts:
                self.hands_back(item)
        elif isinstance(value, ast.Dict):
            for part in (*value.keys, *value.values):
                self.hands_back(part)
        elif isinstance(value, ast.IfExp):
            self.hands_back(value.body)
            self.hands_back(value.orelse)
        elif value is not None and len(parts := _parts(value) & self.names) == 1 == len(_parts(value)):
            self.found.setdefault(min(parts), set()).add("returned number")

    def visit_Call(self, node: ast.Call) -> None:
        callee = node.func
        name = (
            callee.attr
            if isinstance(callee, ast.Attribute)
            else callee.id
            if isinstance(callee, ast.Name)
            else ""
        )
        word = (
            "range"
            if name == "range"
            else "shape"
            if name in _SHAPE_CALLS
            else "where"
            if name in _WHERE_CALLS
            else "call"
        )
        for argument in node.args:
            self.note(argument, word)
        for keyword in node.keywords:
            self.note(keyword.value, "shape" if keyword.arg in ("shape", "length", "size") else word)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.note(node.value, "attribute")
        self.generic_visit(node)


def _is_same_power(node: ast.BinOp, side: ast.expr) -> bool:
    """Whether a power of an integer array is what that of a Python number is: not below 1, where jax refuses
    (`n**-1`) or answers 0 (`10**-n`), nor beyond 32 bits (`2**n`)."""
    other = node.right if side is node.left else node.left
    if not isinstance(other, ast.Constant) or not isinstance(other.value, (int, float)):
        return False
    return isinstance(other.value, float) or (side is node.left and 0 <= other.value <= 2)


def _is_large(node: ast.expr) -> bool:
    """A whole number whose product with another soon takes more than 32 bits."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) >= LARGE


class _MemberUses(_Uses):
    """Of `.name` and `["name"]`."""

    def name_of(self, node: ast.AST | None) -> str | None:
        if isinstance(node, ast.Attribute):
            return node.attr if node.attr in self.names else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return node.slice.value if node.slice.value in self.names else None
        return None
