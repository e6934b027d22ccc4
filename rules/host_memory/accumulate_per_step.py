"""JAX401: a loop without an end keeps a full-size host array of every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import Append, Kind, ModuleRole, Tag
from jaxlint.rule import Confidence, Rule, Severity

if TYPE_CHECKING:
    from jaxlint.context import Context


class AccumulatePerStep(Rule):
    """Host memory grows with every frame or batch."""

    def suspect(self, fact: Append) -> bool:
        if fact.emptied or fact.sampled or Tag.SMALL in fact.value.tags or fact.proof.level != "eager":
            return False
        if fact.value.kind in (Kind.SCALAR, Kind.CONSTANT, Kind.DEVICE):
            return False
        if fact.decoded:
            return fact.over in ("stream", "loader", "")
        if not fact.host_copy:
            return False
        return fact.over in ("stream", "loader") or (fact.over == "" and _goes_on(fact))

    def check(self, fact: Append, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST and fact.over not in ("stream", "loader"):
            return
        container = f"`{fact.container}`" if fact.container else "This list"
        each = "decoded frame" if fact.decoded else "host copy of a full array"
        source = "a stream" if fact.over == "stream" else "a loader" if fact.over == "loader" else "a loop"
        where = fact.loop or fact.proof.repeated
        yield self.finding(
            fact,
            f"{container} gets a {each} in each round of {source}: host memory grows until the end. Use each as it "
            "comes, write it to a memmap or a file, or keep it packed (`np.packbits`, uint8).",
            severity=None
            if fact.over in ("stream", "loader") and ctx.role is not ModuleRole.TEST
            else Severity.INFO,
            confidence=Confidence.HIGH if fact.over == "stream" else Confidence.MEDIUM,
            related=[Related(where, "this goes on and on")] if where is not None else [],
            fix=_mapped_file(fact, ctx),
        )


def _goes_on(fact: Append) -> bool:
    """A loop over something unknown, or a method that a loop calls."""
    return fact.loop is not None or (fact.proof.repeated is not None and "." in fact.container)


def _mapped_file(fact: Append, ctx: Context) -> Fix | None:
    """A file that is written frame by frame, in the place of the list."""
    import libcst as cst

    call = ctx.node(fact.place)
    loop = ctx.node(fact.loop) if fact.loop is not None else None
    loops = [p for p in ctx.parents(call) if isinstance(p, (cst.For, cst.While))] if call is not None else []
    if (
        not isinstance(call, cst.Call)
        or len(call.args) != 1
        or not loops
        or not fact.container.isidentifier()
    ):
        return None
    numpy, name = ctx.spell("numpy") or "np", fact.container
    around = loop if loop in loops else loops[0]
    indent = ctx.indent(around)
    made = (
        f'{name} = {numpy}.lib.format.open_memmap("{name}.npy", "w+", {numpy}.uint8, (N_MAX, *FRAME_SHAPE))'
    )
    stored = f"{name}[n_{name}] = {ctx.focus.code(call.args[0].value)}"
    return ctx.suggest(
        "Write them to a file", ctx.insert_before(around, f"{made}\n{indent}"), ctx.replace(call, stored)
    )
