"""Sets of types flow along edges; RTA finds at least what VTA finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyzer import framework
from analyzer.android.callbacks import Callbacks
from analyzer.android.library import Library
from analyzer.callgraph import rta
from analyzer.callgraph.propagate import LIBRARY, TypeFlow
from tests.analyzer.callgraph.apps import App, app, knowledge


@pytest.fixture
def found(apks: Path) -> App:
    """An app with a few classes in a hierarchy."""
    return app(apks / "Dispatch_Bad.apk")


def class_id(found: App, name: str) -> int:
    t = found.program.type_find(f"Lorg/gdroid/samples/dispatch/{name};")
    assert t >= 0
    return t


def ints(*values: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(values, np.int32)


def classes(flow: TypeFlow, node: int) -> set[int]:
    return {flow.type_at[bit] for bit in flow.bits(node) if bit != LIBRARY}


def test_types_reach_what_edges_lead_to_whenever_they_are_added(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    first = flow.nodes(3)
    bit = flow.bit(class_id(found, "Main"))
    flow.edges(ints(first), ints(first + 1))
    flow.seed(ints(first), ints(bit))
    flow.run()
    flow.edges(ints(first + 1, first + 2), ints(first + 2, first))
    flow.run()
    assert [flow.bits(first + k) for k in range(3)] == [[bit]] * 3


@pytest.mark.parametrize("classes_first", [True, False])
def test_a_filter_lets_only_subtypes_in_and_no_library_object_is_an_app_class(found: App, classes_first: bool) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    main, other = class_id(found, "Main"), class_id(found, "VirtualBad")
    activity = found.program.type_id("Landroid/app/Activity;")
    if classes_first:
        flow.bit(main), flow.bit(other)
    for target, kept in ((main, {main}), (activity, {main})):
        node = flow.nodes(1)
        flow.filter(node, flow.mask(target))
        flow.seed(ints(node, node, node), ints(flow.bit(main), flow.bit(other), LIBRARY))
        assert classes(flow, node) == kept
        assert (LIBRARY in flow.bits(node)) == (target == activity)


def test_masks_are_what_the_hierarchy_says_in_any_order(found: App) -> None:
    h, program = found.hierarchy, found.program
    arrays = [program.type_id(name) for name in ("[Ljava/lang/Object;", "[Ljava/lang/String;")]
    types = [c.type for c in program.classes] + arrays
    late, early = TypeFlow(program, h), TypeFlow(program, h, len(types))
    for exact in types:
        late.bit(exact)
    for flow in (early, late):
        for target in types:
            flow.mask(target)
        for exact in types:
            flow.bit(exact)
        for target in types:
            node = flow.nodes(1)
            flow.filter(node, flow.mask(target))
            flow.seed(ints(*[node] * len(types)), ints(*map(flow.bit, types)))
            expected = {t for t in types if h.is_subtype(t, target) or (t in arrays and h.may_be(True, t, target))}
            assert classes(flow, node) == expected


def test_a_watcher_sees_each_bit_once_through_its_mask(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    node = flow.nodes(1)
    main, other = class_id(found, "Main"), class_id(found, "VirtualBad")
    one, two = flow.bit(main), flow.bit(other)
    early = flow.watch(ints(node), ints(-1))
    flow.seed(ints(node), ints(one))
    seen = [*zip(*flow.run(), strict=True)]
    flow.seed(ints(node), ints(two))
    late = flow.watch(ints(node, node), ints(-1, flow.mask(main)))
    seen += [*zip(*flow.run(), strict=True)]
    assert sorted(seen) == [(early, one), (early, two), (late, one), (late, two), (late + 1, one)]
    assert [len(part) for part in flow.run()] == [0, 0]


def test_all_grows_as_needed(found: App) -> None:
    """More nodes, edges, watchers, events and types than there is room for at first, added while bits are pending."""
    flow = TypeFlow(found.program, found.hierarchy)
    program = found.program
    bits = [flow.bit(program.type_id(f"La/C{k};")) for k in range(200)]
    first = flow.nodes(3000)
    flow.seed(ints(*[first] * 100), ints(*bits[:100]))
    chain = np.arange(first, first + 2999, dtype=np.int32)
    flow.edges(chain, chain + 1)
    flow.watch(np.full(3000, first + 2999, np.int32), np.full(3000, -1, np.int32))
    more = flow.nodes(5000)
    flow.seed(ints(*[more - 3000] * 100), ints(*bits[100:]))
    watchers, seen = flow.run()
    assert flow.bits(first + 2999) == bits
    assert len(watchers) == 3000 * 200
    assert len({*zip(watchers.tolist(), seen.tolist(), strict=True)}) == 3000 * 200


def test_nodes_and_edges_can_be_added_in_turns(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy)
    bit = flow.bit(class_id(found, "Main"))
    last = flow.nodes(1)
    flow.seed(ints(last), ints(bit))
    for step in range(300):
        first = flow.nodes(37)
        flow.edges(ints(last, *range(first, first + 36)), np.arange(first, first + 37, dtype=np.int32))
        last = first + 36
        if step % 7 == 0:
            flow.run()
    flow.run()
    assert all(flow.bits(node) == [bit] for node in range(last + 1))


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


@pytest.mark.parametrize("seed", range(4))
def test_sets_of_one_word_and_of_many_are_what_edges_lead_to(found: App, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_bits, n_edges = 300, 500, 400
    flow = TypeFlow(found.program, found.hierarchy, n_bits)
    first = flow.nodes(n)
    sets: list[set[int]] = [set() for _ in range(n)]
    edges: list[tuple[int, int]] = []
    watched = rng.integers(0, n, 50).astype(np.int32)
    seen: set[tuple[int, int]] = set()

    def run() -> None:
        watchers, bits = flow.run()
        seen.update(zip(watchers.tolist(), bits.tolist(), strict=True))

    flow.watch(first + watched[:25], np.full(25, -1, np.int32))
    for _ in range(3):
        sources, targets = rng.integers(0, n, (2, n_edges)).astype(np.int32)
        edges += [pair for pair in zip(sources.tolist(), targets.tolist(), strict=True) if pair[0] != pair[1]]
        flow.edges(*(first + part[sources != targets] for part in (sources, targets)))
        run()
        nodes, bits = rng.integers(0, n, 40).astype(np.int32), rng.integers(0, n_bits, 40).astype(np.int32)
        for node, bit in zip(nodes.tolist(), bits.tolist(), strict=True):
            sets[node].add(bit)
        flow.seed(first + nodes, bits)
        run()
    flow.watch(first + watched[25:], np.full(25, -1, np.int32))
    run()
    changed = True
    while changed:
        changed = False
        for source, target in edges:
            changed |= not sets[source] <= sets[target]
            sets[target] |= sets[source]
    assert [flow.bits(first + k) for k in range(n)] == [sorted(s) for s in sets]
    assert seen == {(k, bit) for k, node in enumerate(watched.tolist()) for bit in sets[node]}


def test_a_node_from_which_very_many_start_finds_rows_for_all(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy, 200)
    first = flow.nodes(1001)
    flow.edges(np.full(1000, first, np.int32), np.arange(first + 1, first + 1001, dtype=np.int32))
    for bit in (3, 70, 199):
        flow.seed(ints(first), ints(bit))
        flow.run()
    assert all(flow.bits(first + k) == [3, 70, 199] for k in range(1001))


def test_sets_of_one_word_take_no_row(found: App) -> None:
    flow = TypeFlow(found.program, found.hierarchy, 10_000)
    first = flow.nodes(5_000)
    flow.seed(np.arange(first, first + 5_000, dtype=np.int32), np.arange(5_000, dtype=np.int32))
    flow.run()
    assert flow.bits(first + 4_999) == [4_999]
    assert flow._types.nbytes < 1_000_000
