"""The platform of Numba's simulator: what it lacks, and what it gets wrong for 64 bits, is done by hand."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import time

from numba import cuda

from gpu.cuda.build import kernel
from gpu.cuda.platforms.device import (  # noqa: F401  (the same here)
    barrier,
    block,
    blocks,
    box_of,
    fence,
    most,
    or_word,
    plus,
    swap,
    swap_if,
    thread,
    threads,
)

sleep = time.sleep


@kernel
def team_barrier():
    """There are no warps: a team is all of its block."""
    cuda.syncthreads()


@kernel
def pause():
    sleep(0)


@kernel
def trailing_zeros(word):
    return (int(word) & -int(word)).bit_length() - 1
