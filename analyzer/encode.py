"""From the shape pass to the encoded problem, by the kernels of `gpu.shape.encode`, and the names behind its numbers.

Columns of a method are its tokens as they turned up, rows its values, its heap rows and its channels, each as they
turned up. What a method is called and where its things are is made from the arrays when someone asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analyzer.compiled_pass import CompiledPass
from analyzer.ir import Body, Op
from analyzer.lazy_shapes import Shapes
from analyzer.shape import Context
from analyzer.shape_state import MethodState, left_out
from analyzer.tokens import Key
from analyzer.world import WorldArrays
from gpu.problem import Problem
from gpu.shape import layout as lay
from gpu.shape.layout import Encoding, Flow, new_map

EXTRA = 1 << 32
"""Added to the origin of operations that no IR operation stands for by itself: effects at exceptional edges."""

_USED = {
    "col": lay.E_COLS, "row": lay.E_ROWS, "mask_end": lay.E_MASKS, "mask": lay.E_MASK_COLS, "link_end": lay.E_LINKS,
    "link": lay.E_PAIRS, "entry": lay.E_ENTRIES, "block": lay.E_BLOCKS, "succ": lay.E_SUCCS, "op": lay.E_OPS,
    "clear": lay.E_CLEARS, "call_end": lay.E_CALLS, "app": lay.E_APPS, "bind": lay.E_BINDS, "write": lay.E_WRITES,
    "export": lay.E_EXPORTS, "constant": lay.E_CONSTANTS, "draft": lay.E_DRAFTS, "applied": lay.E_APPLIED,
}  # fmt: skip
"""Arrays that grow, and how much of each is in use."""
_WIDTH = {"col": 2, "row": 4, "link": 2, "entry": 2, "block": 2, "app": 3, "bind": 3, "write": 3, "export": 4,
          "applied": 2, "op": lay.OP_COLUMNS, "draft": lay.OP_COLUMNS}  # fmt: skip


class Layout:
    """Where things of a method ended up in the problem."""

    def __init__(self, method: int, number: int, source: _Source) -> None:
        self.method, self.number, self._source = method, number, source

    @cached_property
    def columns(self) -> list[Key]:
        """Token key per column."""
        source = self._source
        tokens = source.shapes.states[self.method].arrays.tk[: self._span(source.col_off)[1], lay.TK_GID]
        return [source.shapes.world.key(gid) for gid in tokens.tolist()]

    @cached_property
    def rows(self) -> list[Key | int]:
        """Slot key, or SSA value, per row."""
        source = self._source
        state, world = source.shapes.states[self.method], source.shapes.world
        first, n = self._span(source.row_off)
        found: list[Key | int] = []
        at = source.row_state[first : first + n]
        for row, (kind, a, b, c) in zip(at.tolist(), state.arrays.ri[at, : lay.R_FILTER].tolist(), strict=True):
            if kind == lay.VALUE:
                found.append(row)
            elif kind == lay.CELL:
                found.append((kind, self.columns[a], world.sparse(b)))
            else:
                found.append(world.row_key(kind, a, b, c))
        return found

    @cached_property
    def column_of(self) -> list[int]:
        """Shape token -> column."""
        return list(range(len(self.columns)))

    @cached_property
    def row_of(self) -> dict[int, int]:
        """Shape row -> row."""
        source = self._source
        state = source.shapes.states[self.method]
        first, n = self._span(source.row_off)
        kept = np.ones(int(state.arrays.hd[lay.R_COUNT]), bool)
        kept[list(left_out(state))] = False
        shape_row = np.cumsum(kept) - 1
        return {r: i for i, r in enumerate(shape_row[source.row_state[first : first + n]].tolist())}

    @cached_property
    def place(self) -> list[tuple[int, int]]:
        """IR operation -> (block, number of the block's operations that come before it)."""
        first, n = self._span(self._source.place_off)
        return [(block, at) for block, at in self._source.places[first : first + n].tolist()]

    @cached_property
    def summary_cols(self) -> tuple[Key, ...]:
        """Token key per export column."""
        return self._source.ctx.summaries[self.method].cols

    @cached_property
    def summary_rows(self) -> tuple[Key, ...]:
        """Slot key per export row."""
        return self._source.ctx.summaries[self.method].rows

    def slot(self, row: int) -> Key | int:
        """The same of one row."""
        if "rows" in self.__dict__:
            return self.rows[row]
        source = self._source
        state, world = source.shapes.states[self.method], source.shapes.world
        at = int(source.row_state[source.row_off[self.number] + row])
        kind, a, b, c = state.arrays.ri[at, : lay.R_FILTER].tolist()
        if kind == lay.VALUE:
            return at
        if kind == lay.CELL:
            return (kind, world.key(int(state.arrays.tk[a, lay.TK_GID])), world.sparse(b))
        return world.row_key(kind, a, b, c)

    def _span(self, off: Any) -> tuple[int, int]:
        first, end = off[self.number : self.number + 2].tolist()
        return first, end - first


@dataclass(slots=True)
class _Source:
    """What layouts are made from."""

    ctx: Context
    shapes: Shapes
    col_off: Any
    row_off: Any
    row_state: Any
    """Row in the method's state per row."""
    place_off: Any
    places: Any


@dataclass(slots=True)
class Encoded:
    """A problem, and the names behind its numbers."""

    problem: Problem
    layouts: dict[int, Layout]
    """By method id."""
    kinds: Any
    """Kind of the slot key of each row of the problem, -1 for values."""
    exports: Any
    """(kind, a, b, c) of each export row of the methods' summaries, as the arrays of the shape pass have it."""
    world: WorldArrays

    def rows_of_kind(self, kind: int) -> Iterator[tuple[Layout, int]]:
        """All rows whose slot key is of a kind, method by method."""
        layouts = list(self.layouts.values())
        found = np.flatnonzero(self.kinds == kind)
        methods = np.searchsorted(self.problem.row_off, found, side="right") - 1
        rows = found - self.problem.row_off[methods]
        for m, row in zip(methods.tolist(), rows.tolist(), strict=True):
            yield layouts[m], row

    def exports_of_kind(self, kind: int) -> Iterator[tuple[int, Key]]:
        """All export rows of methods whose slot key is of a kind, method by method: method, key."""
        found = np.flatnonzero(self.exports[:, 0] == kind)
        methods = np.searchsorted(self.problem.sumrow_off, found, side="right") - 1
        for m, row in zip(self.problem.method_key[methods].tolist(), self.exports[found].tolist(), strict=True):
            yield m, self.world.row_key(*row)


class Encoder:
    """Encodes all methods that have a shape, bottom-up."""

    def __init__(self, ctx: Context, levels: dict[int, int]) -> None:
        from gpu.shape import clears, encode

        self._clears: Any = clears
        self._encode: Any = encode
        assert isinstance(ctx.shapes, Shapes), "the reference pass is not encoded"
        self.ctx, self.levels, self._shapes = ctx, levels, ctx.shapes
        self._work: CompiledPass = ctx.shapes.work
        sccs = [tuple(m for m in scc if m in ctx.shapes and m in levels) for scc in ctx.graph.sccs]
        self._sccs = [scc for scc in sccs if scc]
        self.order = [m for scc in self._sccs for m in scc]
        self._serial = 0
        self._scratch: dict[int, tuple[Any, ...]] = {}
        self._clear = np.zeros(1 << 10, np.int32)
        self._clear_off = np.zeros(1 << 10, np.int32)
        number = np.full(len(self._work.world.arrays.mth), -1, np.int32)
        number[self.order] = np.arange(len(self.order))
        n_ops = sum(len(ctx.lowered(m).body.op) for m in self.order)
        n = 64 * len(self.order) + 64
        arrays = {name: np.zeros((n, _WIDTH[name]) if name in _WIDTH else n, np.int32) for name in _USED}
        self._arrays = Encoding(
            cnt=np.zeros(lay.E_SIZE, np.int64), per=np.zeros((len(self.order), lay.PER_COLUMNS), np.int32),
            place=np.zeros((n_ops + 1, 2), np.int32), known=new_map(n), number=number,
            constant_of=np.full(64, -1, np.int32), map=np.zeros(64, np.int32), first=np.zeros(64, np.int32),
            next=np.zeros(64, np.int32), node=np.zeros((64, lay.NODE_COLUMNS), np.int32),
            edge=np.zeros((64, 2), np.int32), stack=np.zeros((64, 2), np.int32), order=np.zeros(64, np.int32), **arrays,
        )  # fmt: skip

    def run(self, progress: Callable[[int, int], None] = lambda done, total: None) -> Encoded:
        """Encodes everything. Raises what the context's check raises."""
        hdr = self._work.world.arrays.hdr
        most, hdr[lay.MAX_TOKENS] = int(hdr[lay.MAX_TOKENS]), 1 << 30  # bounds were for the shape pass
        try:
            for i, m in enumerate(self.order):
                self.ctx.check()
                self._method(m)
                progress(i + 1, len(self.order))
        finally:
            self._work.world.arrays.hdr[lay.MAX_TOKENS] = most
            self._work.world.pull_sites()
            self._shapes.forget()
        return self._encoded()

    # -- a method ----------------------------------------------------------------------------------------------

    def _method(self, m: int) -> None:
        state, work = self._shapes.states[m], self._work
        finished = state.arrays
        sizes = finished.hd[[lay.R_COUNT, lay.T_COUNT, lay.E_COUNT]].tolist()
        self._begin(state)
        code = state.code.code
        self._until_fine(state, lambda: self._clears.origins(work.world.arrays, state.arrays, code))
        self._clears.mark_unique(work.world.arrays, state.arrays, code, state.sid)
        self._find_clears(state)
        body = state.code.shape.low.body
        flow = self._flow(body)
        low, high = min(state.code.spare, default=0), max(state.code.spare, default=-1) + 1
        what = np.asarray((low, high, state.sid, self.levels[m]), np.int64)
        self._make_room(state, body)
        saved = self._arrays.cnt.copy()

        def encode() -> int:
            self._reset(saved, state)
            return int(self._encode.encode(work.world.arrays, state.arrays, code, flow, self._arrays, work.out, what))

        self._until_fine(state, encode)
        s = state.arrays
        self._scratch[s.rb.shape[1]] = (s.sg, s.tmp, s.rc, s.rs)
        if s.hd[[lay.R_COUNT, lay.T_COUNT, lay.E_COUNT]].tolist() != sizes:
            state.finish(work.world)
        else:
            state.arrays = finished

    def _begin(self, state: MethodState) -> None:
        """Gives a finished state its map and its scratch again."""
        kept, words = state.arrays.mp, state.arrays.rb.shape[1]
        if words not in self._scratch:
            self._scratch[words] = (
                np.zeros((64, words), np.uint64), np.zeros((lay.X_ROWS, words), np.uint64),
                np.zeros((256, words), np.uint64), np.zeros(256, np.int64),
            )  # fmt: skip
        sg, tmp, rc, rs = self._scratch[words]
        state.arrays = state.arrays.replace(mp=new_map(state.code.sizes[3] + 16), sg=sg, tmp=tmp, rc=rc, rs=rs)
        self._until_fine(state, lambda: self._encode.begin(state.arrays, state.code.named, kept))

    def _until_fine(self, state: MethodState, attempt: Callable[[], int]) -> None:
        """Tries again, with answers or more room, until nothing is missing."""
        work = self._work
        while True:
            status = int(attempt())
            if status == lay.FINE:
                return
            if status == lay.MISSING:
                work.respond()
            elif status == lay.GROW_ENCODED:
                self._grow()
            elif status not in (lay.AGAIN, lay.OVER_KEYS):
                work.provide(state, status)

    def _find_clears(self, state: MethodState) -> None:
        """Which rows each primitive of a method clears."""
        code = state.code.code
        if len(self._clear_off) <= len(code.prm):
            self._clear_off = np.zeros(2 * len(code.prm) + 2, np.int32)
        if self.ctx.any_order(state.code.shape.method):
            self._clear_off[:] = 0
            return

        def find() -> int:
            before = int(state.arrays.hd[lay.R_COUNT])
            status = int(self._clears.clears(self._work.world.arrays, state.arrays, code, self._clear_off, self._clear))
            if status == lay.GROW_PLAN:
                self._clear = np.zeros(2 * len(self._clear), np.int32)
                return lay.AGAIN
            if status == lay.FINE and state.arrays.hd[lay.R_COUNT] != before:  # cells that only a clear set names
                return lay.AGAIN
            return status

        self._until_fine(state, find)

    def _flow(self, body: Body) -> Flow:
        return Flow(
            (body.op == Op.RETURN).view(np.uint8), np.ascontiguousarray(body.throws).view(np.uint8),
            *(
                np.ascontiguousarray(a, np.int32)
                for a in (
                    body.block_off, body.block_range, body.succ_off, body.succ, body.range_off, body.handler_block,
                )
            ),
            self._clear_off, self._clear,
        )  # fmt: skip

    # -- room --------------------------------------------------------------------------------------------------

    def _make_room(self, state: MethodState, body: Body) -> None:
        """Scratch for the code of a method."""
        n_ops = len(body.op)
        nodes = 4 + body.n_blocks + len(body.range_off) + 2 * n_ops
        edges = 4 + len(body.succ) + len(body.handler_block) + body.n_blocks + 4 * n_ops
        needed = {
            "first": n_ops, "next": len(state.code.code.prm), "node": nodes, "edge": edges, "stack": nodes,
            "order": nodes,
        }  # fmt: skip
        self._extend({name: n + 1 for name, n in needed.items()})

    def _reset(self, saved: Any, state: MethodState) -> None:
        """Back to the end of the method before."""
        e = self._arrays
        e.constant_of[e.constant[saved[lay.E_CONSTANTS] : e.cnt[lay.E_CONSTANTS]]] = -1
        e.cnt[:] = saved
        self._serial += 1
        e.cnt[lay.E_SERIAL] = self._serial
        self._extend({"map": len(state.arrays.rb), "constant_of": len(self._work.world.arrays.smm)})

    def _extend(self, needed: dict[str, int]) -> None:
        e = self._arrays
        larger = {}
        for name, n in needed.items():
            array = getattr(e, name)
            if len(array) < n:
                larger[name] = np.full((2 * n, *array.shape[1:]), -1, np.int32)
                larger[name][: len(array)] = array
        if larger:
            self._arrays = e.replace(**larger)

    def _grow(self) -> None:
        """Makes room in every array that is more than half full."""
        e = self._arrays
        names = [name for name, at in _USED.items() if 2 * int(e.cnt[at]) >= len(getattr(e, name))]
        larger = {}
        if 3 * int(e.known[-1, 0]) >= len(e.known):  # entries of other methods are of no use
            larger["known"] = new_map(len(e.known))
        elif not names:
            names = list(_USED)
        for name in names:
            array = getattr(e, name)
            larger[name] = np.concatenate([array, np.zeros_like(array)])
        self._arrays = e.replace(**larger)

    # -- output ------------------------------------------------------------------------------------------------

    def _encoded(self) -> Encoded:
        e, cnt = self._arrays, self._arrays.cnt
        per = _with_zero(e.per)
        rows = e.row[: cnt[lay.E_ROWS]]
        source = _Source(
            self.ctx, self._shapes, per[:, lay.PER_COLS].copy(), per[:, lay.PER_ROWS].copy(), rows[:, 2].copy(),
            per[:, lay.PER_PLACES].copy(), e.place,
        )  # fmt: skip
        layouts = {m: Layout(m, i, source) for i, m in enumerate(self.order)}
        problem = self._problem(per)
        return Encoded(problem, layouts, rows[:, 3].astype(np.int8), self._exports, self._work.world)

    def _problem(self, per: Any) -> Problem:
        e, cnt = self._arrays, self._arrays.cnt

        def part(name: str, k: int | None = None, kind: Any = np.int32) -> Any:
            array = getattr(e, name)[: cnt[_USED[name]]]
            return (array if k is None else array[:, k]).astype(kind)

        def off(ends: Any) -> Any:
            return _with_zero(np.ascontiguousarray(ends))

        op_origin = part("op", lay.OP_ORIGIN, np.int64) + EXTRA * part("op", lay.OP_EXTRA, np.int64)
        return Problem(
            method_key=np.asarray(self.order, np.int64),
            scc_off=off(np.cumsum([len(scc) for scc in self._sccs]).astype(np.int32)),
            col_off=per[:, lay.PER_COLS].copy(), col_flag=part("col", 0, np.uint8), col_export=part("col", 1),
            row_off=per[:, lay.PER_ROWS].copy(), row_kind=part("row", 0, np.uint8), row_mask=part("row", 1),
            mask_off=off(part("mask_end")), mask_col=part("mask"),
            link_off=off(part("link_end")), link_col=part("link", 0), link_row=part("link", 1),
            entry_off=per[:, lay.PER_ENTRIES].copy(), entry_row=part("entry", 0), entry_col=part("entry", 1),
            block_off=per[:, lay.PER_BLOCKS].copy(), exit_block=per[1:, lay.PER_EXIT].copy(),
            succ_off=off(part("block", 0)), succ=part("succ"),
            op_off=off(part("block", 1)), op_kind=part("op", lay.OP_KIND, np.uint8), op_dst=part("op", lay.OP_DST),
            op_src=part("op", lay.OP_SRC), op_link=part("op", lay.OP_LINK), op_mask=part("op", lay.OP_MASK),
            op_origin=op_origin, clear_off=off(part("op", lay.OP_CLEAR)), clear_row=part("clear"),
            call_off=off(part("call_end")), app_summary=part("app", 0),
            bind_off=off(part("app", 1)), bind_at=part("bind", 0), bind_link=part("bind", 1), bind_mask=part("bind", 2),
            write_off=off(part("app", 2)), write_row=part("write", 0), write_link=part("write", 1),
            write_mask=part("write", 2),
            export_off=per[:, lay.PER_EXPORTS].copy(), export_row=part("export", 0), export_to=part("export", 1),
            export_skip=part("export", 2), export_mask=part("export", 3),
            **self._summaries(part("constant")),
        )  # fmt: skip

    def _summaries(self, constants: Any) -> dict[str, Any]:
        """The arrays of all summaries: one per method, then constants."""
        w, n = self._work.world.arrays, len(self.order)
        own = np.asarray([self._shapes.states[m].sid for m in self.order], np.int32)
        summaries = w.smm[np.concatenate([own, constants])]
        cols = w.smc[_members(summaries[:, lay.SM_COLS], summaries[:, lay.SM_N_COLS])]
        rows = w.smr[_members(summaries[:, lay.SM_ROWS], summaries[:, lay.SM_N_ROWS])]
        self._exports = rows[: summaries[:n, lay.SM_N_ROWS].sum(), : lay.SR_OWNER].copy()
        words, n_rows = summaries[n:, lay.SM_WORDS], summaries[n:, lay.SM_N_ROWS]
        of_row = np.repeat(words, n_rows)  # words of each row of a constant summary
        held = w.smb[_members(summaries[n:, lay.SM_BITS], words * n_rows)]
        word, bit = np.unpackbits(held.astype("<u8").view(np.uint8), bitorder="little").reshape(-1, 64).nonzero()
        in_row = _members(np.zeros_like(of_row), of_row)
        n_facts = np.zeros(len(rows), np.int64)
        row_of_word = np.repeat(np.arange(len(of_row)), of_row) + (len(rows) - len(of_row))
        np.add.at(n_facts, row_of_word[word], 1)
        return {
            "sumcol_off": _offsets(summaries[:, lay.SM_N_COLS]), "sumcol_kind": cols[:, lay.SC_KIND].astype(np.uint8),
            "sumcol_parent": cols[:, lay.SC_PARENT].copy(),
            "region_off": _offsets(cols[:, lay.SC_N_REGION]),
            "region_col": w.sml[_members(cols[:, lay.SC_REGION], cols[:, lay.SC_N_REGION])],
            "alias_off": _offsets(cols[:, lay.SC_N_ALIAS]),
            "alias_row": w.sml[_members(cols[:, lay.SC_ALIAS], cols[:, lay.SC_N_ALIAS])],
            "sumrow_off": _offsets(summaries[:, lay.SM_N_ROWS]), "sumrow_owner": rows[:, lay.SR_OWNER].copy(),
            "bits_off": _offsets(n_facts), "bits_col": (64 * in_row[word] + bit).astype(np.int32),
        }  # fmt: skip


def _members(first: Any, n: Any) -> Any:
    """Numbers of the members of ranges, one behind the other."""
    end = np.cumsum(n, dtype=np.int64)
    return np.arange(end[-1] if len(end) else 0) + np.repeat(first - (end - n), n)


def _offsets(sizes: Any) -> Any:
    """Offsets of parts of these sizes."""
    return _with_zero(np.cumsum(sizes, dtype=np.int64)).astype(np.int32)


def _with_zero(ends: Any) -> Any:
    """Ends of parts with a zero before them: offsets."""
    return np.concatenate([np.zeros((1, *ends.shape[1:]), ends.dtype), ends])
