"""Witness paths: how a label got from its source to a sink, statement by statement.

Inside a method the solved facts are a graph: rows that hold a token, joined by the operations that copy it. A
shortest path through it explains the token; where the path crosses a call, the callee's path is put in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from analyzer.encode import EXTRA, Layout
from analyzer.idfg import Idfg
from analyzer.tokens import CELL, PSEUDO, RETURN, SINK, STATIC, THROWN, Key
from gpu import problem as pb
from gpu.bits import bits_of
from gpu.solution import MethodFacts

MOST_ROWS = 100_000
"""Rows of summaries looked at for one (method, token); beyond that no path is shown through the method."""
MOST_ROWS_IN_ALL = 20_000_000
"""The same for one app."""
MOST_TRIES = 1_000
"""(method, token, row) tried for one witness; beyond that a finding shows its two ends only."""

START = -1
"""Pseudo-row at which a token comes into being."""
PASSAGE = -2
"""First of the pseudo-rows between what a summary's row takes and where it goes: many to many in few edges."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An operation that puts a token into a row."""

    source: int
    """Row that held it, or START."""
    row: int
    op: int
    """Operation of the problem."""
    origin: int
    """IR operation."""
    application: int = -1
    column: int = -1
    """Export column of the application's summary that carries the token."""
    export_row: int = -1


@dataclass(frozen=True, slots=True)
class WitnessStep:
    """One step: an IR operation of a method, and why the data is there."""

    method: int
    op: int
    why: str


class _TooMuch(Exception):
    """A witness, or what it needs, would take too long to find."""


class Witnesses:
    """Finds witness paths in a solved app. Shortest paths are kept per (method, token)."""

    def __init__(self, idfg: Idfg, max_steps: int, in_time: Callable[[], bool] = lambda: True) -> None:
        """`in_time`: asked often; once it says no, no more paths are found, and `stopped` is set."""
        self.idfg, self.max_steps, self.in_time = idfg, max_steps, in_time
        self.stopped = False
        self.tables = idfg.replay.tables
        self._trees: dict[tuple[int, int], dict[int, Edge | None]] = {}
        self._passages: dict[tuple[int, int], int] = {}
        self.guesses: set[str] = set()
        self._tries = self._rows = self._rows_in_all = 0

    def path(self, method: int, token: Key, row_key: Key) -> list[WitnessStep]:
        """Steps by which a token reaches a row of a method; empty when it cannot be shown."""
        layout = self.idfg.encoded.layouts[method]
        row = self.idfg.row(layout, row_key)
        if row < 0 or token not in layout.columns:
            return []
        self._tries = 0
        try:
            return self._expand(layout, layout.columns.index(token), row, frozenset())[: self.max_steps]
        except _TooMuch:
            return []

    def _go_on(self) -> bool:
        self.stopped = self.stopped or not self.in_time()
        return not self.stopped

    # -- one method --------------------------------------------------------------------------------------------

    def _expand(
        self, layout: Layout, column: int, row: int, above: frozenset[tuple[int, int, int]]
    ) -> list[WitnessStep]:
        me = (layout.method, column, row)
        if me in above or len(above) > 60:
            return []
        self._tries += 1
        if self._tries > MOST_TRIES or not self._go_on():
            raise _TooMuch
        steps: list[WitnessStep] = []
        for edge in self._shortest(layout, column, row):
            inner: list[WitnessStep] = []
            callee = self._callee(edge)
            if callee is not None:
                inner = self._inside(callee, edge, above | {me})
            if edge.origin < EXTRA:
                steps.append(WitnessStep(layout.method, edge.origin, self._why(layout, edge, bool(inner))))
            steps += inner
        return steps

    def _callee(self, edge: Edge) -> Layout | None:
        if edge.application < 0:
            return None
        summary = self.tables.app_summary[edge.application]
        if summary >= self.idfg.encoded.problem.n_methods:
            return None
        return self.idfg.encoded.layouts[int(self.idfg.encoded.problem.method_key[summary])]

    def _inside(self, callee: Layout, edge: Edge, above: frozenset[tuple[int, int, int]]) -> list[WitnessStep]:
        """The path inside a callee, from the column that stands for the token to the row that it leaves by."""
        t, m = self.tables, callee.number
        first = t.col_off[m]
        columns = [c for c in range(len(callee.columns)) if t.col_export[first + c] == edge.column]
        rows = [
            t.export_row[i] for i in range(t.export_off[m], t.export_off[m + 1]) if t.export_to[i] == edge.export_row
        ]
        for column in columns:
            for row in rows:
                if self._holds(callee, row, column):
                    steps = self._expand(callee, column, row, above)
                    if steps:
                        return steps
        return []

    def _holds(self, layout: Layout, row: int, column: int) -> bool:
        solver = self.idfg.replay.method(layout.number)
        if not solver.is_heap(row):
            return bool(solver.rows[row] >> column & 1)
        at = row - solver.first_heap
        return any(head[at] >> column & 1 for head in self.idfg.solution.heads[layout.number])

    def _shortest(self, layout: Layout, column: int, row: int) -> list[Edge]:
        """From where the token comes into being; ties go to the earlier operation."""
        reached = self._tree(layout, column)
        path: list[Edge] = []
        at = row
        while (last := reached.get(at)) is not None:
            if last.source <= PASSAGE and (before := reached[last.source]) is not None:
                last = replace(before, row=last.row)
            path.append(last)
            at = last.source
        return path[::-1]

    def _tree(self, layout: Layout, column: int) -> dict[int, Edge | None]:
        """Breadth first: per row that the token reaches, the edge by which it does so first."""
        key = (layout.number, column)
        reached = self._trees.get(key)
        if reached is not None:
            return reached
        graph = self._graph(layout, column)
        reached = self._trees[key] = {START: None}
        for r in self._entry_rows(layout, column):
            reached.setdefault(r, None)
        frontier = list(reached)
        while frontier:
            first: dict[int, Edge] = {}
            for r in frontier:
                for edge in graph.get(r, ()):
                    if edge.row not in reached:
                        known = first.get(edge.row)
                        if known is None or edge.op < known.op:
                            first[edge.row] = edge
            reached.update(first)
            frontier = sorted(first, key=lambda r: (first[r].op, r))
        return reached

    def _entry_rows(self, layout: Layout, column: int) -> list[int]:
        t, m = self.tables, layout.number
        return sorted(t.entry_row[i] for i in range(t.entry_off[m], t.entry_off[m + 1]) if t.entry_col[i] == column)

    def _graph(self, layout: Layout, column: int) -> dict[int, list[Edge]]:
        self._rows = 0
        try:
            return self._make_graph(layout, column)
        except _TooMuch:
            return {}
        finally:
            self._rows_in_all += self._rows

    def _make_graph(self, layout: Layout, column: int) -> dict[int, list[Edge]]:
        graph: dict[int, list[Edge]] = {}
        solver = self.idfg.replay.method(layout.number)
        for block in range(solver.n_blocks):
            for op, heap in self.idfg.replay.states(layout.number, block):
                if op >= 0:
                    for edge in self._edges(solver, op, heap, column):
                        graph.setdefault(edge.source, []).append(edge)
        return graph

    def _edges(self, solver: MethodFacts, op: int, heap: list[int], column: int) -> Iterator[Edge]:
        t, bit = self.tables, 1 << column
        kind, dst, src, origin = t.op_kind[op], t.op_dst[op], t.op_src[op], int(self.idfg.encoded.problem.op_origin[op])
        if kind == pb.GENERATE:
            if src == column:
                yield Edge(START, dst, op, origin)
        elif kind == pb.OR:
            if solver.get(src, heap) & t.mask(t.op_mask[op]) & bit:
                yield Edge(src, dst, op, origin)
        elif kind == pb.LOAD:
            for row in self._selected(solver, solver.get(src, heap), t.op_link[op], heap, bit):
                yield Edge(row, dst, op, origin)
        elif kind == pb.STORE:
            if solver.get(dst, heap) & bit:
                link = t.link(t.op_link[op])
                for c in bits_of(solver.get(src, heap)):
                    for row in link.get(c, ()):
                        yield Edge(dst, row, op, origin)
        else:
            for application in range(t.call_off[dst], t.call_off[dst + 1]):
                yield from self._applied(solver, op, origin, application, heap, bit)

    def _selected(self, solver: MethodFacts, base: int, link_id: int, heap: list[int], bit: int) -> list[int]:
        link = self.tables.link(link_id)
        return [row for c in bits_of(base) for row in link.get(c, ()) if solver.get(row, heap) & bit]

    def _applied(
        self, solver: MethodFacts, op: int, origin: int, application: int, heap: list[int], bit: int
    ) -> Iterator[Edge]:
        t = self.tables
        summary = t.summary(t.app_summary[application])
        self._rows += len(summary.bits)
        if self._rows > MOST_ROWS or self._rows_in_all > MOST_ROWS_IN_ALL or not self._go_on():
            raise _TooMuch
        sigma = solver.substitution(application, heap)
        first = t.write_off[application]
        for r, bits in enumerate(summary.bits):
            row = t.write_row[first + r]
            if row == pb.DROPPED or not bits:
                continue
            carriers = [c for c in bits_of(bits) if sigma[c] & bit]
            if not carriers or not t.mask(t.write_mask[first + r]) & bit:
                continue
            if row == pb.TO_CELLS:
                link = t.link(t.write_link[first + r])
                targets = [cell for c in bits_of(sigma[summary.owner[r]]) for cell in link.get(c, ())]
            else:
                targets = [row]
            between = PASSAGE - self._passages.setdefault((application, r), len(self._passages))
            seen: set[int] = set()
            for c in carriers:
                for source in self._carried_from(solver, application, c, sigma, heap, bit):
                    if source not in seen:
                        seen.add(source)
                        yield Edge(source, between, op, origin, application, c, r)
            for target in dict.fromkeys(targets):
                yield Edge(between, target, op, origin, application, -1, r)

    def _carried_from(
        self, solver: MethodFacts, application: int, column: int, sigma: list[int], heap: list[int], bit: int
    ) -> list[int]:
        """Rows of the caller from which an export column takes the token."""
        t = self.tables
        summary = t.summary(t.app_summary[application])
        at = t.bind_off[application] + column
        kind = summary.kind[column]
        if kind == pb.CONSTANT:
            return [START]
        if kind == pb.ROOT:
            return [t.bind_at[at]]
        if kind == pb.CHILD:
            owners = sigma[summary.parent[column]]
            rows = self._selected(solver, owners, t.bind_link[at], heap, bit)
            if owners & bit:
                rows += self._carried_from(solver, application, summary.parent[column], sigma, heap, bit)
            return rows
        owners = sigma[column]
        for source in summary.region[column]:
            owners |= sigma[source]
        rows = self._selected(solver, owners, t.bind_link[at], heap, bit)
        for source in summary.region[column]:
            if sigma[source] & bit:
                rows += self._carried_from(solver, application, source, sigma, heap, bit)
        return rows

    # -- words -------------------------------------------------------------------------------------------------

    def _why(self, layout: Layout, edge: Edge, inside: bool) -> str:
        target = layout.rows[edge.row]
        names = self.idfg.names
        self._note_guess(layout, edge)
        if edge.source == START:
            return "the data comes into being in the call" if inside else "the data comes in here"
        if isinstance(target, int):
            if self.tables.op_kind[edge.op] == pb.APPLY:
                return "the call returns it"
            source = layout.rows[edge.source]
            if not isinstance(source, int):
                return f"read from {names.slot(layout.method, source)}"
            return "computed from it"
        kind = target[0]
        if kind == CELL:
            return f"kept in {names.slot(layout.method, target)}"
        if kind in (STATIC, PSEUDO):
            return f"kept in {names.slot(layout.method, target)}"
        if kind == RETURN:
            return "returned"
        if kind == THROWN:
            return "thrown"
        if kind == SINK:
            return "passed to a call that lets it out" if inside else "it leaves the app here"
        return "passed on"

    def _note_guess(self, layout: Layout, edge: Edge) -> None:
        if edge.application < 0 or self._callee(edge) is not None or edge.origin >= EXTRA:
            return
        shape = self.idfg.ctx.shapes[layout.method]
        call = shape.calls.get(edge.origin)
        if call is None:
            return
        for application in shape.applications(call):
            if application.guess:
                self.guesses.add(f"no model: {self.idfg.ctx.program.signature(call.method)}")
