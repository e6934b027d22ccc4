"""How far a run of --confirm is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Bar(NamedTuple):
    """`say` shows what is being done, `advance` that one claim more is judged."""

    say: Callable[[str], None]
    advance: Callable[[], None]


@contextmanager
def bar(total: int) -> Iterator[Bar]:
    """A bar of so many claims on stderr, which is gone when the block is left."""
    if not sys.stderr.isatty():
        yield Bar(lambda text: None, lambda: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=total)

        def say(text: str) -> None:
            progress.update(task, description=text)

        yield Bar(say, lambda: progress.advance(task))
