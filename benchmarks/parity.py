"""Whether all engines give the same facts, and what each costs: one row per app.

    python benchmarks/parity.py app.apk problem.npz ...

Apps are encoded first (slow), encoded problems are taken as they are. Each engine solves in a process of its own, with
kernels loaded beforehand; `MB` is how much its memory grew at most while it solved. `--repeats` runs the fast engines
more often and takes the least time. Exit code 1 if any two digests differ.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu import cpu, reference  # noqa: E402  (after the path is set)
from gpu.problem import Problem  # noqa: E402
from gpu.solution import Solution  # noqa: E402

Engine = Callable[[Problem], Solution]


def engines(threads: int, with_reference: bool) -> dict[str, Engine]:
    """What is compared, by the name of its column."""
    found: dict[str, Engine] = {
        "cpu": partial(cpu.solve, threads=1),
        f"cpu x{threads}": partial(cpu.solve, threads=threads),
    }
    if with_reference:
        found["reference"] = reference.solve
    return found


def load(path: Path) -> Problem:
    """An encoded problem, or that of an app."""
    if path.suffix == ".npz":
        return Problem.load(path)
    from gdroid import app
    from gdroid.options import Options

    return app.load(path, Options()).problem()


def memory_mb(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (highest) of this process."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(engine: Engine, problem: Problem, repeats: int, answer: Connection) -> None:
    """Solves, and sends (digest, facts, least seconds, MB)."""
    Path("/proc/self/clear_refs").write_text("5")  # the highest memory so far is forgotten
    before = memory_mb("VmRSS")
    seconds: list[float] = []
    solution = None
    for _ in range(repeats):
        del solution
        start = time.perf_counter()
        solution = engine(problem)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > 2:
            break
    peak = memory_mb("VmHWM")
    assert solution is not None
    answer.send((solution.digest(), solution.n_facts, min(seconds), peak - before))


def in_own_process(engine: Engine, problem: Problem, repeats: int) -> tuple[str, int, float, float]:
    """`measure` in a child process."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=measure, args=(engine, problem, repeats, sender))
    child.start()
    sender.close()
    try:
        found: tuple[str, int, float, float] = receiver.recv()
    finally:
        child.join()
    return found


def main() -> int:
    """Compares and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="apps, or problems that `gdroid encode` wrote")
    parser.add_argument("--threads", type=int, default=2, help="threads of the second run of the engine cpu")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each engine that takes less than two seconds")
    parser.add_argument("--no-reference", action="store_true", help="compare the fast engines only")
    options = parser.parse_args()
    columns = engines(options.threads, not options.no_reference)
    head = "".join(f"{name + ' s':>12}{'MB':>8}" for name in columns)
    print(f"{'app':34}{'methods':>9}{'facts':>12}{head}{'ratio':>8}")
    different = []
    for path in options.files:
        problem = load(path)
        rows = [in_own_process(engine, problem, options.repeats) for engine in columns.values()]
        cells = "".join(f"{seconds:12.4f}{mb:8.1f}" for _, _, seconds, mb in rows)
        ratio = rows[-1][2] / min(row[2] for row in rows)
        same = len({row[:2] for row in rows}) == 1
        if not same:
            different.append(path.name)
        verdict = "" if same else "  DIFFERENT"
        print(f"{path.stem[:33]:34}{problem.n_methods:9}{rows[0][1]:12}{cells}{ratio:8.1f}{verdict}", flush=True)
    print("all digests are equal" if not different else "digests differ: " + ", ".join(different))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
