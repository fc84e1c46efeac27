"""How a token got into a row of a solved method: flows of the method, and shortest paths over them, in plain Python.

This is the readable definition of what `gpu.flows` finds with kernels: both give the same paths. A flow is an operation
that passes a token from a row to another, or makes it. A path is shortest; of equals, the one by earlier operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpu import reference
from gpu.bits import bits_of
from gpu.problem import APPLY, CHILD, CONSTANT, DROPPED, GENERATE, LOAD, OR, ROOT, TO_CELLS
from gpu.reference import MethodSolver
from gpu.solution import START, Hop

Node = int | tuple[int, int]
"""A row, START, or a write: (application, export row). What a call takes in and what it writes meet at its writes."""


@dataclass(frozen=True, slots=True)
class _Flow:
    source: Node
    to: Node
    op: int
    application: int = -1
    column: int = -1


class Replay(reference.Replay):
    """A solved problem that says how tokens got into rows, by looking at all flows of a token at once."""

    def path(self, m: int, column: int, row: int) -> list[Hop]:
        """See `gpu.solution.Replay`."""
        reached = self._tree(m, column)
        hops: list[Hop] = []
        at: Node = row
        while (last := reached.get(at)) is not None:
            export_row = -1
            if isinstance(last.source, tuple):
                export_row = last.source[1]
                before = reached[last.source]
                assert before is not None
                last = before
            assert isinstance(last.source, int) and isinstance(at, int)
            hops.append(Hop(last.source, at, last.op, last.application, last.column, export_row))
            at = last.source
        return hops[::-1]

    def _tree(self, m: int, column: int) -> dict[Node, _Flow | None]:
        """Breadth first: per node that the token reaches, the flow by which it does so first."""
        t = self.tables
        graph: dict[Node, list[_Flow]] = {}
        solver = self.method(m)
        for block in sorted(self.reached(m)):
            for op, heap in self.states(m, block):
                for flow in self._flows(solver, op, heap, column) if op >= 0 else ():
                    graph.setdefault(flow.source, []).append(flow)
        entries = [t.entry_row[i] for i in range(t.entry_off[m], t.entry_off[m + 1]) if t.entry_col[i] == column]
        frontier: list[Node] = [START, *sorted(set(entries))]
        reached: dict[Node, _Flow | None] = dict.fromkeys(frontier)
        while frontier:
            first: dict[Node, _Flow] = {}
            for node in frontier:
                for flow in graph.get(node, ()):
                    if flow.to not in reached and (flow.to not in first or flow.op < first[flow.to].op):
                        first[flow.to] = flow
            reached.update(first)
            frontier = sorted(first, key=lambda node: (first[node].op, _order(node)))
        return reached

    def reached(self, m: int) -> set[int]:
        """Blocks of a method that are reached."""
        t = self.tables
        found, stack = {0}, [t.block_off[m]]
        while stack:
            block = stack.pop()
            for s in t.succ[t.succ_off[block] : t.succ_off[block + 1]]:
                if s not in found:
                    found.add(s)
                    stack.append(t.block_off[m] + s)
        return found

    def _flows(self, solver: MethodSolver, op: int, heap: list[int], column: int) -> Iterator[_Flow]:
        t, bit = self.tables, 1 << column
        kind, dst, src = t.op_kind[op], t.op_dst[op], t.op_src[op]
        if kind == GENERATE:
            if src == column:
                yield _Flow(START, dst, op)
        elif kind == OR:
            if solver.get(src, heap) & t.mask(t.op_mask[op]) & bit:
                yield _Flow(src, dst, op)
        elif kind == LOAD:
            if t.mask(t.op_mask[op]) & bit:
                for row in self._selected(solver, solver.get(src, heap), t.op_link[op], heap, bit):
                    yield _Flow(row, dst, op)
        elif kind != APPLY:
            if solver.get(dst, heap) & bit:
                for row in self._cells(solver, solver.get(src, heap), t.op_link[op], bit):
                    yield _Flow(dst, row, op)
        else:
            for application in range(t.call_off[dst], t.call_off[dst + 1]):
                yield from self._applied(solver, op, application, heap, bit)

    def _selected(self, solver: MethodSolver, base: int, link_id: int, heap: list[int], bit: int) -> list[int]:
        """Rows that a base selects and that hold the token."""
        link = self.tables.link(link_id) if link_id >= 0 else {}
        return [row for c in bits_of(base) for row in link.get(c, ()) if solver.get(row, heap) & bit]

    def _cells(self, solver: MethodSolver, base: int, link_id: int, bit: int) -> list[int]:
        """Rows that a base selects and that let the token in."""
        link = self.tables.link(link_id) if link_id >= 0 else {}
        found = [row for c in bits_of(base) for row in link.get(c, ()) if solver.row_mask[row] & bit]
        return list(dict.fromkeys(found))

    def _applied(self, solver: MethodSolver, op: int, application: int, heap: list[int], bit: int) -> Iterator[_Flow]:
        t = self.tables
        summary = t.summary(t.app_summary[application])
        sigma = solver.substitution(application, heap)
        first = t.write_off[application]
        for r, bits in enumerate(summary.bits):
            row = t.write_row[first + r]
            carriers = [c for c in bits_of(bits) if sigma[c] & bit]
            if row == DROPPED or not carriers or not t.mask(t.write_mask[first + r]) & bit:
                continue
            between = (application, r)
            for c in carriers:
                for source in dict.fromkeys(self._sources(solver, application, c, sigma, heap, bit)):
                    yield _Flow(source, between, op, application, c)
            if row == TO_CELLS:
                for cell in self._cells(solver, sigma[summary.owner[r]], t.write_link[first + r], bit):
                    yield _Flow(between, cell, op, application)
            else:
                yield _Flow(between, row, op, application)

    def _sources(
        self, solver: MethodSolver, application: int, column: int, sigma: list[int], heap: list[int], bit: int
    ) -> list[int]:
        """Rows from which a column takes the token: its own, and those of columns whose objects it is in place of."""
        t = self.tables
        summary = t.summary(t.app_summary[application])
        found: list[int] = []
        order = [column]
        for c in order:
            at = t.bind_off[application] + c
            kind = summary.kind[c]
            if kind == CONSTANT:
                found.append(START)
            elif kind == ROOT:
                found.append(t.bind_at[at])
            else:
                above = [summary.parent[c]] if kind == CHILD else summary.region[c]
                owners = 0 if kind == CHILD else sigma[c]
                for source in above:
                    owners |= sigma[source]
                found += self._selected(solver, owners, t.bind_link[at], heap, bit)
                order += [s for s in above if sigma[s] & bit and s not in order]
        return found


def _order(node: Node) -> tuple[int, int, int]:
    """Of what one operation reaches, writes come first, later ones before earlier ones."""
    return (0, -node[0], -node[1]) if isinstance(node, tuple) else (1, node, 0)
