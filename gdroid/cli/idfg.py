"""`gdroid idfg`: the data-flow graph with its facts, as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdroid.cli import output, progress
from gdroid.cli.shared import all_code_option, engine_option, existing
from gpu.errors import WrongConfiguration

FORMATS = ("npz", "graphml", "json")


@click.command("idfg")
@click.argument("app")
@click.option("-o", "--output", "file", metavar="FILE", help="Default: the app's name with .idfg.npz, in this folder.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: the suffix of FILE, or npz.")
@engine_option
@all_code_option
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
def command(app: str, file: str | None, form: str | None, engine: str | None, all_code: bool, quiet: bool) -> None:
    """Write the app's inter-procedural data-flow graph."""
    path = existing(Path(app))
    target = Path(file) if file is not None else Path(f"{path.stem}.idfg.{form or 'npz'}")
    form = form or target.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise WrongConfiguration(f"-o {target}: the suffix says no format; use one of {', '.join(FORMATS)}")
    output.writable(target)

    from gdroid import app as apps
    from gdroid.options import Options

    with progress.shown(path.name, wanted=not quiet) as callback:
        graph = apps.load(path, Options(engine=engine or "auto", progress=callback, all_code=all_code)).idfg(
            engine=engine or "auto"
        )
        output.write_with(target, lambda temporary: graph.write(temporary, form))
    if not quiet:
        print(f"wrote {target}", file=sys.stderr)
