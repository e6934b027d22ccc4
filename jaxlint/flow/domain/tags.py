"""What else may be known of a value: tags, of which it can have several."""

from __future__ import annotations

from jaxlint.flow.facts import Tag

# Tags are plain integers: the analysis compares them millions of times.
BOOLEAN_MASK = int(Tag.BOOLEAN_MASK)
DATA_SHAPE = int(Tag.DATA_SHAPE)
GROWN = int(Tag.GROWN)
FRESH = int(Tag.FRESH)
UPDATED = int(Tag.UPDATED)
SMALL = int(Tag.SMALL)
BOUNDED = int(Tag.BOUNDED)
RAGGED = int(Tag.RAGGED)
TEXT = int(Tag.TEXT)
ZERO_DIM = int(Tag.ZERO_DIM)
TOGETHER = int(Tag.TOGETHER)
MEMBER = int(Tag.MEMBER)
# Marks of a loop in its rehearsal, not a fact's business: a name the loop carries round, and what arithmetic
# made of one.
CARRIED = 1 << 16
MOVED = 1 << 17
WEAK = 1 << 18  # a container that holds its keys or values weakly
LOW = 1 << 19  # floats of 16 bits or fewer
NO_FLOATS = 1 << 27  # no array of floats, on one side of a test: all of its floats are LOW
COPIED = 1 << 28  # a copy on the host of an array on the device, see host_memory.copied
LENGTHENED = 1 << 20  # concatenated from parts that have a path, see flow.growth
EVEN = 1 << 23  # another stretch of something each time, or another text of `size` letters, but of one length
NOTHING_OR = 1 << 22  # None on one path, an array, a tree or an object on another

# Of what is traced for a call with a weak argument, see flow.weak_types.
STRONG = 1 << 24  # has a dtype of its own
WEAK_TYPED = 1 << 25  # takes the dtype of what it meets
INTEGER = 1 << 26  # of integers
TYPES = STRONG | WEAK_TYPED | INTEGER

SHAPED = DATA_SHAPE | RAGGED | GROWN  # the shape is not the same each time
