"""The worked suggestion of JAX204: a print that runs with the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_suggestions import function, rewritten, suggestion

PRINTS = [
    ('print("loss", x)', 'jax.debug.print("loss {}", x)'),
    ("print(x, y)", 'jax.debug.print("{} {}", x, y)'),
    ("print(f'{x:.2f} of {y * 2}')", 'jax.debug.print("{:.2f} of {}", x, y * 2)'),
    ('print("set {1}:", x)', 'jax.debug.print("set {{1}}: {}", x)'),
]


@pytest.mark.parametrize(("before", "after"), PRINTS, ids=[before for before, _ in PRINTS])
def test_print(before: str, after: str, tmp_path: Path) -> None:
    assert rewritten("JAX204", function(before, "return x"), tmp_path) == function(after, "return x")


@pytest.mark.parametrize("line", ["print(x, sep='')", "print(*[x, y])", "print('a\\n', x)", "pprint(x)"])
def test_no_suggestion_for_what_debug_print_cannot_say(line: str, tmp_path: Path) -> None:
    source = "from pprint import pprint\n\n\n" + function(line, "return x")
    assert suggestion("JAX204", source, tmp_path) is None
