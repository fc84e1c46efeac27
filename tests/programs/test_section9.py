"""The small programs of semantics.md, section 9: what must be there, and what must not where precision is promised."""

from __future__ import annotations

import pytest

from analyzer.ir import Op
from analyzer.limits import Limits
from analyzer.tokens import OBJECT, TAINT
from gpu.bits import bits_of
from tests.programs import limits
from tests.programs.solving import Solved, solve

CLASSES = """
class A { Object s; T f; } class B extends A { } class C extends A { }
class T { A f; Object s; static T g; }
lib class Lib { static T g; }
extern class Outer = "Lother/Outer;" { static String describe(Object o); static T get(); }
extern class Builder = "Lother/Builder;" { void put(Object o); String build(); }
"""

EVERY_LIMIT = pytest.mark.parametrize("bound", limits.ALL.values(), ids=limits.ALL.keys())


def at_sinks(solved: Solved) -> list[set[str]]:
    """For each call of sink(), in order of methods and operations: names of classes, and 'label'."""
    found = []
    program = solved.program
    for m in solved.graph.methods:
        body = program.body(m)
        for op, ref in enumerate(body.ref.tolist()):
            if body.op[op] == Op.CALL and program.method(ref).name == "sink":
                layout = solved.idfg.layout(m)
                row = solved.solution.rows[layout.number][body.args[body.arg_off[op]]]
                found.append({_name(solved, layout.columns[c]) for c in bits_of(row)})
    return found


def _name(solved: Solved, key: tuple) -> str:  # type: ignore[type-arg]
    if key[0] == TAINT:
        return "label"
    if key[0] == OBJECT:
        return solved.program.type_name(solved.ctx.sites[key[1]].type)[1:-1].rpartition("/")[2]
    return "other"


def run(main: str, methods: str = "", bound: Limits | None = None) -> Solved:
    """Facts of a program with these statements in main() and these members of Main."""
    return solve(f"{CLASSES} class Main {{ {methods} static void main() {{ {main} }} }}", bound)


def leaks(main: str, methods: str = "", bound: Limits | None = None) -> bool:
    """Whether there is a finding."""
    return bool(run(main, methods, bound).findings())


# ------------------------------------------------------------------ exactly


def test_a_store_through_a_variable_that_is_null_at_first_keeps_what_the_field_had() -> None:
    main = """
        T o = new T(); o.f = new A(); T x = null;
        while (*) { x.f = new B(); x = o; }
        sink(o.f);
    """
    assert at_sinks(run(main)) == [{"A", "B"}]


def test_the_second_of_two_aliasing_stores_is_read() -> None:
    method = "static A m(T p, T q) { p.f = new A(); q.f = new B(); return p.f; }"
    assert "B" in at_sinks(run("T o = new T(); sink(m(o, o));", method))[0]


def test_a_read_between_two_stores_through_an_alias_sees_the_first() -> None:
    method = "static A m(T p, T q, A b, A c) { q.f = b; A y = p.f; q.f = c; return y; }"
    assert "B" in at_sinks(run("T o = new T(); sink(m(o, o, new B(), new C()));", method))[0]


def test_what_a_field_held_before_a_store_does_not_carry_what_is_stored() -> None:
    method = "static Object m(T p) { Object old = p.s; p.s = source(); return old; }"
    main = "T o = new T(); sink(m(o));"
    assert not leaks(main, method)
    assert leaks(main + "sink(o.s);", method)


def test_a_field_of_a_labelled_object_carries_the_label() -> None:
    method = "static Object m(T p) { return p.s; }"
    assert leaks("T o = (T) mark(new T()); sink(m(o));", method)
    assert not leaks("T o = new T(); sink(m(o));", method)


def test_two_elements_of_a_list_may_be_one_object() -> None:
    method = """
        static void m(List p) { T a = (T) p.get(0); T b = (T) p.get(1); a.s = "clean"; sink(b.s); }
    """
    assert leaks("T o = new T(); o.s = source(); List l = new List(); l.add(o); m(l);", method)


def test_a_store_to_one_result_of_a_library_does_not_clear_the_other() -> None:
    assert leaks('T x = Outer.get(); T y = Outer.get(); x.s = source(); y.s = "clean"; sink(x.s);')


@pytest.mark.parametrize("context", [0, 1])
def test_objects_of_one_factory_made_twice_are_not_one(context: int) -> None:
    methods = "static T h() { return new T(); } static T f() { return h(); } static T g() { return h(); }"
    main = 'T x = f(); T y = g(); x.s = source(); y.s = "clean"; sink(x.s); '
    assert leaks(main, methods, Limits(heap_context_app=context))
    if context:
        assert not leaks("T x = f(); T y = g(); x.s = source(); sink(y.s);", methods)


def test_elements_of_a_list_are_all_kept() -> None:
    assert leaks('List l = new List(); l.add(source()); l.add("x"); sink(l.get(0));')


def test_a_store_through_what_a_library_static_held_does_not_clear() -> None:
    main = 'T old = Lib.g; T x = new T(); Lib.g = x; x.s = source(); old.s = "clean"; sink(x.s);'
    assert leaks(f"while (*) {{ {main} }}")
    assert leaks(main)


def test_the_message_of_an_exception_carries_data() -> None:
    assert leaks("try { throw new Throwable(source()); } catch (Throwable e) { sink(e.getMessage()); }")


def test_what_a_callee_stores_before_it_throws_is_seen_by_the_handler() -> None:
    method = "static void m(T p) { p.s = source(); throw new RuntimeException(); }"
    main = "T o = new T(); try { m(o); } catch (RuntimeException e) { sink(o.s); }"
    assert leaks(main, method)
    assert not leaks("T o = new T(); try { sink(o.s); m(o); } catch (RuntimeException e) { }", method)


def test_a_library_method_without_a_model_may_hand_on_all_that_it_reaches() -> None:
    method = "static String w(T p) { return Outer.describe(p); }"
    assert leaks("sink(w((T) mark(new T())));", method)
    assert leaks("T o = new T(); o.s = source(); sink(w(o));", method)
    assert leaks("T o = new T(); o.f = new A(); o.f.s = source(); sink(w(o));", method)
    assert not leaks("T o = new T(); sink(w(o));", method)


def test_a_builder_without_a_model_keeps_what_it_is_given() -> None:
    assert leaks("Builder b = new Builder(); b.put(source()); String s = b.build(); sink(s);")
    assert not leaks("Builder b = new Builder(); String s = b.build(); b.put(source()); sink(s);")


def test_data_in_an_intent_reaches_the_call_that_sends_it() -> None:
    text = """
        extern class Intent = "Landroid/content/Intent;" { Intent(); Intent putExtra(String k, String v); }
        extern class Activity = "Landroid/app/Activity;" { void startActivity(Intent i); }
        class Main extends Activity {
          void send() { Intent i = new Intent(); i.putExtra("k", source()); this.startActivity(i); }
          static void main() { Main m = new Main(); m.send(); }
        }
    """
    assert solve(text).findings()


# --------------------------------------------------- under every limit, soundly

LEAKING = {
    "null at first": ("T o = new T(); o.s = source(); T x = null; while (*) { x.s = null; x = o; } sink(o.s);", ""),
    "alias store": (
        "T o = new T(); sink(m(o, o));",
        'static Object m(T p, T q) { p.s = "c"; q.s = source(); return p.s; }',
    ),
    "alias read": (
        "T o = new T(); sink(m(o, o));",
        'static Object m(T p, T q) { q.s = source(); Object y = p.s; q.s = "c"; return y; }',
    ),
    "labelled base": ("T o = (T) mark(new T()); sink(m(o));", "static Object m(T p) { return p.s; }"),
    "factory": (
        'T x = f(); T y = g(); x.s = source(); y.s = "clean"; sink(x.s);',
        "static T h() { return new T(); } static T f() { return h(); } static T g() { return h(); }",
    ),
    "library static": ('T old = Lib.g; T x = new T(); Lib.g = x; x.s = source(); old.s = "c"; sink(x.s);', ""),
    "own static": ("set(new T()); T.g.s = source(); sink(T.g.s);", "static void set(T p) { T.g = p; }"),
    "exception": ("try { throw new Throwable(source()); } catch (Throwable e) { sink(e.getMessage()); }", ""),
    "thrown after a store": (
        "T o = new T(); try { m(o); } catch (RuntimeException e) { sink(o.s); }",
        "static void m(T p) { p.s = source(); throw new RuntimeException(); }",
    ),
    "deep path": (
        "T o = new T(); m(o); sink(o.f.f.f.s);",
        "static void m(T p) { p.f = new A(); p.f.f = new T(); p.f.f.f = new A(); p.f.f.f.s = source(); }",
    ),
    "deep read": (
        "T o = new T(); o.f = new A(); o.f.f = new T(); o.f.f.f = new A(); o.f.f.f.s = source(); sink(m(o));",
        "static Object m(T p) { return p.f.f.f.s; }",
    ),
    "sink in a callee": (
        "T o = new T(); o.s = source(); m(o);",
        "static void m(T p) { n(p); } static void n(T p) { sink(p.s); }",
    ),
    "recursion": (
        "T o = new T(); o.s = source(); sink(m(o));",
        "static Object m(T p) { if (*) { T q = new T(); q.s = p.s; return m(q); } return p.s; }",
    ),
    "elements": ('List l = new List(); l.add(source()); l.add("x"); sink(l.get(0));', ""),
    "array": ("A[] a = new A[]; A x = new A(); a[?] = x; a[0] = new A(); x.s = source(); sink(a[1].s);", ""),
    "number": ("int n = number(); n = n + 1; out(m(n));", "static int m(int p) { return p + 2; }"),
    "unmodelled": ("Builder b = new Builder(); b.put(source()); sink(b.build());", ""),
}


@EVERY_LIMIT
@pytest.mark.parametrize(("main", "methods"), LEAKING.values(), ids=LEAKING.keys())
def test_a_leak_is_found_under_every_limit(main: str, methods: str, bound: Limits) -> None:
    assert leaks(main, methods, bound)


CLEAN = {
    "strong update": ('T o = new T(); o.s = source(); o.s = "clean"; sink(o.s);', ""),
    "strong update in a callee": (
        "T o = new T(); o.s = source(); m(o); sink(o.s);",
        'static void m(T p) { p.s = "clean"; }',
    ),
    "other object": ("T o = new T(); T q = new T(); o.s = source(); sink(q.s);", ""),
    "other field": ("T o = new T(); o.s = source(); sink(o.f);", ""),
    "other call": ("Object x = id(source()); sink(id(new A()));", "static Object id(Object p) { return p; }"),
    "own static overwritten": ("T.g = new T(); T.g.s = source(); T.g = new T(); sink(T.g.s);", ""),
    "sanitized before": ('Object x = source(); x = "clean"; sink(x);', ""),
    "other index": ("A[] a = new A[]; A x = new A(); x.s = source(); a[0] = x; a[1] = new A(); sink(a[1].s);", ""),
    "thrown before": (
        "T o = new T(); try { n(); o.s = source(); } catch (RuntimeException e) { sink(o.f); }",
        "static void n() { throw new RuntimeException(); }",
    ),
    "override": (
        "A a = new B(); sink(m(a, source()));",
        'static Object m(A p, Object x) { if (p == null) { return "a"; } return p.f; }',
    ),
    "branch on a constant": ("Object x = null; if (0) { x = source(); } sink(x);", ""),
}


@pytest.mark.parametrize(("main", "methods"), CLEAN.values(), ids=CLEAN.keys())
def test_no_leak_is_found_where_precision_is_promised(main: str, methods: str) -> None:
    assert not leaks(main, methods)


FOLDED = {
    "export by type": Limits(export_library=3),
    "export by root": Limits(export_library=0),
    "no table": Limits(export_library=0, objects_per_static=0),
    "few tokens": Limits(tokens_per_method=2),
}


@pytest.mark.parametrize("bound", FOLDED.values(), ids=FOLDED.keys())
def test_what_a_library_static_holds_is_not_lost_when_folded(bound: Limits) -> None:
    text = """
        class A { Object f; A g; }
        lib class L {
          static A v;
          static A mk() { A a = new A(); a.f = source(); A b = new A(); b.g = a; if (*) { return a; } return b; }
          static void set() { L.v = L.mk(); }
          static void k() { sink(L.v.f); sink(L.v.g.f); }
        }
        class Main { static void main() { L.set(); L.k(); } }
    """
    assert len(solve(text, bound).findings()) == 2


@pytest.mark.parametrize("bound", FOLDED.values(), ids=FOLDED.keys())
@pytest.mark.parametrize(("of", "leaks"), {"View": False, "Object": True}.items())
def test_library_code_reaches_own_fields_of_mere_data_only(bound: Limits, of: str, leaks: bool) -> None:
    text = """
        extern class View = "Landroid/view/View;" { }
        lib class L {
          L next;
          Object held;
          static void walk(L l) { if (*) { L.walk(l.next); } l.next = l; sink(l.next.held); }
        }
        class A EXTENDS { Object secret; }
        class Main { static void main() {
          A a = new A(); a.secret = source(); L l = new L(); l.held = a; L.walk(l);
        } }
    """
    assert bool(solve(text.replace("EXTENDS", f"extends {of}" if of == "View" else ""), bound).findings()) == leaks


def test_a_field_that_is_read_and_stored_back_keeps_what_it_held() -> None:
    methods = """
        static void back(T p) { A x = p.f; p.f = x; }
        static void fresh(T p) { A x = p.f; if (*) { x = new C(); } p.f = x; }
        static void static_back() { T x = T.g; T.g = x; }
    """
    assert at_sinks(run("T o = new T(); o.f = new B(); back(o); sink(o.f);", methods)) == [{"B"}]
    assert at_sinks(run("T o = new T(); o.f = new B(); fresh(o); sink(o.f);", methods)) == [{"B", "C"}]
    assert at_sinks(run("T.g = new T(); static_back(); sink(T.g);", methods)) == [{"T"}]
