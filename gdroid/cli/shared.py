"""Options and checks that several commands have in common."""

from __future__ import annotations

from pathlib import Path

import click

from gdroid.config import ENGINES
from gpu.errors import UnreadableInput


def positive(_: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Callback of an option that takes a number over zero, of the option's type."""
    if value is not None and not 0 < value < float("inf"):
        raise click.BadParameter(f"{value} is not positive and finite", param=option)
    return value


engine_option = click.option(
    "--engine", type=click.Choice(ENGINES), metavar="NAME", help="auto (default), cuda, cpu, reference, cuda:plain, …"
)


all_code_option = click.option(
    "--all-code", is_flag=True, help="Look into AndroidX, OkHttp and such too, not only at their models."
)


def existing(path: Path) -> Path:
    """The path, if there is something to read."""
    if not path.exists():
        raise UnreadableInput(f"{path}: no such file")
    return path
