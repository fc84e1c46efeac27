"""The platform of one CPU thread: one block of one thread, so that nothing needs to wait or to be atomic."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel


@kernel
def thread():
    return np.int64(0)


@kernel
def threads():
    return np.int64(1)


@kernel
def block():
    return np.int64(0)


@kernel
def blocks():
    return np.int64(1)


@kernel
def box_of(boxes):
    return boxes


@kernel
def barrier():
    pass


@kernel
def team_barrier():
    pass


@kernel
def or_word(words, i, x):
    old = words[i]
    words[i] = old | x
    return old


@kernel
def read(numbers, i):
    """The number that is there now, whatever this thread has seen before."""
    return numbers[i]


@kernel
def plus(numbers, i, x):
    old = numbers[i]
    numbers[i] = old + x
    return old


@kernel
def most(numbers, i, x):
    if x > numbers[i]:
        numbers[i] = x


@kernel
def swap(numbers, i, x):
    old = numbers[i]
    numbers[i] = x
    return old


@kernel
def swap_if(numbers, i, old, x):
    found = numbers[i]
    if found == old:
        numbers[i] = x
    return found


@kernel
def fence():
    pass


@kernel
def pause():
    pass


@kernel
def team_box():
    """There is no team of one."""


@kernel
def team_is_worth(steps):
    """From two on: so that what lanes do is run here as well."""
    return steps >= 2


@kernel
def post(command, a, b, c, n):
    pass


@kernel
def gathered(found):
    return found


@kernel
def serve(code, words, s):
    pass
