"""Zip archives with lies in them, byte by byte."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Made:
    """An entry; what is None in it is honest."""

    name: str
    data: bytes
    method: int = 8
    """How the data is really stored: 0 or 8."""
    flags: int = 0
    said_method: int | None = None
    local_method: int | None = None
    said_size: int | None = None
    said_compressed: int | None = None
    local_sizes: tuple[int, int] | None = None
    crc: int | None = None
    local_name: bytes | None = None
    local_name_length: int | None = None
    gap: bytes = b""
    """Bytes between the local header's name and the data, which local_name_length may cover."""
    extra_length: int | None = None
    """Length of the extra field that the directory claims (it has none)."""


def make_zip(
    *entries: Made,
    comment: bytes = b"",
    gap: bytes = b"",
    prefix: bytes = b"",
    offset: int | None = None,
    end: bool = True,
) -> bytes:
    """An archive of `entries`; `gap` stands before the end record, `offset` is what that says of the directory."""
    body, directory = bytearray(prefix), bytearray()
    for made in entries:
        packed = made.data
        if made.method == 8:
            deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = deflater.compress(made.data) + deflater.flush()
        name = made.name.encode()
        method = made.method if made.said_method is None else made.said_method
        size = len(made.data) if made.said_size is None else made.said_size
        compressed = len(packed) if made.said_compressed is None else made.said_compressed
        crc = zlib.crc32(made.data) if made.crc is None else made.crc
        local_name = name if made.local_name is None else made.local_name
        local_length = len(local_name) if made.local_name_length is None else made.local_name_length
        local_compressed, local_size = made.local_sizes or (compressed, size)
        at = len(body)
        body += struct.pack(
            "<4sHHHHHIIIHH", b"PK\3\4", 20, made.flags, method if made.local_method is None else made.local_method,
            0, 0, crc, local_compressed, local_size, local_length, 0,
        )  # fmt: skip
        body += local_name + made.gap + packed
        directory += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, made.flags, method, 0, 0, crc, compressed, size, len(name),
            made.extra_length or 0, 0, 0, 0, 0, at,
        )  # fmt: skip
        directory += name
    start = len(body)
    body += directory + gap
    if end:
        body += struct.pack(
            "<4sHHHHIIH", b"PK\5\6", 0, 0, len(entries), len(entries), len(directory),
            start if offset is None else offset, len(comment),
        )  # fmt: skip
        body += comment
    return bytes(body)
