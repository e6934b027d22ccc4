"""JAX210: a static number equals an earlier one of another type, whose trace answers for both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Finding, Fix, Related
from jaxlint.flow.facts import EqualStatic
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# Uses for which an integer and the float that equals it come to the same, but for the dtype of integer arrays.
_ALIKE = frozenset({"arithmetic", "comparison", "where", "branch"})


class EqualStaticRule(Rule):
    """`1`, `1.0` and `True` are one key of a cache that compares with `==`."""

    def suspect(self, fact: EqualStatic) -> bool:
        return fact.proof.level != "jit"  # inside a trace there is no cache to ask

    def check(self, fact: EqualStatic, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        alike = _is_alike(fact)
        yield self.finding(
            fact,
            f"{_subject(fact)} runs the trace made for `{fact.answered_by!r}` also for `{fact.value!r}`: the two "
            f"are equal, so the cache takes one for the other. Cast it in one place{_or_array(fact)}.",
            severity=Severity.INFO if alike else None,
            confidence=Confidence.MEDIUM if alike else Confidence.HIGH,
            related=[
                Related(fact.earlier, f"`{fact.answered_by!r}` is passed here first"),
                Related(fact.boundary.definition or fact.boundary.place, "compiled once for both"),
                *([Related(fact.call, "this call gets its answer")] if fact.call != fact.place else []),
                *_written(fact),
            ],
            fix=_as_array(fact, node, ctx) if alike and not fact.path and node is not None else None,
        )


def _is_alike(fact: EqualStatic) -> bool:
    """Nothing in view depends on the type. Of a member that no traced code reads, nothing can."""
    return fact.uses <= _ALIKE and (bool(fact.uses) or bool(fact.path))


def _written(fact: EqualStatic) -> Iterator[Related]:
    """The number itself, where it stands in none of the other places."""
    written = fact.written
    if written is not None and not any(at.contains(written) for at in (fact.place, fact.earlier, fact.call)):
        yield Related(written, "written here")


def _subject(fact: EqualStatic) -> str:
    function = fact.boundary.function.rpartition(".")[2]
    name = f"`{function}`" if function and not function.startswith("<") else "The jitted function"
    where = f"{fact.parameter.name}{fact.path}"
    return f"{name} (`{where}`)" if where else name


def _or_array(fact: EqualStatic) -> str:
    taken = fact.boundary.flavour == "filter" and not fact.path and not fact.parameter.python_use
    return ", or pass an array" if taken else ""


def _as_array(fact: EqualStatic, node: cst.CSTNode, ctx: Context) -> Fix | None:
    """An array is traced, and its dtype is part of the key."""
    import libcst as cst

    if not isinstance(node, (cst.Integer, cst.Float, cst.Name)):
        return None
    asarray = ctx.spell("jax.numpy.asarray")
    if asarray is None or fact.boundary.flavour != "filter":
        return None
    edit = ctx.replace(node, f"{asarray}({ctx.focus.code(node)})")
    return Fix("Pass an array", Applicability.DISPLAY, (edit,))
