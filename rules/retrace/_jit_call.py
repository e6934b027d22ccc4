"""The call that makes a boundary, with less in it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


def without(
    call: cst.Call, keywords: Collection[str], entries: Collection[str | int | None], ctx: Context
) -> str | None:
    """A jit call of which these keywords no longer list these entries, as short as that allows.

    None where what they list is not literal, or comments stand in the call.
    """
    if "#" in ctx.focus.text(ctx.span(call)):
        return None
    arguments = [_reduced(argument, keywords, entries, ctx) for argument in call.args]
    if None in arguments:
        return None
    return _call(ctx.focus.code(call.func), [argument for argument in arguments if argument])


def _reduced(
    argument: cst.Arg, keywords: Collection[str], entries: Collection[str | int | None], ctx: Context
) -> str | None:
    """An argument without some entries: "" when none is left, None if not literal."""
    import libcst as cst

    code = ctx.focus.code(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT))
    if argument.keyword is None or argument.keyword.value not in keywords:
        return code
    try:
        listed = ast.literal_eval(ctx.focus.code(argument.value))
    except ValueError:
        return None
    all_listed = listed if isinstance(listed, (tuple, list)) else (listed,)
    kept = tuple(entry for entry in all_listed if entry not in entries)
    if len(kept) == len(all_listed):
        return code
    shown = ", ".join(f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in kept)
    single = "," if len(kept) == 1 else ""
    return f"{argument.keyword.value}=({shown}{single})" if kept else ""


def _call(function: str, arguments: list[str]) -> str:
    """The jit call with these arguments, as short as they allow."""
    if not arguments:
        return function  # `@jax.jit()` is `@jax.jit`
    if len(arguments) == 1 and function.rpartition(".")[2] == "partial":
        return arguments[0]
    return f"{function}({', '.join(arguments)})"
