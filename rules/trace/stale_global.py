"""JAX201: the program changes what compiled code read while it was traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import AbsorbedMutation, StaleRead
from jaxlint.rule import Confidence, Rule

from . import _tracing as tracing
from ._passing import as_argument, equal_nodes

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "setup"})


class StaleGlobal(Rule):
    """An outer value that traced code has read is rebound or mutated afterwards."""

    def suspect(self, fact: StaleRead) -> bool:
        if fact.proof.level in tracing.VALUELESS:
            return False  # a change that is itself traced happens once per trace, which is another fault
        # Above the function that reads it, a local variable is set anew together with the function.
        return fact.subject != "closure" or fact.place > fact.read

    def check(self, fact: StaleRead, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if node is not None and (
            _constructs(node, ctx) or _fills_once(node, ctx) or _is_another_entry(node, fact, ctx)
        ):
            return
        if any(absorbed.place == fact.place for absorbed in ctx.facts(AbsorbedMutation)):
            return  # a test's patch, see JAX202
        function = fact.boundary.function.rpartition(".")[2] if fact.boundary is not None else ""
        keeper = f"`{function}`" if function else "The traced function"
        yield self.finding(
            fact,
            f"{keeper} keeps the `{ctx.text(fact.read) or fact.name}` that it read while it was traced, and "
            "this change never reaches it. Pass it as an argument.",
            confidence=Confidence.HIGH if fact.later_call is not None else Confidence.MEDIUM,
            related=list(_trail(fact)),
            fix=as_argument(fact, ctx),
        )


def _constructs(node: cst.CSTNode, ctx: Context) -> bool:
    """`self.x = …` in a constructor: another object than the one that was read."""
    import libcst as cst

    function = next((each for each in ctx.parents(node) if isinstance(each, cst.FunctionDef)), None)
    return function is not None and function.name.value in _CONSTRUCTORS


def _fills_once(node: cst.CSTNode, ctx: Context) -> bool:
    """`if self.table is None: self.table = …`: whatever the trace has read stays."""
    import libcst as cst

    name = ctx.focus.code(node)
    owner, _, attribute = name.rpartition(".")
    first_time = {f"{name} is None", f"not {name}", f'not hasattr({owner}, "{attribute}")'}
    tests = (parent.test for parent in ctx.parents(node) if isinstance(parent, cst.If))
    return any(ctx.focus.code(test).replace("'", '"') in first_time for test in tests)


def _is_another_entry(node: cst.CSTNode, fact: StaleRead, ctx: Context) -> bool:
    """`RUN["epoch"] = …` where the function that reads `RUN` names other entries only."""
    import libcst as cst

    read, changed = ctx.node(fact.read), _entry(node)
    if read is None or changed is None:
        return False
    function = next((each for each in ctx.parents(read) if isinstance(each, cst.FunctionDef)), read)
    used = {_entry(next(ctx.parents(each))) for each in equal_nodes(function, read)}
    return None not in used and changed not in used


def _entry(node: cst.CSTNode) -> str | None:
    """The key of an entry that is named by a string: `RUN["epoch"]`."""
    import libcst as cst

    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return str(key.evaluated_value)
    return None


def _trail(fact: StaleRead) -> Iterator[Related]:
    yield Related(fact.read, "read here, while tracing")
    yield Related(fact.earlier_call, "traced by this call")
    if fact.later_call is not None and fact.later_call != fact.earlier_call:
        yield Related(fact.later_call, "this call still computes with the old value")
