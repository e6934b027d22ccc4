"""JAX312: pmap keeps a full copy of the state on every device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jaxlint.finding import Edit, Finding, Fix, Place, Related
from jaxlint.flow.facts import BoundaryUse, Fact, JitCall, ModuleRole, Replication
from jaxlint.rule import Confidence, Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_ADVICE = "With `jax.jit` and a `NamedSharding` large parts can be split over the devices instead of copied."


class PmapReplication(Rule):
    """A state is copied to each device, along a leading axis for pmap."""

    def suspect_copy(self, fact: Replication) -> bool:
        return True

    def check_copy(self, fact: Replication, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST or fact.place != _first(ctx.facts(Replication), ctx):
            return
        what = f"`{fact.name}`" if fact.name else "The state"
        pmapped = [call for call in ctx.facts(JitCall) if _is_pmap(call)]
        yield self.finding(
            fact,
            f"{what} is copied to every device in full. {_ADVICE}",
            related=[Related(call.boundary.place, "for this pmap") for call in pmapped[:1]],
        )

    def suspect(self, fact: JitCall) -> bool:
        return _is_pmap(fact)

    def check(self, fact: JitCall, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST or _first(ctx.facts(Replication), ctx) is not None:
            return
        pmaps = [call for call in ctx.facts(JitCall) if _is_pmap(call)]
        carrying = [call for call in pmaps if _broadcasts(call, ctx) or _carries(call, ctx)]
        if fact.place != _first(carrying, ctx):
            return
        uses = [use for use in ctx.facts(BoundaryUse) if use.boundary.place == fact.boundary.place]
        yield self.finding(
            fact,
            f"`pmap` keeps a full copy of what every device needs, on each of them. {_ADVICE}",
            confidence=Confidence.MEDIUM,
            related=[Related(use.place, "the state goes round here") for use in uses if use.rebinds][:1],
            fix=_sharded(ctx.node(fact.place), ctx) if fact.boundary.flavour == "pmap" else None,
        )


def _first(facts: Sequence[Fact], ctx: Context) -> Place | None:
    """The first place in this file, None without one: one finding a file is enough."""
    return min((fact.place for fact in facts if fact.place.path == ctx.path), default=None)


def _is_pmap(call: JitCall) -> bool:
    return call.boundary.api.rpartition(".")[2] in ("pmap", "filter_pmap")


def _broadcasts(call: JitCall, ctx: Context) -> bool:
    """`in_axes=(None, 0)`: an argument goes to each device as it is."""
    text = ctx.text(call.place)
    return "None" in text.partition("in_axes")[2]


def _carries(call: JitCall, ctx: Context) -> bool:
    """`state = step(state, …)`, or a step that updates one: each device keeps a state."""
    return call.boundary.updates or any(
        use.rebinds for use in ctx.facts(BoundaryUse) if use.boundary.place == call.boundary.place
    )


def _sharded(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The same as a vmap under jit, whose arguments are copied or split as `in_axes` has it."""
    import libcst as cst

    if not isinstance(node, cst.Call) or not node.args or node.args[0].keyword is not None:
        return None
    options = {argument.keyword.value: argument.value for argument in node.args[1:] if argument.keyword}
    axes = options.get("in_axes")
    kept = {"in_axes", "out_axes", "axis_name"}
    if not isinstance(axes, cst.Tuple) or len(options) != len(node.args) - 1 or not set(options) <= kept:
        return None
    line = next((p for p in ctx.parents(node) if isinstance(p, cst.SimpleStatementLine)), None)
    jax = ctx.spell("jax")
    if line is None or jax is None:
        return None
    spec = f"{jax}.sharding.PartitionSpec"
    shardings = [
        f"{jax}.sharding.NamedSharding(mesh, {_spec(element.value, spec, ctx)})" for element in axes.elements
    ]
    call = ctx.focus.code
    mapped = f"{jax}.vmap({', '.join(call(argument).rstrip(', ') for argument in node.args)})"
    indent = ctx.indent(line)
    mesh = f'mesh = {jax}.make_mesh(({jax}.device_count(),), ("devices",))\n{indent}'
    edits: tuple[Edit, ...] = (
        ctx.insert_before(line, mesh),
        ctx.replace(node, f"{jax}.jit({mapped}, in_shardings=({', '.join(shardings)},))"),
    )
    return ctx.suggest("Split over a mesh what each device need not have in full", *edits)


def _spec(axis: cst.BaseExpression, spec: str, ctx: Context) -> str:
    """The partition of an argument that pmap maps over an axis, or copies."""
    text = ctx.focus.code(axis)
    before = "None, " * int(text) if text.isdigit() else ""
    return f"{spec}()" if text == "None" else f'{spec}({before}"devices")'
