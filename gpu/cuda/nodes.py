"""A problem as the GDroid paper solves it: every statement is a node of the graph, and every node has all facts.

Each operation becomes a block of its own. Locals become *frame slots*: SSA values that are never live together share
one, as registers do, and a slot is a heap row, so that it has a value at every node; its first write clears it. Values
that cannot (written in several places, selected by a link, exported) keep one row per method. The facts at the node
after a value's definition are those of the value, so a solution of the new problem gives one of the old, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpu.pack import fact_offsets
from gpu.problem import APPLY, CHANNEL, CONSTANT, GENERATE, HEAP, LOAD, STORE, VALUE, Problem
from gpu.reference import Tables
from gpu.solution import Solution

I8 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PerNode:
    """A problem with a block per node, and the way back."""

    problem: Problem
    origin: Problem
    row_at: I8
    """(rows of origin,) row in `problem`, of its method."""
    read_at: I8
    """(rows of origin,) node of the method whose state holds the facts of a value in a frame slot; -1: the row has one
    value per method; -2: what holds on entry is all."""
    head_at: I8
    """(blocks of origin,) node of the method at whose head the block begins."""
    n_slots: I8
    """(n_methods,) frame slots."""

    def facts(self, facts: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Facts of the origin, (fact_off[-1],) words as in `Solution`, from those of `problem`."""
        p, q = self.origin, self.problem
        width, to_off, _ = fact_offsets(p)
        _, from_off, _ = fact_offsets(q)
        heap = _count_heap(p)
        new_heap = _count_heap(q)
        new_rows = np.diff(q.row_off).astype(np.int64)
        new_first = np.array([_first_heap(q, m) for m in range(q.n_methods)], np.int64)
        found = np.zeros(int(to_off[-1]), np.uint64)
        # Rows of a method.
        method = np.repeat(np.arange(p.n_methods), np.diff(p.row_off))
        row = np.arange(len(method)) - p.row_off[method]
        n = width[method]
        target = to_off[method] + row * n
        at_node = self.read_at >= 0
        slot = self.row_at - new_first[method]
        source = from_off[method] + np.where(
            at_node, (new_rows[method] + self.read_at * new_heap[method] + slot) * n, self.row_at * n
        )
        use = (self.read_at >= -1) & (p.row_kind != HEAP)
        _gather(found, facts, target[use], source[use], n[use])
        entry_method = np.repeat(np.arange(p.n_methods), np.diff(p.entry_off))
        at_entry = self.read_at[p.row_off[entry_method] + p.entry_row] == -2
        m, row, col = entry_method[at_entry], p.entry_row[at_entry], p.entry_col[at_entry].astype(np.int64)
        word = to_off[m] + row * width[m] + (col >> 6)
        np.bitwise_or.at(found, word, np.uint64(1) << (col & 63).astype(np.uint64))
        # Heads of blocks: the heap rows are the last ones of a node.
        method = np.repeat(np.arange(p.n_methods), np.diff(p.block_off))
        block = np.arange(len(method)) - p.block_off[method]
        n = width[method]
        target = to_off[method] + (np.diff(p.row_off)[method] + block * heap[method]) * n
        first = new_rows[method] + self.head_at * new_heap[method] + new_heap[method] - heap[method]
        _gather(found, facts, target, from_off[method] + first * n, heap[method] * n)
        return found

    def solution(self, facts: NDArray[np.uint64], summaries: NDArray[np.uint64]) -> Solution:
        """The solution of the origin, from words of `problem`'s facts and summaries."""
        _, fact_off, summary_off = fact_offsets(self.origin)
        return Solution(self.origin, self.facts(facts), fact_off, summaries, summary_off)


def _gather(to: NDArray[np.uint64], source: NDArray[np.uint64], at: I8, source_at: I8, n: I8) -> None:
    """Copies runs of n words each."""
    step = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    to[np.repeat(at, n) + step] = source[np.repeat(source_at, n) + step]


def _count_heap(p: Problem) -> I8:
    total = np.concatenate(([0], np.cumsum(p.row_kind == HEAP)))
    found: I8 = (total[p.row_off[1:]] - total[p.row_off[:-1]]).astype(np.int64)
    return found


def _first_heap(p: Problem, m: int) -> int:
    kinds = p.row_kind[p.row_off[m] : p.row_off[m + 1]]
    return int(np.count_nonzero(kinds == VALUE))


def per_node(problem: Problem) -> PerNode:
    """The same problem with a block per operation and frame slots instead of values."""
    return _Nodes(problem).run()


class _Nodes:
    def __init__(self, problem: Problem) -> None:
        self.p, self.t = problem, Tables(problem)
        self.rows: list[int] = []
        self.row_mask: list[int] = []
        self.row_kind: list[int] = []
        self.row_off = [0]
        self.row_at = np.full(len(problem.row_kind), -1, np.int64)
        self.read_at = np.full(len(problem.row_kind), -1, np.int64)
        self.head_at = np.zeros(int(problem.block_off[-1]), np.int64)
        self.n_slots: list[int] = []
        self.block_off, self.succ_off, self.op_off = [0], [0], [0]
        self.succ: list[int] = []
        self.ops: list[int] = []
        self.clear_off, self.clear_row = [0], list[int]()
        self.dst, self.src, self.link = list[int](), list[int](), list[int]()
        self.link_off, self.link_col, self.link_row = [0], list[int](), list[int]()
        self.exit: list[int] = []
        self.entry_row = problem.entry_row.copy()
        self.export_row = problem.export_row.copy()
        self.bind_at, self.bind_link = problem.bind_at.copy(), np.full_like(problem.bind_link, -1)
        self.write_row, self.write_link = problem.write_row.copy(), np.full_like(problem.write_link, -1)

    def run(self) -> PerNode:
        p = self.p
        for m in range(p.n_methods):
            _Method(self, m).run()
        ops = np.array(self.ops, np.int64)

        def i4(values: Sequence[int]) -> NDArray[np.int32]:
            return np.array(values, np.int32)

        new = replace(
            p,
            row_off=i4(self.row_off), row_kind=np.array(self.row_kind, np.uint8), row_mask=i4(self.row_mask),
            link_off=i4(self.link_off), link_col=i4(self.link_col), link_row=i4(self.link_row),
            entry_row=self.entry_row, block_off=i4(self.block_off), exit_block=i4(self.exit),
            succ_off=i4(self.succ_off), succ=i4(self.succ), op_off=i4(self.op_off),
            op_kind=p.op_kind[ops], op_dst=i4(self.dst), op_src=i4(self.src), op_link=i4(self.link),
            op_mask=p.op_mask[ops], op_origin=p.op_origin[ops],
            clear_off=i4(self.clear_off), clear_row=i4(self.clear_row),
            bind_at=self.bind_at, bind_link=self.bind_link, write_row=self.write_row, write_link=self.write_link,
            export_row=self.export_row,
        )  # fmt: skip
        new.validate("per node")
        return PerNode(new, p, self.row_at, self.read_at, self.head_at, np.array(self.n_slots, np.int64))


class _Method:
    """One method: which values live in frame slots, which slots, and then its nodes."""

    def __init__(self, out: _Nodes, m: int) -> None:
        t = self.t = out.t
        self.out, self.m = out, m
        self.first_row, last = t.row_off[m], t.row_off[m + 1]
        self.kinds = t.row_kind[self.first_row : last]
        self.masks = t.row_mask[self.first_row : last]
        self.n_values = self.kinds.count(VALUE)
        self.first_block = t.block_off[m]
        self.n_blocks = t.block_off[m + 1] - self.first_block
        self.block_ops = [
            range(t.op_off[self.first_block + b], t.op_off[self.first_block + b + 1]) for b in range(self.n_blocks)
        ]
        self.succ = [
            t.succ[t.succ_off[self.first_block + b] : t.succ_off[self.first_block + b + 1]]
            for b in range(self.n_blocks)
        ]
        self.entry = {t.entry_row[i] for i in range(t.entry_off[m], t.entry_off[m + 1])}
        self.linked: set[int] = set()
        self.defs: dict[int, list[tuple[int, int]]] = {}
        self.reads: dict[int, list[tuple[int, int]]] = {}

    def run(self) -> None:
        self.look()
        slots = self.slots()
        self.rename(slots)
        self.emit(slots)

    # -- what is read and written where ------------------------------------------------------------------------

    def look(self) -> None:
        """Notes the places, (block, number of the operation), that read and write each value row."""
        t, n = self.t, self.n_values

        def note(table: dict[int, list[tuple[int, int]]], row: int, place: tuple[int, int]) -> None:
            if 0 <= row < n:
                table.setdefault(row, []).append(place)

        for b, ops in enumerate(self.block_ops):
            for i, op in enumerate(ops):
                kind = t.op_kind[op]
                if kind == APPLY:
                    for a in self.applications(op):
                        s = t.app_summary[a]
                        shift = t.sumcol_off[s] - t.bind_off[a]
                        for k in range(t.bind_off[a], t.bind_off[a + 1]):
                            if t.sumcol_kind[k + shift] != CONSTANT:
                                note(self.reads, t.bind_at[k], (b, i))
                            self.selects(t.bind_link[k])
                        for k in range(t.write_off[a], t.write_off[a + 1]):
                            note(self.defs, t.write_row[k], (b, i))
                            self.selects(t.write_link[k])
                    continue
                if kind != GENERATE:
                    note(self.reads, t.op_src[op], (b, i))
                note(self.reads if kind == STORE else self.defs, t.op_dst[op], (b, i))
                if kind in (LOAD, STORE):
                    self.selects(t.op_link[op])

    def applications(self, op: int) -> range:
        return range(self.t.call_off[self.t.op_dst[op]], self.t.call_off[self.t.op_dst[op] + 1])

    def selects(self, link: int) -> None:
        if link >= 0:
            for i in range(self.t.link_off[link], self.t.link_off[link + 1]):
                if self.t.link_row[i] < self.n_values:
                    self.linked.add(self.t.link_row[i])

    def flow(self) -> tuple[int, list[int]]:
        """Bit sets: blocks that are reached from the entry; and from each of these, by one edge or more."""
        order, seen, stack = [], {0}, [(0, 0)]
        while stack:
            b, i = stack.pop()
            if i < len(self.succ[b]):
                stack.append((b, i + 1))
                c = self.succ[b][i]
                if c not in seen:
                    seen.add(c)
                    stack.append((c, 0))
            else:
                order.append(b)
        order.reverse()
        self.order = order
        after = [0] * self.n_blocks
        again = True
        while again:
            again = False
            for b in reversed(order):
                new = 0
                for c in self.succ[b]:
                    new |= after[c] | 1 << c
                if new != after[b]:
                    after[b] = new
                    again = True
        return sum(1 << b for b in seen), after

    def slots(self) -> dict[int, int]:
        """Frame slot of each value that can live in one."""
        t = self.t
        reached, after = self.flow()
        exported = {t.export_row[i] for i in range(t.export_off[self.m], t.export_off[self.m + 1])}
        self.last: dict[int, tuple[int, int]] = {}
        """Of each value in a slot: where it is written last; (0, -1): on entry."""
        self.begin: dict[int, int] = {}
        for v in range(self.n_values):
            defs = self.defs.get(v, [])
            if v in self.linked or v in exported or bool(defs) == (v in self.entry):
                continue
            if not defs:
                self.last[v], self.begin[v] = (0, -1), -1
                continue
            (block, begin), end = defs[0], defs[-1][1]
            if defs[-1][0] != block or not reached >> block & 1:
                continue
            # Its facts must come to all that reads it, from after the last write; before the first one, around a loop.
            if all(
                i > end or (i <= begin and after[block] >> b & 1) if b == block else after[block] >> b & 1
                for b, i in self.reads.get(v, [])
                if reached >> b & 1
            ):
                self.last[v], self.begin[v] = (block, end), begin
        return self.color(self.interference())

    def interference(self) -> dict[int, int]:
        """Per value in a slot: bit set of those that must not share its slot."""
        writes: dict[tuple[int, int], list[int]] = {}
        reads: dict[tuple[int, int], int] = {}
        for v in self.last:
            for place in dict.fromkeys(self.defs.get(v, [])):
                writes.setdefault(place, []).append(v)
            for place in self.reads.get(v, []):
                reads[place] = reads.get(place, 0) | 1 << v

        def back(b: int, live: int, clash: dict[int, int] | None) -> int:
            for i in reversed(range(len(self.block_ops[b]))):
                written = writes.get((b, i), [])
                if clash is not None and written:
                    here = live
                    for v in written:
                        here |= 1 << v
                    for v in written:
                        clash[v] |= here & ~(1 << v)
                for v in written:
                    live = live & ~(1 << v) if self.begin[v] == i else live | 1 << v
                live |= reads.get((b, i), 0)
            return live

        live_in = [0] * self.n_blocks
        again = True
        while again:
            again = False
            for b in reversed(self.order):
                live = 0
                for c in self.succ[b]:
                    live |= live_in[c]
                live = back(b, live, None)
                if live != live_in[b]:
                    live_in[b] = live
                    again = True
        clash = dict.fromkeys(self.last, 0)
        for b in self.order:
            live = 0
            for c in self.succ[b]:
                live |= live_in[c]
            back(b, live, clash)
        on_entry = [v for v in self.last if self.begin[v] < 0]
        here = live_in[0]
        for v in on_entry:
            here |= 1 << v
        for v in on_entry:
            clash[v] |= here & ~(1 << v)
        return clash

    def color(self, clash: dict[int, int]) -> dict[int, int]:
        """Greedy, in order of rows. What may enter a row is a property of the row, so of its slot too."""
        slots: dict[int, int] = {}
        both: dict[int, int] = dict.fromkeys(clash, 0)
        for v, others in clash.items():
            both[v] |= others
            for w in clash:
                if others >> w & 1:
                    both[w] |= 1 << v
        members: list[int] = []
        self.slot_mask: list[int] = []
        for v in clash:
            for k, (inside, mask) in enumerate(zip(members, self.slot_mask, strict=True)):
                if mask == self.masks[v] and not inside & both[v]:
                    members[k] |= 1 << v
                    slots[v] = k
                    break
            else:
                slots[v] = len(members)
                members.append(1 << v)
                self.slot_mask.append(self.masks[v])
        return slots

    # -- the new arrays ----------------------------------------------------------------------------------------

    def rename(self, slots: dict[int, int]) -> None:
        """New numbers of rows: values that stay, frame slots and heap rows, channels."""
        out = self.out
        stay = [v for v in range(self.n_values) if v not in slots]
        n_slots = len(self.slot_mask)
        self.first_slot = len(stay)
        self.to = [0] * len(self.kinds)
        for k, v in enumerate(stay):
            self.to[v] = k
        for v, k in slots.items():
            self.to[v] = self.first_slot + k
        for r in range(self.n_values, len(self.kinds)):
            self.to[r] = r - self.n_values + self.first_slot + n_slots
        rest = range(self.n_values, len(self.kinds))
        out.row_kind += [VALUE] * len(stay) + [HEAP] * n_slots + [self.kinds[r] for r in rest]
        out.row_mask += [self.masks[v] for v in stay] + self.slot_mask + [self.masks[r] for r in rest]
        out.row_off.append(len(out.row_kind))
        out.n_slots.append(n_slots)
        out.row_at[self.first_row : self.first_row + len(self.to)] = self.to
        self.links: dict[int, int] = {-1: -1}

    def new_link(self, link: int) -> int:
        """A link with the rows of this method renamed; links may be shared between methods, new ones are not."""
        if link not in self.links:
            out, t = self.out, self.t
            for i in range(t.link_off[link], t.link_off[link + 1]):
                out.link_col.append(t.link_col[i])
                out.link_row.append(self.to[t.link_row[i]])
            out.link_off.append(len(out.link_col))
            self.links[link] = len(out.link_off) - 2
        return self.links[link]

    def emit(self, slots: dict[int, int]) -> None:
        out, t, m = self.out, self.t, self.m
        begins: dict[tuple[int, int], list[int]] = {}
        ends: dict[tuple[int, int], list[int]] = {}
        for v in slots:
            block, end = self.last[v]
            if self.begin[v] < 0:
                out.read_at[self.first_row + v] = -2
                continue
            begins.setdefault((block, self.begin[v]), []).append(self.to[v])
            ends.setdefault((block, end), []).append(v)
        heads, extra, node = [], [], 0
        for b, ops in enumerate(self.block_ops):
            heads.append(node)
            # A node without operation: for an empty block, and after a last one that defines a value.
            more = not ops or (b, len(ops) - 1) in ends
            extra.append(more)
            node += len(ops) + more
        for b, ops in enumerate(self.block_ops):
            out.head_at[self.first_block + b] = heads[b]
            for i, op in enumerate(ops):
                self.operation(op, begins.get((b, i), []))
                out.op_off.append(len(out.ops))
                for v in ends.get((b, i), []):
                    out.read_at[self.first_row + v] = heads[b] + i + 1
            if extra[b]:
                out.op_off.append(len(out.ops))
            count = len(ops) + extra[b]
            for i in range(count - 1):
                out.succ.append(heads[b] + i + 1)
                out.succ_off.append(len(out.succ))
            out.succ += [heads[c] for c in self.succ[b]]
            out.succ_off.append(len(out.succ))
        out.block_off.append(out.block_off[-1] + node)
        at = t.exit_block[m]
        out.exit.append(heads[at] if at >= 0 else -1)
        for i in range(t.entry_off[m], t.entry_off[m + 1]):
            out.entry_row[i] = self.to[t.entry_row[i]]
        for i in range(t.export_off[m], t.export_off[m + 1]):
            out.export_row[i] = self.to[t.export_row[i]]

    def operation(self, op: int, begins: list[int]) -> None:
        out, t = self.out, self.t
        kind, dst, src, link = t.op_kind[op], t.op_dst[op], t.op_src[op], -1
        if kind == APPLY:
            for a in self.applications(op):
                shift = t.sumcol_off[t.app_summary[a]] - t.bind_off[a]
                for k in range(t.bind_off[a], t.bind_off[a + 1]):
                    out.bind_link[k] = self.new_link(t.bind_link[k])
                    if t.bind_at[k] >= 0 and t.sumcol_kind[k + shift] != CONSTANT:
                        out.bind_at[k] = self.to[t.bind_at[k]]
                for k in range(t.write_off[a], t.write_off[a + 1]):
                    out.write_link[k] = self.new_link(t.write_link[k])
                    if t.write_row[k] >= 0:
                        out.write_row[k] = self.to[t.write_row[k]]
        else:
            dst = self.to[dst]
            src = src if kind == GENERATE else self.to[src]
            link = self.new_link(t.op_link[op]) if kind in (LOAD, STORE) else -1
        out.ops.append(op)
        out.dst.append(dst)
        out.src.append(src)
        out.link.append(link)
        out.clear_row += [self.to[t.clear_row[i]] for i in range(t.clear_off[op], t.clear_off[op + 1])] + begins
        out.clear_off.append(len(out.clear_row))


assert CHANNEL > HEAP > VALUE
