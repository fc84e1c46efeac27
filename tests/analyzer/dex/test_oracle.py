"""The reader and Androguard agree on every instruction of every app at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analyzer.dex import read
from tests.analyzer.dex import oracle

ROOT = Path(__file__).resolve().parents[3]
SMALL_BYTES = 1_500_000
"""Suite apps up to this size are compared always; GDROID_ALL_APPS=1 compares them all (some minutes)."""

DAMAGED = {"DamagedMethod_Bad.apk": 2}
"""Code items that must be refused, though Androguard reads on."""


@pytest.fixture(autouse=True, scope="module")
def quiet() -> None:
    oracle.silence()


@pytest.mark.parametrize("path", sorted((ROOT / "apks").glob("*.apk")), ids=lambda path: path.stem)
def test_sample_app(path: Path) -> None:
    done = oracle.compare(oracle.dex_entries(path))
    assert done["methods"] > 0
    assert done["damaged"] == DAMAGED.get(path.name, 0)


def test_every_app_of_the_suite(suites: Path) -> None:
    paths = sorted((suites / "real").iterdir(), key=lambda path: path.stat().st_size)
    if os.environ.get("GDROID_ALL_APPS", "0") == "0":
        paths = [path for path in paths if path.stat().st_size <= SMALL_BYTES]
    assert paths
    for path in paths:
        done = oracle.compare(oracle.dex_entries(path))
        assert done["damaged"] == done["given up by Androguard"] == 0, path.name
        assert done["instructions"] > 0, path.name


def test_every_dex_version(suites: Path) -> None:
    versions = set()
    for path in sorted((suites / "dex-versions").iterdir()):
        data = path.read_bytes()
        if data[:4] != b"dex\n":
            continue
        assert oracle.compare([data])["instructions"] > 0, path.name
        versions |= set(read([data]).versions)
    assert versions == {35, 37, 38, 39, 40, 41}


def test_odd_files_that_androguard_can_read(suites: Path) -> None:
    read_by_both = 0
    for path in sorted((suites / "odd").glob("*.dex")):
        data = path.read_bytes()
        if data[:4] != b"dex\n":
            continue
        try:
            oracle.compare([data])
            read_by_both += 1
        except ValueError as error:
            assert "Adler32" in str(error), path.name
    assert read_by_both >= 15


def test_a_difference_is_noticed() -> None:
    """The comparison itself: a reader that is wrong in one register does not pass."""
    data = oracle.dex_entries(ROOT / "apks" / "Switches_Bad.apk")
    dex = read(data)
    checker = oracle._Checker(dex)
    row = next(i for i, op in enumerate(checker.col["op"]) if op == 0x12)
    checker.col["a"][row] ^= 1
    with pytest.raises(oracle.Mismatch):
        checker.file(0, data[0])
