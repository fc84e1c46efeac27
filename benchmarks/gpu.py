"""The CUDA engines on a device: correct or not, the ladder's ratios, production against both, batches, transfers.

    python benchmarks/gpu.py problem.npz ... [--save]      on a machine with NumPy, Numba and numba-cuda
    python benchmarks/gpu.py --dry-run                     all steps in Numba's simulator, on problems made here

Problem files are made by `gdroid encode`. Digests of the CPU engine decide what is correct. The ladder and production
run on the same problems, after a run that compiles; times are the best of --repeats runs. The ladder's ratios, and
those of production to it, are of launches alone, without copies; `cpu_s` and `cuda_s` are of whole solves, packing,
copies and all. With --dry-run times mean nothing and are not saved.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
RUNGS = ("plain", "mat", "grp", "mer")


def best(act: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Least seconds of some runs, and the last result."""
    seconds, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = act()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Least, median and largest."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values)} if values else {}


def ladder_of(problem: Any, digest: str, repeats: int, limit_s: float, done: list[str]) -> dict[str, Any]:
    """Each rung on one problem: seconds, counters, whether it is right. Slow rungs are left out from then on."""
    from dataclasses import replace

    from gpu.cuda import ladder

    found: dict[str, Any] = {}
    for rung in RUNGS:
        if rung in done:
            continue
        options = ladder.default_options()
        made = ladder.Ladder(problem, rung, options)  # type: ignore[arg-type]
        made.run()  # compiles
        seconds = []
        for _ in range(repeats):
            solution, _ = made.run()
            seconds.append(made.seconds)
        _, counters = ladder.Ladder(problem, rung, replace(options, counting=True)).run()  # type: ignore[arg-type]
        found[rung] = {"seconds": min(seconds), "right": solution.digest() == digest, **counters._asdict()}
        if min(seconds) > limit_s:
            done.append(rung)
    return found


def measure(problems: dict[str, Any], repeats: int, limit_s: float) -> dict[str, Any]:
    """Everything, as it goes into the results."""
    from gpu import cpu
    from gpu.cuda import production

    results: dict[str, Any] = {"problems": {}}
    digests, too_slow = {}, list[str]()
    for name, problem in problems.items():
        one: dict[str, Any] = {"methods": problem.n_methods, "bytes": production.problem_bytes(problem)}
        one["cpu_s"], solution = best(lambda problem=problem: cpu.solve(problem), repeats)
        digests[name] = solution.digest()
        production.solve(problem)  # compiles
        one["cuda_s"], solution = best(lambda problem=problem: production.solve(problem), repeats)
        one["cuda_right"] = solution.digest() == digests[name]
        one["kernel_s"] = min(launch(problem)["kernel_s"] for _ in range(repeats))
        one["ladder"] = ladder_of(problem, digests[name], repeats, limit_s, too_slow)
        results["problems"][name] = one
        print(f"{name}: cpu {one['cpu_s']:.4f} s, cuda {one['cuda_s']:.4f} s", *(
            f"{rung} {value['seconds']:.4f} s" for rung, value in one["ladder"].items()), flush=True)  # fmt: skip
    results["ratios"] = ratios(results["problems"])
    results["batch"] = batch(problems, digests, repeats)
    results["crossover"] = crossover(results["problems"])
    results["transfer"] = launch(max(problems.values(), key=production.problem_bytes))
    return results


def ratios(measured: dict[str, Any]) -> dict[str, Any]:
    """How many times faster, per problem: each rung than the one before, production than the last one and the CPU."""
    found = {}
    for slow, fast in itertools.pairwise(RUNGS):
        both = [one["ladder"] for one in measured.values() if slow in one["ladder"] and fast in one["ladder"]]
        found[f"{slow} / {fast}"] = spread([one[slow]["seconds"] / one[fast]["seconds"] for one in both])
    last = [one for one in measured.values() if RUNGS[-1] in one["ladder"]]
    found["mer / cuda"] = spread([one["ladder"]["mer"]["seconds"] / one["kernel_s"] for one in last])
    found["cpu / cuda"] = spread([one["cpu_s"] / one["cuda_s"] for one in measured.values()])
    return found


def batch(problems: dict[str, Any], digests: dict[str, str], repeats: int) -> dict[str, Any]:
    """All problems in as few launches as memory allows, against the CPU engine on all cores, one after the other."""
    from gpu import cpu
    from gpu.cuda import production

    cuda_s, found = best(lambda: list(production.solve_many(problems.values())), repeats)
    cpu_s, _ = best(lambda: [cpu.solve(problem) for problem in problems.values()], repeats)
    right = [solution.digest() for solution in found] == list(digests.values())
    return {"problems": len(problems), "cuda_s": cuda_s, "cpu_s": cpu_s, "ratio": cpu_s / cuda_s, "right": right}


def crossover(measured: dict[str, Any]) -> dict[str, Any]:
    """The least problem, in methods and bytes, from which on production wins on every larger one."""
    ordered = sorted(measured.values(), key=lambda one: int(one["bytes"]))
    won: dict[str, Any] = {}
    for one in reversed(ordered):
        if one["cuda_s"] >= one["cpu_s"]:
            break
        won = {"methods": one["methods"], "bytes": one["bytes"]}
    return won


def launch(problem: Any) -> dict[str, float]:
    """Seconds to the device, of the kernel, and back; share of the first and the last; bytes of facts per second."""
    from gpu.cuda import production
    from gpu.cuda.device import Device

    options = production.default_options()
    device = Device(options.platform)
    start = time.perf_counter()
    made = production.Batch(device, [problem], options, device.free() // 3)
    device.wait()
    sent = time.perf_counter()
    made.start()
    made.finish(lambda: None)
    solved = time.perf_counter()
    made.results(lambda: None)
    back = time.perf_counter()
    size = int(made.packed.fact_off[-1]) * 8
    return {
        "pack_and_send_s": sent - start, "kernel_s": solved - sent, "back_s": back - solved,
        "share": 1 - (solved - sent) / (back - start), "fact_bytes_per_kernel_s": size / (solved - sent),
    }  # fmt: skip


def machine() -> dict[str, Any]:
    """What it ran on."""
    import numba
    import numpy as np

    from gpu.cuda.device import simulated

    found = {"cores": len(os.sched_getaffinity(0)), "platform": platform.platform()}
    found |= {"python": platform.python_version(), "numba": numba.__version__, "numpy": np.__version__}
    if simulated():
        return {**found, "device": "Numba's CUDA simulator"}
    from numba import cuda

    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    return {**found, "device": name, "capability": list(device.compute_capability)}


def tiny_problems() -> dict[str, Any]:
    """Chains of methods that return a new object and what the ones before them return; written out by hand."""
    from tests.gpu.cuda.problems import MAKERS

    return {name: MAKERS[name]() for name in ("merge", "chain of calls", "mutual recursion", "two words")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", type=Path, help="files that `gdroid encode` wrote")
    parser.add_argument("--dry-run", action="store_true", help="in the simulator, on tiny problems")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds from which on a rung is left out afterwards")
    parser.add_argument("--save", action="store_true", help="to benchmarks/results/")
    options = parser.parse_args()
    if options.dry_run:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    from gpu.cuda.device import missing
    from gpu.problem import Problem

    if lacks := missing():
        print("needs " + ", and ".join(lacks), file=sys.stderr)
        return 2
    if not options.dry_run and not options.problems:
        parser.error("name problem files, or --dry-run")
    problems = tiny_problems() if options.dry_run else {path.stem: Problem.load(path) for path in options.problems}
    date = datetime.datetime.now(datetime.UTC)
    results = {"date": date.isoformat(timespec="seconds"), "machine": machine()}
    results |= measure(problems, 1 if options.dry_run else options.repeats, options.limit)
    print(json.dumps({name: value for name, value in results.items() if name != "problems"}, indent=1))
    if options.save and not options.dry_run:
        (ROOT / "benchmarks/results").mkdir(exist_ok=True)
        file = ROOT / "benchmarks/results" / f"gpu-{date:%Y-%m-%d-%H%M%S}.json"
        file.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        print(f"saved {file}")
    wrong = [
        name for name, one in results["problems"].items()
        if not one["cuda_right"] or not all(rung["right"] for rung in one["ladder"].values())
    ]  # fmt: skip
    if wrong or not results["batch"]["right"]:
        print(f"WRONG: {', '.join(wrong) or 'batch'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
