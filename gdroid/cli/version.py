"""`gdroid version`."""

from __future__ import annotations

import click

from gdroid import __version__
from gdroid.cli.output import emit


@click.command("version")
def command() -> None:
    """Print the version."""
    emit(f"gdroid {__version__}\n")
