"""What becomes one finding, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.limits import Limits
from analyzer.models.types import Rule
from analyzer.taint import FOLDED_PLACE, THROUGH_TABLE, Leak, leaks
from analyzer.witness import Witnesses
from tests.programs.solving import solve

COARSE = Limits(export_app=1, export_library=1)

LIBRARY_SINKS = """
    lib class L {
      Object f;
      static void first(Object x) { L l = new L(); l.f = x; sink(x); }
      static void second(Object x) { L l = new L(); l.f = x; sink(x); }
      static L both(Object x, L l) { l.f = x; L.first(x); L.second(x); return l; }
    }
"""


def found(text: str, limits: Limits, in_time: Callable[[], bool] = lambda: True) -> list[Leak]:
    """Leaks of a program, under one rule for whatever comes in and goes out."""
    idfg = solve(text, limits).idfg
    rule = Rule("leak", "A leak", "leak", frozenset(), frozenset(), "high")
    return leaks(idfg, lambda source, sink: (rule,), lambda name, method, op: True, Witnesses(idfg, 100, in_time))


def test_sinks_in_a_library_that_lost_their_place_are_one_finding_that_says_so() -> None:
    text = LIBRARY_SINKS + "class Main { static void main() { L.both(source(), new L()); } }"
    assert len(found(text, Limits())) == 2
    (leak,) = found(text, COARSE)
    assert any("one of 2 in libraries" in note for note in leak.rests_on)
    assert leak.confidence == "low"


def test_own_sinks_keep_their_place() -> None:
    text = """
        class A { Object f; }
        class Main {
          static void first(Object x, A a) { a.f = x; sink(x); }
          static void second(Object x, A a) { a.f = x; sink(x); }
          static void both(Object x, A a) { Main.first(x, a); Main.second(x, a); }
          static void main() { Main.both(source(), new A()); }
        }
    """
    leaks_found = found(text, COARSE)
    assert len({leak.sink_site for leak in leaks_found}) == 2
    assert not any(note.startswith(FOLDED_PLACE) for leak in leaks_found for note in leak.rests_on)


def test_a_path_that_does_not_begin_at_its_source_says_why() -> None:
    text = """
        lib class L { static Object v; static void keep(Object x) { L.v = x; } static Object kept() { return L.v; } }
        class Main { static void main() { L.keep(source()); sink(L.kept()); } }
    """
    (leak,) = found(text, Limits())
    assert THROUGH_TABLE in leak.rests_on and leak.confidence == "medium"
    (leak,) = found(text.replace("lib class", "class"), Limits())
    assert not leak.rests_on and leak.confidence == "high"


def test_a_finding_without_time_for_its_witness_says_so() -> None:
    (leak,) = found("class Main { static void main() { sink(source()); } }", Limits(), lambda: False)
    assert len(leak.path) == 2 and any("no witness path" in note for note in leak.rests_on)
