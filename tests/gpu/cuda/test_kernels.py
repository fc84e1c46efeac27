"""The kernels of the CUDA engines, built for one CPU thread, agree with the reference: the same functions, at speed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu import cpu, reference
from gpu.cuda import ladder, production
from gpu.problem import Problem
from tests.gpu.cuda.problems import MAKERS
from tests.gpu.random_problems import random_problem
from tests.laws.profiles import examples

LADDER = ladder.Options("sequential", counting=True, pool_bytes=1 << 12)
PRODUCTION = production.Options("sequential")
STRICT = replace(PRODUCTION, small_width=0, slices=3, budget=100)
"""Everything is a team's, and the host starts the kernel again and again."""

Rung = Literal["plain", "mat", "grp", "mer"]


def assert_all_agree(problem: Problem) -> None:
    expected = cpu.solve(problem).digest()
    rungs: tuple[Rung, ...] = ("plain", "mer")
    for rung in rungs:
        assert ladder.Ladder(problem, rung, LADDER).run()[0].digest() == expected, rung
    for options in (PRODUCTION, STRICT):
        assert production.solve(problem, options=options).digest() == expected


@pytest.mark.parametrize("name", MAKERS)
def test_kernels_agree_on_tiny_problems(name: str) -> None:
    problem = MAKERS[name]()
    assert_all_agree(problem)
    assert reference.solve(problem).digest() == cpu.solve(problem).digest()


@examples(40)
@given(seed=st.integers(0, 2**48), odd_links=st.booleans())
def test_kernels_agree_on_random_problems(seed: int, odd_links: bool) -> None:
    assert_all_agree(random_problem(random.Random(seed), odd_links=odd_links))


def test_kernels_agree_on_sample_apps(apks: Path) -> None:
    from gdroid import app
    from gdroid.options import Options

    problems = [app.load(path, Options()).problem() for path in sorted(apks.glob("*.apk"))[::6]]
    for problem in problems:
        assert_all_agree(problem)
    together = list(production.solve_many(problems, options=PRODUCTION))
    assert [found.digest() for found in together] == [cpu.solve(problem).digest() for problem in problems]
    small = replace(PRODUCTION, batch_bytes=200_000)
    apart = list(production.solve_many(problems, options=small))
    assert [found.digest() for found in apart] == [found.digest() for found in together]


def test_a_method_whose_matrices_do_not_fit_is_left_out_and_counted() -> None:
    problem = MAKERS["chain of calls"]()
    found, counters = ladder.Ladder(problem, "mer", replace(LADDER, method_bytes=0)).run()
    assert counters.left_out == 4 and counters.visits == 0
    assert found.digest() == reference.solve(problem).digest()
    mixed = 0
    rungs: tuple[Rung, ...] = ("plain", "mer")
    for seed in range(20):
        problem = random_problem(random.Random(seed))
        for rung in rungs:
            found, counters = ladder.Ladder(problem, rung, replace(LADDER, method_bytes=2000)).run()
            assert found.digest() == cpu.solve(problem).digest()
            mixed += 0 < counters.left_out < problem.n_methods
    assert mixed > 4


def test_merging_puts_nodes_off_and_loses_none() -> None:
    problem = MAKERS["many nodes"]()
    options = replace(LADDER, warp=2)
    found, merged = ladder.Ladder(problem, "mer", options).run()
    assert found.digest() == reference.solve(problem).digest()
    assert merged.postponed > 0 and merged.longest >= 6
    assert merged.warp_kinds == merged.warps, "each warp holds one access kind"


def test_sets_of_facts_grow_until_they_fit() -> None:
    problem = MAKERS["three words"]()
    found, counters = ladder.Ladder(problem, "plain", replace(LADDER, pool_bytes=64)).run()
    assert found.digest() == reference.solve(problem).digest()
    assert counters.fact_bytes > 64


class Stop(Exception):
    """Raised by a check."""


def test_a_check_that_raises_stops_the_run() -> None:
    def check() -> None:
        raise Stop

    with pytest.raises(Stop):
        production.solve(MAKERS["merge"](), check, STRICT)
    with pytest.raises(Stop):
        ladder.solve(MAKERS["merge"](), "mer", check, LADDER)
