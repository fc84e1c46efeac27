"""From shapes to the encoded problem: numbered rows and columns, blocks, operations, applications of summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from analyzer.ir import Op
from analyzer.lower import CALL, GEN, LOAD, OR, STORE, TABLE_GET, Primitive
from analyzer.shape import Application, CallSite, Context, MethodShape, image
from analyzer.summary import Summary, repr_key
from analyzer.tokens import CELL, CELL_DATA, SINK, STATIC, TABLE, TABLE_CELL, Key, Through, root_field
from gpu import problem as pb
from gpu.bits import bits_of
from gpu.problem import Problem

EXTRA = 1 << 32
"""Added to the origin of operations that no IR operation stands for by itself: effects at exceptional edges."""


@dataclass(slots=True)
class Layout:
    """Where things of a method ended up in the problem."""

    method: int
    number: int
    columns: list[Key]
    """Token key per column."""
    rows: list[Key | int]
    """Slot key, or SSA value, per row."""
    column_of: list[int]
    """Shape token -> column."""
    row_of: dict[int, int]
    """Shape row -> row."""
    place: list[tuple[int, int]]
    """IR operation -> (block, number of the block's operations that come before it)."""
    summary_cols: tuple[Key, ...] = ()
    summary_rows: tuple[Key, ...] = ()


@dataclass(slots=True)
class Encoded:
    """A problem, and the names behind its numbers."""

    problem: Problem
    layouts: dict[int, Layout]
    """By method id."""


@dataclass(slots=True)
class _Block:
    ops: list[tuple[int, int, int, int, int, int, tuple[int, ...]]] = field(default_factory=list)
    succ: list[int] = field(default_factory=list)


class _Csr:
    """A growing CSR array: offsets, and parallel columns of values."""

    def __init__(self, width: int) -> None:
        self.off = [0]
        self.values: list[list[int]] = [[] for _ in range(width)]

    def close(self) -> int:
        """Ends the present row; its number."""
        self.off.append(len(self.values[0]))
        return len(self.off) - 2

    def add(self, *values: int) -> None:
        for column, value in zip(self.values, values, strict=True):
            column.append(value)


class Encoder:
    """Encodes all methods that have a shape, bottom-up."""

    def __init__(self, ctx: Context, levels: dict[int, int]) -> None:
        self.ctx, self.levels = ctx, levels
        self.sccs = [tuple(m for m in scc if m in ctx.shapes and m in levels) for scc in ctx.graph.sccs]
        self.sccs = [scc for scc in self.sccs if scc]
        self.order = [m for scc in self.sccs for m in scc]
        self.number = {m: i for i, m in enumerate(self.order)}
        self.layouts: dict[int, Layout] = {}
        self.method_key = self.order
        self.cols, self.rows, self.entry, self.export = _Csr(2), _Csr(2), _Csr(2), _Csr(4)
        self.masks, self.links = _Csr(1), _Csr(2)
        self.blocks, self.succ, self.ops, self.clear = _Csr(0 + 1), _Csr(1), _Csr(6), _Csr(1)
        self.exit_block: list[int] = []
        self.calls, self.binds, self.writes = _Csr(1), _Csr(3), _Csr(3)
        self.constants: list[tuple[Summary, bool]] = []
        self.constant_ids: dict[tuple[int, bool], int] = {}

    def run(self, progress: Callable[[int, int], None] = lambda done, total: None) -> Encoded:
        """Encodes everything. Raises what the context's check raises."""
        for i, m in enumerate(self.order):
            self.ctx.check()
            _MethodEncoder(self, m).run()
            progress(i + 1, len(self.order))
        return Encoded(self.build(), self.layouts)

    def constant_summary(self, summary: Summary, heap_only: bool) -> int:
        """Number of a summary that does not change while solving."""
        key = (id(summary), heap_only)
        if key not in self.constant_ids:
            self.constant_ids[key] = len(self.order) + len(self.constants)
            self.constants.append((summary, heap_only))
        return self.constant_ids[key]

    def build(self) -> Problem:
        sumcols, region, alias, sumrows, bits = _Csr(2), _Csr(1), _Csr(1), _Csr(1), _Csr(1)
        everything = [(self.ctx.summaries[m], False) for m in self.order]
        for number, (summary, _) in enumerate([*everything, *self.constants]):
            constant = number >= len(everything)
            for c in range(len(summary.cols)):
                sumcols.add(summary.kind[c], summary.parent[c])
                for s in summary.region[c]:
                    region.add(s)
                region.close()
                for r in summary.alias[c]:
                    alias.add(r)
                alias.close()
            sumcols.close()
            for r in range(len(summary.rows)):
                sumrows.add(summary.owner[r])
                for c in bits_of(summary.bits[r]) if constant else ():
                    bits.add(c)
                bits.close()
            sumrows.close()
        scc_off = np.cumsum([0, *map(len, self.sccs)])

        def i4(values: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
            return np.asarray(list(values), np.int32)

        cols, rows = self.cols.values, self.rows.values
        op = self.ops.values
        return Problem(
            method_key=np.asarray(self.order, np.int64), scc_off=i4(scc_off),
            col_off=i4(self.cols.off), col_flag=np.asarray(cols[0], np.uint8), col_export=i4(cols[1]),
            row_off=i4(self.rows.off), row_kind=np.asarray(rows[0], np.uint8), row_mask=i4(rows[1]),
            mask_off=i4(self.masks.off), mask_col=i4(self.masks.values[0]),
            link_off=i4(self.links.off), link_col=i4(self.links.values[0]), link_row=i4(self.links.values[1]),
            entry_off=i4(self.entry.off), entry_row=i4(self.entry.values[0]), entry_col=i4(self.entry.values[1]),
            block_off=i4(self.blocks.off), exit_block=i4(self.exit_block),
            succ_off=i4(self.succ.off), succ=i4(self.succ.values[0]),
            op_off=i4(self.ops.off), op_kind=np.asarray(op[0], np.uint8), op_dst=i4(op[1]), op_src=i4(op[2]),
            op_link=i4(op[3]), op_mask=i4(op[4]), op_origin=np.asarray(op[5], np.int64),
            clear_off=i4(self.clear.off), clear_row=i4(self.clear.values[0]),
            call_off=i4(self.calls.off), app_summary=i4(self.calls.values[0]),
            bind_off=i4(self.binds.off), bind_at=i4(self.binds.values[0]), bind_link=i4(self.binds.values[1]),
            bind_mask=i4(self.binds.values[2]),
            write_off=i4(self.writes.off), write_row=i4(self.writes.values[0]), write_link=i4(self.writes.values[1]),
            write_mask=i4(self.writes.values[2]),
            sumcol_off=i4(sumcols.off), sumcol_kind=np.asarray(sumcols.values[0], np.uint8),
            sumcol_parent=i4(sumcols.values[1]),
            region_off=i4(region.off), region_col=i4(region.values[0]),
            alias_off=i4(alias.off), alias_row=i4(alias.values[0]),
            sumrow_off=i4(sumrows.off), sumrow_owner=i4(sumrows.values[0]),
            bits_off=i4(bits.off), bits_col=i4(bits.values[0]),
            export_off=i4(self.export.off), export_row=i4(self.export.values[0]), export_to=i4(self.export.values[1]),
            export_skip=i4(self.export.values[2]), export_mask=i4(self.export.values[3]),
        )  # fmt: skip


class _MethodEncoder:
    """Encodes one method."""

    def __init__(self, encoder: Encoder, method: int) -> None:
        self.e, self.m = encoder, method
        self.shape: MethodShape = encoder.ctx.shapes[method]
        self._masks: dict[int, int] = {}
        self._links: dict[tuple[tuple[int, int], ...], int] = {}
        self._work = [_Block()]
        self._applications: dict[int, list[Application]] = {}
        self._sigma: dict[tuple[int, int], list[int]] = {}

    def run(self) -> None:
        shape = self.shape
        self.prepare()
        self.number_rows()
        layout = Layout(self.m, self.e.number[self.m], self.columns, self.row_names, self.column_of, self.row_of, [])
        self.layout = layout
        self.e.layouts[self.m] = layout
        self.code()
        self.finish_blocks()
        self.write_rows()
        summary = self.e.ctx.summaries[self.m]
        layout.summary_cols, layout.summary_rows = summary.cols, summary.rows
        self.write_export(summary)
        assert len(shape.rows) == self.n_shape_rows, "encoding must not find new rows"

    def prepare(self) -> None:
        """Evaluates everything once more, so that all tokens and rows exist."""
        shape = self.shape
        self.cleared: dict[int, list[int]] = {}
        for i, p in enumerate(shape.primitives):
            rows = shape.cleared(p)
            if rows:
                self.cleared[i] = rows
        for call in shape.calls.values():
            self._applications[call.op] = shape.applications(call)
            for application in self._applications[call.op]:
                self._sigma[call.op, application.target] = shape.sigma(call, application)

    def number_rows(self) -> None:
        shape = self.shape
        self.n_shape_rows = len(shape.rows)
        order = sorted(range(len(shape.keys)), key=lambda t: repr_key(shape.keys[t]))
        self.column_of = [0] * len(order)
        for column, token in enumerate(order):
            self.column_of[token] = column
        self.columns = [shape.keys[t] for t in order]
        n_values = shape.low.body.n_values
        heap, channels = [], []
        for row in range(n_values, len(shape.rows)):
            key = shape.row_keys[row]
            if key[0] in (CELL, STATIC):
                heap.append(row)
            elif key[0] not in (TABLE, TABLE_CELL):
                channels.append(row)
        heap.sort(key=lambda r: repr_key(shape.row_keys[r]))
        channels.sort(key=lambda r: repr_key(shape.row_keys[r]))
        self.row_of = {row: i for i, row in enumerate([*range(n_values), *heap, *channels])}
        self.row_names: list[Key | int] = [*range(n_values), *(shape.row_keys[r] for r in (*heap, *channels))]
        self.n_values, self.heap, self.channels = n_values, heap, channels

    def bits(self, tokens: int) -> list[int]:
        """Columns of a set of tokens, sorted."""
        return sorted(self.column_of[t] for t in bits_of(tokens))

    def mask(self, tokens: int) -> int:
        """Id of the mask that lets a set of tokens pass; -1 for everything."""
        if tokens == -1:
            return -1
        if tokens not in self._masks:
            for column in self.bits(tokens):
                self.e.masks.add(column)
            self._masks[tokens] = self.e.masks.close()
        return self._masks[tokens]

    def filter_mask(self, bits: int, allowed: int) -> int:
        """Mask for what is allowed, or -1 where it holds nothing back of what may come."""
        return -1 if not bits & ~allowed else self.mask(allowed & ((1 << len(self.shape.keys)) - 1))

    def link(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Id of a link from (token, shape row) pairs."""
        key = tuple(sorted((self.column_of[t], self.row_of[r]) for t, r in pairs))
        if key not in self._links:
            for column, row in key:
                self.e.links.add(column, row)
            self._links[key] = self.e.links.close()
        return self._links[key]

    def read_link(self, owners: int, f: int) -> int:
        shape = self.shape
        return self.link((t, r) for t in bits_of(owners & ~shape.labels) for r in shape.read_rows(t, f))

    def write_link(self, owners: int, f: int) -> int:
        """Cells of field f; where keys are merged, of its wild card."""
        shape, fields = self.shape, self.e.ctx.fields
        g = fields.elem if shape.merge_keys and fields.wild(f) == fields.elem else f
        return self.link((t, shape.cells[t][g]) for t in bits_of(owners & ~shape.labels) if g in shape.cells[t])

    def wide_link(self, owners: int, through: Through) -> int:
        shape = self.shape
        return self.link((t, r) for t in bits_of(owners & ~shape.labels) for r in shape.wide_rows(t, through))

    # -- code --------------------------------------------------------------------------------------------------

    def code(self) -> None:
        """Lays out blocks. A block that a try range covers is split where its state changes between throws."""
        shape, body = self.shape, self.shape.low.body
        by_op: dict[int, list[tuple[int, Primitive]]] = {}
        for i, p in enumerate(shape.primitives):
            by_op.setdefault(p.op, []).append((i, p))
        self.head = [self.new_block() for _ in range(body.n_blocks)]
        self._work[0].succ.append(self.head[0])
        ranges = [self.new_block() for _ in range(len(body.range_off) - 1)]
        for r, block in enumerate(ranges):
            handlers = body.handler_block[body.range_off[r] : body.range_off[r + 1]].tolist()
            self._work[block].succ = [self.head[h] for h in dict.fromkeys(handlers)]
        self.exits: list[int] = []
        self.layout.place = [(0, 0)] * len(body.op)
        for b in range(body.n_blocks):
            now = self.head[b]
            covered = int(body.block_range[b])
            fresh = True
            for op in range(int(body.block_off[b]), int(body.block_off[b + 1])):
                changes = any(self.changes_heap(p) for _, p in by_op.get(op, ()))
                if covered >= 0 and body.throws[op] and (fresh or changes):
                    now, fresh = self.leave(now, ranges[covered], op, changes), changes
                self.layout.place[op] = (now, len(self._work[now].ops))
                for i, p in by_op.get(op, ()):
                    self.primitive(now, i, p)
                if body.op[op] == Op.RETURN:
                    self.exits.append(now)
            self._work[now].succ += [self.head[s] for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist()]

    def new_block(self) -> int:
        self._work.append(_Block())
        return len(self._work) - 1

    def leave(self, now: int, range_block: int, op: int, changes: bool) -> int:
        """Ends a block before an operation that may throw: its state reaches the range. The block that goes on."""
        after = self.new_block()
        self._work[now].succ = [after, range_block]
        call = self.shape.calls.get(op)
        if changes and call is not None:
            effect = self.exceptional_effect(call)
            if effect is not None:
                self._work[now].succ = [after, effect, range_block]
                self._work[effect].succ = [range_block]
        return after

    def changes_heap(self, p: Primitive) -> bool:
        if p.kind == CALL:
            return any(key[0] in (CELL, CELL_DATA, STATIC) for a in self._applications[p.op] for key in a.summary.rows)
        return p.kind == STORE or (p.kind == OR and not isinstance(p.dst, int) and p.dst[0] == STATIC)

    def exceptional_effect(self, call: CallSite) -> int | None:
        """Block with the callees' shape effects, applied weakly, for the edge into the handlers."""
        applications = [
            a for a in self._applications[call.op] if any(k[0] in (CELL, CELL_DATA, STATIC) for k in a.summary.rows)
        ]
        if not applications:
            return None
        block = self.new_block()
        number = self.application_list(call, applications, heap_only=True)
        self._work[block].ops.append((pb.APPLY, number, 0, -1, -1, call.op + EXTRA, ()))
        return block

    def slot(self, slot: int | Key) -> int:
        return self.row_of.get(self.shape.slot(slot), -1)

    def primitive(self, block: int, i: int, p: Primitive) -> None:
        """Writes one primitive into a block; one that can do nothing is left out."""
        shape = self.shape
        ops = self._work[block].ops
        clear = tuple(self.row_of[r] for r in self.cleared.get(i, ()))
        if p.kind == CALL:
            self.call(block, shape.calls[p.op], clear)
            return
        dst = self.slot(p.dst)
        if p.kind == GEN:
            ops.append((pb.GENERATE, dst, self.column_of[shape.token(p.key)], -1, -1, p.op, ()))
        elif p.kind == TABLE_GET:
            for key in sorted(shape.table_reads.get(p.field, ()), key=repr_key):
                ops.append((pb.GENERATE, dst, self.column_of[shape.token(key)], -1, -1, p.op, ()))
        elif p.kind == OR and dst >= 0:
            bits = shape.rows[shape.slot(p.src)]
            row_filter = shape.filter[shape.slot(p.dst)]
            allowed = shape.mask(p.filter) & shape.mask(row_filter)
            if bits & allowed or clear:
                ops.append((pb.OR, dst, self.slot(p.src), -1, self.filter_mask(bits, allowed), p.op, clear))
        elif p.kind == LOAD:
            base = shape.rows[shape.slot(p.src)]
            link = self.read_link(base, p.field)
            ops.append((pb.LOAD, dst, self.slot(p.src), link, -1, p.op, ()))
            if base & shape.labels:
                labels = self.filter_mask(base, shape.labels)
                ops.append((pb.OR, dst, self.slot(p.src), -1, labels, p.op, ()))
        elif p.kind == STORE:
            base, value = shape.rows[shape.slot(p.src)], shape.rows[shape.slot(p.value)]
            if base and (value or clear):
                link = self.write_link(base, p.field)
                ops.append((pb.STORE, self.slot(p.value), self.slot(p.src), link, -1, p.op, clear))

    def call(self, block: int, call: CallSite, clear: tuple[int, ...]) -> None:
        applications = [a for a in self._applications[call.op] if a.summary.rows]
        if not applications and not clear:
            return
        ops = self._work[block].ops
        number = self.application_list(call, applications, heap_only=False)
        ops.append((pb.APPLY, number, 0, -1, -1, call.op, clear))
        if len(call.thrown) == 2 and call.thrown[0] in self.shape.named and call.thrown[1] in self.shape.named:
            ops.append((pb.OR, self.slot(call.thrown[1]), self.slot(call.thrown[0]), -1, -1, call.op, ()))

    def application_list(self, call: CallSite, applications: list[Application], heap_only: bool) -> int:
        """Id of a call with its applications."""
        for application in applications:
            self.application(call, application, heap_only)
        return self.e.calls.close()

    def application(self, call: CallSite, application: Application, heap_only: bool) -> None:
        e, shape = self.e, self.shape
        s = application.summary
        solved = application.target >= 0 and not heap_only
        e.calls.add(e.number[application.target] if solved else e.constant_summary(s, heap_only))
        sigma = self._sigma[call.op, application.target]
        constants = shape.constants(call, application)
        for c, kind in enumerate(s.kind):
            if kind == pb.CONSTANT:
                e.binds.add(self.column_of[constants[c]], -1, -1)
            elif kind == pb.ROOT:
                e.binds.add(*self.binding(call, application, s.cols[c][1], sigma[c]))
            elif kind == pb.CHILD:
                e.binds.add(-1, self.read_link(sigma[s.parent[c]], s.field[c]), -1)
            else:
                through = s.through[c]
                assert through is not None
                owners = image(sum(1 << source for source in s.region[c]), sigma) | sigma[c]
                e.binds.add(-1, self.wide_link(owners, through), -1)
        e.binds.close()
        for r, key in enumerate(s.rows):
            value = image(s.bits[r], sigma)
            if key[0] in (CELL, CELL_DATA):
                mask = self.filter_mask(value, shape.data) if key[0] == CELL_DATA else -1
                e.writes.add(pb.TO_CELLS, self.write_link(sigma[s.owner[r]], key[2]), mask)
            elif heap_only and key[0] != STATIC:
                e.writes.add(pb.DROPPED, -1, -1)
            else:
                destinations = shape.destinations(call, key)
                row = self.row_of.get(destinations[0][0], -1) if destinations else -1
                if row < 0:
                    e.writes.add(pb.DROPPED, -1, -1)
                else:
                    e.writes.add(row, -1, self.filter_mask(value, shape.mask(destinations[0][1])))
        e.writes.close()

    def binding(self, call: CallSite, application: Application, root: int, bound: int) -> tuple[int, int, int]:
        """(row, link, mask) of a root formal."""
        shape = self.shape
        f = root_field(root)
        if f >= 0:
            return self.row_of[shape.row(shape.ctx.static_row(f))], -1, -1
        if root >= len(call.args) or call.args[root] < 0:
            return -1, -1, -1
        row = call.args[root]
        return self.row_of[row], -1, self.filter_mask(shape.rows[row], bound)

    # -- output ------------------------------------------------------------------------------------------------

    def finish_blocks(self) -> None:
        """Numbers the reachable blocks in reverse post-order and writes them."""
        exit_block = self.new_block()
        for b in self.exits:
            self._work[b].succ.append(exit_block)
        order = _reverse_post_order([b.succ for b in self._work])
        number = {b: i for i, b in enumerate(order)}
        e = self.e
        for b in order:
            e.blocks.add(b)
            for s in sorted({number[s] for s in self._work[b].succ}):
                e.succ.add(s)
            e.succ.close()
            for *values, clear in self._work[b].ops:
                e.ops.add(*values)
                for row in clear:
                    e.clear.add(row)
                e.clear.close()
            e.ops.close()
        e.blocks.close()
        e.exit_block.append(number.get(exit_block, -1))
        self.layout.place = [(number.get(b, -1), at) for b, at in self.layout.place]

    def write_rows(self) -> None:
        e, shape = self.e, self.shape
        summary = e.ctx.summaries[self.m]
        _, names = shape.export_plan(e.levels[self.m])
        index = {key: i for i, key in enumerate(summary.cols)}
        tokens = sorted(range(len(shape.keys)), key=lambda t: self.column_of[t])
        for token in tokens:
            flag = (pb.DATA if shape.data >> token & 1 else 0) | (pb.LABEL if shape.labels >> token & 1 else 0)
            e.cols.add(flag, index.get(names[token], -1))
        e.cols.close()
        kinds = [pb.VALUE] * self.n_values + [pb.HEAP] * len(self.heap) + [pb.CHANNEL] * len(self.channels)
        everything = (1 << len(shape.keys)) - 1
        for row, kind in zip([*range(self.n_values), *self.heap, *self.channels], kinds, strict=True):
            allowed = shape.mask(shape.filter[row])
            e.rows.add(
                kind, -1 if allowed & everything == everything or allowed == -1 else self.mask(allowed & everything)
            )
            for column in self.bits(shape.entry.get(row, 0)):
                e.entry.add(self.row_of[row], column)
        e.rows.close()
        e.entry.close()

    def write_export(self, summary: Summary) -> None:
        plan, _ = self.shape.export_plan(self.e.levels[self.m])
        index = {key: i for i, key in enumerate(summary.rows)}
        found = set()
        for row, key, skip in plan:
            if key in index and row in self.row_of:
                mask = self.mask(self.shape.data & ~self.shape.labels) if key[0] == SINK else -1
                found.add((self.row_of[row], index[key], self.column_of[skip] if skip >= 0 else -1, mask))
        for entry in sorted(found):
            self.e.export.add(*entry)
        self.e.export.close()


def _reverse_post_order(succ: list[list[int]]) -> list[int]:
    """Blocks reachable from block 0, in reverse post-order."""
    seen, post = {0}, []
    stack = [(0, iter(succ[0]))]
    while stack:
        block, rest = stack[-1]
        for s in rest:
            if s not in seen:
                seen.add(s)
                stack.append((s, iter(succ[s])))
                break
        else:
            post.append(block)
            stack.pop()
    return post[::-1]
