"""Sets of types that flow along edges until nothing changes: bit sets, lists of edges, a queue of nodes.

Nearly all nodes hold types of one word only. `place` (n_nodes, 2) has that word's number, or -1 for nothing yet, and
the node's row in `types` and `pending` (n_rows, n_words), or -1 while one word is enough; until then `small`
(n_nodes, 2) has the word. Of both there are two: what is in the node, and what of it has not left it yet. `filters`
(n_nodes,) names the row of `masks` that lets bits into a node, or is -1. `edges` (3, n) are a list head per node, the
target of each edge and the next one; `watchers` likewise, with the mask that a watcher sees through in place of the
target. `queue` is a ring of nodes with pending bits, `queued` marks them. `state` has HEAD and TAIL of the ring,
EVENTS, the number of rows in `events`: (watcher, bit), and ROWS, the number of rows that belong to a node.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.layout import EVENTS, HEAD, ROWS, TAIL, helper, kernel

FIRST, VALUE, NEXT = range(3)
"""Rows of lists."""
WORD, ROW = range(2)
"""Columns of `place`."""
HELD, WAITING = range(2)
"""Columns of `small`."""
DONE, SHORT_EVENTS, SHORT_ROWS = range(3)
"""What `propagate` returns: the queue is empty, or what it needs more room in."""

ZERO, ONE = np.uint64(0), np.uint64(1)

_SETS = "uint64[:, ::1], int32[:, ::1], uint64[:, ::1], uint64[:, ::1]"
_COMMON = f"{_SETS}, int32[::1], uint64[:, ::1], int32[::1], uint8[::1], int64[::1]"


@helper
def put(target, word, bits, small, place, types, pending, filters, masks, queue, queued, state):
    """Puts bits of a word into a node, as far as its filter lets them in. A row must be free."""
    mask = filters[target]
    if mask >= 0:
        bits &= masks[mask, word]
    row = place[target, ROW]
    if row < 0 and bits != ZERO:
        known = place[target, WORD]
        if known < 0:
            place[target, WORD] = word
        if known < 0 or known == word:
            bits &= ~small[target, HELD]
            small[target, HELD] |= bits
            small[target, WAITING] |= bits
        else:
            row = state[ROWS]
            state[ROWS] += 1
            place[target, ROW] = row
            types[row, known] = small[target, HELD]
            pending[row, known] = small[target, WAITING]
    if row >= 0:
        bits &= ~types[row, word]
        types[row, word] |= bits
        pending[row, word] |= bits
    if bits != ZERO and not queued[target]:
        queued[target] = 1
        queue[state[TAIL]] = target
        state[TAIL] = 0 if state[TAIL] + 1 == len(queue) else state[TAIL] + 1


@helper
def count(bits):
    """How many bits are set."""
    n = 0
    while bits != ZERO:
        bits &= bits - ONE
        n += 1
    return n


@helper
def tell(watcher, word, bits, events, state):
    """Notes an event for each bit of a word."""
    bit = word << 6
    while bits != ZERO:
        if bits & ONE != ZERO:
            events[state[EVENTS], 0] = watcher
            events[state[EVENTS], 1] = bit
            state[EVENTS] += 1
        bits >>= ONE
        bit += 1


@kernel(f"int64(int32[::1], int32[::1], int64, {_COMMON})")
def seed(nodes, bits, start, small, place, types, pending, filters, masks, queue, queued, state):
    """Puts one bit into each of some nodes, from number `start` on; returns how many are done when no row is free."""
    for k in range(start, len(nodes)):
        if state[ROWS] == len(types):
            return k
        word, bit = bits[k] >> 6, ONE << np.uint64(bits[k] & 63)
        put(nodes[k], word, bit, small, place, types, pending, filters, masks, queue, queued, state)
    return len(nodes)


@kernel(f"int64(int32[::1], int32[::1], int64, int64, int32[:, ::1], {_COMMON})")
def add_edges(
    sources, targets, start, first, edges, small, place, types, pending, filters, masks, queue, queued, state
):
    """Adds edges from number `start` on, number 0 as edge `first`; what their sources hold flows. Returns as `seed`."""
    for k in range(start, len(sources)):
        if state[ROWS] == len(types):
            return k
        source, target, edge = sources[k], targets[k], first + k
        edges[VALUE, edge] = target
        edges[NEXT, edge] = edges[FIRST, source]
        edges[FIRST, source] = edge
        row, word = place[source, ROW], place[source, WORD]
        low, high = (0, types.shape[1]) if row >= 0 else (word, word + 1)
        for w in range(max(low, 0), high):
            bits = types[row, w] if row >= 0 else small[source, HELD]
            if bits != ZERO:
                put(target, w, bits, small, place, types, pending, filters, masks, queue, queued, state)
    return len(sources)


@kernel(
    f"int64(int32[::1], int32[::1], int64, int64, int32[:, ::1], {_SETS}, uint64[:, ::1], int32[:, ::1], int64[::1])"
)
def watch(nodes, seen, start, first, watchers, small, place, types, pending, masks, events, state):
    """Adds watchers from number `start` on, number 0 as watcher `first`; they are told of what has left their node.

    Returns how many are done when `events` has no room for the next.
    """
    for k in range(start, len(nodes)):
        node, watcher = nodes[k], first + k
        row, word = place[node, ROW], place[node, WORD]
        low, high = (0, types.shape[1]) if row >= 0 else (word, word + 1)
        low = max(low, 0)
        n = 0
        for w in range(low, high):
            n += count(types[row, w] if row >= 0 else small[node, HELD])
        if state[EVENTS] + n > len(events):
            return k
        watchers[VALUE, watcher] = seen[k]
        watchers[NEXT, watcher] = watchers[FIRST, node]
        watchers[FIRST, node] = watcher
        for w in range(low, high):
            if row >= 0:
                bits = types[row, w] & ~pending[row, w]
            else:
                bits = small[node, HELD] & ~small[node, WAITING]
            if seen[k] >= 0:
                bits &= masks[seen[k], w]
            tell(watcher, w, bits, events, state)
    return len(nodes)


@kernel(f"int64(uint64[::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], {_COMMON})")
def propagate(delta, edges, watchers, events, small, place, types, pending, filters, masks, queue, queued, state):
    """Empties the queue; where it lacks room for that it says of what: call it again with more."""
    while state[HEAD] != state[TAIL]:
        node = queue[state[HEAD]]
        row, word = place[node, ROW], place[node, WORD]
        low, high = (0, types.shape[1]) if row >= 0 else (word, word + 1)
        n = 0
        for w in range(low, high):
            n += count(pending[row, w] if row >= 0 else small[node, WAITING])
        room = len(events) - state[EVENTS]
        at = watchers[FIRST, node]
        while at >= 0:
            room -= n
            at = watchers[NEXT, at]
        if room < 0:
            return SHORT_EVENTS
        free = len(types) - state[ROWS]
        at = edges[FIRST, node]
        while at >= 0:
            if place[edges[VALUE, at], ROW] < 0:
                free -= 1
            at = edges[NEXT, at]
        if free < 0:
            return SHORT_ROWS
        state[HEAD] = 0 if state[HEAD] + 1 == len(queue) else state[HEAD] + 1
        queued[node] = 0
        for w in range(low, high):
            if row >= 0:
                delta[w] = pending[row, w]
                pending[row, w] = ZERO
            else:
                delta[w] = small[node, WAITING]
                small[node, WAITING] = ZERO
        at = edges[FIRST, node]
        while at >= 0:
            for w in range(low, high):
                if delta[w] != ZERO:
                    target, bits = edges[VALUE, at], delta[w]
                    put(target, w, bits, small, place, types, pending, filters, masks, queue, queued, state)
            at = edges[NEXT, at]
        at = watchers[FIRST, node]
        while at >= 0:
            for w in range(low, high):
                bits = delta[w]
                if watchers[VALUE, at] >= 0:
                    bits &= masks[watchers[VALUE, at], w]
                tell(at, w, bits, events, state)
            at = watchers[NEXT, at]
    return DONE
