"""The ICFG and the call graph as networkx graphs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import gdroid
from analyzer.icfg import size
from analyzer.ir import Op
from gdroid.app import App

APKS = Path(__file__).resolve().parent.parent.parent / "apks"
NAMES = ["DirectLeak_Bad", "CallKinds_Bad", "Exceptions_Bad", "Loops_Bad", "Recursion_Bad", "DamagedMethod_Bad"]


@cache
def app(name: str) -> App:
    return gdroid.load(APKS / f"{name}.apk")


@cache
def icfg(name: str) -> nx.MultiDiGraph:
    return app(name).icfg()


@pytest.mark.parametrize("name", NAMES)
def test_each_call_leads_to_the_entry_of_each_target_and_back_behind_it(name: str) -> None:
    found, graph, program = icfg(name), app(name).graph, app(name).program
    calls = 0
    for (method, op), targets in graph.site_targets.items():
        node = (program.signature(method), op)
        if node not in found:
            continue
        after = {b for _, b, kind in found.out_edges(node, keys=True) if kind == "flow"}
        for target in targets:
            callee = program.signature(target)
            if (callee, 0) not in found:
                continue
            calls += 1
            assert found.has_edge(node, (callee, 0), "call")
            body = program.body(target)
            for end in (body.op == Op.RETURN).nonzero()[0].tolist():
                assert {b for _, b, kind in found.out_edges((callee, end), keys=True) if kind == "return"} >= after
    assert calls


@pytest.mark.parametrize("name", NAMES)
def test_return_edges_come_from_returns_and_never_lead_into_a_handler(name: str) -> None:
    found, program = icfg(name), app(name).program
    methods = {program.signature(m): m for m in app(name).graph.methods}
    for (signature, op), (caller, after), kind in found.edges(keys=True):
        if kind == "return":
            assert program.body(methods[signature]).op[op] == Op.RETURN
            assert program.body(methods[caller]).op[after] != Op.CAUGHT


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_is_reached_from_the_entry_of_the_app(name: str) -> None:
    found, program = icfg(name), app(name).program
    root = (program.signature(app(name).graph.root), 0)
    assert set(found) == {root} | nx.descendants(found, root)


def test_exceptions_lead_to_handlers() -> None:
    found, program = icfg("Exceptions_Bad"), app("Exceptions_Bad").program
    methods = {program.signature(m): m for m in app("Exceptions_Bad").graph.methods}
    heads = [(b, kind) for _, b, kind in found.edges(keys=True) if kind == "exception"]
    assert heads
    caught = [b for b, _ in heads if program.body(methods[b[0]]).op[b[1]] == Op.CAUGHT]
    assert caught


@pytest.mark.parametrize("name", ["DirectLeak_Bad", "CallKinds_Bad", "Exceptions_Bad", "Loops_Bad", "Recursion_Bad"])
def test_the_sizes_in_the_report_are_those_of_the_graph(name: str) -> None:
    found = icfg(name)
    nodes, edges, _, _ = size(app(name).context, app(name).graph)
    assert (nodes, edges) == (len(found), found.number_of_edges())


def test_the_call_graph_has_an_edge_per_caller_and_callee() -> None:
    found = app("CallKinds_Bad").call_graph()
    program, graph = app("CallKinds_Bad").program, app("CallKinds_Bad").graph
    wanted = {(program.signature(m), program.signature(t)) for m in graph.methods for t in graph.callees(m)}
    assert set(found.edges) == wanted and len(found) == len(graph.methods)
