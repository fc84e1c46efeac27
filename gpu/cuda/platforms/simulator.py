"""The platform of Numba's simulator: what it lacks, and what it gets wrong for 64 bits, is done by hand."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import time

import numpy as np
from numba import cuda

from gpu.cuda.build import kernel
from gpu.cuda.platforms.device import (  # noqa: F401  (the same here)
    barrier,
    block,
    blocks,
    box_of,
    fence,
    gathered,
    most,
    or_word,
    plus,
    post,
    swap,
    swap_if,
    team_box,
    team_is_worth,
    thread,
    threads,
)
from gpu.cuda.platforms.fields import X_A, X_B, X_C, X_COMMAND, X_N, X_RESULT, X_WORTH  # noqa: F401

sleep = time.sleep
INT64 = np.dtype(np.int64)


@kernel
def team_barrier():
    """There are no warps: a team is all of its block."""
    cuda.syncthreads()


@kernel
def read(numbers, i):
    """The simulator's atomics hold a lock each: adding 0 would not be atomic with a comparison and a swap."""
    return numbers[i]


@kernel
def pause():
    sleep(0)


@kernel
def trailing_zeros(word):
    return (int(word) & -int(word)).bit_length() - 1
