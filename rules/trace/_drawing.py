"""A draw of numpy or `random` as one of `jax.random`: a worked suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Fix, Span
from jaxlint.flow.facts import ImpureCall

from ._tracing import api_name

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# numpy's name → the one of jax.random, and how the arguments read there: `{0}` is the first positional one,
# `{size}` the shape, `()` where none is given.
_CALLS: dict[str, tuple[str, int, str]] = {
    "standard_normal": ("normal", 0, "{size}"),
    "normal": ("normal", 0, "{size}"),
    "randn": ("normal", -1, "{size}"),
    "rand": ("uniform", -1, "{size}"),
    "random": ("uniform", 0, "{size}"),
    "uniform": ("uniform", 2, "{size}, minval={0}, maxval={1}"),
    "integers": ("randint", 2, "{size}, {0}, {1}"),
    "randint": ("randint", 2, "{size}, {0}, {1}"),
    "binomial": ("bernoulli", 2, "{1}, {size}"),
    "permutation": ("permutation", 1, "{0}"),
}
_KEYS = ("key", "rng_key", "rng", "prng_key", "subkey")


def with_key(fact: ImpureCall, node: cst.CSTNode, ctx: Context) -> Fix | None:
    """The same draw from a key, which becomes the first parameter where the function has none."""
    import libcst as cst

    known = _CALLS.get(fact.api.rpartition(".")[2])
    function = next((each for each in ctx.parents(node) if isinstance(each, cst.FunctionDef)), None)
    if known is None or function is None or not isinstance(node, cst.Call) or "numpy." not in fact.api:
        return None
    name, fixed, form = known
    positional = [ctx.focus.code(a.value) for a in node.args if a.keyword is None and not a.star]
    size = [ctx.focus.code(a.value) for a in node.args if a.keyword is not None and a.keyword.value == "size"]
    if len(positional) + len(size) != len(node.args):
        return None
    if fixed < 0:
        size, positional = [_tuple(positional)] if positional else [], []
    elif not size and len(positional) == fixed + 1:
        size = [positional.pop()]
    size = [_tuple([text]) if text.isdigit() else text for text in size]
    if len(positional) != max(fixed, 0):
        return None
    parameters = [p.name.value for p in function.params.params]
    key = next((k for k in _KEYS if k in parameters), "")
    arguments = form.format(*positional, size=size[0] if size else "()")
    draw = f"{api_name(f'jax.random.{name}', ctx)}({key or 'key'}, {arguments})"
    edits = [ctx.replace(node, draw)]
    if not key:
        edits.append(_first_parameter(function, ctx))
    return Fix(f"Draw with jax.random.{name}", Applicability.DISPLAY, tuple(edits))


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _first_parameter(function: cst.FunctionDef, ctx: Context) -> Edit:
    """`key` before the other parameters, but after `self`."""
    own = function.params.params
    if not own:
        span = ctx.span(function.name)
        at = Span(span.end_line, span.end_column + 1, span.end_line, span.end_column + 1)
        return Edit(at, "key")
    if own[0].name.value in ("self", "cls"):
        span = ctx.span(own[0].name)
        return Edit(Span(span.end_line, span.end_column, span.end_line, span.end_column), ", key")
    return ctx.insert_before(own[0], "key, ")
