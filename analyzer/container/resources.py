"""Resource tables: names, files and values of resource ids (ResTable, ResourceTypes.h).

Only what is asked for is decoded: a lookup touches one entry per configuration, a listing one type. Androguard's
parser makes an object of every entry; tests hold the two against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from analyzer.container.axml import REFERENCES, TYPE_STRING
from analyzer.container.model import Problem
from analyzer.container.string_pool import StringPool
from gpu.errors import UnreadableInput

_TABLE, _STRING_POOL, _PACKAGE, _TYPE = 0x0002, 0x0001, 0x0200, 0x0201
_SPARSE, _OFFSET16 = 1, 2
_COMPLEX, _COMPACT = 1, 8
_CHUNK = struct.Struct("<HHI")
_ENTRY = struct.Struct("<HHI")
_REFERENCE_DEPTH = 20
_MAX_WORK = 1_000_000
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Value:
    """A value in one configuration: Res_value type, its number, and its text where it is a string."""

    type: int
    data: int
    text: str | None


@dataclass(slots=True)
class Resource:
    """A resource: its entry name and its values over all configurations, references not followed."""

    name: str
    values: dict[Value, None] = field(default_factory=dict)


class Resources(Protocol):
    """What the container asks of a resource table."""

    def listing(self, type_name: str) -> dict[int, Resource]:
        """The resources of a type ('layout') by resource id, ascending."""

    def values(self, resource_id: int) -> list[Value]:
        """Values over all configurations, references followed; [] where unknown or complex."""

    def name(self, resource_id: int) -> str | None:
        """'type/entry', or None."""


class NoResources:
    """The table of an app that has none, or none that can be read."""

    def listing(self, type_name: str) -> dict[int, Resource]:
        """Nothing."""
        return {}

    def values(self, resource_id: int) -> list[Value]:
        """Nothing."""
        return []

    def name(self, resource_id: int) -> str | None:
        """Nothing."""
        return None


@dataclass(frozen=True, slots=True)
class _TypeChunk:
    start: int
    end: int
    header_size: int
    flags: int
    count: int
    entries: int


@dataclass(slots=True)
class _Package:
    id: int
    types: StringPool
    keys: StringPool
    chunks: dict[int, list[_TypeChunk]] = field(default_factory=dict)


class ResourceTable:
    """A resources.arsc; `problems` says what was damaged in it."""

    def __init__(self, data: bytes, where: str) -> None:
        """Walks the chunks only; raises UnreadableInput if this is no table or holds no package."""
        self._data, self._where = data, where
        self.problems: list[Problem] = []
        self._left = _MAX_WORK
        self._sparse: dict[int, dict[int, int]] = {}
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

    def listing(self, type_name: str) -> dict[int, Resource]:
        """The resources of a type ('layout') by resource id, ascending."""
        found: dict[int, Resource] = {}
        for package in (package for packages in self._packages.values() for package in packages):
            for type_id, chunks in package.chunks.items():
                if package.types[type_id - 1] != type_name:
                    continue
                for chunk in chunks:
                    for index, at in self._entries(chunk):
                        if not self._may_go_on():
                            break
                        key = self._key(package, at)
                        if key is None:
                            continue
                        resource = found.setdefault(package.id << 24 | type_id << 16 | index, Resource(key))
                        value = self._value(chunk, at)
                        if value is not None:
                            resource.values[value] = None
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
                for _, chunk, at in self._found(wanted):
                    value = self._value(chunk, at)
                    if value is not None and value.type in REFERENCES:
                        following.append(value.data)
                    elif value is not None:
                        found[value] = None
            pending = following
        return list(found)

    def name(self, resource_id: int) -> str | None:
        """'type/entry', or None."""
        for package, _, at in self._found(resource_id):
            key = self._key(package, at)
            if key is not None:
                return f"{package.types[(resource_id >> 16 & 0xFF) - 1] or ''}/{key}"
        return None

    def _may_go_on(self) -> bool:
        """Takes one step of the work that a table may cost; far more than any real app needs."""
        self._left -= 1
        if self._left == -1:
            self._problem(f"more than {_MAX_WORK:,} entries to look at; the rest is left out")
        return self._left >= 0

    def _problem(self, what: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(self._where, what))

    def _chunks(self, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        while at + 8 <= end:
            kind, header, size = _CHUNK.unpack_from(self._data, at)
            if header < 8 or size < header or at + size > end:
                self._problem(f"damaged chunk of type {kind:#x} at {at:#x}")
                if header < 8 or size < header or at + header > end:
                    return
                size = end - at
            yield kind, at, header, at + size
            at += size

    def _add_package(self, at: int, header: int, end: int) -> None:
        data = self._data
        if at + 284 > end:
            self._problem(f"package at {at:#x} is cut off")
            return
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
            elif kind == _TYPE and inner >= 20 and start + inner <= stop:
                type_id, flags, _, count, entries = struct.unpack_from("<BBHII", data, start + 8)
                chunk = _TypeChunk(start, stop, inner, flags, count, entries)
                package.chunks.setdefault(type_id, []).append(chunk)
        self._packages.setdefault(package.id, []).append(package)

    def _found(self, resource_id: int) -> Iterator[tuple[_Package, _TypeChunk, int]]:
        """Where the entry of a resource id stands, over all configurations."""
        for package in self._packages.get(resource_id >> 24, ()):
            for chunk in package.chunks.get(resource_id >> 16 & 0xFF, ()):
                if not self._may_go_on():
                    return
                at = self._entry(chunk, resource_id & 0xFFFF)
                if at is not None:
                    yield package, chunk, at

    def _entry(self, chunk: _TypeChunk, index: int) -> int | None:
        """Offset of an entry, or None where this configuration does not have it."""
        if chunk.flags & _SPARSE:
            if chunk.start not in self._sparse:
                self._sparse[chunk.start] = dict(self._entries(chunk))
            return self._sparse[chunk.start].get(index)
        table, base = chunk.start + chunk.header_size, chunk.start + chunk.entries
        short = chunk.flags & _OFFSET16
        slot = table + (2 if short else 4) * index
        if index >= chunk.count or slot + (2 if short else 4) > chunk.end:
            return None
        (offset,) = struct.unpack_from("<H" if short else "<I", self._data, slot)
        if offset == (0xFFFF if short else 0xFFFFFFFF):
            return None
        at: int = base + (4 * offset if short else offset)
        return at if at + _ENTRY.size <= chunk.end else None

    def _entries(self, chunk: _TypeChunk) -> Iterator[tuple[int, int]]:
        """Index and offset of every entry that this configuration has."""
        table = chunk.start + chunk.header_size
        if not chunk.flags & _SPARSE:
            width = 2 if chunk.flags & _OFFSET16 else 4
            for index in range(min(chunk.count, (chunk.end - table) // width, 0x10000)):
                at = self._entry(chunk, index)
                if at is not None:
                    yield index, at
            return
        count = min(chunk.count, (chunk.end - table) // 4)
        pairs = struct.unpack_from(f"<{2 * count}H", self._data, table)
        for index, offset in zip(pairs[::2], pairs[1::2], strict=True):
            at = chunk.start + chunk.entries + 4 * offset
            if at + _ENTRY.size <= chunk.end:
                yield index, at

    def _key(self, package: _Package, at: int) -> str | None:
        size, flags, key = _ENTRY.unpack_from(self._data, at)
        return package.keys[size if flags & _COMPACT else key]

    def _value(self, chunk: _TypeChunk, at: int) -> Value | None:
        """The entry's value; None where it is complex (styles, arrays) or cut off."""
        size, flags, word = _ENTRY.unpack_from(self._data, at)
        if flags & _COMPACT:
            kind, data = flags >> 8, word
        elif flags & _COMPLEX or at + size + 8 > chunk.end:
            return None
        else:
            kind, data = struct.unpack_from("<BI", self._data, at + size + 3)
        return Value(kind, data, self._pool[data] if kind == TYPE_STRING else None)
