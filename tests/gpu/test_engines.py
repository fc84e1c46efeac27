"""Every engine gives the facts of the reference, bit for bit."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu import cpu, engine, reference
from gpu.errors import EngineUnavailable, UnreadableInput, WrongConfiguration
from gpu.problem import (
    APPLY,
    CHILD,
    CONSTANT,
    GENERATE,
    LOAD,
    OR,
    REGION,
    ROOT,
    STORE,
    TO_CELLS,
    Problem,
)
from gpu.solution import BitRows, Solution
from gpu.threads import threads_wanted
from tests.gpu.random_problems import random_problem
from tests.gpu.tiny import Tiny
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.generate import generate
from tests.programs.solving import solve as solve_program

ROOT_FOLDER = Path(__file__).resolve().parents[2]
APKS = sorted((ROOT_FOLDER / "apks").glob("*.apk"))
SEEDS = st.integers(0, 2**48)
OTHERS = sorted(name for name in set(engine.ENGINES) - {"reference"} if not name.startswith("cuda"))
"""Those of CUDA have tests of their own: `tests/gpu/cuda`."""


def assert_same(found: Solution, expected: Solution) -> None:
    """Compares bit for bit; says what differs first."""
    for m in range(expected.problem.n_methods):
        assert found.rows[m] == expected.rows[m], f"rows of method {m}"
        assert found.heads[m] == expected.heads[m], f"heads of method {m}"
        assert found.summaries[m] == expected.summaries[m], f"summary of method {m}"
    assert found.digest() == expected.digest()
    assert found.n_facts == expected.n_facts


def assert_parity(problem: Problem, expected: Solution | None = None) -> Solution:
    """All engines, and `cpu` with any number of threads, cut into slices, and lean, against the reference."""
    expected = expected or reference.solve(problem)
    for name in OTHERS:
        assert_same(engine.solve(problem, name), expected)
    for threads in (1, 2):
        assert_same(cpu.solve(problem, threads=threads), expected)
    assert_same(cpu.solve(problem, threads=1, budget=1), expected)
    for threads in (1, 2):
        lean = cpu.solve(problem, threads=threads, keep="summaries")
        assert not lean.has_facts or not len(expected.facts)
        assert (lean.summary_words == expected.summary_words).all()
    return expected


# --------------------------------------------------------------- apps and programs


@cache
def app_problem(path: Path) -> Problem:
    from gdroid import app
    from gdroid.options import Options

    return app.load(path, Options()).problem()


@pytest.mark.parametrize("path", APKS, ids=lambda path: path.stem)
def test_engines_agree_on_the_sample_apps(path: Path) -> None:
    assert assert_parity(app_problem(path)).n_facts > 0


@pytest.mark.parametrize(
    "name", ["EmulatorDetection/PlayStore2", "ArraysAndLists/HashMapAccess1", "Lifecycle/ActivityLifecycle1"]
)
def test_engines_agree_on_droidbench(suites: Path, name: str) -> None:
    assert assert_parity(app_problem(suites / "droidbench3" / f"{name}.apk")).n_facts > 0


@examples(60)
@given(seed=SEEDS, bound=st.sampled_from(list(limits.ALL.values())))
def test_engines_agree_on_generated_programs(seed: int, bound: limits.Limits) -> None:
    solved = solve_program(generate(random.Random(seed), most_methods=6), bound)
    assert_parity(solved.encoded.problem, solved.solution)


@examples(150)
@given(seed=SEEDS, odd_links=st.booleans())
def test_engines_agree_on_random_problems(seed: int, odd_links: bool) -> None:
    assert_parity(random_problem(random.Random(seed), odd_links=odd_links))


@examples(15)
@given(seed=SEEDS)
def test_engines_agree_on_wide_random_problems(seed: int) -> None:
    assert_parity(random_problem(random.Random(seed), most_columns=1500))


# ----------------------------------------------------------- one thing at a time


def test_generate_and_or_pass_what_a_mask_lets_pass() -> None:
    t = Tiny()
    mask = t.mask(0, 2)
    t.summary([], [])
    t.method(
        3,
        (2, 0, 0),
        [([(GENERATE, 0, c, -1, -1, []) for c in range(3)] + [(OR, 1, 0, -1, mask, [])], [])],
    )
    assert list(assert_parity(t.problem()).rows[0]) == [0b111, 0b101]


def test_load_reads_the_cells_that_the_base_selects() -> None:
    t = Tiny()
    link = t.link((2, 3), (0, 2))  # not sorted
    t.summary([], [])
    t.method(4, (2, 2, 0), [([(LOAD, 1, 0, link, -1, [])], [])], entry=((0, 0), (2, 1), (3, 3)))
    assert list(assert_parity(t.problem()).rows[0])[:2] == [0b1, 0b10]


def test_a_strong_store_clears_before_it_adds_and_a_weak_one_does_not() -> None:
    t = Tiny()
    link = t.link((0, 2))
    t.summary([], [])
    for clears in ([2], []):
        t.method(
            3,
            (2, 1, 0),
            [([(STORE, 1, 0, link, -1, clears)], [1]), ([], [])],
            entry=((0, 0), (1, 1), (2, 2)),
            new_component=True,
        )
        t.summary([], [])
    found = assert_parity(t.problem())
    assert [list(found.heads[m][1]) for m in (0, 1)] == [[0b010], [0b110]]


def test_a_store_clears_even_where_its_base_is_empty_and_reads_its_value_before() -> None:
    t = Tiny()
    link = t.link((0, 2), (0, 3))
    t.summary([], [])
    t.method(
        3,
        (2, 2, 0),
        [([(STORE, 2, 1, link, -1, [2]), (STORE, 3, 0, link, -1, [3])], [1]), ([], [])],
        entry=((0, 0), (2, 1), (3, 2)),
    )
    assert list(assert_parity(t.problem()).heads[0][1]) == [0b100, 0b100]


def test_facts_go_around_a_loop_until_nothing_grows() -> None:
    t = Tiny()
    link = t.link((0, 2), (1, 3))
    t.summary([], [])
    body = [(STORE, 1, 0, link, -1, []), (LOAD, 1, 0, link, -1, []), (OR, 0, 1, -1, -1, [])]
    t.method(2, (2, 2, 0), [([], [1]), (body, [1, 2]), ([], [])], entry=((0, 0), (1, 1)))
    found = assert_parity(t.problem())
    assert list(found.rows[0])[:2] == [0b11, 0b10]
    assert list(found.heads[0][2]) == [0b10, 0b10]


def test_a_block_that_is_not_reached_holds_nothing_and_does_nothing() -> None:
    t = Tiny()
    t.summary([], [])
    t.method(1, (1, 1, 0), [([], []), ([(GENERATE, 0, 0, -1, -1, [])], [])], entry=((1, 0),))
    found = assert_parity(t.problem())
    assert list(found.rows[0]) == [0, 0]
    assert [list(head) for head in found.heads[0]] == [[1], [0]]


def test_a_summary_is_substituted_with_children_labels_and_aliasing_arguments() -> None:
    """Caller columns: 0 and 1 objects, 2 a label, 3 what 0.f held, 4 new. Heap rows: 0.f, 1.f."""
    t = Tiny()
    t.summary([], [(-1, [])])
    cells = t.link((0, 3), (1, 4))
    constant = t.summary(
        [(ROOT, 0, [], []), (ROOT, 0, [], []), (CHILD, 0, [], [0]), (CONSTANT, 0, [], []), (REGION, 0, [0], [0])],
        [(1, [3]), (-1, [2]), (-1, [4])],
    )
    assert constant == 1
    binds = [(0, -1, -1), (1, -1, -1), (-1, cells, -1), (4, -1, -1), (-1, cells, -1)]
    writes = [(TO_CELLS, cells, -1), (2, -1, -1), (5, -1, -1)]
    call = t.call((constant, binds, writes))
    t.method(
        5,
        (3, 2, 1),
        [([(APPLY, call, 0, -1, -1, [3])], [1]), ([], [])],
        entry=((0, 0), (0, 2), (1, 0), (3, 3)),
        labels=(2,),
        names={},
    )
    found = assert_parity(t.problem())
    # p0.f: what it held before, the label of p0, and the new object that the callee stores into p1.f, as p1 may be p0.
    assert list(found.rows[0])[2] == 0b11100
    assert list(found.heads[0][1]) == [0b10000, 0]


def test_recursion_ends_when_no_summary_grows() -> None:
    """f returns a new object, or what g returns; g returns a new object, or what f returns."""
    t = Tiny()
    for _ in range(2):
        t.summary([(CONSTANT, 0, [], []), (CONSTANT, 0, [], [])], [(-1, [])])
    for m in range(2):
        call = t.call((1 - m, [(0, -1, -1), (1, -1, -1)], [(0, -1, -1)]))
        ops = [(GENERATE, 0, m, -1, -1, []), (APPLY, call, 0, -1, -1, [])]
        t.method(2, (1, 0, 0), [(ops, [])], exports=((0, 0, -1, -1),), names={0: 0, 1: 1}, new_component=m == 0)
    problem = t.problem()
    assert problem.scc_off.tolist() == [0, 2]
    found = assert_parity(problem)
    assert [list(rows) for rows in found.rows] == [[0b11], [0b11]]
    assert [list(rows) for rows in found.summaries] == [[0b11], [0b11]]


@pytest.mark.parametrize("columns", [64, 65, 128, 300, 1025, 5000])
def test_methods_of_any_width_are_solved(columns: int) -> None:
    t = Tiny()
    link = t.link(*((c, 2 + c % 7) for c in range(0, columns, 3)))
    t.summary([(CONSTANT, 0, [], [])] * columns, [(-1, [])])
    ops = [(STORE, 0, 0, link, -1, []), (LOAD, 1, 0, link, -1, [])]
    t.method(
        columns,
        (2, 7, 0),
        [(ops, [1, 2]), (ops, [0]), ([], [])],
        entry=tuple((0, c) for c in range(0, columns, 5)),
        exit_block=2,
        exports=((1, 0, columns - 1, -1), (8, 0, -1, -1)),
        names={c: columns - 1 - c for c in range(columns)},
    )
    assert assert_parity(t.problem()).n_facts > columns // 5


def test_a_problem_without_methods_has_no_facts() -> None:
    t = Tiny()
    t.a.offsets |= {f"{n}_off": [0] for n in ("col", "row", "entry", "succ", "op", "export")}
    found = assert_parity(t.problem())
    assert found.n_facts == 0 and len(found.rows) == 0


# ---------------------------------------------------------- threads, time, memory


def test_the_number_of_threads_does_not_matter() -> None:
    problem = random_chain(60)
    digest = cpu.solve(problem, threads=1).digest()
    assert {cpu.solve(problem, threads=n).digest() for n in (2, 3, 8)} == {digest}


def random_chain(n: int) -> Problem:
    """Methods that call earlier ones, several layers deep, each returning a new object and what its callees return."""
    rng = random.Random(n)
    t = Tiny()
    for _ in range(n):
        t.summary([(CONSTANT, 0, [], [])] * n, [(-1, [])])
    for m in range(n):
        call = t.call(*((s, [(c, -1, -1) for c in range(n)], [(0, -1, -1)]) for s in rng.sample(range(m), min(m, 3))))
        ops = [(GENERATE, 0, m, -1, -1, []), (APPLY, call, 0, -1, -1, [])]
        t.method(n, (1, 0, 0), [(ops, [])], exports=((0, 0, -1, -1),), names={c: c for c in range(n)})
    return t.problem()


def test_callers_see_what_callees_return() -> None:
    found = assert_parity(random_chain(40))
    assert all(row >> m & 1 for m, (row,) in enumerate(map(list, found.rows)))
    assert any(row.bit_count() > 10 for (row,) in map(list, found.rows))


class Stop(Exception):
    """Raised by a check."""


@contextmanager
def no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [1, 3])
def test_a_check_that_raises_stops_the_run(threads: int, after: int) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls >= after:
            raise Stop

    with no_thread_is_left(), pytest.raises(Stop):
        cpu.solve(random_chain(60), check, threads=threads, budget=1)
    assert calls == after


def giant() -> Problem:
    """One method of many blocks and wide rows, whose facts go against the order of visits."""
    t = Tiny()
    n, blocks, rows = 2000, 250, 1000
    rng = random.Random(0)
    t.summary([], [])
    code = []
    for b in range(blocks):
        link = t.link(*((rng.randrange(n), 8 + rng.randrange(rows)) for _ in range(3000)))
        ops = [(STORE, rng.randrange(8), rng.randrange(8), link, -1, []) for _ in range(3)]
        ops += [(LOAD, rng.randrange(8), rng.randrange(8), link, -1, []) for _ in range(3)]
        code.append((ops, sorted({(b - 1) % blocks, rng.randrange(blocks)})))
    t.method(n, (8, rows, 0), code, entry=tuple((r, rng.randrange(n)) for r in range(8) for _ in range(20)))
    return t.problem()


@pytest.mark.parametrize("threads", [1, 2])
def test_checks_come_often_inside_one_giant_method(threads: int) -> None:
    """By the processor's clock, as other jobs may run; the first slice is a guess."""
    problem = giant()
    cpu.solve(random_chain(5))
    times: list[float] = []

    def check() -> None:
        times.append(time.thread_time())
        if len(times) == 12:
            raise Stop

    with suppress(Stop):
        cpu.solve(problem, check, threads=threads)
    assert len(times) > 3 and np.diff(times).max() < 0.1


def test_lean_solutions_hold_no_facts() -> None:
    problem = random_chain(20)
    lean = cpu.solve(problem, keep="summaries")
    assert not lean.has_facts and len(lean.facts) == 0
    assert list(lean.summaries[19]) == list(reference.solve(problem).summaries[19])


def test_memory_of_a_solve_is_free_when_its_solution_is() -> None:
    """Without a garbage collection: facts of one large app are hundreds of megabytes."""
    gc.collect()
    gc.disable()
    try:
        for threads in (1, 2):
            solution = cpu.solve(random_chain(20), threads=threads)
            words = weakref.ref(solution.facts.base if solution.facts.base is not None else solution.facts)
            assert words() is not None
            del solution
            assert words() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_threads_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GDROID_THREADS", text)
    with pytest.raises(WrongConfiguration, match="GDROID_THREADS"):
        threads_wanted()


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDROID_THREADS", "3")
    assert threads_wanted() == 3 and threads_wanted(2) == 2
    assert engine.device("cpu").startswith("3 CPU threads")
    monkeypatch.delenv("GDROID_THREADS")
    assert threads_wanted() >= 1


# ------------------------------------------------------- registry, input, output


def test_auto_takes_the_first_engine_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_chain(3)
    assert engine.choose("auto", problem)[0] == "cpu"

    def cannot(problem: Problem, check: object) -> Solution:
        raise EngineUnavailable("no memory")

    monkeypatch.setitem(engine.ENGINES, "cpu", cannot)
    assert engine.choose("auto", problem)[0] == "reference"
    with pytest.raises(EngineUnavailable, match="no memory"):
        engine.solve(problem, "cpu")
    with pytest.raises(EngineUnavailable, match="no engine named 'x'"):
        engine.solve(problem, "x")


@pytest.mark.parametrize(
    "name",
    [
        "link_row",
        "link_col",
        "bind_at",
        "write_row",
        "clear_row",
        "export_to",
        "export_skip",
        "col_export",
        "bits_col",
        "region_col",
        "alias_row",
        "sumcol_parent",
        "sumrow_owner",
    ],
)
def test_indices_that_lead_out_of_a_method_are_refused(name: str) -> None:
    """A kernel would read or write other memory; arrays from a file need not be what an encoder wrote."""
    for seed in range(100):
        problem = random_problem(random.Random(seed))
        values = getattr(problem, name).copy()
        if not len(values):
            continue
        values[:] = 1 << 20
        with pytest.raises(UnreadableInput, match=name.split("_")[0]):
            cpu.solve(replace(problem, **{name: values}))
        return
    pytest.fail("no random problem has such an array")


def test_rows_are_read_as_integers_when_asked_for() -> None:
    rows = BitRows(np.array([[1, 2], [0, 0], [1 << 63, 0]], np.uint64))
    assert list(rows) == [1 | 2 << 64, 0, 1 << 63] == [rows[0], rows[1], rows[-1]]
    assert rows == (1 | 2 << 64, 0, 1 << 63) and rows != (0, 0, 0) and rows[1:] == [0, 1 << 63]
    assert list(BitRows(np.zeros((2, 0), np.uint64))) == [0, 0]


def test_gpu_solves_with_numpy_and_numba_alone(tmp_path: Path) -> None:
    file = tmp_path / "problem.npz"
    problem = random_chain(10)
    problem.save(file)
    code = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"gpu", "numpy", "numba", "llvmlite"}:
            raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)
sys.meta_path.insert(0, Block())
from gpu.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    expected = reference.solve(problem)
    for name in ("auto", "reference"):
        command = [sys.executable, "-c", code, "solve", str(file), "--engine", name]
        done = subprocess.run(command, cwd=ROOT_FOLDER, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said = dict(line.split() for line in done.stdout.splitlines())
        assert said["facts"] == str(expected.n_facts) and said["digest"] == expected.digest()
        assert said["engine"] == ("cpu" if name == "auto" else name) and float(said["seconds"]) >= 0


@pytest.mark.parametrize(("engine_name", "code"), [("auto", 3), ("cuda", 2)])
def test_gpu_says_in_one_line_what_is_wrong(tmp_path: Path, engine_name: str, code: int) -> None:
    file = tmp_path / "problem.npz"
    if engine_name == "cuda":
        random_chain(2).save(file)
    command = [sys.executable, "-m", "gpu", "solve", str(file), "--engine", engine_name]
    done = subprocess.run(command, cwd=ROOT_FOLDER, capture_output=True, text=True)
    assert done.returncode == code and done.stderr.count("\n") == 1 and not done.stdout
