"""Archives that Android opens are opened, and what is lost in others is told."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

import pytest

from analyzer.container import AppFiles
from analyzer.container.archive import Archive, Budget
from analyzer.limits import Limits
from gpu.errors import GdroidError, LimitReached, UnreadableInput
from tests.analyzer.container.zips import Made, make_zip

DEX = b"dex\n035\0" + bytes(range(256)) * 8


def read(data: bytes, name: str = "classes.dex", megabytes: int = 10) -> tuple[bytes, Archive]:
    archive = Archive.open(data, "a.apk", Budget.of_mb(megabytes))
    return archive.read(name), archive


TRICKS = {
    "honest": make_zip(Made("classes.dex", DEX)),
    "stored": make_zip(Made("classes.dex", DEX, method=0)),
    "wrong checksum": make_zip(Made("classes.dex", DEX, crc=1)),
    "encryption bit": make_zip(Made("classes.dex", DEX, flags=1)),
    "method that does not exist, stored": make_zip(Made("classes.dex", DEX, method=0, said_method=0x2A2A)),
    "method that does not exist, stored, wrong size": make_zip(
        Made("classes.dex", DEX, method=0, said_method=99, said_compressed=7)
    ),
    "method that does not exist, deflated": make_zip(Made("classes.dex", DEX, said_method=12)),
    "local header says stored": make_zip(Made("classes.dex", DEX, local_method=0)),
    "deflated by name only": make_zip(Made("classes.dex", DEX, method=0, said_method=8)),
    "no sizes in the local header": make_zip(Made("classes.dex", DEX, flags=8, local_sizes=(0, 0))),
    "wrong sizes in the local header": make_zip(Made("classes.dex", DEX, local_sizes=(3, 99))),
    "wrong sizes in the directory": make_zip(Made("classes.dex", DEX, said_size=4, said_compressed=5)),
    "directory claims an extra field": make_zip(
        Made("x", b"x"), Made("classes.dex", DEX, extra_length=0), Made("y", b"y", extra_length=0)
    ),
    "longest comment": make_zip(Made("classes.dex", DEX), comment=b"c" * 0xFFFF),
    "end magic in the comment": make_zip(Made("classes.dex", DEX), comment=b"PK\5\6" + b"\xff" * 40),
    "garbage before the end record": make_zip(Made("classes.dex", DEX), gap=b"garbage"),
    "something behind the end record": make_zip(Made("classes.dex", DEX)) + b"more",
    "something before the archive": make_zip(Made("classes.dex", DEX), prefix=b"#!/bin/sh\n"),
    "directory elsewhere": make_zip(Made("classes.dex", DEX), offset=3),
    "no directory": make_zip(Made("classes.dex", DEX), offset=3, gap=b"garbage").replace(b"PK\1\2", b"PK\0\0"),
    "no end record": make_zip(Made("classes.dex", DEX), end=False),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_the_bytes_are_those_that_android_reads(trick: str) -> None:
    assert read(TRICKS[trick])[0] == DEX


def test_of_entries_with_one_name_the_first_counts_and_it_is_told() -> None:
    data, archive = read(make_zip(Made("classes.dex", DEX), Made("classes.dex", b"dex\nother")))
    assert data == DEX
    assert [(p.where, p.lost) for p in archive.problems] == [("a.apk!/classes.dex", False)]


def test_data_starts_where_the_local_name_ends_even_if_that_lies() -> None:
    bait = b"dex\n035\0bait!"
    made = Made("classes.dex", DEX, method=0, gap=bait, local_name_length=len("classes.dex") + len(bait))
    data, archive = read(make_zip(made))
    assert data == DEX
    assert any("name length" in problem.what for problem in archive.problems)


def test_a_wrong_length_in_the_directory_does_not_hide_the_next_entry() -> None:
    data, archive = read(make_zip(Made("AndroidManifest.xml", b"m", extra_length=1), Made("classes.dex", DEX)))
    assert data == DEX
    assert set(archive.entries) == {"AndroidManifest.xml", "classes.dex"}
    assert any("goes wrong" in problem.what for problem in archive.problems)


def test_recovered_entries_are_told_as_a_loss() -> None:
    _, archive = read(TRICKS["no end record"])
    assert any(problem.lost for problem in archive.problems)


def test_entries_inside_stored_entries_are_not_taken_for_entries() -> None:
    inner = make_zip(Made("classes.dex", b"dex\ninner"))
    archive = Archive.open(make_zip(Made("assets/a.zip", inner, method=0), end=False), "a.apk", Budget.of_mb(1))
    assert set(archive.entries) == {"assets/a.zip"}


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_truncated_archive_gives_whole_entries_or_an_error(cut: int) -> None:
    whole = make_zip(Made("classes.dex", DEX), Made("b", b"b" * 50), gap=b"")
    data = whole[: len(whole) * cut // 60]
    try:
        content, archive = read(data)
    except (UnreadableInput, KeyError):
        return
    assert content == DEX
    assert any(problem.lost for problem in archive.problems)


def test_damaged_deflate_data_names_entry_and_place() -> None:
    data = make_zip(Made("classes.dex", DEX))
    at = 30 + len("classes.dex")
    with pytest.raises(UnreadableInput, match=r"a\.apk!/classes\.dex: compressed data at 0x29 is damaged"):
        read(data[:at] + b"\xff" * 40 + data[at + 40 :])


def test_a_bomb_stops_at_the_limit() -> None:
    bomb = make_zip(Made("classes.dex", b"dex\n" + bytes(30_000_000)))
    started = time.monotonic()
    with pytest.raises(LimitReached, match="input_mb = 10"):
        read(bomb)
    assert time.monotonic() - started < 5


def test_many_small_bombs_share_one_limit() -> None:
    bombs = make_zip(*(Made(f"{i}", bytes(3_000_000)) for i in range(5)))
    archive = Archive.open(bombs, "a.apk", Budget.of_mb(10))
    with pytest.raises(LimitReached):
        for name in archive.entries:
            archive.read(name)


def test_a_bomb_that_is_the_second_dex_costs_only_itself(opened: Callable[..., AppFiles]) -> None:
    app = opened(
        make_zip(Made("classes.dex", DEX), Made("classes2.dex", b"dex\n" + bytes(5_000_000))),
        limits=Limits(input_mb=4),
    )
    assert [dex.name for dex in app.dex] == ["classes.dex"]
    assert [problem.where for problem in app.problems if problem.lost] == ["input.bin!/classes2.dex"]


def test_one_dex_under_many_names_is_read_once(opened: Callable[..., AppFiles]) -> None:
    data = bytearray(make_zip(Made("classes.dex", DEX), Made("classes2.dex", DEX)))
    second = data.rfind(b"PK\1\2")
    struct.pack_into("<I", data, second + 42, 0)
    assert len(opened(bytes(data)).dex) == 1


@pytest.mark.parametrize(
    "data", [b"PK\5\6", b"PK\3\4", b"PK\5\6" + bytes(18), b"PK\3\4" + b"\xff" * 60, b"PK\5\6" * 50]
)
def test_scraps_of_archives_are_unreadable(data: bytes, opened: Callable[..., AppFiles]) -> None:
    with pytest.raises(GdroidError):
        opened(data)
