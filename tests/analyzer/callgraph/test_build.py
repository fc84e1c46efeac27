"""What runs, and what calls what, in the sample apps."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from analyzer.callgraph import scc
from analyzer.ir import Op
from tests.analyzer.callgraph.apps import App, analyze, app

NAMES = [
    "ClickListeners_Bad",
    "Dispatch_Bad",
    "Fragments_Bad",
    "Handlers_Bad",
    "LambdasInvokeCustom_Bad",
    "LayoutOnClick_Bad",
    "ManyTargets_Bad",
    "Receivers_Bad",
    "Services_Bad",
    "StaticInit_Bad",
    "Tasks_Bad",
    "Threads_Bad",
]


@pytest.mark.parametrize(
    ("name", "runs", "does_not"),
    [
        ("ClickListeners_Bad", [], ["NeverRegisteredOk.onClick"]),
        ("LocationCallbacks_Bad", [], ["NeverRegisteredOk.onLocationChanged"]),
        ("Receivers_Bad", [], ["NeverRegisteredOk.onReceive"]),
        ("Fragments_Bad", [], ["NeverAddedOk.onAttach"]),
        ("LayoutOnClick_Bad", ["Main.onCreate"], ["Main.forgotten", "ForgottenOk.run"]),
        ("Threads_Bad", ["AnonymousBad$1.run"], ["NeverStartedOk.run()V"]),
        ("Tasks_Bad", [], ["NeverSubmittedOk.call"]),
        ("Services_Bad", [], ["UnlistedOk.onBind"]),
        ("StaticInit_Bad", ["SourceInInitBad.<clinit>"], ["NeverInitialisedOk.<clinit>"]),
        ("Dispatch_Bad", [], ["NeverCreatedOk$Child.show", "InterfaceFieldOk$Echo.name"]),
        (
            "UnreachableCode_Ok",
            [],
            ["DisabledActivityOk.onCreate", "UnlistedActivityOk.onCreate", "DeadMethodOk.never"],
        ),
    ],
)
def test_what_can_run_is_reached_and_what_cannot_is_not(
    apks: Path, name: str, runs: list[str], does_not: list[str]
) -> None:
    reached = app(apks / f"{name}.apk").reached
    assert not set(runs) - reached
    assert not set(does_not) & reached


@pytest.mark.parametrize("name", NAMES)
def test_every_method_of_a_bad_class_is_reached(apks: Path, name: str) -> None:
    found = app(apks / f"{name}.apk")
    p = found.program
    for c in p.classes:
        if p.type_name(c.type).endswith("Bad;"):
            missing = [p.signature(m) for m in c.methods if p.has_code(m) and m not in found.graph.methods]
            assert all("<init>" in m for m in missing)  # of classes with static methods only


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_hangs_together(apks: Path, name: str) -> None:
    found = app(apks / f"{name}.apk")
    g, p = found.graph, found.program
    assert g.complete
    assert list(g.methods) == sorted(set(g.methods))
    assert g.root in g.methods and not g.callers(g.root)
    seen, stack = {g.root}, [g.root]
    while stack:
        for t in g.callees(stack.pop()):
            if t not in seen:
                seen.add(t)
                stack.append(t)
    assert seen == set(g.methods)
    for m in g.methods:
        body = p.body(m)
        for i, op in enumerate(body.op.tolist()):
            targets = g.targets(m, i)
            assert targets == tuple(sorted(set(targets)))
            if op != Op.CALL:
                assert not targets and (m, i) not in g.library_sites
            else:
                assert targets or g.is_library_call(m, i)
            if g.shim(m, i) >= 0:
                assert g.shim(m, i) in targets
    assert g.sccs == scc.components(g.methods, {m: g.callees(m) for m in g.methods})
    assert g.is_recursive(g.root) is False
    assert set(g.to_networkx(p).nodes) == {p.signature(m) for m in g.methods}


def test_two_runs_give_the_same_graph_with_the_same_ids(apks: Path) -> None:
    first, second = (analyze(app(apks / "Tasks_Bad.apk").files) for _ in range(2))
    assert first.graph.site_targets == second.graph.site_targets
    assert first.graph.library_sites == second.graph.library_sites
    names = [[a.program.signature(m) for m in a.graph.methods] for a in (first, second)]
    assert names[0] == names[1]


def test_a_receiver_that_only_one_class_reaches_has_one_target(apks: Path) -> None:
    found = app(apks / "Dispatch_Bad.apk")
    body_of = found.id("Lorg/gdroid/samples/dispatch/VirtualBad;->run(Ljava/lang/String;)V")
    targets = [t for _, t in found.calls(body_of) if t]
    assert targets and all(len(t) == 1 for t in targets)


def test_own_code_is_never_cut(apks: Path) -> None:
    assert app(apks / "ManyTargets_Bad.apk", targets_per_call=2).graph.cut == ()


def test_a_damaged_method_is_unknown_code_and_reported(apks: Path) -> None:
    found = app(apks / "DamagedMethod_Bad.apk")
    assert not {m for m in found.reached if m.startswith("Broken.")}
    assert any("Broken;->run" in problem.where for problem in found.graph.problems)
    (caller,) = {m for m, _ in found.graph.library_sites if "Main;->onCreate" in found.program.signature(m)}
    called = [c for c, targets in found.calls(caller) if "Broken;->run" in c and not targets]
    assert called


def test_out_of_time_leaves_a_graph_that_says_so(apks: Path) -> None:
    found = analyze(app(apks / "Tasks_Bad.apk").files, deadline=time.monotonic() - 1)
    assert not found.graph.complete
    assert found.graph.root in found.graph.methods
    assert set(found.graph.methods) <= set(range(found.program.n_methods))
    for m in found.graph.methods:
        body = found.program.body(m)
        assert all(
            found.graph.targets(m, i) or found.graph.is_library_call(m, i)
            for i in range(len(body.op))
            if body.op[i] == Op.CALL
        )


def test_disabled_components_are_listed_but_not_entered(apks: Path) -> None:
    entries = app(apks / "UnreachableCode_Ok.apk").graph.components
    status = {e.component.name.rsplit(".", 1)[-1]: (e.status, e.environment >= 0) for e in entries}
    assert status["DisabledActivityOk"] == ("disabled", False)
    assert status["Main"] == ("entered", True)


def library_sites_named(found: App, name: str) -> list[tuple[int, int]]:
    """Call sites of the app that call a method of that name."""
    p = found.program
    return [
        (m, i)
        for m in found.graph.methods
        for i in range(len(p.body(m).op))
        if p.body(m).op[i] == Op.CALL and p.body(m).c[i] != 6 and p.method(int(p.body(m).ref[i])).name == name
    ]


def test_a_call_that_calls_back_has_a_shim_of_its_own(apks: Path) -> None:
    found = app(apks / "Threads_Bad.apk")
    shims = [found.graph.shim(*site) for site in library_sites_named(found, "start")]
    assert len(shims) >= 2 and len(set(shims)) == len(shims) and min(shims) >= 0
    names = {t for s in shims for t in map(found.program.signature, found.graph.callees(s))}
    assert any(".run" in n or "->run()V" in n for n in names)


def test_suite_apps_have_complete_graphs(suites: Path) -> None:
    for name in ("com.politedroid_4.apk", "selendroid-test-app.apk"):
        found = app(suites / "real" / name)
        assert found.graph.complete and not found.graph.problems
        assert all(e.status == "entered" for e in found.graph.components)


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("Reflection1", "ConcreteClass.<init>"),
        ("Reflection4", "ConcreteClass.foo"),
        ("Reflection5", "MainActivity.log"),
        ("Reflection6", "MainActivity.foo"),
        ("Reflection8", "ConcreteClass.foo(Ljava/lang/String;)V"),
    ],
)
def test_reflection_with_constant_names_is_followed(suites: Path, name: str, runs: str) -> None:
    assert runs in app(suites / "droidbench3" / "Reflection" / f"{name}.apk").reached
