"""Rung `grp`, memory-access-based node grouping: the nodes of a round are sorted so that a warp holds one access kind.

A counting sort by all threads of the block; each kind begins with a warp, and the places left over stay empty.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel
from gpu.cuda.platforms.sequential import barrier, plus, thread, threads
from gpu.cuda.rounds import KINDS, N_KINDS, SET_LIST_SIZE, SET_WARP, kind_of


@kernel
def share(box, settings, k, count):
    """How many nodes of a kind are taken in this round."""
    return box[KINDS + k]


@kernel
def put_off(ints, box, target, counter, node):
    """A node that is not taken. Here: none."""


@kernel
def arrange(code, s, ints, box, settings, source, target, order, count, counter):
    """See `gpu.cuda.rounds.arrange`. `order` is followed by room for the rank of each node in its kind."""
    warp, rank = settings[SET_WARP], order + settings[SET_LIST_SIZE]
    for i in range(thread(), count, threads()):
        ints[rank + i] = plus(box, KINDS + kind_of(code, s, np.int64(ints[source + i])), 1)
    barrier()
    for i in range(thread(), count, threads()):
        node = np.int64(ints[source + i])
        kind, first = kind_of(code, s, node), np.int64(0)
        for k in range(kind):
            first += (share(box, settings, k, count) + warp - 1) // warp * warp
        if ints[rank + i] < share(box, settings, kind, count):
            ints[order + first + ints[rank + i]] = node
        else:
            put_off(ints, box, target, counter, node)
    taken = np.int64(0)
    for k in range(N_KINDS):
        mine = share(box, settings, k, count)
        end = (mine + warp - 1) // warp * warp
        for i in range(mine + thread(), end, threads()):
            ints[order + taken + i] = -1
        taken += end
    barrier()
    return order, taken
