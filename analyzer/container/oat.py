"""Dex files inside of .odex, .oat and .vdex files."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from analyzer.container.archive import Buffer

_MAGIC = re.compile(rb"dex\n0\d\d\0")
_MIN_HEADER = 0x70


def embedded_dex(data: Buffer) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each dex in `data`: found by magic, trusted if its header and file size are plausible."""
    behind = 0
    for match in _MAGIC.finditer(data):
        at = match.start()
        if at < behind or at + _MIN_HEADER > len(data):
            continue
        size, header_size, endian = struct.unpack_from("<III", data, at + 0x20)
        if header_size < _MIN_HEADER or endian != 0x12345678 or not _MIN_HEADER <= size <= len(data) - at:
            continue
        behind = at + size
        yield at, bytes(data[at:behind])


def holds_compact_dex(data: Buffer) -> bool:
    """Whether there is compact dex, the form that Android 9 to 14 keep in .vdex files."""
    return data.find(b"cdex001\0") >= 0
