"""Headers: from the bytes of a file to the dex files in it and where their tables are."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.dex.layout import CLASSES
from analyzer.dex.opcodes import FIELD, HANDLE, METHOD, PROTO, SITE, STRING, TYPE
from gpu.errors import UnreadableInput, UnsupportedFeature

ITEM_BYTES = {STRING: 4, TYPE: 4, PROTO: 12, FIELD: 8, METHOD: 8, SITE: 4, HANDLE: 8, CLASSES: 32}
"""Bytes of a row of each id table, and of a class definition."""

_HEADER_TABLES = (STRING, TYPE, PROTO, FIELD, METHOD, CLASSES)
_MAP_TABLES = {0x0007: SITE, 0x0008: HANDLE}
_PLAIN_HEADER, _CONTAINER_HEADER = 0x70, 0x78
_MAX_HEADERS = 100
_MAX_SITES = 1 << 16
_MAX_SHARE = 4
"""The id tables of all headers of one file may name so many times its bytes (headers of a container can share)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the input that was skipped or is damaged."""

    file: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Header:
    """One dex file. Offsets count from `base`, the first byte of its container, in the joined buffer."""

    name: str
    version: int
    base: int
    end: int
    tables: dict[int, tuple[int, int]]
    """Kind of table -> (rows, offset in the joined buffer)."""


def headers(data: bytes, name: str, at: int, problems: list[Problem]) -> Iterator[Header]:
    """Yield the dex files in the bytes `data` of file `name`, which lies at offset `at` of the joined buffer.

    Several only for a version 041 container. Raises UnreadableInput where there is no usable header.
    """
    if data[:4] == b"dey\n" and len(data) >= 0x28:
        start, size = struct.unpack_from("<2I", data, 8)
        problems.append(Problem(name, "offset 0x0", f"optimised dex (ODEX): only the dex file at 0x{start:x} is read"))
        if start < 0x28 or data[start : start + 4] != b"dex\n":
            raise UnreadableInput(f"{name}: offset 0x8: no dex file at 0x{start:x}")
        yield from headers(data[start : start + size], name, at + start, problems)
        return
    position, budget, count = 0, _MAX_SHARE * len(data) + 0x1000, 0
    strings: set[tuple[int, int]] = set()
    while True:
        header, step = _header(data, position, name if count == 0 else f"{name}!{count}", at, problems)
        shared = header.tables[STRING] in strings
        strings.add(header.tables[STRING])
        budget -= sum(rows * ITEM_BYTES[kind] for kind, (rows, _) in header.tables.items() if kind or not shared)
        if budget < 0:
            raise UnreadableInput(f"{name}: offset 0x{position:x}: id tables larger than the file")
        yield header
        count += 1
        position += step
        if step == 0 or position >= len(data):
            return
        if count == _MAX_HEADERS:
            raise UnreadableInput(f"{name}: offset 0x{position:x}: more than {_MAX_HEADERS} headers in a container")


def _header(data: bytes, p: int, name: str, at: int, problems: list[Problem]) -> tuple[Header, int]:
    """Read the header at offset p; returns it and the distance to the next one (0: none follows)."""
    magic = data[p : p + 8]
    if len(magic) < 8 or magic[:4] != b"dex\n" or magic[7] != 0 or not magic[4:7].isdigit():
        raise UnreadableInput(f"{name}: offset 0x{p:x}: not a dex file")
    if len(data) - p < _PLAIN_HEADER:
        raise UnreadableInput(f"{name}: offset 0x{p:x}: cut off in the header")

    def note(offset: int, what: str) -> None:
        problems.append(Problem(name, f"offset 0x{p + offset:x}", what))

    version = int(magic[4:7])
    file_size, header_size, endian = struct.unpack_from("<3I", data, p + 32)
    if endian == 0x78563412:
        raise UnsupportedFeature(f"{name}: offset 0x{p + 40:x}: big-endian dex file")
    if endian != 0x12345678:
        note(40, f"endian tag 0x{endian:08x}")
    if not 35 <= version <= 41:
        note(4, f"unknown version {version:03}")
    container = version >= 41 and header_size >= _CONTAINER_HEADER and len(data) - p >= _CONTAINER_HEADER
    if header_size != (_CONTAINER_HEADER if container else _PLAIN_HEADER):
        note(36, f"header of {header_size} bytes")
    base, end, step = p, len(data), 0
    if container:
        container_size, header_offset = struct.unpack_from("<2I", data, p + 112)
        base = 0
        if header_offset != p:
            note(116, f"header offset 0x{header_offset:x}")
        if container_size != len(data):
            note(112, f"container of 0x{container_size:x} bytes in a file of 0x{len(data):x}")
        if p + _CONTAINER_HEADER <= p + file_size < min(container_size, len(data)):
            step = file_size
        elif p + file_size != container_size:
            note(32, f"dex file of 0x{file_size:x} bytes: headers behind it, if any, are not read")
    elif file_size != len(data) - p:
        note(32, f"file size 0x{file_size:x}, but there are 0x{len(data) - p:x} bytes")
    tables = {}
    fields = struct.unpack_from("<13I", data, p + 52)
    for i, kind in enumerate(_HEADER_TABLES):
        rows, offset = fields[1 + 2 * i], fields[2 + 2 * i]
        if rows and base + offset + rows * ITEM_BYTES[kind] > end:
            raise UnreadableInput(f"{name}: offset 0x{p + 56 + 8 * i:x}: table lies outside the file")
        tables[kind] = (rows, at + base + offset)
    for kind in (SITE, HANDLE):
        tables[kind] = (0, at)
    for kind, rows, offset in _map_tables(data, base + fields[0] if fields[0] else 0):
        if base + offset + rows * ITEM_BYTES[kind] > end:
            note(52, "call sites or method handles lie outside the file")
        elif rows > _MAX_SITES:
            note(52, f"{rows} call sites or method handles: more than an instruction can name, left out")
        elif tables[kind][0] == 0:
            tables[kind] = (rows, at + base + offset)
    return Header(name, version, at + base, at + end, tables), step


def _map_tables(data: bytes, p: int) -> Iterator[tuple[int, int, int]]:
    """Yield (kind, rows, offset) of the tables that only the map at offset p names; nothing if it is damaged."""
    if p == 0 or p + 4 > len(data):
        return
    (n,) = struct.unpack_from("<I", data, p)
    for i in range(min(n, 64, (len(data) - p - 4) // 12)):
        item, _, rows, offset = struct.unpack_from("<2H2I", data, p + 4 + 12 * i)
        if item in _MAP_TABLES and rows:
            yield _MAP_TABLES[item], rows, offset
