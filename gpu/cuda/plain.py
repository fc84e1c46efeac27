"""Rung `plain`: what a straightforward port does. The facts of a node are a set, that grows by chunks from a pool.

A set has as many chains as there are rows, up to MOST_BUCKETS; a chunk holds the address of the next one and up to
seven facts. A chunk is taken from the pool by adding to a counter: what dynamic allocation on a device comes to at
best. A visit decodes the set into the thread's own rows, evaluates, and inserts what comes out into the sets of the
successors, fact by fact.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel
from gpu.cuda.platforms.sequential import plus, swap_if
from gpu.cuda.rounds import AT_BUCKETS, AT_CHAINS, C_OVERFLOW, C_POOL
from gpu.pack import M_EXIT
from gpu.transfer import FACTS, HEAD, HEADS, LOCAL, METHOD, N_HEAP, STATE, WIDTH, bit, empty, next_bit, set_bit

MOST_BUCKETS = 256
CHUNK = 8


@kernel
def insert(pool, counters, at, fact):
    """Puts a fact, a number over 0, into the chain that begins at an address; whether it is new. No locks."""
    while True:
        chunk = np.int64(pool[at])
        if chunk == 0:
            new = plus(counters, C_POOL, CHUNK)
            if new + CHUNK > len(pool):
                counters[C_OVERFLOW] = 1
                return np.int64(0)
            chunk = np.int64(swap_if(pool, at, 0, new))
            if chunk == 0:
                chunk = new
        for k in range(1, CHUNK):
            found = np.int64(pool[chunk + k])
            if found == 0:
                found = np.int64(swap_if(pool, chunk + k, 0, fact))
                if found == 0:
                    return np.int64(1)
            if found == fact:
                return np.int64(0)
        at = chunk


@kernel
def chain(s, at, m, node, h):
    """Address of the chain that holds a row's facts at a node."""
    return at[m, AT_CHAINS] + node * at[m, AT_BUCKETS] + h % at[m, AT_BUCKETS]


@kernel
def put_fact(words, s, pool, at, counters, m, h, column):
    insert(pool, counters, chain(s, at, m, np.int64(0), h), h * s[WIDTH] * 64 + column + 1)


@kernel
def look(words, s, pool, at, m, node):
    """Decodes the facts at a node into rows of the thread."""
    s[HEAD] = s[FACTS]
    empty(words, s[HEAD], s[N_HEAP] * s[WIDTH])
    for bucket in range(at[m, AT_BUCKETS]):
        chunk = pool[chain(s, at, m, node, bucket)]
        while chunk != 0:
            for k in range(1, CHUNK):
                if pool[chunk + k] != 0:
                    set_bit(words, s[HEAD], np.int64(pool[chunk + k]) - 1)
            chunk = pool[chunk]


@kernel
def pass_on(words, s, pool, at, counters, m, successor):
    n, grown = s[WIDTH], np.int64(0)
    for h in range(s[N_HEAP]):
        source = s[HEAD] + h * n
        if bit(words, s[LOCAL], h):
            source = s[STATE] + h * n
        column = next_bit(words, source, n, np.int64(0))
        while column >= 0:
            grown |= insert(pool, counters, chain(s, at, m, successor, h), h * n * 64 + column + 1)
            column = next_bit(words, source, n, column + 1)
    return grown


@kernel
def show_exit(code, words, s, pool, at, m):
    node = np.int64(code[s[METHOD] + M_EXIT])
    if node >= 0:
        look(words, s, pool, at, m, node)
        s[HEADS] = s[HEAD] - node * s[N_HEAP] * s[WIDTH]
