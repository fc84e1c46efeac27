"""Synthetic bodies."""

from __future__ import annotations

import pytest

from analyzer.builder import BodyBuilder
from analyzer.ir import Body, CallKind, Op
from tests.analyzer.ssa_laws import check_dominance, check_shape, operands


def built(builder: BodyBuilder) -> Body:
    body = builder.build()
    check_shape(body)
    check_dominance(body)
    return body


def test_an_empty_body_returns() -> None:
    body = built(BodyBuilder(0))
    assert body.op.tolist() == [Op.RETURN]


def test_operations_stand_in_order_with_their_operands() -> None:
    builder = BodyBuilder(1)
    created = builder.new(7)
    builder.call(CallKind.DIRECT, 3, [created], False)
    builder.put(created, 5, 0)
    loaded = builder.get(created, 5)
    result = builder.call(CallKind.STATIC, 4, [loaded, 0], True)
    builder.sput(6, result)
    builder.ret(builder.cast(builder.sget(6), 8))
    body = built(builder)
    kinds = [Op.NEW, Op.CALL, Op.PUT, Op.GET, Op.CALL, Op.SPUT, Op.SGET, Op.CAST, Op.RETURN]
    assert body.op.tolist() == kinds
    assert [operands(body, op) for op in range(9)] == [[], [1], [1, 0], [1], [2, 0], [3], [], [4], [5]]
    assert body.ref.tolist() == [7, 3, 5, 5, 4, 6, 6, 8, -1]
    assert body.c[1] == CallKind.DIRECT
    assert body.dst[1] == -1
    assert len(set(body.pc.tolist())) == 9  # sites differ


def test_an_environment_loop_is_a_cycle_whose_arms_are_taken_in_any_order() -> None:
    builder = BodyBuilder(0)
    start = builder.new(1)
    head, first, second, end = (builder.label() for _ in range(4))
    builder.place(head)
    current = builder.phi([start])
    builder.any_of([first, second, end])
    builder.place(first)
    other = builder.call(CallKind.STATIC, 2, [current], True)
    builder.add_to_phi(current, other)
    builder.goto(head)
    builder.place(second)
    builder.goto(head)
    builder.place(end)
    builder.ret(current)
    body = built(builder)
    assert body.in_cycle.tolist().count(True) == 3
    (phi,) = (op for op in range(len(body.op)) if body.op[op] == Op.PHI)
    assert len(operands(body, phi)) == 2
    (branch,) = (op for op in range(len(body.op)) if body.op[op] == Op.IF)
    assert operands(body, branch) == []


def test_code_behind_a_jump_is_dropped_and_values_have_no_gaps() -> None:
    builder = BodyBuilder(0)
    end = builder.label()
    builder.goto(end)
    dead = builder.new(1)
    builder.place(end)
    joined = builder.phi([dead])
    alive = builder.new(2)
    builder.ret(alive)
    body = built(builder)
    assert Op.NEW in body.op
    assert body.n_values == 2
    assert body.ref[body.op == Op.NEW].tolist() == [2]
    assert joined != alive


def test_constants_are_kept() -> None:
    builder = BodyBuilder(2)
    array = builder.new_array(1, builder.const(3))
    builder.aput(array, builder.const(0), 1)
    builder.ret(builder.aget(array, builder.const(2)))
    body = built(builder)
    assert sorted(body.constant.values()) == [0, 2, 3]
    (store,) = (op for op in range(len(body.op)) if body.op[op] == Op.APUT)
    assert body.c[store] == 1


def test_wrong_use_is_refused() -> None:
    builder = BodyBuilder(0)
    label = builder.label()
    builder.goto(label)
    with pytest.raises(ValueError, match="not placed"):
        builder.build()
    builder.place(label)
    with pytest.raises(ValueError, match="twice"):
        builder.place(label)
    builder.new(1)
    with pytest.raises(ValueError, match="head"):
        builder.phi()
    with pytest.raises(ValueError, match="no phi"):
        builder.add_to_phi(0, 0)


def test_a_value_of_dropped_code_cannot_be_used() -> None:
    builder = BodyBuilder(0)
    end = builder.label()
    builder.goto(end)
    dead = builder.new(1)
    builder.place(end)
    builder.ret(dead)
    with pytest.raises(ValueError, match="not defined"):
        builder.build()
