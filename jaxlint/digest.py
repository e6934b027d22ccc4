"""What stands for a content in the cache."""

from __future__ import annotations

try:  # the module behind hashlib's function, without the cost of loading OpenSSL
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(*parts: bytes | str) -> str:
    """128 bits, in hexadecimal, of texts; each counts by itself (`"ab", "c"` is not `"a", "bc"`)."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()
