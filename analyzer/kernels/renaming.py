"""SSA renaming: each register to values, block by block in reverse post-order.

At a join, a phi is made for each live register on whose value the edges differ or may differ (a loop's back edge is
not known yet). An exceptional edge brings, for each operation of the block that may throw, the state before it.
`states` holds the value of each register at the end of each block, -1 where it is undefined.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.folding import fold, folds
from analyzer.kernels.layout import (
    APUT,
    CALL,
    CAUGHT,
    CONST,
    CRAMPED,
    DATA,
    DONE,
    E_PRED,
    F_VALUE,
    FILLED,
    G_BLOCKS,
    G_CATCH,
    G_END,
    G_FIRST,
    G_HANDLER,
    G_INTO,
    G_OPS,
    G_PENDING,
    G_PHIS,
    G_PRED,
    G_SUCC,
    G_THROWN,
    GOTO,
    H_INTO,
    IF,
    LITERAL_POOL,
    LIVE,
    M_BRANCHES,
    M_OPS,
    M_PAIRS,
    M_PHIS,
    M_USES,
    M_VALUES,
    M_VISIBLE,
    MANY,
    MOVE,
    NEW_ARRAY,
    NODATA,
    NONE,
    NOP,
    O_A,
    O_ARG,
    O_B,
    O_C,
    O_DST,
    O_OP,
    O_PC,
    O_REF,
    O_THROWS,
    P_PHI,
    P_VALUE,
    PHI,
    R_A,
    R_B,
    R_C,
    R_DST,
    R_OP,
    R_PC,
    R_REF,
    R_THROWS,
    S_AT,
    S_BLOCK,
    S_LAST,
    S_LIST,
    S_ONLY,
    S_PHI,
    S_STAMP,
    S_TIMES,
    S_WANTED,
    SWITCH,
    V_FOLDABLE,
    V_KNOWN,
    V_PHI,
    V_REGISTER,
    W_REGISTER,
    W_VALUE,
    Z_BLOCKS,
    helper,
    kernel,
)


@kernel("int64(int64[:, ::1], int64[::1], int64)", helper=True)
def new_value(values, totals, register):
    """A value that is no constant and no phi."""
    v = totals[M_VALUES]
    totals[M_VALUES] = v + 1
    values[V_REGISTER, v] = register
    values[V_FOLDABLE, v] = values[V_KNOWN, v] = 0
    values[V_PHI, v] = -1
    return v


@kernel("int64(int64[:, ::1], int64[::1], int64, int64, int64, int64, int64, int64, int64, int64)", helper=True)
def emit(ops, totals, op, pc, dst, a, b, c, ref, throws):
    """Appends an operation."""
    i = totals[M_OPS]
    totals[M_OPS] = i + 1
    ops[O_OP, i] = op
    ops[O_PC, i] = pc
    ops[O_DST, i] = dst
    ops[O_A, i] = a
    ops[O_B, i] = b
    ops[O_C, i] = c
    ops[O_REF, i] = ref
    ops[O_THROWS, i] = throws
    ops[O_ARG, i] = totals[M_USES]
    return i


@helper
def bring(registers, pairs, totals, register, value):
    """Notes a value of a register that comes in at a join; `pairs` may be too short, which the caller finds out."""
    if registers[S_LAST, register] != value:
        registers[S_LAST, register] = value
        m = totals[M_PAIRS]
        totals[M_PAIRS] = m + 1
        if m < pairs.shape[1]:
            pairs[P_PHI, m] = register
            pairs[P_VALUE, m] = value


@helper
def around(block, final, edges, handlers, spans):
    """The block whose end a block starts from, its first normal predecessor if that comes before it, else its first
    thrower; and the last block of which an edge leads here."""
    first, last = block, -1
    low, high = final[G_PRED, block], final[G_PRED, block + 1]
    if low < high:
        first, last = edges[E_PRED, low], edges[E_PRED, high - 1]
    normal = first < block
    for h in range(final[G_INTO, block], final[G_INTO, block + 1]):
        r = handlers[H_INTO, h]
        thrower = final[G_BLOCKS, spans[Z_BLOCKS, r]]
        if not normal and thrower < first:
            first = thrower
        thrower = final[G_BLOCKS, spans[Z_BLOCKS, r + 1] - 1]
        if thrower > last:
            last = thrower
    return first, last


@helper
def incoming(block, low, high, size, final, edges, handlers, spans, states, registers, visible, pairs, totals):
    """What blocks from `low` to `high` bring into a block for the registers of S_LIST, which ends with -1."""
    for e in range(final[G_PRED, block], final[G_PRED, block + 1]):
        p = edges[E_PRED, e]
        k = 0
        while low <= p < high and registers[S_LIST, k] >= 0:
            bring(registers, pairs, totals, registers[S_LIST, k], states[p * size + registers[S_LIST, k]])
            k += 1
    for h in range(final[G_INTO, block], final[G_INTO, block + 1]):
        r = handlers[H_INTO, h]
        for at in range(spans[Z_BLOCKS, r], spans[Z_BLOCKS, r + 1]):
            p = final[G_BLOCKS, at]
            if p < low or p >= high:
                continue
            for row in range(final[G_THROWN, p], final[G_THROWN, p + 1]):
                register = visible[W_REGISTER, row]
                if registers[S_WANTED, register]:
                    registers[S_STAMP, register] = p
                    if visible[W_VALUE, row] != NONE:
                        bring(registers, pairs, totals, register, visible[W_VALUE, row])
            k = 0
            while registers[S_LIST, k] >= 0:
                register = registers[S_LIST, k]
                if registers[S_STAMP, register] != p:
                    bring(registers, pairs, totals, register, states[p * size + register])
                k += 1


@helper
def join(
    block, later, complete, size, count, final, edges, handlers, spans,
    states, flags, registers, visible, values, phis, pairs, totals,
):  # fmt: skip
    """Sets the state at the head of a block with several edges into it, by the edges from earlier blocks.

    `later`: adds to its phis what the edges from later blocks bring. `complete`: there are none of those.
    """
    wanted, start = 0, totals[M_PAIRS]
    for register in range(size):
        both = flags[block * size + register] & LIVE and (registers[S_TIMES, register] > 1 or flags[register] & LIVE)
        registers[S_WANTED, register] = 0
        registers[S_PHI, register] = registers[S_STAMP, register] = -1
        registers[S_ONLY, register] = registers[S_LAST, register] = NONE
        if both and not later:
            registers[S_WANTED, register] = 1
            registers[S_LIST, wanted] = register
            wanted += 1
    if later:
        for phi in range(final[G_PHIS, block], final[G_PHIS, block + 1]):
            register = values[V_REGISTER, phis[F_VALUE, phi]]
            registers[S_WANTED, register] = 1
            registers[S_PHI, register] = phi
            registers[S_LIST, wanted] = register
            wanted += 1
    registers[S_LIST, wanted] = -1
    low, high = (block, count) if later else (0, block)
    incoming(block, low, high, size, final, edges, handlers, spans, states, registers, visible, pairs, totals)
    if totals[M_PAIRS] > pairs.shape[1] or totals[M_PHIS] + wanted >= phis.shape[1]:
        totals[M_PAIRS] = pairs.shape[1] + 1
        return
    for m in range(start, totals[M_PAIRS]):
        register, value = pairs[P_PHI, m], pairs[P_VALUE, m]
        only = registers[S_ONLY, register]
        registers[S_ONLY, register] = value if only == NONE or only == value else MANY
    for k in range(wanted):
        register = registers[S_LIST, k]
        if later:
            continue
        v = registers[S_ONLY, register]
        if not complete or v == NONE or v == MANY:
            v = new_value(values, totals, register)
            values[V_FOLDABLE, v] = 1
            values[V_PHI, v] = registers[S_PHI, register] = totals[M_PHIS]
            phis[F_VALUE, totals[M_PHIS]] = v
            totals[M_PHIS] += 1
            final[G_PENDING, block] = not complete
        states[block * size + register] = v
    kept = start
    for m in range(start, totals[M_PAIRS]):
        phi = registers[S_PHI, pairs[P_PHI, m]]
        if phi >= 0:
            pairs[P_PHI, kept] = phi
            pairs[P_VALUE, kept] = pairs[P_VALUE, m]
            kept += 1
    totals[M_PAIRS] = kept


@helper
def read(states, own, register):
    """The value of a register now; -1 for an absent operand."""
    return states[own + register] if register >= 0 else -1


@helper
def number(values, constants, ops, totals, pc, n):
    """A number that no instruction loads."""
    v = new_value(values, totals, -1)
    values[V_KNOWN, v] = 1
    constants[v] = n
    emit(ops, totals, CONST, pc, v, -1, -1, -1, -1, 0)
    return v


@helper
def fill_array(rows, args, i, states, own, values, constants, ops, totals):
    """Emits filled-new-array as a NEW_ARRAY and a store per element."""
    pc, first = rows[i, R_PC], rows[i, R_A]
    length = number(values, constants, ops, totals, pc, rows[i, R_B] - first)
    array = new_value(values, totals, rows[i, R_DST])
    emit(ops, totals, NEW_ARRAY, pc, array, length, -1, -1, rows[i, R_REF], rows[i, R_THROWS])
    for k in range(first, rows[i, R_B]):
        position = number(values, constants, ops, totals, pc, k - first)
        emit(ops, totals, APUT, pc, -1, array, position, read(states, own, args[k]), -1, 0)
    if rows[i, R_DST] >= 0:
        states[own + rows[i, R_DST]] = array


@helper
def compute(values, constants, v, opcode, a, b, literal):
    """Notes what is known of the value of a DATA operation."""
    if a < 0 or not values[V_FOLDABLE, a] or (b >= 0 and not values[V_FOLDABLE, b]):
        return
    values[V_FOLDABLE, v] = 1
    if values[V_KNOWN, a] and (b < 0 or values[V_KNOWN, b]):
        y = constants[b] if b >= 0 else literal
        if folds(opcode, y):
            values[V_KNOWN, v] = 1
            constants[v] = fold(opcode, constants[a], y)


@helper
def rename(
    block, size, base, rows, args, lit64, final, states, registers,
    visible, values, constants, phis, ops, uses, totals,
):  # fmt: skip
    """Emits the operations of one block; its state becomes the one at its end."""
    own, i, end = block * size, base + final[G_FIRST, block], base + final[G_END, block]
    covered = final[G_CATCH, block] >= 0
    last_throw = -1
    final[G_OPS, block] = totals[M_OPS]
    final[G_THROWN, block] = totals[M_VISIBLE]
    if i < end and rows[i, R_OP] == CAUGHT and final[G_HANDLER, block] >= 0:
        register = rows[i, R_DST]
        v = new_value(values, totals, register)
        states[own + register] = v
        emit(ops, totals, CAUGHT, rows[i, R_PC], v, -1, -1, -1, final[G_HANDLER, block], 0)
        if covered:
            visible[W_REGISTER, totals[M_VISIBLE]] = register
            visible[W_VALUE, totals[M_VISIBLE]] = NONE
            totals[M_VISIBLE] += 1
            registers[S_BLOCK, register] = block
            registers[S_AT, register] = i
        i += 1
    for phi in range(final[G_PHIS, block], totals[M_PHIS]):
        emit(ops, totals, PHI, rows[i, R_PC] if i < end else -1, phis[F_VALUE, phi], -1, -1, -1, -1, 0)
    while i < end:
        op, dst, ref = np.int64(rows[i, R_OP]), np.int64(rows[i, R_DST]), np.int64(rows[i, R_REF])
        a, b, c = np.int64(rows[i, R_A]), np.int64(rows[i, R_B]), np.int64(rows[i, R_C])
        i += 1
        if op == NOP:
            continue
        if covered:
            if rows[i - 1, R_THROWS]:
                last_throw = i - 1
            if dst >= 0:
                m = totals[M_VISIBLE]
                defined = -1
                if registers[S_BLOCK, dst] == block:
                    defined = registers[S_AT, dst]
                else:
                    registers[S_BLOCK, dst] = block
                    visible[W_REGISTER, m] = dst
                    visible[W_VALUE, m] = NONE
                    m += 1
                if last_throw > defined:
                    visible[W_REGISTER, m] = dst
                    visible[W_VALUE, m] = states[own + dst]
                    m += 1
                totals[M_VISIBLE] = m
                registers[S_AT, dst] = i - 1
        if op == MOVE:
            states[own + dst] = read(states, own, a)
            continue
        if op == FILLED:
            fill_array(rows, args, i - 1, states, own, values, constants, ops, totals)
            continue
        first_use = totals[M_USES]
        if op == CALL:
            for k in range(a, b):
                uses[0, totals[M_USES]] = read(states, own, args[k])
                totals[M_USES] += 1
            a = b = -1
        else:
            a, b = read(states, own, a), read(states, own, b)
            if op == APUT:
                c = read(states, own, c)
        if dst >= 0:
            v = new_value(values, totals, dst)
            states[own + dst] = v
            dst = v
            if op == CONST:
                values[V_FOLDABLE, v] = values[V_KNOWN, v] = 1
                constants[v] = lit64[c] if ref >> 1 == LITERAL_POOL >> 1 else c
                c = ref = -1
            elif op == DATA:
                compute(values, constants, v, ref, a, b, c)
            elif op == CAUGHT:  # move-exception outside the head of a handler: no valid code
                op = NODATA
        elif op == IF or op == SWITCH or op == GOTO:
            if final[G_SUCC, block + 1] - final[G_SUCC, block] == 1:
                op, a, b, c, ref = GOTO, -1, -1, -1, -1
            else:
                if a >= 0 and values[V_FOLDABLE, a] and (b < 0 or values[V_FOLDABLE, b]):
                    totals[M_BRANCHES] = 1
                if op == IF:
                    c = -1
        at = emit(ops, totals, op, rows[i - 1, R_PC], dst, a, b, c, ref, rows[i - 1, R_THROWS])
        ops[O_ARG, at] = first_use
    if covered:
        m = totals[M_VISIBLE]
        for row in range(final[G_THROWN, block], totals[M_VISIBLE]):
            register = visible[W_REGISTER, row]
            if visible[W_VALUE, row] == NONE and last_throw > registers[S_AT, register]:
                visible[W_REGISTER, m] = register
                visible[W_VALUE, m] = states[own + register]
                m += 1
        totals[M_VISIBLE] = m


@helper
def rename_all(
    base, size, joins, rows, args, lit64, final, count, edges,
    handlers, spans, parameters, first_param, end_param, flags, states, registers, visible,
    values, constants, phis, pairs, ops, uses, totals,
):  # fmt: skip
    """All blocks, then what later blocks bring; CRAMPED where there are more phis, or pairs, than work space."""
    for k in range(M_BRANCHES + 1):
        totals[k] = 0
    for register in range(size):
        states[register] = registers[S_BLOCK, register] = -1
    for k in range(first_param, end_param):
        v = new_value(values, totals, parameters[k])
        if parameters[k] < size:
            states[parameters[k]] = v
    for step in range(2 * count):
        later = step >= count
        b = step - count if later else step
        complete, meets = False, later and final[G_PENDING, b] > 0
        if not later:
            final[G_PENDING, b] = 0
            final[G_PHIS, b] = totals[M_PHIS]
            if b > 0:
                before, last = around(b, final, edges, handlers, spans)
                complete = last < b
                into = final[G_INTO, b + 1] - final[G_INTO, b]
                meets = joins and (into > 0 or final[G_PRED, b + 1] - final[G_PRED, b] > 1)
                for register in range(size):
                    states[b * size + register] = states[before * size + register]
        if meets:
            join(
                b, later, complete, size, count, final, edges, handlers, spans, states, flags, registers, visible,
                values, phis, pairs, totals,
            )  # fmt: skip
            if totals[M_PAIRS] > pairs.shape[1]:
                return CRAMPED
        if not later:
            rename(
                b, size, base, rows, args, lit64, final, states, registers, visible, values, constants, phis, ops,
                uses, totals,
            )  # fmt: skip
            final[G_THROWN, b + 1] = totals[M_VISIBLE]
            final[G_PHIS, b + 1] = totals[M_PHIS]
            final[G_OPS, b + 1] = totals[M_OPS]
    ops[O_OP, totals[M_OPS]] = -1
    ops[O_ARG, totals[M_OPS]] = totals[M_USES]
    return DONE
