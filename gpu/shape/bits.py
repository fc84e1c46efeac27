"""Rows of bits."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from gpu.jit import kernel
from gpu.shape.signatures import INT, U8X2

ONE = np.uint64(1)
ZERO = np.uint64(0)


@kernel("int64(uint64)", helper=True)
def lowest(word):
    """Number of the lowest bit set."""
    return np.int64(trailing_zeros(word))


@kernel("int64(uint64)", helper=True)
def count_word(x):
    """Number of bits set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(INT(U8X2, INT), helper=True)
def count(a, i):
    """Number of bits set in row i."""
    n = 0
    for w in range(a.shape[1]):
        n += count_word(a[i, w])
    return n


@kernel("void(uint64[:, ::1], int64)", helper=True)
def clear(a, i):
    """Row i = nothing."""
    for w in range(a.shape[1]):
        a[i, w] = ZERO


@kernel("void(uint64[:, ::1], int64, uint64[:, ::1], int64)", helper=True)
def copy(a, i, b, j):
    """Row i of a = row j of b."""
    for w in range(a.shape[1]):
        a[i, w] = b[j, w]


@kernel(INT(U8X2, INT, U8X2, INT), helper=True)
def join(a, i, b, j):
    """Row i of a |= row j of b; whether it grew."""
    grown = ZERO
    for w in range(a.shape[1]):
        grown |= b[j, w] & ~a[i, w]
        a[i, w] |= b[j, w]
    return 1 if grown else 0


@kernel("void(uint64[:, ::1], int64, uint64[:, ::1], int64)", helper=True)
def keep(a, i, b, j):
    """Row i of a &= row j of b."""
    for w in range(a.shape[1]):
        a[i, w] &= b[j, w]


@kernel("void(uint64[:, ::1], int64, uint64[:, ::1], int64)", helper=True)
def remove(a, i, b, j):
    """Row i of a &= ~row j of b."""
    for w in range(a.shape[1]):
        a[i, w] &= ~b[j, w]


@kernel(INT(U8X2, INT, U8X2, INT), helper=True)
def meet(a, i, b, j):
    """Whether row i of a and row j of b have a bit in common."""
    for w in range(a.shape[1]):
        if a[i, w] & b[j, w]:
            return 1
    return 0


@kernel(INT(U8X2, INT), helper=True)
def some(a, i):
    """Whether row i has a bit."""
    for w in range(a.shape[1]):
        if a[i, w]:
            return 1
    return 0


@kernel("void(uint64[:, ::1], int64, int64)", helper=True)
def add(a, i, bit):
    """Sets a bit of row i."""
    a[i, bit >> 6] |= ONE << np.uint64(bit & 63)


@kernel("void(uint64[:, ::1], int64, int64)", helper=True)
def drop(a, i, bit):
    """Clears a bit of row i."""
    a[i, bit >> 6] &= ~(ONE << np.uint64(bit & 63))


@kernel(INT(U8X2, INT, INT), helper=True)
def has(a, i, bit):
    """Whether a bit of row i is set."""
    return np.int64((a[i, bit >> 6] >> np.uint64(bit & 63)) & ONE)
