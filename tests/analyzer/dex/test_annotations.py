"""Annotations of methods, in good files and bad."""

from __future__ import annotations

import random

import pytest

from analyzer.dex import read
from analyzer.dex.annotations import annotated_methods
from tests.analyzer.dex.builder import Class, Code, Method, Writer, container, seal

RETURN = Code([0x000E])
TEST = "Lorg/junit/Test;"


def writer(prefix: str = "") -> Writer:
    made = Writer()
    methods = [Method("one", code=RETURN), Method("two", "(IJ[Ljava/lang/String;)V", code=RETURN), Method("three")]
    made.add(Class(f"L{prefix}Plain;", direct=[Method("one", code=RETURN)]))
    made.add(
        Class(
            f"L{prefix}Tests;",
            direct=methods,
            annotations={"one": ["LOther;"], "two": ["LOther;", TEST], "three": [TEST]},
        )
    )
    return made


EXPECTED = [(1, "two", "(IJ[Ljava/lang/String;)V"), (1, "three", "()V")]


def test_methods_with_an_annotation_are_found_by_name_and_descriptor() -> None:
    dex = read([writer().build()], ["a.dex"])
    assert sorted(annotated_methods(dex, [TEST])) == sorted(EXPECTED)
    assert annotated_methods(dex, ["LOther;"]) == [(1, "one", "()V"), EXPECTED[0]]
    assert annotated_methods(dex, ["LTests;"]) == []


@pytest.mark.parametrize("joined", [False, True])
def test_rows_of_several_dex_files_go_on(joined: bool) -> None:
    parts = [writer("a/"), writer("b/")]
    files = [container(parts)] if joined else [part.build() for part in parts]
    dex = read(files, [f"{k}.dex" for k in range(len(files))])
    found = annotated_methods(dex, [TEST])
    assert sorted(found) == sorted([*EXPECTED, *((row + 2, name, kind) for row, name, kind in EXPECTED)])


def test_damaged_annotations_are_left_out() -> None:
    data = writer().build()
    for seed in range(400):
        chance = random.Random(seed)
        bad = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(0x70, len(bad))
            bad[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        dex = read([seal(bytes(bad))], ["a.dex"])
        for row, _, _ in annotated_methods(dex, [TEST]):
            assert 0 <= row < len(dex.class_type)
