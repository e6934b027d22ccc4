"""How a boundary is told to donate: the option's text, and the edit that adds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from jaxlint.finding import Applicability, Edit, Fix, Span
from jaxlint.flow.facts import Boundary, BoundaryUse, Kind, Operand, SharedArguments
from jaxlint.pattern import pattern

from ._attribute_holders import attribute_held
from ._fresh import made_for
from ._holders import held_elsewhere

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

Slot: TypeAlias = str | int  # a parameter's name, or its position where the name is not known

# Python numbers, and numpy arrays, of which the device gets a copy.
_NOT_DONATED = (Kind.CONSTANT, Kind.SCALAR, Kind.SHAPE, Kind.HOST)
# Optimisers of optax whose state begins with the parameters' own arrays: both cannot be donated.
_SHARING = pattern(r"\b(scale_by_)?lbfgs\b|\bschedule_free|\blookahead\b|\bcontrib\b")


def slot(value: Operand) -> Slot | None:
    """The parameter that an argument fills."""
    return value.parameter or value.index


def ordered(boundary: Boundary, slots: Iterable[Slot]) -> list[Slot]:
    """Slots as the signature has them."""
    names = [parameter.name for parameter in boundary.parameters]
    return sorted(
        slots, key=lambda s: (s if isinstance(s, int) else names.index(s) if s in names else 99, str(s))
    )


def option(boundary: Boundary, slots: Sequence[Slot], uses: Sequence[BoundaryUse], ctx: Context) -> str:
    """The keyword argument that donates these parameters."""
    if boundary.flavour == "filter":
        return f'donate="{"all-except-first" if _kept(boundary, uses, ctx) == {0} else "all"}"'
    names = [parameter.name for parameter in boundary.parameters]
    # Of a parameter that takes no name `donate_argnames` would donate nothing: arguments are looked up by it.
    unnamed = {parameter.name for parameter in boundary.parameters if parameter.positional_only}
    if boundary.flavour == "pmap" or any(isinstance(s, int) or s in unnamed for s in slots):
        numbers = [
            s if isinstance(s, int) else names.index(s) for s in slots if isinstance(s, int) or s in names
        ]
        return f"donate_argnums={_literal(map(str, numbers))}"
    return f"donate_argnames={_literal(chr(34) + str(s) + chr(34) for s in slots)}"


def applicability(
    boundary: Boundary, slots: Sequence[Slot], uses: Sequence[BoundaryUse], ctx: Context
) -> Applicability | None:
    """Whether the option donates these parameters and no other that somebody may still need: then it can be
    added, else it is to be thought about. None where it would be wrong."""
    if not slots or "" in slots:
        return None
    calls = {use.place for use in uses}
    if any(shared.place in calls for shared in ctx.facts(SharedArguments)):
        return None  # the runtime refuses to donate one array twice, or to read it beside that
    if any(_is_held(use, name, ctx) for use in uses for name in use.rebinds):
        return Applicability.DISPLAY
    given = ((value, use) for use in uses for value in use.arguments if slot(value) in slots)
    if any(value.name not in use.rebinds and _may_be_needed(value, use, ctx) for value, use in given):
        return Applicability.DISPLAY  # another call passes what it goes on using
    if len(slots) > 1 and _SHARING.search(ctx.source):
        return Applicability.DISPLAY
    if boundary.flavour == "filter":
        exact = bool(uses) and _kept(boundary, uses, ctx) <= {0}
        return Applicability.UNSAFE if exact else Applicability.DISPLAY
    return Applicability.UNSAFE if boundary.flavour != "pmap" or not boundary.in_class else None


def _is_held(use: BoundaryUse, name: str, ctx: Context) -> bool:
    return attribute_held(name.rpartition(".")[2], ctx) if "." in name else held_elsewhere(use, name, ctx)


def fix(boundary: Boundary, text: str, kind: Applicability, ctx: Context) -> Fix | None:
    """Add the option to the decorator or the jit call, in whichever form it is written."""
    import libcst as cst

    node = ctx.node(boundary.place)
    if isinstance(node, cst.Call) and node.args and _is_jit(node, boundary, ctx):
        edits: tuple[Edit, ...] = (_another_argument(node, text, ctx),)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        made = _configured(ctx.text(boundary.place), boundary, text, ctx)
        if made is None:
            return None
        edits = (ctx.replace(node, made[0]), *made[1])
    else:
        return None
    return Fix(f"Add {text}", kind, edits)


def _configured(
    spelled: str, boundary: Boundary, text: str, ctx: Context
) -> tuple[str, tuple[Edit, ...]] | None:
    """A bare boundary with the option, the way the file configures others."""
    if boundary.flavour == "filter":
        return f"{spelled}({text})", ()
    # `@jax.jit(donate_argnames=...)` decorates from jax 0.8 on: a file that writes so already runs there.
    if re.search(rf"^\s*@{re.escape(spelled)}\(\s*\w+\s*=", ctx.source, re.MULTILINE):
        return f"{spelled}({text})", ()
    imported = ctx.importing("functools.partial")
    return (f"{imported[0]}({spelled}, {text})", imported[1]) if imported is not None else None


def _kept(boundary: Boundary, uses: Sequence[BoundaryUse], ctx: Context) -> set[int]:
    """Positions that get an array which somebody may still need: a method's object, for one."""
    names = [parameter.name for parameter in boundary.parameters]
    own = {0} if boundary.in_class or any(use.receiver is not None for use in uses) else set()
    return own | {
        names.index(value.parameter) if value.parameter in names else value.index or 0
        for use in uses
        for value in use.arguments
        if value.name not in use.rebinds and _may_be_needed(value, use, ctx)
    }


def _may_be_needed(value: Operand, use: BoundaryUse, ctx: Context) -> bool:
    """All but what is no device array, and what was made for this call and is not read later."""
    if value.kind in _NOT_DONATED:
        return False
    if value.name is None or "." in value.name or value.name in use.reads_after:
        return True
    return not made_for(use.place, value.name, ctx)


def _is_jit(call: cst.Call, boundary: Boundary, ctx: Context) -> bool:
    """The call is the library's own, or a `partial` of it: a project's wrapper may not take the option."""
    head = ctx.focus.code(call.func)
    if head == ctx.spell("functools.partial") and call.args:
        head = ctx.focus.code(call.args[0].value)
    return head == ctx.spell(boundary.api) or head.rpartition(".")[2] == boundary.api.rpartition(".")[2]


def _another_argument(call: cst.Call, text: str, ctx: Context) -> Edit:
    """One more keyword argument, on a line of its own where the last one is on one."""
    last = ctx.span(call.args[-1])
    line = ctx.focus.lines[last.line - 1]
    indent = line[: last.column - 1]
    gap = f"\n{indent}" if not indent.strip() and last.line > ctx.span(call).line else " "
    return Edit(Span(last.end_line, last.end_column, last.end_line, last.end_column), f",{gap}{text}")


def _literal(items: Iterable[str]) -> str:
    items = list(items)
    return items[0] if len(items) == 1 else f"({', '.join(items)})"
