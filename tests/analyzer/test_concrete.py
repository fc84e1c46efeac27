"""The concrete view: what callers bring (semantics.md 4, end)."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.concrete import Concrete
from analyzer.encode import Layout
from analyzer.limits import Limits
from analyzer.statements import MethodView
from analyzer.tokens import BY_TYPE, CELL, DEEP, FORMAL, LIBRARY_BY_TYPE, OBJECT, TAINT, UNKNOWN, Key
from gpu import problem as pb
from gpu.bits import bits_of
from tests.laws.profiles import examples
from tests.programs import limits
from tests.programs.cover import Activation
from tests.programs.generate import generate
from tests.programs.heap import Origin, Value
from tests.programs.interpreter import Interpreter, Unsound
from tests.programs.solving import Solved, solve


class View:
    """A small program and what the rows of its methods mean over all callers, in words."""

    def __init__(self, text: str) -> None:
        self.solved = solve(text)
        self.concrete = Concrete(self.solved.idfg)

    def brought(self, method: str, root: int, *path: str) -> set[str]:
        """What a parameter, or a field path of one, may be: `A@main` for `new A()` in main; kinds of labels."""
        solved = self.solved
        m = solved.method(method)
        by_name = {
            solved.ctx.fields.name(f): f for layout in solved.encoded.layouts.values() for f in fields_of(layout)
        }
        key = (FORMAL, root, tuple(by_name[name] for name in path))
        return {self.word(k) for _, k in self.concrete.tokens(m, key)}

    def word(self, key: Key) -> str:
        if key[0] == OBJECT:
            site = self.solved.ctx.sites[key[1]]
            name = self.solved.program.method(site.method).name
            return f"{self.solved.idfg.names.type(site.type)}@{name}"
        return "label" if key[0] == TAINT else str(key)


def fields_of(layout: Layout) -> set[int]:
    """Fields of the cells that a method has."""
    return {key[2] for key in layout.rows if not isinstance(key, int) and key[0] == CELL}


CLASSES = "class A { A f; A g; A() {} } class B extends A { B() {} } class C extends A { C() {} }"


def test_a_parameter_is_what_all_callers_pass() -> None:
    view = View(
        CLASSES + "class Main { static void m(A p) { sink(p); }"
        "static void one() { m(new B()); } static void two() { m(new C()); } static void main() { one(); two(); } }"
    )
    assert view.brought("Main.m", 0) == {"B@one", "C@two"}


def test_labels_come_along() -> None:
    view = View("class Main { static void m(Object p) { sink(p); } static void main() { m(source()); } }")
    assert "label" in view.brought("Main.m", 0)


def test_a_field_is_what_it_holds_at_the_call_not_before_or_after() -> None:
    view = View(
        CLASSES + "class Main { static A m(A p) { A x = p.f; sink(x); return x; }"
        "static void main() { A a = new A(); a.f = new B(); a.f = new C(); m(a); a.f = new A(); } }"
    )
    assert view.brought("Main.m", 0, "f") == {"C@main"}


def test_formals_of_callers_are_followed_further_up() -> None:
    view = View(
        CLASSES + "class Main { static void m(A p) { sink(p.f); } static void up(A q) { m(q); }"
        "static void main() { A a = new A(); a.f = new B(); up(a); } }"
    )
    assert view.brought("Main.m", 0) == {"A@main"}
    assert view.brought("Main.m", 0, "f") == {"B@main"}


def test_recursion_is_a_cycle_that_ends() -> None:
    view = View(
        CLASSES + "class Main { static void m(A p) { if (*) { m(p.f); } sink(p); }"
        "static void main() { A a = new B(); a.f = new C(); m(a); } }"
    )
    assert view.brought("Main.m", 0) >= {"B@main", "C@main"}


def test_what_the_callee_stores_through_an_alias_is_in_the_formal_of_the_other_argument() -> None:
    view = View(
        CLASSES + "class Main { static A m(A p, A q) { p.f = new B(); A x = q.f; sink(x); return x; }"
        "static void main() { A o = new A(); o.f = new C(); m(o, o); } }"
    )
    assert view.brought("Main.m", 1, "f") >= {"B@m", "C@main"}


def test_a_receiver_is_what_dispatches_to_the_method() -> None:
    view = View(
        "class A { A() {} void m() { sink(this); } } class B extends A { B() {} void m() { sink(this); } }"
        "class Main { static void call(A p) { p.m(); } static void main() { call(new A()); call(new B()); } }"
    )
    assert view.brought("A.m", 0) == {"A@main"} and view.brought("B.m", 0) == {"B@main"}


def test_a_formal_that_no_caller_fills_is_null() -> None:
    view = View("class Main { static void m(Object p) { sink(p); } static void main() { m(null); } }")
    assert view.brought("Main.m", 0) == set()


def test_a_static_field_is_what_it_holds_at_the_calls() -> None:
    view = View(
        CLASSES + "class Main { static A s; static void m() { sink(Main.s); }"
        "static void main() { Main.s = new B(); Main.s = new C(); m(); Main.s = new B(); } }"
    )
    solved = view.solved
    m = solved.method("Main.m")
    formals = [k for k in solved.encoded.layouts[m].columns if k[0] == FORMAL and k[1] < 0]
    assert {view.word(k) for _, k in view.concrete.tokens(m, formals[0])} == {"C@main"}


def test_an_answer_that_was_cut_says_so() -> None:
    solved = solve(
        CLASSES
        + "class Main { static void m(A p) { sink(p); } static void a(A p) { m(p); } static void b(A p) { a(p); }"
        "static void main() { b(new B()); } }"
    )
    m = solved.method("Main.m")
    assert (m, (UNKNOWN,)) in Concrete(solved.idfg, most_steps=2).tokens(m, (FORMAL, 0, ()))


# -- laws ------------------------------------------------------------------------------------------------------


def agree(solved: Solved) -> int:
    """Holds every binding against the engine's substitution at the same call; how many were compared."""
    concrete = Concrete(solved.idfg)
    t = solved.idfg.replay.tables
    compared = 0
    for callee in solved.encoded.layouts:
        for binding in concrete.bindings(callee):
            layout = binding.layout
            view = MethodView(solved.idfg, layout.method)
            for at, op in view.problem_ops(binding.call.op):
                if t.op_kind[op] != pb.APPLY:
                    continue
                heap = view.states(layout.place[binding.call.op][0])[at]
                for application in range(t.call_off[t.op_dst[op]], t.call_off[t.op_dst[op] + 1]):
                    if t.app_summary[application] != solved.encoded.layouts[callee].number:
                        continue
                    wanted = view.facts.substitution(application, heap)
                    for key, bits in zip(solved.encoded.layouts[callee].summary_cols, wanted, strict=True):
                        if key[0] in (FORMAL, DEEP):
                            engine = {layout.columns[c] for c in bits_of(bits)}
                            assert binding.sigma(key) >= engine, (solved.program.signature(callee), key)
                            compared += 1
    return compared


@examples(20)
@given(seed=st.integers(0, 2**48))
def test_bindings_hold_all_that_the_engine_s_substitution_has(seed: int) -> None:
    agree(solve(generate(random.Random(seed))))


class Watching(Interpreter):
    """Also holds what each row means over all callers against the run-time objects themselves."""

    def __init__(self, solved: Solved, seed: int) -> None:
        super().__init__(solved, seed)
        self.concrete = Concrete(solved.idfg)

    @cache  # noqa: B019  (lives as long as the run)
    def meaning(self, method: int, bits: int) -> frozenset[Key]:
        """Tokens of a row, formals replaced."""
        columns = self.s.idfg.layout(method).columns
        return frozenset(k for c in bits_of(bits) for _, k in self.concrete.tokens(method, columns[c]))

    def require(self, act: Activation, bits: int, value: Value, slot: str) -> None:
        super().require(act, bits, value, slot)
        keys = self.meaning(act.method, bits)
        assert not any(k[0] in (FORMAL, DEEP) for k in keys)
        for origin in [*([value.object] if value.object else []), *value.labels]:
            if not any(self.stands_for(key, origin) for key in keys):
                words = sorted(self.s.idfg.names.token(act.method, k) for k in keys)
                where = f"{self.program.signature(act.method)} {slot}"
                raise Unsound(f"{where}: {self.describe(origin)} is not in the concrete view {words}")

    def stands_for(self, key: Key, origin: Origin) -> bool:
        """Whether a token may stand for a run-time object or label."""
        sites = self.s.ctx.sites
        if origin.kind == "label":
            return key[0] == TAINT and (sites[key[2]].method, sites[key[2]].op) == origin.site[:2]
        if key[0] == OBJECT:
            site = sites[key[1]]
            return (site.method, site.op) == origin.site[:2] or (
                site.outside and origin.kind in ("exception", "library")
            )
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return bool(self.hierarchy.may_be(key[0] == BY_TYPE, key[1], origin.type))
        return bool(key[0] != TAINT)


@pytest.mark.parametrize("name", limits.ALL)
@examples(5)
@given(seed=st.integers(0, 2**48))
def test_what_runs_see_is_in_the_concrete_view(name: str, seed: int) -> None:
    bound: Limits = limits.ALL[name]
    text = generate(random.Random(seed))
    solved = solve(text, bound)
    for run in range(4):
        try:
            Watching(solved, run).run()
        except Unsound as unsound:
            pytest.fail(f"{unsound}\nunder {bound} in\n{text}")
