"""Annotations of methods, read only when somebody asks: which methods carry one of a few annotation types.

"Dalvik executable format", annotations_directory_item and below (source.android.com). What is damaged is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator

from analyzer.dex.tables import Dex

_STRINGS, _TYPES, _PROTOS, _METHODS, _CLASSES = 0x3C, 0x44, 0x4C, 0x5C, 0x60
"""Positions in the header: offsets of id tables; number of class definitions, then their offset."""
_MOST_SHARED = 1 << 20
"""Methods and annotations looked at per dex file: tables can be shared, so a small file could demand many."""


def annotated_methods(dex: Dex, types: Collection[str]) -> list[tuple[int, str, str]]:
    """(row of the class, name, descriptor) of the methods with an annotation of these types, in file order."""
    wanted = {name.encode() for name in types}
    found: list[tuple[int, str, str]] = []
    first = header = 0
    for d in range(len(dex.names)):
        base = int(dex.dex_base[d])
        shares = d > 0 and base == int(dex.dex_base[d - 1])  # a further dex file of one container
        header = header + _Reader(dex, base).word(header + 0x20) if shares else base
        reader = _Reader(dex, base, header)
        count = reader.word(header + _CLASSES)
        for k in range(min(count, len(dex.class_type) - first)):
            try:
                found += [(first + k, *method) for method in reader.annotated(k, wanted)]
            except (IndexError, struct.error):
                continue
        first += count
    return found


class _Reader:
    """Looks things up in one dex file; raises IndexError or struct.error outside of the data."""

    def __init__(self, dex: Dex, base: int, header: int = 0) -> None:
        self.data, self.base, self.header = dex.data.data, base, header
        self.left = _MOST_SHARED

    def word(self, at: int) -> int:
        number: int = struct.unpack_from("<I", self.data, at)[0]
        return number

    def row(self, table: int, index: int, width: int) -> int:
        """Position of a row of an id table."""
        return self.base + self.word(self.header + table) + width * index

    def uleb(self, at: int) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self.data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        return value

    def string(self, index: int) -> bytes:
        at = self.base + self.word(self.row(_STRINGS, index, 4))
        while self.data[at] >= 0x80:
            at += 1
        end = start = at + 1
        while self.data[end]:
            end += 1
        return bytes(self.data[start:end])

    def type(self, index: int) -> bytes:
        return self.string(self.word(self.row(_TYPES, index, 4)))

    def annotated(self, k: int, wanted: Collection[bytes]) -> Iterator[tuple[str, str]]:
        """(name, descriptor) of the annotated methods of the k-th class definition."""
        directory = self.word(self.row(_CLASSES + 4, k, 32) + 20)
        if directory == 0:
            return
        at = self.base + directory
        fields, methods = self.word(at + 4), self.word(at + 8)
        at += 16 + 8 * fields
        for row in range(at, at + 8 * methods, 8):
            self.pay()
            if any(self.type(t) in wanted for t in self.types_of(self.base + self.word(row + 4))):
                yield self.method(self.word(row))

    def pay(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise IndexError

    def types_of(self, annotations: int) -> Iterator[int]:
        """Types of a set of annotations."""
        for k in range(self.word(annotations)):
            self.pay()
            yield self.uleb(self.base + self.word(annotations + 4 + 4 * k) + 1)

    def method(self, index: int) -> tuple[str, str]:
        _, proto, name = struct.unpack_from("<2HI", self.data, self.row(_METHODS, index, 8))
        _, ret, params = struct.unpack_from("<3I", self.data, self.row(_PROTOS, proto, 12))
        types: tuple[int, ...] = ()
        if params:
            at = self.base + params
            types = struct.unpack_from(f"<{min(self.word(at), 255)}H", self.data, at + 4)
        descriptor = b"(" + b"".join(map(self.type, types)) + b")" + self.type(ret)
        return self.string(name).decode("utf-8", "replace"), descriptor.decode("utf-8", "replace")
