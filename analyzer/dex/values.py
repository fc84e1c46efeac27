"""Encoded values outside the kernels: call sites, method handles, static values that nest."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from analyzer.dex.opcodes import FIELD, HANDLE, METHOD, PROTO, STRING, TYPE

ARRAY, ANNOTATION, NULL, BOOLEAN = 0x1C, 0x1D, 0x1E, 0x1F
PROTO_VALUE, HANDLE_VALUE, STRING_VALUE = 0x15, 0x16, 0x17

ID_VALUES: Mapping[int, int] = {
    0x15: PROTO,
    0x16: HANDLE,
    0x17: STRING,
    0x18: TYPE,
    0x19: FIELD,
    0x1A: METHOD,
    0x1B: FIELD,
}
"""VALUE_* type -> kind of id that it holds."""

_MOST_BYTES = {0x00: 1, 0x02: 2, 0x03: 2, 0x04: 4, 0x06: 8, 0x10: 4, 0x11: 8, **dict.fromkeys(ID_VALUES, 4)}
_MAX_DEPTH = 16


class DamagedValue(Exception):
    """An encoded value runs out of the file, is too deep or too large, or has a wrong type."""


class ValueReader:
    """Reads encoded values at a moving position `p`; at most `budget` of them."""

    def __init__(self, data: memoryview, p: int, end: int, budget: int) -> None:
        self.data = data
        self.p = p
        self.end = end
        self.budget = budget

    def number(self) -> int:
        """ULEB128."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFF
        raise DamagedValue

    def array(self) -> list[tuple[int, int]]:
        """Values of an encoded_array as (type, number bits or dex-local id); what nests is skipped and reads as 0."""
        count = self.number()
        if count > self.end - self.p:
            raise DamagedValue
        return [self.value(0) for _ in range(count)]

    def value(self, depth: int) -> tuple[int, int]:
        """One encoded value, see `array`."""
        self.budget -= 1
        if depth > _MAX_DEPTH or self.budget < 0:
            raise DamagedValue
        head = self._byte()
        kind, argument = head & 31, head >> 5
        if kind in (ARRAY, ANNOTATION):
            if kind == ANNOTATION:
                self.number()
            for _ in range(self.number()):
                if kind == ANNOTATION:
                    self.number()
                self.value(depth + 1)
            return kind, 0
        if kind in (NULL, BOOLEAN):
            return kind, argument if kind == BOOLEAN else 0
        size, most = argument + 1, _MOST_BYTES.get(kind, 0)
        if size > most or self.p + size > self.end:
            raise DamagedValue
        raw = bytes(self.data[self.p : self.p + size])
        self.p += size
        if kind in (0x10, 0x11):
            return kind, struct.unpack("<q", raw.rjust(most, b"\0").ljust(8, b"\0"))[0]
        return kind, int.from_bytes(raw, "little", signed=kind in (0x00, 0x02, 0x04, 0x06))

    def _byte(self) -> int:
        if self.p >= self.end:
            raise DamagedValue
        self.p += 1
        return self.data[self.p - 1]
