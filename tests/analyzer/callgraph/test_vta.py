"""Sets of types flow along edges; RTA finds at least what VTA finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import framework
from analyzer.android.callbacks import Callbacks
from analyzer.android.library import Library
from analyzer.callgraph import rta
from analyzer.callgraph.propagate import LIBRARY, TypeFlow, bits_of
from tests.analyzer.callgraph.apps import App, app, knowledge


@pytest.fixture
def found(apks: Path) -> App:
    """An app with a few classes in a hierarchy."""
    return app(apks / "Dispatch_Bad.apk")


def class_id(found: App, name: str) -> int:
    t = found.program.type_find(f"Lorg/gdroid/samples/dispatch/{name};")
    assert t >= 0
    return t


def test_types_reach_what_edges_lead_to_whenever_they_are_added(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    first = flow.nodes(3)
    bit = flow.bit(class_id(found, "Main"))
    flow.edge(first, first + 1)
    flow.seed(first, bit)
    flow.run()
    flow.edge(first + 1, first + 2)
    flow.edge(first + 2, first)
    flow.run()
    assert flow.types[first : first + 3] == [bit] * 3


def test_a_filter_lets_only_subtypes_in_and_no_library_object_is_an_app_class(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    main, other = class_id(found, "Main"), class_id(found, "VirtualBad")
    activity = found.program.type_id("Landroid/app/Activity;")
    for target, kept in ((main, {main}), (activity, {main})):
        node = flow.nodes(1)
        flow.filter(node, target)
        flow.seed(node, flow.bit(main) | flow.bit(other) | LIBRARY)
        exact = {flow.type_at[b] for b in bits_of(flow.types[node]) if b}
        assert exact == kept
        assert bool(flow.types[node] & LIBRARY) == (target == activity)


def test_a_watcher_sees_each_bit_once(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    node = flow.nodes(1)
    one, two = flow.bit(class_id(found, "Main")), flow.bit(class_id(found, "VirtualBad"))
    early: list[int] = []
    late: list[int] = []
    flow.watch(node, early.append)
    flow.seed(node, one)
    flow.run()
    flow.seed(node, two)
    flow.watch(node, late.append)
    flow.run()
    assert early == [one, two]
    assert sum(late) == one | two


@pytest.mark.parametrize("name", ["Dispatch_Bad", "ClickListeners_Bad", "Fields_Bad", "Collections_Bad", "Strings_Bad"])
def test_rta_finds_at_least_what_vta_finds(apks: Path, name: str) -> None:
    found = app(apks / f"{name}.apk")
    p = found.program
    callbacks = Callbacks(p, found.hierarchy, framework=framework.load())
    entered = [e.cls for e in found.graph.components if e.environment >= 0]
    constructors = [m for c in p.classes if c.type in entered for m in c.methods if p.method(m).name == "<init>"]
    library = Library(p, found.hierarchy, knowledge())
    quick = rta.analyze(p, found.hierarchy, callbacks, constructors, entered, library)
    mine = {m for m in found.graph.methods if m < p.n_dex_methods}
    assert mine <= set(quick.methods)
    assert set(quick.made) <= set(quick.instantiated)


def test_rta_dispatches_only_to_classes_of_which_there_are_objects(found: App) -> None:
    p = found.program
    entered = [e.cls for e in found.graph.components if e.environment >= 0]
    quick = rta.analyze(p, found.hierarchy, Callbacks(p, found.hierarchy), [], entered)
    assert (
        found.id("Lorg/gdroid/samples/dispatch/NeverCreatedOk$Child;->show(Ljava/lang/String;)V") not in quick.methods
    )
    assert class_id(found, "NeverCreatedOk$Child") not in quick.instantiated
