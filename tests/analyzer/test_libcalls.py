"""What library calls do: app-wide objects, what library code reaches, native methods."""

from __future__ import annotations

import pytest

from analyzer.libcalls import LibraryCalls
from analyzer.tokens import OBJECT
from tests.programs.solving import Solved, solve

PREFERENCES = """
extern class Editor = "Landroid/content/SharedPreferences$Editor;" { Editor putString(String k, String v); }
extern class Preferences = "Landroid/content/SharedPreferences;" {
  Editor edit(); String getString(String k, String d); }
extern class Context = "Landroid/content/Context;" { Context(); Preferences getSharedPreferences(String n, int m); }
class Store { static void put(Context c, String v) {
  Preferences p = c.getSharedPreferences("a", 0); Editor e = p.edit(); e.putString("k", v); } }
"""
VIEWS = """
extern class View = "Landroid/view/View;" {}
extern class Text = "Landroid/widget/TextView;" extends View { void setText(String t); Object getText(); }
extern class Activity = "Landroid/app/Activity;" { Activity(); View findViewById(int id); }
"""


def leaks(classes: str, main: str) -> bool:
    """Whether sink() gets a label."""
    found = solve(f"{classes} class Main {{ static void main() {{ {main} }} }}")
    program = found.program
    return any(program.method(int(program.body(m).ref[op])).name == "sink" for _, (m, op) in found.findings())


@pytest.mark.parametrize(
    ("name", "key", "leaking"),
    [
        ('"a"', '"k"', True),
        ('"b"', '"k"', False),
        ('"a"', '"other"', False),
        ("source()", '"k"', True),  # a name that is not known may be any
        ('"a"', "source()", True),
    ],
)
def test_preferences_are_one_object_per_name_wherever_they_are_asked_for(name: str, key: str, leaking: bool) -> None:
    main = f"""Context c = new Context(); Store.put(c, source());
      String n = (String) {name}; String k = (String) {key};
      Preferences p = c.getSharedPreferences(n, 0); String s = p.getString(k, ""); sink(s);"""
    assert leaks(PREFERENCES, main) is leaking


def test_what_is_put_under_an_unknown_name_may_be_under_any() -> None:
    main = """Context c = new Context(); String n = Names.any(); Preferences q = c.getSharedPreferences(n, 0);
      Editor e = q.edit(); e.putString("k", source()); Preferences p = c.getSharedPreferences("b", 0);
      sink(p.getString("k", ""));"""
    assert leaks(f'{PREFERENCES} extern class Names = "Lunknown/Names;" {{ static String any(); }}', main)


@pytest.mark.parametrize(("other", "leaking"), [(1, True), (2, False)])
def test_a_view_of_one_id_is_one_object(other: int, leaking: bool) -> None:
    classes = f"""{VIEWS} class A {{
      static void first(Activity a) {{ Text t = (Text) a.findViewById(1); t.setText(source()); }}
      static void second(Activity a) {{ Text t = (Text) a.findViewById({other}); sink(t.getText()); }} }}"""
    found = solve(
        f"{classes} class Main {{ static void main() {{ Activity a = new Activity(); A.second(a); A.first(a); }} }}"
    )
    typed = {s for _, s in found.findings()}
    sources = {found.program.method(a[0]).name for a, _ in found.findings()}
    assert bool(typed) and ("first" in sources) is leaking  # the text of a view is a source by itself


def library(found: Solved) -> LibraryCalls:
    return found.ctx.library


def test_app_wide_objects_are_in_the_table_from_the_start() -> None:
    found = solve(
        f"""{PREFERENCES} class Main {{ static void main() {{
        Context c = new Context(); Preferences p = c.getSharedPreferences("a", 0); sink(p); }} }}"""
    )
    sites = {key[1] for shape in found.ctx.shapes.values() for key in shape.keys if key[0] == OBJECT}
    named = sites & library(found).app_wide
    assert {library(found).app_wide_name(s) for s in named} == {("preferences", "a")}
    assert found.ctx.table.sites >= library(found).app_wide
    whole = library(found).singleton("preferences")
    (keyed,) = named
    assert library(found).kin[keyed] == [whole] and keyed in library(found).kin[whole]


UNKNOWN = """extern class Lib = "Lunknown/Lib;" {
  Lib(); static String describe(Foo f); static String view(View v); String own(); }"""
VISIBLE = f"""
extern class View = "Landroid/view/View;" {{ View(); }}
class Foo {{ Object s; }} class Mine extends View {{ Object s; }}
{UNKNOWN} class Sub extends Lib {{ Object s; Sub() {{ }} }}
"""


def test_an_unmodelled_method_sees_the_fields_of_an_object_of_an_unknown_type() -> None:
    assert leaks(VISIBLE, "Foo f = new Foo(); f.s = source(); sink(Lib.describe(f));")


def test_an_unmodelled_method_does_not_see_app_fields_of_what_it_takes_as_a_library_type() -> None:
    assert not leaks(VISIBLE, "Mine m = new Mine(); m.s = source(); sink(Lib.view(m));")


def test_an_unmodelled_method_does_not_see_app_fields_of_its_receiver() -> None:
    assert not leaks(VISIBLE, "Sub m = new Sub(); m.s = source(); sink(m.own());")
    assert leaks(VISIBLE, "Sub m = new Sub(); m.s = source(); sink(m.s);")
