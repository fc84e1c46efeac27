"""Engines by name. Each takes a problem and returns the same facts, or says why it cannot."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from gpu.errors import EngineUnavailable
from gpu.pack import fact_offsets
from gpu.problem import Problem
from gpu.solution import Solution
from gpu.threads import threads_wanted

Check = Callable[[], None]
Solve = Callable[[Problem, Check], Solution]


def _cpu(problem: Problem, check: Check) -> Solution:
    from gpu import cpu  # compiles kernels, or loads them

    return cpu.solve(problem, check)


def _reference(problem: Problem, check: Check) -> Solution:
    from gpu import reference

    return reference.solve(problem, check)


def _cuda(problem: Problem, check: Check) -> Solution:
    from gpu.cuda import production

    return production.solve(problem, check)


def _rung(name: str) -> Solve:
    def solve(problem: Problem, check: Check) -> Solution:
        from gpu.cuda import ladder

        return ladder.solve(problem, name, check)  # type: ignore[arg-type]

    return solve


ENGINES: dict[str, Solve] = {
    "cpu": _cpu,
    "reference": _reference,
    "cuda": _cuda,
    **{f"cuda:{name}": _rung(name) for name in ("plain", "mat", "grp", "mer")},
}
"""Engines of this version."""
AUTO = ("cpu", "reference")
"""Those that `auto` tries, in this order; before them `cuda` where it is expected to win."""


def cuda_pays(problem: Problem) -> bool:
    """Whether `auto` tries the engine `cuda`: there is a driver, and the problem is of the size in `crossover.json`."""
    if not any(Path(name).exists() for name in ("/dev/nvidiactl", "/dev/dxg", "/dev/nvgpu")) and os.name != "nt":
        return False
    crossover = json.loads((Path(__file__).parent / "crossover.json").read_text("utf-8"))
    fact_bytes = int(fact_offsets(problem)[1][-1]) * 8
    return len(problem.scc_off) > int(crossover["components"]) or fact_bytes > int(crossover["fact_bytes"])


def device(name: str) -> str:
    """What an engine runs on, for people; empty for a name that is none."""
    if name == "cpu":
        threads = threads_wanted()
        return f"{threads} CPU thread{'s' if threads > 1 else ''}"
    if name.startswith("cuda") and name in ENGINES:
        from gpu.cuda.device import missing, simulated

        if lacks := missing():
            return "unavailable: needs " + ", and ".join(lacks)
        return "Numba's CUDA simulator" if simulated() else "CUDA device"
    return "one CPU core, plain Python" if name == "reference" else ""


def solve(problem: Problem, name: str = "auto", check: Check = lambda: None) -> Solution:
    """Solves a problem with an engine; `auto` takes the first that can.

    Raises:
        EngineUnavailable: there is no such engine here; the message says why.
    """
    return choose(name, problem, check)[1]


def choose(name: str, problem: Problem, check: Check = lambda: None) -> tuple[str, Solution]:
    """As `solve`, and the name of the engine that did it."""
    if name == "auto":
        reasons = []
        for candidate in (*(("cuda",) if cuda_pays(problem) else ()), *AUTO):
            try:
                return candidate, ENGINES[candidate](problem, check)
            except EngineUnavailable as error:
                reasons.append(f"{candidate}: {error}")
        raise EngineUnavailable("; ".join(reasons))
    if name not in ENGINES:
        raise EngineUnavailable(f"no engine named {name!r} in this version; there is {', '.join(ENGINES)}")
    return name, ENGINES[name](problem, check)
