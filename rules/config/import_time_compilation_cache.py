"""JAX502: a library turns on the persistent compilation cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import ConfigChange
from jaxlint.rule import Rule

from . import _at_import as at_import
from . import _consent as consent
from . import _options as options

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context


class ImportTimeCompilationCache(Rule):
    """Importing or using a library makes the whole process write its compiled programs to disk."""

    def suspect(self, fact: ConfigChange) -> bool:
        ignored = fact.how == "environ" and fact.after_jax_import is not None  # JAX503 says so
        return options.turns_on_cache(fact) and not ignored and consent.is_imposed(fact)

    def check(self, fact: ConfigChange, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if consent.is_chosen(node, ctx) or _is_judged_at_import(fact, ctx):
            return
        if fact.at_import:
            message = (
                "Importing this module turns on the compilation cache of the whole process, in a directory "
                "that the program did not choose. Put it into a function that the program calls."
            )
        else:
            message = (
                f"`{fact.symbol}` turns on the compilation cache of the whole process, unasked. "
                "Let the caller choose the directory."
            )
        place = at_import.statement(fact) if fact.at_import else fact.place
        yield self.finding(
            fact,
            message,
            place=place,
            related=[
                *([Related(fact.place, "the cache is turned on here")] if place != fact.place else []),
                *(Related(call, "called here") for call in fact.called_from[:3] if call != place),
            ],
            fix=consent.opt_in(
                ctx.node(place),
                ctx,
                "use_compilation_cache(directory: str)",
                "Keep compiled programs in a directory, for the whole process.",
                '"jax_compilation_cache_dir", directory',
            ),
        )


def _is_judged_at_import(fact: ConfigChange, ctx: Context) -> bool:
    """The module itself calls the function that this fact lies in: that call is what is reported."""
    same = (other for other in ctx.facts(ConfigChange) if other.place == fact.place)
    return not fact.at_import and any(other.at_import for other in same)
