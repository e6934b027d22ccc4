"""JAX206: a numpy function or array meets a traced value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix
from jaxlint.flow.facts import BoundaryUse, JitCall, Kind, NumpyOnTraced
from jaxlint.jax_api.twins import NUMPY_TWINS, SHARED_KEYWORDS, TAKES_DTYPE, TAKES_SEQUENCE
from jaxlint.rule import Rule

from . import _tracing as tracing
from ._caught import may_be_caught

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_ERROR = "TracerArrayConversionError"
_SAME_METHODS = frozenset({"take", "dot", "searchsorted"})  # the same by jax's arrays
_IN_PLACE = frozenset({".put", ".partition"})
_NUMBERS = frozenset({"int", "float", "complex", "bool", "range", "round", "len"})


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
    if fact.how == "method":
        asarray = tracing.api_name("jax.numpy.asarray", ctx)
        remedy = "Write it in jax.numpy" if fact.api in _IN_PLACE else f"Wrap the array in `{asarray}`"
        return f"`{fact.api}` of a numpy array cannot take {value} ({_ERROR}). {remedy}."
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
        return _on_jax_array("Index a jax array", node.value, fact, node, ctx)
    if fact.how == "method" and isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        same = node.func.attr.value in _SAME_METHODS and all(
            argument.keyword is None or argument.keyword.value == "axis" for argument in node.args
        )
        receiver = node.func.value
        return _on_jax_array("Ask a jax array", receiver, fact, node, ctx) if same else None
    return _functional_write(node, ctx) if fact.how == "assign" else None


def _on_jax_array(
    title: str, table: cst.BaseExpression, fact: NumpyOnTraced, node: cst.CSTNode, ctx: Context
) -> Fix | None:
    """The numpy array as one of jax, which takes tracers."""
    imported = ctx.importing("jax.numpy.asarray")
    if imported is None:
        return None
    asarray, imports = imported
    span = ctx.span(table)
    edit = Edit(span, f"{asarray}({ctx.focus.text(span)})")
    return Fix(title, _applicability(fact, node, ctx), (edit, *imports))


def _applicability(fact: NumpyOnTraced, node: cst.CSTNode, ctx: Context) -> Applicability:
    """Safe where the function around is jitted where it is defined: whoever calls it, it gets tracers. Other code
    may also run with host arrays, whose float64 and int64 values jax.numpy would round or wrap, and a program that
    goes on when the function raises would take another way."""
    import libcst as cst

    if _is_made_a_number(node, ctx):
        return Applicability.DISPLAY  # of the traced result that is another error
    around = next((p for p in ctx.parents(node) if isinstance(p, (cst.FunctionDef, cst.Lambda))), None)
    if not isinstance(around, cst.FunctionDef):
        return Applicability.UNSAFE
    flavour = _jitted_as(around, ctx)
    # Equinox keeps Python numbers static, with which numpy computes in float64.
    traced = flavour and (flavour != "filter" or _is_made_an_array(fact, node, ctx))
    if not traced or may_be_caught(around.name.value, ctx.focus.tree):
        return Applicability.UNSAFE
    return Applicability.SAFE


def _is_made_a_number(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether Python is to make a number of the result: `int(TABLE[i])`."""
    import libcst as cst

    argument, call, *_ = [*ctx.parents(node), None, None]
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call):
        return False
    return isinstance(call.func, cst.Name) and call.func.value in _NUMBERS


def _jitted_as(function: cst.FunctionDef, ctx: Context) -> str:
    """The flavour of the jit that nobody gets past who calls a function: its innermost decorator, transforms of jax
    aside. "" without one."""
    # A run that begins in another module does not see it made, only called.
    boundaries = [made.boundary for made in ctx.facts(JitCall)]
    boundaries += [used.boundary for used in ctx.facts(BoundaryUse)]
    made = {b.place.span: b.flavour for b in boundaries if b.place.path == ctx.path}
    for decorator in reversed(function.decorators):
        flavour = made.get(ctx.span(decorator.decorator))
        if flavour:
            return flavour
        if not _is_of_jax(decorator.decorator, ctx):
            return ""
    return ""


def _is_made_an_array(fact: NumpyOnTraced, node: cst.CSTNode, ctx: Context) -> bool:
    """Whether what numpy is given is the result of a call of jax, which is no number whatever that was given."""
    import libcst as cst
    import libcst.matchers as m

    given: list[cst.CSTNode] = []
    if isinstance(node, cst.Call):
        given = [argument.value for argument in node.args]
    elif isinstance(node, cst.Subscript):
        given = [one.value for one in m.findall(node.slice[0], m.Index()) if isinstance(one, cst.Index)]
    return fact.operand.kind is Kind.TRACED and any(
        isinstance(one, cst.Call) and _is_of_jax(one.func, ctx) for one in given
    )


def _is_of_jax(expression: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a name, or what is called, is jax's own."""
    import libcst as cst

    function = expression.func if isinstance(expression, cst.Call) else expression
    root = ctx.focus.code(function).partition(".")[0]
    return any(spelled == root and name.partition(".")[0] == "jax" for name, spelled in ctx.aliases.items())


def _call_twin(fact: NumpyOnTraced, call: cst.Call, ctx: Context) -> Fix | None:
    """The same call of jax.numpy, where that takes the same arguments."""
    name = _name(fact)
    imported = ctx.importing(f"jax.numpy.{name}")
    if imported is None or not (fact.silent or (name in NUMPY_TWINS and _acceptable(name, call))):
        return None
    twin, imports = imported
    applicability = _applicability(fact, call, ctx)
    if fact.silent:
        # The answer changes from a constant False to the truth, which Python cannot branch on.
        needed = _decides(call, ctx) or _is_made_a_number(call, ctx)
        applicability = Applicability.DISPLAY if needed else Applicability.UNSAFE
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
