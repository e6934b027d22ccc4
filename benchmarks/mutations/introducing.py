"""Edits that bring a hazard into a program that has none."""

from __future__ import annotations

import ast
import random
from typing import NamedTuple

from mutations import MAIN, Edit
from mutations.bindings import FUNCTION, bodies, last_name, loaded

_LOOP = (ast.For, ast.While)
_CHECKPOINTS = ("checkpoint", "remat", "filter_checkpoint")


class Introduction(NamedTuple):
    """A hazard-introducing edit. It is tried on good programs about one of `about` (any program where that is
    empty), and one of `codes` must be found afterwards."""

    edit: Edit
    codes: tuple[str, ...]
    about: tuple[str, ...]


def _keyword_dropped(*names: str, callees: str = "") -> Edit:
    def edit(source: str, chance: random.Random) -> dict[str, str] | None:
        tree = ast.parse(source)
        changed = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and last_name(node.func) in (
                callees.split() or [last_name(node.func)]
            ):
                kept = [k for k in node.keywords if k.arg not in names]
                changed |= len(kept) < len(node.keywords)
                node.keywords = kept
        return {MAIN: ast.unparse(tree)} if changed else None

    return edit


def unbounded(source: str, chance: random.Random) -> dict[str, str] | None:
    """`lru_cache(maxsize=8)` keeps everything."""
    tree = ast.parse(source)
    changed = False
    for node in ast.walk(tree):
        takes_something = isinstance(node, FUNCTION) and bool(node.args.args)
        for call in node.decorator_list if isinstance(node, FUNCTION) and takes_something else ():
            if (
                isinstance(call, ast.Call)
                and last_name(call.func) == "lru_cache"
                and _limit(call) is not None
            ):
                call.args, call.keywords = [], [ast.keyword("maxsize", ast.Constant(None))]
                changed = True
    return {MAIN: ast.unparse(tree)} if changed else None


def _limit(call: ast.Call) -> object:
    given = next((k.value for k in call.keywords if k.arg == "maxsize"), call.args[0] if call.args else None)
    return given.value if isinstance(given, ast.Constant) else given


def jnp_to_numpy(source: str, chance: random.Random) -> dict[str, str] | None:
    """numpy goes by the name of `jax.numpy`, which a jitted function uses."""
    if not any(
        _jitted(n) and "jnp" in loaded(n.body) for n in ast.walk(ast.parse(source)) if isinstance(n, FUNCTION)
    ):
        return None
    changed = source.replace("import jax.numpy as jnp", "import numpy as jnp")
    return {MAIN: changed} if changed != source else None


class _Unmark(ast.NodeTransformer):
    """`jax.checkpoint(f)` is `f`, and so is `f` below `@jax.checkpoint`."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if last_name(node.func) in _CHECKPOINTS and len(node.args) == 1:
            self.changed = True
            return node.args[0]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        kept = [d for d in node.decorator_list if last_name(d) not in _CHECKPOINTS]
        self.changed |= len(kept) < len(node.decorator_list)
        node.decorator_list = kept
        return node


def drop_checkpoint(source: str, chance: random.Random) -> dict[str, str] | None:
    """Nothing is recomputed in the backward pass."""
    unmarking = _Unmark()
    tree = unmarking.visit(ast.parse(source))
    return {MAIN: ast.unparse(tree)} if unmarking.changed else None


class _Unwrap(ast.NodeTransformer):
    """`jnp.asarray(n)` as an argument is `n`."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [self._unwrapped(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self._unwrapped(keyword.value)
        return node

    def _unwrapped(self, argument: ast.expr) -> ast.expr:
        if (
            isinstance(argument, ast.Call)
            and argument.args
            and last_name(argument.func) in ("asarray", "array")
        ):
            self.changed = True
            return argument.args[0]
        return argument


def unwrap(source: str, chance: random.Random) -> dict[str, str] | None:
    """A number is handed over as it is, no longer as an array."""
    unwrapping = _Unwrap()
    tree = unwrapping.visit(ast.parse(source))
    return {MAIN: ast.unparse(tree)} if unwrapping.changed else None


def jit_into_loop(source: str, chance: random.Random) -> dict[str, str] | None:
    """A jitted function is made in the loop that calls it."""
    tree = ast.parse(source)
    for body in bodies(tree):
        for index, node in enumerate(body):
            name = _jitted(node)
            loop = next((s for s in body[index + 1 :] if isinstance(s, _LOOP) and name in loaded([s])), None)
            between = body[index + 1 : body.index(loop)] if loop is not None else []
            if name and loop is not None and not any(name in loaded([s]) for s in between):
                del body[index]
                loop.body.insert(0, node)
                return {MAIN: ast.unparse(tree)}
    return None


def carry_to_stack(source: str, chance: random.Random) -> dict[str, str] | None:
    """`last, _ = scan(body, …)` becomes the last of all carries that the body now stacks."""
    tree = ast.parse(source)
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        call, target = node.value, node.targets[0]
        if last_name(call.func) != "scan" or not (isinstance(target, ast.Tuple) and len(target.elts) == 2):
            continue
        function = (
            functions.get(call.args[0].id) if call.args and isinstance(call.args[0], ast.Name) else None
        )
        returned = function.body[-1] if function is not None else None
        if not (isinstance(target.elts[0], ast.Name) and isinstance(returned, ast.Return)):
            continue
        pair = returned.value
        if not (
            isinstance(pair, ast.Tuple) and isinstance(pair.elts[0], ast.Name) and _is_none(pair.elts[1])
        ):
            continue
        pair.elts[1] = ast.Name(pair.elts[0].id, ast.Load())
        node.targets = [ast.Name(target.elts[0].id, ast.Store())]
        node.value = ast.parse(f"({ast.unparse(call)})[1][-1]", mode="eval").body
        return {MAIN: ast.unparse(tree)}
    return None


class _Branch(ast.NodeTransformer):
    """`jnp.where(c, a, b)` is `a if c else b`."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if last_name(node.func) == "where" and len(node.args) == 3:
            self.changed = True
            return ast.IfExp(node.args[0], node.args[1], node.args[2])
        return node


def branch(source: str, chance: random.Random) -> dict[str, str] | None:
    """Python chooses instead of `jnp.where`."""
    branching = _Branch()
    tree = branching.visit(ast.parse(source))
    return {MAIN: ast.unparse(ast.fix_missing_locations(tree))} if branching.changed else None


def _jitted(node: ast.stmt) -> str:
    """The name of the jitted function that a statement makes anew each time it runs, or ""."""
    if isinstance(node, FUNCTION):
        return node.name if any("jit" in ast.unparse(d) for d in node.decorator_list) else ""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        call, target = node.value, node.targets[0]
        fresh = bool(call.args) and isinstance(call.args[0], (ast.Lambda, ast.Call))
        if fresh and isinstance(target, ast.Name) and last_name(call.func) in ("jit", "filter_jit"):
            return target.id
    return ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


INTRODUCING: dict[str, Introduction] = {
    "drop donation": Introduction(
        _keyword_dropped("donate_argnums", "donate_argnames", "donate"), ("JAX301",), ("JAX301",)
    ),
    "unwrap number": Introduction(unwrap, ("JAX101",), ("JAX101",)),
    "jit into loop": Introduction(jit_into_loop, ("JAX103", "JAX109"), ()),
    "carry to stack": Introduction(carry_to_stack, ("JAX303",), ()),
    "drop size": Introduction(
        _keyword_dropped("size", callees="nonzero flatnonzero argwhere unique where"),
        ("JAX105", "JAX207"),
        ("JAX105", "JAX207"),
    ),
    "unbounded cache": Introduction(
        unbounded, ("JAX402", "JAX403", "JAX404"), ("JAX402", "JAX403", "JAX404")
    ),
    "jnp to numpy": Introduction(jnp_to_numpy, ("JAX206",), ("JAX206",)),
    "drop checkpoint": Introduction(drop_checkpoint, ("JAX310",), ("JAX310",)),
    "drop static": Introduction(
        _keyword_dropped("static_argnums", "static_argnames"), ("JAX205", "JAX208"), ("JAX205", "JAX208")
    ),
    "where to if": Introduction(branch, ("JAX205",), ("JAX205",)),
}
