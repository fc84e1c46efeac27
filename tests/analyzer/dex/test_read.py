"""What the columns hold, on dex files written for the purpose."""

from __future__ import annotations

import copy
import struct

import numpy as np
import pytest

from analyzer.dex import STATUS, Dex, opcodes, read
from gpu.errors import UnreadableInput, UnsupportedFeature
from tests.analyzer.dex.builder import Class, Code, Method, Writer, container, one_method, seal, sleb, uleb

OP = opcodes.OPCODES


def status(data: bytes) -> str:
    """Status of the only code item."""
    dex = read([data])
    assert len(dex.code_status) == 1
    assert (len(dex.op) == 0) == bool(dex.code_status[0])
    assert bool(dex.problems) == bool(dex.code_status[0])
    return STATUS[dex.code_status[0]]


def rows(dex: Dex) -> list[tuple[str, int, int, int, int, int]]:
    """(mnemonic, pc, a, b, c, x) of every instruction."""
    columns = zip(dex.op, dex.pc, dex.a, dex.b, dex.c, dex.x, strict=True)
    return [(opcodes.NAMES[op], *(int(value) for value in rest)) for op, *rest in columns]


# ------------------------------------------------------------------------------------------------ instructions


def test_literals_keep_their_sign_and_place() -> None:
    units = [
        *(0xF012, 0x0013, 0x8000, 0x0014, 0x5678, 0x8234, 0x0015, 0x8001),
        *(0x0016, 0xFFFF, 0x0017, 0x0000, 0x8000, 0x0018, 1, 2, 3, 0x8004, 0x0019, 0x8001, 0x000E),
    ]
    dex = read([one_method(units)])
    assert [row[5] for row in rows(dex)[:5]] == [-1, -0x8000, 0x82345678 - (1 << 32), -0x7FFF0000, -1]
    assert rows(dex)[5][5] == -(1 << 31)
    assert [rows(dex)[i][5] for i in (6, 7)] == [0, 1]
    assert dex.lit64.tolist() == [0x8004000300020001 - (1 << 64), 0x8001000000000000 - (1 << 64)]


def test_branch_targets_are_absolute() -> None:
    dex = read([one_method([0x0000, 0xFF28, 0x0029, 0x0002, 0x002A, 0xFFFC, 0xFFFF, 0x0038, 0xFFF9, 0x000E])])
    assert [(row[0], row[5]) for row in rows(dex)[1:5]] == [("goto", 0), ("goto/16", 4), ("goto/32", 0), ("if-eqz", 0)]


def test_switch_rows_are_keys_and_absolute_targets() -> None:
    # packed-switch v0 (3 rows from key 0x7fffffff on: keys wrap as an int does); sparse-switch v0
    units = [0x002B, 8, 0, 0x002C, 15, 0, 0x0000, 0x000E]
    units += [0x0100, 3, 0xFFFF, 0x7FFF, 3, 0, 6, 0, 7, 0]
    units += [0x0200, 2, 0xFFFF, 0xFFFF, 5, 0, 3, 0, 4, 0]
    dex = read([one_method(units)])
    packed, sparse = rows(dex)[:2]
    assert packed[3] | packed[4] << 16 == 3
    assert sparse[3] | sparse[4] << 16 == 2
    assert dex.switch_key.tolist() == [0x7FFFFFFF, -0x80000000, -0x7FFFFFFF, -1, 5]
    assert dex.switch_target.tolist() == [3, 6, 7, 6, 7]
    assert (packed[5], sparse[5]) == (0, 3)
    assert len(rows(dex)) == 4, "payloads are no instructions"


def test_switches_can_share_a_payload() -> None:
    units = [0x002B, 8, 0, 0x012B, 5, 0, 0x000E, 0x0000, 0x0100, 1, 7, 0, 3, 0]
    dex = read([one_method(units)])
    assert dex.switch_key.tolist() == [7, 7]
    assert dex.switch_target.tolist() == [3, 6]


def test_array_payloads_say_where_and_how_large() -> None:
    units = [0x0026, 4, 0, 0x000E, 0x0300, 1, 3, 0, 0x0201, 0x0003]
    dex = read([one_method(units)])
    assert (dex.payload_width.tolist(), dex.payload_count.tolist()) == ([1], [3])
    start = int(dex.payload_off[0])
    assert dex.data[start : start + 3].tolist() == [1, 2, 3]


def test_arguments_of_both_shapes() -> None:
    writer = Writer()
    method = writer.method("Lb;", "f", "(IIIII)V")
    units = [0x506E | 4 << 8, method, 0x3210, 0x0377, method, 1, 0x1024, writer.type("[I"), 0x0003, 0x000E]
    writer.add(Class("La;", direct=[Method("m", code=Code(units, registers=5))]))
    dex = read([writer.build()])
    args = [dex.args[dex.arg_off[i] : dex.arg_off[i + 1]].tolist() for i in range(4)]
    assert args == [[0, 1, 2, 3, 4], [1, 2, 3], [3], []]
    assert dex.a[:3].tolist() == [5, 3, 1]


def test_method_handle_instructions() -> None:
    writer = Writer(version=39)
    target = writer.method("Ljava/lang/invoke/MethodHandle;", "invokeExact", "([Ljava/lang/Object;)Ljava/lang/Object;")
    writer.proto("()V")
    proto = writer.proto("(IJ)V")
    boot = writer.method("La;", "boot", "()V")
    field = writer.field("La;", "f", "I")
    writer.handles += [(4, boot), (0, field)]
    name = writer.string("name")
    extra = bytes([0x04, 0xFF, 0x17, name, 0x16, 1])
    writer.call_sites.append(uleb(6) + bytes([0x16, 0, 0x17, name, 0x15, proto]) + extra)
    writer.call_sites[0] = uleb(6) + writer.call_sites[0][1:]
    units = [0x30FA, target, 0x0210, proto, 0x03FB, target, 1, proto]
    units += [0x10FC, 0, 0x0003, 0x01FD, 0, 2, 0x02FE, 1, 0x03FF, proto, 0x000E]
    writer.add(Class("La;", direct=[Method("m", code=Code(units))]))
    dex = read([writer.build()])
    names = [row[0] for row in rows(dex)]
    assert names[:6] == [opcodes.NAMES[i] for i in range(0xFA, 0x100)]
    assert [row[5] for row in rows(dex)[:6]] == [target, target, 0, 0, 1, proto]
    assert [row[3] << 16 | row[4] for row in rows(dex)[:2]] == [proto, proto]
    assert (dex.method_handle_kind.tolist(), dex.method_handle_member.tolist()) == ([4, 0], [boot, field])
    assert dex.call_site_handle.tolist() == [0]
    assert dex.strings[dex.call_site_name[0]] == "name"
    assert dex.call_site_proto.tolist() == [proto]
    assert dex.call_site_arg_kind.tolist() == [0x04, 0x17, 0x16]
    assert dex.call_site_arg_value.tolist() == [-1, name, 1]


def test_a_nop_with_a_high_byte_is_a_nop() -> None:
    assert [row[0] for row in rows(read([one_method([0x0400, 0x000E])]))] == ["nop", "return-void"]


def test_alignment_before_a_payload_leaves_a_gap_in_the_pcs() -> None:
    units = [0x0026, 4, 0, 0x0000, 0x0300, 1, 0, 0, 0x000E]
    assert [row[1] for row in rows(read([one_method(units)]))] == [0, 3, 8]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([], "no instructions"),
        ([0x003E], "unassigned opcode"),
        ([0x00E3, 0], "unassigned opcode"),
        ([0x0013], "cut off"),
        ([0x0412, 0x000E], "register"),
        ([0x0304, 0x000E], "register"),  # move-wide into v3 of 4
        ([0x0277, 0, 3, 0x000E], "register"),
        ([0x606E, 0, 0, 0x000E], "register"),  # six arguments
        ([0x106E, 0, 4, 0x000E], "register"),
        ([0x001A, 99, 0x000E], "index"),
        ([0x001B, 0xFFFF, 0xFFFF, 0x000E], "index"),
        ([0x006E, 99, 0, 0x000E], "index"),
        ([0x0228, 0x000E], "branch"),
        ([0xFE28, 0x000E], "branch"),
        ([0x0028 | 2 << 8, 0x0013, 0x000E], "branch"),  # into the middle of const/16
        ([0x002B, 4, 0, 0x000E, 0x0100, 9, 0, 0], "payload"),
        ([0x002B, 4, 0, 0x000E, 0x0200, 0], "payload"),
        ([0x002B, 3, 0, 0x0100, 0, 0, 0, 0x000E], "payload"),  # not aligned
        ([0x002B, 6, 0, 0x000E], "payload"),
        ([0x002B, 0xFFFC, 0xFFFF, 0x000E], "payload"),
        ([0x0026, 4, 0, 0x000E, 0x0300, 0xFFFF, 0xFFFF, 0xFFFF], "payload"),
        ([0x0026, 4, 0, 0x000E, 0x0300], "payload"),
        ([0x000E, 0x0300], "payload"),
        ([0x002B, 4, 0, 0x000E, 0x0100, 1, 0, 0, 1, 0], "branch"),
    ],
)
def test_damaged_code_is_refused_and_says_why(units: list[int], expected: str) -> None:
    writer = Writer()
    method = Method("m", code=Code(units))
    writer.add(Class("La;", direct=[method]))
    assert expected in status(writer.build())


def test_the_last_register_pair_counts() -> None:
    assert status(one_method([0x0016, 0, 0x0216, 0, 0x000E])) == "ok"
    assert "register" in status(one_method([0x0316, 0, 0x000E]))
    assert status(one_method([0x000E], registers=0)) == "ok"
    assert "register" in status(one_method([0x0012, 0x000E], registers=0))
    assert "register" in status(one_method([0x000E], registers=1, ins=2))


@pytest.mark.parametrize(("size", "expected"), [(1 << 30, "cut off"), (0xFFFFFFFF, "cut off"), (0, "no instructions")])
def test_a_lying_length_is_refused(size: int, expected: str) -> None:
    assert expected in status(one_method([0x000E], size=size))


# ------------------------------------------------------------------------------------------------ tries


def test_tries_and_handlers() -> None:
    tries = [(0, 1, [("Lx;", 2), ("Ly;", 3)], None), (1, 1, [("Lx;", 2)], 3), (2, 1, [], 3)]
    dex = read([one_method([0, 0, 0, 0x000E], tries=tries)])
    assert (dex.try_start.tolist(), dex.try_end.tolist()) == ([0, 1, 2], [1, 2, 3])
    assert dex.try_handler_off.tolist() == [0, 2, 4, 5]
    kinds = [dex.strings[dex.type_descriptor[kind]] if kind >= 0 else None for kind in dex.handler_type]
    assert kinds == ["Lx;", "Ly;", "Lx;", None, None]
    assert dex.handler_pc.tolist() == [2, 3, 2, 3, 3]


@pytest.mark.parametrize(
    ("tries", "expected"),
    [
        ([(0, 0, [], 1), (0, 1, [], 1)], "ok"),  # covers nothing: dropped
        ([(0, 9, [], 1)], "try"),
        ([(9, 1, [], 1)], "try"),
        ([(1, 1, [], 1), (0, 1, [], 1)], "try"),
        ([(0, 2, [], 1), (1, 1, [], 1)], "try"),
        ([(0, 1, [], 9)], "try"),
        ([(0, 1, [(99, 1)], None)], "try"),
        ([(3, 1, [], 1)], "try"),  # starts inside const/16
        ([(0, 1, [], 3)], "try"),
    ],
)
def test_damaged_tries_are_refused(tries: list, expected: str) -> None:  # type: ignore[type-arg]
    assert expected in status(one_method([0, 0, 0x0013, 0, 0x000E], tries=tries))


# ------------------------------------------------------------------------------------------------ ids and classes


def test_ids_of_several_files_are_joined_first_come() -> None:
    one, two = Writer(), Writer()
    one.method("Lx;", "f", "(I)V")
    two.method("Lz;", "g", "()V")
    second = two.method("Lx;", "f", "(I)V")
    two.add(Class("La;", direct=[Method("m", code=Code([0x006E, second, 0, 0x000E]))]))
    dex = read([one.build(), two.build()], ["classes.dex", "classes2.dex"])
    assert dex.x[0] == 0, "the method of the first file"
    texts = list(dex.strings)
    assert len(set(texts)) == len(texts)
    assert texts[: len(one.strings)] == [text.decode() for text in one.strings]
    again = read([one.build(), two.build()])
    for name in ("type_descriptor", "method_class", "proto_params", "x"):
        assert np.array_equal(getattr(dex, name), getattr(again, name))


def test_the_first_definition_of_a_class_shadows_later_ones() -> None:
    files = []
    for text in ("one", "two"):
        writer = Writer()
        writer.add(Class("La;", source=text))
        files.append(writer.build())
    dex = read(files)
    assert dex.class_shadowed.tolist() == [False, True]
    assert dex.class_dex.tolist() == [0, 1]
    assert [dex.strings[i] for i in dex.class_source] == ["one", "two"]


def test_classes_fields_and_methods() -> None:
    writer = Writer()
    writer.add(
        Class(
            "La;",
            interfaces=["Li;", "Lj;"],
            access=0x421,
            static_fields=[("s", "I", 0x9)],
            instance_fields=[("f", "J", 0x2)],
            direct=[Method("<init>", access=0x10001, code=Code([0x000E]))],
            virtual=[Method("v", "(I)J", 0x401)],
        )
    )
    writer.add(Class("Lb;", superclass=None))
    dex = read([writer.build()])
    name = [dex.strings[i] for i in dex.type_descriptor]
    assert [name[t] for t in dex.class_type] == ["La;", "Lb;"]
    assert dex.class_super[1] == -1
    assert [name[t] for t in dex.class_interfaces] == ["Li;", "Lj;"]
    assert dex.class_interfaces_off.tolist() == [0, 2, 2]
    assert dex.class_access.tolist() == [0x421, 1]
    assert dex.ef_static.tolist() == [True, False]
    assert dex.ef_access.tolist() == [9, 2]
    assert dex.em_direct.tolist() == [True, False]
    assert dex.em_access.tolist() == [0x10001, 0x401]
    assert dex.em_code.tolist() == [0, -1]
    assert [dex.strings[dex.method_name[m]] for m in dex.em_method] == ["<init>", "v"]
    assert dex.class_source.tolist() == [-1, -1]


def test_methods_can_share_a_code_item() -> None:
    writer = Writer()
    writer.add(Class("La;", direct=[Method("a", code=Code([0x000E])), Method("b", code=Code([0x000E]))]))
    data = bytearray(writer.build())
    dex = read([bytes(data)])
    first, second = (int(offset) for offset in dex.code_off)
    at = data.index(uleb(second))
    data[at : at + len(uleb(first))] = uleb(first)
    dex = read([bytes(data)])
    assert dex.em_code.tolist() == [0, 0]
    assert len(dex.op) == 1


def test_static_values_of_every_kind() -> None:
    writer = Writer()
    text, kind = writer.string("text"), writer.type("Lt;")
    field, method = writer.field("Lt;", "f", "I"), writer.method("Lt;", "m")
    values = [
        *((b"\x00\xff", 0x00, -1), (b"\x22\x00\x80", 0x02, -0x8000), (b"\x23\x00\x80", 0x03, 0x8000)),
        *((b"\x04\x80", 0x04, -128), (b"\x64\xff\xff\xff\x7f", 0x04, 0x7FFFFFFF), (b"\xe6" + b"\xff" * 8, 0x06, -1)),
        *((b"\x30\x80\x3f", 0x10, 0x3F800000), (b"\x31\xf0\x3f", 0x11, 0x3FF0 << 48)),
        *((bytes([0x17, text]), 0x17, text), (bytes([0x18, kind]), 0x18, kind), (bytes([0x19, field]), 0x19, field)),
        *((bytes([0x1A, method]), 0x1A, method), (bytes([0x1B, field]), 0x1B, field)),
        *((b"\x1e", 0x1E, 0), (b"\x1f", 0x1F, 0), (b"\x3f", 0x1F, 1)),
    ]
    for extra in ([], [(b"\x1c\x02\x1e\x1c\x01\x1f", 0x1C, 0), (b"\x1d\x00\x01\x00\x04\x07", 0x1D, 0)]):
        rows = values + extra
        fields = [(f"f{i}", "I", 9) for i in range(len(rows) + 1)]
        encoded = uleb(len(rows)) + b"".join(row[0] for row in rows)
        again = copy.deepcopy(writer)
        again.add(Class("La;", static_fields=fields, static_values=encoded))
        dex = read([again.build()])
        assert dex.ef_value_kind.tolist() == [*(row[1] for row in rows), 0xFF]
        assert dex.ef_value.tolist() == [*(row[2] for row in rows), 0]
        assert not dex.problems


@pytest.mark.parametrize(
    "encoded", [b"\x02\x04\x01\x05", b"\x01\x05\x01", b"\x01\x17\x63", b"\x09\x1e", b"\x01\xe4" * 5]
)
def test_damaged_static_values_keep_what_stands_before(encoded: bytes) -> None:
    writer = Writer()
    writer.add(Class("La;", static_fields=[("a", "I", 9), ("b", "I", 9)], static_values=encoded + b"\xff" * 8))
    dex = read([writer.build()])
    assert any("initial values" in problem.what for problem in dex.problems)
    if encoded.startswith(b"\x02"):
        assert dex.ef_value.tolist()[0] == 1


# ------------------------------------------------------------------------------------------------ lines


def test_lines_come_from_the_debug_info() -> None:
    debug = uleb(10) + uleb(1) + uleb(0)
    debug += bytes([0x07, 0x0E])  # prologue end; line 10 at pc 0
    debug += b"\x02" + sleb(-5) + b"\x01" + uleb(2) + bytes([0x0A + 4])  # line 5 at pc 2
    debug += b"\x03\x00\x01\x01\x05\x00\x06\x00\x09\x00\x08" + bytes([0x0A + 15 + 6]) + b"\x00"  # line 7 at pc 3
    dex = read([one_method([0, 0, 0, 0x000E], debug=debug)])
    assert [dex.line(0, pc) for pc in range(4)] == [10, 10, 5, 7]


def test_damaged_debug_info_gives_no_line() -> None:
    assert read([one_method([0x000E], debug=b"\xff\xff\xff\xff\xff\xff")]).line(0, 0) is None
    assert read([one_method([0x000E])]).line(0, 0) is None


# ------------------------------------------------------------------------------------------------ files


def test_nothing_is_read_from_no_files() -> None:
    dex = read([])
    assert len(dex.strings) == len(dex.op) == len(dex.class_type) == 0
    assert dex.insn_off.tolist() == [0]


@pytest.mark.parametrize("version", range(35, 42))
def test_every_version_reads_alike(version: int) -> None:
    writer = Writer(version=version)
    writer.add(Class("La;", direct=[Method("m", code=Code([0x000E]))]))
    dex = read([writer.build()])
    assert dex.versions == (version,)
    assert len(dex.op) == 1
    assert not dex.problems


def test_a_container_holds_several_dex_files() -> None:
    writers = []
    for name in ("La;", "Lb;", "Lc;"):
        writer = Writer()
        text = writer.string("in " + name)
        writer.add(Class(name, direct=[Method("m", code=Code([0x001A, text, 0x000E]))]))
        writers.append(writer)
    dex = read([container(writers)], ["classes.dex"])
    assert dex.names == ("classes.dex", "classes.dex!1", "classes.dex!2")
    assert [dex.strings[dex.type_descriptor[t]] for t in dex.class_type] == ["La;", "Lb;", "Lc;"]
    assert [dex.strings[x] for x, op in zip(dex.x, dex.op, strict=True) if op == 0x1A] == ["in La;", "in Lb;", "in Lc;"]
    assert not dex.problems


def test_dex_files_of_a_container_can_share_their_strings() -> None:
    one, two = Writer(), Writer()
    for writer in (one, two):
        for text in ("La;", "Ljava/lang/Object;", "V", "m", "shared"):
            writer.string(text)
    one.add(Class("La;", direct=[Method("m", code=Code([0x001A, 4, 0x000E]))]))
    two.add(Class("Ljava/lang/Object;", superclass=None, direct=[Method("m", code=Code([0x001A, 4, 0x000E]))]))
    data = bytearray(container([one, two]))
    second = struct.unpack_from("<I", data, 32)[0]
    data[second + 56 : second + 64] = data[56:64]
    dex = read([bytes(data)])
    assert [dex.strings[x] for x, op in zip(dex.x, dex.op, strict=True) if op == 0x1A] == ["shared", "shared"]
    assert len(dex.strings) == 5


def test_a_header_walk_ends() -> None:
    writers = [Writer(), Writer()]
    for writer in writers:
        writer.add(Class("La;"))
    whole = container(writers)
    for size in (0, 1, 0x77, 0xFFFFFFFF):
        data = bytearray(whole)
        data[32:36] = struct.pack("<I", size)
        dex = read([bytes(data)])
        assert len(dex.names) == 1
        assert dex.problems


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: b"", "0x0"),
        (lambda d: b"PK\x03\x04" + d, "0x0"),
        (lambda d: bytes(0x70), "0x0"),
        (lambda d: d[:0x60], "0x0"),
        (lambda d: d[:56] + b"\xff\xff\xff\x7f" + d[60:], "0x38"),
        (lambda d: d[:0x74], "0x38"),
    ],
)
def test_what_cannot_be_read_names_file_and_offset(change, where: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnreadableInput, match=f"broken.dex: offset {where}:"):
        read([change(one_method([0x000E]))], ["broken.dex"])


def test_an_unreadable_file_can_be_skipped_but_not_the_last_one() -> None:
    good, bad = one_method([0x000E]), b"no dex"
    dex = read([bad, good, bad], ["a", "b", "c"], skip_unreadable=True)
    assert dex.names == ("b",)
    assert [problem.file for problem in dex.problems] == ["a", "c"]
    assert len(dex.op) == 1
    with pytest.raises(UnreadableInput):
        read([bad, bad], skip_unreadable=True)


def test_big_endian_files_are_not_supported() -> None:
    data = one_method([0x000E])
    with pytest.raises(UnsupportedFeature, match="big-endian"):
        read([data[:40] + bytes.fromhex("12345678") + data[44:]])


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        (8, b"\0\0\0\0", ""),
        (12, bytes(20), ""),
        (32, b"\xff\xff", "size"),
        (36, b"\x80", "header"),
        (40, b"\0", "endian"),
    ],
)
def test_a_wrong_header_field_is_no_reason_to_give_up(at: int, value: bytes, what: str) -> None:
    data = one_method([0x000E])
    dex = read([data[:at] + value + data[at + len(value) :]])
    assert len(dex.op) == 1
    assert bool(dex.problems) == bool(what)
    assert all(what in problem.what for problem in dex.problems)


def test_bytes_behind_the_dex_are_reported_and_harmless() -> None:
    dex = read([one_method([0x000E]) + bytes(1001), one_method([0, 0x000E])])
    assert dex.op.tolist() == [0x0E, 0x00, 0x0E]
    assert [problem.where for problem in dex.problems] == ["offset 0x20"]


def test_ids_out_of_range_do_not_hide_the_rest() -> None:
    writer = Writer()
    writer.method("Lb;", "f", "(I)V")
    writer.field("Lb;", "g", "I")
    writer.add(Class("La;", direct=[Method("m", code=Code([0x000E]))]))
    data = bytearray(writer.build())
    for table, offset, width in ((64, 0, "<I"), (72, 4, "<I"), (80, 2, "<H"), (88, 2, "<H")):
        position = struct.unpack_from("<I", data, table + 4)[0]
        struct.pack_into(width, data, position + offset, 0xFFFF)
    dex = read([seal(bytes(data))])
    assert len(dex.op) == 1
    assert {problem.where for problem in dex.problems} == {"id tables"}
    n_types = len(dex.type_descriptor)
    for column, limit in (
        (dex.type_descriptor, len(dex.strings)),
        (dex.proto_return, n_types),
        (dex.proto_params, n_types),
        (dex.field_type, n_types),
        (dex.method_proto, len(dex.proto_return)),
    ):
        assert column.max(initial=-1) < limit
    assert len(dex.proto_params_off) == len(dex.proto_return) + 1
    assert "" in list(dex.strings)


def test_a_truncated_file_keeps_what_is_whole() -> None:
    writer = Writer()
    writer.add(Class("La;", direct=[Method("m", code=Code([0x000E]))]))
    writer.add(Class("Lb;", direct=[Method("n", code=Code([0] * 500 + [0x000E]))]))
    dex = read([writer.build()[:-900]])
    assert dex.class_type.tolist() == [0, 2] or len(dex.class_type) == 2
    assert dex.problems


# ------------------------------------------------------------------------------------------------ hostile input


def test_shared_payloads_cannot_blow_up_memory() -> None:
    """Many switches on one large payload: rows would be (switches x cases)."""
    cases, switches = 2_000, 2_000
    start = 3 * switches + 2 & ~1
    units: list[int] = []
    for i in range(switches):
        offset = start - 3 * i
        units += [0x002B, offset & 0xFFFF, offset >> 16]
    units += [0x000E] + [0] * (start - len(units) - 1)
    units += [0x0100, cases, 0, 0] + [0, 0] * cases
    assert "more code" in status(one_method(units)) or "branch" in status(one_method(units))


def test_overlapping_code_items_cannot_blow_up_memory() -> None:
    n = 3_000
    writer = Writer()
    writer.add(Class("La;", direct=[Method(f"m{i}", code=Code([0] * 7 + [0x000E])) for i in range(n)]))
    data = bytearray(writer.build())
    whole = read([bytes(data)])
    for offset in whole.code_off.tolist():
        struct.pack_into("<I", data, offset + 12, (len(data) - offset - 16) // 2)
    dex = read([bytes(data)])
    assert int(dex.code_units.astype(np.int64).sum()) <= 2 * len(data)
    assert len(dex.op) <= 2 * len(data)
    assert dex.problems


def test_overlapping_strings_cannot_take_quadratic_time() -> None:
    n = 20_000
    writer = Writer()
    writer.strings += [b"%d" % i for i in range(n)]
    writer.strings.append(b"x" * 1_000_000)
    data = bytearray(writer.build())
    start, size = struct.unpack_from("<I", data, 60)[0], len(data)
    last = struct.unpack_from("<I", data, start + 4 * n)[0]
    for i in range(n):
        struct.pack_into("<I", data, start + 4 * i, last + i)
    dex = read([bytes(data)])
    assert any("strings" in problem.what for problem in dex.problems)
    assert len(data) == size


def test_shared_class_data_cannot_blow_up_memory() -> None:
    n = 2_000
    writer = Writer()
    writer.add(Class("La;", static_fields=[(f"f{i}", "I", 9) for i in range(n)]))
    for i in range(n):
        writer.add(Class(f"Lc{i};"))
    data = bytearray(writer.build())
    table = struct.unpack_from("<I", data, 100)[0]
    for i in range(n):
        data[table + 32 * (i + 1) + 24 : table + 32 * (i + 1) + 28] = data[table + 24 : table + 28]
    dex = read([bytes(data)])
    assert len(dex.ef_class) <= len(data)
    assert dex.problems


def test_tables_made_to_collide_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels give up on a table with too many collisions; the answer is the same."""
    from analyzer.dex import kernels

    data = one_method([0x000E])
    expected = read([data])
    monkeypatch.setattr(kernels, "intern_strings", lambda *_: -1)
    monkeypatch.setattr(kernels, "intern_rows", lambda *_: -1)
    got = read([data])
    assert list(got.strings) == list(expected.strings)
    for name in ("type_descriptor", "proto_return", "method_class", "em_code"):
        assert np.array_equal(getattr(got, name), getattr(expected, name))


def test_colliding_keys_end_the_search() -> None:
    from analyzer.dex import kernels

    n = 5_000
    # Texts of a thousand lengths, all with the same hash.
    start, size = np.zeros(n, np.int64), (np.arange(n) % 1000).astype(np.int32)
    work = [np.zeros(1 << 14, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)]
    got = kernels.intern_strings(np.zeros(2_000, np.uint8), start, size, np.zeros(n, np.uint64), *work)  # type: ignore[no-untyped-call]
    assert got == -1
