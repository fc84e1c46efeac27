"""One method in the arrays of the shape pass: its code, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from analyzer import tokens as names
from analyzer.lower import CALL, GEN, OR, TABLE_GET
from analyzer.tokens import PSEUDO, Key
from analyzer.world import WorldArrays
from gpu.shape import layout as lay
from gpu.shape.layout import Code, State, new_map

if TYPE_CHECKING:
    from analyzer.shape import CallSite, MethodShape

Reference = tuple[int, bool, bool, bool, bool]
"""(method, static, shimmed, sources and sinks only, looks at constant keys) of a library call."""

T = TypeVar("T")


class Numbered(Generic[T]):
    """Values by number, in the order in which they turned up."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._known: dict[T, int] = {}

    def number(self, value: T) -> int:
        """Number of a value, new or known."""
        found = self._known.setdefault(value, len(self.all))
        if found == len(self.all):
            self.all.append(value)
        return found


@dataclass(slots=True)
class MethodCode:
    """The code of a method in arrays, and the names of its first rows."""

    code: Code
    named: Any
    """int32[:, 6], see `gpu.shape.method.start`."""
    params: Any
    shape: MethodShape
    spare: frozenset[int]
    """Rows that are of no use where they stay empty."""
    sizes: tuple[int, ...] = (0, 1, 64, 0, 0, 14, 30, 0)
    """How large the state became: rows, words, tokens, map, rows with an entry, masks, columns, reads."""


class CodeWriter:
    """Writes the code of methods."""

    def __init__(self, world: WorldArrays) -> None:
        self.world = world
        self.references = Numbered[Reference]()
        self.constants = Numbered[str]()
        """Texts of constant numbers; in the arrays number n is -2 - n, since strings of the app have the others."""

    def write(self, shape: MethodShape) -> MethodCode:
        """The code of a method."""
        world, low = self.world, shape.low
        n_values = low.body.n_values
        rows: dict[Key, int] = {}

        def slot(s: int | Key) -> int:
            return s if isinstance(s, int) else rows.setdefault(s, n_values + len(rows))

        call_number: dict[int, int] = {}
        primitives: list[tuple[int, ...]] = []
        for p in shape.primitives:
            if p.kind == CALL:
                number = call_number.setdefault(p.op, len(call_number))
                primitives.append((p.kind, number, slot(p.dst), -1, -1, -1, -1, -1))
                continue
            dst, src, value = slot(p.dst), slot(p.src), slot(p.value)
            needs = {GEN: (dst,), TABLE_GET: (dst,), OR: (dst, src)}.get(
                p.kind, (src, value) if dst < 0 else (src, dst)
            )
            if min(needs) < 0:  # of what no path defines
                continue
            f = world.field(p.field) if p.field >= 0 and p.kind not in (GEN, OR) else -1
            key = world.token(p.key) if p.kind == GEN else -1
            primitives.append((p.kind, p.op, dst, src, f, p.filter, key, value))
        used = len(rows)
        calls: list[tuple[int, ...]] = []
        lists: list[int] = []
        for op in call_number:
            calls.append(self._call(shape, shape.calls[op], slot, lists))
        named: list[tuple[int, ...]] = []
        for row in rows:
            a, b, c = self._row(row)
            held = row[0] == PSEUDO and row in shape.pseudo_reads and not shape.root
            shared = row[0] == PSEUDO and not shape.pseudo_reads.get(row, True)
            named.append((row[0], a, b, c, int(held), int(shared)))
        for row in shape.pseudo_reads:
            world.field(row[1])
        cyclic = np.fromiter((low.body.in_cycle[b] for b in low.block_of), np.uint8, len(low.block_of))
        code = Code(
            _table(primitives, lay.P_COLUMNS), _table(calls, lay.C_COLUMNS), np.asarray([*lists, -1], np.int32), cyclic
        )
        spare = frozenset(range(n_values + used, n_values + len(rows)))
        params = np.asarray([*shape.params, -1], np.int32)
        return MethodCode(code, _table(named, 6), params, shape, spare)

    def _row(self, key: Key) -> tuple[int, int, int]:
        if key[0] in (names.STATIC, names.PSEUDO, names.TABLE):
            return self.world.field(key[1]), 0, 0
        return (*key[1:], 0, 0, 0)[:3]

    def _call(self, shape: MethodShape, call: CallSite, slot: Any, lists: list[int]) -> tuple[int, ...]:
        ctx = shape.ctx
        args = len(lists)
        lists += call.args
        targets = len(lists)
        lists += call.targets
        thrown = len(lists)
        lists += [slot(row) for row in call.thrown]
        texts = len(lists)
        keyed = (call.library or call.marked) and ctx.library.keyed(call.method)
        reference = (call.method, call.static, call.shimmed, not call.library, keyed)
        lists.append(self.references.number(reference))
        lists.append(len(call.args) if keyed else 0)
        if keyed:
            known = shape.low.body.constant
            lists += [-2 - self.constants.number(str(known[a])) if a in known else -1 for a in call.args]
        ret = ctx.program.method(call.method).ret
        body = shape.low.body
        return (
            call.site, call.method, int(call.dispatched), args, len(call.args), call.dst, targets, len(call.targets),
            int(call.library), int(call.shimmed), int(call.marked), thrown, len(call.thrown), int(call.in_cycle), -1,
            ctx.graph.shim(shape.method, call.op), lay.DATA_ONLY if ctx.fields.is_primitive(ret) else ret,
            call.op, int(body.pc[call.op]), texts,
        )  # fmt: skip


def _table(rows: list[tuple[int, ...]], width: int) -> Any:
    return np.asarray(rows, np.int32).reshape(len(rows), width)


@dataclass(slots=True)
class MethodState:
    """What is known of a method: `arrays` is replaced when one of its parts has to grow."""

    code: MethodCode
    fold: int
    merge: bool
    arrays: State
    places: Any = None
    """Places of the table that it reads."""
    bases: Any = None
    """Its tokens, without their contexts."""
    level: int = 0
    sid: int = 0
    cleared: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def new(cls, code: MethodCode, fold: int, merge: bool) -> MethodState:
        """A state in which nothing is known yet, with room for what it held the last time."""
        shape = code.shape
        n_rows = shape.low.body.n_values + len(code.named)
        rows, words, tokens, entries, held, masks, columns, reads = code.sizes
        n = 2 * n_rows + 4 * len(code.code.prm) + 24
        rows, entries, held, reads = max(rows, n), max(entries, 2 * n), max(held, n // 2), max(reads, n)
        arrays = State(
            np.zeros(lay.HD_SIZE, np.int64), np.zeros((rows, words), np.uint64),
            np.zeros((rows, lay.R_COLUMNS), np.int32), np.zeros((tokens, lay.TK_COLUMNS), np.int32), new_map(entries),
            np.zeros((held, words), np.uint64), np.zeros((held, words), np.uint64),
            np.zeros((masks + 2, words), np.uint64), np.zeros((masks + 2, 2), np.int32), code.params,
            np.full(len(code.code.prm), -1, np.int64), np.full(len(code.code.lst), -1, np.int32),
            np.zeros((columns + 2, words), np.uint64), np.zeros((lay.X_ROWS, words), np.uint64),
            np.zeros((reads, words), np.uint64), np.zeros(reads, np.int64),
        )  # fmt: skip
        state = cls(code, fold, merge, arrays)
        state.reset()
        return state

    def reset(self) -> None:
        """Back to nothing, with the room that there is."""
        s, shape = self.arrays, self.code.shape
        hd = s.hd
        hd[:] = 0
        hd[lay.M_COUNT] = 2
        hd[lay.FOLD], hd[lay.MERGE_KEYS], hd[lay.PATH_LENGTH] = self.fold, self.merge, shape.k
        hd[lay.CONTEXT], hd[lay.IS_ROOT], hd[lay.CAP] = shape.context, shape.root, shape.cap
        hd[lay.METHOD], hd[lay.N_VALUES], hd[lay.N_PARAMS] = shape.method, shape.low.body.n_values, len(shape.params)
        hd[lay.RECURSIVE] = shape.recursive
        hd[lay.CONSTRUCTOR] = shape.ctx.program.method(shape.method).name == "<init>"
        s.mk[:] = 0
        s.mp[:] = 0
        s.done[:] = -1
        s.used[:] = -1

    def grow(self, status: int, sigma: int = 0) -> None:
        """Makes room for what a kernel lacked."""
        s = self.arrays
        if status == lay.GROW_ROWS:
            self.arrays = s.replace(rb=_taller(s.rb), ri=_taller(s.ri))
        elif status == lay.GROW_WORDS:
            wide = {name: _wider(getattr(s, name)) for name in ("rb", "eb", "sb", "mk", "sg", "tmp", "rc")}
            self.arrays = s.replace(**wide, tk=_taller(s.tk))
        elif status == lay.GROW_TOKENS:
            self.arrays = s.replace(tk=_taller(s.tk))
        elif status == lay.GROW_MAP:
            larger = new_map(len(s.mp))
            _maps().rehash(s.mp, larger)
            self.arrays = s.replace(mp=larger)
        elif status == lay.GROW_ENTRIES:
            self.arrays = s.replace(eb=_taller(s.eb), sb=_taller(s.sb))
        elif status == lay.GROW_MASKS:
            self.arrays = s.replace(mk=_taller(s.mk), mi=_taller(s.mi))
        elif status == lay.GROW_CACHE:
            self.arrays = s.replace(rc=_taller(s.rc), rs=_taller(s.rs))
        elif status == lay.GROW_SIGMA:
            self.arrays = s.replace(sg=_taller(s.sg))
        else:
            raise AssertionError(f"status {status}")

    def finish(self, world: WorldArrays) -> None:
        """Gives back what only the evaluation needed."""
        s = self.arrays
        hd = s.hd
        rows, n, e = int(hd[lay.R_COUNT]), int(hd[lay.T_COUNT]), int(hd[lay.E_COUNT])
        words = s.rb.shape[1]
        self.code.sizes = (
            rows + rows // 4, words, 64 * words, int(s.mp[-1, 0]) * 5 // 4, e + e // 4, int(hd[lay.M_COUNT]) + 4,
            len(s.sg), int(hd[lay.CACHED]) * 5 // 4,
        )  # fmt: skip
        used = s.mp[s.mp[:, 5] == 1]
        self.places = used[used[:, 0] == lay.M_PLACE, 1].copy()
        self.bases = world.arrays.tok[s.tk[:n, lay.TK_GID], lay.T_BASE]
        kept = used[(used[:, 0] == lay.M_REGION) | (used[:, 0] == lay.M_MASK)].copy()
        nothing = np.zeros((0, 1), np.uint64)
        self.arrays = State(
            hd, s.rb[:rows].copy(), s.ri[:rows].copy(), s.tk[:n].copy(), kept, s.eb[:e].copy(), s.sb[:e].copy(),
            s.mk, s.mi, s.params, s.done[:0], s.used[:0], nothing, nothing, nothing, s.done[:0],
        )  # fmt: skip


def _maps() -> Any:
    from gpu.shape import maps

    return maps


def _taller(a: Any) -> Any:
    return np.concatenate([a, np.zeros((max(len(a), 4), *a.shape[1:]), a.dtype)])


def _wider(a: Any) -> Any:
    return np.concatenate([a, np.zeros_like(a)], axis=1)


def ints(rows: Any) -> list[int]:
    """Rows of bits as integers."""
    if rows.shape[1] == 1:
        found: list[int] = rows[:, 0].tolist()
        return found
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


class Glance:
    """A method in the arrays, seen as a shape by those who ask about a few of its tokens."""

    def __init__(self, world: WorldArrays, state: MethodState) -> None:
        self.ctx, self.method = state.code.shape.ctx, state.code.shape.method
        self.calls, self.low = state.code.shape.calls, state.code.shape.low
        self.labels = ints(state.arrays.mk[lay.LABELS : lay.LABELS + 1])[0]
        self.keys, self.cells, self.rows = _Keys(world, state), _Cells(world, state), _Rows(state)


class _Keys:
    def __init__(self, world: WorldArrays, state: MethodState) -> None:
        self._world, self._tk = world, state.arrays.tk

    def __getitem__(self, token: int) -> Key:
        return self._world.key(int(self._tk[token, lay.TK_GID]))


class _Cells(_Keys):
    def __init__(self, world: WorldArrays, state: MethodState) -> None:
        super().__init__(world, state)
        self._ri = state.arrays.ri

    def __getitem__(self, token: int) -> dict[int, int]:  # type: ignore[override]
        found = {}
        row = int(self._tk[token, lay.TK_CELLS])
        while row >= 0:
            found[self._world.sparse(int(self._ri[row, lay.R_B]))] = row
            row = int(self._ri[row, lay.R_NEXT])
        return found


class _Rows:
    def __init__(self, state: MethodState) -> None:
        self._rb = state.arrays.rb

    def __getitem__(self, row: int) -> int:
        return int.from_bytes(self._rb[row].tobytes(), "little")


def left_out(state: MethodState) -> frozenset[int]:
    """Rows that are of no use, as they stay empty."""
    return frozenset(r for r in state.code.spare if not state.arrays.rb[r].any())


def load(shape: MethodShape, world: WorldArrays, state: MethodState) -> None:
    """Fills a shape with what is known of its method."""
    s = state.arrays
    hd = s.hd
    rows, n = int(hd[lay.R_COUNT]), int(hd[lay.T_COUNT])
    shape.clear(state.fold, state.merge)
    for gid in s.tk[:n, lay.TK_GID].tolist():
        shape.add_token(world.key(gid))
    shape.rows, shape.filter, shape.row_keys = [], [], []
    facts, info = ints(s.rb[:rows]), s.ri[:rows].tolist()
    entry, stored = ints(s.eb), ints(s.sb)
    without = left_out(state)
    number = {}
    for row, (kind, a, b, c, filter_, e, _, _) in enumerate(info):
        if row in without:
            continue
        at = number[row] = len(shape.rows)
        shape.rows.append(facts[row])
        shape.filter.append(filter_)
        if e >= 0:
            shape.entry[at] = entry[e]
            if stored[e]:
                shape.stored[at] = stored[e]
        if kind == lay.VALUE:
            shape.row_keys.append(())
        elif kind == names.CELL:
            f = world.sparse(b)
            shape.cells[a][f] = at
            shape.row_owner[at] = a
            shape.row_keys.append((kind, shape.keys[a], f))
        else:
            key = world.row_key(kind, a, b, c)
            shape.row_keys.append(key)
            shape.named[key] = at
    for kind, a, _, _, value, _ in s.mp.tolist():
        if kind == lay.M_REGION:
            shape.through[world.key(a)] = world.through_of(value)
        elif kind == lay.M_MASK and a <= lay.ROUTES:
            granted = ints(s.mk[value : value + 1])[0] & ~shape.labels
            shape.granted[lay.ROUTES - a] = granted
    table, most = shape.ctx.table, shape.ctx.limits.objects_per_static
    for p in shape.primitives:
        if p.kind == TABLE_GET:
            shape.table_reads[p.field] = table.content(p.field, most)
