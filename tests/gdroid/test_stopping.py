"""An analysis that is stopped at any moment of the shape pass still encodes, solves and reports what it has."""

from __future__ import annotations

import random

import pytest

from gdroid.budget import Budget, OutOfBudget
from tests.programs.generate import generate
from tests.programs.solving import Solved, solve

TABLE = """
    class A { Object f; A g; }
    lib class L {
      static A v;
      A held;
      static A mk() { A a = new A(); a.f = source(); if (*) { L.mk(); } return a; }
      static void set(L l) { l.held = L.mk(); L.v = l.held; }
      static void k() { sink(L.v.f); L.v.g = L.v; sink(L.v.g.f); }
    }
    class Main { static void main() { L.set(new L()); L.k(); L.v = new A(); L.k(); } }
"""


def stopped(text: str, after: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Solved, bool]:
    """Facts of a program whose analysis is out of time at a look at the clock; whether there were as many looks."""
    looks = 0

    def check(self: Budget) -> None:
        nonlocal looks
        looks += 1
        if looks == after:
            raise OutOfBudget("wall_time_s")

    with monkeypatch.context() as patch:
        patch.setattr(Budget, "check", check)
        try:
            return solve(text), looks >= after
        except OutOfBudget:  # past the shape pass: the report has no facts then
            return solve(text), False


@pytest.mark.parametrize("text", [TABLE, *(generate(random.Random(seed)) for seed in range(3))])
def test_what_is_done_when_time_is_over_can_be_solved(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = solve(text).findings()
    after, more = 1, True
    while more:
        partial, more = stopped(text, after, monkeypatch)
        assert partial.findings() <= whole
        after += 1 + after // 8
    assert after > 4
