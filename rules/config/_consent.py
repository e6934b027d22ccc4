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
_READS = pattern(r"environ|getenv")
_ON = pattern(r"(environ\.get|getenv)\([^()]*,\s*(True|[\"'](1|true|True|yes|on)[\"'])\s*\)")
_ASKS_NOTHING = pattern(r"\bnot\b|\bNone\b|\bconfig\.(read|jax_)")
_IS_GIVEN = pattern(r"\bis not None\b")
# Decorators of click, typer, cyclopts and hydra: somebody types the function's name in a shell.
_COMMANDS = pattern(r"@[\w.]*\b(command|group|callback|default|hydra\.main|main)\b")
_PARSES = pattern(r"\bparse_(known_)?args\(|\b(tyro\.cli|fire\.Fire)\(")
_PROGRAMS = frozenset({"main", "_main", "cli", "entry_point", "entrypoint"})


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
    return (
        name not in _PROGRAMS
        and not fact.follows_parameter
        and (bool(fact.called_from) or not _announces(name))
    )


def _announces(name: str) -> bool:
    if name.startswith("__"):
        return False
    words = re.findall(r"[a-z]+\d*|\d+", name.lower())
    return bool(words) and (words[0] in _VERBS or not _SUBJECTS.isdisjoint(words))


def is_chosen(node: cst.CSTNode | None, ctx: Context) -> bool:
    """The statement stands under `if os.environ.get("...")` or `if settings.double`, or in the function that is a
    command: somebody asks for it."""
    import libcst as cst

    around = list(ctx.parents(node)) if node else []
    tests = [ctx.focus.code(p.test) for p in around if isinstance(p, cst.If)]
    if any(_asks(test, ctx) and not _is_on_unless_told(test, ctx) for test in tests):
        return True
    function = next((p for p in around if isinstance(p, cst.FunctionDef)), None)
    return function is not None and _is_command(function, ctx)


def _asks(test: str, ctx: Context) -> bool:
    given = _IS_GIVEN.sub("", test).strip()
    if _ASKS_NOTHING.search(given):
        return False
    is_own_name = given != test and given.isidentifier()  # `cache_dir is not None`, whatever it was bound to
    return (not is_own_name and bool(_ASKS.search(given))) or any(map(_READS.search, _bound(given, ctx)))


def _is_command(function: cst.FunctionDef, ctx: Context) -> bool:
    """It is called from a shell: installed or decorated as a command, or parsing what was typed."""
    if function.name.value in ctx.commands:
        return True
    return any(_COMMANDS.match(ctx.focus.code(d).strip()) for d in function.decorators) or bool(
        _PARSES.search(ctx.focus.code(function))
    )


def _is_on_unless_told(test: str, ctx: Context) -> bool:
    """`os.environ.get("LIB_X64", "true") == "true"`, or a name that was bound to that: nobody has to ask."""
    return any(_ON.search(text) for text in (test, *_bound(test, ctx)))


def _bound(test: str, ctx: Context) -> list[str]:
    """What the names in a test were bound to."""
    names = dict.fromkeys(re.findall(r"(?<![\w.\"'])[A-Za-z_]\w*(?![\w.(\"'])", test))
    return [
        text
        for name in names
        for text in re.findall(rf"^\s*{name}\s*(?::[^=\n]*)?=[^=](.*)$", ctx.focus.source, re.MULTILINE)
    ]


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
