"""JAX504: importing a library starts the backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Edit, Finding, Fix, Related
from jaxlint.flow.facts import ImportTimeDeviceWork, ModuleRole
from jaxlint.rule import Rule

from . import _at_import as at_import
from ._numpy_values import serve

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What numpy calls the same and answers the same, up to the default precision.
_NAMES = """
array asarray zeros ones full empty eye identity arange linspace logspace geomspace tri tril triu diag
outer meshgrid concatenate stack vstack hstack tile repeat reshape transpose exp log log2 log10 log1p
expm1 sqrt square abs sign sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh power minimum maximum
sum mean prod cumsum cumprod where clip deg2rad rad2deg dot matmul float16 float32 float64 int8 int16
int32 int64 uint8 uint16 uint32 uint64 complex64 complex128
"""
_IN_NUMPY = frozenset(_NAMES.split())
# Attributes that only a jax array has.
_JAX_ONLY = frozenset({"at", "block_until_ready", "devices", "device", "sharding", "addressable_shards"})
_WHERE = {"class body": "a class body", "default argument": "a default argument"}


class DeviceWorkAtImport(Rule):
    """Array work at module level, in a class body or a default argument of a library."""

    def suspect(self, fact: ImportTimeDeviceWork) -> bool:
        return fact.role is ModuleRole.LIBRARY

    def check(self, fact: ImportTimeDeviceWork, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        first = f"`{ctx.spell(fact.api) or fact.api}`"
        if fact.where in _WHERE:
            first += f" in {_WHERE[fact.where]}"
        more = f" and {len(fact.others)} more" if fact.others else ""
        yield self.finding(
            fact,
            f"Importing this module starts JAX's backend ({first}{more}): on a GPU that takes most of its "
            "memory. Make the value with numpy, or in the function that needs it.",
            place=at_import.statement(fact),
            related=[Related(place, "device work at import, too") for place in fact.others],
            fix=_with_numpy(fact, node, ctx),
        )


def _with_numpy(fact: ImportTimeDeviceWork, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """Let numpy make every value, if it can make them all."""
    imported, jnp = ctx.importing("numpy.asarray"), ctx.spell("jax.numpy")
    if imported is None or jnp is None:
        return None
    numpy = imported[0].removesuffix(".asarray")
    edits: list[Edit] = [*imported[1]]
    for call in (node, *(ctx.node(place) for place in fact.others)):
        edit = _renamed(call, jnp, numpy, ctx)
        if edit is None:
            return None
        edits.append(edit)
    same = serve([fact.place, *fact.others], jnp, ctx)
    kind = Applicability.UNSAFE if same else Applicability.DISPLAY
    return Fix("Make the values with numpy", kind, tuple(edits))


def _renamed(call: cst.CSTNode | None, jnp: str, numpy: str, ctx: Context) -> Edit | None:
    import libcst as cst

    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return None
    around = next(ctx.parents(call), None)
    if isinstance(around, cst.Attribute) and around.attr.value in _JAX_ONLY:
        return None
    if ctx.focus.code(call.func.value) != jnp or call.func.attr.value not in _IN_NUMPY:
        return None
    return ctx.replace(call.func.value, numpy)
