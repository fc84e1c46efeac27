"""SSA bodies: laws on random and real code, and cases worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import bodies
from analyzer.ir import Body, Op
from analyzer.program import Program
from tests.analyzer.columns import Columns
from tests.analyzer.real_code import APKS, methods_of, program_of, suite_files
from tests.analyzer.ssa_laws import check_against_reaching, check_dominance, check_shape, operands


def body_of(text: str, registers: int = 4, signature: str = "LA;->m(I)V") -> Body:
    columns = Columns()
    method = columns.add(signature, registers, text)
    body = columns.program().body(method)
    check_shape(body)
    check_dominance(body)
    return body


def ops(body: Body, *kinds: Op) -> list[int]:
    return [op for op in range(len(body.op)) if body.op[op] in kinds]


def definition(body: Body, value: int) -> int:
    (op,) = (op for op in range(len(body.op)) if body.dst[op] == value)
    return op


def check_laws(program: Program, method: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body = program.body(method)
    check_shape(body)
    if len(body.op) > 800:
        return
    check_dominance(body)
    with monkeypatch.context() as patched:
        patched.setattr(bodies, "ROUNDS", 1)
        program.forget(method)
        body = program.body(method)
        program.forget(method)
    check_shape(body)
    check_dominance(body)
    check_against_reaching(program, method, body)


@pytest.mark.parametrize("apk", APKS, ids=lambda path: path.stem)
def test_bodies_of_the_sample_apps_obey_the_laws(apk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(apk)
    for method in methods_of(program):
        check_laws(program, method, monkeypatch)


def test_bodies_of_suite_apps_obey_the_laws(suites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = 0
    for path in suite_files(suites):
        program = program_of(path)
        for method in methods_of(program, 150):
            check_laws(program, method, monkeypatch)
            checked += 1
    assert checked > 1000


REGISTER = st.integers(0, 2)
TARGET = st.integers(0, 11)
DEFINITION = st.one_of(
    st.builds("const/4 v{} {}".format, REGISTER, st.integers(0, 3)),
    st.builds("move v{} v{}".format, REGISTER, REGISTER),
    st.builds("add-int v{} v{} p0".format, REGISTER, REGISTER),
)
THROWING = st.one_of(
    st.builds('const-string v{} "s"'.format, REGISTER),
    st.builds("invoke-static v{} LA;->use(I)I\n move-result v{}".format, REGISTER, REGISTER),
    st.builds("check-cast v{} LB;".format, REGISTER),
    st.builds("aput v{} v{} v{}".format, REGISTER, REGISTER, REGISTER),
    st.just("invoke-static LA;->none()V"),
)
JUMP = st.one_of(
    st.builds("if-eq v{} p0 :l{}".format, REGISTER, TARGET),
    st.builds("packed-switch p0 0=:l{} 1=:l{}".format, TARGET, TARGET),
    st.builds("goto :l{}".format, TARGET),
    st.sampled_from(("move-exception v0", "throw v0")),
)


@st.composite
def random_code(draw: st.DrawFn) -> str:
    """Code in which every register is defined and used at the end, with branches and disjoint try ranges anywhere."""
    lines = draw(st.lists(st.one_of(DEFINITION, DEFINITION, THROWING, THROWING, JUMP), min_size=4, max_size=11))
    text = "\n".join(f"const/4 v{r} {r}" for r in range(3))
    text += "".join(f"\n:l{k}\n{words}" for k, words in enumerate(lines))
    text += "".join(f"\n:l{k}" for k in range(len(lines), 12))
    text += "\ninvoke-static v0 v1 v2 LA;->all(III)V\nreturn-void"
    cuts = sorted(draw(st.lists(st.integers(0, len(lines)), max_size=4, unique=True)))
    for begin, end in zip(cuts[::2], cuts[1::2], strict=False):
        for kind in draw(st.sampled_from((["all"], ["LE;", "all"], ["LE;"]))):
            text += f"\n.catch {kind} :l{begin} :l{end} :l{draw(TARGET)}"
    return text


@settings(max_examples=600, deadline=None)
@given(random_code())
def test_bodies_of_random_code_obey_the_laws(text: str) -> None:
    columns = Columns()
    method = columns.add("LA;->m(I)V", 4, text)
    with pytest.MonkeyPatch.context() as patch:
        check_laws(columns.program(), method, patch)


# ------------------------------------------------------------------ values


def test_moves_define_nothing() -> None:
    body = body_of("move v0 p0\n move v1 v0\n invoke-static v1 LA;->use(I)V\n return-void")
    assert [Op(o) for o in body.op] == [Op.CALL, Op.RETURN]
    assert operands(body, 0) == [0]


def test_a_join_merges_what_the_branches_define() -> None:
    body = body_of("""
        if-eqz p0 :else
        const-string v0 "a"
        goto :end
    :else
        const-string v0 "b"
    :end
        invoke-static v0 LA;->use(Ljava/lang/String;)V
        return-void
    """)
    (phi,) = ops(body, Op.PHI)
    assert operands(body, phi) == sorted(int(body.dst[op]) for op in ops(body, Op.STRING))
    assert operands(body, ops(body, Op.CALL)[0]) == [body.dst[phi]]


def test_a_join_needs_no_phi_for_what_is_dead_or_equal() -> None:
    body = body_of("""
        const-string v1 "kept"
        move v2 v1
        if-eqz p0 :else
        const-string v0 "a"
        move v2 v1
        goto :end
    :else
        const-string v0 "b"
    :end
        invoke-static v2 LA;->use(Ljava/lang/String;)V
        return-void
    """)
    assert not ops(body, Op.PHI)
    assert operands(body, ops(body, Op.CALL)[0]) == [body.dst[ops(body, Op.STRING)[0]]]


def test_a_loop_keeps_phis_only_for_what_it_changes() -> None:
    body = body_of("""
        const/4 v0 0
        const/4 v1 1
    :head
        if-ge v0 p0 :end
        move v2 v1
        move v1 v2
        add-int v0 v0 v1
        goto :head
    :end
        return-void
    """)
    (phi,) = ops(body, Op.PHI)
    (add,) = ops(body, Op.DATA)
    assert operands(body, phi) == sorted([int(body.dst[ops(body, Op.CONST)[0]]), int(body.dst[add])])
    assert operands(body, add) == [body.dst[phi], body.dst[ops(body, Op.CONST)[1]]]
    assert body.in_cycle.tolist().count(True) == 2


def test_the_entry_has_no_predecessor_even_if_code_branches_to_its_first_instruction() -> None:
    body = body_of("""
    :start
        add-int/lit8 p0 p0 1
        if-eqz p0 :start
        return-void
    """)
    assert body.block_off[1] == 0  # an empty block was put before
    (phi,) = ops(body, Op.PHI)
    assert 0 in operands(body, phi)


def test_a_cast_rebinds_its_register() -> None:
    body = body_of(
        "check-cast p0 LB;\n invoke-static p0 LA;->use(LB;)V\n return-void", signature="LA;->m(Ljava/lang/Object;)V"
    )
    (cast,) = ops(body, Op.CAST)
    assert (body.a[cast], operands(body, 1)) == (0, [body.dst[cast]])


def test_wide_values_are_one_value() -> None:
    body = body_of(
        """
        const-wide v0 0x123456789a
        invoke-static p0 p1 v0 v1 LA;->use(JJ)J
        move-result-wide v0
        add-long/2addr v0 p0
        return-wide v0
        """,
        registers=5,
        signature="LA;->m(JI)J",
    )
    assert body.n_params == 2
    (call,), (const,) = ops(body, Op.CALL), ops(body, Op.CONST)
    assert operands(body, call) == [0, body.dst[const]]
    assert body.constant[int(body.dst[const])] == 0x123456789A
    assert operands(body, ops(body, Op.DATA)[0]) == [body.dst[call], 0]


# -------------------------------------------------------------- exceptions


def test_a_handler_sees_the_state_before_each_throw() -> None:
    body = body_of("""
        const/4 v0 1
    :begin
        const/4 v0 2
        invoke-static LA;->one()I
        move-result v0
        const/4 v0 3
        invoke-static LA;->two()I
        move-result v0
    :end
        return-void
    :handler
        move-exception v1
        invoke-static v0 LA;->use(I)V
        return-void
    .catch all :begin :end :handler
    """)
    (phi,) = ops(body, Op.PHI)
    assert sorted(body.constant[v] for v in operands(body, phi)) == [2, 3]
    block = int(body.block_off.searchsorted(phi, "right")) - 1
    assert body.op[body.block_off[block]] == Op.CAUGHT


def test_what_comes_into_a_range_is_alive_up_to_its_first_throw() -> None:
    body = body_of("""
        const/4 v0 1
        if-eqz p0 :begin
        const/4 v0 2
    :begin
        invoke-static LA;->one()V
        const/4 v0 3
        invoke-static LA;->two()V
    :end
        return-void
    :handler
        invoke-static v0 LA;->use(I)V
        return-void
    .catch all :begin :end :handler
    """)
    incoming, caught = ops(body, Op.PHI)
    assert sorted(body.constant[v] for v in operands(body, incoming)) == [1, 2]
    others = set(operands(body, caught)) - {int(body.dst[incoming])}
    assert [body.constant[v] for v in others] == [3]


def test_what_a_throwing_instruction_defines_is_not_seen_where_it_throws() -> None:
    body = body_of("""
        const/4 v0 1
    :begin
        invoke-static LA;->one()I
    :end
        move-result v0
        return-void
    :handler
        invoke-static v0 LA;->use(I)V
        return-void
    .catch LE; :begin :end :handler
    """)
    assert not ops(body, Op.PHI, Op.CAUGHT)
    (use,) = (op for op in ops(body, Op.CALL) if operands(body, op))
    assert [body.constant[v] for v in operands(body, use)] == [1]


def test_a_handler_without_a_throw_in_its_range_is_unreachable() -> None:
    body = body_of("""
    :begin
        add-int/lit8 v0 p0 1
    :end
        return-void
    :handler
        move-exception v0
        throw v0
    .catch all :begin :end :handler
    """)
    assert not ops(body, Op.THROW)
    assert len(body.handler_type) == 0


def test_one_handler_of_several_ranges_is_caught_by_all_of_them() -> None:
    body = body_of("""
    :a
        invoke-static LA;->one()V
    :b
        nop
    :c
        invoke-static LA;->two()V
    :d
        return-void
    :handler
        move-exception v0
        throw v0
    .catch LE; :a :b :handler
    .catch LF; :a :b :handler
    .catch all :c :d :handler
    """)
    (caught,) = ops(body, Op.CAUGHT)
    block = int(body.block_off.searchsorted(caught, "right")) - 1
    assert body.caught_by(block) == [(0, 0), (0, 1), (1, 2)]
    assert body.ref[caught] == 0


def test_a_handler_inside_its_own_range_and_a_handler_at_the_entry_are_fine() -> None:
    body_of("""
    :begin
        const-string v0 "x"
    :handler
        invoke-static p0 LA;->use(I)V
        const/4 p0 5
    :end
        return-void
    .catch all :begin :end :handler
    .catch all :begin :end :begin
    """)


# ----------------------------------------------------------------- pruning


def test_a_branch_on_a_constant_is_pruned() -> None:
    body = body_of("""
        const/4 v0 3
        add-int/lit8 v0 v0 -3
        if-nez v0 :dead
        return-void
    :dead
        invoke-static LA;->never()V
        return-void
    """)
    assert not ops(body, Op.CALL, Op.IF)


def test_pruning_sees_through_a_join_and_what_an_earlier_branch_decides() -> None:
    body = body_of("""
        const/4 v0 0
        const/4 v1 1
        if-nez v1 :skip
        const/4 v0 1
    :skip
        if-eqz v0 :end
        invoke-static LA;->never()V
    :end
        return-void
    """)
    assert not ops(body, Op.CALL, Op.IF, Op.PHI)


def test_a_flag_that_only_dead_code_sets_stays_constant_in_a_loop() -> None:
    body = body_of("""
        const/4 v0 0
    :head
        if-eqz v0 :skip
        const/4 v0 1
        invoke-static LA;->never()V
    :skip
        invoke-static LA;->maybe()Z
        move-result v1
        if-nez v1 :head
        return-void
    """)
    assert len(ops(body, Op.CALL)) == 1
    assert len(ops(body, Op.IF)) == 1


def test_a_switch_on_a_constant_takes_its_case_or_falls_through() -> None:
    for number, expected in ((1, "one"), (2, "two"), (7, "other")):
        columns = Columns()
        method = columns.add(
            "LA;->m()V",
            2,
            f"""
            const/16 v0 {number}
            packed-switch v0 1=:one 2=:two
            const-string v1 "other"
            return-void
        :one
            const-string v1 "one"
            return-void
        :two
            const-string v1 "two"
            return-void
        """,
        )
        program = columns.program()
        body = program.body(method)
        check_shape(body)
        assert [program.string(int(body.ref[op])) for op in ops(body, Op.STRING)] == [expected]


def test_a_branch_on_what_is_no_constant_stays() -> None:
    body = body_of("""
        const/4 v0 1
        if-eqz p0 :join
        const/4 v0 0
    :join
        if-eqz v0 :end
        invoke-static LA;->maybe()V
    :end
        return-void
    """)
    assert len(ops(body, Op.IF)) == 2


# ------------------------------------------------------------------- odd code


@pytest.mark.parametrize(
    "text",
    [
        "return v1",
        "move-result v0\n return-void",
        "move-exception v0\n throw v0",
        "invoke-static v0 LA;->use(II)V\n return-void",
        ":a\n goto :a",
        "const/4 v0 1",
        ":a\n if-eqz v3 :a\n move v0 v1\n goto :a",
        "if-eqz p0 :b\n const/4 v0 1\n :b\n invoke-static v0 LA;->use(I)V\n return-void",
    ],
)
def test_code_that_no_verifier_accepts_still_gets_a_body(text: str) -> None:
    columns = Columns()
    method = columns.add("LA;->m(I)V", 4, text)
    body = columns.program().body(method)
    assert body.n_blocks >= 1
    check_dominance(body)
