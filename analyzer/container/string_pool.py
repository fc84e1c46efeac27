"""String pools of binary XML and resource tables (ResStringPool, ResourceTypes.h)."""

from __future__ import annotations

import struct

_UTF8 = 1 << 8
_DECODED_PER_BYTE = 16
_DECODED_FREE = 1 << 16


class StringPool:
    """A pool whose strings are decoded when asked for; an index or string that is broken gives None."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        """`start` and `end` bound the pool's chunk in `data`. Never raises: a broken header gives an empty pool."""
        self._data = data
        self._cache: dict[int, str | None] = {}
        # Strings may overlap, so that a small pool could hold very much text; an honest one holds at most its size.
        self._left = _DECODED_PER_BYTE * max(0, end - start) + _DECODED_FREE
        self._count, self._offsets, self._strings, self._end, self._utf8 = 0, 0, 0, end, False
        if end - start < 28:
            return
        header_size, _, count, _, flags, strings = struct.unpack_from("<HIIIII", data, start + 2)
        self._offsets = start + max(header_size, 28)
        self._strings = start + strings
        self._utf8 = bool(flags & _UTF8)
        # Packers overstate the count; offsets cannot reach behind the chunk.
        self._count = max(0, min(count, (end - self._offsets) // 4))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> str | None:
        """String number `index`; None if there is none, as for the reference 0xffffffff."""
        if index >= self._count or index < 0:
            return None
        if index not in self._cache:
            (offset,) = struct.unpack_from("<I", self._data, self._offsets + 4 * index)
            self._cache[index] = self._decode(self._strings + offset)
        return self._cache[index]

    def _decode(self, at: int) -> str | None:
        data, end = self._data, self._end
        if at + 2 > end:
            return None
        if self._utf8:
            at += 2 if data[at] & 0x80 else 1
            if at + 2 > end:
                return None
            length = data[at]
            if length & 0x80:
                length = (length & 0x7F) << 8 | data[at + 1]
                at += 1
            at += 1
            return self._text(at, min(at + length, end), "utf-8")
        (length,) = struct.unpack_from("<H", data, at)
        at += 2
        if length & 0x8000:
            if at + 2 > end:
                return None
            length = (length & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0]
            at += 2
        return self._text(at, min(at + 2 * length, at + (end - at) // 2 * 2), "utf-16-le")

    def _text(self, at: int, end: int, encoding: str) -> str | None:
        self._left -= end - at
        return self._data[at:end].decode(encoding, "replace") if self._left >= 0 else None
