"""`python -m gpu solve problem.npz [--engine NAME]`: as `gdroid solve`, on a machine that has just NumPy and Numba."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from gpu import engine as engines
from gpu.errors import GdroidError, UnreadableInput
from gpu.problem import Problem


def main(arguments: list[str] | None = None) -> int:
    """Solves a problem and prints what was found; the exit code is that of `gdroid solve`."""
    parser = argparse.ArgumentParser(prog="python -m gpu", description="Solves an encoded problem.")
    commands = parser.add_subparsers(dest="command", required=True)
    solve = commands.add_parser("solve", help="print number and digest of all facts")
    solve.add_argument("problem", type=Path, help="a file that `gdroid encode` wrote")
    solve.add_argument("--engine", default="auto", help="auto (default), " + ", ".join(engines.ENGINES))
    options = parser.parse_args(arguments)
    try:
        problem = Problem.load(options.problem)
        start = time.perf_counter()
        name, solution = engines.choose(options.engine, problem)
        seconds = time.perf_counter() - start
    except GdroidError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 3 if isinstance(error, UnreadableInput) else 2
    print(f"facts    {solution.n_facts}\ndigest   {solution.digest()}\nengine   {name}\nseconds  {seconds:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
