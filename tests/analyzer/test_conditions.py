"""Conditions of sources and sinks, decided from the facts of small programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.conditions import Conditions
from analyzer.container.model import AppFiles, Component, Layout, Manifest, Widget
from analyzer.ir import Op
from tests.programs.solving import knowledge, solve

PASSWORD, NAME, ELSEWHERE = 1, 2, 3


def files() -> AppFiles:
    widgets = (Widget("EditText", PASSWORD, password=True), Widget("EditText", NAME))
    components = (
        Component("Open", "activity", exported=True),
        Component("Closed", "activity", exported=False),
        Component("Data", "provider", exported=False, authorities=("own.data",)),
    )
    manifest = Manifest("app", None, None, 1, 30, None, False, True, (), components)
    return AppFiles(Path("x.apk"), "", "apk", (), manifest, (Layout("layout/main", 7, widgets),), ())


def holds(name: str, call: str, text: str) -> bool:
    """Whether a condition holds at the only call of a method of some name."""
    found = solve(text)
    program = found.program
    places = [
        (m, op)
        for m in found.graph.methods
        for op, ref in enumerate(program.body(m).ref.tolist())
        if program.body(m).op[op] == Op.CALL and program.method(ref).name == call
    ]
    (place,) = places
    return Conditions(found.idfg, files(), knowledge()).holds(name, *place)


INTENT = """
extern class Class = "Ljava/lang/Class;" { static Class forName(String n); }
extern class Name = "Landroid/content/ComponentName;" { Name(String p, String c); }
extern class Intent = "Landroid/content/Intent;" { Intent(); Intent setClassName(String p, String c);
  Intent setAction(String a); Intent setClass(Context c, Class k); Intent setComponent(Name n); }
extern class Context = "Landroid/content/Context;" { Context(); void startActivity(Intent i); }
extern class Lib = "Lunknown/Lib;" { static Intent intent(); static String text(); }
class Own {}
"""


@pytest.mark.parametrize(
    ("made", "implicit"),
    [
        ("", True),
        ('i.setAction("act");', True),
        ('i.setClassName("app", "Own");', False),
        ('i.setClassName("other", "other.Class");', True),
        ('i.setClassName("app", Lib.text());', True),
        ('i.setClass(c, Class.forName("Own"));', False),
        ('i.setComponent(new Name("app", "Own"));', False),
        ("i = Lib.intent();", True),
    ],
)
def test_an_intent_is_explicit_when_it_names_a_class_of_the_app(made: str, implicit: bool) -> None:
    main = f"Context c = new Context(); Intent i = new Intent(); {made} c.startActivity(i);"
    assert (
        holds("implicit_intent", "startActivity", f"{INTENT} class Main {{ static void main() {{ {main} }} }}")
        is implicit
    )


@pytest.mark.parametrize("explicit", [True, False])
def test_an_intent_is_looked_at_where_callers_made_it(explicit: bool) -> None:
    second = 'j.setClassName("app", "Own");' if explicit else ""
    text = f"""{INTENT} class Sender {{ static void send(Context c, Intent p) {{ c.startActivity(p); }} }}
      class Main {{ static void main() {{ Context c = new Context();
        Intent i = new Intent(); i.setClassName("app", "Own"); Sender.send(c, i);
        Intent j = new Intent(); {second} Sender.send(c, j); }} }}"""
    assert holds("implicit_intent", "startActivity", text) is not explicit


VIEWS = """
extern class View = "Landroid/view/View;" {}
extern class Text = "Landroid/widget/EditText;" extends View { Text(Activity a); Object getText(); }
extern class Activity = "Landroid/app/Activity;" { Activity(); View findViewById(int id); }
"""


@pytest.mark.parametrize(
    ("view", "password"),
    [
        (f"a.findViewById({PASSWORD})", True),
        (f"a.findViewById({NAME})", False),
        (f"a.findViewById({ELSEWHERE})", True),  # no layout has it
        ("a.findViewById(unknown())", True),
        ("new Text(a)", False),
    ],
)
def test_the_layout_says_whether_a_widget_is_a_password_field(view: str, password: bool) -> None:
    main = f"Activity a = new Activity(); Text t = (Text) {view}; t.getText();"
    assert holds("password_widget", "getText", f"{VIEWS} class Main {{ static void main() {{ {main} }} }}") is password


STREAMS = """
extern class Out = "Ljava/io/OutputStream;" { void write(int b); }
extern class Bytes = "Ljava/io/ByteArrayOutputStream;" extends Out { Bytes(); }
extern class File = "Ljava/io/FileOutputStream;" extends Out { File(String n); }
extern class Buffered = "Ljava/io/BufferedOutputStream;" extends Out { Buffered(Out o); }
"""


@pytest.mark.parametrize(
    ("stream", "outside"),
    [
        ("new Bytes()", False),
        ('new File("f")', True),
        ("new Buffered(new Bytes())", False),
        ('new Buffered(new File("f"))', True),
    ],
)
def test_a_stream_is_what_it_wraps(stream: str, outside: bool) -> None:
    main = f"Out o = {stream}; o.write(1);"
    assert holds("outside_stream", "write", f"{STREAMS} class Main {{ static void main() {{ {main} }} }}") is outside


QUERY = """
extern class Uri = "Landroid/net/Uri;" { static Uri parse(String s); static Uri withAppendedPath(Uri u, String s); }
extern class Resolver = "Landroid/content/ContentResolver;" { Resolver(); Object query(Uri u); }
extern class Secure = "Landroid/provider/Settings$Secure;" { static String getString(Resolver r, String n); }
"""


@pytest.mark.parametrize(
    ("uri", "private"),
    [
        ('Uri.parse("content://own.data/x")', False),
        ('Uri.withAppendedPath(Uri.parse("content://own.data"), "1")', False),
        ('Uri.parse("content://com.android.contacts/data")', True),
        ("Uri.parse(source())", True),
    ],
)
def test_the_apps_own_content_is_not_private(uri: str, private: bool) -> None:
    main = f"Resolver r = new Resolver(); Uri u = {uri}; r.query(u);"
    assert holds("private_content", "query", f"{QUERY} class Main {{ static void main() {{ {main} }} }}") is private


@pytest.mark.parametrize(("name", "identifies"), [('"android_id"', True), ('"adb_enabled"', False), ("source()", True)])
def test_one_setting_identifies_the_device(name: str, identifies: bool) -> None:
    main = f"Resolver r = new Resolver(); String n = {name}; Secure.getString(r, n);"
    assert holds("android_id", "getString", f"{QUERY} class Main {{ static void main() {{ {main} }} }}") is identifies


@pytest.mark.parametrize(("cls", "exported"), [("Open", True), ("Closed", False), ("Neither", True)])
def test_the_manifest_says_which_components_are_exported(cls: str, exported: bool) -> None:
    text = f"""extern class Activity = "Landroid/app/Activity;" {{ Activity(); Object getIntent(); }}
      class {cls} extends Activity {{ {cls}() {{ }} void run() {{ this.getIntent(); }} }}
      class Main {{ static void main() {{ {cls} a = new {cls}(); a.run(); }} }}"""
    assert holds("exported", "getIntent", text) is exported


def test_an_unknown_condition_holds() -> None:
    text = "class Main { static void main() { sink(source()); } }"
    assert holds("no such condition", "sink", text)
