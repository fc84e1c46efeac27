"""Binary XML means to us what it means to Android, and on healthy files to Androguard too."""

from __future__ import annotations

import random
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from analyzer.container.axml import ATTRIBUTE_IDS, Element, looks_like_axml, read_axml
from gpu.errors import UnreadableInput

START = 0x0102


def androguard_elements(data: bytes) -> list[Any]:
    """Tag and attributes of every element, as Androguard reads them."""
    from androguard.core.axml import AXMLParser
    from loguru import logger

    logger.disable("androguard")
    parser = AXMLParser(data)
    found = []
    while parser.is_valid():
        event = next(parser)
        if event == 1:
            break
        if event == 2:
            attributes = []
            for i in range(parser.getAttributeCount()):
                name = parser.m_attributes[5 * i + 1]
                ids = parser.m_resourceIDs
                kind = parser.getAttributeValueType(i)
                value = parser.getAttributeValue(i) if kind == 3 else parser.getAttributeValueData(i)
                attributes.append((parser.sb[name], ids[name] if name < len(ids) else 0, kind, value))
            found.append((parser.name, attributes))
    return found


def our_elements(root: Element) -> list[Any]:
    return [
        (e.tag, [(a.name, a.resource_id, a.type, a.text if a.type == 3 else a.data) for a in e.attributes])
        for e in root.walk()
    ]


def xml_files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        files = {n: archive.read(n) for n in archive.namelist() if n.endswith(".xml")}
    return {name: data for name, data in files.items() if data[:2] == b"\x03\x00"}


def test_we_agree_with_androguard_on_the_sample(sample: Path) -> None:
    files = xml_files(sample / "sample.apk")
    assert len(files) == 8
    for name, data in files.items():
        root, problems = read_axml(data, name)
        assert our_elements(root) == androguard_elements(data)
        assert problems == []


@pytest.mark.parametrize("app", ["markor-0.3.9-264.apk", "dvba.apk", "a2dp.Vol_137.apk"])
def test_we_agree_with_androguard_on_real_apps(app: str, suites: Path) -> None:
    for name, data in xml_files(suites / "real" / app).items():
        assert our_elements(read_axml(data, name)[0]) == androguard_elements(data), name


def test_attribute_ids_are_those_of_androguard() -> None:
    from androguard.core.resources import public

    known = public.SYSTEM_RESOURCES["attributes"]["forward"]
    assert {name: known.get(name, value) for name, value in ATTRIBUTE_IDS.items()} == ATTRIBUTE_IDS


@pytest.fixture
def manifest(sample_files: dict[str, bytes]) -> bytes:
    return sample_files["AndroidManifest.xml"]


def rebuilt(data: bytes, change: Callable[[int, bytes], bytes]) -> bytes:
    """The file with every chunk after the header passed through `change(type, chunk)`."""
    chunks, at = [], 8
    while at < len(data):
        kind, _, size = struct.unpack_from("<HHI", data, at)
        chunks.append(change(kind, data[at : at + size]))
        at += size
    body = b"".join(chunks)
    return struct.pack("<HHI", 3, 8, 8 + len(body)) + body


def wide_header(kind: int, chunk: bytes) -> bytes:
    if not 0x100 <= kind < 0x180:
        return chunk
    return struct.pack("<HHI", kind, 24, len(chunk) + 8) + chunk[8:16] + b"\xaa" * 8 + chunk[16:]


def shifted_attributes(kind: int, chunk: bytes) -> bytes:
    if kind != START:
        return chunk
    head = chunk[:16] + chunk[16:24] + struct.pack("<HH", 28, 20) + chunk[28:36]
    moved = head + b"\xbb" * 8 + chunk[36:]
    return moved[:4] + struct.pack("<I", len(moved)) + moved[8:]


def wide_attributes(kind: int, chunk: bytes) -> bytes:
    if kind != START:
        return chunk
    attributes = b"".join(chunk[at : at + 20] + b"\xcc" * 4 for at in range(36, len(chunk), 20))
    moved = chunk[:26] + struct.pack("<H", 24) + chunk[28:36] + attributes
    return moved[:4] + struct.pack("<I", len(moved)) + moved[8:]


def unknown_between(kind: int, chunk: bytes) -> bytes:
    return chunk + struct.pack("<HHI", 0x1234, 8, 16) + b"\xdd" * 8 if kind == START else chunk


def overstated_strings(kind: int, chunk: bytes) -> bytes:
    return chunk[:8] + struct.pack("<I", 0x7FFFFFFF) + chunk[12:] if kind == 1 else chunk


def style_count(kind: int, chunk: bytes) -> bytes:
    return chunk[:12] + struct.pack("<I", 77) + chunk[16:] if kind == 1 else chunk


def same(kind: int, chunk: bytes) -> bytes:
    return chunk


PACKER_TRICKS = [wide_header, shifted_attributes, wide_attributes, unknown_between, overstated_strings, style_count]


@pytest.mark.parametrize("trick", PACKER_TRICKS, ids=lambda trick: trick.__name__)
def test_what_packers_do_changes_nothing(trick: Callable[[int, bytes], bytes], manifest: bytes) -> None:
    assert rebuilt(manifest, same) == manifest
    changed = rebuilt(manifest, trick)
    assert changed != manifest
    root, problems = read_axml(changed, "m")
    assert our_elements(root) == our_elements(read_axml(manifest, "m")[0])
    assert problems == []


def test_scrambled_names_are_found_by_resource_id(manifest: bytes) -> None:
    scrambled = manifest.replace("exported".encode("utf-16-le"), "xxxxxxxx".encode("utf-16-le"))
    assert scrambled != manifest
    aliases = [e for e in read_axml(scrambled, "m")[0].walk() if e.tag == "activity-alias"]
    exported = aliases[0].get("exported")
    assert exported is not None and exported.name == "xxxxxxxx" and exported.number


@pytest.mark.parametrize("size", [0, 8, 0x42424242, 0xFFFFFFFF])
def test_a_wrong_file_size_loses_nothing(size: int, manifest: bytes) -> None:
    changed = manifest[:4] + struct.pack("<I", size) + manifest[8:]
    root, problems = read_axml(changed, "m")
    assert our_elements(root) == our_elements(read_axml(manifest, "m")[0])
    assert [problem.lost for problem in problems] == [False]


def test_a_truncated_file_keeps_what_stands_before_the_cut(manifest: bytes) -> None:
    root, problems = read_axml(manifest[: len(manifest) * 3 // 4], "m")
    whole = our_elements(read_axml(manifest, "m")[0])
    kept = our_elements(root)
    assert 5 < len(kept) < len(whole)
    assert kept[:-1] == whole[: len(kept) - 1] and kept[-1][0] == whole[len(kept) - 1][0]
    assert any(problem.lost for problem in problems)


@pytest.mark.parametrize(
    "data", [b"", b"\3\0\x08\0", bytes(64), b"<?xml version='1.0'?><manifest/>", b"\3\0\x08\0" * 9]
)
def test_what_is_no_binary_xml_is_unreadable(data: bytes) -> None:
    assert not looks_like_axml(data)
    with pytest.raises(UnreadableInput, match=r"^where: "):
        read_axml(data, "where")


def test_overlapping_strings_cannot_blow_up() -> None:
    text = b"\xff\x7f" + b"a" * 60_000
    count = 20_000
    pool = struct.pack("<HHIIIIII", 1, 28, 28 + 4 * count + len(text), count, 0, 0, 28 + 4 * count, 0)
    pool += b"".join(struct.pack("<I", 0) for _ in range(count)) + text
    attributes = b"".join(struct.pack("<IIIHBBI", i, i, i, 8, 0, 3, i) for i in range(count))
    head = struct.pack("<HHIIIIIHHHHHH", START, 16, 36 + len(attributes), 1, 0, 0, 0, 20, 20, count, 0, 0, 0)
    body = pool + head + attributes
    root, _ = read_axml(struct.pack("<HHI", 3, 8, 8 + len(body)) + body, "m")
    assert sum(len(a.name) for a in root.attributes) < 20 * len(body)


def test_random_damage_gives_elements_or_an_unreadable_input(manifest: bytes) -> None:
    chance = random.Random(7)
    for _ in range(400):
        data = bytearray(manifest)
        for _ in range(chance.choice((1, 3, 9))):
            at = chance.randrange(len(data))
            data[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01", b"\xff\xff\xff\x7f"))
        with suppress(UnreadableInput):
            read_axml(bytes(data), "m")
