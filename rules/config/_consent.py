"""Who asked for a change of jax's configuration, and the function that lets a caller ask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Fix
from jaxlint.flow.facts import ConfigChange, ModuleRole
from jaxlint.pattern import pattern

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_VERBS = frozenset(
    {"enable", "set", "use", "configure", "setup", "init", "initialize", "initialise", "activate", "turn"}
)
_SUBJECTS = frozenset({"x64", "float64", "f64", "fp64", "double", "precision", "cache", "config"})
_ASKS = pattern(r"environ|getenv|(?<![a-z])(x64|float64|f64|fp64|double|precision|cache)(?![a-z0-9])")
_ON = pattern(r"(environ\.get|getenv)\([^()]*,\s*(True|[\"'](1|true|True|yes|on)[\"'])\s*\)")
_ASKS_NOTHING = pattern(r"\bnot\b|\bNone\b|\bconfig\.(read|jax_)")


def is_imposed(fact: ConfigChange) -> bool:
    """A library changes the configuration of the whole process and nobody asked it to.

    A program may do what it likes, and so may a function whose parameter or whose name says what it does,
    as long as the library itself does not call it.
    """
    if fact.role is not ModuleRole.LIBRARY or fact.in_main_guard:
        return False
    if fact.at_import:
        return True
    name = fact.symbol.rpartition(".")[2]
    return name != "main" and not fact.follows_parameter and (bool(fact.called_from) or not _announces(name))


def _announces(name: str) -> bool:
    if name.startswith("__"):
        return False
    words = re.findall(r"[a-z]+\d*|\d+", name.lower())
    return bool(words) and (words[0] in _VERBS or not _SUBJECTS.isdisjoint(words))


def is_chosen(node: cst.CSTNode | None, ctx: Context) -> bool:
    """The statement stands under `if os.environ.get("...")` or `if settings.double`: somebody asks for it."""
    import libcst as cst

    tests = [ctx.focus.code(p.test) for p in ctx.parents(node) if isinstance(p, cst.If)] if node else []
    return any(
        _ASKS.search(test) and not _ASKS_NOTHING.search(test) and not _is_on_unless_told(test, ctx)
        for test in tests
    )


def _is_on_unless_told(test: str, ctx: Context) -> bool:
    """`os.environ.get("LIB_X64", "true") == "true"`, or a name that was bound to that: nobody has to ask."""
    bound = (
        re.findall(rf"^\s*{test}\s*=[^=](.*)$", ctx.focus.source, re.MULTILINE) if test.isidentifier() else []
    )
    return any(_ON.search(text) for text in (test, *bound))


def opt_in(node: cst.CSTNode | None, ctx: Context, signature: str, purpose: str, change: str) -> Fix | None:
    """Advice: in place of a statement of the module, a function that the program calls if it wants to.

    `change` are the arguments of `jax.config.update`.
    """
    import libcst as cst

    update = ctx.spell("jax.config.update")
    if node is None or update is None:
        return None
    around = [node, *ctx.parents(node)]
    statement = next((p for p in around if isinstance(p, cst.SimpleStatementLine)), None)
    if statement is None or not isinstance(next(ctx.parents(statement), None), cst.Module):
        return None
    text = f'def {signature} -> None:\n    """{purpose}"""\n    {update}({change})'
    return Fix(
        f"Let the program choose: `{signature}`", Applicability.DISPLAY, (ctx.replace(statement, text),)
    )
