"""Mechanical edits of small programs: those that keep a hazard, and those that bring one in.

An edit takes the text of a module and a random generator and gives the modules of the new program by file name,
or None where it does not apply. What it makes need not be pretty, but it must mean what the original meant, or,
for a hazard-introducing edit, only be worse.
"""

from __future__ import annotations

import random
from collections.abc import Callable

Edit = Callable[[str, random.Random], "dict[str, str] | None"]
MAIN = "program.py"
