"""Which operation of a solved method passes a token from which row to which: its flows, and shortest paths over them.

`find_flows` evaluates a method's blocks once more, for 64 tokens at a time, and notes a record for each way in which
some of them get from a row to another. Records of calls lead from a row to a column of the summary; from there, the
summary's own bits say which export rows take it on. So a call costs the sum of what goes in and what comes out, not
the product. `shortest` walks over the records breadth first, for one token; `gpu.paths` says in plain Python what
both find. Nodes of that walk are the rows, then START, then one for each write of an application.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.pack import (
    A_BIND,
    A_SIZE,
    A_SUMMARY,
    A_WRITE,
    ALL,
    B_OP,
    B_OP_END,
    B_SIZE,
    I_AT,
    I_LINK,
    I_LINK_END,
    I_SIZE,
    L_SIZE,
    M_BLOCK_AT,
    M_ENTRY_AT,
    M_ENTRY_END,
    M_ROWS,
    N_COL,
    N_ROW,
    N_SIZE,
    O_DST,
    O_KIND,
    O_LINK,
    O_LINK_END,
    O_MASK,
    O_SIZE,
    O_SRC,
    S_BITS,
    S_COL_AT,
    S_COLS,
    S_ROW_AT,
    S_ROWS,
    S_WIDTH,
    W_LINK,
    W_LINK_END,
    W_MASK,
    W_ROW,
    W_SIZE,
    X_KIND,
    X_PARENT,
    X_REGION,
    X_REGION_END,
    X_SIZE,
)
from gpu.problem import APPLY, CHILD, CONSTANT, DROPPED, GENERATE, LOAD, OR, ROOT, TO_CELLS
from gpu.transfer import (
    BASE,
    BLOCK,
    CHANGED,
    FIRST_HEAP,
    HEAD,
    HEADS,
    HEAP_BITS,
    LIMIT,
    LOCAL,
    N_BLOCKS,
    N_HEAP,
    NEW,
    ONE,
    OP,
    OP_END,
    REACHED,
    ROW_MASK,
    ROWS,
    SEEN,
    SIGMA,
    WIDTH,
    WORK,
    bit,
    copy,
    empty,
    join,
    kernel,
    meets,
    next_bit,
    next_pair,
    once,
    place,
    step,
)

# Fields of `f`: what `find_flows` is at. Addresses are in `words`, and in `code` (FIRST_OP, FIRST_WRITE).
(
    F_WORD, F_COUNT, F_APPLIED, F_BEFORE, F_WAIT, F_DONE, F_BITS, F_FIRST_OP, F_FIRST_WRITE, F_STOP, F_SIZE,
) = range(11)  # fmt: skip
"""WORD: which 64 tokens. COUNT: records so far. APPLIED: the call at hand was evaluated, but not noted. BEFORE: a word
per heap row, as it was before that call. WAIT, DONE: a word per column of a summary. BITS: two bit sets of blocks.
STOP: an operation of the block at hand, or -1."""

# A record: row (or write, or START) from which tokens come; row, or address of an application, that they go to;
# number of the operation in the method; column of the application's summary, or -1 where TO is a row.
FLOW_FROM, FLOW_TO, FLOW_OP, FLOW_COLUMN, FLOW_SIZE = range(5)

NOT_DONE, DONE, NO_ROOM = 0, 1, 2
"""What `find_flows` returns: work limit, end of the method, or too few places for records: call it again to go on."""

ZERO = np.uint64(0)


@once
def enter_block(code, words, s, method, block):
    """Begins a block at its head."""
    record = code[method + M_BLOCK_AT] + block * B_SIZE
    s[BLOCK], s[OP], s[OP_END] = block, code[record + B_OP], code[record + B_OP_END]
    s[HEAD] = s[HEADS] + block * s[N_HEAP] * s[WIDTH]
    empty(words, s[LOCAL], s[HEAP_BITS])


@kernel("void(int64[::1], int32[::1], uint64[::1], int64, int64, int64, int64, uint64)", helper=True)
def note(f, records, tokens, source, to, op, column, some):
    """Notes a record, if there are tokens and there is room; counts it in any case."""
    if some == ZERO:
        return
    i = f[F_COUNT]
    f[F_COUNT] += 1
    if i < len(tokens):
        at = i * FLOW_SIZE
        records[at + FLOW_FROM], records[at + FLOW_TO], records[at + FLOW_OP], records[at + FLOW_COLUMN] = (
            source,
            to,
            op,
            column,
        )
        tokens[i] = some


@kernel("uint64(uint64[::1], int64[::1], int64[::1], int64)", helper=True)
def held_before(words, s, f, row):
    """The tokens of a row before the call that was just evaluated."""
    h = row - s[FIRST_HEAP]
    if h < 0 or h >= s[N_HEAP]:
        return words[s[ROWS] + row * s[WIDTH] + f[F_WORD]]
    return words[f[F_BEFORE] + h]


@kernel(
    "void(int32[::1], uint64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], int64, int64, int64, int64, int64,"
    " int64, uint64, int64, int64)",
    helper=True,
)
def note_selected(code, words, s, f, records, tokens, base, at, end, to, op, column, some, before, start):
    """Notes the rows that a base selects through a link, as far as they hold some tokens.

    `before`: they are the sources, as they were before the call, and `to` is where tokens go. Else, `start` is the
    source, and they are where tokens go, as far as their masks let these pass.
    """
    n = s[WIDTH]
    at = next_pair(code, words, base, n, at, end)
    while at < end:
        row = np.int64(code[at + 1])
        if before:
            note(f, records, tokens, row, to, op, column, held_before(words, s, f, row) & some)
        else:
            passing = words[code[s[ROW_MASK] + row] + f[F_WORD]]
            note(f, records, tokens, start, row, op, column, passing & some)
        s[WORK] += 8
        at = next_pair(code, words, base, n, at + L_SIZE, end)


@once
def note_plain(code, words, s, f, records, tokens, op, number, wanted, n_rows):
    """Notes what an operation that is no call passes on, before it is evaluated."""
    n, k = s[WIDTH], f[F_WORD]
    kind, dst, src = code[op + O_KIND], np.int64(code[op + O_DST]), np.int64(code[op + O_SRC])
    link, end, mask = np.int64(code[op + O_LINK]), np.int64(code[op + O_LINK_END]), np.int64(code[op + O_MASK])
    if kind == GENERATE:
        if src >> 6 == k:
            note(f, records, tokens, n_rows, dst, number, -1, (ONE << np.uint64(src & 63)) & wanted)
    elif kind == OR:
        note(f, records, tokens, src, dst, number, -1, words[place(words, s, src) + k] & words[mask + k] & wanted)
    elif kind == LOAD:
        base = place(words, s, src)
        at = next_pair(code, words, base, n, link, end)
        while at < end:
            row = np.int64(code[at + 1])
            some = words[place(words, s, row) + k] & words[mask + k] & wanted
            note(f, records, tokens, row, dst, number, -1, some)
            at = next_pair(code, words, base, n, at + L_SIZE, end)
    else:
        some = words[place(words, s, dst) + k] & wanted
        if some != ZERO:
            base = place(words, s, src)
            note_selected(code, words, s, f, records, tokens, base, link, end, 0, number, -1, some, 0, dst)


@once
def note_sources(code, words, s, f, records, tokens, application, sigma, number, column, some, n_rows):
    """Notes the rows from which a column of a summary takes tokens, going from children and regions to what holds them.

    A token that is itself in place of an object passes to the object's cells: so where the owner's column has it, that
    column's sources have it too.
    """
    n, k = s[WIDTH], f[F_WORD]
    summary, bind = np.int64(code[application + A_SUMMARY]), np.int64(code[application + A_BIND])
    first = np.int64(code[summary + S_COL_AT])
    stack, touched, wait, done = s[CHANGED], s[SEEN], f[F_WAIT], f[F_DONE]
    s[stack], words[wait + column] = column, some
    depth, n_touched = 1, 0
    while depth:
        depth -= 1
        c = s[stack + depth]
        here = words[wait + c]
        words[wait + c] = ZERO
        if words[done + c] == ZERO:
            s[touched + n_touched] = c
            n_touched += 1
        words[done + c] |= here
        record, at = first + c * X_SIZE, bind + c * I_SIZE
        kind = code[record + X_KIND]
        s[WORK] += 8
        if kind == CONSTANT:
            note(f, records, tokens, n_rows, application, number, column, here)
        elif kind == ROOT:
            note(f, records, tokens, code[at + I_AT], application, number, column, here)
        else:
            link, end = code[at + I_LINK], code[at + I_LINK_END]
            if kind == CHILD:
                base = sigma + code[record + X_PARENT] * n
                i, last = np.int64(-1), np.int64(0)
            else:
                base = s[BASE]
                copy(words, base, sigma + c * n, n)
                i, last = np.int64(code[record + X_REGION]), np.int64(code[record + X_REGION_END])
                for j in range(i, last):
                    join(words, base, sigma + code[j] * n, n)
            note_selected(code, words, s, f, records, tokens, base, link, end, application, number, column, here, 1, 0)
            while i < last:
                source = np.int64(code[record + X_PARENT] if i < 0 else code[i])
                more = words[sigma + source * n + k] & here & ~words[done + source]
                if more != ZERO:
                    if words[wait + source] == ZERO:
                        s[stack + depth] = source
                        depth += 1
                    words[wait + source] |= more
                i += 1
    for i in range(n_touched):
        words[done + s[touched + i]] = ZERO


@once
def note_call(code, words, s, f, records, tokens, op, number, wanted, n_rows):
    """Notes what a call passes on, after it was evaluated: its substitutions are where `step` left them."""
    n, k = s[WIDTH], f[F_WORD]
    sigma = s[SIGMA]
    for application in range(code[op + O_DST], code[op + O_SRC], A_SIZE):
        summary, at = np.int64(code[application + A_SUMMARY]), np.int64(code[application + A_WRITE])
        count, width = np.int64(code[summary + S_COLS]), np.int64(code[summary + S_WIDTH])
        bits, owner, used = np.int64(code[summary + S_BITS]), np.int64(code[summary + S_ROW_AT]), s[NEW]
        some = ZERO
        for c in range(count):
            some |= words[sigma + c * n + k]
        s[WORK] += count
        if some & wanted:
            empty(words, used, width)
            node = n_rows + 1 + (at - f[F_FIRST_WRITE]) // W_SIZE
            for _ in range(code[summary + S_ROWS]):
                row = np.int64(code[at + W_ROW])
                s[WORK] += width
                if row != DROPPED and meets(words, bits, ALL, width):
                    passing = wanted & words[code[at + W_MASK] + k]
                    some = ZERO
                    c = next_bit(words, bits, width, 0)
                    while c >= 0:
                        some |= words[sigma + c * n + k]
                        c = next_bit(words, bits, width, c + 1)
                    if some & passing:
                        join(words, used, bits, width)
                        if row == TO_CELLS:
                            base, link, end = sigma + code[owner] * n, code[at + W_LINK], code[at + W_LINK_END]
                            note_selected(
                                code, words, s, f, records, tokens, base, link, end, 0, number, -1, some & passing, 0,
                                node,
                            )  # fmt: skip
                at += W_SIZE
                bits += width
                owner += 1
                node += 1
            c = next_bit(words, used, width, 0)
            while c >= 0:
                some = words[sigma + c * n + k] & wanted
                if some != ZERO:
                    note_sources(code, words, s, f, records, tokens, application, sigma, number, c, some, n_rows)
                c = next_bit(words, used, width, c + 1)
        sigma += count * n


@kernel("int64(int32[::1], uint64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], int64, uint64)")
def find_flows(code, words, s, f, records, tokens, method, wanted):
    """Evaluates the blocks of a method, and notes what they pass on of the wanted ones of 64 tokens, in their order.

    `s` is at an operation. Ends before operation STOP, or with the last block of those that REACHED has.
    """
    n_rows = np.int64(code[method + M_ROWS])
    while True:
        while s[OP] < s[OP_END]:
            op = s[OP]
            if op == f[F_STOP]:
                return DONE
            if s[WORK] > s[LIMIT]:
                return NOT_DONE
            count = f[F_COUNT]
            number = (op - f[F_FIRST_OP]) // O_SIZE
            call = code[op + O_KIND] == APPLY and wanted != ZERO
            if f[F_APPLIED] == 0:
                if call:
                    for h in range(s[N_HEAP]):
                        words[f[F_BEFORE] + h] = words[place(words, s, s[FIRST_HEAP] + h) + f[F_WORD]]
                elif wanted != ZERO:
                    note_plain(code, words, s, f, records, tokens, op, number, wanted, n_rows)
                if f[F_COUNT] > len(tokens):
                    f[F_COUNT] = count
                    return NO_ROOM
                step(code, words, s, op)
            if call:
                f[F_APPLIED] = 1
                note_call(code, words, s, f, records, tokens, op, number, wanted, n_rows)
                if f[F_COUNT] > len(tokens):
                    f[F_COUNT] = count
                    return NO_ROOM
                f[F_APPLIED] = 0
            s[OP] += O_SIZE
        block = next_bit(words, s[REACHED], (s[N_BLOCKS] + 63) >> 6, s[BLOCK] + 1)
        if block < 0 or f[F_STOP] >= 0:
            return DONE
        enter_block(code, words, s, method, block)


# Fields of `w`: the walk at hand, and the sizes that it needs.
W_LAYER, W_FOUND, W_FIELDS = range(3)


@kernel("void(int64[::1], int32[:, ::1], int64[::1], int64, int64, int64, int64)", helper=True)
def offer(w, reached, found, node, op, record, source):
    """A node can be reached by an operation: the first one counts, the earlier ones of a layer first."""
    if reached[node, 0] == 0:
        found[w[W_FOUND]] = node
        w[W_FOUND] += 1
    elif reached[node, 0] != w[W_LAYER] or reached[node, 1] <= op:
        return
    reached[node, 0], reached[node, 1], reached[node, 2], reached[node, 3] = w[W_LAYER], op, record, source


@kernel("void(int64[::1], int64)", helper=True)
def sort(keys, n):
    """Sorts the first n keys (Shell 1959): they are few, or sorted almost."""
    gap = n // 2
    while gap:
        for i in range(gap, n):
            key, j = keys[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
        gap //= 2


@kernel(
    "int64(int32[::1], uint64[::1], int64[::1], int32[::1], uint64[::1], int32[::1], int32[::1], int64, int64, int64,"
    " int64, int64, int32[:, ::1], uint8[::1], int64[::1], int64[::1])"
)
def shortest(
    code, words, w, records, tokens, off, order, method, first_write, first_bind, column, target, reached, taken, keys,
    frontier,
):  # fmt: skip
    """Breadth first from where a token comes into being, or is on entry, until the target row; whether it is reached.

    reached   (nodes, 4) int32, 0 at first: layer, operation, record (-1: a write to one row), node before
    taken     (columns of all applications,) uint8, 0 at first: it was walked through
    keys, frontier (nodes,) int64: memory
    """
    n_rows, one = np.int64(code[method + M_ROWS]), ONE << np.uint64(column & 63)
    w[W_LAYER], w[W_FOUND] = 1, 0
    frontier[0], size = n_rows, 1
    reached[n_rows, 0], reached[n_rows, 3] = 1, -1
    for entry in range(code[method + M_ENTRY_AT], code[method + M_ENTRY_END], N_SIZE):
        if code[entry + N_COL] == column:
            row = code[entry + N_ROW]
            if reached[row, 0] == 0:
                reached[row, 0], reached[row, 3] = 1, -1
                keys[size - 1] = row
                size += 1
    sort(keys, size - 1)
    for i in range(1, size):
        frontier[i] = keys[i - 1]
    while size and reached[target, 0] == 0:
        w[W_LAYER] += 1
        w[W_FOUND] = 0
        for i in range(size):
            node = frontier[i]
            if node > n_rows:
                row = code[first_write + (node - n_rows - 1) * W_SIZE + W_ROW]
                if row >= 0:
                    offer(w, reached, keys, row, reached[node, 1], -1, node)
            for j in range(off[node], off[node + 1]):
                record = np.int64(order[j])
                if tokens[record] & one:
                    at = record * FLOW_SIZE
                    to, op, c = records[at + FLOW_TO], records[at + FLOW_OP], records[at + FLOW_COLUMN]
                    if c < 0:
                        offer(w, reached, keys, to, op, record, node)
                    elif taken[(code[to + A_BIND] - first_bind) // I_SIZE + c] == 0:
                        taken[(code[to + A_BIND] - first_bind) // I_SIZE + c] = 1
                        summary, write = np.int64(code[to + A_SUMMARY]), np.int64(code[to + A_WRITE])
                        bits, width = np.int64(code[summary + S_BITS]), np.int64(code[summary + S_WIDTH])
                        for r in range(code[summary + S_ROWS]):
                            at = write + r * W_SIZE
                            if (
                                bit(words, bits + r * width, c)
                                and code[at + W_ROW] != DROPPED
                                and bit(words, code[at + W_MASK], column)
                            ):
                                offer(w, reached, keys, n_rows + 1 + (at - first_write) // W_SIZE, op, record, node)
        # Of what one operation reaches, writes come first, later ones before earlier ones.
        size = w[W_FOUND]
        nodes = np.int64(len(frontier))
        for i in range(size):
            node = keys[i]
            keys[i] = np.int64(reached[node, 1]) << 32 | (nodes - node if node > n_rows else nodes + node)
        sort(keys, size)
        for i in range(size):
            node = (keys[i] & 0xFFFFFFFF) - nodes
            frontier[i] = node if node >= 0 else -node
    return np.int64(reached[target, 0] != 0)
