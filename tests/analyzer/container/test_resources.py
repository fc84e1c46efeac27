"""Resource tables mean to us what they mean to Androguard."""

from __future__ import annotations

import random
import struct
import zipfile
from pathlib import Path

import pytest

from analyzer.container.resources import ResourceTable
from gpu.errors import UnreadableInput
from tests.analyzer.container.tables import COMPACT, FULL, entry_table


def agree(data: bytes) -> int:
    """Holds names, ids and values against Androguard's; returns how many entries were compared."""
    from androguard.core.axml import ARSCParser
    from loguru import logger

    logger.disable("androguard")
    theirs = ARSCParser(data)
    theirs._analyse()
    ours = ResourceTable(data, "t")
    compared = 0
    for package in theirs.get_packages_names():
        for type_name, keys in theirs.resource_keys[package].items():
            listed = ours.listing(type_name)
            assert {r.name for r in listed.values()} >= set(keys), type_name
            for key, resource_id in keys.items():
                assert listed[resource_id].name == key
                assert ours.name(resource_id) == f"{type_name}/{key}"
                expected = {
                    entry.key.data for entry in theirs.resource_values[resource_id].values() if not entry.is_complex()
                }
                assert {value.data for value in listed[resource_id].values} >= expected
                compared += 1
    return compared


def table(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read("resources.arsc")


def test_we_agree_with_androguard_on_the_sample(sample: Path) -> None:
    assert agree(table(sample / "sample.apk")) > 20
    assert agree(table(sample / "sample-short.apk")) > 20


@pytest.mark.parametrize("app", ["markor-0.3.9-264.apk", "InsecureBankv2.apk", "com.politedroid_4.apk"])
def test_we_agree_with_androguard_on_real_apps(app: str, suites: Path) -> None:
    assert agree(table(suites / "real" / app)) > 10


def test_sparse_tables_are_read(suites: Path) -> None:
    assert agree(table(suites / "odd" / "a39576-sparse.apk")) > 100


def test_values_follow_references_and_keep_every_configuration(sample: Path) -> None:
    resources = ResourceTable(table(sample / "sample.apk"), "t")
    by_name = {r.name: i for kind in ("layout", "string", "bool") for i, r in resources.listing(kind).items()}
    assert [v.text for v in resources.values(by_name["aliased"])] == ["res/layout/part.xml"]
    assert [v.text for v in resources.values(by_name["host"])] == ["example.org", "example.de"]
    assert {v.data != 0 for v in resources.values(by_name["exported_from_29"])} == {True, False}
    assert resources.values(0x7FFFFFFF) == [] and resources.name(0) is None


ENCODINGS = {
    "plain": entry_table(FULL, struct.pack("<II", 0xFFFFFFFF, 0), 0, 2),
    "16-bit offsets": entry_table(FULL, struct.pack("<HH", 0xFFFF, 0), 2, 2),
    "sparse": entry_table(FULL, struct.pack("<HH", 1, 0), 1, 1),
    "compact": entry_table(COMPACT, struct.pack("<II", 0xFFFFFFFF, 0), 0, 2),
    "compact, 16-bit offsets": entry_table(COMPACT, struct.pack("<HH", 0xFFFF, 0), 2, 2),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_of_entries_is_read(encoding: str) -> None:
    resources = ResourceTable(ENCODINGS[encoding], "t")
    assert {i: r.name for i, r in resources.listing("layout").items()} == {0x7F010001: "other"}
    assert [v.text for v in resources.values(0x7F010001)] == ["res/x.xml"]
    assert resources.values(0x7F010000) == [] and resources.problems == []


@pytest.mark.parametrize("data", [b"", bytes(100), b"\2\0\x0c\0" + bytes(60), b"\2\0\xff\xff" + bytes(60)])
def test_what_is_no_table_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableInput, match=r"^t: "):
        ResourceTable(data, "t")


def test_references_in_a_circle_end() -> None:
    circle = struct.pack("<HHI", 8, 0, 1) + struct.pack("<HBBI", 8, 0, 1, 0x7F010001)
    assert ResourceTable(entry_table(circle, struct.pack("<II", 0xFFFFFFFF, 0), 0, 2), "t").values(0x7F010001) == []


def test_random_damage_gives_a_table_or_an_unreadable_input(sample: Path) -> None:
    chance = random.Random(11)
    whole = table(sample / "sample.apk")
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 9))):
            at = chance.randrange(len(data))
            data[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01", b"\xff\xff\xff\x7f"))
        try:
            resources = ResourceTable(bytes(data), "t")
        except UnreadableInput:
            continue
        for kind in ("layout", "string", "xml"):
            for resource_id in resources.listing(kind):
                resources.values(resource_id)
                resources.name(resource_id)
