"""`gdroid facts`: a method's statements, with what may hold before each."""

from __future__ import annotations

from pathlib import Path

import click

from gdroid.cli import output, progress
from gdroid.cli.shared import all_code_option, engine_option, existing


def _pc(_: click.Context, option: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        pc = int(value, 0)
    except ValueError:
        pc = -1
    if pc < 0:
        raise click.BadParameter(f"{value!r} is not a pc, such as 12 or 0xc", param=option)
    return pc


@click.command("facts")
@click.argument("app")
@click.argument("method")
@click.option("--at", "pc", callback=_pc, metavar="PC", help="Only before this instruction, in 16-bit units.")
@click.option("--concrete", is_flag=True, help="With the values that callers bring in place of formals.")
@engine_option
@all_code_option
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
def command(
    app: str, method: str, pc: int | None, concrete: bool, engine: str | None, all_code: bool, quiet: bool
) -> None:
    """Print a method's statements and what may hold before each.

    METHOD is a signature as in smali: 'La/b/C;->name(I)V'.
    """
    path = existing(Path(app))

    from gdroid import app as apps
    from gdroid.options import Options
    from gdroid.report.escape import visible

    with progress.shown(path.name, wanted=not quiet) as callback:
        text = apps.load(path, Options(engine=engine or "auto", progress=callback, all_code=all_code)).facts_text(
            method, pc, concrete
        )
    output.emit("".join(visible(line, longest=10_000) + "\n" for line in text.splitlines()))
