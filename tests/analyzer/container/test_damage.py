"""Random damage to a small app gives an app, a partial app or a GdroidError; nothing else, and never slowly."""

from __future__ import annotations

import io
import random
import struct
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from analyzer.container import AppFiles
from gpu.errors import GdroidError
from tests.analyzer.container.tables import FULL, entry_table
from tests.analyzer.container.zips import Made, make_zip

WORDS = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff\xff", b"\x08\0", b"\x14\0")
ROUNDS = 150


def uncompressed(data: bytes) -> bytes:
    """The archive with its entries stored, so that damage reaches what they mean."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name), source.read(name))
    return out.getvalue()


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A few bytes, words or stretches changed, taken out, put in or copied; sometimes the end cut off."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, length = chance.randrange(len(result)), chance.randrange(1, 64)
        match chance.randrange(5):
            case 0:
                result[at] = chance.randrange(256)
            case 1:
                word = chance.choice(WORDS)
                result[at : at + len(word)] = word
            case 2:
                del result[at : at + length]
            case 3:
                result[at:at] = chance.randbytes(length)
            case _:
                source = chance.randrange(len(result))
                result[at : at + length] = result[source : source + length]
    if chance.random() < 0.05:
        del result[chance.randrange(1, len(result)) :]
    return bytes(result)


@pytest.mark.parametrize("form", ["sample.apk", "sample-short.apk", "sample.aab"])
@pytest.mark.parametrize("stored", [False, True])
def test_damage_never_escapes(form: str, stored: bool, sample: Path, opened: Callable[..., AppFiles]) -> None:
    whole = (sample / form).read_bytes()
    whole = uncompressed(whole) if stored else whole
    chance = random.Random(f"{form}{stored}")
    outcomes = set()
    for _ in range(ROUNDS):
        started = time.process_time()
        try:
            app = opened(damaged(whole, chance))
            outcomes.add("partial" if any(problem.lost for problem in app.problems) else "whole")
        except GdroidError as error:
            assert "\n" not in str(error)
            outcomes.add("error")
        assert time.process_time() - started < 2
    assert outcomes == {"whole", "partial", "error"}


def repeated_types(chunks: int, entries: int) -> bytes:
    """A resource table that holds the same large type again and again."""
    one = entry_table(FULL, struct.pack("<I", 0) * entries, 0, entries)
    at = one.rindex(struct.pack("<HH", 0x201, 84))
    table = bytearray(one[:at] + one[at:] * chunks)
    package = table.index(struct.pack("<HH", 0x200, 288))
    struct.pack_into("<I", table, 4, len(table))
    struct.pack_into("<I", table, package + 4, len(table) - package)
    return bytes(table)


DEX = Made("classes.dex", b"dex\n035\0" + bytes(200))
HOSTILE = {
    "a table of very many entries": lambda: make_zip(DEX, Made("resources.arsc", repeated_types(1000, 1500), 0)),
    "very many damaged layouts": lambda: make_zip(DEX, *(Made(f"res/layout/{i}.xml", b"") for i in range(10_000))),
    "nothing but local headers": lambda: b"PK\3\4" * 2_000_000,
    "nothing but end records": lambda: b"PK\5\6" * 2_000_000,
    "very many names for nothing": lambda: b"PK\3\4" + (b"PK\3\4" + bytes(22) + b"\1\0\0\0a") * 300_000,
    "entries that claim to be large": lambda: make_zip(
        *(Made(f"res/layout/{i}.xml", b"x", said_compressed=1 << 30) for i in range(2_000)),
        Made("z", bytes(3_000_000), 0),
        DEX,
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_cost_little_time(what: str, opened: Callable[..., AppFiles]) -> None:
    data = HOSTILE[what]()
    started = time.process_time()
    with suppress(GdroidError):
        app = opened(data)
        assert len(app.problems) <= 2_001
    assert time.process_time() - started < 20
