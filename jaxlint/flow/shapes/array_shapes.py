"""The shapes of arrays by syntax, as far as numbers in view make them: looked up for the few expressions of which a
rule has to know how many elements there are. What is not known is None, and a name has a shape only if everything
that binds it has the same.
"""

from __future__ import annotations

import ast

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import BOUNDARY
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.shapes import random_shapes, shape_functions, shape_values
from jaxlint.flow.shapes.callees import Callees, Scope
from jaxlint.flow.shapes.mapped_shapes import Apply, looped, vmapped
from jaxlint.flow.shapes.shape_values import Array, Items, Known, Many, Number, Record, Table
from jaxlint.flow.syntax.options import option_default
from jaxlint.flow.syntax.outputs import calls_by_name
from jaxlint.flow.syntax.ways import EACH, Way, bound_in, parameters_of
from jaxlint.index.walking import own_nodes

_STEPS = 3000  # expressions looked at for one question
_DEPTH = 60
_CALLS = 4  # of one function, to know what it is passed


class ArrayShapes:
    """Evaluates expressions to shapes and numbers."""

    def __init__(self, program: Program, besides: ast.AST | None = None, sure: bool = False) -> None:
        """`besides` is an expression that does not count as binding a name: what a call makes of that very name.
        `sure` leaves out the defaults of the command line, which a user may override."""
        self._sure = sure
        self._callees = Callees(program)
        self._besides = besides
        self._assumed: dict[tuple[int, str], Known] = {}  # what names are while they are looked up
        self._steps = 0
        self._depth = 0

    def of(self, node: ast.expr, scope: Scope) -> Known:
        """The shape of an array, the number, or the members that an expression gives."""
        if self._is_spent() or self._depth > _DEPTH:
            return None
        self._depth += 1
        try:
            return self._expression(node, scope)
        finally:
            self._depth -= 1

    def _is_spent(self) -> bool:
        """Take one more step, if there is one left."""
        self._steps += 1
        return self._steps > _STEPS

    def _expression(self, node: ast.expr, scope: Scope) -> Known:
        if isinstance(node, ast.Constant):
            numeric = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
            return Number(node.value if type(node.value) is int else None) if numeric else None
        if isinstance(node, ast.Name):
            return self._named(node.id, scope)
        if isinstance(node, (ast.Tuple, ast.List)):
            return Items(tuple(self.of(item, scope) for item in node.elts))
        if isinstance(node, ast.Dict):
            return self._table(node, scope)
        if isinstance(node, ast.UnaryOp):
            return shape_values.negated(node.op, self.of(node.operand, scope))
        if isinstance(node, ast.BinOp):
            return shape_values.combined(node.op, self.of(node.left, scope), self.of(node.right, scope))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = self.of(node.left, scope), self.of(node.comparators[0], scope)
            return shape_values.broadcast(sides)
        if isinstance(node, ast.IfExp):
            body = self.of(node.body, scope)
            return body if body == self.of(node.orelse, scope) else None
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return self._field(node.attr, scope)
            option = option_default(scope.module, node) if not self._sure else None
            return (
                shape_values.attribute(self.of(node.value, scope), node.attr)
                if option is None
                else Number(option)
            )
        if isinstance(node, ast.Subscript):
            return self._subscript(node, scope)
        return self._called(node, scope) if isinstance(node, ast.Call) else None

    def _table(self, node: ast.Dict, scope: Scope) -> Known:
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys):
            return None
        return Table(tuple(zip(keys, (self.of(v, scope) for v in node.values), strict=True)))  # type: ignore[arg-type]  # all keys are texts

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Known:
        base = self.of(node.value, scope)
        index = node.slice
        if isinstance(base, Table):
            return dict(base.members).get(str(index.value)) if isinstance(index, ast.Constant) else None
        if isinstance(base, Items):
            number = self.of(index, scope) if not isinstance(index, ast.Slice) else None
            return shape_values.member(base, number.value) if isinstance(number, Number) else None
        if not isinstance(base, Array):
            return None
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        return shape_values.indexed(base, [self._index(item, scope) for item in items])

    def _index(self, item: ast.expr, scope: Scope) -> shape_values.Index:
        if isinstance(item, ast.Slice):
            bounds = (item.lower, item.upper, item.step)
            known = [self.of(b, scope) if b is not None else Number(None) for b in bounds]
            if not all(isinstance(k, Number) for k in known):
                return None
            lower, upper, step = (k.value for k in known if isinstance(k, Number))
            given = [b is not None for b in bounds]
            sure = all(v is not None for v, g in zip((lower, upper, step), given, strict=True) if g)
            return shape_values.Cut(lower, upper, step, whole=not any(given), known=sure)
        if isinstance(item, ast.Constant) and (item.value is None or item.value is Ellipsis):
            return "new" if item.value is None else "rest"
        if isinstance(item, ast.Attribute) and item.attr == "newaxis":
            return "new"
        return self.of(item, scope)

    # ------------------------------------------------------------ names

    def _named(self, name: str, scope: Scope) -> Known:
        key = (id(scope.node), name)
        if key in self._assumed:
            return self._assumed[key]
        ways = bound_in(scope.node).get(name, [])
        if ways is None:
            return None
        ways = [way for way in ways if not self._hands_on(way[0], name, scope)]
        is_parameter = name in scope.given
        if not ways and not is_parameter:
            outer = scope.around or Scope(scope.module, scope.module.tree, {})
            if scope.node is not outer.node:
                return None if name in parameters_of(scope.node) else self._named(name, outer)
            return self._imported(name, scope)
        first = scope.given.get(name)
        if is_parameter and first is None:
            return None
        return self._agreed(key, first, [(way, scope) for way in ways])

    def _field(self, name: str, scope: Scope) -> Known:
        """An attribute of `self`, as the methods of its class bind it."""
        function = scope.module.functions.get(scope.node)  # type: ignore[call-overload]  # a module is in it not
        cls = function.cls if function is not None else None
        if cls is None or cls.bases:
            return None
        key = (id(cls.node), name)
        if key in self._assumed:
            return self._assumed[key]
        whole = f"self.{name}"
        bound = [(m, bound_in(m.node)[whole]) for m in cls.methods.values() if whole in bound_in(m.node)]
        if any(ways is None for _, ways in bound):
            return None
        found = [(ways, self.around(cls.module, m)) for m, ways in bound]
        ways = [(w, at) for each, at in found for w in each or () if not self._hands_on(w[0], whole, at)]
        return self._agreed(key, None, ways)

    def _agreed(self, key: tuple[int, str], first: Known, ways: list[tuple[Way, Scope]]) -> Known:
        """What all ways that bind a name give, if it is the same."""
        self._assumed[key] = first
        try:
            for way, at in ways:
                if first is not None:
                    break
                first = self._assumed[key] = self._followed(way, at)
            agree = first is not None and all(self._followed(way, at) == first for way, at in ways)
            return first if agree else None
        finally:
            del self._assumed[key]

    def _hands_on(self, node: ast.expr, name: str, scope: Scope) -> bool:
        """`state = step(state)` for a boundary: where a state is looked for, its new value is of the same shape."""
        if self._besides is None or not isinstance(node, ast.Call):
            return False
        value = self._callees.value(node.func.id, scope.module) if isinstance(node.func, ast.Name) else None
        steps = value is not None and value.kind == BOUNDARY
        return node is self._besides or (steps and any(ast.unparse(a) == name for a in node.args))

    def _imported(self, name: str, scope: Scope) -> Known:
        value = self._callees.value(name, scope.module)
        data = value.data if value is not None else None
        return Number(data) if type(data) is int else None

    def _followed(self, way: Way, scope: Scope) -> Known:
        node, path = way
        found = self.of(node, scope)
        for step in path:
            found = shape_values.each(found) if step == EACH else shape_values.member(found, step)
        return found

    # ------------------------------------------------------------ calls

    def _called(self, node: ast.Call, scope: Scope) -> Known:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        arguments, words = self.passed(node, scope)
        called = self._applied(node.func, scope, arguments, words)
        if called is not None:
            return called[0]
        fields = self._callees.kept_fields(node.func, scope)
        if fields is not None:
            return Record(tuple(zip(fields, arguments, strict=False)) + tuple(words.items()))
        name = self._callees.api(node.func, scope)
        if name in ("jax.lax.map", "jax.lax.scan"):
            return looped(name.rpartition(".")[2], node, arguments, words, self._apply_in(scope))
        if isinstance(node.func, ast.Call) and not words:
            mapped = self._callees.api(node.func.func, scope) == "jax.vmap"
            return vmapped(node.func, arguments, self._apply_in(scope)) if mapped else None
        if name:
            return shape_functions.result(name, node, arguments, words)
        if isinstance(node.func, ast.Attribute):
            if (
                node.func.attr == "init"
                and len(arguments) == 1
                and self._callees.is_optimizer(node.func.value, scope)
            ):
                return Items((arguments[0], arguments[0], Number(None)))  # no more than two trees and a count
            place = node.func.value
            if isinstance(place, ast.Subscript) and getattr(place.value, "attr", "") == "at":
                return self.of(place.value.value, scope)  # type: ignore[attr-defined]  # `x.at[i].set(0.0)`
            drawn = self._callees.draws(node.func.value, scope)
            if drawn:
                return random_shapes.drawn(node.func.attr, arguments, words)
            owner = self.of(node.func.value, scope)
            if isinstance(owner, Array):
                return shape_functions.method(owner, node.func.attr, node, arguments, words)
            if owner is None and node.func.attr == "reshape":
                return shape_functions.reshaped_anyhow(arguments, words)
        return None

    def _applied(
        self, callee: ast.expr, scope: Scope, arguments: list[Known], words: dict[str, Known]
    ) -> tuple[Known] | None:
        """What a function of the project gives, called by a name or written in place; None where none is called."""
        local = self._callees.local(callee, scope)
        if local is not None:
            return (self.returned(local[0], arguments, words, local[1]),)
        function = self._callees.function(callee, scope)
        return (self.returned(function, arguments, words),) if function is not None else None

    def _apply_in(self, scope: Scope) -> Apply:
        def apply(callee: ast.expr, arguments: list[Known]) -> Known:
            called = self._applied(callee, scope, arguments, {})
            return called[0] if called is not None else None

        return apply

    def around(self, module: LoadedModule, function: Function | None, depth: int = 3) -> Scope:
        """Where a call in a function stands, with what every call of the function in its module passes."""
        if function is None:
            return Scope(module, module.tree, {})
        given: dict[str, Known] = dict.fromkeys((*function.params, *function.keyword_only))
        outer = (
            self.around(module, function.parent, depth - 1) if depth and function.parent is not None else None
        )
        if function.parent is not None and outer is None:
            return Scope(module, function.node, {}, Scope(module, function.parent.node, {}))
        scope = Scope(module, function.node, given, outer)
        made = function.cls if function.name == "__init__" else None
        calls = calls_by_name(module, made.name if made is not None else function.name)
        named = [f for f in module.functions.values() if f.name == function.name]
        alone = made is not None or (len(named) == 1 and function.cls is None)
        if not depth or not 0 < len(calls) <= _CALLS or not alone or self._is_spent():
            return scope
        passed = []
        for caller, call in calls:
            arguments, words = self.passed(call, self.around(module, caller, depth - 1))
            passed.append(self._arguments(function, [None] * function.is_method + arguments, words))
        for name in given:
            values = [p.get(name) for p in passed]
            given[name] = values[0] if all(v == values[0] for v in values) else None
        return scope

    def passed(self, call: ast.Call, scope: Scope) -> tuple[list[Known], dict[str, Known]]:
        """What is known of the arguments of a call."""
        words = {k.arg: self.of(k.value, scope) for k in call.keywords if k.arg is not None}
        return [self.of(a, scope) for a in call.args], words

    def _arguments(
        self, function: Function, arguments: list[Known], words: dict[str, Known]
    ) -> dict[str, Known]:
        given: dict[str, Known] = dict.fromkeys((*function.params, *function.keyword_only))
        top = Scope(function.module, function.module.tree, {})
        given.update({name: self.of(value, top) for name, value in function.defaults.items()})
        given.update(zip(function.params, arguments, strict=False))
        given.update(words)
        return given

    def returned(
        self, function: Function, arguments: list[Known], words: dict[str, Known], around: Scope | None = None
    ) -> Known:
        """What a function of the project gives for these arguments; a nested one reads the names around it."""
        args = function.node.args
        if args.vararg is not None or args.kwarg is not None or len(arguments) > len(function.params):
            return None
        given = self._arguments(function, arguments, words)
        scope = Scope(function.module, function.node, given, around)
        if any(key[0] == id(function.node) for key in self._assumed):
            return None  # it calls itself, or what it is given does
        if isinstance(function.node, ast.Lambda):
            return self.of(function.node.body, scope)
        own = own_nodes(function.node)
        if any(isinstance(n, ast.YieldFrom) for n in own):
            return None
        yields = [n.value for n in own if isinstance(n, ast.Yield)]
        found = yields or [n.value for n in own if isinstance(n, ast.Return)]
        known = [self.of(n, scope) if n is not None else None for n in found]
        if not known or known[0] is None or any(k != known[0] for k in known):
            return None
        return Many(known[0]) if yields else known[0]
