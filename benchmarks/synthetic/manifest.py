"""A binary manifest (ResXMLTree, ResourceTypes.h) with activities only."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_ANDROID = "http://schemas.android.com/apk/res/android"
_NAME, _EXPORTED = 0x01010003, 0x01010010
_NONE = 0xFFFFFFFF


def manifest(package: str, activities: Iterable[str]) -> bytes:
    """The manifest of an app whose activities, by full class names, are all exported."""
    texts: list[str] = ["name", "exported"]  # attributes with resource ids come first

    def text(value: str) -> int:
        if value not in texts:
            texts.append(value)
        return texts.index(value)

    def start(tag: str, *attributes: tuple[int, int, int, int, int]) -> bytes:
        head = struct.pack("<2I6H", _NONE, text(tag), 20, 20, len(attributes), 0, 0, 0)
        return _chunk(0x0102, struct.pack("<2I", 1, _NONE), head + b"".join(map(_attribute, attributes)))

    def end(tag: str) -> bytes:
        return _chunk(0x0103, struct.pack("<2I", 1, _NONE), struct.pack("<2I", _NONE, text(tag)))

    android = text(_ANDROID)
    body = start("manifest", (_NONE, text("package"), text(package), 3, text(package))) + start("application")
    for name in activities:
        body += start("activity", (android, 0, text(name), 3, text(name)), (android, 1, _NONE, 0x12, _NONE))
        body += end("activity")
    body += end("application") + end("manifest")
    ids = _chunk(0x0180, b"", struct.pack("<2I", _NAME, _EXPORTED))
    return _chunk(0x0003, b"", _strings(texts) + ids + body)


def _attribute(fields: tuple[int, int, int, int, int]) -> bytes:
    namespace, name, raw, kind, data = fields
    return struct.pack("<3IHBBI", namespace, name, raw, 8, 0, kind, data)


def _chunk(kind: int, header: bytes, body: bytes) -> bytes:
    return struct.pack("<2HI", kind, 8 + len(header), 8 + len(header) + len(body)) + header + body


def _strings(texts: list[str]) -> bytes:
    data, offsets = b"", b""
    for value in texts:
        offsets += struct.pack("<I", len(data))
        data += struct.pack("<H", len(value)) + value.encode("utf-16-le") + b"\0\0"
    data += bytes(-len(data) % 4)
    return _chunk(1, struct.pack("<5I", len(texts), 0, 0, 28 + len(offsets), 0), offsets + data)
