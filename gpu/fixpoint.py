"""The least fixed point of runs of components: one kernel call solves many methods, and can be stopped and resumed.

A method's blocks wait in a bit set in reverse post-order; a visit evaluates a block's operations and passes on the
rows that may be new to its successors. A row that grows wakes the blocks that read it; a summary that grows wakes the
blocks of its component that apply it. So nothing is evaluated again that sees nothing new.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.pack import (
    A_BIND,
    A_SIZE,
    A_SUMMARY,
    ALL,
    B_OP,
    B_OP_END,
    B_SIZE,
    B_SUCC,
    B_SUCC_END,
    C_FIRST,
    C_LAST,
    C_SIZE,
    E_MASK,
    E_ROW,
    E_SIZE,
    E_SKIP,
    E_TO,
    I_AT,
    I_SIZE,
    M_BLOCK_AT,
    M_BLOCKS,
    M_CALLER_AT,
    M_CALLER_END,
    M_COL_EXPORT_AT,
    M_ENTRY_AT,
    M_ENTRY_END,
    M_EXIT,
    M_EXPORT_AT,
    M_EXPORT_END,
    M_FIRST_HEAP,
    M_HEAP,
    M_LABELS_AT,
    M_ODD,
    M_ROW_MASK_AT,
    M_ROWS,
    M_SIZE,
    M_SUMMARY,
    M_WIDTH,
    N_COL,
    N_ROW,
    N_SIZE,
    O_DST,
    O_KIND,
    O_SIZE,
    O_SRC,
    R_BLOCK,
    R_METHOD,
    R_SIZE,
    S_BITS,
    S_COL_AT,
    S_COLS,
    S_WIDTH,
    X_KIND,
    X_SIZE,
)
from gpu.problem import APPLY, CONSTANT, LOAD, OR, STORE
from gpu.transfer import (
    AT,
    BLOCK,
    BLOCK_BITS,
    COUNT,
    FACTS,
    FIRST,
    FIRST_HEAP,
    FRESH,
    HEAD,
    HEADS,
    HEAP_BITS,
    LABELS,
    LAST,
    LIMIT,
    LOCAL,
    METHOD,
    N_BLOCKS,
    N_HEAP,
    NEWS,
    NEXT,
    ODD,
    ONE,
    OP,
    OP_END,
    PENDING,
    QUEUE,
    REACHED,
    READ_AT,
    READ_END,
    ROW_MASK,
    ROWS,
    STATE,
    STATES,
    VALUE,
    WIDTH,
    WORK,
    bit,
    both,
    copy,
    empty,
    grow,
    kernel,
    next_bit,
    once,
    set_bit,
    step,
)

T_ROWS, T_HEADS, T_PENDING, T_REACHED, T_SIZE = range(5)
"""What stays of a method of the component at hand while others are solved: addresses in `words`."""


@kernel("void(int64[::1], int64, int64, int64, int64)", helper=True)
def note_read(s, row, block, op, fill):
    """Counts a read of a row, or notes it (once for each block: the first)."""
    end = s[READ_END] + row
    if fill:
        at = s[end]
        if at > s[s[READ_AT] + row] and s[at - 2] == block:
            return
        s[at], s[at + 1] = block, op
    s[end] += 2


@kernel("void(int32[::1], int64[::1], int64, int64)", helper=True)
def read_pass(code, s, method, fill):
    """Counts or notes the reads of value rows and heap rows of all operations; see `find_readers`."""
    for b in range(s[N_BLOCKS]):
        block = code[method + M_BLOCK_AT] + b * B_SIZE
        for op in range(code[block + B_OP], code[block + B_OP_END], O_SIZE):
            kind = code[op + O_KIND]
            if kind in (OR, LOAD, STORE):
                note_read(s, code[op + O_SRC], b, op, fill)
                if kind == STORE:
                    note_read(s, code[op + O_DST], b, op, fill)
            elif kind == APPLY:
                for application in range(code[op + O_DST], code[op + O_SRC], A_SIZE):
                    summary, bind = code[application + A_SUMMARY], code[application + A_BIND]
                    column = code[summary + S_COL_AT]
                    for _ in range(code[summary + S_COLS]):
                        if code[bind + I_AT] >= 0 and code[column + X_KIND] != CONSTANT:
                            note_read(s, code[bind + I_AT], b, op, fill)
                        column += X_SIZE
                        bind += I_SIZE


@once
def find_readers(code, s, method):
    """For each row of a method, the blocks that read it: count, then fill."""
    rows = np.int64(code[method + M_ROWS])
    for row in range(rows):
        s[s[READ_END] + row] = 0
    read_pass(code, s, method, 0)
    at = s[READ_END] + rows
    for row in range(rows):
        count = s[s[READ_END] + row]
        s[s[READ_AT] + row] = s[s[READ_END] + row] = at
        at += count
    read_pass(code, s, method, 1)
    s[WORK] += 2 * (at - s[READ_END])


@kernel("void(uint64[::1], int64[::1], int64)", helper=True)
def reach(words, s, block):
    """Marks a block as reached and waiting; all its heap rows are new to its successors."""
    set_bit(words, s[REACHED], block)
    set_bit(words, s[PENDING], block)
    news = s[NEWS] + block * s[HEAP_BITS]
    for h in range(s[N_HEAP] >> 6):
        words[news + h] = ~np.uint64(0)
    if s[N_HEAP] & 63:
        words[news + (s[N_HEAP] >> 6)] = (ONE << np.uint64(s[N_HEAP] & 63)) - ONE


@once
def take(code, words, s, method, state):
    """Makes a method the one at hand. The first time, its entry facts are put in place."""
    s[WIDTH], s[N_BLOCKS] = code[method + M_WIDTH], code[method + M_BLOCKS]
    s[FIRST_HEAP], s[N_HEAP] = code[method + M_FIRST_HEAP], code[method + M_HEAP]
    s[HEAP_BITS] = (s[N_HEAP] + 63) >> 6
    s[LABELS], s[ROW_MASK], s[ODD] = code[method + M_LABELS_AT], code[method + M_ROW_MASK_AT], code[method + M_ODD]
    s[ROWS], s[HEADS], s[PENDING], s[REACHED] = (
        s[state + T_ROWS], s[state + T_HEADS], s[state + T_PENDING], s[state + T_REACHED],
    )  # fmt: skip
    s[BLOCK] = s[AT] = -1
    find_readers(code, s, method)
    if not bit(words, s[REACHED], 0):
        for entry in range(code[method + M_ENTRY_AT], code[method + M_ENTRY_END], N_SIZE):
            h = code[entry + N_ROW] - s[FIRST_HEAP]
            if h < 0 or h >= s[N_HEAP]:
                set_bit(words, s[ROWS] + code[entry + N_ROW] * s[WIDTH], code[entry + N_COL])
            else:
                set_bit(words, s[HEADS] + h * s[WIDTH], code[entry + N_COL])
        reach(words, s, 0)


@once
def enter(code, words, s, method, block):
    """Begins a visit of a block."""
    s[BLOCK] = block
    words[s[PENDING] + (block >> 6)] &= ~(ONE << np.uint64(block & 63))
    record = code[method + M_BLOCK_AT] + block * B_SIZE
    s[OP], s[OP_END] = code[record + B_OP], code[record + B_OP_END]
    s[HEAD] = s[HEADS] + block * s[N_HEAP] * s[WIDTH]
    news = s[NEWS] + block * s[HEAP_BITS]
    empty(words, s[LOCAL], s[HEAP_BITS])
    copy(words, s[FRESH], news, s[HEAP_BITS])
    empty(words, news, s[HEAP_BITS])
    s[WORK] += 8 + s[HEAP_BITS]


@once
def spread(words, s, head, news):
    """Rows of FRESH join the head of a successor; those that grow there are its news. Whether one did."""
    n, size, grown = s[WIDTH], s[HEAP_BITS], 0
    h = next_bit(words, s[FRESH], size, 0)
    while h >= 0:
        source = s[STATE] if bit(words, s[LOCAL], h) else s[HEAD]
        s[WORK] += n
        if grow(words, head + h * n, source + h * n, ALL, n):
            set_bit(words, news, h)
            grown = 1
        h = next_bit(words, s[FRESH], size, h + 1)
    return grown


@once
def leave(code, words, s, method):
    """Ends a visit: rows that the block changed, or that grew at its head, join the heads of its successors."""
    n, size = s[WIDTH], s[HEAP_BITS]
    record = code[method + M_BLOCK_AT] + s[BLOCK] * B_SIZE
    # From here on, FRESH is what may be new to those who were reached before.
    for k in range(size):
        words[s[FRESH] + k] |= words[s[LOCAL] + k]
    for i in range(code[record + B_SUCC], code[record + B_SUCC_END]):
        successor = np.int64(code[i])
        head = s[HEADS] + successor * s[N_HEAP] * n
        if bit(words, s[REACHED], successor):
            if spread(words, s, head, s[NEWS] + successor * size):
                set_bit(words, s[PENDING], successor)
        else:
            copy(words, head, s[HEAD], s[N_HEAP] * n)
            h = next_bit(words, s[LOCAL], size, 0)
            while h >= 0:
                copy(words, head + h * n, s[STATE] + h * n, n)
                h = next_bit(words, s[LOCAL], size, h + 1)
            s[WORK] += s[N_HEAP] * n
            reach(words, s, successor)


@once
def advance(code, words, s, method):
    """Brings the method at hand to its fixed point under the present summaries; 0 if the work limit came first."""
    while True:
        if s[BLOCK] < 0:
            # On from the last one, then again from the first.
            size = (s[N_BLOCKS] + 63) >> 6
            block = next_bit(words, s[PENDING], size, s[AT] + 1)
            if block < 0:
                block = next_bit(words, s[PENDING], size, 0)
            if block < 0:
                return 1
            s[AT] = block
            enter(code, words, s, method, block)
        while s[OP] < s[OP_END]:
            if s[WORK] > s[LIMIT]:
                return 0
            step(code, words, s, s[OP])
            s[OP] += O_SIZE
        leave(code, words, s, method)
        s[BLOCK] = -1


@once
def export(code, words, s, method):
    """Copies the exit facts of the method at hand into its summary; whether that grew."""
    n, value = s[WIDTH], s[VALUE]
    summary = code[method + M_SUMMARY]
    width, bits = np.int64(code[summary + S_WIDTH]), np.int64(code[summary + S_BITS])
    at, names = np.int64(code[method + M_EXIT]), np.int64(code[method + M_COL_EXPORT_AT])
    grown = 0
    for entry in range(code[method + M_EXPORT_AT], code[method + M_EXPORT_END], E_SIZE):
        row = code[entry + E_ROW]
        h = row - s[FIRST_HEAP]
        if h < 0 or h >= s[N_HEAP]:
            source = s[ROWS] + row * n
        elif at >= 0:
            # The head of a block that is not reached holds nothing.
            source = s[HEADS] + (at * s[N_HEAP] + h) * n
        else:
            continue
        both(words, value, source, code[entry + E_MASK], n)
        skip = np.int64(code[entry + E_SKIP])
        if skip >= 0:
            words[value + (skip >> 6)] &= ~(ONE << np.uint64(skip & 63))
        to = bits + code[entry + E_TO] * width
        s[WORK] += n
        c = next_bit(words, value, n, 0)
        while c >= 0:
            name = np.int64(code[names + c])
            if name >= 0 and not bit(words, to, name):
                set_bit(words, to, name)
                grown = 1
            c = next_bit(words, value, n, c + 1)
    return grown


@once
def begin(code, words, s, fact_at, component):
    """Makes a component the one at hand: places for its methods' facts and sets, all methods waiting."""
    s[FIRST] = code[component + C_FIRST]
    s[COUNT] = code[component + C_LAST] - s[FIRST]
    bits, facts = s[BLOCK_BITS], s[FACTS]
    empty(words, s[QUEUE], (s[COUNT] + 63) >> 6)
    for k in range(s[COUNT]):
        method = (s[FIRST] + k) * M_SIZE
        state = s[STATES] + k * T_SIZE
        n, size = np.int64(code[method + M_WIDTH]), (code[method + M_BLOCKS] + 63) >> 6
        s[state + T_ROWS] = fact_at[s[FIRST] + k] if len(fact_at) else facts
        s[state + T_HEADS] = s[state + T_ROWS] + code[method + M_ROWS] * n
        s[state + T_PENDING], s[state + T_REACHED] = bits, bits + size
        empty(words, bits, 2 * size)
        bits += 2 * size
        if len(fact_at) == 0:
            words_here = (code[method + M_ROWS] + code[method + M_HEAP] * code[method + M_BLOCKS]) * n
            empty(words, facts, words_here)
            facts += words_here
        set_bit(words, s[QUEUE], k)
    s[METHOD] = -1


@once
def tell_callers(code, words, s, method):
    """A summary grew: blocks of the component that apply it wait, if they were reached, and their methods."""
    for caller in range(code[method + M_CALLER_AT], code[method + M_CALLER_END], R_SIZE):
        k = code[caller + R_METHOD] - s[FIRST]
        state, block = s[STATES] + k * T_SIZE, code[caller + R_BLOCK]
        if bit(words, s[state + T_REACHED], block):
            set_bit(words, s[state + T_PENDING], block)
            set_bit(words, s[QUEUE], k)


@kernel("int64(int32[::1], uint64[::1], int64[::1], int32[::1], int64, int64[::1])")
def solve_run(code, words, s, components, component_at, fact_at):
    """Solves components[s[NEXT] : s[LAST]], callees first; 0 if the work limit came first: call it again to go on.

    `components` (n,) int32: numbers; `component_at`: address of their records in `code`. `fact_at` (n_methods,) int64:
    where each method's facts go in `words`, or empty: facts are kept in scratch memory while their component is solved.
    """
    while s[NEXT] < s[LAST]:
        if s[FIRST] < 0:
            begin(code, words, s, fact_at, component_at + components[s[NEXT]] * C_SIZE)
        while True:
            if s[METHOD] < 0:
                k = next_bit(words, s[QUEUE], (s[COUNT] + 63) >> 6, 0)
                if k < 0:
                    break
                s[METHOD] = k
                words[s[QUEUE] + (k >> 6)] &= ~(ONE << np.uint64(k & 63))
                take(code, words, s, (s[FIRST] + k) * M_SIZE, s[STATES] + k * T_SIZE)
            method = (s[FIRST] + s[METHOD]) * M_SIZE
            if not advance(code, words, s, method):
                return 0
            if export(code, words, s, method):
                tell_callers(code, words, s, method)
            s[METHOD] = -1
        s[FIRST] = -1
        s[NEXT] += 1
        if s[WORK] > s[LIMIT]:
            return 0
    return 1
