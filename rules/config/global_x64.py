"""JAX501: a library turns on 64-bit mode for the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Finding, Related
from jaxlint.flow.facts import ConfigChange
from jaxlint.rule import Rule, Severity

from . import _consent as consent
from . import _options as options

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

_SCOPED_SINCE = (0, 8)  # `jax.enable_x64`; `jax.experimental.enable_x64` before


class GlobalX64(Rule):
    """`jax_enable_x64` is set by a library, at import or as a side effect."""

    def suspect(self, fact: ConfigChange) -> bool:
        if not options.turns_on_x64(fact):
            return False
        ignored = fact.how == "environ" and fact.after_jax_import is not None  # JAX503 says so
        return consent.is_imposed(fact) and not ignored

    def check(self, fact: ConfigChange, node: cst.CSTNode | None, ctx: Context) -> Iterator[Finding]:
        if consent.is_chosen(node, ctx):
            return
        scoped = (
            "jax.enable_x64(True)" if ctx.jax_version >= _SCOPED_SINCE else "jax.experimental.enable_x64()"
        )
        remedy = f"or use `with {scoped}:` where it is needed."
        if fact.how == "config attribute":
            message = (
                "Assigning `jax.config.jax_enable_x64` raises AttributeError: the option has no setter. "
                f"Leave 64-bit mode to the program, {remedy}"
            )
        elif fact.at_import:
            message = (
                "Importing this module turns on 64-bit mode for the whole process: all arrays of whoever "
                f"imports it become float64. Leave that to the program, {remedy}"
            )
        else:
            message = (
                f"`{fact.symbol}` turns on 64-bit mode for the whole process, unasked: arrays made "
                f"afterwards become float64 everywhere. Let the caller choose, {remedy}"
            )
        yield self.finding(
            fact,
            message,
            severity=Severity.ERROR if fact.at_import else Severity.WARNING,
            related=[Related(call, "called here") for call in fact.called_from[:3]],
            fix=consent.opt_in(
                node,
                ctx,
                "use_float64()",
                "Turn on 64-bit mode, for the whole process and all its arrays.",
                '"jax_enable_x64", True',
            ),
        )
