"""Solves the tiny problems in Numba's CUDA simulator, which is chosen for a whole process; prints what went wrong.

NUMBA_ENABLE_CUDASIM=1 python -m tests.gpu.cuda.simulate ENGINE
"""

from __future__ import annotations

import sys
from dataclasses import replace

from gpu import reference
from gpu.cuda import ladder, production
from tests.gpu.cuda.problems import MAKERS


def main(engine: str) -> int:
    wrong = []
    for name, make in MAKERS.items():
        problem = make()
        if engine == "cuda":
            # Teams from two steps on, and small limits of what a lane solves alone, so that both are at work.
            options = replace(production.default_options(), worth=2, small_work=12, budget=300)
            found = production.solve(problem, options=options)
        else:
            small = replace(ladder.default_options(), pool_bytes=1 << 12, counting=True)
            found, counters = ladder.Ladder(problem, engine.partition(":")[2], small).run()
            assert counters.visits > 0
        if found.digest() != reference.solve(problem).digest():
            wrong.append(name)
    if engine == "cuda":
        problems = [MAKERS[name]() for name in ("merge", "mutual recursion", "substitution")]
        together = production.solve_many(problems)
        for problem, found in zip(problems, together, strict=True):
            if found.digest() != reference.solve(problem).digest():
                wrong.append("several in one launch")
    print(f"{len(MAKERS)} problems; wrong: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
