"""What --confirm made of a finding, behind its message, for the forms that have no place of their own for that."""

from __future__ import annotations

from jaxlint.finding import Finding


def verdicts(finding: Finding) -> str:
    """ " [confirmed on cuda:h100: 30,578 MiB as written, ...]", on one line; "" where nothing was tested."""
    if not finding.confirm:
        return ""
    from jaxlint.confirm.wording import lines

    return "".join(f" [{lines(verdict)[0]}]" for verdict in finding.confirm)
