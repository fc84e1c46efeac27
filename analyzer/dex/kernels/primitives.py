"""Reading numbers from bytes: the helpers of the other kernels."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import functools

import numpy as np

from gpu import jit

kernel = functools.partial(jit.kernel, _nrt=False)
"""Kernels here allocate nothing. Without this Numba counts references of arrays, atomically, at every call."""

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
SIXTEEN, SHIFT, FORTY_EIGHT = np.uint64(16), np.uint64(32), np.uint64(48)

# An unsigned index costs no test for a negative one, which would also keep LLVM from joining neighbouring loads.


@kernel("int64(uint8[::1], int64)", helper=True)
def u2(buf, p):
    i = np.uint64(p)
    return np.int64(buf[i]) | np.int64(buf[i + ONE]) << 8


@kernel("int64(uint8[::1], int64)", helper=True)
def u4(buf, p):
    i = np.uint64(p)
    low = np.uint32(buf[i]) | np.uint32(buf[i + ONE]) << np.uint32(8)
    return np.int64(low | np.uint32(buf[i + TWO]) << np.uint32(16) | np.uint32(buf[i + THREE]) << np.uint32(24))


@kernel("int64(uint8[::1], int64)", helper=True)
def u8_word(buf, p):
    """Eight bytes as one number; one load."""
    return u4(buf, p) | u4(buf, p + 4) << 32


@kernel("UniTuple(int64, 2)(uint8[::1], int64, int64)", helper=True)
def uleb(buf, p, end):
    """ULEB128 of at most 5 bytes: (value, next offset); value -1 if it is cut off or longer. No branch per byte."""
    if p >= end:
        return -1, p
    w = u8_word(buf, p)
    two = w >> 7 & 1
    three = two & w >> 15
    four = three & w >> 23
    five = four & w >> 31
    size = 1 + two + three + four + five
    if five & w >> 39 or p + size > end:
        return -1, p
    value = w & 0x7F | w >> 1 & 0x3F80 | w >> 2 & 0x1FC000 | w >> 3 & 0xFE00000 | w >> 4 & 0xF0000000
    return value & ((1 << 7 * size) - 1), p + size


@kernel("int64(uint16[::1], int64)", helper=True)
def word(code, p):
    """Four units from p on as one number, the first lowest; one load."""
    i = np.uint64(p)
    low = np.uint64(code[i]) | np.uint64(code[i + ONE]) << SIXTEEN
    return np.int64(low | np.uint64(code[i + TWO]) << SHIFT | np.uint64(code[i + THREE]) << FORTY_EIGHT)


@kernel("int64(uint16[::1], int64)", helper=True)
def s4(code, p):
    """Signed 32-bit number in two units."""
    i = np.uint64(p)
    return np.int64(np.int32(np.uint32(code[i]) | np.uint32(code[i + ONE]) << np.uint32(16)))
