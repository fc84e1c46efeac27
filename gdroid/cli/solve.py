"""`gdroid solve`: the facts of an encoded problem, counted and digested."""

from __future__ import annotations

import time
from pathlib import Path

import click

from gdroid.cli import output
from gdroid.cli.shared import engine_option, existing


@click.command("solve")
@click.argument("problem")
@engine_option
def command(problem: str, engine: str | None) -> None:
    """Solve an encoded problem and print a digest of all facts.

    PROBLEM is a file that `gdroid encode` wrote. Facts and digest are the same for every engine.
    """
    path = existing(Path(problem))

    from gpu import engine as engines
    from gpu.problem import Problem

    loaded = Problem.load(path)
    start = time.perf_counter()
    name, solution = engines.choose(engine or "auto", loaded)
    seconds = time.perf_counter() - start
    output.emit(f"facts    {solution.n_facts}\ndigest   {solution.digest()}\nengine   {name}\nseconds  {seconds:.3f}\n")
