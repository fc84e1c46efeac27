"""Rung `mer`, worklist merging: whole warps are taken from the head; the tail joins what this round produces.

A node that was put off is still marked as waiting, so that it is not put on the list twice. Where no kind fills a warp
all nodes are taken, as there is nothing to win by waiting.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

from gpu.cuda.build import kernel
from gpu.cuda.platforms.sequential import plus
from gpu.cuda.rounds import KINDS, N_KINDS, SET_WARP


@kernel
def share(box, settings, k, count):
    warp = settings[SET_WARP]
    for other in range(N_KINDS):
        if box[KINDS + other] >= warp:
            return box[KINDS + k] // warp * warp
    return box[KINDS + k]


@kernel
def put_off(ints, box, target, counter, node):
    ints[target + plus(box, counter, 1)] = node
