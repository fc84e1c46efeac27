"""The inter-procedural control-flow graph: bodies joined by call and return edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.callgraph.graph import CallGraph
from analyzer.ir import Body, Op
from analyzer.program import Program
from analyzer.shape import Context

if TYPE_CHECKING:
    import networkx as nx


def edges(body: Body) -> Iterator[tuple[int, int]]:
    """Edges between IR operations of a body; empty blocks are passed through."""
    off = body.block_off.tolist()

    def first(block: int, seen: frozenset[int] = frozenset()) -> Iterator[int]:
        if off[block] < off[block + 1]:
            yield off[block]
        elif block not in seen:
            for s in body.succ[body.succ_off[block] : body.succ_off[block + 1]].tolist():
                yield from first(s, seen | {block})

    for b in range(body.n_blocks):
        for op in range(off[b], off[b + 1] - 1):
            yield op, op + 1
        if off[b] < off[b + 1]:
            for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
                for target in first(s):
                    yield off[b + 1] - 1, target
        for handler in body.handlers_of(b):
            for op in range(off[b], off[b + 1]):
                if body.throws[op]:
                    for target in first(handler):
                        yield op, target


def to_networkx(program: Program, graph: CallGraph) -> nx.DiGraph:
    """Nodes are (signature, operation index) with the pc as attribute; edges have a kind: flow, call or return."""
    import networkx as nx

    result = nx.DiGraph()
    for m in graph.methods:
        body, name = program.body(m), program.signature(m)
        for op in range(len(body.op)):
            result.add_node((name, op), pc=int(body.pc[op]))
        result.add_edges_from((((name, a), (name, b)) for a, b in edges(body)), kind="flow")
    for m in graph.methods:
        body, name = program.body(m), program.signature(m)
        following: dict[int, list[int]] = {}
        for a, b in edges(body):
            following.setdefault(a, []).append(b)
        for op in range(len(body.op)):
            for target in graph.targets(m, op) if body.op[op] == Op.CALL else ():
                callee, callee_name = program.body(target), program.signature(target)
                if len(callee.op) == 0:
                    continue
                result.add_edge((name, op), (callee_name, 0), kind="call")
                for end in range(len(callee.op)):
                    if callee.op[end] == Op.RETURN:
                        for after in following.get(op, ()):
                            result.add_edge((callee_name, end), (name, after), kind="return")
    return result


def size(ctx: Context, graph: CallGraph) -> tuple[int, int, int, int]:
    """(nodes, edges, call sites, call sites with neither an app target nor a model) of what was analysed."""
    nodes = total = calls = unresolved = 0
    for m, shape in ctx.shapes.items():
        body = shape.low.body
        nodes += len(body.op)
        total += len(body.op) + len(body.succ) - body.n_blocks
        for call in shape.calls.values():
            calls += 1
            targets = graph.targets(m, call.op)
            total += 2 * len(targets)
            if not targets and any(a.guess for a in shape.applications(call)):
                unresolved += 1
    return nodes, total, calls, unresolved
