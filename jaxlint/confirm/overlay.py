"""A project with one file replaced: the fixed source where imports find it, everything else as it is."""

from __future__ import annotations

import os
import shutil
import tempfile

_PACKAGE = "__init__.py"


class Overlay:
    """A temporary directory that stands for the import root of a file.

    Along the way from the root to the file there are real directories, all else are links to the original. So
    relative imports, data files beside the code and compiled extensions are found, and nothing is copied but
    the way. Use it as a context; `root` goes in front of sys.path and `file` is the replaced file.
    """

    def __init__(self, file: str, text: str, encoding: str = "utf-8") -> None:
        """`file` is absolute. Raises OSError where nothing can be written."""
        self._directory = tempfile.mkdtemp(prefix="jaxlint-")
        original = import_root(file)
        self.root = os.path.join(self._directory, os.path.basename(original) or "root")
        self.file = os.path.join(self.root, os.path.relpath(file, original))
        try:
            self._link(original, self.root, os.path.relpath(file, original).split(os.sep))
            with open(self.file, "w", encoding=encoding, newline="") as stream:
                stream.write(text)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Overlay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the directory. The links go, what they lead to stays."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _link(self, original: str, copy: str, way: list[str]) -> None:
        os.mkdir(copy)
        first, *rest = way
        for name in os.listdir(original):
            if name not in (first, "__pycache__"):
                os.symlink(os.path.join(original, name), os.path.join(copy, name))
        if rest:
            self._link(os.path.join(original, first), os.path.join(copy, first), rest)


def import_root(file: str) -> str:
    """The directory that has to be on sys.path for a file to be importable: above its packages."""
    directory = os.path.dirname(file)
    while os.path.isfile(os.path.join(directory, _PACKAGE)) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def module_name(file: str) -> str:
    """The dotted name of a file below its import root."""
    relative = os.path.relpath(file, import_root(file))
    parts = os.path.splitext(relative)[0].split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
