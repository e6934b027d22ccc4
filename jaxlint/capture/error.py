"""What can be wrong with an input: one sentence for the person who gave it."""

from __future__ import annotations


class CaptureError(Exception):
    """An input that cannot be read. The text names it and says why, and what to do where something helps."""
