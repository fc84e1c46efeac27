"""Encoding and the reference engine against the oracle, which evaluates semantics.md without either."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from analyzer.android.names import ENV
from analyzer.compiled_pass import CompiledPass
from analyzer.encode import Encoder
from analyzer.hierarchy import Hierarchy
from analyzer.libcalls import LibraryCalls
from analyzer.limits import Limits
from analyzer.lower import Lowering
from analyzer.shape import Context
from analyzer.tokens import Fields, Sites
from gdroid.app import load
from gdroid.options import Options
from tests.oracle.compare import differences
from tests.oracle.method import Method
from tests.programs.generate import generate
from tests.programs.language import compile_program
from tests.programs.solving import call_graph, framework_model, knowledge
from tests.programs.test_section9 import CLASSES, CLEAN, EVERY_LIMIT, LEAKING


def check(text: str, limits: Limits | None = None, shuffle: random.Random | None = None) -> list[str]:
    """Differences for a small program."""
    program, limits = compile_program(text), limits or Limits()
    hierarchy = Hierarchy(program, framework_model())
    graph = call_graph(program, hierarchy, program.method_find("LMain;", "main", "()V"))
    fields, sites = Fields(program, hierarchy, graph.own.is_own), Sites()
    escaped = fields.resolve(program.field_id(ENV, "$escaped", "Ljava/lang/Object;"))
    library = LibraryCalls(program, hierarchy, knowledge(), fields, sites, escaped)
    lowering = Lowering(
        program, hierarchy, knowledge(), fields, sites, graph.own.is_own, library.source_id, program.type_id(ENV),
        limits.keys_per_object,
    )  # fmt: skip
    shapes = CompiledPass(Context(program, hierarchy, graph, lowering, library, limits, lambda: None))
    shapes.run()
    encoded = Encoder(shapes.ctx, shapes.levels).run()
    encoded.problem.validate()
    return differences(shapes.ctx, shapes.levels, encoded, shuffle)


KEYED = """
    extern class Map = "Ljava/util/HashMap;" { Map(); Object put(Object k, Object v); Object get(Object k); }
    extern class Prefs = "Landroid/content/SharedPreferences;" { String getString(String k, String d); Editor edit(); }
    extern class Editor = "Landroid/content/SharedPreferences$Editor;" { Editor putString(String k, String v); }
    extern class PM = "Landroid/preference/PreferenceManager;" { static Prefs getDefaultSharedPreferences(Object c); }
"""


def with_keys(text: str, rng: random.Random) -> str:
    """A program with statements about keyed elements put between its own."""
    lines = [KEYED]
    for line in text.splitlines():
        lines.append(line)
        if re.match(r"  (static )?([\w\[\]]+ )?\w+\(.*\) \{$", line):
            lines.append('Map k = new Map(); Map l = k; String s = "a"; Object w = null;')
            lines.append("Prefs prefs = PM.getDefaultSharedPreferences(s);")
        elif line.startswith("    ") and rng.random() < 0.35:
            key, value = rng.choice(('"a"', '"b"', "s", "w")), rng.choice(("source()", "w", "k", '"x"', "s"))
            text_key = rng.choice(('"a"', '"b"', "s"))
            statements = (
                f"k.put({key}, {value});", f"w = k.get({key});", f"l.put({key}, {value});", f"w = l.get({key});",
                's = "b";', "s = (String) w;", "l = (Map) w;", "s = source();", 'if (*) { s = "d"; }',
                "while (*) { k = new Map(); }", f"w = prefs.getString({text_key}, s);",
                f"prefs.edit().putString({text_key}, s);",
            )  # fmt: skip
            lines.append(rng.choice(statements))
    return "\n".join(lines)


PROGRAMS = {
    "straight line": """
        class A { A f; Object o; }
        class Main { static void main() {
          A a = new A(); A b = new A(); a.f = b; b.o = source(); A c = a.f; sink(c.o); c.o = null; sink(b.o);
        } }""",
    "two sources of a region alias": """
        lib class L { L f; L g; Object o; static Object m(L p) { L x = p.f; L y = p.g; x.o = source(); return y.o; } }
        class Main { static void main() { L o = new L(); L a = new L(); o.f = a; o.g = a; sink(L.m(o)); } }""",
    "a region's source is met again deeper": """
        lib class L { L f; L h; Object o; static Object m(L p) { L x = p.f; x.o = source(); L y = x.h; return y.o; } }
        class Main { static void main() { L o = new L(); L a = new L(); o.f = a; a.h = a; sink(L.m(o)); } }""",
    "a region is stored into itself": """
        lib class L { L f; L g; L h; Object o; static void m(L p) { L x = p.f; x.g = x.h; } }
        class Main { static void main() {
          L o = new L(); L a = new L(); L b = new L(); o.f = a; a.h = b; b.o = source(); L.m(o); L c = a.g; sink(c.o);
        } }""",
    "any element is stored to any": """
        class A { Object o; static void m(A[] p) { p[?] = p[?]; } }
        class Main { static void main() {
          A[] o = new A[]; A a = new A(); o[0] = a; a.o = source(); A.m(o); A c = o[1]; sink(c.o);
        } }""",
    "more tokens than a method may have": """
        class A { A f; A g; Object o;
          static Object m(A p) { A x = p.f; A y = x.g; A z = new A(); A w = new A(); A v = new A(); return y.o; } }
        class Main { static void main() {
          A a = new A(); A b = new A(); A c = new A(); a.f = b; b.g = c; c.o = source(); sink(A.m(a));
        } }""",
    "an object is unique in one of two targets": """
        lib class K extends L {
          L m(L p) { L r = null; while (*) { p.l = r; r = L.h(); } return r; }
        }
        lib class L { Object o; L l; static L h() { return new L(); } L m(L p) { return L.h(); } }
        class Main { static void main() {
          L p = new L(); L x = new L(); if (*) { x = new K(); }
          L y = x.m(p); L z = p.l; z.o = source(); y.o = "c"; sink(z.o);
        } }""",
    "a static is stored into itself": """
        class A { Object o; static A s; static void m() { A x = A.s; A.s = new A(); A.s = x; } }
        class Main { static void main() { A a = new A(); a.o = source(); A.s = a; A.m(); A b = A.s; sink(b.o); } }""",
    "a field gets back what it had": """
        class A { Object o; A f; static void m(A p) { A x = p.f; p.f = new A(); p.f = x; } }
        class Main { static void main() {
          A a = new A(); A c = new A(); a.o = source(); c.f = a; A.m(c); A b = c.f; sink(b.o);
        } }""",
    "an element of the table of an unknown key": KEYED
    + """
        class Main {
          static void get(Object c) { Prefs p = PM.getDefaultSharedPreferences(c); sink(p.getString("a", "b")); }
          static void main() {
            Object c = new Object(); Main.get(c); Prefs p = PM.getDefaultSharedPreferences(c);
            p.edit().putString(source(), source());
          } }""",
    "a library result in a static": """
        extern class X = "Lx/X;" { static Object get(); static Object mix(Object a, Object b); }
        lib class L { L f; L g; static Object s; }
        class Main { static void main() {
          L.s = X.get(); L a = (L) L.s; L b = a.f; b.g = a; sink(X.mix(b.g, source()));
        } }""",
}
"""Programs on which the analysis or the oracle was wrong once."""

CASES = {**LEAKING, **CLEAN}
DEEP_RUN = bool(os.environ.get("GDROID_DEEP"))
APKS = sorted((Path(__file__).parent.parent / "apks").glob("*.apk"))
SEEDS = 200 if DEEP_RUN else 8
"""Random programs per set of limits."""


@EVERY_LIMIT
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs_that_were_wrong_once(text: str, bound: Limits) -> None:
    assert not check(text, bound)


@EVERY_LIMIT
def test_the_programs_of_the_semantics(bound: Limits) -> None:
    for name, (main, methods) in CASES.items():
        assert not check(f"{CLASSES} class Main {{ {methods} static void main() {{ {main} }} }}", bound), name


@EVERY_LIMIT
def test_random_programs(bound: Limits) -> None:
    for seed in range(SEEDS):
        assert not check(generate(random.Random(seed)), bound), seed


@EVERY_LIMIT
def test_the_order_of_work_changes_nothing(bound: Limits) -> None:
    for seed in range(SEEDS // 2):
        assert not check(generate(random.Random(seed)), bound, random.Random(seed)), seed


@EVERY_LIMIT
def test_random_programs_with_keys(bound: Limits) -> None:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        assert not check(with_keys(generate(rng), rng), bound), seed


@pytest.mark.parametrize("apk", APKS, ids=lambda path: path.stem)
def test_sample_apps(apk: Path) -> None:
    app = load(apk, Options())
    encoded = app.encoded
    assert app.shapes_complete
    assert not differences(app.context, app.levels, encoded)


def test_facts_are_compared_at_all() -> None:
    """Without any clearing, or without handlers, the oracle must differ."""
    for name, result in (("clear_set", []), ("handlers", []), ("outside_callee", False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Method, name, lambda *args, result=result: result)
            texts = [f"{CLASSES} class Main {{ {ms} static void main() {{ {main} }} }}" for main, ms in CASES.values()]
            assert any(check(text) for text in texts), name
