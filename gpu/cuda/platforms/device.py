"""The platform of a CUDA device."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import cuda, types

from gpu.cuda.build import inlined, kernel
from gpu.cuda.platforms.fields import X_A, X_B, X_C, X_COMMAND, X_N, X_RESULT, X_WORTH


@kernel
def thread():
    return np.int64(cuda.threadIdx.x)


@kernel
def threads():
    return np.int64(cuda.blockDim.x)


@kernel
def block():
    return np.int64(cuda.blockIdx.x)


@kernel
def blocks():
    return np.int64(cuda.gridDim.x)


INT64 = types.int64


@inlined
def box_of(boxes):
    """Numbers that the threads of a block share: its dynamic shared memory, which is one however often one asks."""
    return cuda.shared.array(0, INT64)


@kernel
def barrier():
    """Waits for all threads of the block."""
    cuda.syncthreads()


@kernel
def team_barrier():
    """Waits for all lanes of the warp, wherever in the program they are."""
    cuda.syncwarp()


@kernel
def or_word(words, i, x):
    """Atomic; returns the word before."""
    return cuda.atomic.or_(words, i, x)


@kernel
def read(numbers, i):
    """The number that is there now, whatever this thread has seen before."""
    return cuda.atomic.add(numbers, i, 0)


@kernel
def plus(numbers, i, x):
    """Atomic; returns the number before."""
    return cuda.atomic.add(numbers, i, x)


@kernel
def most(numbers, i, x):
    """Atomic maximum."""
    cuda.atomic.max(numbers, i, x)


@kernel
def swap(numbers, i, x):
    """Atomic; returns the number before."""
    return cuda.atomic.exch(numbers, i, x)


@kernel
def swap_if(numbers, i, old, x):
    """Atomic; returns the number before: if that is `old`, x is there now."""
    return cuda.atomic.cas(numbers, i, old, x)


@kernel
def fence():
    """What this thread wrote before is seen by whoever sees what it writes after."""
    cuda.threadfence()


@kernel
def pause():
    cuda.nanosleep(np.uint32(200))


@kernel
def trailing_zeros(word):
    return cuda.ffs(word) - 1


@inlined
def team_box():
    """As `box_of`: the lanes of a team are the threads of a block."""
    return cuda.shared.array(0, INT64)


@kernel
def team_is_worth(steps):
    return steps >= team_box()[X_WORTH]


@kernel
def post(command, a, b, c, n):
    """By the first lane: all lanes do their part of this."""
    box = team_box()
    box[X_COMMAND], box[X_A], box[X_B], box[X_C], box[X_N], box[X_RESULT] = command, a, b, c, n, 0
    team_barrier()


@kernel
def gathered(found):
    """By the first lane, when it has done its part: waits for the others; whether any found something."""
    team_barrier()
    if found != 0:
        return np.int64(1)
    return team_box()[X_RESULT]
