"""A replay by kernels gives the states and the paths of the plain one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu import paths, reference, replay
from gpu.problem import APPLY, CHILD, CONSTANT, GENERATE, LOAD, OR, ROOT, STORE, TO_CELLS
from gpu.solution import START, Hop, Solution
from tests.gpu.random_problems import random_problem
from tests.gpu.test_engines import APKS, SEEDS, Tiny, app_problem
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.generate import generate
from tests.programs.solving import solve as solve_program


def assert_same_paths(solution: Solution, rng: random.Random, most: int = 40) -> int:
    """Compares paths of some facts, and of some that do not hold; how many of them have hops."""
    plain, compiled, p = paths.Replay(solution), replay.Replay(solution), solution.problem
    found = 0
    for _ in range(most):
        m = rng.randrange(p.n_methods)
        rows, columns = int(p.row_off[m + 1] - p.row_off[m]), int(p.col_off[m + 1] - p.col_off[m])
        if rows and columns:
            place = m, rng.randrange(columns), rng.randrange(rows)
            hops = plain.path(*place)
            assert compiled.path(*place) == hops, place
            found += bool(hops)
    return found


def assert_same_states(solution: Solution, rng: random.Random, most: int = 20) -> None:
    plain, compiled, p = paths.Replay(solution), replay.Replay(solution), solution.problem
    for _ in range(most):
        m = rng.randrange(p.n_methods)
        block = rng.choice(sorted(plain.reached(m)))
        first = int(p.block_off[m]) + block
        before = rng.randint(0, int(p.op_off[first + 1] - p.op_off[first]))
        assert compiled.state_at(m, block, before) == plain.state_at(m, block, before), (m, block, before)


@pytest.mark.parametrize("path", APKS[::8], ids=lambda path: path.stem)
def test_replays_agree_on_sample_apps(path: Path) -> None:
    solution = reference.solve(app_problem(path))
    assert assert_same_paths(solution, random.Random(1), 300) > 10
    assert_same_states(solution, random.Random(1))


@examples(40)
@given(seed=SEEDS, bound=st.sampled_from(list(limits.ALL.values())))
def test_replays_agree_on_generated_programs(seed: int, bound: limits.Limits) -> None:
    solution = solve_program(generate(random.Random(seed), most_methods=6), bound).solution
    assert_same_paths(solution, random.Random(seed))
    assert_same_states(solution, random.Random(seed))


@examples(100)
@given(seed=SEEDS, odd_links=st.booleans())
def test_replays_agree_on_random_problems(seed: int, odd_links: bool) -> None:
    solution = reference.solve(random_problem(random.Random(seed), odd_links=odd_links))
    assert_same_paths(solution, random.Random(seed))
    assert_same_states(solution, random.Random(seed))


@examples(10)
@given(seed=SEEDS)
def test_replays_agree_on_wide_random_problems(seed: int) -> None:
    solution = reference.solve(random_problem(random.Random(seed), most_columns=300))
    assert_same_paths(solution, random.Random(seed))
    assert_same_states(solution, random.Random(seed))


def paths_of(tiny: Tiny, column: int, row: int) -> list[Hop]:
    """Hops in the only method, by both."""
    solution = reference.solve(tiny.problem())
    found = replay.Replay(solution).path(0, column, row)
    assert found == paths.Replay(solution).path(0, column, row)
    return found


def test_a_path_begins_where_the_token_is_made_and_takes_the_earlier_of_equal_ways() -> None:
    t = Tiny()
    t.summary([], [])
    ops = [(GENERATE, 0, 0), (OR, 2, 0), (OR, 1, 0), (OR, 3, 1), (OR, 3, 2)]
    t.method(1, (4, 0, 0), [([(kind, dst, src, -1, -1, []) for kind, dst, src in ops], [])])
    assert paths_of(t, 0, 3) == [Hop(START, 0, 0), Hop(0, 1, 2), Hop(1, 3, 3)]


def test_a_token_that_is_there_on_entry_has_no_hops() -> None:
    t = Tiny()
    t.summary([], [])
    t.method(1, (2, 0, 0), [([(OR, 1, 0, -1, -1, [])], [])], entry=((0, 0),))
    assert paths_of(t, 0, 0) == [] and paths_of(t, 0, 1) == [Hop(0, 1, 0)]


def test_a_path_goes_through_a_cell_that_holds_the_token_just_then() -> None:
    """Heap rows 3 and 4 are cells of objects 0 and 1; the first is cleared before it is read again."""
    t = Tiny()
    link = t.link((0, 3), (1, 4))
    t.summary([], [])
    ops = [
        (STORE, 1, 0, link, -1, []),
        (LOAD, 2, 0, link, -1, [3]),
        (LOAD, 5, 0, link, -1, []),
    ]
    t.method(3, (3, 2, 1), [(ops, [])], entry=((0, 0), (1, 2)))
    assert paths_of(t, 2, 2) == [Hop(1, 3, 0), Hop(3, 2, 1)]
    assert paths_of(t, 2, 5) == []


def test_a_path_through_a_call_names_what_carries_the_token_in_and_out() -> None:
    """The callee reads p0.f, returns it, and stores it into a new object; labels pass in place of objects, too."""
    t = Tiny()
    cells = t.link((0, 3), (1, 4))
    t.summary([], [])
    inside = t.summary(
        [(ROOT, 0, [], []), (CHILD, 0, [], []), (CONSTANT, 0, [], [])],
        [(-1, [1]), (2, [1])],
    )
    binds = [(0, -1, -1), (-1, cells, -1), (1, -1, -1)]
    call = t.call((inside, binds, [(2, -1, -1), (TO_CELLS, cells, -1)]))
    t.method(
        4,
        (3, 2, 0),
        [([(APPLY, call, 0, -1, -1, [])], [])],
        entry=((0, 0), (0, 3), (3, 2)),
        labels=(2, 3),
    )
    assert paths_of(t, 2, 2) == [Hop(3, 2, 0, 0, 1, 0)]
    assert paths_of(t, 2, 4) == [Hop(3, 4, 0, 0, 1, 1)]
    assert paths_of(t, 3, 2) == [Hop(0, 2, 0, 0, 1, 0)]


def test_many_flows_find_room() -> None:
    n = 6_000
    t = Tiny()
    link = t.link(*((c, 2 + c) for c in range(n)))
    t.summary([], [])
    ops = [(STORE, 0, 1, link, -1, []), (LOAD, n + 2, 1, link, -1, [])]
    entry = ((0, 7), *((1, c) for c in range(n)))
    t.method(n, (2, n, 1), [(ops, [])], entry=entry, labels=(7,))
    assert paths_of(t, 7, n + 2) == [Hop(0, 2, 0), Hop(2, n + 2, 1)]


def test_too_many_flows_show_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_RECORDS", 4)
    monkeypatch.setattr(replay, "FIRST_ROOM", 4)
    for n, hops in ((3, [Hop(START, 1, 0)]), (8, [])):
        t = Tiny()
        t.summary([], [])
        t.method(1, (n, 0, 0), [([(GENERATE, row, 0, -1, -1, []) for row in range(1, n)], [])], labels=(0,))
        assert replay.Replay(reference.solve(t.problem())).path(0, 0, 1) == hops


def test_flows_that_were_given_up_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_KEPT", 1)
    solution = reference.solve(random_problem(random.Random(5), odd_links=False))
    assert_same_paths(solution, random.Random(5))
