"""An evaluator of semantics.md straight on the IR of a whole program: sets of tokens, no encoder, no engine.

It shares names with the analysis (sites, fields, call graph, library models as summaries) and the decisions that the
shape pass fixes: export levels, foldings, merged keys. All facts it finds itself: first
the shape (one set per slot and method, nothing cleared), from it the clear sets, then the facts before each operation.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from analyzer.shape import Context
from analyzer.summary import Summary
from analyzer.table import Place, Table
from analyzer.tokens import CELL, OBJECT, TABLE, TABLE_CELL, Key
from tests.oracle.method import Method
from tests.oracle.sets import Effects, formals


class Oracle:
    """Evaluates a whole program."""

    def __init__(self, ctx: Context, levels: dict[int, int], shuffle: random.Random | None = None) -> None:
        """`shuffle`: makes the order of all work random, which must change nothing."""
        self.ctx, self.levels, self.shuffle = ctx, levels, shuffle
        self.shapes: dict[int, Effects] = {}
        self.facts: dict[int, Effects] = {}
        self.must: dict[int, frozenset[tuple[Key, int]]] = {}
        self._library: dict[int, tuple[Summary, Effects]] = {}
        roots = ctx.library.singletons
        self.table = Table(ctx.fields, set(roots), roots, ctx.library.kin)
        merged = any(shape.merge_keys for shape in ctx.shapes.values())
        if merged or any(levels.values()) or ctx.folded:  # what earlier, finer rounds put there stays: start from that
            self.table = ctx.table.copy()
            self.table.index()
        self.order = [m for scc in ctx.graph.sccs for m in scc if m in ctx.shapes and m in levels]
        self.scc_of = {m: frozenset(scc) for scc in ctx.graph.sccs for m in scc}
        self.methods = {m: Method(self, m) for m in self.order}

    def in_order(self, n: int) -> list[int]:
        """0 .. n-1 in the order of this evaluation."""
        order = list(range(n))
        if self.shuffle is not None:
            self.shuffle.shuffle(order)
        return order

    def of_library(self, summary: Summary) -> Effects:
        """A library summary, read."""
        known = self._library.get(id(summary))
        if known is None:
            rows = {
                row: frozenset(key for c, key in enumerate(summary.cols) if bits >> c & 1)
                for row, bits in zip(summary.rows, summary.bits, strict=True)
            }
            regions = {
                key: (frozenset(summary.cols[s] for s in sources), through.fields)
                for key, sources, through in zip(summary.cols, summary.region, summary.through, strict=True)
                if through is not None
            }
            known = self._library[id(summary)] = (summary, Effects(rows, regions))
        return known[1]

    def run(self) -> None:
        """Shapes until the table is stable; then all facts."""
        self.find_shapes()
        while self.grow_table():
            self.methods = {m: Method(self, m) for m in self.order}
            self.find_shapes()
        self.repeat(self.order, self.facts, Method.solved_summary)

    def grow_table(self) -> bool:
        """Puts what methods write to library statics, and to what these reach, into the table; whether it grew."""
        table, written = self.table, []
        before = dict(table.everything())
        for method in self.methods.values():
            for slot, tokens in method.shape.items():
                if isinstance(slot, int):
                    continue
                found = tokens - formals(tokens)
                place: Place
                if slot[0] == TABLE:
                    place = slot[1]
                elif slot[0] == TABLE_CELL:
                    place = slot[1], slot[2]
                elif slot[0] == CELL and method.feeds_table(slot):
                    place = method.table.member(slot[1]) or slot[1], slot[2]
                    found -= method.entry[slot]
                else:
                    continue
                written += [(place, (OBJECT, t[1], -1) if t[0] == OBJECT else t) for t in found]
        new = table.add(written)
        return bool(new) or before != dict(table.everything())

    def find_shapes(self) -> None:
        """Bottom-up, since certain overwrites inside a component count for nothing."""
        self.shapes, self.must = {}, {}
        for scc in self.ctx.graph.sccs:
            members = [m for m in scc if m in self.methods]
            self.repeat(members, self.shapes, Method.shape_summary)
            certain = {m: self.methods[m].certain() for m in members}
            self.must.update(certain)

    def repeat(self, members: list[int], summaries: dict[int, Effects], evaluate: Callable[[Method], Effects]) -> None:
        """Evaluates methods until no summary changes."""
        graph = self.ctx.graph
        pending = dict.fromkeys(members)
        inside = set(members)
        while pending:
            m = list(pending)[self.in_order(len(pending))[0]]
            del pending[m]
            found = evaluate(self.methods[m])
            if found != summaries.get(m):
                summaries[m] = found
                pending.update(dict.fromkeys(c for c in graph.callers(m) if c in inside))
