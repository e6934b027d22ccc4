"""Sizes as logs write them and as people read them."""

from __future__ import annotations

import re

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}

# `2.69GiB`, `1234 MiB`, `18.5G`, `12 kB`: decimal units are read as binary ones, as nvidia-smi, XLA, free and
# the kernel mean them.
SIZE = r"(?P<{0}>[\d.]+) ?(?P<{0}_unit>(?:[KkMmGgTtPp]i?)?[Bb]?(?:ytes)?)\b"
_SIZE = re.compile(SIZE.format("size"))


def size(number: str, unit: str) -> int:
    """Bytes of a number with a unit. Raises ValueError."""
    return int(float(number) * 2 ** _UNITS[unit[:1].lower() if unit[:1].lower() != "b" else ""])


def parse(text: str) -> int | None:
    """Bytes of `2.69GiB` and the like, None where it is no size."""
    found = _SIZE.fullmatch(text.strip())
    try:
        return size(found["size"], found["size_unit"]) if found else None
    except ValueError:
        return None


def shown(number: float) -> str:
    """Bytes for people: 2.69 GiB."""
    sign, number = ("-", -number) if number < 0 else ("", number)
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while number >= 1024 and len(units) > 1:
        number /= 1024
        del units[0]
    unit = units[0]
    return f"{sign}{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{sign}{number:.3g} {unit}"
