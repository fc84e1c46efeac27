"""SSA bodies of many methods in one call: what `analyzer.ir.Body` documents, laid end to end."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.folding import decide
from analyzer.kernels.graphs import cover, cycles, finish, into_blocks, raw_blocks, walk
from analyzer.kernels.layout import (
    APUT,
    C_DST,
    C_PC,
    C_REF,
    CALL,
    CRAMPED,
    DONE,
    E_SUCC,
    F_IN,
    F_VALUE,
    FULL,
    G_INTO,
    G_OPS,
    G_PRED,
    G_RANGE,
    G_SUCC,
    H_BLOCK,
    H_TYPE,
    I_DECIDED,
    K_ARGS,
    K_BLOCKS,
    K_CONSTANTS,
    K_HANDLERS,
    K_OPS,
    K_RANGES,
    K_SUCCS,
    K_VALUES,
    M_BRANCHES,
    M_OPS,
    M_PAIRS,
    M_USES,
    M_VALUES,
    N_TABLES,
    O_ARG,
    O_DST,
    O_OP,
    O_PC,
    O_REF,
    O_THROWS,
    P_IN,
    PHI,
    TOO_LARGE,
    V_KNOWN,
    V_NUMBER,
    V_PHI,
    V_REGISTER,
    V_STATE,
    Z_HANDLERS,
    helper,
    kernel,
)
from analyzer.kernels.liveness import live_registers
from analyzer.kernels.renaming import rename_all
from analyzer.kernels.settling import settle


@helper
def sort(items, low, high):
    """Ascending; Shell's method with gaps that halve."""
    gap = (high - low) // 2
    while gap > 0:
        for i in range(low + gap, high):
            item, at = items[i], i
            while at >= low + gap and items[at - gap] > item:
                items[at] = items[at - gap]
                at -= gap
            items[at] = item
        gap //= 2


@helper
def write_phi(phi, at, values, phis, pairs, constants, args):
    """Writes the distinct values that come into a phi, ascending, and what it is if they are one constant.

    V_STATE holds the last phi that a value was written for.
    """
    first = at
    same, number, undefined = True, 0, False
    for k in range(phis[F_IN, phi], phis[F_IN, phi + 1]):
        v = pairs[P_IN, k]
        if v < 0:
            undefined = True
            continue
        if v == phis[F_VALUE, phi] or values[V_STATE, v] == phi:
            continue
        values[V_STATE, v] = phi
        if not values[V_KNOWN, v] or (at > first and constants[v] != number):
            same = False
        number = constants[v]
        args[at] = values[V_NUMBER, v]
        at += 1
    sort(args, first, at)
    if same and at > first and not undefined:
        values[V_KNOWN, phis[F_VALUE, phi]] = 1
        constants[phis[F_VALUE, phi]] = number
    return at


@helper
def write_operations(
    job, starts, final, count, ops, uses, values, phis, pairs, constants, totals,
    op, throws, columns, arg_off, args, block_off, value_reg, constant_value, constant,
):  # fmt: skip
    """Operations, arguments, bounds of blocks, values and constants of one method."""
    for v in range(totals[M_VALUES]):
        values[V_STATE, v] = -1
    first, first_arg = starts[job, K_OPS], starts[job, K_ARGS]
    at, arg = first, first_arg
    for b in range(count):
        block_off[starts[job, K_BLOCKS] + job + b] = at - first
        for i in range(final[G_OPS, b], final[G_OPS, b + 1]):
            kind = ops[O_OP, i]
            if kind < 0:
                continue
            op[at] = kind
            throws[at] = ops[O_THROWS, i] != 0
            columns[C_PC, at] = ops[O_PC, i]
            for k in range(4):  # dst, a, b, c
                v = ops[O_DST + k, i]
                columns[C_DST + k, at] = values[V_NUMBER, v] if v >= 0 and (k < 3 or kind == APUT) else v
            columns[C_REF, at] = ops[O_REF, i]
            arg_off[at + job] = arg - first_arg
            if kind == PHI:
                arg = write_phi(values[V_PHI, ops[O_DST, i]], arg, values, phis, pairs, constants, args)
            elif kind == CALL:
                for k in range(ops[O_ARG, i], ops[O_ARG, i + 1]):
                    args[arg] = values[V_NUMBER, uses[0, k]] if uses[0, k] >= 0 else -1
                    arg += 1
            at += 1
    arg_off[at + job] = arg - first_arg
    block_off[starts[job, K_BLOCKS] + job + count] = at - first
    value, known = starts[job, K_VALUES], starts[job, K_CONSTANTS]
    for v in range(totals[M_VALUES]):
        if values[V_NUMBER, v] >= 0:
            value_reg[value] = values[V_REGISTER, v]
            value += 1
            if values[V_KNOWN, v]:
                constant_value[known] = values[V_NUMBER, v]
                constant[known] = constants[v]
                known += 1
    starts[job + 1, K_OPS], starts[job + 1, K_ARGS] = at, arg
    starts[job + 1, K_VALUES], starts[job + 1, K_CONSTANTS] = value, known


@helper
def write_graph(
    job, starts, final, count, n_ranges, edges, handlers, spans,
    succ_off, succ, block_range, in_cycle, range_off, handlers_out,
):  # fmt: skip
    """Edges, ranges, handlers and cycles of one method."""
    block, first_succ = starts[job, K_BLOCKS], starts[job, K_SUCCS]
    for b in range(count):
        succ_off[block + job + b] = final[G_SUCC, b]
        block_range[block + b] = final[G_RANGE, b]
    succ_off[block + job + count] = final[G_SUCC, count]
    for e in range(final[G_SUCC, count]):
        succ[first_succ + e] = edges[E_SUCC, e]
    for r in range(n_ranges + 1):
        range_off[starts[job, K_RANGES] + job + r] = spans[Z_HANDLERS, r]
    for h in range(spans[Z_HANDLERS, n_ranges]):
        handlers_out[0, starts[job, K_HANDLERS] + h] = handlers[H_TYPE, h]
        handlers_out[1, starts[job, K_HANDLERS] + h] = handlers[H_BLOCK, h]
    cycles(final, count, edges, handlers, spans, in_cycle, block)
    starts[job + 1, K_BLOCKS], starts[job + 1, K_SUCCS] = block + count, first_succ + final[G_SUCC, count]
    starts[job + 1, K_RANGES] = starts[job, K_RANGES] + n_ranges
    starts[job + 1, K_HANDLERS] = starts[job, K_HANDLERS] + spans[Z_HANDLERS, n_ranges]


@helper
def has_joins(final, count):
    """Whether a block has several edges into it, or an exceptional one."""
    for b in range(count):
        if final[G_PRED, b + 1] - final[G_PRED, b] > 1 or final[G_INTO, b + 1] > final[G_INTO, b]:
            return True
    return False


@kernel(
    "int64(int64, int64, int64, int32[::1], int32[::1], int32[::1],"
    "int32[:, ::1], int32[::1], bool_[::1], int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[:, ::1],"
    "int32[::1], int32[::1], int32[::1],"
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    "uint8[::1], int32[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1],"
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1],"
    "int64[:, ::1], uint8[::1], uint8[::1], bool_[::1], int32[:, ::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], bool_[::1], int32[::1], int32[:, ::1], int32[::1], int32[::1], int64[::1])"
)
def build_bodies(
    job, rounds, largest, codes, parameters, param_off,
    rows, args, leader, insn_off, switch_key, switch_target, lit64, try_off, tries, handler_type, handler_insn, sizes,
    insns, raw, edges, ranges, handlers, spans, final, flags, states, registers, values, constants, known, phis, pairs,
    visible, ops, uses, totals,
    starts, status, op, throws, columns, arg_off, args_out, block_off, succ_off, succ, block_range, in_cycle,
    range_off, handlers_out, value_reg, constant_value, constant,
):  # fmt: skip
    """Bodies of the methods from `job` on; returns the job that could not be done, for lack of room, or how many.

    `codes`: code item of each job; `parameters`: register of each parameter, CSR by `param_off`; then the columns of
    `analyzer.lift.Table`, work space (see `layout`) and the output, whose CSR offsets are `starts`. `rounds` of pruning
    at most; `largest` number of registers times blocks.
    """
    while job < len(codes):
        code = codes[job]
        base, n, size = insn_off[code], insn_off[code + 1] - insn_off[code], np.int64(sizes[code])
        first_try, n_tries = try_off[code], try_off[code + 1] - try_off[code]
        for i in range(n):
            insns[I_DECIDED, i] = -1
        outcome, count, n_ranges, round_ = DONE, 0, 0, 0
        while True:
            round_ += 1
            count = raw_blocks(rows, leader, base, n, switch_target, insns, raw, edges)
            cover(rows, base, n, tries, first_try, n_tries, handler_insn, insns, raw, count, ranges, handlers)
            count = walk(raw, count, edges, ranges, handlers)
            if size * count > largest:
                outcome = TOO_LARGE
                break
            n_ranges = finish(
                raw, count, edges, tries, first_try, n_tries, ranges, handler_insn, handler_type, insns, handlers,
                final, spans,
            )  # fmt: skip
            into_blocks(final, count, edges, n_ranges, handlers, spans)
            joins = has_joins(final, count)
            if joins:
                live_registers(
                    rows, args, base, size, final, count, edges, handlers, spans, parameters, param_off[job],
                    param_off[job + 1], flags, registers, states,
                )  # fmt: skip
            outcome = rename_all(
                base, size, joins, rows, args, lit64, final, count, edges, handlers, spans, parameters,
                param_off[job], param_off[job + 1], flags, states, registers, visible, values, constants, phis, pairs,
                ops, uses, totals,
            )  # fmt: skip
            if outcome != DONE:
                break
            settle(ops, uses, values, phis, pairs, totals)
            if round_ >= rounds or totals[M_BRANCHES] == 0:
                break
            if not decide(
                ops, final, count, edges, handlers, spans, values, totals[M_VALUES],
                param_off[job + 1] - param_off[job], phis, pairs, constants, known, switch_key,
                switch_target, insns,
            ):  # fmt: skip
                break
        status[job] = outcome
        if outcome == CRAMPED:
            return job
        if outcome == TOO_LARGE:
            for table in range(N_TABLES):
                starts[job + 1, table] = starts[job, table]
        elif (
            starts[job, K_OPS] + totals[M_OPS] > len(op)
            or starts[job, K_ARGS] + totals[M_USES] + totals[M_PAIRS] > len(args_out)
            or starts[job, K_VALUES] + totals[M_VALUES] > len(value_reg)
            or starts[job, K_CONSTANTS] + totals[M_VALUES] > len(constant)
        ):
            status[job] = FULL
            return job
        else:
            write_operations(
                job, starts, final, count, ops, uses, values, phis, pairs, constants, totals, op, throws, columns,
                arg_off, args_out, block_off, value_reg, constant_value, constant,
            )  # fmt: skip
            write_graph(
                job, starts, final, count, n_ranges, edges, handlers, spans, succ_off, succ, block_range, in_cycle,
                range_off, handlers_out,
            )  # fmt: skip
        job += 1
    return job
