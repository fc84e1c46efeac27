"""A progress bar on standard error, where a person sees it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdroid.options import Progress


@contextmanager
def shown(subject: str, *, wanted: bool = True) -> Iterator[Progress | None]:
    """The callback that draws the bar; None where standard error is no terminal, or nobody wants it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from gdroid.report.escape import visible

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(subject, 60), total=None)

        def progress(phase: str, done: int, total: int) -> None:
            bar.update(
                task, description=f"{visible(subject, 60)}: {visible(phase)}", completed=done, total=total or None
            )

        yield progress
