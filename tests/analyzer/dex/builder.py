"""A small dex writer for tests and benchmarks: it writes what it is told, wrong or not."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any


def uleb(value: int) -> bytes:
    """Encode ULEB128."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def sleb(value: int) -> bytes:
    """Encode SLEB128."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        last = value in (0, -1) and (value == 0) == (byte < 0x40)
        out.append(byte | (0 if last else 0x80))
        if last:
            return bytes(out)


@cache
def shorty(descriptor: str) -> str:
    """First letters of return and parameter types of a method descriptor."""
    params, ret = split(descriptor)
    return "".join("L" if kind[0] in "[L" else kind for kind in [ret, *params])


@cache
def split(descriptor: str) -> tuple[list[str], str]:
    """Parameter types and return type of a method descriptor."""
    params, at = [], 1
    while descriptor[at] != ")":
        start = at
        while descriptor[at] == "[":
            at += 1
        at = descriptor.index(";", at) + 1 if descriptor[at] == "L" else at + 1
        params.append(descriptor[start:at])
    return params, descriptor[at + 1 :]


@dataclass
class Code:
    """A code item. `tries`: (start, count, handlers, catch-all or None); handlers: (type or index, pc)."""

    units: Sequence[int]
    registers: int = 4
    ins: int = 0
    outs: int = 0
    tries: Sequence[tuple[int, int, Sequence[tuple[str | int, int]], int | None]] = ()
    debug: bytes = b""
    size: int | None = None
    """Length in units where it should lie."""
    refs: Sequence[tuple[str, int]] = ()
    """Units that are ids, as (table, index of the unit); only `Writer.sort` asks."""


@dataclass
class Method:
    """An encoded method."""

    name: str
    descriptor: str = "()V"
    access: int = 0x9
    code: Code | None = None


@dataclass
class Class:
    """A class definition. `static_values`: bytes of an encoded_array; `annotations`: types by method name."""

    name: str
    superclass: str | None = "Ljava/lang/Object;"
    access: int = 1
    interfaces: Sequence[str] = ()
    source: str | None = None
    static_fields: Sequence[tuple[str, str, int]] = ()
    instance_fields: Sequence[tuple[str, str, int]] = ()
    direct: Sequence[Method] = ()
    virtual: Sequence[Method] = ()
    static_values: bytes | None = None
    annotations: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass
class Writer:
    """Tables of one dex file in order of first use, so ids can be predicted; `build` gives the bytes."""

    version: int = 35
    strings: list[bytes] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    protos: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    fields: list[tuple[int, int, int]] = field(default_factory=list)
    methods: list[tuple[int, int, int]] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    call_sites: list[bytes] = field(default_factory=list)
    """Bytes of an encoded_array each."""
    handles: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows: dict[str, dict[Any, int]] = {}

    def string(self, text: str | bytes) -> int:
        return self._add("strings", text.encode() if isinstance(text, str) else text)

    def type(self, descriptor: str) -> int:
        return self._add("types", self.string(descriptor))

    def proto(self, descriptor: str) -> int:
        params, ret = split(descriptor)
        row = (self.string(shorty(descriptor)), self.type(ret), tuple(self.type(kind) for kind in params))
        return self._add("protos", row)

    def field(self, cls: str, name: str, kind: str) -> int:
        return self._add("fields", (self.type(cls), self.type(kind), self.string(name)))

    def method(self, cls: str, name: str, descriptor: str = "()V") -> int:
        return self._add("methods", (self.type(cls), self.proto(descriptor), self.string(name)))

    def _add(self, table: str, row: Any) -> int:
        """The id of a row, which joins the table if it is not there."""
        rows, ids = getattr(self, table), self._rows.setdefault(table, {})
        if len(ids) != len(rows):  # someone wrote to the table
            ids.clear()
            for number, old in enumerate(rows):
                ids.setdefault(old, number)
        number = ids.setdefault(row, len(rows))
        if number == len(rows):
            rows.append(row)
        return number

    def add(self, cls: Class) -> None:
        """Add a class and give ids to what it names."""
        self.classes.append(cls)
        for name in [cls.name, *([cls.superclass] if cls.superclass else []), *cls.interfaces]:
            self.type(name)
        if cls.source is not None:
            self.string(cls.source)
        for name, kind, _ in [*cls.static_fields, *cls.instance_fields]:
            self.field(cls.name, name, kind)
        for method in [*cls.direct, *cls.virtual]:
            self.method(cls.name, method.name, method.descriptor)
            for kind in cls.annotations.get(method.name, ()):
                self.type(kind)
            for _, _, handlers, _ in method.code.tries if method.code else ():
                for caught, _ in handlers:
                    if isinstance(caught, str):
                        self.type(caught)

    def sort(self) -> None:
        """Puts tables and members into the order that the format asks for, and mends the units of `Code.refs`.

        Call sites, handles, annotations and static values must not be there.
        """
        new: dict[str, list[int]] = {}

        def reorder(table: str, rows: list[Any], key: Callable[[Any], Any]) -> None:
            order = sorted(range(len(rows)), key=lambda i: key(rows[i]))
            new[table] = [0] * len(rows)
            for number, old in enumerate(order):
                new[table][old] = number
            setattr(self, table, [rows[old] for old in order])

        reorder("strings", self.strings, lambda text: text)
        strings = new["strings"]
        reorder("types", [strings[s] for s in self.types], lambda row: row)
        types = new["types"]
        protos = [(strings[s], types[ret], tuple(types[p] for p in params)) for s, ret, params in self.protos]
        reorder("protos", protos, lambda row: row[1:])
        fields = [(types[cls], types[kind], strings[name]) for cls, kind, name in self.fields]
        reorder("fields", fields, lambda row: (row[0], row[2], row[1]))
        methods = [(types[cls], new["protos"][proto], strings[name]) for cls, proto, name in self.methods]
        reorder("methods", methods, lambda row: (row[0], row[2], row[1]))
        self._rows.clear()
        for cls in self.classes:
            cls.static_fields = sorted(cls.static_fields, key=lambda f: self.field(cls.name, f[0], f[1]))
            cls.instance_fields = sorted(cls.instance_fields, key=lambda f: self.field(cls.name, f[0], f[1]))
            cls.direct = sorted(cls.direct, key=lambda m: self.method(cls.name, m.name, m.descriptor))
            cls.virtual = sorted(cls.virtual, key=lambda m: self.method(cls.name, m.name, m.descriptor))
            for method in (*cls.direct, *cls.virtual):
                if method.code is not None and method.code.refs:
                    units = list(method.code.units)
                    for table, at in method.code.refs:
                        units[at] = new[table][units[at]]
                    method.code.units = units

    def build(self, base: int = 0, header_size: int = 0x70) -> bytes:
        """Bytes of the dex file, which lies `base` bytes behind the start of its container."""
        at = base + header_size
        tables: list[tuple[int, int]] = []
        for rows, width in (
            *((self.strings, 4), (self.types, 4), (self.protos, 12), (self.fields, 8), (self.methods, 8)),
            *((self.classes, 32), (self.call_sites, 4), (self.handles, 8)),
        ):
            tables.append((len(rows), at if rows else 0))
            at += width * len(rows)
        self._data, self._start = bytearray(), at
        string_ids = b"".join(struct.pack("<I", self._put(uleb(len(text)) + text + b"\0")) for text in self.strings)
        type_ids = b"".join(struct.pack("<I", string) for string in self.types)
        proto_ids = b"".join(
            struct.pack("<3I", short, ret, self._type_list(params)) for short, ret, params in self.protos
        )
        field_ids = b"".join(struct.pack("<2HI", *row) for row in self.fields)
        method_ids = b"".join(struct.pack("<2HI", *row) for row in self.methods)
        class_defs = b"".join(map(self._class, self.classes))
        site_ids = b"".join(struct.pack("<I", self._put(site)) for site in self.call_sites)
        handles = b"".join(struct.pack("<4H", kind, 0, member, 0) for kind, member in self.handles)
        body = string_ids + type_ids + proto_ids + field_ids + method_ids + class_defs + site_ids + handles
        entries = [(7, *tables[6])] * bool(self.call_sites) + [(8, *tables[7])] * bool(self.handles)
        map_off = self._put(
            struct.pack("<I", len(entries)) + b"".join(struct.pack("<2H2I", kind, 0, n, at) for kind, n, at in entries),
            4,
        )
        size = self._start + len(self._data) - base
        head = struct.pack("<4I", size, header_size, 0x12345678, 0) + struct.pack("<2I", 0, map_off)
        head += b"".join(struct.pack("<2I", *table) for table in tables[:6])
        head += struct.pack("<2I", len(self._data), self._start)
        return seal(
            (b"dex\n%03d\0" % self.version + bytes(24) + head).ljust(header_size, b"\0") + body + bytes(self._data)
        )

    def _put(self, data: bytes, align: int = 1) -> int:
        """Append to the data section; returns the offset."""
        while (self._start + len(self._data)) % align:
            self._data.append(0)
        at = self._start + len(self._data)
        self._data += data
        return at

    def _type_list(self, types: Sequence[int]) -> int:
        if not types:
            return 0
        return self._put(struct.pack(f"<I{len(types)}H", len(types), *types), 4)

    def _class(self, cls: Class) -> bytes:
        members = b""
        parts = (cls.static_fields, cls.instance_fields, cls.direct, cls.virtual)
        if any(parts):
            members = b"".join(uleb(len(part)) for part in parts)
            for fields in (cls.static_fields, cls.instance_fields):
                last = 0
                for name, kind, access in fields:
                    index = self.field(cls.name, name, kind)
                    members += uleb(index - last) + uleb(access)
                    last = index
            for methods in (cls.direct, cls.virtual):
                last = 0
                for method in methods:
                    index = self.method(cls.name, method.name, method.descriptor)
                    code = self._code(method.code) if method.code else 0
                    members += uleb(index - last) + uleb(method.access) + uleb(code)
                    last = index
        return struct.pack(
            "<8I",
            self.type(cls.name),
            cls.access,
            self.type(cls.superclass) if cls.superclass else 0xFFFFFFFF,
            self._type_list([self.type(name) for name in cls.interfaces]),
            self.string(cls.source) if cls.source is not None else 0xFFFFFFFF,
            self._annotations(cls),
            self._put(members) if members else 0,
            self._put(cls.static_values) if cls.static_values is not None else 0,
        )

    def _annotations(self, cls: Class) -> int:
        """The annotations directory of a class; 0 for none."""
        rows = []
        for method in [*cls.direct, *cls.virtual]:
            kinds = cls.annotations.get(method.name, ())
            items = [self._put(b"\1" + uleb(self.type(kind)) + uleb(0)) for kind in kinds]
            if items:
                at = self._put(struct.pack(f"<{1 + len(items)}I", len(items), *items), 4)
                rows.append((self.method(cls.name, method.name, method.descriptor), at))
        if not rows:
            return 0
        return self._put(
            struct.pack("<4I", 0, 0, len(rows), 0) + b"".join(struct.pack("<2I", *r) for r in sorted(rows)), 4
        )

    def _code(self, code: Code) -> int:
        size = len(code.units) if code.size is None else code.size
        debug = self._put(code.debug) if code.debug else 0
        out = struct.pack("<4H2I", code.registers, code.ins, code.outs, len(code.tries), debug, size)
        out += struct.pack(f"<{len(code.units)}H", *(unit & 0xFFFF for unit in code.units))
        if code.tries:
            out += bytes(2 * (len(code.units) & 1))
            lists, offsets = uleb(len(code.tries)), []
            for _, _, handlers, catch_all in code.tries:
                offsets.append(len(lists))
                lists += sleb(len(handlers) if catch_all is None else -len(handlers))
                for kind, pc in handlers:
                    lists += uleb(self.type(kind) if isinstance(kind, str) else kind) + uleb(pc)
                if catch_all is not None:
                    lists += uleb(catch_all)
            for (start, count, _, _), offset in zip(code.tries, offsets, strict=True):
                out += struct.pack("<I2H", start, count, offset)
            out += lists
        return self._put(out, 4)


def seal(data: bytes) -> bytes:
    """Write signature and checksum."""
    out = bytearray(data)
    out[12:32] = hashlib.sha1(out[32:]).digest()
    out[8:12] = struct.pack("<I", zlib.adler32(bytes(out[12:])))
    return bytes(out)


def container(writers: Sequence[Writer]) -> bytes:
    """A version 041 container of several dex files."""
    parts: list[bytes] = []
    for writer in writers:
        writer.version = 41
        base = sum(map(len, parts))
        part = writer.build(base, 0x78)
        parts.append(part + bytes(-len(part) % 4))
    total, out, base = sum(map(len, parts)), b"", 0
    for part in parts:
        head = bytearray(part)
        head[32:36] = struct.pack("<I", len(part))
        head[112:120] = struct.pack("<2I", total, base)
        out += bytes(head)
        base += len(part)
    return out


def one_method(units: Sequence[int], **code: object) -> bytes:
    """A dex file of class La; with one static method m()V of this code."""
    writer = Writer()
    writer.add(Class("La;", direct=[Method("m", code=Code(units, **code))]))  # type: ignore[arg-type]
    return writer.build()
