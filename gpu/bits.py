"""Sets of small numbers as Python integers: bit i says that i is in."""

from __future__ import annotations

from collections.abc import Iterator


def bits_of(row: int) -> Iterator[int]:
    """The members of a bit set, ascending."""
    while row:
        low = row & -row
        yield low.bit_length() - 1
        row ^= low
