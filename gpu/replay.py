"""A solved problem, evaluated again by kernels where someone wants to look: states of the heap, and paths of tokens.

The facts of the method at hand are copied to the end of an array of words that also holds the constant rows and all
summaries; so any engine's solution will do. What was noted of a method's flows is kept, up to a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpu import flows as kernels
from gpu import reference
from gpu.cpu import scratch, worker_fields
from gpu.flows import (
    DONE,
    F_APPLIED,
    F_BEFORE,
    F_BITS,
    F_COUNT,
    F_DONE,
    F_FIRST_OP,
    F_FIRST_WRITE,
    F_SIZE,
    F_STOP,
    F_WAIT,
    F_WORD,
    FLOW_COLUMN,
    FLOW_FROM,
    FLOW_SIZE,
    NO_ROOM,
    W_FIELDS,
)
from gpu.pack import (
    A_BIND,
    A_WRITE,
    B_OP,
    B_OP_END,
    B_SIZE,
    I_SIZE,
    M_BLOCK_AT,
    M_BLOCKS,
    M_FIRST_HEAP,
    M_HEAP,
    M_LABELS_AT,
    M_ODD,
    M_ROW_MASK_AT,
    M_ROWS,
    M_SIZE,
    M_WIDTH,
    O_DST,
    O_SIZE,
    W_SIZE,
    pack,
)
from gpu.problem import APPLY, CONSTANT, LABEL
from gpu.solution import START, BitRows, Hop, Solution
from gpu.transfer import (
    BLOCK,
    FIRST_HEAP,
    HEAD,
    HEADS,
    HEAP_BITS,
    LABELS,
    LIMIT,
    LOCAL,
    N_BLOCKS,
    N_HEAP,
    ODD,
    OP,
    OP_END,
    PENDING,
    REACHED,
    ROW_MASK,
    ROWS,
    STATE,
    WIDTH,
    WORK,
)

MOST_RECORDS = 4_000_000
"""Flows of 64 tokens in one method; beyond that no path is shown through it."""
MOST_KEPT = 16_000_000
"""Flows kept for later questions, of all methods."""
FIRST_ROOM = 1 << 12
ALL_TOKENS = (1 << 64) - 1
SLICE = 20_000_000
"""Units of work, of a nanosecond or so, between two moments at which the process can be interrupted."""

# Kernels have no types that mypy knows.
_find_flows: Callable[..., int] = kernels.find_flows
_shortest: Callable[..., int] = kernels.shortest


@dataclass(frozen=True, slots=True)
class _Flows:
    """Records of 64 tokens of a method, and where those of a node are."""

    records: NDArray[np.int32]
    tokens: NDArray[np.uint64]
    off: NDArray[np.int32]
    order: NDArray[np.int32]


class Replay(reference.Replay):
    """As `gpu.paths.Replay`, by kernels."""

    @cached_property
    def _machine(self) -> _Machine:
        return _Machine(self.solution)

    def state_at(self, m: int, block: int, before: int) -> list[int]:
        """See `gpu.solution.Replay`."""
        return list(BitRows(self._machine.heap_before(m, block, before)))

    def path(self, m: int, column: int, row: int) -> list[Hop]:
        """See `gpu.solution.Replay`."""
        return self._machine.path(m, column, row)


class _Machine:
    """The memory of kernels, and what was found with it."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        problem = self.problem = solution.problem
        packed = self.packed = pack(problem)
        summaries_at = packed.summary_at
        self.facts_at = summaries_at + len(solution.summary_words)
        largest = int(np.diff(solution.fact_off).max(initial=0))
        fields, size = scratch(packed.sizes, self.facts_at + largest, lean=False)
        at = self.facts_at + largest + size
        blocks = int(np.diff(problem.block_off).max(initial=0))
        parts = {
            F_BEFORE: packed.sizes.rows, F_WAIT: packed.sizes.exports, F_DONE: packed.sizes.exports,
            F_BITS: 2 * ((blocks + 63) // 64),
        }  # fmt: skip
        self.f = np.zeros(F_SIZE, np.int64)
        for field, length in parts.items():
            self.f[field] = at
            at += length
        self.words = np.zeros(at, np.uint64)
        self.words[:summaries_at] = packed.words
        self.words[summaries_at : self.facts_at] = solution.summary_words
        self.s = worker_fields(packed.sizes, fields)
        self.s[LIMIT] = SLICE
        self._at_hand = -1
        self._flows: dict[tuple[int, int, int], _Flows | None] = {}
        self._wanted: dict[tuple[int, int], int] = {}
        self._kept = 0
        self._walk = np.zeros(W_FIELDS, np.int64)
        self._make_room(FIRST_ROOM)
        # Where operations, bindings and writes begin in the packed code.
        code = packed.code
        self.first_bind = self.first_write = 0
        if problem.n_methods:
            self.f[F_FIRST_OP] = code[code[M_BLOCK_AT] + B_OP]
        calls = np.flatnonzero(problem.op_kind == APPLY)
        calls = calls[np.diff(problem.call_off)[problem.op_dst[calls]] > 0]
        if len(calls):
            app = int(problem.call_off[problem.op_dst[calls[0]]])
            record = int(code[int(self.f[F_FIRST_OP]) + int(calls[0]) * O_SIZE + O_DST])
            self.first_bind = int(code[record + A_BIND]) - int(problem.bind_off[app]) * I_SIZE
            self.first_write = int(code[record + A_WRITE]) - int(problem.write_off[app]) * W_SIZE

    def heap_before(self, m: int, block: int, before: int) -> NDArray[np.uint64]:
        """Heap rows in a block before its operation number `before`."""
        p, s = self.problem, self.s
        self._take(m, block)
        first = int(p.block_off[m]) + block
        self.f[F_STOP] = s[OP] + min(before, int(p.op_off[first + 1] - p.op_off[first])) * O_SIZE
        while self._run(m, np.uint64(0)) != DONE:
            pass
        n, width = int(s[N_HEAP]), int(s[WIDTH])
        head = self.words[s[HEAD] : s[HEAD] + n * width].reshape(n, width)
        state = self.words[s[STATE] : s[STATE] + n * width].reshape(n, width)
        local = self.words[s[LOCAL] : s[LOCAL] + s[HEAP_BITS]].astype("<u8", copy=False).view(np.uint8)
        return np.where(np.unpackbits(local, count=n, bitorder="little")[:, None], state, head)

    def path(self, m: int, column: int, row: int) -> list[Hop]:
        """Hops by which a token gets into a row."""
        flows = self._flows_of(m, column)
        if flows is None:
            return []
        p, code = self.problem, self.packed.code
        apps, n_rows = self._applications(m), int(p.row_off[m + 1] - p.row_off[m])
        first_bind, end_bind = int(p.bind_off[apps[0]]), int(p.bind_off[apps[1]])
        write = int(p.write_off[apps[0]])
        nodes = len(flows.off) - 1
        reached, taken = np.zeros((nodes, 4), np.int32), np.zeros(end_bind - first_bind, np.uint8)
        if not _shortest(
            code, self.words, self._walk, flows.records, flows.tokens, flows.off, flows.order, m * M_SIZE,
            self.first_write + write * W_SIZE, self.first_bind + first_bind * I_SIZE, column, row, reached, taken,
            np.zeros(nodes, np.int64), np.zeros(nodes, np.int64),
        ):  # fmt: skip
            return []
        hops: list[Hop] = []
        at = row
        while (source := int(reached[at, 3])) >= 0:
            app, export_row, node = -1, -1, at
            if source > n_rows:
                number = source - n_rows - 1 + write
                app = int(np.searchsorted(p.write_off, number, "right")) - 1
                export_row, node = number - int(p.write_off[app]), source
            op, record = int(reached[node, 1]), int(reached[node, 2]) * FLOW_SIZE
            source = int(flows.records[record + FLOW_FROM])
            column_of = int(flows.records[record + FLOW_COLUMN])
            hops.append(Hop(START if source == n_rows else source, at, op, app, column_of, export_row))
            at = source
        return hops[::-1]

    # -- one method --------------------------------------------------------------------------------------------

    def _take(self, m: int, block: int) -> None:
        """Makes a method the one at hand, at the head of a block: its facts are copied to where kernels look."""
        code, s, f, words = self.packed.code, self.s, self.f, self.words
        if self._at_hand != m:
            self._at_hand = m
            first, last = int(self.solution.fact_off[m]), int(self.solution.fact_off[m + 1])
            words[self.facts_at : self.facts_at + last - first] = self.solution.facts[first:last]
        record = code[m * M_SIZE : (m + 1) * M_SIZE].tolist()
        width, heap = record[M_WIDTH], record[M_HEAP]
        sets, heap_sets = (record[M_BLOCKS] + 63) >> 6, (heap + 63) >> 6
        s[WIDTH], s[FIRST_HEAP], s[N_HEAP], s[HEAP_BITS] = width, record[M_FIRST_HEAP], heap, heap_sets
        s[N_BLOCKS], s[LABELS] = record[M_BLOCKS], record[M_LABELS_AT]
        s[ROW_MASK], s[ODD] = record[M_ROW_MASK_AT], record[M_ODD]
        s[ROWS], s[HEADS] = self.facts_at, self.facts_at + record[M_ROWS] * width
        # No row grows in a solved method, so nobody is woken: READ_AT and READ_END stay 0.
        s[PENDING], s[REACHED] = f[F_BITS], f[F_BITS] + sets
        words[f[F_BITS] : f[F_BITS] + 2 * sets] = 0
        at = record[M_BLOCK_AT] + block * B_SIZE
        s[BLOCK], s[OP], s[OP_END] = block, code[at + B_OP], code[at + B_OP_END]
        s[HEAD] = s[HEADS] + block * heap * width
        words[s[LOCAL] : s[LOCAL] + heap_sets] = 0
        f[F_COUNT] = f[F_APPLIED] = 0

    def _blocks(self, m: int) -> set[int]:
        """Blocks of a method that are reached."""
        p, first = self.problem, int(self.problem.block_off[m])
        found, stack = {0}, [0]
        while stack:
            block = first + stack.pop()
            for s in p.succ[p.succ_off[block] : p.succ_off[block + 1]].tolist():
                if s not in found:
                    found.add(s)
                    stack.append(s)
        return found

    def _run(self, m: int, wanted: np.uint64) -> int:
        """Lets the kernel go on for a time slice."""
        self.s[WORK] = 0
        return _find_flows(
            self.packed.code, self.words, self.s, self.f, self._records, self._tokens, m * M_SIZE, wanted
        )

    def _applications(self, m: int) -> tuple[int, int]:
        """The run of applications that has all of a method's."""
        p = self.problem
        first, last = int(p.op_off[p.block_off[m]]), int(p.op_off[p.block_off[m + 1]])
        calls = p.op_dst[first:last][p.op_kind[first:last] == APPLY]
        if not len(calls):
            return 0, 0
        return int(p.call_off[calls.min()]), int(p.call_off[calls.max() + 1])

    def _flows_of(self, m: int, column: int) -> _Flows | None:
        """Flows of a token and some that are likely to be asked for as well, kept; None if there are too many."""
        word = column >> 6
        if (m, word) not in self._wanted:
            self._wanted[m, word] = self._likely(m, word)
        wanted = self._wanted[m, word]
        if not wanted >> (column & 63) & 1:
            wanted = ALL_TOKENS
        key = m, word, wanted
        if key not in self._flows:
            found = self._flows[key] = self._find(m, word, np.uint64(wanted))
            self._kept += len(found.tokens) if found is not None else 0
            while self._kept > MOST_KEPT and len(self._flows) > 1:
                oldest = self._flows.pop(next(iter(self._flows)))
                self._kept -= len(oldest.tokens) if oldest is not None else 0
        return self._flows[key]

    def _find(self, m: int, word: int, wanted: np.uint64) -> _Flows | None:
        p, f = self.problem, self.f
        apps = self._applications(m)
        self._take(m, 0)
        f[F_WORD], f[F_FIRST_WRITE] = word, self.first_write + int(p.write_off[apps[0]]) * W_SIZE
        f[F_STOP] = -1
        for block in self._blocks(m):
            self.words[self.s[REACHED] + (block >> 6)] |= np.uint64(1 << (block & 63))
        while (done := self._run(m, wanted)) != DONE:
            if done == NO_ROOM:
                if len(self._tokens) >= MOST_RECORDS:
                    return None
                count = int(f[F_COUNT])
                tokens, records = self._tokens[:count], self._records[: count * FLOW_SIZE]
                self._make_room(len(self._tokens) * 4)
                self._tokens[:count], self._records[: count * FLOW_SIZE] = tokens, records
        count = int(f[F_COUNT])
        nodes = int(p.row_off[m + 1] - p.row_off[m]) + 1 + int(p.write_off[apps[1]] - p.write_off[apps[0]])
        records = self._records[: count * FLOW_SIZE].copy()
        sources = records[FLOW_FROM::FLOW_SIZE].astype(np.int16 if nodes < 1 << 15 else np.int32)
        order = np.argsort(sources, kind="stable").astype(np.int32)
        off = np.concatenate(([0], np.cumsum(np.bincount(sources, minlength=nodes)))).astype(np.int32)
        return _Flows(records, self._tokens[:count].copy(), off, order)

    def _make_room(self, n: int) -> None:
        self._records, self._tokens = np.zeros(n * FLOW_SIZE, np.int32), np.zeros(n, np.uint64)

    def _likely(self, m: int, word: int) -> int:
        """Which of 64 tokens are likely to be asked for: labels, and what tokens of a caller may stand in place of."""
        p = self.problem
        first = int(p.col_off[m]) + 64 * word
        last = min(first + 64, int(p.col_off[m + 1]))
        names, labels = p.col_export[first:last], p.col_flag[first:last] & LABEL
        kinds = p.sumcol_kind[p.sumcol_off[m] : p.sumcol_off[m + 1]]
        return sum(
            1 << i for i, name in enumerate(names.tolist()) if labels[i] or (name >= 0 and kinds[name] != CONSTANT)
        )
