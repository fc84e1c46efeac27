"""Programs: names and ids, definitions, synthetic code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analyzer.builder import BodyBuilder
from analyzer.dex import opcodes
from analyzer.ir import CallKind, Op
from analyzer.pretty import class_name, format_op, short_name
from analyzer.program import FieldRef, MethodRef, Program, split_descriptor
from tests.analyzer.columns import Columns
from tests.analyzer.real_code import APKS, methods_of, program_of, suite_files

SAMPLE = """
    new-instance v0 LB;
    invoke-direct v0 LB;-><init>()V
    const-class v1 LC;
    sget-object v1 LA;->s:LB;
    sput-object v0 LA;->t:LB;
    invoke-static v0 p0 LA;->use(LB;I)I
    move-result v1
    return v1
"""


def sample() -> Program:
    columns = Columns()
    columns.add("LA;->m(I)I", 3, SAMPLE)
    columns.add("LA;->use(LB;I)I", 2, "return p1")
    return columns.program()


def test_descriptors_are_split_as_the_dex_format_says() -> None:
    assert split_descriptor("()V") == ([], "V")
    assert split_descriptor("([[ILa/B;J[LC;Z)[D") == (["[[I", "La/B;", "J", "[LC;", "Z"], "[D")
    for wrong in ("", "V", "(V", "()", "(La/B)V", "([)V"):
        with pytest.raises(ValueError, match="descriptor"):
            split_descriptor(wrong)


def test_ids_and_names_go_both_ways() -> None:
    program = sample()
    method = program.method_find("LA;", "use", "(LB;I)I")
    b, number = program.type_find("LB;"), program.type_find("I")
    assert program.method(method) == MethodRef(program.type_find("LA;"), "use", (b, number), number)
    assert program.signature(method) == "LA;->use(LB;I)I"
    assert program.descriptor(method) == "(LB;I)I"
    field = program.field_find("LA;", "s", "LB;")
    assert program.field(field) == FieldRef(program.type_find("LA;"), "s", b)
    assert program.field_signature(field) == "LA;->s:LB;"


def test_unknown_names_are_not_found_and_then_interned_behind_the_dex() -> None:
    program = sample()
    assert program.type_find("LNew;") == program.method_find("LNew;", "f", "()V") == -1
    assert program.field_find("LNew;", "f", "I") == program.method_find("LA;", "f", "(LNew;)V") == -1
    created = program.type_id("LNew;")
    assert created >= program.n_dex_types
    assert program.type_name(created) == "LNew;"
    assert program.type_id("LNew;") == program.type_find("LNew;") == created
    method = program.method_id("LNew;", "f", "([LOther;I)LA;")
    assert method >= program.n_dex_methods
    assert program.method_id("LNew;", "f", "([LOther;I)LA;") == method
    assert program.signature(method) == "LNew;->f([LOther;I)LA;"
    assert program.definition(method) is None
    assert not program.has_code(method)
    field = program.field_id("LA;", "new", "LNew;")
    assert field >= program.n_dex_fields
    assert program.field_id("LA;", "new", "LNew;") == field == program.field_find("LA;", "new", "LNew;")


def test_names_of_the_dex_keep_their_ids() -> None:
    program = sample()
    assert program.method_id("LA;", "use", "(LB;I)I") < program.n_dex_methods
    assert program.field_id("LA;", "s", "LB;") < program.n_dex_fields
    assert program.type_id("LB;") < program.n_dex_types


def test_scan_lists_what_the_code_mentions() -> None:
    program = sample()
    found = program.scan(program.method_find("LA;", "m", "(I)I"))
    calls = [(kind, program.signature(m)) for kind, m in found.calls]
    assert calls == [(CallKind.DIRECT, "LB;-><init>()V"), (CallKind.STATIC, "LA;->use(LB;I)I")]
    assert [program.type_name(t) for t in found.news] == ["LB;"]
    assert [program.type_name(t) for t in found.const_classes] == ["LC;"]
    assert [program.field(f).name for f in found.reads] == ["s"]
    assert [program.field(f).name for f in found.writes] == ["t"]
    assert program.scan(program.method_find("LB;", "<init>", "()V")).calls == []


def test_a_synthetic_method_is_scanned_too() -> None:
    program = sample()
    builder = BodyBuilder(0)
    created = builder.new(program.type_id("LB;"))
    builder.sput(program.field_id("LA;", "t", "LB;"), created)
    builder.call(CallKind.DIRECT, program.method_id("LB;", "<init>", "()V"), [created], False)
    method = program.add_method("Lenv/Main;", "run", "()V", 8, builder.build())
    found = program.scan(method)
    assert found.calls == [(CallKind.DIRECT, program.method_find("LB;", "<init>", "()V"))]
    assert found.news == [program.type_find("LB;")]
    assert found.writes == [program.field_find("LA;", "t", "LB;")]
    assert found.reads == found.const_classes == []


def test_what_is_static_is_known_from_the_definition_or_the_calls() -> None:
    program = sample()
    assert program.is_static(program.method_find("LA;", "m", "(I)I"))
    assert not program.is_static(program.method_find("LB;", "<init>", "()V"))


def test_a_synthetic_method_has_a_definition_and_a_body() -> None:
    program = sample()
    kind = program.add_class("Lenv/Main;", interfaces=["LI;"])
    body = BodyBuilder(0).build()
    method = program.add_method("Lenv/Main;", "run", "()V", 8, body)
    assert program.body(method) is body
    assert program.has_code(method)
    assert program.is_static(method)
    defined = program.class_of(kind)
    assert defined is not None
    assert defined.methods == (method,)
    assert defined.interfaces == (program.type_find("LI;"),)
    assert program.classes[-1] is defined
    definition = program.definition(method)
    assert definition is not None
    assert (definition.cls, definition.code) == (kind, -1)
    assert program.line(method, 0) is None
    other = BodyBuilder(0).build()
    assert program.add_method("Lenv/Main;", "run", "()V", 8, other) == method
    assert program.body(method) is other
    assert program.class_of(kind).methods == (method,)  # type: ignore[union-attr]


def test_definitions_of_the_dex_are_not_replaced() -> None:
    program = sample()
    with pytest.raises(ValueError, match="defined already"):
        program.add_method("LA;", "m", "(I)I", 8, None)
    with pytest.raises(ValueError, match="defined already"):
        program.add_class("LA;")


def test_asking_for_a_body_that_there_is_not_is_an_error() -> None:
    program = sample()
    with pytest.raises(ValueError, match="no code"):
        program.body(program.method_find("LB;", "<init>", "()V"))


def test_bodies_are_cached_and_can_be_forgotten() -> None:
    program = sample()
    body = program.body(0)
    assert program.body(0) is body
    program.forget(0)
    assert program.body(0) is not body


# ----------------------------------------------------------------- real code


@pytest.mark.parametrize("apk", APKS[:12], ids=lambda path: path.stem)
def test_the_columns_and_the_names_of_an_app_agree(apk: Path) -> None:
    check_names(program_of(apk))


def test_the_columns_and_the_names_of_suite_apps_agree(suites: Path) -> None:
    for path in suite_files(suites)[:4]:
        check_names(program_of(path))


def check_names(program: Program) -> None:
    dex = program.dex
    for method in range(0, program.n_dex_methods, 7):
        ref = program.method(method)
        assert program.method_find(program.type_name(ref.cls), ref.name, program.descriptor(method)) == method
    for field in range(0, program.n_dex_fields, 7):
        name = program.field(field)
        found = program.field_find(program.type_name(name.cls), name.name, program.type_name(name.type))
        assert found == field
    for kind in range(0, program.n_dex_types, 7):
        assert program.type_find(program.type_name(kind)) == kind
    seen = set()
    for defined in program.classes:
        assert defined.type not in seen
        seen.add(defined.type)
        assert program.class_of(defined.type) is defined
        for method in defined.methods:
            definition = program.definition(method)
            assert definition is not None
            assert definition.cls == defined.type == program.method(method).cls
    invokes = np.char.startswith(np.array(opcodes.NAMES), "invoke")
    codes = {program.definition(m).code for m in program.methods_with_code()}  # type: ignore[union-attr]
    calls = sum(int(invokes[dex.op[dex.insn_off[c] : dex.insn_off[c + 1]]].sum()) for c in codes)
    by_code = {program.definition(m).code: m for m in program.methods_with_code()}  # type: ignore[union-attr]
    assert sum(len(program.scan(m).calls) for m in by_code.values()) == calls


def test_bodies_and_scans_mention_the_same_calls(suites: Path) -> None:
    program = program_of(suite_files(suites)[0])
    for method in methods_of(program):
        body = program.body(method)
        lifted = [(int(body.c[op]), int(body.ref[op])) for op in range(len(body.op)) if body.op[op] == Op.CALL]
        assert set(lifted) <= set(program.scan(method).calls)


# -------------------------------------------------------------------- text


def test_operations_read_like_java() -> None:
    program = sample()
    body = program.body(program.method_find("LA;", "m", "(I)I"))
    assert [format_op(program, body, op) for op in range(len(body.op))] == [
        "v0 = new B",
        "v0.B()",
        "v1 = C.class",
        "v1 = A.s",
        "A.t = v0",
        "v1 = A.use(v0, p0)",
        "return v1",
    ]


def test_class_names_are_javas() -> None:
    assert class_name("[[La/b/C$D;") == "a.b.C$D[][]"
    assert class_name("J") == "long"
    assert short_name("[La/b/C;") == "C[]"


def test_every_operation_of_every_sample_app_has_a_text() -> None:
    for apk in APKS:
        program = program_of(apk)
        for method in methods_of(program, 40):
            body = program.body(method)
            for op in range(len(body.op)):
                text = format_op(program, body, op)
                assert text
                assert "\n" not in text
                assert "?" not in text.split('"')[0]


def test_mentions_of_many_methods_are_those_of_each() -> None:
    for apk in APKS:
        program = program_of(apk)
        methods = methods_of(program)
        found, scans = program.mentions(methods), [(program.method(m).cls, program.scan(m)) for m in methods]
        calls = {(kind, ref) for _, scan in scans for kind, ref in scan.calls}
        assert found.calls == sorted(call for call in calls if call[0] != CallKind.SUPER)
        assert found.supers == sorted(
            {(cls, ref) for cls, scan in scans for kind, ref in scan.calls if kind == CallKind.SUPER}
        )
        assert found.news == sorted({t for _, scan in scans for t in scan.news})
        assert found.const_classes == sorted({t for _, scan in scans for t in scan.const_classes})
        assert found.statics == sorted({f for _, scan in scans for f in (*scan.reads, *scan.writes)})
