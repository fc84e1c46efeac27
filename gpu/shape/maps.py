"""Hash maps from (kind, a, b, c) to a number, in rows of an array; the last row holds the number of entries."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from gpu.jit import kernel
from gpu.shape.signatures import INT, MAP


@kernel(INT(INT, INT, INT, INT), helper=True)
def mix(kind, a, b, c):
    """A hash of four numbers, not negative."""
    h = kind * 0x9E3779B1 + a * 0x85EBCA77 + b * 0xC2B2AE3D + c * 0x27D4EB2F
    h = (h ^ (h >> 15)) * 0x2C1B3C6D
    h = (h ^ (h >> 12)) * 0x297A2D39
    return (h ^ (h >> 15)) & 0x7FFFFFFF


@kernel(INT(MAP, INT, INT, INT, INT), helper=True)
def slot_of(table, kind, a, b, c):
    """Row of the map where an entry is, or would be."""
    size = len(table) - 1
    i = mix(kind, a, b, c) & (size - 1)
    while table[i, 5] and not (table[i, 0] == kind and table[i, 1] == a and table[i, 2] == b and table[i, 3] == c):
        i = (i + 1) & (size - 1)
    return i


@kernel(INT(MAP, INT, INT, INT, INT), helper=True)
def find(table, kind, a, b, c):
    """Value of an entry, or -1."""
    i = slot_of(table, kind, a, b, c)
    return table[i, 4] if table[i, 5] else -1


@kernel(INT(MAP, INT, INT, INT, INT, INT), helper=True)
def put(table, kind, a, b, c, value):
    """Sets an entry; 0 where there is no room for it."""
    i = slot_of(table, kind, a, b, c)
    size = len(table) - 1
    if not table[i, 5]:
        if 3 * table[size, 0] >= 2 * size:
            return 0
        table[size, 0] += 1
        table[i, 0] = kind
        table[i, 1] = a
        table[i, 2] = b
        table[i, 3] = c
        table[i, 5] = 1
    table[i, 4] = value
    return 1


@kernel("void(int32[:, ::1], int32[:, ::1])")
def rehash(old, new):
    """Copies all entries into a larger, empty map."""
    for i in range(len(old) - 1):
        if old[i, 5]:
            put(new, old[i, 0], old[i, 1], old[i, 2], old[i, 3], old[i, 4])
