"""`python -m jaxlint`."""

import gc
import sys

from jaxlint.cli import main


def program() -> int:
    """The command line as a program of its own, which ends when this returns; `main` may be called again."""
    status = main()
    gc.freeze()  # or the interpreter would look for garbage at its end: a tenth of a run
    return status


if __name__ == "__main__":
    sys.exit(program())
