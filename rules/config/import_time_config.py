"""JAX505: importing a library changes jax's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Fix, Related
from jaxlint.flow.facts import ConfigChange
from jaxlint.rule import Rule

from . import _at_import as at_import
from . import _consent as consent
from . import _options as options

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_OF_THE_CACHE = ("jax_persistent_cache_", "jax_enable_compilation_cache")


class ImportTimeConfig(Rule):
    """Any option but those with a rule of their own, set by a library's import."""

    def suspect(self, fact: ConfigChange) -> bool:
        if fact.how != "config.update" or not fact.at_import or not consent.is_imposed(fact):
            return False
        if fact.follows_parameter and not fact.value_known:
            return False  # what the caller asks for: a setting, a command-line flag
        return not options.turns_on_x64(fact) and not options.turns_on_cache(fact)

    def check(self, fact: ConfigChange, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if consent.is_chosen(node, ctx) or _from_environment(node, ctx) or _is_part_of_cache(fact, ctx):
            return
        if options.is_default(fact, ctx.jax_version):
            return
        place = at_import.statement(fact)
        yield self.finding(
            fact,
            f"Importing this module sets `{fact.option}` for the whole process, and for every library in it. "
            "Leave that to the program, or offer a function that the program calls.",
            place=place,
            related=[Related(fact.place, "the option is set here")] if place != fact.place else [],
            fix=_opt_in(node, ctx) if place == fact.place else None,
        )


def _from_environment(node: cst.CSTNode | None, ctx: Context) -> bool:
    """The value comes out of the user's own environment variable."""
    return node is not None and any(word in ctx.focus.code(node) for word in ("environ", "getenv"))


def _is_part_of_cache(fact: ConfigChange, ctx: Context) -> bool:
    """A threshold of the cache that the same import turns on: JAX502 is about both."""
    if not fact.option.startswith(_OF_THE_CACHE):
        return False
    return any(
        change.at_import and options.turns_on_cache(change) and consent.is_imposed(change)
        for change in ctx.facts(ConfigChange)
    )


def _opt_in(node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The change itself as a function, where it is a statement of the module."""
    import libcst as cst

    if not isinstance(node, cst.Call):
        return None
    change = ", ".join(ctx.focus.code(argument).rstrip().rstrip(",") for argument in node.args)
    return consent.opt_in(node, ctx, "configure_jax()", "Set options of jax, for the whole process.", change)
