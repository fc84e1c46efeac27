"""Laws on encoded problems and their solutions (semantics.md, section 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ir import Op
from analyzer.limits import Limits
from gpu import reference
from gpu.problem import GENERATE, Problem
from gpu.reference import MethodSolver, Tables
from gpu.solution import Solution
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.generate import generate
from tests.programs.language import compile_program
from tests.programs.solving import Solved, solve, solve_program

SEEDS = st.integers(0, 2**48)
BOUNDS = st.sampled_from(list(limits.ALL.values()))


def solved(seed: int, bound: Limits) -> Solved:
    return solve(generate(random.Random(seed), most_methods=6), bound)


def contains(more: Solution, less: Solution) -> bool:
    """Whether a solution has all facts of another one of a problem of the same form."""

    def flat(solution: Solution) -> Iterator[int]:
        for rows, heads, summary in zip(solution.rows, solution.heads, solution.summaries, strict=True):
            yield from rows
            for head in heads:
                yield from head
            yield from summary

    return all(small & ~large == 0 for large, small in zip(flat(more), flat(less), strict=True))


# ------------------------------------------------------------- fixed point


def one_more_round(solution: Solution) -> str | None:
    """Evaluates every equation once on a solution; what would grow."""
    tables = Tables(solution.problem)
    for m, bits in enumerate(solution.summaries):
        tables.summary(m).bits = list(bits)
    for m in range(solution.problem.n_methods):
        solver = MethodSolver(tables, m)
        if any(bits & ~solution.rows[m][row] for row, bits in enumerate(solver.rows)):
            return f"method {m}: entry facts"
        if any(bits & ~solution.heads[m][0][row] for row, bits in enumerate(solver.entry)):
            return f"method {m}: entry facts of the heap"
        solver.rows = list(solution.rows[m])
        solver.heads = [list(head) for head in solution.heads[m]]
        for block in range(solver.n_blocks):
            state = list(solution.heads[m][block])
            at = solver.first_block + block
            for op in range(tables.op_off[at], tables.op_off[at + 1]):
                solver.step(op, state)
            for i in range(tables.succ_off[at], tables.succ_off[at + 1]):
                if solver.join(tables.succ[i], state):
                    return f"method {m}: block {tables.succ[i]} after block {block}"
        if tuple(solver.rows) != solution.rows[m]:
            return f"method {m}: rows"
        if solver.export():
            return f"method {m}: summary"
    return None


@examples(100)
@given(seed=SEEDS, bound=BOUNDS)
def test_one_more_round_changes_nothing(seed: int, bound: Limits) -> None:
    assert one_more_round(solved(seed, bound).solution) is None


# -------------------------------------------------------------------- least


def in_any_order(problem: Problem, rng: random.Random) -> Solution:
    """The least fixed point, by evaluating blocks of all methods at random, whoever calls whom."""
    tables = Tables(problem)
    solvers = [MethodSolver(tables, m) for m in range(problem.n_methods)]
    for solver in solvers:
        solver.heads[0] = list(solver.entry)
    places = [(m, b) for m, solver in enumerate(solvers) for b in range(solver.n_blocks)]
    grown = True
    while grown:
        grown = False
        rng.shuffle(places)
        for m, b in places:
            solver = solvers[m]
            head = solver.heads[b]
            if head is None:
                continue
            solver.grown = False
            state = list(head)
            at = solver.first_block + b
            for op in range(tables.op_off[at], tables.op_off[at + 1]):
                solver.step(op, state)
            joined = [solver.join(tables.succ[i], state) for i in range(tables.succ_off[at], tables.succ_off[at + 1])]
            grown |= solver.export() or solver.grown or any(joined)
    return Solution.of(
        problem,
        [solver.rows for solver in solvers],
        [solver.states() for solver in solvers],
        [tables.summary(m).bits for m in range(problem.n_methods)],
    )


@examples(100)
@given(seed=SEEDS, bound=BOUNDS)
def test_the_order_of_evaluation_does_not_matter(seed: int, bound: Limits) -> None:
    found = solved(seed, bound).solution
    other = in_any_order(found.problem, random.Random(seed))
    assert (other.rows, other.heads, other.summaries) == (found.rows, found.heads, found.summaries)
    assert other.digest() == found.digest()


# ----------------------------------------------------------------- monotone


def with_entry(problem: Problem, rng: random.Random) -> Problem:
    """The problem with one more fact on entry of some method."""
    m = rng.randrange(problem.n_methods)
    rows, columns = int(np.diff(problem.row_off)[m]), int(np.diff(problem.col_off)[m])
    if not rows or not columns:
        return problem
    at = int(problem.entry_off[m])
    off = problem.entry_off.copy()
    off[m + 1 :] += 1
    return replace(
        problem,
        entry_off=off,
        entry_row=np.insert(problem.entry_row, at, rng.randrange(rows)).astype(np.int32),
        entry_col=np.insert(problem.entry_col, at, rng.randrange(columns)).astype(np.int32),
    )


def with_generate(problem: Problem, rng: random.Random) -> Problem:
    """The problem with one more GENERATE somewhere."""
    m = rng.randrange(problem.n_methods)
    rows, columns = int(np.diff(problem.row_off)[m]), int(np.diff(problem.col_off)[m])
    blocks = range(int(problem.block_off[m]), int(problem.block_off[m + 1]))
    if not rows or not columns or not blocks:
        return problem
    block = rng.choice(blocks)
    at = rng.randint(int(problem.op_off[block]), int(problem.op_off[block + 1]))
    off = problem.op_off.copy()
    off[block + 1 :] += 1

    def insert(name: str, value: int) -> np.ndarray:  # type: ignore[type-arg]
        array = getattr(problem, name)
        return np.insert(array, at, value).astype(array.dtype)

    return replace(
        problem,
        op_off=off,
        op_kind=insert("op_kind", GENERATE),
        op_dst=insert("op_dst", rng.randrange(rows)),
        op_src=insert("op_src", rng.randrange(columns)),
        op_link=insert("op_link", -1),
        op_mask=insert("op_mask", -1),
        op_origin=insert("op_origin", 0),
        clear_off=insert("clear_off", int(problem.clear_off[at])),
    )


def without_clear(problem: Problem, rng: random.Random) -> Problem:
    """The problem with one clear bit less."""
    if not len(problem.clear_row):
        return problem
    at = rng.randrange(len(problem.clear_row))
    off = problem.clear_off.copy()
    off[np.searchsorted(off, at, side="right") :] -= 1
    return replace(problem, clear_off=off, clear_row=np.delete(problem.clear_row, at))


@pytest.mark.parametrize("change", [with_entry, with_generate, without_clear])
@examples(60)
@given(seed=SEEDS, bound=BOUNDS)
def test_more_facts_in_give_no_fewer_out(change, seed: int, bound: Limits) -> None:  # type: ignore[no-untyped-def]
    found = solved(seed, bound).solution
    rng = random.Random(seed)
    problem = found.problem
    for _ in range(rng.randint(1, 3)):
        problem = change(problem, rng)
    problem.validate()
    assert contains(reference.solve(problem), found)


# ------------------------------------------------- shape, files, names, limits


@examples(100)
@given(seed=SEEDS, bound=BOUNDS)
def test_what_is_solved_is_part_of_the_shape(seed: int, bound: Limits) -> None:
    found = solved(seed, bound)
    for m, layout in found.encoded.layouts.items():
        shape = found.ctx.shapes[m]
        allowed = [0] * len(layout.rows)
        for row, at in layout.row_of.items():
            allowed[at] = sum(1 << layout.column_of[t] for t in reference.bits_of(shape.rows[row]))
        rows = found.solution.rows[layout.number]
        first = found.idfg.replay.method(layout.number).first_heap
        for row, bits in enumerate(rows):
            assert bits & ~allowed[row] == 0, (found.program.signature(m), layout.rows[row])
        for head in found.solution.heads[layout.number]:
            for row, bits in enumerate(head, first):
                assert bits & ~allowed[row] == 0, (found.program.signature(m), layout.rows[row])


@examples(15)
@given(seed=SEEDS, bound=BOUNDS)
def test_a_problem_is_the_same_after_saving(tmp_path_factory: pytest.TempPathFactory, seed: int, bound: Limits) -> None:
    found = solved(seed, bound).solution
    file = Path(tmp_path_factory.mktemp("problem")) / "problem.npz"
    found.problem.save(file)
    assert reference.solve(Problem.load(file)).digest() == found.digest()


@examples(20)
@given(seed=SEEDS, bound=BOUNDS)
def test_a_second_run_gives_the_same(seed: int, bound: Limits) -> None:
    assert solved(seed, bound).solution.digest() == solved(seed, bound).solution.digest()


def by_name(found: Solved) -> dict[tuple[object, ...], tuple[str, ...]]:
    """Facts by names: results of operations, and the named rows before each, without numbers of values."""
    facts: dict[tuple[object, ...], tuple[str, ...]] = {}
    for m in found.graph.methods:
        name, body = found.program.signature(m), found.program.body(m)
        for op in range(len(body.op)):
            if body.op[op] == Op.PHI:
                continue
            layout, rows = found.idfg.state(m, op)
            pc, dst = int(body.pc[op]), int(body.dst[op])
            if dst >= 0:
                facts[name, pc, "result"] = found.idfg.tokens(layout, rows[dst])
            for key, bits in zip(layout.rows, rows, strict=True):
                if not isinstance(key, int) and bits:
                    facts[name, pc, found.idfg.names.slot(m, key)] = found.idfg.tokens(layout, bits)
    return facts


@examples(30)
@given(seed=SEEDS, bound=BOUNDS)
def test_order_and_names_of_registers_classes_and_methods_do_not_matter(seed: int, bound: Limits) -> None:
    text = generate(random.Random(seed), most_methods=6)
    first, second = solve(text, bound), solve_program(compile_program(text, random.Random(seed)), bound)
    assert by_name(first) == by_name(second)
