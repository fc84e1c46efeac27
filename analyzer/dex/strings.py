"""The string table: texts decoded from modified UTF-8 when asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def decode(raw: bytes) -> str:
    """Decode modified UTF-8. Surrogate pairs become one character, lone surrogates stay, bad bytes read as `\\xNN`."""
    if raw.isascii():
        return raw.decode("ascii")
    raw = raw.replace(b"\xc0\x80", b"\0")
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace")
    if b"\xed" in raw:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def encode(text: str) -> bytes:
    """Encode as modified UTF-8, as `decode` reads it."""
    if text.isascii():
        return text.encode("ascii").replace(b"\0", b"\xc0\x80")
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2").tolist()
    return "".join(map(chr, units)).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")


class StringTable:
    """Texts by id, unique. `table[i]` decodes on first use; `find` gives the id of a text."""

    def __init__(self, data: NDArray[np.uint8], start: NDArray[np.int64], size: NDArray[np.int32]) -> None:
        """`start` (n,) and `size` (n,): bytes of each text in `data`."""
        self._data = data.data
        self._start = start
        self._size = size
        self._texts: list[str | None] = [None] * len(start)
        self._ids: dict[bytes, int] | None = None

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> str:
        """Text of id i; IndexError outside 0 .. len - 1."""
        if i < 0:
            raise IndexError(i)
        text = self._texts[i]
        if text is None:
            text = self._texts[i] = decode(self.raw(i))
        return text

    def raw(self, i: int) -> bytes:
        """Text of id i as it stands in the file, modified UTF-8."""
        start = int(self._start[i])
        return bytes(self._data[start : start + int(self._size[i])])

    def find(self, text: str) -> int:
        """Return the id of a text, -1 if no dex file holds it."""
        if self._ids is None:
            pairs = zip(self._start.tolist(), self._size.tolist(), strict=True)
            data = bytes(self._data)
            self._ids = {data[start : start + size]: i for i, (start, size) in enumerate(pairs)}
        return self._ids.get(encode(text), -1)
