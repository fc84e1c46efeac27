"""Components and layers agree with networkx, whatever the graph."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from analyzer.callgraph import scc

GRAPHS = st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=13)


@given(GRAPHS)
def test_components_are_those_of_networkx_and_callees_come_first(succ: dict[int, list[int]]) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(13))
    graph.add_edges_from((a, b) for a, targets in succ.items() for b in targets)
    found = scc.components(range(13), succ)
    assert {frozenset(c) for c in found} == {frozenset(c) for c in nx.strongly_connected_components(graph)}
    position = {node: i for i, members in enumerate(found) for node in members}
    assert all(position[b] <= position[a] for a, b in graph.edges)
    assert all(members == tuple(sorted(members)) for members in found)


@given(GRAPHS)
def test_a_layer_calls_only_earlier_layers(succ: dict[int, list[int]]) -> None:
    found = scc.components(range(13), succ)
    layers = scc.layers(found, succ)
    layer_of = {node: k for k, layer in enumerate(layers) for i in layer for node in found[i]}
    component = {node: i for i, members in enumerate(found) for node in members}
    assert sorted(i for layer in layers for i in layer) == list(range(len(found)))
    for a, targets in succ.items():
        assert all(layer_of[b] < layer_of[a] for b in targets if component[a] != component[b])
    for k, layer in enumerate(layers[1:], 1):
        for i in layer:
            assert any(layer_of[b] == k - 1 for a in found[i] for b in succ.get(a, ()))


def test_a_long_chain_needs_no_recursion() -> None:
    chain = {i: [i + 1] for i in range(50_000)} | {50_000: [0]}
    assert scc.components(range(50_001), chain) == (tuple(range(50_001)),)
