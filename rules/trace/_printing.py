"""A print of a traced value as one that runs with the program: a worked suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Fix

from ._tracing import api_name

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


def debug_print(node: cst.CSTNode, ctx: Context) -> Fix | None:
    """`jax.debug.print` with the same text, for a plain `print` of texts, f-strings and values."""
    import libcst as cst

    if not isinstance(node, cst.Call) or ctx.focus.code(node.func) != "print":
        return None
    if any(argument.keyword is not None or argument.star for argument in node.args):
        return None
    texts: list[str] = []
    values: list[str] = []
    for argument in node.args:
        value = argument.value
        if isinstance(value, cst.SimpleString) and isinstance(value.evaluated_value, str):
            texts.append(_literal(value.evaluated_value))
        elif isinstance(value, cst.FormattedString):
            texts.append(_formatted(value, values, ctx))
        else:
            texts.append("{}")
            values.append(ctx.focus.code(value))
    text = " ".join(texts)
    if not text.isprintable() or '"' in text or "\\" in text:
        return None
    arguments = ", ".join(['"' + text + '"', *values])
    call = f"{api_name('jax.debug.print', ctx)}({arguments})"
    return Fix("Print when the program runs", Applicability.DISPLAY, (ctx.replace(node, call),))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _formatted(node: cst.FormattedString, values: list[str], ctx: Context) -> str:
    """The text of an f-string with a hole for each of its expressions."""
    import libcst as cst

    text = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            values.append(ctx.focus.code(part.expression))
            spec = "".join(ctx.focus.code(s) for s in part.format_spec or ())
            text += f"{{:{spec}}}" if spec else "{}"
        else:
            text += ctx.focus.code(part)
    return text
