"""JAX206: a numpy function or array meets a traced value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix
from jaxlint.flow.facts import NumpyOnTraced
from jaxlint.jax_api.twins import NUMPY_TWINS, SHARED_KEYWORDS, TAKES_DTYPE, TAKES_SEQUENCE
from jaxlint.pattern import pattern
from jaxlint.rule import Rule

from . import _tracing as tracing
from ._caught import may_be_caught

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_ERROR = "TracerArrayConversionError"

_JIT = pattern(r"(?<![.\w])((jax|eqx|equinox|nnx)\.)?(filter_)?jit\b")


class NumpyOnTracedRule(Rule):
    """numpy is handed a traced value, which it cannot hold."""

    def suspect(self, fact: NumpyOnTraced) -> bool:
        return tracing.proven(fact)

    def check(self, fact: NumpyOnTraced, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        yield self.finding(
            fact,
            _message(fact, node, ctx),
            confidence=tracing.confidence(fact.operand),
            related=tracing.why_traced(fact),
            fix=_fix(fact, node, ctx) if node is not None else None,
        )


def _name(fact: NumpyOnTraced) -> str:
    """Of the function, below numpy (`linalg.norm`)."""
    return fact.api.removeprefix("numpy.")


def _message(fact: NumpyOnTraced, node: cst.CSTNode | None, ctx: Context) -> str:
    value = tracing.quoted(fact, ctx, node if fact.how == "call" else None)
    if fact.how == "index":
        asarray = tracing.api_name("jax.numpy.asarray", ctx)
        return f"A numpy array is indexed by {value} ({_ERROR}). Wrap it in `{asarray}`."
    if fact.how == "assign":
        value = _written(node, ctx)
        return f"A numpy array is written from {value} ({_ERROR}). Build it with `.at[…].set(…)` or a stack."
    called = f"`{tracing.api_name(fact.api, ctx)}`"
    twin = f"`{tracing.api_name(f'jax.numpy.{_name(fact)}', ctx)}`"
    if fact.silent:
        return f"{called} answers False for {value}, whatever it holds, and raises nothing. Use {twin}."
    remedy = f"Use {twin}" if _name(fact) in NUMPY_TWINS else "Use jax.numpy, or compute it before the trace"
    return f"{called} cannot take {value} ({_ERROR}). {remedy}."


def _written(node: cst.CSTNode | None, ctx: Context) -> str:
    """What `buffer[i] = value` writes, as the user wrote it."""
    import libcst as cst

    assign = _assignment(node, ctx) if node is not None else None
    simple = assign is not None and isinstance(assign.targets[0].target, cst.Subscript)
    return tracing.as_traced(ctx.focus.code(assign.value) if assign is not None and simple else "")


def _assignment(node: cst.CSTNode, ctx: Context) -> cst.Assign | None:
    """The statement with one target around a node of it."""
    import libcst as cst

    assign = next((n for n in (node, *ctx.parents(node)) if isinstance(n, (cst.Assign, cst.BaseSuite))), None)
    return assign if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None


def _fix(fact: NumpyOnTraced, node: cst.CSTNode, ctx: Context) -> Fix | None:
    import libcst as cst

    if fact.how == "call" and isinstance(node, cst.Call):
        return _call_twin(fact, node, ctx)
    if fact.how == "index" and isinstance(node, cst.Subscript):
        imported = ctx.importing("jax.numpy.asarray")
        if imported is None:
            return None
        asarray, imports = imported
        table = ctx.focus.code(node.value)
        edit = ctx.replace(node.value, f"{asarray}({table})")
        return Fix("Index a jax array", _applicability(node, ctx), (edit, *imports))
    return _functional_write(node, ctx) if fact.how == "assign" else None


def _applicability(node: cst.CSTNode, ctx: Context) -> Applicability:
    """Safe where the function around is jitted where it is defined: whoever calls it, it gets tracers. Other code
    may also run with host arrays, whose float64 and int64 values jax.numpy would round or wrap, and a program that
    goes on when the function raises would take another way."""
    import libcst as cst

    around = next((p for p in ctx.parents(node) if isinstance(p, (cst.FunctionDef, cst.Lambda))), None)
    if not isinstance(around, cst.FunctionDef):
        return Applicability.UNSAFE
    decorators = (ctx.focus.code(decorator.decorator) for decorator in around.decorators)
    jitted = any(map(_JIT.search, decorators))
    return (
        Applicability.SAFE
        if jitted and not may_be_caught(around.name.value, ctx.focus.tree)
        else Applicability.UNSAFE
    )


def _call_twin(fact: NumpyOnTraced, call: cst.Call, ctx: Context) -> Fix | None:
    """The same call of jax.numpy, where that takes the same arguments."""
    name = _name(fact)
    imported = ctx.importing(f"jax.numpy.{name}")
    if imported is None or not (fact.silent or (name in NUMPY_TWINS and _acceptable(name, call))):
        return None
    twin, imports = imported
    applicability = _applicability(call, ctx)
    if fact.silent:
        # The answer changes from a constant False to the truth, which Python cannot branch on.
        applicability = Applicability.DISPLAY if _decides(call, ctx) else Applicability.UNSAFE
    return Fix(f"Use {twin}", applicability, (ctx.replace(call.func, twin), *imports))


def _acceptable(name: str, call: cst.Call) -> bool:
    import libcst as cst

    keywords = SHARED_KEYWORDS | ({"dtype"} if name in TAKES_DTYPE else set())
    displays = (cst.List, cst.Tuple, cst.ListComp, cst.GeneratorExp)
    if name == "where" and len(call.args) != 3:
        return False
    return all(
        not argument.star
        and (argument.keyword is None or argument.keyword.value in keywords)
        and (
            name in TAKES_SEQUENCE or argument.keyword is not None or not isinstance(argument.value, displays)
        )
        for argument in call.args
    )


def _decides(call: cst.Call, ctx: Context) -> bool:
    """Whether Python branches on the call's own result."""
    import libcst as cst

    deciding = (cst.If, cst.IfExp, cst.While, cst.Assert, cst.UnaryOperation, cst.BooleanOperation)
    return isinstance(next(ctx.parents(call), None), deciding)


def _functional_write(node: cst.CSTNode, ctx: Context) -> Fix | None:
    """`buffer[i] = x` as `buffer = jnp.asarray(buffer).at[i].set(x)`."""
    import libcst as cst

    assign = _assignment(node, ctx)
    if assign is None:
        return None
    target = assign.targets[0].target
    if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name):
        return None
    name, indexed = target.value.value, ctx.focus.code(target)
    array = f"{tracing.api_name('jax.numpy.asarray', ctx)}({name})"
    text = f"{name} = {array}.at{indexed.removeprefix(name)}.set({ctx.focus.code(assign.value)})"
    return Fix("Update a jax array", Applicability.DISPLAY, (ctx.replace(assign, text),))
