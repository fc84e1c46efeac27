"""Lifting: what each kind of instruction becomes."""

from __future__ import annotations

import numpy as np
import pytest

from analyzer.dex import opcodes
from analyzer.ir import Body, CallKind, Op
from analyzer.lift import CALL_KIND, OPERATION, RESULT
from analyzer.program import Program
from gpu.errors import UnreadableInput
from tests.analyzer.columns import Columns


def lift(text: str, registers: int = 6, signature: str = "LA;->m(I)V") -> tuple[Program, Body]:
    columns = Columns()
    method = columns.add(signature, registers, text)
    program = columns.program()
    return program, program.body(method)


def row(body: Body, op: int) -> tuple[Op, int, int, int, int]:
    return Op(int(body.op[op])), *(int(column[op]) for column in (body.dst, body.a, body.b, body.c))  # type: ignore[return-value]


def test_every_assigned_opcode_but_nop_means_something() -> None:
    for opcode, name in enumerate(opcodes.NAMES):
        assert (OPERATION[opcode] == Op.NOP) == (name in ("nop", "unused")), name
        assert (CALL_KIND[opcode] >= 0) == name.startswith("invoke"), name
        assert (OPERATION[opcode] == RESULT) == name.startswith("move-result"), name


def test_loads_and_stores_have_base_before_value() -> None:
    program, body = lift("""
        const-string v0 "x"
        const/4 v1 3
        iput-object v0 p0 LA;->f:Ljava/lang/Object;
        iget-object v2 p0 LA;->f:Ljava/lang/Object;
        aput-object v2 p0 v1
        aget-object v3 p0 v1
        sput-object v3 LA;->s:Ljava/lang/Object;
        sget-object v4 LA;->s:Ljava/lang/Object;
        return-object v4
    """)
    text, number, load, element, static = 1, 2, 3, 4, 5
    assert row(body, 2) == (Op.PUT, -1, 0, text, -1)
    assert row(body, 3) == (Op.GET, load, 0, -1, -1)
    assert row(body, 4) == (Op.APUT, -1, 0, number, load)
    assert row(body, 5) == (Op.AGET, element, 0, number, -1)
    assert row(body, 6) == (Op.SPUT, -1, element, -1, -1)
    assert row(body, 7) == (Op.SGET, static, -1, -1, -1)
    assert row(body, 8) == (Op.RETURN, -1, static, -1, -1)
    assert program.field_signature(int(body.ref[2])) == "LA;->f:Ljava/lang/Object;"


def test_a_call_takes_its_result_and_drops_second_halves() -> None:
    program, body = lift(
        """
        invoke-virtual v0 v1 v2 v3 v4 LB;->f(JID)I
        move-result v0
        return v0
        """,
        signature="LA;->m()I",
    )
    assert row(body, 0)[0] == Op.CALL
    assert body.arg_off[1] == 4  # undefined registers here, but one operand for each of receiver, long, int, double
    assert body.c[0] == CallKind.VIRTUAL
    assert program.signature(int(body.ref[0])) == "LB;->f(JID)I"
    assert row(body, 1) == (Op.RETURN, -1, 0, -1, -1)


@pytest.mark.parametrize("kind", [k for k in CallKind if k < CallKind.POLYMORPHIC])
def test_each_kind_of_call_is_kept(kind: CallKind) -> None:
    for suffix in ("", "/range"):
        _, body = lift(f"invoke-{kind.name.lower()}{suffix} p0 LB;->f{'(I)V' if kind == CallKind.STATIC else '()V'}")
        assert body.c[0] == kind
        assert body.args.tolist() == [0]


def test_a_polymorphic_call_names_the_method_with_the_call_sites_descriptor() -> None:
    program, body = lift("""
        invoke-polymorphic p0 p0 Ljava/lang/invoke/MethodHandle;->invoke([Ljava/lang/Object;)Ljava/lang/Object; (I)V
        return-void
    """)
    assert program.signature(int(body.ref[0])) == "Ljava/lang/invoke/MethodHandle;->invoke(I)V"
    assert body.args.tolist() == [0, 0]
    assert program.scan(0).calls == [(CallKind.POLYMORPHIC, int(body.ref[0]))]


def test_filled_new_array_is_an_array_and_a_store_per_element() -> None:
    _, body = lift("""
        const-string v0 "x"
        filled-new-array p0 v0 [Ljava/lang/Object;
        move-result-object v1
        return-object v1
    """)
    kinds = [Op(int(o)) for o in body.op]
    assert kinds == [Op.STRING, Op.CONST, Op.NEW_ARRAY, Op.CONST, Op.APUT, Op.CONST, Op.APUT, Op.RETURN]
    array = int(body.dst[2])
    assert body.constant[int(body.a[2])] == 2
    for store, index, value in ((4, 0, 0), (6, 1, int(body.dst[0]))):
        assert body.a[store] == array
        assert body.constant[int(body.b[store])] == index
        assert body.c[store] == value
    assert body.a[7] == array


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("const/4 v0 -8", -8),
        ("const/16 v0 -300", -300),
        ("const v0 0x7fffffff", 0x7FFFFFFF),
        ("const-wide/16 v0 -1", -1),
        ("const-wide v0 -0x123456789abc", -0x123456789ABC),
        ("const-wide/high16 v0 0x4000000000000000", 1 << 62),
        ("const/4 v0 6\n mul-int/lit8 v0 v0 7", 42),
        ("const/4 v1 6\n const/4 v2 7\n sub-int v0 v1 v2", -1),
        ("const/4 v1 6\n rsub-int v0 v1 2", -4),
        ("const/4 v1 -7\n div-int/lit8 v0 v1 2", -3),
        ("const/4 v1 -7\n rem-int/lit8 v0 v1 2", -1),
        ("const v1 0x7fffffff\n add-int/lit8 v0 v1 1", -(1 << 31)),
        ("const/4 v1 -1\n ushr-int/lit8 v0 v1 28", 15),
        ("const/4 v1 1\n shl-int/lit8 v0 v1 33", 2),
        ("const v1 0x1ff\n int-to-byte v0 v1", -1),
        ("const v1 0x1ffff\n int-to-char v0 v1", 0xFFFF),
        ("const-wide v0 0x100000007\n long-to-int v0 v0", 7),
    ],
)
def test_numbers_are_known(text: str, value: int) -> None:
    _, body = lift(f"{text}\n return v0")
    assert body.constant[int(body.a[-1])] == value


def test_division_by_zero_and_floats_are_not_folded() -> None:
    for text in ("div-int/lit8 v0 v0 0", "rem-int v0 v0 v1", "add-float v0 v0 v1", "int-to-float v0 v0"):
        _, body = lift(f"const/4 v0 5\n const/4 v1 0\n {text}\n return v0")
        assert int(body.a[-1]) not in body.constant


def test_what_may_throw_is_marked() -> None:
    _, body = lift("""
        const/4 v0 5
        add-int v0 v0 v0
        div-int v0 v0 v0
        div-float v0 v0 v0
        const-string v1 "s"
        monitor-enter v1
        array-length v2 v1
        instance-of v2 v1 LB;
        return-void
    """)
    assert body.throws.tolist() == [False, False, True, False, True, True, True, True, False]


def test_damaged_code_is_refused_by_name() -> None:
    columns = Columns()
    columns.add("LA;->fine()V", 1, "return-void")
    columns.add("LA;->register()V", 1, "const/4 v3 0\n return-void")
    columns.add("LA;->argument()V", 1, "invoke-static v9 LA;->use(I)V\n return-void")
    columns.add("LA;->empty()V", 1, "")
    dex = columns.dex()
    dex.code_status[0] = 0
    program = Program(dex)
    assert len(program.body(0).op) == 1
    for method in range(1, 4):
        name = program.method(program.method_find("LA;", ("register", "argument", "empty")[method - 1], "()V")).name
        with pytest.raises(UnreadableInput, match=f"LA;->{name}"):
            program.body(program.method_find("LA;", name, "()V"))


def test_arrays_have_the_promised_types() -> None:
    _, body = lift("return-void")
    assert body.op.dtype == np.uint8
    assert body.throws.dtype == body.in_cycle.dtype == np.bool_
    for name in ("pc", "dst", "a", "b", "c", "ref", "arg_off", "args", "block_off", "succ_off", "succ", "block_range"):
        array = getattr(body, name)
        assert array.dtype == np.int32
        assert array.flags.c_contiguous
