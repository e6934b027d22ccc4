"""Words for where a value comes from, as `Origin.word`, that more than one module asks for."""

from __future__ import annotations

# For values that are read off data or drawn: new in each call of the code that makes them.
RANDOM = "random number"
RANDOM_TEXT = "random text"
LEN_OF_ANOTHER = "len of another"  # thing each time: they may all be of one length
ROUNDS = "rounds"  # that a loop with an open end went
DRAWN = frozenset(
    {
        *("item", "int of array", "float of array", RANDOM, RANDOM_TEXT, "clock", "identifier", "counter"),
        *("len", LEN_OF_ANOTHER, ROUNDS),
    }
)

ACCUMULATOR = "accumulator"  # what a loop counts up

# Why a shape varies.
BOUND, SIZE, LENGTH, FEW = "slice bound", "size", "list length", "few sizes"
PARTIAL, PERHAPS_PARTIAL = "last partial batch", "possibly partial batch"
UNEVEN, PERHAPS_UNEVEN = "uneven parts", "possibly uneven parts"
