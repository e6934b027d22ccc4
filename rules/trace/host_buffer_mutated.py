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
        return fact.proof.level == "eager"

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
            return Fix("Copy the buffer", Applicability.SAFE, (edit,))
        if isinstance(node, (cst.Tuple, cst.List, cst.Dict)):
            waiting += [element.value for element in node.elements]
    return None
