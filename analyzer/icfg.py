"""The inter-procedural control-flow graph: bodies joined by call and return edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.callgraph.graph import CallGraph
from analyzer.ir import Body, Op
from analyzer.lazy_shapes import Shapes
from analyzer.program import Program
from analyzer.shape import Context
from gpu.errors import UnreadableInput

if TYPE_CHECKING:
    import networkx as nx

Node = tuple[str, int]
"""(signature, index of the IR operation)."""


def edges(body: Body) -> Iterator[tuple[int, int, bool]]:
    """(from, to, exceptional) between IR operations of a body; empty blocks are passed through.

    An exceptional edge leaves from each operation that may throw, to the head of each handler of its range.
    """
    off, handlers = body.block_off.tolist(), body.handlers_of
    heads = [_heads(body, off, b) for b in range(body.n_blocks)]
    for b in range(body.n_blocks):
        for op in range(off[b], off[b + 1] - 1):
            yield op, op + 1, False
        if off[b] == off[b + 1]:
            continue
        for target in _after(body, heads, b):
            yield off[b + 1] - 1, target, False
        for handler in dict.fromkeys(h for block in handlers(b) for h in heads[block]):
            for op in range(off[b], off[b + 1]):
                if body.throws[op]:
                    yield op, handler, True


def _heads(body: Body, off: list[int], block: int) -> list[int]:
    """First operations of a block; of the blocks behind it where it is empty."""
    found: dict[int, None] = {}
    seen, work = {block}, [block]
    while work:
        b = work.pop()
        if off[b] < off[b + 1]:
            found[off[b]] = None
            continue
        for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
            if s not in seen:
                seen.add(s)
                work.append(s)
    return sorted(found)


def _after(body: Body, heads: list[list[int]], block: int) -> list[int]:
    """First operations behind the normal edges of a block."""
    targets = body.succ[body.succ_off[block] : body.succ_off[block + 1]].tolist()
    return list(dict.fromkeys(h for t in targets for h in heads[t]))


def to_networkx(program: Program, graph: CallGraph) -> nx.MultiDiGraph[tuple[str, int]]:
    """Nodes are (signature, index of the IR operation) with their `pc`; edges have a `kind`, which is also their key.

    flow: the next operation, past a call too. exception: to a handler. call: from a call to the first operation of
    each target. return: from each RETURN of a target to what follows the call; what a callee throws is an exception
    edge of the call. Methods whose code is damaged have no nodes.
    """
    import networkx as nx

    result: nx.MultiDiGraph[tuple[str, int]] = nx.MultiDiGraph()
    bodies = {}
    for m in graph.methods:
        try:
            bodies[m] = program.body(m)
        except UnreadableInput:
            continue
    following: dict[Node, list[int]] = {}
    for m, body in bodies.items():
        name = program.signature(m)
        for op in range(len(body.op)):
            result.add_node((name, op), pc=int(body.pc[op]))
        for a, b, exceptional in edges(body):
            kind = "exception" if exceptional else "flow"
            result.add_edge((name, a), (name, b), key=kind, kind=kind)
            if not exceptional:
                following.setdefault((name, a), []).append(b)
    returns = {m: (body.op == Op.RETURN).nonzero()[0].tolist() for m, body in bodies.items()}
    for m, body in bodies.items():
        name = program.signature(m)
        for op in (body.op == Op.CALL).nonzero()[0].tolist():
            for target in graph.targets(m, op):
                if target not in bodies or len(bodies[target].op) == 0:
                    continue
                callee = program.signature(target)
                result.add_edge((name, op), (callee, 0), key="call", kind="call")
                for end in returns[target]:
                    for after in following.get((name, op), ()):
                        result.add_edge((callee, end), (name, after), key="return", kind="return")
    return result


def size(ctx: Context, graph: CallGraph) -> tuple[int, int, int, int]:
    """(nodes, edges, call sites, call sites with neither an app target nor a model) of what was analysed.

    Nodes and edges are those of `to_networkx`, where the analysis is complete.
    """
    nodes = total = calls = unresolved = 0
    shapes = ctx.shapes
    assert isinstance(shapes, Shapes)
    codes = {m: shapes.code(m) for m in shapes}
    returns = {m: int((code.low.body.op == Op.RETURN).sum()) for m, code in codes.items()}
    for m, code in codes.items():
        body = code.low.body
        nodes += len(body.op)
        following: dict[int, int] = {}
        for a, _, exceptional in edges(body):
            total += 1
            if not exceptional:
                following[a] = following.get(a, 0) + 1
        calls += len(code.calls)
        for op, call in code.calls.items():
            for target in call.targets:
                if target in codes and len(codes[target].low.body.op):
                    total += 1 + returns[target] * following.get(op, 0)
        unresolved += sum(not call.targets for call in shapes.guesses(m))
    return nodes, total, calls, unresolved
