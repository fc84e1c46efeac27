"""`gdroid encode`: the problem that engines solve, as arrays in a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gdroid.cli import output, progress
from gdroid.cli.shared import all_code_option, existing


@click.command("encode")
@click.argument("app")
@click.option("-o", "--output", "file", metavar="FILE", required=True, help="The .npz file to write.")
@all_code_option
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
def command(app: str, file: str, all_code: bool, quiet: bool) -> None:
    """Write the app's encoded problem, for `gdroid solve`."""
    path, target = existing(Path(app)), Path(file)
    output.writable(target)

    from gdroid import app as apps
    from gdroid.options import Options

    with progress.shown(path.name, wanted=not quiet) as callback:
        problem = apps.load(path, Options(progress=callback, all_code=all_code)).problem()
        output.write_with(target, problem.save)
    if not quiet:
        print(f"wrote {target}", file=sys.stderr)
