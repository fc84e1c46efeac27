"""A problem that is solved part by part has the facts of the whole."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu import cpu, reference
from gpu.part import Parts
from gpu.problem import APPLY, Problem
from tests.gpu.random_problems import random_problem
from tests.laws.profiles import examples

SEEDS = st.integers(0, 2**48)
APKS = Path(__file__).resolve().parents[2] / "apks"


@cache
def app_problem(name: str) -> Problem:
    from gdroid import app
    from gdroid.options import Options

    return app.load(APKS / f"{name}.apk", Options()).problem()


def random_parts(problem: Problem, rng: random.Random) -> list[list[int]]:
    """Components, cut anywhere; parts of one component most often."""
    parts: list[list[int]] = [[]]
    for c in range(len(problem.scc_off) - 1):
        if parts[-1] and rng.random() < 0.6:
            parts.append([])
        parts[-1].append(c)
    return parts


@examples(20)
@given(seed=SEEDS)
def test_the_parts_of_a_problem_have_the_facts_of_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    problem = random_problem(rng)
    expected = reference.solve(problem)
    for solve in (reference.solve, cpu.solve):
        parts = Parts(problem)
        for components in random_parts(problem, rng):
            part = parts.cut(components)
            part.problem.validate()
            parts.put(part, solve(part.problem))
        assert parts.solution().digest() == expected.digest()


@pytest.mark.parametrize("name", ["Recursion_Bad", "ManyTargets_Bad"])
def test_the_parts_of_an_app_have_the_facts_of_the_whole(name: str) -> None:
    problem = app_problem(name)
    parts = Parts(problem)
    for components in random_parts(problem, random.Random(name)):
        part = parts.cut(components)
        part.problem.validate()
        parts.put(part, cpu.solve(part.problem, threads=1))
    assert parts.solution().digest() == cpu.solve(problem).digest()


def test_a_part_holds_what_it_uses_and_no_more() -> None:
    problem = app_problem("Recursion_Bad")
    parts = Parts(problem)
    parts.put(whole := parts.cut(range(len(problem.scc_off) - 1)), cpu.solve(whole.problem))
    sizes = [len(parts.cut([c]).problem.op_kind) for c in range(len(problem.scc_off) - 1)]
    assert sum(sizes) == len(problem.op_kind)
    part = parts.cut([len(problem.scc_off) - 2])
    assert set(part.outside.tolist()) == set(np.unique(problem.app_summary[_applications(problem, part.methods)]))
    assert len(part.problem.link_off) < len(problem.link_off)


def test_a_part_whose_callees_are_not_solved_is_refused() -> None:
    problem = app_problem("Recursion_Bad")
    with pytest.raises(ValueError, match="not solved yet"):
        Parts(problem).cut([len(problem.scc_off) - 2])
    with pytest.raises(ValueError, match="not solved yet"):
        Parts(problem).solution()


def _applications(problem: Problem, methods: np.ndarray) -> list[int]:
    """Applications in some methods, of summaries that are not theirs."""
    found = []
    for m in methods:
        for b in range(problem.block_off[m], problem.block_off[m + 1]):
            for op in range(problem.op_off[b], problem.op_off[b + 1]):
                if problem.op_kind[op] == APPLY:
                    call = problem.op_dst[op]
                    found += range(problem.call_off[call], problem.call_off[call + 1])
    return [a for a in found if problem.app_summary[a] not in methods]
