"""Bytes for people."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def shown(size: int) -> str:
    """Such as `864.0 MiB`; MiB up to 10,000 of them, as allocators and error messages are compared in MiB."""
    value, unit = float(abs(size)), 0
    while value >= (10_000 if unit == 2 else 1024) and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    sign = "-" if size < 0 else ""
    return f"{sign}{int(value)} B" if unit == 0 else f"{sign}{value:,.1f} {_UNITS[unit]}"


def share(part: int, whole: int) -> str:
    """Such as `92%`."""
    return f"{100 * part / whole:.0f}%" if whole else "0%"
