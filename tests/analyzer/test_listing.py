"""`gdroid facts`: what a reader must find in a listing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import gdroid
from analyzer.ir import Op
from analyzer.listing import listing
from gdroid.app import App
from gpu.errors import WrongConfiguration

APKS = Path(__file__).resolve().parent.parent.parent / "apks"


@cache
def app(name: str) -> App:
    return gdroid.load(APKS / f"{name}.apk")


def facts(name: str, method: str, pc: int | None = None, concrete: bool = False) -> str:
    return listing(app(name).idfg(), method, pc, concrete)


def beneath(text: str, pc: str) -> list[str]:
    """The lines under a statement, up to the next one."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if re.match(rf" *\d* *{pc}  ", line))
    found = []
    for line in lines[at + 1 :]:
        if not line.startswith(" " * 14):
            break
        found.append(" ".join(line.split()))
    return found


LABEL = "«device_id from getDeviceId()@000b»"


def test_every_statement_is_shown_once_in_the_order_of_the_code() -> None:
    text = facts("Fields_Bad", "NestedFieldBad.run")
    pcs = [int(m[1], 16) for line in text.splitlines() if (m := re.match(r" *\d* *([0-9a-f]{4})  ", line))]
    assert pcs == sorted(set(pcs))
    assert pcs[0] == 0 and pcs[-1] == 0x26
    assert '   70 001f  v0 = "sample"' in text


def test_a_source_s_label_is_in_what_its_call_defines_and_in_what_is_passed_on() -> None:
    text = facts("Fields_Bad", "fields.Main.onCreate")
    assert f"→ p1 {LABEL}, String from getDeviceId()@000b" in beneath(text, "000b")
    assert any(line.startswith(f"p1 {LABEL}") for line in beneath(text, "000f"))


def test_a_sink_says_what_it_gets() -> None:
    text = facts("Fields_Bad", "fields.Main.onCreate")
    assert any("sink log" in line and "FieldBad.run" in line and LABEL in line for line in beneath(text, "000f"))
    assert not any("sink" in line for line in beneath(text, "0012")), "SiblingFieldOk leaks nothing"


def test_a_store_says_which_cell_holds_what() -> None:
    text = facts("Fields_Bad", "NestedFieldBad.run")
    assert "· (new Pair@0000).inner := new Pair@0005" in beneath(text, "000a")
    assert "→ v1 new Pair@0005" in beneath(text, "000c")


def test_what_is_empty_or_said_by_the_statement_is_not_repeated() -> None:
    text = facts("Fields_Bad", "NestedFieldBad.run")
    assert beneath(text, "0000") == [] and beneath(text, "001f") == []


def test_the_legend_explains_just_the_words_that_are_used() -> None:
    text = facts("Fields_Bad", "NestedFieldBad.run")
    assert text.count("in:x ") == 1 and "«k from" not in text


def test_concrete_shows_what_callers_bring() -> None:
    formal = facts("Fields_Bad", "NestedFieldBad.run")
    concrete = facts("Fields_Bad", "NestedFieldBad.run", concrete=True)
    assert "in:p0" in formal and "device_id" not in formal
    assert "in:p0" not in concrete and "«device_id from getDeviceId()@Main.onCreate:000b»" in concrete


def test_at_a_pc_stands_one_statement_with_all_facts_before_it() -> None:
    text = facts("Fields_Bad", "NestedFieldBad.run", pc=0x13)
    assert "0013  v1.inner = v2" in text and "0019 " not in text
    assert re.search(r"\(new Pair@0000\).inner = +new Pair@0005", text)
    assert re.search(r"v2 +new Pair@000e", text)


def test_a_name_that_means_several_methods_lists_them() -> None:
    with pytest.raises(WrongConfiguration, match=r"'run' may mean 9 methods.*FieldBad;->run.* and 1 more"):
        facts("Fields_Bad", "run")


def test_a_name_that_means_none_says_so() -> None:
    with pytest.raises(WrongConfiguration, match="no such method"):
        facts("Fields_Bad", "nothingLikeIt")
    with pytest.raises(WrongConfiguration, match=r"of that name there are .*NestedFieldBad;->run"):
        facts("Fields_Bad", "Elsewhere.run")


def test_a_pc_behind_the_end_says_where_the_method_ends() -> None:
    with pytest.raises(WrongConfiguration, match="0x26"):
        facts("Fields_Bad", "NestedFieldBad.run", pc=0x1000)


LISTED = ["Threads_Bad", "LambdasInvokeCustom_Bad", "OddCode_Bad", "AllInstructions_Bad", "Library_Bad"]


@pytest.mark.parametrize("name", LISTED)
def test_every_method_can_be_listed_by_its_signature_and_shows_all_its_calls(name: str) -> None:
    idfg = app(name).idfg()
    program = app(name).program
    for method in idfg.encoded.layouts:
        body = program.body(method)
        for concrete in (False, True):
            text = listing(idfg, program.signature(method), None, concrete)
            assert program.signature(method) in text
            for op in (body.op == Op.CALL).nonzero()[0].tolist():
                assert re.search(rf"^ *\d* *{max(int(body.pc[op]), 0):04x}  .*\(", text, re.M)
            if concrete:
                assert not re.search(r"(?<![\w(])in:(?!x )", text), (
                    "cells keep the names of their owners, contents do not"
                )
