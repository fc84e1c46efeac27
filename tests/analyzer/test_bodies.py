"""Bodies that kernels make for many methods at once are those of the readable version, one by one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import bodies, lift
from analyzer.ir import Body, CallKind, Op
from analyzer.kernels import layout
from analyzer.program import Program
from gpu.errors import UnreadableInput
from tests.analyzer.columns import Columns
from tests.analyzer.readable import ssa
from tests.analyzer.real_code import APKS, code_of, methods_of, program_of, suite_files
from tests.analyzer.test_constants import assemble, instruction

REGISTERS = 5
LINES = 14

register = st.integers(0, REGISTERS - 1)
line = st.integers(0, LINES - 1)


def readable(program: Program, method: int) -> Body:
    code = code_of(program, method)
    return ssa.build(program.table.code(code), program.table, program._parameter_registers(method, code))


def check(program: Program, methods: list[int]) -> None:
    """All bodies of a program, built in one call, against the readable version."""
    program.prepare(methods)
    for method in methods:
        found, wanted = program.body(method), readable(program, method)
        for field in fields(Body):
            ours, theirs = getattr(found, field.name), getattr(wanted, field.name)
            where = f"{program.signature(method)}: {field.name}"
            if isinstance(theirs, np.ndarray):
                assert ours.dtype == theirs.dtype, where
                assert ours.flags.c_contiguous, where
                assert ours.tolist() == theirs.tolist(), where
            else:
                assert ours == theirs, where


@st.composite
def odd_instruction(draw: st.DrawFn) -> str:
    """Any kind of instruction; the code need not be valid."""
    a, b, c = (f"v{draw(register)}" for _ in range(3))
    target = f":l{draw(line)}"
    texts = (
        f"move {a} {b}", f"const/4 {a} {draw(st.integers(-2, 2))}", f'const-string {a} "x"', f"return {a}",
        f"if-eqz {a} {target}", f"if-lt {a} {b} {target}", f"goto {target}", "nop", f"throw {a}",
        f"packed-switch {a} 0={target} 1=:l{draw(line)} 2=:l0", f"invoke-static {a} {b} LA;->use(II)I",
        f"move-result {a}", f"move-exception {a}", f"add-int {a} {b} {c}", f"div-int {a} {b} {c}",
        f"aget {a} {b} {c}", f"aput {a} {b} {c}", f"filled-new-array {a} {b} [I", f"array-length {a} {b}",
        f"check-cast {a} LE;", f"rsub-int {a} {b} 3", f"cmp-long {a} {b} {c}",
    )  # fmt: skip
    return draw(st.sampled_from(texts))


@settings(max_examples=400)
@given(
    st.lists(st.lists(odd_instruction(), min_size=1, max_size=LINES), min_size=1, max_size=4),
    st.lists(st.tuples(line, line, line, st.booleans()), max_size=3),
)
def test_bodies_of_random_code_are_those_of_the_readable_version(
    texts: list[list[str]], tries: list[tuple[int, int, int, bool]]
) -> None:
    columns = Columns()
    for number, lines in enumerate(texts):
        text = "".join(f"\n:l{k}\n{words}" for k, words in enumerate(lines))
        text += "".join(f"\n:l{k}" for k in range(len(lines), LINES)) + "\nreturn-void"
        at = -1
        for first, end, handler, everything in sorted(tries):
            if at <= first < end:
                text += f"\n.catch {'all' if everything else 'LE;'} :l{first} :l{end} :l{handler}"
                at = end
        columns.add(f"LA;->m{number}(I)V", REGISTERS + 1, text)
    program = columns.program()
    check(program, list(program.methods_with_code()))


@settings(max_examples=200)
@given(st.lists(instruction(), min_size=3, max_size=12))
def test_bodies_of_code_full_of_constants_are_those_of_the_readable_version(lines: list[str]) -> None:
    program, method = assemble(lines)
    check(program, [method])


NUMBERS = (0, 1, -1, 2, 31, 33, 0x7FFFFFFF, -0x80000000, 0x123456789ABC, -(1 << 63), (1 << 63) - 1)
BINARY = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr", "ushr")
UNARY = (
    *("neg-int", "not-int", "neg-long", "not-long", "int-to-long", "long-to-int"),
    *("int-to-byte", "int-to-char", "int-to-short"),
)


@pytest.mark.parametrize("kind", ["int", "long"])
def test_numbers_are_those_of_the_readable_version(kind: str) -> None:
    columns = Columns()
    for x in NUMBERS:
        for y in NUMBERS:
            text = f"const-wide v0 {x}\nconst-wide v1 {y}\ncmp-long v4 v0 v1\n"
            text += "".join(f"{name}-{kind} v2 v0 v1\n{name}-{kind}/2addr v3 v1\n" for name in BINARY)
            text += "".join(f"{name} v2 v0\n" for name in UNARY)
            columns.add(f"LA;->m{len(columns.codes)}()V", 5, text + "return-void")
    program = columns.program()
    check(program, list(program.methods_with_code()))


@pytest.mark.parametrize("apk", APKS, ids=lambda path: path.stem)
def test_bodies_of_the_sample_apps_are_those_of_the_readable_version(apk: Path) -> None:
    program = program_of(apk)
    check(program, methods_of(program))


def test_bodies_of_suite_apps_are_those_of_the_readable_version(suites: Path) -> None:
    for path in suite_files(suites):
        program = program_of(path)
        check(program, methods_of(program, 4000))


def test_work_space_and_output_grow_as_needed() -> None:
    """Phis of every register in every block: more than there is room for at first."""
    columns = Columns()
    registers = 60
    text = "".join(f"const/4 v{r} 1\n" for r in range(registers))
    for k in range(40):
        text += f":head{k}\n" + "".join(
            f"invoke-static v{r} LA;->use(I)I\nmove-result v{r}\n" for r in range(registers)
        )
        text += f"if-eqz v0 :head{k}\n"
    columns.add("LA;->m()V", registers, text + "return-void")
    columns.add("LA;->n()V", 1, "return-void")
    program = columns.program()
    check(program, list(program.methods_with_code()))
    body = program.body(0)
    assert int((body.op == Op.PHI).sum()) == 40 * registers


def test_too_many_registers_for_the_blocks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = Columns()
    columns.add(
        "LA;->m(I)V", 10, "".join(f"if-eqz p0 :l{k}\nconst/4 v0 {k}\n:l{k}\n" for k in range(5)) + "return-void"
    )
    columns.add("LA;->n()V", 1, "return-void")
    program = columns.program()
    monkeypatch.setattr(bodies, "LARGEST", 100)
    program.prepare((0, 1))
    with pytest.raises(UnreadableInput, match=r"LA;->m\(I\)V: 10 registers in 11 blocks are too many"):
        program.body(0)
    assert len(program.body(1).op) == 1


def test_kernels_and_arrays_name_things_alike() -> None:
    for op in Op:
        assert getattr(layout, op.name) == op
    for name in ("OP", "PC", "DST", "A", "B", "C", "REF", "THROWS"):
        assert getattr(layout, f"R_{name}") == getattr(lift, name)
    assert max(Op) < layout.MOVE
    assert len(CallKind) == 7
