"""SSA bodies of dex methods, made by kernels for many methods at once and kept as flat arrays.

A `Batch` holds the bodies of some methods laid end to end; a `Body` is a view into it. The steps are those of the
readable version in `tests/analyzer/readable`: control-flow graph, liveness, renaming, phis, branches on constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.ir import I4, Body
from analyzer.kernels import layout
from analyzer.lift import Table

I8 = NDArray[np.int64]

ROUNDS = 8
"""Each round decides branches on constants that the round before exposed; more would be quadratic in hostile code."""

LARGEST = 1 << 25
"""Registers times blocks of one method: what its renaming holds at once. Real giants need a tenth of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Bodies of `n` methods, laid end to end: what `Body` says of one holds for its part of each array.

    `starts`, (n + 1, N_TABLES), has the first row of each method in each table (`layout.K_OPS` …); CSR offsets count
    from the method's own first row, and have one row more per method.
    """

    starts: I8
    status: NDArray[np.uint8]
    """(n,) `layout.DONE`, or why there is no body."""
    n_params: I4
    op: NDArray[np.uint8]
    throws: NDArray[np.bool_]
    columns: I4
    """(N_COLUMNS, n_ops)"""
    arg_off: I4
    args: I4
    block_off: I4
    succ_off: I4
    succ: I4
    block_range: I4
    in_cycle: NDArray[np.bool_]
    range_off: I4
    handlers: I4
    """(2, n_handlers): type, block"""
    value_reg: I4
    constant_value: I4
    """SSA value of each known constant, ascending within a method."""
    constant: I8

    def body(self, k: int) -> Body:
        """The body of the k-th method."""
        low, high = self.starts[k].tolist(), self.starts[k + 1].tolist()
        (o, a, b, s, r, h, v, c), (oo, aa, bb, ss, rr, hh, vv, cc) = low, high
        columns = self.columns
        return Body(
            n_params=int(self.n_params[k]),
            n_values=vv - v,
            op=self.op[o:oo],
            pc=columns[layout.C_PC, o:oo],
            dst=columns[layout.C_DST, o:oo],
            a=columns[layout.C_A, o:oo],
            b=columns[layout.C_B, o:oo],
            c=columns[layout.C_C, o:oo],
            ref=columns[layout.C_REF, o:oo],
            arg_off=self.arg_off[o + k : oo + k + 1],
            args=self.args[a:aa],
            throws=self.throws[o:oo],
            block_off=self.block_off[b + k : bb + k + 1],
            succ_off=self.succ_off[b + k : bb + k + 1],
            succ=self.succ[s:ss],
            block_range=self.block_range[b:bb],
            range_off=self.range_off[r + k : rr + k + 1],
            handler_type=self.handlers[0, h:hh],
            handler_block=self.handlers[1, h:hh],
            in_cycle=self.in_cycle[b:bb],
            constant=dict(zip(self.constant_value[c:cc].tolist(), self.constant[c:cc].tolist(), strict=True)),
            value_reg=self.value_reg[v:vv],
        )


class Bodies:
    """Makes bodies from the rows of a table; work space is kept from call to call."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._phis = 256
        self._pairs = 1024
        self._space: tuple[Any, ...] = ()
        self._sized: tuple[int, ...] = ()

    @cached_property
    def _needs(self) -> I8:
        """(n_code, 6): instructions, blocks, edges, exceptional ranges, handlers, operations beside phis."""
        table = self._table
        off, op = table.insn_off, table.rows[:, layout.R_OP]

        def per_code(rows: NDArray[Any]) -> I8:
            sums = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
            found: I8 = sums[off[1:]] - sums[off[:-1]]
            return found

        size = np.diff(off)
        blocks = per_code(table.leader)
        cases = per_code(np.where(op == layout.SWITCH, table.rows[:, layout.R_C], 0))
        filled = op == layout.FILLED
        elements = np.where(filled, table.rows[:, layout.R_B] - table.rows[:, layout.R_A], 0)
        more = per_code(np.where(filled, 2 + 2 * elements, 0))
        uses = per_code(np.where(op == layout.CALL, table.rows[:, layout.R_B] - table.rows[:, layout.R_A], 0))
        tries = np.diff(table.try_off)
        handlers = np.concatenate([[0], np.cumsum(table.tries[:, layout.T_LAST] - table.tries[:, layout.T_FIRST])])
        handlers = handlers[table.try_off[1:]] - handlers[table.try_off[:-1]]
        return np.stack([size, blocks, 2 * blocks + cases, tries, handlers, size + more, uses], axis=1)

    def build(self, codes: I4, parameters: I4, param_off: I4) -> Batch:
        """The bodies of intact code items; `parameters`: the register of each parameter, `this` first, CSR."""
        from analyzer.kernels import bodies

        kernels: ModuleType = bodies
        table, n = self._table, len(codes)
        needs = self._needs[codes]
        total = needs.sum(axis=0) + 64
        n_params = np.diff(param_off)
        phis = int(total[1])
        rooms = [
            int(total[5] + phis),
            int(total[6] + 4 * phis),
            int(total[1] + n),
            int(total[2] + n),
            int(total[3]),
            int(total[4] + total[3]),
            int(total[5] + phis + len(parameters)),
            int(total[5] + phis),
        ]
        starts, status = np.zeros((n + 1, layout.N_TABLES), np.int64), np.zeros(n, np.uint8)
        out = _output(rooms, n)
        self._reserve(codes)
        job = 0
        while True:
            job = kernels.build_bodies(
                *(job, ROUNDS, LARGEST, codes, parameters, param_off),
                *(table.rows, table.args, table.leader, table.insn_off, table.switch_key, table.switch_target),
                *(table.lit64, table.try_off, table.tries, table.handler_type, table.handler_insn, table.registers),
                *self._space,
                *(starts, status, *out),
            )
            if job == n:
                break
            if status[job] == layout.CRAMPED:
                self._phis, self._pairs = 2 * self._phis, 2 * self._pairs
                self._sized = ()
                self._reserve(codes)
            else:
                rooms = [2 * room + 64 for room in rooms]
                out = _grown(out, _output(rooms, n))
        end = starts[n].tolist()
        return _trimmed(starts, status, n_params.astype(np.int32), out, end, n)

    def _reserve(self, codes: I4) -> None:
        """Work space for the largest of these code items."""
        table = self._table
        needs = self._needs[codes]
        insns, blocks, edges, tries, handlers, ops, uses = needs.max(axis=0, initial=0).tolist()
        registers = table.registers[codes].astype(np.int64)
        states = min(int((registers * (needs[:, 1] + 1)).max(initial=0)), LARGEST)
        size = int(registers.max(initial=0))
        wanted = (insns, blocks, edges, tries, handlers, ops, uses, states, size)
        if self._sized and all(w <= s for w, s in zip(wanted, self._sized, strict=True)):
            return
        self._sized = tuple(max(pair) for pair in zip(wanted, self._sized or wanted, strict=True))
        insns, blocks, edges, tries, handlers, ops, uses, states, size = self._sized
        values = ops + size + self._phis + 2
        self._space = (
            _table(layout.N_INSN, insns),
            _table(layout.N_RAW, blocks + 3),
            _table(layout.N_EDGE, edges + 2),
            _table(layout.N_TRY, tries + 2),
            _table(layout.N_HANDLER, handlers + 1),
            _table(layout.N_RANGE, tries + 2),
            _table(layout.N_FINAL, blocks + 3),
            np.empty(states, np.uint8),
            np.empty(states + size + 1, np.int32),
            _table(layout.N_REGISTER, size + 1),
            _table(layout.N_VALUE, values),
            np.empty(values, np.int64),
            np.empty(values + 1, np.int64),
            _table(layout.N_PHI, self._phis + 2),
            _table(layout.N_PAIR, self._pairs),
            _table(layout.N_VISIBLE, 3 * insns + 3),
            _table(layout.N_OP, ops + self._phis + 2),
            _table(1, uses + 1),
            np.empty(layout.N_TOTAL, np.int64),
        )


def _table(columns: int, rows: int) -> I8:
    return np.empty((columns, rows), np.int64)


def _output(rooms: Sequence[int], n: int) -> tuple[NDArray[Any], ...]:
    ops, args, blocks, succs, _, handlers, values, constants = rooms
    return (
        np.empty(ops, np.uint8),
        np.empty(ops, np.bool_),
        np.empty((layout.N_COLUMNS, ops), np.int32),
        np.zeros(ops + n + 1, np.int32),
        np.empty(args, np.int32),
        np.zeros(blocks + n + 1, np.int32),
        np.zeros(blocks + n + 1, np.int32),
        np.empty(succs, np.int32),
        np.empty(blocks, np.int32),
        np.empty(blocks, np.bool_),
        np.zeros(handlers + n + 1, np.int32),
        np.empty((2, handlers), np.int32),
        np.empty(values, np.int32),
        np.empty(constants, np.int32),
        np.empty(constants, np.int64),
    )


def _grown(old: tuple[NDArray[Any], ...], new: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    for before, after in zip(old, new, strict=True):
        after[..., : before.shape[-1]] = before
    return new


def _trimmed(
    starts: I8, status: NDArray[np.uint8], n_params: I4, out: tuple[NDArray[Any], ...], end: Sequence[int], n: int
) -> Batch:
    """The batch, its arrays no longer than what they hold."""
    op, throws, columns, arg_off, args, block_off, succ_off, succ, block_range, in_cycle = out[:10]
    range_off, handlers, value_reg, constant_value, constant = out[10:]
    ops, n_args, blocks, succs, ranges, n_handlers, values, constants = end
    return Batch(
        starts,
        status,
        n_params,
        op[:ops].copy(),
        throws[:ops].copy(),
        columns[:, :ops].copy(),
        arg_off[: ops + n].copy(),
        args[:n_args].copy(),
        block_off[: blocks + n].copy(),
        succ_off[: blocks + n].copy(),
        succ[:succs].copy(),
        block_range[:blocks].copy(),
        in_cycle[:blocks].copy(),
        range_off[: ranges + n].copy(),
        handlers[:, :n_handlers].copy(),
        value_reg[:values].copy(),
        constant_value[:constants].copy(),
        constant[:constants].copy(),
    )
