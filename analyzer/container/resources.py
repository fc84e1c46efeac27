"""Resource tables: names, files and values of resource ids (ResTable, ResourceTypes.h).

Only what is asked for is decoded: a lookup touches one entry per configuration, a listing one type. Androguard's
parser makes an object of every entry; tests hold the two against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from analyzer.container.axml import TYPE_REFERENCE, TYPE_STRING
from analyzer.container.string_pool import StringPool
from gpu.errors import UnreadableInput

_TABLE, _STRING_POOL, _PACKAGE, _TYPE = 0x0002, 0x0001, 0x0200, 0x0201
_SPARSE, _OFFSET16 = 1, 2
_COMPLEX, _COMPACT = 1, 8
_CHUNK = struct.Struct("<HHI")
_REFERENCE_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Value:
    """A value in one configuration: Res_value type, its number, and its text where it is a string."""

    type: int
    data: int
    text: str | None


class Resources(Protocol):
    """What the container asks of a resource table."""

    def ids(self, type_name: str) -> dict[int, str]:
        """Resource ids of a type ('layout') in ascending order, with their entry names."""

    def values(self, resource_id: int) -> list[Value]:
        """Values over all configurations, references followed; [] where unknown."""

    def name(self, resource_id: int) -> str | None:
        """'type/entry', or None."""


class NoResources:
    """The table of an app that has none, or none that can be read."""

    def ids(self, type_name: str) -> dict[int, str]:
        return {}

    def values(self, resource_id: int) -> list[Value]:
        return []

    def name(self, resource_id: int) -> str | None:
        return None


@dataclass(slots=True)
class _TypeChunk:
    start: int
    end: int
    header_size: int
    flags: int
    count: int
    entries: int
    offsets: dict[int, int] | None = None


@dataclass(slots=True)
class _Package:
    id: int
    types: StringPool
    keys: StringPool
    chunks: dict[int, list[_TypeChunk]] = field(default_factory=dict)


class ResourceTable:
    """A resources.arsc; `notes` says what was damaged in it."""

    def __init__(self, data: bytes, where: str) -> None:
        """Walks the chunks only; raises UnreadableInput if this is no table or holds no package."""
        self._data = data
        self.notes: list[str] = []
        self._pool = StringPool(data, 0, 0)
        self._packages: dict[int, list[_Package]] = {}
        if len(data) < 12:
            raise UnreadableInput(f"{where}: {len(data)} bytes are no resource table")
        kind, header_size, _ = _CHUNK.unpack_from(data)
        if kind != _TABLE or not 12 <= header_size < len(data):
            raise UnreadableInput(f"{where}: no resource table (type {kind:#x}, header of {header_size} bytes)")
        seen_pool = False
        for kind, at, header, end in self._chunks(header_size, len(data)):
            if kind == _STRING_POOL and not seen_pool:
                self._pool, seen_pool = StringPool(data, at, end), True
            elif kind == _PACKAGE and header >= 284:
                self._add_package(at, header, end)
        if not self._packages:
            raise UnreadableInput(f"{where}: no package in the resource table")

    def ids(self, type_name: str) -> dict[int, str]:
        """Resource ids of a type in ascending order, with their entry names."""
        found: dict[int, str] = {}
        for package_id, packages in self._packages.items():
            for package in packages:
                for type_id, chunks in package.chunks.items():
                    if package.types[type_id - 1] != type_name:
                        continue
                    for chunk in chunks:
                        for index in self._offsets(chunk):
                            key = self._key(package, chunk, index)
                            if key is not None:
                                found.setdefault(package_id << 24 | type_id << 16 | index, key)
        return dict(sorted(found.items()))

    def values(self, resource_id: int) -> list[Value]:
        """Values over all configurations, references followed; [] where unknown or complex."""
        found: dict[Value, None] = {}
        seen: set[int] = set()
        pending = [resource_id]
        for _ in range(_REFERENCE_DEPTH):
            following: list[int] = []
            for wanted in pending:
                if wanted in seen:
                    continue
                seen.add(wanted)
                for value in self._own_values(wanted):
                    if value.type == TYPE_REFERENCE:
                        following.append(value.data)
                    else:
                        found[value] = None
            pending = following
        return list(found)

    def name(self, resource_id: int) -> str | None:
        """'type/entry', or None."""
        for package, chunk in self._of(resource_id):
            key = self._key(package, chunk, resource_id & 0xFFFF)
            if key is not None:
                return f"{package.types[(resource_id >> 16 & 0xFF) - 1] or ''}/{key}"
        return None

    def _chunks(self, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        while at + 8 <= end:
            kind, header, size = _CHUNK.unpack_from(self._data, at)
            if header < 8 or size < header or at + size > end:
                self.notes.append(f"damaged chunk of type {kind:#x} at {at:#x}")
                if header < 8 or size < header:
                    return
                size = end - at
            yield kind, at, header, at + size
            at += size

    def _add_package(self, at: int, header: int, end: int) -> None:
        data = self._data
        (package_id,) = struct.unpack_from("<I", data, at + 8)
        types_at, _, keys_at = struct.unpack_from("<III", data, at + 268)
        package = _Package(package_id & 0xFF, StringPool(data, 0, 0), StringPool(data, 0, 0))
        for kind, start, inner, stop in self._chunks(at + header, end):
            if kind == _STRING_POOL:
                pool = StringPool(data, start, stop)
                if start - at == types_at or (not len(package.types) and start - at != keys_at):
                    package.types = pool
                else:
                    package.keys = pool
            elif kind == _TYPE and inner >= 20:
                type_id, flags, _, count, entries = struct.unpack_from("<BBHII", data, start + 8)
                chunk = _TypeChunk(start, stop, inner, flags, count, entries)
                package.chunks.setdefault(type_id, []).append(chunk)
        self._packages.setdefault(package.id, []).append(package)

    def _of(self, resource_id: int) -> Iterator[tuple[_Package, _TypeChunk]]:
        for package in self._packages.get(resource_id >> 24, ()):
            for chunk in package.chunks.get(resource_id >> 16 & 0xFF, ()):
                yield package, chunk

    def _offsets(self, chunk: _TypeChunk) -> dict[int, int]:
        """Absolute offset of each entry that this configuration has."""
        if chunk.offsets is not None:
            return chunk.offsets
        table, base = chunk.start + chunk.header_size, chunk.start + chunk.entries
        width = 2 if chunk.flags & _OFFSET16 and not chunk.flags & _SPARSE else 4
        count = max(0, min(chunk.count, (chunk.end - table) // width))
        offsets: dict[int, int] = {}
        if chunk.flags & _SPARSE:
            pairs = struct.unpack_from(f"<{2 * count}H", self._data, table)
            offsets = {index: base + 4 * offset for index, offset in zip(pairs[::2], pairs[1::2], strict=True)}
        elif width == 2:
            halves = struct.unpack_from(f"<{count}H", self._data, table)
            offsets = {index: base + 4 * offset for index, offset in enumerate(halves) if offset != 0xFFFF}
        else:
            words = struct.unpack_from(f"<{count}I", self._data, table)
            offsets = {index: base + offset for index, offset in enumerate(words) if offset != 0xFFFFFFFF}
        chunk.offsets = {index: at for index, at in offsets.items() if at + 8 <= chunk.end and index <= 0xFFFF}
        return chunk.offsets

    def _key(self, package: _Package, chunk: _TypeChunk, index: int) -> str | None:
        at = self._offsets(chunk).get(index)
        if at is None:
            return None
        size, flags, key = struct.unpack_from("<HHI", self._data, at)
        return package.keys[size if flags & _COMPACT else key]

    def _own_values(self, resource_id: int) -> Iterator[Value]:
        for _, chunk in self._of(resource_id):
            at = self._offsets(chunk).get(resource_id & 0xFFFF)
            if at is None:
                continue
            size, flags, word = struct.unpack_from("<HHI", self._data, at)
            if flags & _COMPACT:
                kind, data = flags >> 8, word
            elif flags & _COMPLEX or at + size + 8 > chunk.end:
                continue
            else:
                kind, data = struct.unpack_from("<BI", self._data, at + size + 3)
            yield Value(kind, data, self._pool[data] if kind == TYPE_STRING else None)
