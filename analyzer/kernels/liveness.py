"""Which registers are live at the head of each block, found backwards from each use.

An exceptional edge keeps a register alive unless it is defined before the block's first throw.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.layout import (
    APUT,
    CALL,
    DEFINED,
    E_PRED,
    EARLY,
    FILLED,
    G_BLOCKS,
    G_END,
    G_FIRST,
    G_INTO,
    G_PRED,
    H_INTO,
    LIVE,
    NOP,
    R_A,
    R_B,
    R_C,
    R_DST,
    R_OP,
    R_THROWS,
    S_TIMES,
    Z_BLOCKS,
    helper,
)


@helper
def reach(at, but, flags, stack, depth):
    """Marks a block's register as live and puts it on the stack, unless it is, or has one of the flags `but`."""
    if flags[at] & (but | LIVE):
        return depth
    flags[at] |= LIVE
    stack[depth] = at
    return depth + 1


@helper
def live_registers(
    rows, args, base, size, final, count, edges, handlers, spans, parameters, first, end, flags, registers, stack
):
    """Fills `flags`, (count * size), and the numbers of definitions of registers, parameters included."""
    for at in range(count * size):
        flags[at] = 0
    for register in range(size):
        registers[S_TIMES, register] = 0
    for k in range(first, end):
        if parameters[k] < size:
            registers[S_TIMES, parameters[k]] += 1
    depth = np.int64(0)
    for b in range(count):
        own, early = b * size, EARLY
        for i in range(base + final[G_FIRST, b], base + final[G_END, b]):
            op = rows[i, R_OP]
            if op == NOP:
                continue
            if rows[i, R_THROWS]:
                early = 0
            listed = op == CALL or op == FILLED
            low, high = R_A, R_C
            if listed:
                low, high = rows[i, R_A], rows[i, R_B]
            elif op == APUT:
                high = R_C + 1
            for k in range(low, high):
                register = args[k] if listed else rows[i, k]
                if register >= 0:
                    depth = reach(own + register, DEFINED, flags, stack, depth)
            register = rows[i, R_DST]
            if register >= 0:
                registers[S_TIMES, register] += 1
                flags[own + register] |= DEFINED | early
    while depth > 0:
        depth -= 1
        b, register = stack[depth] // size, stack[depth] % size
        for e in range(final[G_PRED, b], final[G_PRED, b + 1]):
            depth = reach(edges[E_PRED, e] * size + register, DEFINED, flags, stack, depth)
        for h in range(final[G_INTO, b], final[G_INTO, b + 1]):
            r = handlers[H_INTO, h]
            for k in range(spans[Z_BLOCKS, r], spans[Z_BLOCKS, r + 1]):
                depth = reach(final[G_BLOCKS, k] * size + register, EARLY, flags, stack, depth)
