"""The other program of our name.

The distribution `jaxlint` on PyPI is unrelated to this one (`jax-linter`), but installs the same import
package and command and reads the same settings table. Whoever has both deserves to be told.
"""

from __future__ import annotations

NAME = "jaxlint"


def notice() -> str | None:
    """What to tell a user who has the other program installed, else None. Slow: for error paths only."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(NAME)
    except PackageNotFoundError:
        return None
    return (
        f"the distribution `{NAME}` {found} is installed too: an unrelated program that uses the same import"
        f" package and the same [tool.{NAME}] table. Uninstall it, then reinstall `jax-linter`."
    )
