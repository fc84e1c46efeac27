"""A team: the lanes of a warp work on one method. The first lane runs the program; the others serve it.

The program is the one of the CPU engine, in `gpu.transfer` and `gpu.fixpoint`. Where it comes to a loop that is long
enough, a function of the same name here takes the place of the one there: it posts what is to be done, all lanes do
their part, and the first lane goes on. So no lane but the first writes the worker's fields, and there is no
second version of the algorithm. One lane of one does the whole.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel
from gpu.cuda.platforms.fields import X_A, X_B, X_C, X_COMMAND, X_N, X_RESULT
from gpu.cuda.platforms.sequential import (
    gathered,
    or_word,
    post,
    team_barrier,
    team_box,
    team_is_worth,
    thread,
    threads,
)
from gpu.pack import ALL
from gpu.transfer import (
    FRESH,
    HEAD,
    HEAP_BITS,
    LOCAL,
    N_HEAP,
    ONE,
    STATE,
    WIDTH,
    WORK,
    bit,
    place,
)
from gpu.transfer import both as both_alone
from gpu.transfer import copy as copy_alone
from gpu.transfer import empty as empty_alone
from gpu.transfer import equal as equal_alone
from gpu.transfer import grow as grow_alone
from gpu.transfer import image as image_alone
from gpu.transfer import join as join_alone
from gpu.transfer import lacks as lacks_alone
from gpu.transfer import meets as meets_alone
from gpu.transfer import select as select_alone

P_STOP, P_EMPTY, P_COPY, P_JOIN, P_BOTH, P_LACKS, P_MEETS, P_EQUAL, P_GROW, P_SELECT, P_IMAGE, P_SPREAD = range(12)
"""What a team does."""


@kernel
def or_row(words, to, source, n):
    """Row `to` gets all of row `source`, and other lanes may add to it as well."""
    for k in range(n):
        more = words[source + k] & ~words[to + k]
        if more != 0:
            or_word(words, to + k, more)


@kernel
def run_select(code, words, s, base, at, end, to, lane, lanes):
    """One lane's part of `select`: some pairs of the link."""
    for i in range(at + 2 * lane, end, 2 * lanes):
        if bit(words, base, np.int64(code[i])):
            or_row(words, to, place(words, s, np.int64(code[i + 1])), s[WIDTH])


@kernel
def run_rows(words, s, command, a, b, c, n, lane, lanes):
    """One lane's part of what is done to many rows; whether it found something."""
    found = np.int64(0)
    if command == P_IMAGE:  # a: set of columns; b: rows of the columns; c: row; n: words of the set
        for column in range(lane, n * 64, lanes):
            if bit(words, a, column):
                or_row(words, c, b + column * s[WIDTH], s[WIDTH])
    elif command == P_SPREAD:  # a: head of a successor; b: its news
        for h in range(lane, s[N_HEAP], lanes):
            if bit(words, s[FRESH], h):
                source = s[HEAD] + h * s[WIDTH]
                if bit(words, s[LOCAL], h):
                    source = s[STATE] + h * s[WIDTH]
                if grow_alone(words, a + h * s[WIDTH], source, np.int64(ALL), s[WIDTH]):
                    or_word(words, b + (h >> 6), ONE << np.uint64(h & 63))
                    found = np.int64(1)
    return found


@kernel
def run_words(words, command, a, b, c, n, lane, lanes):
    """One lane's part of what is done to n words; whether it found something."""
    found = np.int64(0)
    if command == P_EMPTY:
        for k in range(lane, n, lanes):
            words[a + k] = 0
    elif command == P_COPY:
        for k in range(lane, n, lanes):
            words[a + k] = words[b + k]
    elif command == P_JOIN:
        for k in range(lane, n, lanes):
            words[a + k] |= words[b + k]
    elif command == P_BOTH:
        for k in range(lane, n, lanes):
            words[a + k] = words[b + k] & words[c + k]
    elif command == P_LACKS:
        for k in range(lane, n, lanes):
            if words[b + k] & words[c + k] & ~words[a + k] != 0:
                found = np.int64(1)
    elif command == P_MEETS:
        for k in range(lane, n, lanes):
            if words[a + k] & words[b + k] != 0:
                found = np.int64(1)
    elif command == P_EQUAL:  # found: they are not
        for k in range(lane, n, lanes):
            if words[a + k] != words[b + k]:
                found = np.int64(1)
    elif command == P_GROW:
        for k in range(lane, n, lanes):
            more = words[b + k] & words[c + k] & ~words[a + k]
            if more != 0:
                words[a + k] |= more
                found = np.int64(1)
    return found


@kernel
def serve(code, words, s):
    """What the other lanes do until the first one posts P_STOP. `s` are the fields of the team."""
    box = team_box()
    while True:
        team_barrier()
        if box[X_COMMAND] == P_STOP:
            team_barrier()
            return
        command, a, b, c, n = box[X_COMMAND], box[X_A], box[X_B], box[X_C], box[X_N]
        if command == P_SELECT:
            run_select(code, words, s, a, b, c, n, thread(), threads())
        elif command >= P_IMAGE:
            if run_rows(words, s, command, a, b, c, n, thread(), threads()):
                box[X_RESULT] = 1
        elif run_words(words, command, a, b, c, n, thread(), threads()):
            box[X_RESULT] = 1
        team_barrier()


# ------------------------------------- in place of functions of gpu.transfer and gpu.fixpoint: words of rows


@kernel
def empty(words, at, n):
    if team_is_worth(n):
        post(P_EMPTY, at, 0, 0, n)
        gathered(run_words(words, P_EMPTY, at, 0, 0, n, 0, threads()))
    else:
        empty_alone(words, at, n)


@kernel
def copy(words, to, source, n):
    if team_is_worth(n):
        post(P_COPY, to, source, 0, n)
        gathered(run_words(words, P_COPY, to, source, 0, n, 0, threads()))
    else:
        copy_alone(words, to, source, n)


@kernel
def join(words, to, source, n):
    if team_is_worth(n):
        post(P_JOIN, to, source, 0, n)
        gathered(run_words(words, P_JOIN, to, source, 0, n, 0, threads()))
    else:
        join_alone(words, to, source, n)


@kernel
def both(words, to, source, mask, n):
    if team_is_worth(n):
        post(P_BOTH, to, source, mask, n)
        gathered(run_words(words, P_BOTH, to, source, mask, n, 0, threads()))
    else:
        both_alone(words, to, source, mask, n)


@kernel
def lacks(words, row, source, mask, n):
    if team_is_worth(n):
        post(P_LACKS, row, source, mask, n)
        return gathered(run_words(words, P_LACKS, row, source, mask, n, 0, threads()))
    return lacks_alone(words, row, source, mask, n)


@kernel
def meets(words, row, other, n):
    if team_is_worth(n):
        post(P_MEETS, row, other, 0, n)
        return gathered(run_words(words, P_MEETS, row, other, 0, n, 0, threads()))
    return meets_alone(words, row, other, n)


@kernel
def equal(words, row, other, n):
    if team_is_worth(n):
        post(P_EQUAL, row, other, 0, n)
        return 1 - gathered(run_words(words, P_EQUAL, row, other, 0, n, 0, threads()))
    return equal_alone(words, row, other, n)


@kernel
def grow(words, to, source, mask, n):
    if team_is_worth(n):
        post(P_GROW, to, source, mask, n)
        return gathered(run_words(words, P_GROW, to, source, mask, n, 0, threads()))
    return grow_alone(words, to, source, mask, n)


# ---------------------------------------------------------------------------- and whole rows of rows


@kernel
def select(code, words, s, base, at, end, to):
    if team_is_worth((end - at) >> 1):
        s[WORK] += end - at
        post(P_SELECT, base, at, end, to)
        run_select(code, words, s, base, at, end, to, 0, threads())
        gathered(0)
    else:
        select_alone(code, words, s, base, at, end, to)


@kernel
def image(words, s, bits, n_bits, sigma, to):
    if team_is_worth(n_bits * s[WIDTH] * 8):
        s[WORK] += n_bits * s[WIDTH]
        post(P_IMAGE, bits, sigma, to, n_bits)
        gathered(run_rows(words, s, P_IMAGE, bits, sigma, to, n_bits, 0, threads()))
    else:
        image_alone(words, s, bits, n_bits, sigma, to)


@kernel
def spread(words, s, head, news):
    s[WORK] += s[HEAP_BITS] * s[WIDTH]
    if team_is_worth(s[N_HEAP] * s[WIDTH]):
        post(P_SPREAD, head, news, 0, 0)
        return gathered(run_rows(words, s, P_SPREAD, head, news, 0, 0, 0, threads()))
    return run_rows(words, s, P_SPREAD, head, news, 0, 0, 0, 1)
