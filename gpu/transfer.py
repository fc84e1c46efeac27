"""The transfer functions of the five operations (semantics.md 3 and 4), as scalar functions over flat arrays.

Engines compile these same functions, for cores or for a device: they allocate nothing and raise nothing. Arguments:

code   `Packed.code` (int32): the problem's records. Addresses of records and lists are indices into it.
words  uint64: constant rows, results and scratch memory. A row is `WIDTH` words at an address.
s      int64: what one worker knows of the method and block at hand (the fields below), then its lists.

A state of the heap is the head of its block, and a copy of the rows that the block has changed since (`LOCAL` says
which). So a visit costs what it touches, however large the heap is.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import functools

import numpy as np

from gpu import jit
from gpu.pack import (
    A_BIND,
    A_SIZE,
    A_SUMMARY,
    A_WRITE,
    ALL,
    I_AT,
    I_LINK,
    I_LINK_END,
    I_MASK,
    I_SIZE,
    L_SIZE,
    O_CLEAR,
    O_CLEAR_END,
    O_DST,
    O_KIND,
    O_LINK,
    O_LINK_END,
    O_MASK,
    O_SRC,
    S_BITS,
    S_COL_AT,
    S_COLS,
    S_ROUNDS,
    S_ROW_AT,
    S_ROWS,
    S_WIDTH,
    W_LINK,
    W_LINK_END,
    W_MASK,
    W_ROW,
    W_SIZE,
    X_ALIAS,
    X_ALIAS_END,
    X_KIND,
    X_PARENT,
    X_REGION,
    X_REGION_END,
    X_SIZE,
)
from gpu.problem import CHILD, CONSTANT, DROPPED, GENERATE, LOAD, OR, REGION, STORE, TO_CELLS

jit.prepare()
from numba.cpython.unsafe.numbers import trailing_zeros  # noqa: E402  (after the cache folder is chosen)

kernel = functools.partial(jit.kernel, _nrt=False)
"""Kernels here allocate nothing. Without this Numba counts references of arrays, atomically, at every call."""

once = kernel(helper=True, inline="always")
"""A part of one kernel, compiled as that: it has no signature of its own."""

# Fields of `s`: the method at hand,
(
    WIDTH, ROWS, HEADS, FIRST_HEAP, N_HEAP, HEAP_BITS, N_BLOCKS, LABELS, ROW_MASK, ODD, PENDING, REACHED,
    # the block at hand,
    BLOCK, AT, OP, OP_END, HEAD,
    # scratch memory, in words,
    STATE, LOCAL, FRESH, NEWS, SIGMA, IMAGES, VALUE, BASE, BITS, FRONTIER, FOUND, OLD, NEW,
    # and in s: of each row, where its readers begin and end, as (block, first operation that reads it),
    READ_AT, READ_END,
    # of the substitution at hand: when each column changed, and was evaluated last; the round of each row's image,
    CHANGED, SEEN, IMAGE_ROUND, CLOCK, ROUND,
    # work done, and what the worker may do before it comes back,
    WORK, LIMIT,
    # the run of components: state of the iteration,
    NEXT, LAST, FIRST, COUNT, METHOD, QUEUE, STATES, BLOCK_BITS, FACTS,
    N_FIELDS,
) = range(49)  # fmt: skip

ONE, SIXTY_THREE, SIX = np.uint64(1), np.uint64(63), np.uint64(6)

# Rows are walked with unsigned indices: a signed one costs a test for a negative one at every access.


@kernel("int64(uint64[::1], int64, int64)", helper=True)
def bit(words, at, i):
    """Bit i of the set at an address: 0 or 1."""
    j = np.uint64(i)
    return np.int64(words[np.uint64(at) + (j >> SIX)] >> (j & SIXTY_THREE) & ONE)


@kernel("void(uint64[::1], int64, int64)", helper=True)
def set_bit(words, at, i):
    j = np.uint64(i)
    words[np.uint64(at) + (j >> SIX)] |= ONE << (j & SIXTY_THREE)


@kernel("int64(uint64[::1], int64, int64, int64)", helper=True)
def next_bit(words, at, n, i):
    """The first member from i on of a set of n words, or -1."""
    if i >= n << 6:
        return -1
    a, k, last = np.uint64(at), np.uint64(i) >> SIX, np.uint64(n)
    word = words[a + k] >> (np.uint64(i) & SIXTY_THREE)
    if word != 0:
        return i + np.int64(trailing_zeros(word))
    k += ONE
    while k < last:
        word = words[a + k]
        if word != 0:
            return np.int64(k << SIX) + np.int64(trailing_zeros(word))
        k += ONE
    return -1


@kernel("void(uint64[::1], int64, int64)", helper=True)
def empty(words, at, n):
    a = np.uint64(at)
    for k in range(np.uint64(n)):
        words[a + k] = 0


@kernel("void(uint64[::1], int64, int64, int64)", helper=True)
def copy(words, to, source, n):
    a, b = np.uint64(to), np.uint64(source)
    for k in range(np.uint64(n)):
        words[a + k] = words[b + k]


@kernel("void(uint64[::1], int64, int64, int64)", helper=True)
def join(words, to, source, n):
    """Row `to` gets all of row `source`."""
    a, b = np.uint64(to), np.uint64(source)
    for k in range(np.uint64(n)):
        words[a + k] |= words[b + k]


@kernel("void(uint64[::1], int64, int64, int64, int64)", helper=True)
def both(words, to, source, mask, n):
    """Row `to` becomes what `source` and `mask` have in common."""
    a, b, m = np.uint64(to), np.uint64(source), np.uint64(mask)
    for k in range(np.uint64(n)):
        words[a + k] = words[b + k] & words[m + k]


@kernel("int64(uint64[::1], int64, int64, int64, int64)", helper=True)
def lacks(words, row, source, mask, n):
    """Whether `row` lacks something that `source` and `mask` have in common."""
    a, b, m = np.uint64(row), np.uint64(source), np.uint64(mask)
    for k in range(np.uint64(n)):
        if words[b + k] & words[m + k] & ~words[a + k]:
            return 1
    return 0


@kernel("int64(uint64[::1], int64, int64, int64)", helper=True)
def meets(words, row, other, n):
    """Whether two rows have something in common."""
    a, b = np.uint64(row), np.uint64(other)
    for k in range(np.uint64(n)):
        if words[a + k] & words[b + k]:
            return 1
    return 0


@kernel("int64(uint64[::1], int64, int64, int64)", helper=True)
def equal(words, row, other, n):
    """Whether two rows are the same."""
    a, b = np.uint64(row), np.uint64(other)
    for k in range(np.uint64(n)):
        if words[a + k] != words[b + k]:
            return 0
    return 1


@kernel("int64(uint64[::1], int64, int64, int64, int64)", helper=True)
def grow(words, to, source, mask, n):
    """Row `to` gets what `source` and `mask` have in common; whether it grew."""
    a, b, m = np.uint64(to), np.uint64(source), np.uint64(mask)
    new = np.uint64(0)
    for k in range(np.uint64(n)):
        more = words[b + k] & words[m + k] & ~words[a + k]
        words[a + k] |= more
        new |= more
    return np.int64(new != 0)


grow_shared = grow
"""As `grow`, of a row that other workers may write to as well: here there are none."""


@kernel("int64(int32[::1], uint64[::1], int64, int64, int64, int64)", helper=True)
def next_pair(code, words, base, n, at, end):
    """The first pair of a link, from `at` on, whose column is in the row `base`; `end` if there is none.

    Leaps over columns that the base lacks, and over pairs before its next column, so that it costs the shorter of both.
    """
    while at < end:
        column = np.int64(code[np.uint64(at)])
        found = next_bit(words, base, n, column)
        if found == column:
            return at
        if found < 0:
            return end
        step = L_SIZE
        low = at + L_SIZE
        while low + step < end and code[np.uint64(low + step)] < found:
            low += step
            step *= 2
        high = min(low + step, end)
        while low < high:
            middle = low + (high - low) // L_SIZE // 2 * L_SIZE
            if code[np.uint64(middle)] < found:
                low = middle + L_SIZE
            else:
                high = middle
        at = low
    return end


@kernel("int64(uint64[::1], int64[::1], int64)", helper=True)
def place(words, s, row):
    """Address of R(row) in the state at hand."""
    h = row - s[FIRST_HEAP]
    if h < 0 or h >= s[N_HEAP]:
        return s[ROWS] + row * s[WIDTH]
    if bit(words, s[LOCAL], h):
        return s[STATE] + h * s[WIDTH]
    return s[HEAD] + h * s[WIDTH]


@kernel("void(uint64[::1], int64[::1], int64)", helper=True)
def wake(words, s, row):
    """A row of the method grew: blocks that read it are to be visited again, if they were reached at all."""
    if s[ODD]:
        for k in range((s[N_BLOCKS] + 63) >> 6):
            words[s[PENDING] + k] |= words[s[REACHED] + k]
        return
    for i in range(s[s[READ_AT] + row], s[s[READ_END] + row], 2):
        block = s[i]
        # What comes later in the block at hand will see it anyway.
        if (block != s[BLOCK] or s[i + 1] <= s[OP]) and bit(words, s[REACHED], block):
            set_bit(words, s[PENDING], block)


@kernel("void(uint64[::1], int64[::1], int64, int64, int64)", helper=True)
def add(words, s, row, source, mask):
    """R(row) gets what `source` and `mask` have in common."""
    n = s[WIDTH]
    s[WORK] += n
    h = row - s[FIRST_HEAP]
    if h < 0 or h >= s[N_HEAP]:
        if grow_shared(words, s[ROWS] + row * n, source, mask, n):
            wake(words, s, row)
    elif bit(words, s[LOCAL], h):
        grow(words, s[STATE] + h * n, source, mask, n)
    elif lacks(words, s[HEAD] + h * n, source, mask, n):
        set_bit(words, s[LOCAL], h)
        copy(words, s[STATE] + h * n, s[HEAD] + h * n, n)
        grow(words, s[STATE] + h * n, source, mask, n)


@kernel("void(int32[::1], uint64[::1], int64[::1], int64)", helper=True)
def clear(code, words, s, op):
    """Empties the heap rows that an operation clears."""
    n = s[WIDTH]
    for i in range(code[op + O_CLEAR], code[op + O_CLEAR_END]):
        h = code[i] - s[FIRST_HEAP]
        if bit(words, s[LOCAL], h):
            empty(words, s[STATE] + h * n, n)
        elif meets(words, s[HEAD] + h * n, ALL, n):
            set_bit(words, s[LOCAL], h)
            empty(words, s[STATE] + h * n, n)


@kernel("void(int32[::1], uint64[::1], int64[::1], int64, int64, int64, int64)", helper=True)
def select(code, words, s, base, at, end, to):
    """Row `to` gets the rows that the tokens of a base select through a link."""
    n = s[WIDTH]
    at = next_pair(code, words, base, n, at, end)
    while at < end:
        join(words, to, place(words, s, code[at + 1]), n)
        s[WORK] += n + 4
        at = next_pair(code, words, base, n, at + L_SIZE, end)


@kernel("void(int32[::1], uint64[::1], int64[::1], int64, int64, int64, int64)", helper=True)
def scatter(code, words, s, base, at, end, value):
    """The rows that the tokens of a base select through a link get what `value` and their own mask have in common."""
    n = s[WIDTH]
    at = next_pair(code, words, base, n, at, end)
    while at < end:
        row = np.int64(code[at + 1])
        add(words, s, row, value, code[s[ROW_MASK] + row])
        s[WORK] += 8
        at = next_pair(code, words, base, n, at + L_SIZE, end)


# ------------------------------------------------------------- calls


@kernel("void(uint64[::1], int64[::1], int64, int64, int64, int64)", helper=True)
def image(words, s, bits, n_bits, sigma, to):
    """Row `to` gets sigma of every export column in a set of `n_bits` words."""
    n = s[WIDTH]
    c = next_bit(words, bits, n_bits, 0)
    while c >= 0:
        join(words, to, sigma + c * n, n)
        s[WORK] += n
        c = next_bit(words, bits, n_bits, c + 1)


@kernel("int64(int32[::1], uint64[::1], int64[::1], int64, int64, int64)", helper=True)
def image_of(code, words, s, summary, row, sigma):
    """Address of the image of an export row, as of some time in this round; kept from the last one if still right."""
    n, width = s[WIDTH], code[summary + S_WIDTH]
    to, bits = s[IMAGES] + row * n, code[summary + S_BITS] + row * width
    known = s[s[IMAGE_ROUND] + row]
    if known < s[ROUND]:
        if known == 0 or known < s[ROUND] - 1 or meets(words, bits, s[OLD], width):
            empty(words, to, n)
            image(words, s, bits, width, sigma, to)
        s[s[IMAGE_ROUND] + row] = s[ROUND]
    return to


@kernel("void(int32[::1], uint64[::1], int64[::1], int64, int64, int64, int64, int64)", helper=True)
def alias(code, words, s, summary, column, sigma, owners, to):
    """Row `to` gets what `owners` may get from the callee by an aliasing argument."""
    n = s[WIDTH]
    for i in range(code[column + X_ALIAS], code[column + X_ALIAS_END]):
        row = code[i]
        s[WORK] += n
        if meets(words, sigma + code[code[summary + S_ROW_AT] + row] * n, owners, n):
            join(words, to, image_of(code, words, s, summary, row, sigma), n)


@once
def alias_sources(code, words, s, summary, column, sigma, to):
    """As `alias`, for the sources of a region: BASE is their union. A source passes over the rows that it owns."""
    n = s[WIDTH]
    for i in range(code[column + X_ALIAS], code[column + X_ALIAS_END]):
        row = code[i]
        number = code[code[summary + S_ROW_AT] + row]
        owner = sigma + number * n
        s[WORK] += n
        if meets(words, owner, s[BASE], n):
            for k in range(code[column + X_REGION], code[column + X_REGION_END]):
                if code[k] != number and meets(words, owner, sigma + code[k] * n, n):
                    join(words, to, image_of(code, words, s, summary, row, sigma), n)
                    break


@once
def region(code, words, s, summary, column, bind, sigma, aliasing):
    """BITS becomes everything reached from the cells of a region's sources."""
    n, sources, bits, frontier, found = s[WIDTH], s[BASE], s[BITS], s[FRONTIER], s[FOUND]
    link, end = code[bind + I_LINK], code[bind + I_LINK_END]
    empty(words, sources, n)
    for i in range(code[column + X_REGION], code[column + X_REGION_END]):
        join(words, sources, sigma + code[i] * n, n)
    select(code, words, s, sources, link, end, bits)
    grow(words, bits, sources, s[LABELS], n)
    if aliasing:
        alias_sources(code, words, s, summary, column, sigma, bits)
    # From here on, `sources` are the tokens whose cells have been read.
    more = True
    while more:
        copy(words, found, bits, n)
        for k in range(n):
            words[frontier + k] = words[bits + k] & ~words[sources + k]
            words[sources + k] |= words[bits + k]
        select(code, words, s, frontier, link, end, bits)
        if aliasing:
            alias(code, words, s, summary, column, sigma, bits, bits)
        more = lacks(words, found, bits, ALL, n) != 0


@once
def derive(code, words, s, summary, c, bind, sigma, aliasing):
    """Evaluates a CHILD or REGION column where that can change something; whether its sigma grew."""
    n, bits = s[WIDTH], s[BITS]
    column = code[summary + S_COL_AT] + c * X_SIZE
    aliasing &= code[column + X_ALIAS] < code[column + X_ALIAS_END]
    changed, seen = s[CHANGED], s[SEEN] + c
    fresh = s[seen] < 0
    if code[column + X_KIND] == CHILD:
        parent = code[column + X_PARENT]
        fresh |= s[changed + parent] > s[seen]
        if not (fresh or aliasing):
            return 0
        s[seen] = s[CLOCK]
        empty(words, bits, n)
        owners = sigma + parent * n
        if fresh:
            select(code, words, s, owners, code[bind + I_LINK], code[bind + I_LINK_END], bits)
            grow(words, bits, owners, s[LABELS], n)
        if aliasing:
            alias(code, words, s, summary, column, sigma, owners, bits)
    else:
        for i in range(code[column + X_REGION], code[column + X_REGION_END]):
            fresh |= s[changed + code[i]] > s[seen]
        if not (fresh or aliasing):
            return 0
        s[seen] = s[CLOCK]
        empty(words, bits, n)
        region(code, words, s, summary, column, bind, sigma, aliasing)
    if grow(words, sigma + c * n, bits, ALL, n):
        s[CLOCK] += 1
        s[changed + c] = s[CLOCK]
        set_bit(words, s[NEW], c)
        return 1
    return 0


@once
def substitute(code, words, s, application, sigma):
    """The least sigma: for each export column of the summary, tokens of the caller, as rows from `sigma` on."""
    n = s[WIDTH]
    summary, bind = np.int64(code[application + A_SUMMARY]), np.int64(code[application + A_BIND])
    first, count = np.int64(code[summary + S_COL_AT]), np.int64(code[summary + S_COLS])
    rounds, width = code[summary + S_ROUNDS], code[summary + S_WIDTH]
    empty(words, sigma, count * n)
    s[WORK] += count * (n + 4)
    for c in range(count):
        at = np.int64(code[bind + c * I_SIZE + I_AT])
        if at >= 0:
            if code[first + c * X_SIZE + X_KIND] == CONSTANT:
                set_bit(words, sigma + c * n, at)
            else:
                both(words, sigma + c * n, place(words, s, at), code[bind + c * I_SIZE + I_MASK], n)
    if rounds == 0:
        return
    s[CLOCK] = s[ROUND] = 0
    for c in range(count):
        s[s[CHANGED] + c], s[s[SEEN] + c] = 0, -1
    if rounds > 1:
        for row in range(code[summary + S_ROWS]):
            s[s[IMAGE_ROUND] + row] = 0
    # The first round leaves aliasing out: it is the cheaper way to most of sigma.
    again = True
    while again:
        again = rounds > 1 and s[ROUND] == 0
        empty(words, s[NEW], width)
        for c in range(count):
            kind = code[first + c * X_SIZE + X_KIND]
            if kind in (CHILD, REGION):
                grown = derive(code, words, s, summary, c, bind + c * I_SIZE, sigma, s[ROUND] > 0)
                again |= grown > 0 and rounds > 1
        copy(words, s[OLD], s[NEW], width)
        s[ROUND] += 1


@once
def write(code, words, s, application, sigma):
    """Writes what an application adds, given its sigma."""
    n, found, value = s[WIDTH], s[FOUND], s[VALUE]
    summary, at = np.int64(code[application + A_SUMMARY]), np.int64(code[application + A_WRITE])
    width, owner = np.int64(code[summary + S_WIDTH]), np.int64(code[summary + S_ROW_AT])
    bits = np.int64(code[summary + S_BITS])
    last = np.int64(-1)
    for _ in range(code[summary + S_ROWS]):
        row = np.int64(code[at + W_ROW])
        s[WORK] += 2
        if row != DROPPED and meets(words, bits, ALL, width):
            # Many rows hold the same as the one before.
            if last < 0 or not equal(words, bits, last, width):
                last = bits
                empty(words, found, n)
                image(words, s, bits, width, sigma, found)
            both(words, value, found, code[at + W_MASK], n)
            if row == TO_CELLS:
                base = sigma + code[owner] * n
                scatter(code, words, s, base, code[at + W_LINK], code[at + W_LINK_END], value)
            else:
                add(words, s, row, value, code[s[ROW_MASK] + row])
        at += W_SIZE
        bits += width
        owner += 1


# -------------------------------------------------------- operations


@kernel("void(int32[::1], uint64[::1], int64[::1], int64)", helper=True)
def step(code, words, s, op):
    """Applies one operation to the state at hand. All that it reads is read before its clear set is emptied."""
    n, value, base = s[WIDTH], s[VALUE], s[BASE]
    kind, dst, src = code[op + O_KIND], np.int64(code[op + O_DST]), np.int64(code[op + O_SRC])
    link, end, mask = np.int64(code[op + O_LINK]), np.int64(code[op + O_LINK_END]), np.int64(code[op + O_MASK])
    s[WORK] += 8
    if kind == OR:
        both(words, value, place(words, s, src), mask, n)
        clear(code, words, s, op)
        add(words, s, dst, value, ALL)
    elif kind == GENERATE:
        empty(words, value, n)
        set_bit(words, value, src)
        clear(code, words, s, op)
        add(words, s, dst, value, ALL)
    elif kind == LOAD:
        empty(words, value, n)
        select(code, words, s, place(words, s, src), link, end, value)
        clear(code, words, s, op)
        add(words, s, dst, value, mask)
    elif kind == STORE:
        copy(words, value, place(words, s, dst), n)
        copy(words, base, place(words, s, src), n)
        clear(code, words, s, op)
        scatter(code, words, s, base, link, end, value)
    else:
        sigma = s[SIGMA]
        for application in range(dst, src, A_SIZE):
            substitute(code, words, s, application, sigma)
            sigma += code[code[application + A_SUMMARY] + S_COLS] * n
        clear(code, words, s, op)
        sigma = s[SIGMA]
        for application in range(dst, src, A_SIZE):
            write(code, words, s, application, sigma)
            sigma += code[code[application + A_SUMMARY] + S_COLS] * n
