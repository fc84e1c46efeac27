"""The small programs of semantics.md, section 9, that need components: lifecycles, later code, intents."""

from __future__ import annotations

from tests.programs.solving import solve_app

ANDROID = """
extern class Activity = "Landroid/app/Activity;" { Activity(); void startActivity(Intent i); Intent getIntent(); }
extern class Bundle = "Landroid/os/Bundle;" { }
extern class Intent = "Landroid/content/Intent;" {
  Intent(); Intent putExtra(String k, String v); String getStringExtra(String k);
  Intent setClassName(String p, String c);
}
extern class Runnable = "Ljava/lang/Runnable;" { }
extern class Thread = "Ljava/lang/Thread;" { Thread(); void start(); }
extern class Handler = "Landroid/os/Handler;" { Handler(); boolean post(Runnable r); }
"""


def test_a_component_sees_what_another_stored_into_an_object_that_it_left() -> None:
    text = """
        class A = "Lapp/A;" extends Activity {
          Object s; void onCreate(Bundle b) { Hub.a = this; } void onResume() { sink(this.s); }
        }
        class Hub = "Lapp/Hub;" { static A a; }
        class B = "Lapp/B;" extends Activity { void onCreate(Bundle b) { if (Hub.a != null) { Hub.a.s = %s; } } }
    """
    assert solve_app(ANDROID + text % "source()", A="activity", B="activity").findings()
    assert not solve_app(ANDROID + text % '"x"', A="activity", B="activity").findings()


def test_what_is_stored_after_posting_is_seen_by_what_runs_later() -> None:
    text = """
        class R = "Lapp/R;" extends Thread { Object d; void run() { sink(this.d); } }
        class A = "Lapp/A;" extends Activity {
          void onCreate(Bundle b) { Handler h = new Handler(); R r = new R(); h.post(r); r.d = %s; }
        }
    """
    assert solve_app(ANDROID + text % "source()", A="activity").findings()
    assert not solve_app(ANDROID + text % '"x"', A="activity").findings()


def test_what_runs_later_does_not_clear_what_was_there() -> None:
    text = """
        class R = "Lapp/R;" extends Thread { A a; void run() { this.a.s = "clean"; } }
        class A = "Lapp/A;" extends Activity {
          Object s;
          void onCreate(Bundle b) { this.s = source(); R r = new R(); r.a = this; r.start(); sink(this.s); }
        }
    """
    assert solve_app(ANDROID + text, A="activity").findings()


def test_an_extra_of_an_intent_reaches_the_component_that_it_names() -> None:
    text = """
        class A = "Lapp/A;" extends Activity {
          void onCreate(Bundle b) {
            Intent i = new Intent(); i.setClassName("app", "app.B"); i.putExtra("k", %s); this.startActivity(i);
          }
        }
        class B = "Lapp/B;" extends Activity { void onCreate(Bundle b) { sink(this.getIntent().getStringExtra("k")); } }
    """
    found = solve_app(ANDROID + text % "source()", A="activity", B="activity")
    b = found.program.method_find("Lapp/B;", "onCreate", "(Landroid/os/Bundle;)V")
    assert any(sink[0] == b for _, sink in found.findings())
