"""Integer constants: what instructions compute, and which branches that decides.

`decide` is conditional constant propagation (Wegman and Zadeck, 1991) on phis that are plain unions: what is defined
in a block that cannot run does not come in. Floating-point values are never folded.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.graphs import child
from analyzer.kernels.layout import (
    ALL,
    CONST,
    DATA,
    E_SUCC,
    F_IN,
    G_EDGE,
    G_END,
    G_FIRST,
    G_OPS,
    G_STAMP,
    G_SUCC,
    I_DECIDED,
    IF,
    NO_EDGE,
    O_A,
    O_B,
    O_C,
    O_DST,
    O_OP,
    O_REF,
    P_IN,
    PHI,
    V_PHI,
    V_STATE,
    helper,
)

ADD, SUB, MUL, DIV, REM, AND, OR, XOR, SHL, SHR, USHR, RSUB, NEG, NOT, SAME, BYTE, CHAR, SHORT, COMPARE = range(19)
UNSEEN, KNOWN, VARIES = range(3)
"""States of values, rising."""
U32 = np.int64(0xFFFFFFFF)


def _operators() -> tuple[np.ndarray, np.ndarray]:
    """What each opcode computes (-1: is not folded), and in how many bits."""
    which, bits = np.full(256, -1, np.int8), np.full(256, 32, np.uint8)
    for base, width in ((0x90, 32), (0x9B, 64), (0xB0, 32), (0xBB, 64)):
        which[base : base + 11] = range(11)
        bits[base : base + 11] = width
    which[0xD0:0xD8] = (ADD, RSUB, MUL, DIV, REM, AND, OR, XOR)
    which[0xD8:0xE3] = (ADD, RSUB, MUL, DIV, REM, AND, OR, XOR, SHL, SHR, USHR)
    which[0x7B:0x7F] = (NEG, NOT, NEG, NOT)
    bits[[0x7D, 0x7E, 0x81, 0x31]] = 64
    which[[0x81, 0x84, 0x8D, 0x8E, 0x8F, 0x31]] = (SAME, SAME, BYTE, CHAR, SHORT, COMPARE)
    return which, bits


WHICH, WIDTH = _operators()


@helper
def divide(x, y):
    """Towards zero; the one overflow wraps."""
    if y == -1:
        return -x
    quotient = x // y
    if x % y != 0 and (x < 0) != (y < 0):
        quotient += 1
    return quotient


@helper
def folds(opcode, y):
    """Whether the instruction's result is known where its operands are; `y` is the second."""
    which = WHICH[opcode]
    return which >= 0 and not ((which == DIV or which == REM) and y == 0)


@helper
def fold(opcode, x, y):
    """What the dex instruction computes from integers x and y (the literal, or ignored)."""
    which, bits = WHICH[opcode], np.int64(WIDTH[opcode])
    shift = y & (bits - 1)
    result = x
    if which == ADD:
        result = x + y
    elif which == SUB:
        result = x - y
    elif which == RSUB:
        result = y - x
    elif which == MUL:
        result = x * y
    elif which == DIV:
        result = divide(x, y)
    elif which == REM:
        result = x - divide(x, y) * y
    elif which == AND:
        result = x & y
    elif which == OR:
        result = x | y
    elif which == XOR:
        result = x ^ y
    elif which == SHL:
        result = x << shift
    elif which == SHR:
        result = x >> shift
    elif which == USHR:
        result = np.int64((np.uint64(x if bits == 64 else x & U32)) >> np.uint64(shift))
    elif which == NEG:
        result = -x
    elif which == NOT:
        result = ~x
    elif which == BYTE:
        result = np.int64(np.int8(x))
    elif which == CHAR:
        result = x & 0xFFFF
    elif which == SHORT:
        result = np.int64(np.int16(x))
    elif which == COMPARE:
        result = np.int64(x > y) - np.int64(x < y)
    return result if bits == 64 else np.int64(np.int32(result))


@helper
def holds(opcode, x, y):
    """Whether the `if` instruction branches on integers x and y (0 for the if-*z forms)."""
    test = (opcode - 0x32) % 6
    if test < 2:
        return (x == y) == (test == 0)
    if test == 2 or test == 3:
        return (x < y) == (test == 2)
    return (x > y) == (test == 4)


@helper
def operands(ops, i, values):
    """State of the operands of an operation together; VARIES if it has none."""
    a, b = ops[O_A, i], ops[O_B, i]
    first = values[V_STATE, a] if a >= 0 else KNOWN
    second = values[V_STATE, b] if b >= 0 else KNOWN
    if first == VARIES or second == VARIES or (a < 0 and b < 0):
        return VARIES
    return min(first, second)


@helper
def evaluate(ops, i, values, phis, pairs, constants, known):
    """State of what operation i computes; the number goes behind the last one of `known`."""
    out = len(known) - 1
    kind = ops[O_OP, i]
    if kind == CONST:
        known[out] = constants[ops[O_DST, i]]
        return KNOWN
    if kind == PHI:
        state = UNSEEN
        phi = values[V_PHI, ops[O_DST, i]]
        for k in range(phis[F_IN, phi], phis[F_IN, phi + 1]):
            v = pairs[P_IN, k]
            if v < 0 or values[V_STATE, v] == UNSEEN:
                continue
            if values[V_STATE, v] == VARIES or (state == KNOWN and known[v] != known[out]):
                return VARIES
            known[out] = known[v]
            state = KNOWN
        return state
    state = operands(ops, i, values) if kind == DATA else VARIES
    if state == KNOWN:
        a, b = ops[O_A, i], ops[O_B, i]
        x = known[a if a >= 0 else b]
        y = known[b] if a >= 0 and b >= 0 else ops[O_C, i]
        if not folds(ops[O_REF, i], y):
            return VARIES
        known[out] = fold(ops[O_REF, i], x, y)
    return state


@helper
def taken(ops, i, final, b, edges, values, known, switch_key, switch_target):
    """The edge that a block takes whose last operation is i; ALL of them, or NO_EDGE yet."""
    first = final[G_SUCC, b]
    state = operands(ops, i, values)
    if state != KNOWN:
        return ALL if state == VARIES else NO_EDGE
    x = known[ops[O_A, i] if ops[O_A, i] >= 0 else ops[O_B, i]]
    if ops[O_OP, i] == IF:
        y = known[ops[O_B, i]] if ops[O_B, i] >= 0 else 0
        return first + 1 if holds(ops[O_REF, i], x, y) else first
    for k in range(ops[O_REF, i], ops[O_REF, i] + ops[O_C, i]):
        if switch_key[k] == x:
            for e in range(first, final[G_SUCC, b + 1]):
                target = edges[E_SUCC, e]
                if final[G_FIRST, target] == switch_target[k] and final[G_FIRST, target] < final[G_END, target]:
                    return e
    return first


@helper
def decide(
    ops, final, count, edges, handlers, spans, values, n_values, n_params, phis, pairs, constants, known, switch_key,
    switch_target, insns,
):  # fmt: skip
    """Notes at which instruction blocks that run continue after branches on constants; False where there are none.

    Sweeps over the blocks that run until nothing changes: states of values only rise, so the order does not matter.
    G_STAMP is 1 for a block that runs.
    """
    for v in range(n_values):
        values[V_STATE, v] = VARIES if v < n_params else UNSEEN
    for b in range(count):
        final[G_STAMP, b] = b == 0
    changed = True
    while changed:
        changed = False
        for b in range(count):
            if not final[G_STAMP, b]:
                continue
            last = final[G_OPS, b]
            for i in range(final[G_OPS, b], final[G_OPS, b + 1]):
                v = ops[O_DST, i]
                last = i
                if ops[O_OP, i] < 0 or v < 0 or values[V_STATE, v] == VARIES:
                    continue
                state = evaluate(ops, i, values, phis, pairs, constants, known)
                known[v] = known[len(known) - 1]
                if state > values[V_STATE, v]:
                    values[V_STATE, v] = state
                    changed = True
            edge = ALL
            if final[G_SUCC, b + 1] - final[G_SUCC, b] > 1:
                edge = taken(ops, last, final, b, edges, values, known, switch_key, switch_target)
            final[G_EDGE, b] = edge
            k = np.int64(0)
            target = child(b, k, final, edges, handlers, spans)
            while target >= 0:
                at = final[G_SUCC, b] + k
                follows = edge == ALL or edge == at or at >= final[G_SUCC, b + 1]
                if follows and final[G_STAMP, target] == 0:
                    final[G_STAMP, target] = 1
                    changed = True
                k += 1
                target = child(b, k, final, edges, handlers, spans)
    found = False
    for b in range(count):
        if final[G_STAMP, b] and final[G_EDGE, b] >= 0:
            insns[I_DECIDED, final[G_END, b] - 1] = final[G_FIRST, edges[E_SUCC, final[G_EDGE, b]]]
            found = True
    return found
