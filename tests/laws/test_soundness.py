"""Whatever a run of a program sees is in the IDFG, under every limit (semantics.md, section 8)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.limits import Limits
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.generate import generate
from tests.programs.interpreter import Interpreter, Unsound
from tests.programs.reduce import reduce_text
from tests.programs.solving import solve

RUNS = 12


def fault(text: str, bound: Limits, runs: int = RUNS) -> str | None:
    """What some run of the program sees that the IDFG lacks."""
    solved = solve(text, bound)
    for seed in range(runs):
        try:
            Interpreter(solved, seed, surprise=0.02 * (seed % 2)).run()
        except Unsound as unsound:
            return str(unsound)
    return None


def check(text: str, bound: Limits) -> None:
    """Fails with the smallest program that shows the fault."""
    found = fault(text, bound)
    if found is None:
        return

    def fails(smaller: str) -> bool:
        try:
            return fault(smaller, bound, 2 * RUNS) is not None
        except (SyntaxError, KeyError):
            return False

    small = reduce_text(text, fails)
    pytest.fail(f"{fault(small, bound, 2 * RUNS) or found}\nunder {bound} in\n{small}")


@pytest.mark.parametrize("name", limits.ALL)
@examples(40)
@given(seed=st.integers(0, 2**48))
def test_what_runs_see_is_in_the_idfg(name: str, seed: int) -> None:
    check(generate(random.Random(seed)), limits.ALL[name])


@pytest.mark.parametrize("name", limits.ALL)
@examples(6)
@given(seed=st.integers(0, 2**48))
def test_what_runs_of_larger_programs_see_is_in_the_idfg(name: str, seed: int) -> None:
    check(generate(random.Random(seed), most_methods=9, most_statements=14), limits.ALL[name])
