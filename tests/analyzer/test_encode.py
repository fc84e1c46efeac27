"""The encoder: names behind the numbers of a problem, and that they cost nothing until someone asks.

What the problem says is compared with a second evaluation in `tests/test_oracle.py`.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import gdroid
from analyzer.compiled_pass import CompiledPass
from analyzer.encode import Encoded, Encoder
from analyzer.lazy_shapes import Shapes
from analyzer.limits import Limits
from analyzer.shape import Context
from analyzer.shape_state import MethodState
from analyzer.tokens import CELL, SINK, STATIC, TABLE, TABLE_CELL
from gpu import problem as pb
from tests.programs.generate import generate
from tests.programs.solving import solve
from tests.programs.test_section9 import EVERY_LIMIT

APKS = Path(__file__).resolve().parent.parent.parent / "apks"
NAMES = ["Exceptions_Bad", "Library_Bad", "OddCode_Bad", "LibraryStatics_Bad"]


def agree(ctx: Context, encoded: Encoded) -> None:
    """Layouts name the tokens and rows of the shapes, and the problem's kinds are those of the names."""
    problem = encoded.problem
    problem.validate()
    for m, layout in encoded.layouts.items():
        shape, summary = ctx.shapes[m], ctx.summaries[m]
        assert layout.columns == shape.keys
        known = {r for r, key in enumerate(shape.row_keys) if not key or key[0] not in (TABLE, TABLE_CELL)}
        assert layout.row_of.keys() == known
        assert [shape.row_keys[r] or r for r in layout.row_of] == layout.rows
        kinds = problem.row_kind[problem.row_off[layout.number] : problem.row_off[layout.number + 1]]
        for key, kind in zip(layout.rows, kinds.tolist(), strict=True):
            name = pb.VALUE if isinstance(key, int) else pb.HEAP if key[0] in (CELL, STATIC) else pb.CHANNEL
            assert kind == name
        assert layout.summary_cols == summary.cols
        assert len(layout.place) == len(shape.low.body.op)
        assert int(problem.sumrow_off[layout.number + 1] - problem.sumrow_off[layout.number]) == len(summary.rows)
        exported = problem.col_export[problem.col_off[layout.number] : problem.col_off[layout.number + 1]]
        for key, column in zip(layout.columns, exported.tolist(), strict=True):
            name_out = ctx.folding.token(key, 0)
            assert column < 0 or summary.cols[column] == name_out or summary.cols[column][0] != name_out[0]


@EVERY_LIMIT
def test_layouts_agree_with_shapes_in_random_programs(bound: Limits) -> None:
    for seed in range(4):
        found = solve(generate(random.Random(seed)), bound)
        agree(found.ctx, found.encoded)


@pytest.mark.parametrize("name", NAMES)
def test_layouts_agree_with_shapes_in_apps(name: str) -> None:
    app = gdroid.load(APKS / f"{name}.apk")
    agree(app.context, app.encoded)


def test_rows_of_a_kind_are_those_that_the_layouts_name() -> None:
    encoded = gdroid.load(APKS / "Sinks_Bad.apk").encoded
    want = [
        (layout.method, row)
        for layout in encoded.layouts.values()
        for row, key in enumerate(layout.rows)
        if not isinstance(key, int) and key[0] == SINK
    ]
    assert want
    assert [(layout.method, row) for layout, row in encoded.rows_of_kind(SINK)] == want
    exported = [(m, key) for m, x in encoded.layouts.items() for key in x.summary_rows if key[0] == SINK]
    assert exported
    assert list(encoded.exports_of_kind(SINK)) == exported


def test_one_row_has_the_name_that_it_has_among_all() -> None:
    one, two = (gdroid.load(APKS / "Exceptions_Bad.apk").encoded.layouts for _ in range(2))
    for m, layout in one.items():
        assert layout.rows == [two[m].slot(row) for row in range(len(layout.rows))]
        assert layout.rows == [layout.slot(row) for row in range(len(layout.rows))]


def test_no_shape_is_made_for_an_app_without_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[MethodState] = []
    make = Shapes.make

    def note(self: Shapes, state: MethodState) -> object:
        made.append(state)
        return make(self, state)

    app = gdroid.load(APKS / "Fields_Bad.apk")
    _ = app.context
    monkeypatch.setattr(Shapes, "make", note)
    idfg = app.idfg("reference")
    assert not made
    idfg.facts(next(iter(idfg.encoded.layouts)), 0)
    assert len(made) == 1


def test_a_second_encoding_says_the_same() -> None:
    app = gdroid.load(APKS / "Exceptions_Bad.apk")
    first, second = app.encoded.problem, Encoder(app.context, app.levels).run().problem
    for name in pb.Problem.__dataclass_fields__:
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert isinstance(app.context.shapes, Shapes)
    assert isinstance(app.context.shapes.work, CompiledPass)
