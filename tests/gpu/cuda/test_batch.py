"""Problems side by side are one problem, and its solution is theirs."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gpu import batch, cpu
from tests.gpu.random_problems import random_problem
from tests.laws.profiles import examples


@examples(60)
@given(seed=st.integers(0, 2**48), count=st.integers(1, 5))
def test_a_joined_problem_has_the_solutions_of_its_parts(seed: int, count: int) -> None:
    problems = [random_problem(random.Random(seed + i)) for i in range(count)]
    joined = batch.join(problems)
    joined.validate()
    assert joined.n_methods == sum(problem.n_methods for problem in problems)
    found = batch.split(cpu.solve(joined), problems)
    assert [one.digest() for one in found] == [cpu.solve(problem).digest() for problem in problems]
