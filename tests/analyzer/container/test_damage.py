"""Random damage to a small app gives an app, a partial app or a GdroidError; nothing else, and never slowly."""

from __future__ import annotations

import io
import random
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.container import AppFiles
from gpu.errors import GdroidError

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
