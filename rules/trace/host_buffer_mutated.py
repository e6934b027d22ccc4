"""JAX211: a numpy buffer is written while jax may still be reading it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import HostBufferMutated
from jaxlint.rule import Confidence, Rule

from ._tracing import api_name

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class HostBufferMutatedRule(Rule):
    """A numpy array that jax took without a copy is written in place afterwards."""

    def suspect(self, fact: HostBufferMutated) -> bool:
        # A buffer that is filled and then handed over by methods is written again only if that is done again.
        once = fact.again and fact.by_method and fact.proof.repeated is None
        return fact.proof.level == "eager" and not once

    def check(self, fact: HostBufferMutated, ctx: Context) -> Iterator[Finding]:
        writes = [
            f for f in ctx.facts(HostBufferMutated) if f.transfer == fact.transfer and f.name == fact.name
        ]
        if any(write.place < fact.place for write in writes):
            return  # one write tells it all
        call = ctx.node(fact.transfer)
        array = "the array that the call before gave to jax" if fact.again else "an array that jax was given"
        yield self.finding(
            fact,
            f"`{fact.name}` is written, and may be the memory of {array}: "
            f"`{api_name(fact.api, ctx)}` need not copy. Give it `{fact.name}.copy()`.",
            confidence=Confidence.HIGH if fact.kept and not fact.again else Confidence.MEDIUM,
            related=[Related(fact.transfer, "handed to jax here")],
            fix=_copied(fact, call, ctx) if call is not None else None,
        )


def _copied(fact: HostBufferMutated, call: cst.CSTNode, ctx: Context) -> Fix | None:
    """A copy that numpy makes, which is there before jax looks at it."""
    import libcst as cst

    waiting: list[cst.CSTNode] = [call.args[0].value] if isinstance(call, cst.Call) and call.args else []
    while waiting:
        node = waiting.pop()
        whole = node.value if isinstance(node, cst.Subscript) else node
        if isinstance(whole, (cst.Name, cst.Attribute)) and ctx.focus.code(whole) == fact.name:
            edit = ctx.replace(node, f"{ctx.focus.code(node)}.copy()")
            kind = Applicability.UNSAFE if _may_be_no_array(fact.name, call, ctx) else Applicability.SAFE
            return Fix("Copy the buffer", kind, (edit,))
        if isinstance(node, (cst.Tuple, cst.List, cst.Dict)):
            waiting += [element.value for element in node.elements]
    return None


def _may_be_no_array(name: str, call: cst.CSTNode, ctx: Context) -> bool:
    """Whether a name is, or belongs to, what a function around is passed: callers may pass what has no `copy`, or
    another one, such as a list or a memoryview."""
    import libcst as cst
    import libcst.matchers as m

    root, dot, _ = name.partition(".")
    for function in ctx.parents(call):
        if not isinstance(function, (cst.FunctionDef, cst.Lambda)):
            continue
        own = m.findall(function.params, m.Param(name=m.Name(root)))
        method = dot and function.params.params[:1] == tuple(own)  # `self` and `cls`
        if own and not method:
            return not all(isinstance(one, cst.Param) and _is_array(one, ctx) for one in own)
    return False


def _is_array(parameter: cst.Param, ctx: Context) -> bool:
    annotation = parameter.annotation
    written = ctx.focus.code(annotation.annotation) if annotation is not None else ""
    return written.strip("\"'") == (ctx.spell("numpy.ndarray") or "")
