"""Strongly connected components and layers of a directed graph, without recursion and without hash order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def components(nodes: Sequence[int], succ: Mapping[int, Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Tarjan's algorithm: the SCCs of the graph, callees first, each sorted.

    `nodes` gives the order in which roots are tried and `succ` the order of edges: sorted ones give one answer only.
    Edges to nodes outside `nodes` are ignored.
    """
    known = set(nodes)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[tuple[int, ...]] = []
    for root in nodes:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(succ.get(root, ())))]
        while work:
            node, edges = work[-1]
            for target in edges:
                if target not in known:
                    continue
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(succ.get(target, ()))))
                    break
                if target in on_stack and index[target] < low[node]:
                    low[node] = index[target]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == index[node]:
                    at = _last(stack, node)
                    members = stack[at:]
                    del stack[at:]
                    on_stack.difference_update(members)
                    found.append(tuple(sorted(members)))
    return tuple(found)


def layers(sccs: Sequence[tuple[int, ...]], succ: Mapping[int, Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Layer k holds the indices of the SCCs whose longest chain of callees has k SCCs; `sccs` come callees first."""
    scc_of = {node: i for i, members in enumerate(sccs) for node in members}
    depth = [0] * len(sccs)
    for i, members in enumerate(sccs):
        for node in members:
            for target in succ.get(node, ()):
                j = scc_of.get(target, i)
                if j != i and depth[j] >= depth[i]:
                    depth[i] = depth[j] + 1
    result: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for i, d in enumerate(depth):
        result[d].append(i)
    return tuple(tuple(layer) for layer in result)


def _last(stack: list[int], node: int) -> int:
    at = len(stack) - 1
    while stack[at] != node:
        at -= 1
    return at
