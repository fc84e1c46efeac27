"""Sets of types that flow along edges until nothing changes: bit sets in rows, lists of edges, a queue of nodes.

`types` and `pending` (n_nodes, n_words) hold what is in each node, and what of it has not left it yet. `filters`
(n_nodes,) names the row of `masks` that lets bits into a node, or is -1. `edges` (3, n) are a list head per node, the
target of each edge and the next one; `watchers` likewise, with the mask that a watcher sees through in place of the
target. `queue` is a ring of nodes with pending bits, `queued` marks them. `state` has HEAD and TAIL of the ring and
EVENTS, the number of rows in `events`: (watcher, bit).
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.layout import EVENTS, HEAD, TAIL, helper, kernel

FIRST, VALUE, NEXT = range(3)
"""Rows of lists."""

ZERO, ONE = np.uint64(0), np.uint64(1)


@helper
def pour(target, source, row, types, pending, filters, masks, queue, queued, state):
    """Puts the bits of a row of `source` into a node, as far as its filter lets them in."""
    mask = filters[target]
    new = False
    for w in range(types.shape[1]):
        bits = source[row, w] & ~types[target, w]
        if mask >= 0:
            bits &= masks[mask, w]
        if bits != ZERO:
            types[target, w] |= bits
            pending[target, w] |= bits
            new = True
    if new and not queued[target]:
        queued[target] = 1
        queue[state[TAIL]] = target
        state[TAIL] = 0 if state[TAIL] + 1 == len(queue) else state[TAIL] + 1


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


@kernel(
    "void(int32[::1], int32[::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[::1], uint64[:, ::1],"
    "int32[::1], uint8[::1], int64[::1])"
)
def seed(nodes, bits, delta, types, pending, filters, masks, queue, queued, state):
    """Puts one bit into each of some nodes."""
    for k in range(len(nodes)):
        word = bits[k] >> 6
        delta[0, word] = ONE << np.uint64(bits[k] & 63)
        pour(nodes[k], delta, 0, types, pending, filters, masks, queue, queued, state)
        delta[0, word] = ZERO


@kernel(
    "void(int32[::1], int32[::1], int64, int32[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[::1], uint64[:, ::1],"
    "int32[::1], uint8[::1], int64[::1])"
)
def add_edges(sources, targets, first, edges, types, pending, filters, masks, queue, queued, state):
    """Adds edges, the first of them number `first`; what their sources hold flows."""
    for k in range(len(sources)):
        source, edge = sources[k], first + k
        edges[VALUE, edge] = targets[k]
        edges[NEXT, edge] = edges[FIRST, source]
        edges[FIRST, source] = edge
        pour(targets[k], types, source, types, pending, filters, masks, queue, queued, state)


@kernel(
    "void(int32[::1], int32[::1], int64, int32[:, ::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[:, ::1],"
    "int64[::1])"
)
def watch(nodes, seen, first, watchers, types, pending, masks, events, state):
    """Adds watchers, the first of them number `first`; they are told of what has left their node already."""
    for k in range(len(nodes)):
        node, watcher = nodes[k], first + k
        watchers[VALUE, watcher] = seen[k]
        watchers[NEXT, watcher] = watchers[FIRST, node]
        watchers[FIRST, node] = watcher
        for w in range(types.shape[1]):
            bits = types[node, w] & ~pending[node, w]
            if seen[k] >= 0:
                bits &= masks[seen[k], w]
            tell(watcher, w, bits, events, state)


@kernel(
    "boolean(uint64[:, ::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[::1],"
    "uint64[:, ::1], int32[::1], uint8[::1], int64[::1])"
)
def propagate(delta, edges, watchers, events, types, pending, filters, masks, queue, queued, state):
    """Empties the queue; False where `events` has become too short for that: call it again with a longer one."""
    words = types.shape[1]
    while state[HEAD] != state[TAIL]:
        node = queue[state[HEAD]]
        room = len(events) - state[EVENTS]
        at = watchers[FIRST, node]
        while at >= 0:
            room -= words << 6
            at = watchers[NEXT, at]
        if room < 0:
            return False
        state[HEAD] = 0 if state[HEAD] + 1 == len(queue) else state[HEAD] + 1
        queued[node] = 0
        for w in range(words):
            delta[0, w] = pending[node, w]
            pending[node, w] = ZERO
        at = edges[FIRST, node]
        while at >= 0:
            pour(edges[VALUE, at], delta, 0, types, pending, filters, masks, queue, queued, state)
            at = edges[NEXT, at]
        at = watchers[FIRST, node]
        while at >= 0:
            for w in range(words):
                bits = delta[0, w]
                if watchers[VALUE, at] >= 0:
                    bits &= masks[watchers[VALUE, at], w]
                tell(at, w, bits, events, state)
            at = watchers[NEXT, at]
    for w in range(words):
        delta[0, w] = ZERO
    return True
