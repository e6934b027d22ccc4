"""Where a version control repository begins: what paths in reports and diffs are relative to."""

from __future__ import annotations

import os


def top_of(directory: str) -> str:
    """The top of the git repository around a directory (absolute), "" where there is none."""
    while not os.path.exists(os.path.join(directory, ".git")):  # a file, in worktrees and submodules
        parent = os.path.dirname(directory)
        if parent == directory:
            return ""
        directory = parent
    return directory
