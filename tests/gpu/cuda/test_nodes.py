"""A problem per node has the same solution, for any problem, and locals share frame slots."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu import cpu
from gpu.cuda.nodes import per_node
from gpu.problem import APPLY, VALUE, Problem
from tests.gpu.cuda.problems import MAKERS
from tests.gpu.random_problems import random_problem
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.generate import generate
from tests.programs.solving import solve as solve_program


def assert_same_solution(problem: Problem) -> None:
    nodes = per_node(problem)
    found = cpu.solve(nodes.problem)
    expected = cpu.solve(problem)
    same = nodes.solution(found.facts, found.summary_words)
    for m in range(problem.n_methods):
        assert same.rows[m] == expected.rows[m], f"rows of method {m}"
        assert same.heads[m] == expected.heads[m], f"heads of method {m}"
    assert same.digest() == expected.digest()


@pytest.mark.parametrize("name", MAKERS)
def test_tiny_problems_have_the_same_solution_per_node(name: str) -> None:
    assert_same_solution(MAKERS[name]())


@examples(60)
@given(seed=st.integers(0, 2**48), odd_links=st.booleans())
def test_random_problems_have_the_same_solution_per_node(seed: int, odd_links: bool) -> None:
    assert_same_solution(random_problem(random.Random(seed), odd_links=odd_links))


@examples(40)
@given(seed=st.integers(0, 2**48))
def test_programs_have_the_same_solution_per_node(seed: int) -> None:
    program = solve_program(generate(random.Random(seed), most_methods=6), list(limits.ALL.values())[seed % 2])
    assert_same_solution(program.encoded.problem)


def test_a_node_has_at_most_one_operation() -> None:
    for name in ("merge", "many nodes", "substitution"):
        problem = MAKERS[name]()
        new = per_node(problem).problem
        assert np.diff(new.op_off).max() == 1
        assert np.count_nonzero(new.op_kind == APPLY) == np.count_nonzero(problem.op_kind == APPLY)
        assert len(new.op_kind) == len(problem.op_kind)


def test_values_that_are_never_live_together_share_a_slot() -> None:
    """The first three values die one after the other, and so do the next two; the sixth is written in two places."""
    problem = MAKERS["shared slots"]()
    nodes = per_node(problem)
    values = nodes.row_at[:6]
    assert nodes.n_slots[0] == 1 and len(set(values[:5].tolist())) == 1
    assert nodes.read_at[5] == -1 and np.count_nonzero(nodes.problem.row_kind == VALUE) == 1


def test_a_value_that_meets_itself_in_a_loop_keeps_what_the_loop_brings() -> None:
    problem = MAKERS["phi"]()
    found = cpu.solve(problem)
    nodes = per_node(problem)
    assert (nodes.read_at[:4] >= 0).all()
    assert list(found.rows[0])[:5] == [0b1, 0b11, 0b11, 0b10, 0b11]
    assert_same_solution(problem)


def test_sample_apps_have_the_same_solution_per_node(apks: Path) -> None:
    from gdroid import app
    from gdroid.options import Options

    for path in sorted(apks.glob("*.apk"))[::8]:
        problem = app.load(path, Options()).problem()
        assert_same_solution(problem)
        nodes = per_node(problem)
        assert nodes.n_slots.sum() < np.count_nonzero(problem.row_kind == VALUE)
