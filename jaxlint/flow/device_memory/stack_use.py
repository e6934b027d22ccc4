"""What becomes of the stack that a scan or a lax.map returns: looked for in the syntax of the one function
that makes it, since few functions do."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from jaxlint.flow.device_memory.first_axis import (
    OWN_REDUCTIONS,
    is_along_last,
    is_last,
    names_axis,
    over_first_axis,
)
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.frame import Frame
from jaxlint.flow.syntax.called_functions import receiving
from jaxlint.flow.syntax.library_names import library_name
from jaxlint.flow.syntax.scope_names import ScopeNames, parents_in
from jaxlint.jax_api.arrays import MEMBER_BY_MEMBER

_Verdict = tuple[str, list[ast.AST]]
_Node = TypeVar("_Node", bound=ast.AST)

_REDUCING_MODULES = ("jax.numpy", "numpy", "jax.nn", "jax.scipy.special")
_TREE_MAPS = ("jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map")
# What is made of each member of a stack alone: by the rule's advice it moves into the loop. A reduction that names
# the first axis says that there are others, so that the last is a member's own.
_OF_EACH = frozenset({"jax.nn.softmax", "jax.nn.log_softmax"})
_STATIC = frozenset({"shape", "ndim", "dtype", "size"})


class StackUses:
    """Finds the names that hold the stack and how they are used."""

    def __init__(self, frame: Frame, call: ast.AST, api: str, within: Function | None = None) -> None:
        self.frame = frame
        self.call = call
        self.api = api
        self.is_map = api.endswith(".map")
        self.reducer = ""
        self.along = False  # the reduction names the first axis
        self.assigned = ("", "")
        self.picks_whole = False  # `[-1]` of the stack itself, and not of a member or field of it
        self.only_uses = True  # nothing else of the stack is read: no shape, no part of an entry
        self._inside = 0  # so many members and fields deep
        self._followed: set[str] = set()  # the names being looked at
        function = within or frame.function  # `within` a function that the stack is passed to
        self.scope: ast.AST = function.node if function is not None else frame.module.tree
        self.names = ScopeNames(frame, self.scope)
        self.parent = parents_in(frame, self.scope)

    def find(self) -> tuple[str, list[ast.AST]]:
        """(verdict, the places that decide)."""
        parent = self.parent.get(self.call)
        if self.is_map:
            return self._of_expression(self.call)
        if isinstance(parent, ast.Subscript) and parent.value is self.call:
            return self._of_pick(parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            return self._of_target(parent.targets[0])
        if isinstance(parent, ast.Expr):
            return "unused", []
        return "kept", []

    def _of_pick(self, pick: ast.Subscript) -> tuple[str, list[ast.AST]]:
        """`scan(…)[0]` and `scan(…)[1]`."""
        if isinstance(pick.slice, ast.Constant) and pick.slice.value == 0:
            return "unused", [pick]
        if isinstance(pick.slice, ast.Constant) and pick.slice.value == 1:
            return self._of_expression(pick)
        return "kept", []

    def _of_target(self, target: ast.expr) -> tuple[str, list[ast.AST]]:
        if self.names.reads_every_name():
            return "kept", []
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            carry, stack = target.elts
            if isinstance(stack, ast.Name):
                self.assigned = (self._never_read(carry), stack.id)
            return self._of_names(stack)
        if isinstance(target, ast.Name):
            return self._of_pair(target)
        return "kept", []

    def _never_read(self, carry: ast.expr) -> str:
        """The carry's name, if nobody reads what it holds: at a module's top level, other modules may."""
        if not isinstance(carry, ast.Name) or isinstance(self.scope, ast.Module):
            return ""
        return "" if self.names.loads(carry.id) else carry.id

    def _of_pair(self, target: ast.Name) -> tuple[str, list[ast.AST]]:
        """`out = scan(…)`, then `out[0]`, `out[1][-1]`, or `carry, ys = out`."""
        verdicts: list[tuple[str, list[ast.AST]]] = []
        for load in self.names.loads(target.id):
            parent = self.parent.get(load)
            if isinstance(parent, ast.Subscript) and parent.value is load:
                verdicts.append(self._of_pick(parent))
            elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is load:
                verdicts.append(self._of_target(parent.targets[0]))
            else:
                return "kept", []
        return _combine(verdicts) if self.names.stores(target.id) == 1 else ("kept", [])

    def _of_names(self, target: ast.expr) -> tuple[str, list[ast.AST]]:
        """The name, or the nested names, that a stack is unpacked into."""
        if isinstance(target, (ast.Tuple, ast.List)):
            verdicts = [self._within(self._of_names, item) for item in target.elts]
            # Unused components are removed by themselves; what is used decides.
            used = [v for v in verdicts if v[0] != "unused"]
            return _combine(used) if used else ("unused", [])
        if not isinstance(target, ast.Name):
            return "kept", []
        loads: list[ast.Name] | None = self.names.loads(target.id)
        if self.names.stores(target.id) > 1:
            if target.id == "_":
                return "unused", []
            loads = self.names.loads_until_rebound(target)
            if loads is None:
                return "kept", []
            self.assigned = ("", "")  # the name stays another's
        if target.id != "_" and self.names.has_another_meaning(target.id):
            return "kept", []
        if target.id in self._followed:
            return "kept", []  # `x = x + stack`: made of itself
        self._followed.add(target.id)
        verdicts = [self._of_expression(load) for load in loads or ()]
        self._followed.remove(target.id)
        return _combine(verdicts) if verdicts else ("unused", [])

    def _of_expression(self, node: ast.AST) -> tuple[str, list[ast.AST]]:
        """How one expression that is the stack is used."""
        parent = self.parent.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._of_subscript(parent)
        if isinstance(parent, ast.Attribute) and parent.value is node:
            return self._of_attribute(parent)
        if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            return self._of_member_by_member(parent)
        if isinstance(parent, ast.Call):
            return self._of_argument(parent, node)
        if isinstance(parent, ast.keyword):
            return "kept", []
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            return self._of_names(parent.targets[0])
        if isinstance(parent, ast.Expr):
            return "unused", []
        return "kept", []

    def _of_member_by_member(self, node: ast.AST) -> tuple[str, list[ast.AST]]:
        """`jnp.abs(stack)`, `stack ** 2`: only a reduction of it can do without the stack."""
        verdict, places = self._of_expression(node)
        return (verdict, places) if verdict == "reduced" else ("kept", [])

    def _of_subscript(self, node: ast.Subscript) -> tuple[str, list[ast.AST]]:
        index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if is_last(index):
            self.picks_whole |= not self._inside
            self.only_uses &= index is node.slice
            return "last", [node]
        self.only_uses = False
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return self._within(self._of_expression, node)
        return "kept", []

    def _of_attribute(self, node: ast.Attribute) -> tuple[str, list[ast.AST]]:
        if node.attr in _STATIC:
            self.only_uses = False
            return "unused", []
        call = self.parent.get(node)
        if (
            isinstance(call, ast.Call)
            and call.func is node
            and node.attr in OWN_REDUCTIONS
            and over_first_axis(call, 0)
        ):
            self.reducer, self.along = node.attr, names_axis(call, 0)
            return "reduced", [call]
        if isinstance(call, ast.Call) and call.func is node:
            if node.attr in ("astype", "clip", "conj"):
                return self._of_member_by_member(call)
            return "kept", []
        self.only_uses = False
        return self._within(self._of_expression, node)  # a field of a named tuple of stacks

    def _within(self, use: Callable[[_Node], _Verdict], node: _Node) -> _Verdict:
        """The use of a member or a field."""
        self._inside += 1
        verdict = use(node)
        self._inside -= 1
        return verdict

    def _of_argument(self, call: ast.Call, node: ast.AST) -> tuple[str, list[ast.AST]]:
        dotted = library_name(self.frame, call.func)
        if dotted in _TREE_MAPS and len(call.args) == 2 and call.args[1] is node:
            return self._of_tree_map(call)
        head, _, last = dotted.rpartition(".")
        reduces = head in _REDUCING_MODULES and last in OWN_REDUCTIONS and call.args[:1] == [node]
        if reduces and over_first_axis(call, 1):
            self.reducer, self.along = last, names_axis(call, 1)
            return "reduced", [call]
        if head in _REDUCING_MODULES and last in MEMBER_BY_MEMBER and node in call.args:
            return self._of_member_by_member(call)
        if self.is_map and dotted in _OF_EACH and call.args == [node] and is_along_last(call):
            verdict, uses = self._of_expression(call)
            if verdict == "reduced" and self.along:
                return verdict, [call, *uses]
        return self._of_helper(call, node)

    def _of_helper(self, call: ast.Call, node: ast.AST) -> tuple[str, list[ast.AST]]:
        """`summary(stack)`, of a function of the module that does no more with it than reduce it."""
        helper = receiving(self.frame, call, node)
        if helper is None or helper[0].node is self.scope:
            return "kept", []
        function, name = helper
        inside = StackUses(self.frame, self.call, self.api, function)
        loads = inside.names.loads(name)
        if not loads or inside.names.stores(name):
            return "kept", []
        verdict, _ = _combine([inside._of_expression(load) for load in loads])
        if verdict not in ("reduced", "last"):
            return "kept", []
        self.only_uses = False
        self.reducer, self.along = inside.reducer, inside.along
        return verdict, [call]

    def _of_tree_map(self, call: ast.Call) -> tuple[str, list[ast.AST]]:
        function = call.args[0]
        if isinstance(function, ast.Call) and library_name(self.frame, function.func) == "functools.partial":
            last = library_name(self.frame, function.args[0]).rpartition(".")[2] if function.args else ""
            if last in OWN_REDUCTIONS and over_first_axis(function, 1):
                self.reducer, self.along = last, names_axis(function, 1)
                return "reduced", [call]
        if library_name(self.frame, function.func if isinstance(function, ast.Call) else function) == (
            "operator.itemgetter"
        ):
            picks = function.args if isinstance(function, ast.Call) else []
            return ("last", [call]) if len(picks) == 1 and is_last(picks[0]) else ("kept", [])
        if isinstance(function, ast.Name):
            function = self._one_liner(function.id) or function
        if not isinstance(function, ast.Lambda) or len(function.args.args) != 1:
            return "kept", []
        verdict = self._of_each(function.args.args[0].arg, function.body)
        return verdict, [call] if verdict != "kept" else []

    def _one_liner(self, name: str) -> ast.Lambda | None:
        """A function of the module that only returns an expression, as a lambda."""
        module = self.frame.module.tree
        found = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == name]
        if (
            len(found) != 1
            or found[0].decorator_list
            or self.names.stores(name)
            or self.names.has_another_meaning(name)
        ):
            return None
        body = [s for s in found[0].body if not isinstance(s, ast.Expr)]
        only = body[0] if len(body) == 1 else None
        value = only.value if isinstance(only, ast.Return) else None
        return ast.Lambda(found[0].args, value) if value is not None else None

    def _of_each(self, name: str, body: ast.expr) -> str:
        """How the function of a tree map uses its leaf: "last" or "reduced" where nothing else of it is read."""
        above = {child: node for node in ast.walk(body) for child in ast.iter_child_nodes(node)}
        loads = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id == name]
        verdicts = {self._of_leaf(load, above, body) for load in loads}
        return verdicts.pop() if len(verdicts) == 1 else "kept"

    def _of_leaf(self, leaf: ast.Name, above: dict[ast.AST, ast.AST], body: ast.expr) -> str:
        parent = above.get(leaf)
        if isinstance(parent, ast.Subscript) and parent.value is leaf:
            index = parent.slice
            if isinstance(index, ast.Tuple) and index.elts:
                index = index.elts[0]
            self.only_uses &= index is parent.slice and parent is body
            return "last" if is_last(index) else "kept"
        own = isinstance(parent, ast.Attribute)
        call = above.get(parent) if own and parent is not None else parent
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return "kept"
        if call.func.attr not in OWN_REDUCTIONS or not (call.func is parent or call.args[:1] == [leaf]):
            return "kept"
        if not over_first_axis(call, 0 if own else 1):
            return "kept"
        self.only_uses &= call is body
        self.reducer, self.along = call.func.attr, names_axis(call, 0 if own else 1)
        return "reduced"


def _combine(verdicts: list[tuple[str, list[ast.AST]]]) -> tuple[str, list[ast.AST]]:
    used = [v for v in verdicts if v[0] != "unused"]
    if not used:
        return "unused", [n for v in verdicts for n in v[1]]
    kinds = {v[0] for v in used}
    places = [n for v in used for n in v[1]]
    if kinds == {"last"}:
        return "last", places
    return ("reduced", places) if "kept" not in kinds else ("kept", [])
