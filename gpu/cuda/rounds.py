"""What the rungs of the ladder share: a block of threads per method, a thread per node of the worklist, in rounds.

A rung is this file and a few more, each with one idea: a function of the same name there takes the place of the one
here (`gpu.cuda.build`). All state is in flat arrays:

code, words, s   as in `gpu.transfer`; a node is a block of one operation, its facts are the block's head
ints      int32, marks of nodes (queued, then reached), worklists of each block of threads, readers, flags of methods
pool      int32, for `plain`: chains of facts
at        (n_methods, AT_SIZE) int64, where each method's things are
box       int64, of a block of threads: counters of its round
counters  int64, what the paper's argument needs; filled when SET_COUNT is set
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator,name-defined"

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel
from gpu.cuda.platforms.sequential import (  # the names; `build` decides what they are
    barrier,
    block,
    blocks,
    box_of,
    fence,
    most,
    or_word,
    plus,
    swap,
    swap_if,  # noqa: F401
    thread,
    threads,
)
from gpu.fixpoint import export
from gpu.pack import (
    B_OP,
    B_OP_END,
    B_SIZE,
    B_SUCC,
    B_SUCC_END,
    M_BLOCK_AT,
    M_BLOCKS,
    M_ENTRY_AT,
    M_ENTRY_END,
    M_EXIT,  # noqa: F401
    M_FIRST_HEAP,
    M_HEAP,
    M_LABELS_AT,
    M_ROW_MASK_AT,
    M_ROWS,
    M_SIZE,
    M_WIDTH,
    N_COL,
    N_ROW,
    N_SIZE,
    O_KIND,
    O_SIZE,
)
from gpu.problem import APPLY, LOAD, OR, STORE
from gpu.transfer import (
    AT,
    FIRST_HEAP,
    HEAD,
    HEADS,
    HEAP_BITS,
    LABELS,
    LOCAL,
    METHOD,
    N_BLOCKS,
    N_HEAP,
    PENDING,
    REACHED,
    ROW_MASK,
    ROWS,
    STATE,
    WIDTH,
    bit,
    empty,
    set_bit,
    step,
)

AT_FACTS, AT_MARKS, AT_READERS, AT_READERS_END, AT_GROWN, AT_AGAIN, AT_CHAINS, AT_BUCKETS, AT_SIZE = range(9)
"""Addresses of a method: facts in `words`; marks, nodes that read rows that it has one of, and the flag for a summary
that grew, in `ints`; 1 if its nodes wait for a summary; chains of facts in `pool`, and how
many a node has."""
ROUND_COUNT, TAKEN, KINDS, BOX_SIZE = 0, 2, 3, 8
"""Fields of a box: lengths of this list and the next, in turns; nodes of each access kind."""
SET_WARP, SET_LISTS, SET_LIST_SIZE, SET_COUNT, SET_SIZE = range(5)
"""Settings: threads of a warp; where worklists begin in `ints` and how long one is; whether to count."""
C_VISITS, C_ROUNDS, C_LISTED, C_LONGEST, C_WARPS, C_WARP_KINDS, C_POSTPONED, C_POOL, C_OVERFLOW, C_SIZE_ALL = range(10)
AGAIN = AT
"""Field of `s`: a row that the method has one of grew."""
N_KINDS = 4


@kernel
def kind_of(code, s, node):
    """How a node touches memory: reads no fact, reads one row, reads rows that a row selects, calls."""
    record = code[s[METHOD] + M_BLOCK_AT] + node * B_SIZE
    if code[record + B_OP] == code[record + B_OP_END]:
        return np.int64(0)
    kind = code[code[record + B_OP] + O_KIND]
    if kind == OR:
        return np.int64(1)
    if kind in (LOAD, STORE):
        return np.int64(2)
    if kind == APPLY:
        return np.int64(3)
    return np.int64(0)


@kernel
def push(ints, s, box, target, counter, node):
    """Puts a node on a list, unless it waits already."""
    fence()
    if swap(ints, s[PENDING] + node, 1) == 0:
        ints[target + plus(box, counter, 1)] = node


@kernel
def wake(words, s, row):
    """Instead of `gpu.transfer.wake`: notes that readers of such rows must look again."""
    s[AGAIN] = 1


@kernel
def grow_shared(words, to, source, mask, n):
    """Instead of `gpu.transfer.grow_shared`: threads of other nodes write to the row as well."""
    grown = np.int64(0)
    for k in range(n):
        more = words[source + k] & words[mask + k] & ~words[to + k]
        if more != 0 and more & ~or_word(words, to + k, more) != 0:
            grown = np.int64(1)
    return grown


@kernel
def open_method(code, words, s, ints, pool, at, counters, m):
    """Makes a method the one at hand, for one thread; the first thread puts entry facts in place the first time."""
    method = np.int64(m) * M_SIZE
    s[METHOD] = method
    s[WIDTH], s[N_BLOCKS] = code[method + M_WIDTH], code[method + M_BLOCKS]
    s[FIRST_HEAP], s[N_HEAP] = code[method + M_FIRST_HEAP], code[method + M_HEAP]
    s[HEAP_BITS] = (s[N_HEAP] + 63) >> 6
    s[LABELS], s[ROW_MASK] = code[method + M_LABELS_AT], code[method + M_ROW_MASK_AT]
    s[ROWS] = at[m, AT_FACTS]
    s[HEADS] = s[ROWS] + code[method + M_ROWS] * s[WIDTH]
    s[PENDING] = at[m, AT_MARKS]
    s[REACHED] = s[PENDING] + s[N_BLOCKS]
    s[AGAIN] = 0
    if thread() == 0 and ints[s[REACHED]] == 0:
        for entry in range(code[method + M_ENTRY_AT], code[method + M_ENTRY_END], N_SIZE):
            h = code[entry + N_ROW] - s[FIRST_HEAP]
            if h < 0 or h >= s[N_HEAP]:
                set_bit(words, s[ROWS] + code[entry + N_ROW] * s[WIDTH], code[entry + N_COL])
            else:
                put_fact(words, s, pool, at, counters, m, h, code[entry + N_COL])


@kernel
def put_fact(words, s, pool, at, counters, m, h, column):
    """A fact of a heap row holds at the first node."""
    set_bit(words, s[HEADS] + h * s[WIDTH], column)


@kernel
def first_list(code, s, ints, at, m, target, box):
    """By one thread: the first node, or, where a summary grew, the calls."""
    box[ROUND_COUNT] = box[ROUND_COUNT + 1] = box[TAKEN] = 0
    for k in range(N_KINDS):
        box[KINDS + k] = 0
    if ints[s[REACHED]] == 0:
        ints[s[REACHED]] = 1
        push(ints, s, box, target, ROUND_COUNT, np.int64(0))
    elif at[m, AT_AGAIN] != 0:
        for node in range(s[N_BLOCKS]):
            if kind_of(code, s, node) == 3 and ints[s[REACHED] + node] != 0:
                push(ints, s, box, target, ROUND_COUNT, np.int64(node))


@kernel
def arrange(code, s, ints, box, settings, source, target, order, count, counter):
    """Which nodes of a list threads take in this round, and where they stand: (address, number). Here: all."""
    return source, count


@kernel
def count_round(code, s, ints, counters, settings, count, order, taken):
    """By one thread: what happened in a round."""
    plus(counters, C_ROUNDS, 1)
    plus(counters, C_LISTED, count)
    most(counters, C_LONGEST, count)
    visited = 0
    for first in range(0, taken, settings[SET_WARP]):
        kinds = 0
        for i in range(first, min(first + settings[SET_WARP], taken)):
            if ints[order + i] >= 0:
                kinds |= 1 << kind_of(code, s, ints[order + i])
                visited += 1
        if kinds != 0:
            plus(counters, C_WARPS, 1)
        for k in range(N_KINDS):
            if kinds >> k & 1:
                plus(counters, C_WARP_KINDS, 1)
    plus(counters, C_VISITS, visited)
    plus(counters, C_POSTPONED, count - visited)


@kernel
def look(words, s, pool, at, m, node):
    """Makes the facts at a node the head of the state at hand."""
    s[HEAD] = s[HEADS] + node * s[N_HEAP] * s[WIDTH]


@kernel
def pass_on(words, s, pool, at, counters, m, successor):
    """Joins the state at hand into the facts at a successor; whether these grew."""
    n, grown = s[WIDTH], np.int64(0)
    to = s[HEADS] + successor * s[N_HEAP] * n
    for h in range(s[N_HEAP]):
        source = s[HEAD] + h * n
        if bit(words, s[LOCAL], h):
            source = s[STATE] + h * n
        for k in range(n):
            more = words[source + k] & ~words[to + h * n + k]
            if more != 0 and more & ~or_word(words, to + h * n + k, more) != 0:
                grown = np.int64(1)
    return grown


@kernel
def visit(code, words, s, ints, pool, at, box, counters, m, target, counter, node):
    """A thread's part: evaluates a node, and passes its facts on."""
    swap(ints, s[PENDING] + node, 0)
    fence()
    look(words, s, pool, at, m, node)
    empty(words, s[LOCAL], s[HEAP_BITS])
    record = np.int64(code[s[METHOD] + M_BLOCK_AT] + node * B_SIZE)
    for op in range(code[record + B_OP], code[record + B_OP_END], O_SIZE):
        step(code, words, s, op)
    for i in range(code[record + B_SUCC], code[record + B_SUCC_END]):
        successor = np.int64(code[i])
        grown = pass_on(words, s, pool, at, counters, m, successor)
        if swap(ints, s[REACHED] + successor, 1) == 0 or grown != 0:
            push(ints, s, box, target, counter, successor)
    if s[AGAIN] != 0:
        s[AGAIN] = 0
        for i in range(at[m, AT_READERS], at[m, AT_READERS_END]):
            reader = np.int64(ints[i])
            if ints[s[REACHED] + reader] != 0:
                push(ints, s, box, target, counter, reader)


@kernel
def show_exit(code, words, s, pool, at, m):
    """Makes the facts at the exit readable as the head of a block."""


@kernel
def run_method(code, words, s, ints, pool, at, box, counters, settings, m):
    """Brings a method to its fixed point under the present summaries, by all threads of a block."""
    source = settings[SET_LISTS] + block() * 4 * settings[SET_LIST_SIZE]
    target = source + settings[SET_LIST_SIZE]
    spare = target + settings[SET_LIST_SIZE]
    now = 0
    if thread() == 0:
        first_list(code, s, ints, at, m, source, box)
    while True:
        barrier()
        count = box[ROUND_COUNT + now]
        if count == 0:
            break
        order, taken = arrange(code, s, ints, box, settings, source, target, spare, count, ROUND_COUNT + 1 - now)
        if settings[SET_COUNT] != 0 and thread() == 0:
            count_round(code, s, ints, counters, settings, count, order, taken)
        for i in range(thread(), taken, threads()):
            if ints[order + i] >= 0:
                node = np.int64(ints[order + i])
                visit(code, words, s, ints, pool, at, box, counters, m, target, ROUND_COUNT + 1 - now, node)
        barrier()
        if thread() == 0:
            box[ROUND_COUNT + now] = 0
            for k in range(N_KINDS):
                box[KINDS + k] = 0
        source, target, now = target, source, 1 - now


@kernel
def solve_methods(code, words, all_s, ints, pool, at, methods, boxes, counters, settings):
    """Entry point: `methods` (n,) int32, whose callees are done or in the same component."""
    s = all_s[block() * threads() + thread()]
    box = box_of(boxes)
    for i in range(block(), len(methods), blocks()):
        m = np.int64(methods[i])
        open_method(code, words, s, ints, pool, at, counters, m)
        run_method(code, words, s, ints, pool, at, box, counters, settings, m)
        if thread() == 0:
            show_exit(code, words, s, pool, at, m)
            if export(code, words, s, m * M_SIZE):
                ints[at[m, AT_GROWN]] = 1
        barrier()
