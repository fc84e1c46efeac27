"""Zip archives, read the way Android reads them rather than the way the format is written down.

Android trusts the central directory for method and sizes, and the local header for where the data starts
(libziparchive, zip_archive.cc). It ignores checksums, encryption bits and extra fields. Where Android itself would
give up (a damaged directory, a truncated file), local headers are searched, and a problem says so.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from mmap import mmap

from analyzer.container.model import Problem
from gpu.errors import LimitReached, UnreadableInput

Buffer = bytes | mmap

_END = struct.Struct("<4sHHHHIIH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_END_MAGIC, _CENTRAL_MAGIC, _LOCAL_MAGIC = b"PK\5\6", b"PK\1\2", b"PK\3\4"
_MAX_COMMENT = 0xFFFF
_END_CANDIDATES = 16
_STORED, _DEFLATED = 0, 8
_KNOWN_STARTS = (b"dex\n", b"\x03\x00\x08\x00", b"\x02\x00\x0c\x00", _LOCAL_MAGIC)
_FEED = 1 << 16
_MAX_RECOVERED, _MAX_RECOVERED_NAME = 100_000, 1_024
_MAX_PROBLEMS = 1_000


@dataclass(slots=True)
class Budget:
    """Bytes that may still be inflated from one input, `label` says by what bound; shared by everything inside it.

    A budget `within` another spends from both.
    """

    left: int
    label: str
    within: Budget | None = None

    @classmethod
    def of_mb(cls, megabytes: int) -> Budget:
        """The budget of a whole input: `megabytes` million bytes."""
        return cls(megabytes * 1_000_000, f"input_mb = {megabytes}")

    @property
    def most(self) -> int:
        """What one more entry may have, in bytes."""
        return self.left if self.within is None else min(self.left, self.within.most)

    def spend(self, amount: int, where: str) -> None:
        """Takes `amount` bytes; raises LimitReached naming `where` if they are not there."""
        if amount > self.left:
            raise LimitReached(f"{where}: inflates to more than {self.label} allows")
        if self.within is not None:
            self.within.spend(amount, where)
        self.left -= amount


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as the central directory has it (as its local header has it, when recovered)."""

    name: str
    method: int
    compressed: int
    size: int
    offset: int
    name_length: int


@dataclass(slots=True)
class Archive:
    """The entries of a zip by name, in directory order; of several with one name, the first, as Android takes it."""

    data: Buffer
    name: str
    budget: Budget
    entries: dict[str, Entry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def open(cls, data: Buffer, name: str, budget: Budget) -> Archive:
        """Reads the directory of `data`; raises UnreadableInput if there is no entry to be found at all."""
        archive = cls(data, name, budget)
        found = archive._directory()
        if not found:
            found = list(_local_headers(data))
            if not found:
                raise UnreadableInput(f"{name}: no zip directory and no zip entry in {len(data):,} bytes")
            archive._problem("", "no usable zip directory; entries recovered from their local headers", lost=True)
        duplicates: dict[str, None] = {}
        for entry in found:
            if archive.entries.setdefault(entry.name, entry) is not entry:
                duplicates[entry.name] = None
        for duplicate in duplicates:
            archive._problem(duplicate, "several entries have this name; the first is used", lost=False)
        return archive

    def read(self, name: str, budget: Budget | None = None) -> bytes:
        """The inflated bytes of an entry, spent from `budget` where it is given.

        Raises UnreadableInput (damaged) or LimitReached (too much).
        """
        budget = budget or self.budget
        entry = self.entries[name]
        where = f"{self.name}!/{name}"
        header = self.data[entry.offset : entry.offset + _LOCAL.size]
        if len(header) < _LOCAL.size or header[:4] != _LOCAL_MAGIC:
            raise UnreadableInput(f"{where}: no local header at {entry.offset:#x}")
        name_length, extra_length = struct.unpack_from("<HH", header, 26)
        if name_length != entry.name_length:
            self._problem(name, "name lengths differ between directory and local header; the latter's is used", False)
        start = entry.offset + _LOCAL.size + name_length + extra_length
        if start > len(self.data):
            raise UnreadableInput(f"{where}: its data would start at {start:#x}, behind the end of the file")
        if entry.method == _STORED:
            return self._stored(entry, start, where, budget)
        known = bytes(self.data[start : start + 4]) in _KNOWN_STARTS
        if entry.method != _DEFLATED:
            self._problem(name, f"compression method {entry.method} does not exist", lost=False)
            # Android maps what is not deflated as it is; packers count on other readers to give up.
            if known or entry.compressed == entry.size:
                return self._stored(entry, start, where, budget)
        try:
            return self._inflated(entry, start, where, budget)
        except UnreadableInput:
            if known or entry.method != _DEFLATED:
                return self._stored(entry, start, where, budget)
            raise

    def _stored(self, entry: Entry, start: int, where: str, budget: Budget) -> bytes:
        size = entry.size or entry.compressed
        if start + size > len(self.data):
            self._problem(entry.name, f"{start + size - len(self.data):,} of its {size:,} bytes are missing", lost=True)
            size = len(self.data) - start
        budget.spend(size, where)
        return bytes(self.data[start : start + size])

    def _inflated(self, entry: Entry, start: int, where: str, budget: Budget) -> bytes:
        # A deflate stream knows its own end, so the declared size is only where to begin.
        inflater = zlib.decompressobj(-15)
        pieces: list[bytes] = []
        view = memoryview(self.data)
        position, step = start, max(entry.compressed, 1)
        try:
            while not inflater.eof:
                feed: bytes | memoryview = inflater.unconsumed_tail
                if not feed:
                    feed = view[position : position + step]
                    position, step = position + len(feed), _FEED
                    if not feed:
                        raise UnreadableInput(f"{where}: compressed data ends early")
                piece = inflater.decompress(feed, budget.most + 1)
                budget.spend(len(piece), where)
                pieces.append(piece)
            # What a wrong declared size made zlib copy in vain counts too, or many such entries cost without end.
            budget.spend(len(inflater.unused_data), where)
        except zlib.error as error:
            raise UnreadableInput(f"{where}: compressed data at {start:#x} is damaged ({error})") from error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _problem(self, entry: str, what: str, lost: bool) -> None:
        problem = Problem(f"{self.name}!/{entry}" if entry else self.name, what, lost)
        if len(self.problems) < _MAX_PROBLEMS and problem not in self.problems:
            self.problems.append(problem)

    def _directory(self) -> list[Entry]:
        """Entries of the central directory; [] if there is none whose first record is where it should be."""
        data = self.data
        tail_start = max(0, len(data) - _MAX_COMMENT - _END.size)
        at = len(data)
        for _ in range(_END_CANDIDATES):
            at = data.rfind(_END_MAGIC, 0, at)
            if at < 0:
                return []
            record = data[at : at + _END.size]
            if len(record) < _END.size:
                continue
            _, _, _, _, count, size, offset, comment = _END.unpack(record)
            start = next((s for s in (offset, at - size) if s >= 0 and data[s : s + 4] == _CENTRAL_MAGIC), None)
            if start is None or (start != offset and not self._fits(start)):
                continue
            if at < tail_start or at + _END.size + comment != len(data):
                self._problem("", "end record does not stand at the end of the file", lost=False)
            if start != offset or start + size > at:
                self._problem("", "zip directory does not lie where the end record says", lost=False)
            return self._records(start, count, at)
        return []

    def _fits(self, start: int) -> bool:
        """Whether a directory found by its size is this archive's, not that of an archive stored inside."""
        record = self.data[start : start + _CENTRAL.size]
        if len(record) < _CENTRAL.size:
            return False
        named, at = _CENTRAL.unpack(record)[10], _CENTRAL.unpack(record)[16]
        name = self.data[start + _CENTRAL.size : start + _CENTRAL.size + named]
        local = self.data[at : at + _LOCAL.size + named]
        return local[:4] == _LOCAL_MAGIC and local[_LOCAL.size :] == name

    def _records(self, start: int, count: int, end: int) -> list[Entry]:
        data = self.data
        entries: list[Entry] = []
        at = behind = start
        while len(entries) < count or not entries:
            record = data[at : at + _CENTRAL.size]
            if len(record) < _CENTRAL.size or record[:4] != _CENTRAL_MAGIC:
                # A wrong length of an extra field or comment; the next record cannot be far.
                following = data.find(_CENTRAL_MAGIC, behind, end)
                if following < 0:
                    break
                self._problem("", f"zip directory goes wrong at {at:#x}; continued at {following:#x}", lost=False)
                at = following
                continue
            _, _, _, _, method, _, _, _, compressed, size, named, extra, comment, _, _, _, offset = _CENTRAL.unpack(
                record
            )
            behind = at + _CENTRAL.size + named
            name = data[at + _CENTRAL.size : behind].decode("utf-8", "backslashreplace")
            entries.append(Entry(name, method, compressed, size, offset, named))
            at = behind + extra + comment
        if len(entries) < count:
            self._problem("", f"zip directory stops after {len(entries)} of {count} entries, at {at:#x}", lost=True)
            known = {entry.offset for entry in entries}
            entries += [entry for entry in _local_headers(data) if entry.offset not in known]
        return entries


def _local_headers(data: Buffer) -> Iterator[Entry]:
    """Entries by their local headers, skipping over data of known size (it may hold archives of its own)."""
    at = -4
    for _ in range(_MAX_RECOVERED):
        at = data.find(_LOCAL_MAGIC, at + 4)
        header = data[at : at + _LOCAL.size] if at >= 0 else b""
        if len(header) < _LOCAL.size:
            return
        _, _, _, method, _, _, _, compressed, size, named, extra = _LOCAL.unpack(header)
        raw = data[at + _LOCAL.size : at + _LOCAL.size + named] if named <= _MAX_RECOVERED_NAME else b""
        if named and len(raw) == named:
            yield Entry(raw.decode("utf-8", "backslashreplace"), method, compressed, size, at, named)
            following = at + _LOCAL.size + named + extra + compressed
            if following <= len(data):
                at = following - 4
