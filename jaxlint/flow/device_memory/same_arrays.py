"""Calls that give back the very arrays they are given, under another name (measured: jax 0.10.2, flax 0.12.8)."""

from __future__ import annotations

import ast

from jaxlint.flow.device_memory.sharing_callees import Callees, Place
from jaxlint.flow.domain.kinds import API
from jaxlint.flow.syntax.bindings import returned
from jaxlint.flow.syntax.last_bindings import last_binding
from jaxlint.index.written_names import dotted_name, last_name
from jaxlint.jax_api.categories import canonical

_SAME = frozenset(
    {"asarray", "device_put", "block_until_ready", "stop_gradient", "freeze", "unfreeze", "array"}
)
# By their whole names: the last ones are anybody's.
_SAME_IN_LIBRARIES = frozenset(
    {"equinox.filter", "equinox.nn.inference_mode", "flax.nnx.clone", "flax.nnx.state", "copy.copy"}
)
_MAPS = frozenset({"map", "tree_map"})
# What asks for no copy, of the options that may ask for one.
_NO_COPY = {"copy": (False, None), "may_alias": (True, None), "donate": (False, None)}
_DEPTH = 4


class SameArrays(Callees):
    """Tells which argument's arrays a call gives back."""

    def same_as(self, node: ast.Call, at: Place) -> ast.expr | None:
        """The argument of a call whose arrays are those of the result, None where it may make others."""
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        if last_name(node.func) in _MAPS and len(node.args) > 1:
            position = self._handed_back(node.args[0], at, _DEPTH)
            trees = node.args[1:]
            return trees[position] if position is not None and position < len(trees) else None
        return node.args[0] if node.args and self._is_same(node, at) else None

    def same_members(self, node: ast.ListComp | ast.DictComp, at: Place) -> ast.expr | None:
        """`{name: leaf for name, leaf in params.items()}`: the tree whose members these are."""
        part = node.generators[0]
        if len(node.generators) > 1 or part.ifs:
            return None
        drawn, source = part.target, part.iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
            if source.func.attr == "items" and isinstance(drawn, ast.Tuple) and len(drawn.elts) == 2:
                drawn = drawn.elts[1]
            elif source.func.attr != "values":
                return None
            source = source.func.value
        if not isinstance(source, (ast.Name, ast.Attribute, ast.Subscript)) or not isinstance(
            drawn, ast.Name
        ):
            return None
        names = [drawn.id, f"{ast.unparse(source)}[{drawn.id}]"]
        member = node.elt if isinstance(node, ast.ListComp) else node.value
        return source if self._kept(member, names, at, _DEPTH) is not None else None

    def _is_same(self, node: ast.Call, at: Place) -> bool:
        name = self._library_name(node.func, at)
        last = name.rpartition(".")[2]
        if name in _SAME_IN_LIBRARIES:
            # A container is copied with the arrays it holds, an array itself is not.
            return name != "copy.copy" or self._holds_arrays(node.args[0], at)
        if last not in _SAME or name.partition(".")[0] in ("numpy", "np"):
            return False
        asked = {k.arg: k.value for k in node.keywords}
        if any(not _is_one_of(asked[word], plain) for word, plain in _NO_COPY.items() if word in asked):
            return False
        if last == "array" and "copy" not in asked:
            return False
        return last not in ("asarray", "array") or not self._casts(node, asked)

    def _casts(self, node: ast.Call, asked: dict[str | None, ast.expr]) -> bool:
        """To another type than that of the array, perhaps."""
        dtype = asked.get("dtype", node.args[1] if len(node.args) > 1 else None)
        if dtype is None or _is_one_of(dtype, (None,)):
            return False
        return ast.unparse(dtype) != f"{ast.unparse(node.args[0])}.dtype"

    def _holds_arrays(self, node: ast.expr, at: Place) -> bool:
        """A container that is made in view, or an object of a class in view."""
        if isinstance(node, ast.Name):
            bound = last_binding(at.scope, node.id, at.before)
            node = bound[0] if bound is not None and bound[1] is None else node
        return isinstance(node, (ast.Dict, ast.List)) or self.class_of(node, at) is not None

    def _handed_back(self, function: ast.expr, at: Place, depth: int) -> int | None:
        """Which of its arguments a function gives back, if they are arrays."""
        if not depth:
            return None
        if isinstance(function, ast.Name) and self.named(function, at) is None:
            bound = last_binding(at.scope, function.id, at.before)
            if bound is not None and bound[1] is None:
                function = bound[0]
        found, _ = self.callee(function, at)
        if found is not None and isinstance(found.node, ast.Lambda):
            function = found.node
        if isinstance(function, ast.Lambda):
            return self._kept(function.body, [a.arg for a in function.args.args], at, depth)
        if isinstance(function, ast.Call):  # `partial(jax.device_put, device=…)`
            given = function.args[0] if last_name(function.func) == "partial" and function.args else None
            if given is None or len(function.args) > 1:
                return None
            filled = ast.Call(func=given, args=[ast.Name(id="leaf")], keywords=function.keywords)
            return 0 if self._is_same(filled, at) else None
        if found is not None:
            results = returned(found.node)
            value = results[0] if len(results) == 1 else None
            inner = Place(found.module, found.node, getattr(value, "lineno", 0) + 1, {})
            return self._kept(value, found.params, inner, depth - 1) if value is not None else None
        plain = ast.Call(func=function, args=[ast.Name(id="leaf")], keywords=[])
        return 0 if isinstance(function, (ast.Name, ast.Attribute)) and self._is_same(plain, at) else None

    def _kept(self, node: ast.expr, params: list[str], at: Place, depth: int) -> int | None:
        """The parameter that an expression hands back."""
        if isinstance(node, (ast.Name, ast.Subscript)):
            name = ast.unparse(node)
            return params.index(name) if name in params else None
        if isinstance(node, ast.IfExp):
            both = [
                self._kept(way, params, at, depth)
                for way in (node.body, node.orelse)
                if not _is_one_of(way, (None,))
            ]
            return both[0] if both and both.count(both[0]) == len(both) else None
        if isinstance(node, ast.Call) and node.args and depth and self._is_same(node, at):
            return self._kept(node.args[0], params, at, depth - 1)
        return None

    def _library_name(self, node: ast.expr, at: Place) -> str:
        """`jax.numpy.asarray` for `jnp.asarray`; as it is written where the module imports no such library."""
        if isinstance(node, ast.Attribute):
            return canonical(f"{self._library_name(node.value, at)}.{node.attr}")
        value = self.named(node, at) if isinstance(node, ast.Name) else None
        return str(value.data) if value is not None and value.kind == API else dotted_name(node) or ""


def _is_one_of(node: ast.expr, constants: tuple[object, ...]) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is constant for constant in constants)
