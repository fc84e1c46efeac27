"""Resource tables, byte by byte."""

from __future__ import annotations

import struct

from analyzer.container.axml import TYPE_STRING


def entry_table(entries: bytes, offsets: bytes, flags: int, count: int) -> bytes:
    """A table with one package 0x7f, one type 'layout' and the given entries; strings 'layout', 'main', 'res/x.xml'."""

    def pool(*texts: str) -> bytes:
        data = b"".join(bytes([len(t), len(t)]) + t.encode() + b"\0" for t in texts)
        at = [sum(len(t) + 3 for t in texts[:i]) for i in range(len(texts))]
        head = struct.pack("<IIIII", len(texts), 0, 1 << 8, 28 + 4 * len(texts), 0)
        size = 28 + 4 * len(texts) + len(data)
        return struct.pack("<HHI", 1, 28, size) + head + struct.pack(f"<{len(texts)}I", *at) + data

    config = struct.pack("<I", 64) + bytes(60)
    header_size = 20 + len(config)
    kind = struct.pack("<BBHII", 1, flags, 0, count, header_size + len(offsets)) + config + offsets + entries
    kind = struct.pack("<HHI", 0x201, header_size, 8 + len(kind)) + kind
    types, keys = pool("layout"), pool("main", "other")
    inside = types + keys + kind
    package = struct.pack("<I", 0x7F) + bytes(256) + struct.pack("<IIIII", 288, 0, 288 + len(types), 0, 0)
    package = struct.pack("<HHI", 0x200, 288, 288 + len(inside)) + package + inside
    body = pool("res/x.xml") + package
    return struct.pack("<HHII", 2, 12, 12 + len(body), 1) + body


FULL = struct.pack("<HHI", 8, 0, 1) + struct.pack("<HBBI", 8, 0, TYPE_STRING, 0)
COMPACT = struct.pack("<HHI", 1, 8 | TYPE_STRING << 8, 0)
