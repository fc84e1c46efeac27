"""`python -m gpu`, on a machine that has just NumPy and Numba.

`solve problem.npz [--engine NAME]` is `gdroid solve`; `ptx` compiles the CUDA kernels and says what they take.
"""

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
    ptx = commands.add_parser("ptx", help="compile all CUDA kernels without a device; print what they take")
    ptx.add_argument("--engine", action="append", help="only this one; may be given several times")
    options = parser.parse_args(arguments)
    if options.command == "ptx":
        return _ptx(options.engine)
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


def _ptx(wanted: list[str] | None) -> int:
    """Prints a table in Markdown, a line for each kernel and compute capability."""
    from gpu.cuda import ptx

    print("| engine | kernel | capability | registers | stack | spill stores | spill loads | shared | PTX |")
    print("|---|---|---|---|---|---|---|---|---|")
    try:
        for found in ptx.report(lambda engine: not wanted or engine in wanted):
            major, minor = found.capability
            print(
                f"| {found.engine} | {found.kernel} | {major}.{minor} | {found.registers} | {found.stack_bytes} B "
                f"| {found.spill_stores} B | {found.spill_loads} B | {found.shared_bytes} B "
                f"| {found.ptx_bytes / 1e3:,.0f} kB |",
                flush=True,
            )
    except GdroidError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
