"""Where the facts of an encoded and solved problem differ from the oracle's."""

from __future__ import annotations

import random
from collections.abc import Iterator

from analyzer.encode import Encoded, Layout
from analyzer.shape import Context
from analyzer.table import Place, Table
from analyzer.tokens import CELL, TABLE, TABLE_CELL, Key
from analyzer.words import Names
from gpu import reference
from gpu.bits import bits_of
from gpu.solution import Solution
from tests.oracle.method import Method
from tests.oracle.sets import NOTHING, Slot, Tokens
from tests.oracle.whole import Oracle


def differences(
    ctx: Context, levels: dict[int, int], encoded: Encoded, shuffle: random.Random | None = None
) -> list[str]:
    """Solves the problem, evaluates the program (in random order, if asked to), and says what differs."""
    oracle = Oracle(ctx, levels, shuffle)
    oracle.run()
    return list(_Comparison(oracle, ctx, encoded, reference.solve(encoded.problem)).run())


class _Comparison:
    def __init__(self, oracle: Oracle, ctx: Context, encoded: Encoded, solution: Solution) -> None:
        self.oracle, self.ctx, self.encoded, self.solution = oracle, ctx, encoded, solution
        self.replay = reference.Replay(solution)
        self.names = Names(ctx.program, ctx.fields, ctx.sites, ctx.library)

    def run(self) -> Iterator[str]:
        yield from self.table()
        for m, layout in self.encoded.layouts.items():
            mine = self.oracle.methods[m]
            yield from self.shape(m, mine)
            yield from self.rows(m, layout, mine)
            yield from self.states(m, layout, mine)
            yield from self.summary(m, layout)

    def differ(self, m: int, where: str, slot: Slot, want: Tokens, got: Tokens) -> Iterator[str]:
        if want != got:
            missing = [self.names.token(m, t) for t in sorted(want - got, key=repr)]
            more = [self.names.token(m, t) for t in sorted(got - want, key=repr)]
            yield f"{self.place(m, where, slot)}: missing {missing}, too much {more}"

    def place(self, m: int, where: str, slot: Slot) -> str:
        return f"{self.ctx.program.signature(m)} {where} {self.names.slot(m, slot)}"

    def table(self) -> Iterator[str]:
        tables = self.oracle.table, self.ctx.table
        places: set[Place] = set()
        for t in tables:
            places |= {*t.statics, *t.cells}
        for place in sorted(places, key=repr):
            want, got = (_held(t, place) for t in tables)
            if want != got:
                yield f"table {place}: missing {sorted(want - got, key=repr)}, too much {sorted(got - want, key=repr)}"

    def shape(self, m: int, mine: Method) -> Iterator[str]:
        shape = self.ctx.shapes[m]
        known: set[Slot] = set()
        for row, bits in enumerate(shape.rows):
            slot: Slot = shape.row_keys[row] or row
            known.add(slot)
            got = frozenset(shape.keys[t] for t in bits_of(bits))
            yield from self.differ(m, "shape", slot, mine.shape.get(slot, NOTHING), got)
        for slot, tokens in mine.shape.items():
            if slot not in known and (tokens or (not isinstance(slot, int) and slot[0] == CELL)):
                yield f"{self.place(m, 'shape', slot)}: no such row"
        must, want = self.ctx.summaries[m].must, self.oracle.must[m]
        if must != want:
            yield f"{self.ctx.program.signature(m)} overwrites {sorted(want, key=repr)}, not {sorted(must, key=repr)}"

    def rows(self, m: int, layout: Layout, mine: Method) -> Iterator[str]:
        """Values and channels."""
        solver = self.replay.method(layout.number)
        for row, slot in enumerate(layout.rows):
            if not solver.is_heap(row):
                got = _tokens(layout, self.solution.rows[layout.number][row])
                yield from self.differ(m, "row", slot, mine.rows.get(slot, NOTHING), got)
        for slot, tokens in mine.rows.items():
            if tokens and slot not in layout.rows and not _of_table(slot):
                yield f"{self.place(m, 'row', slot)}: no such row"

    def states(self, m: int, layout: Layout, mine: Method) -> Iterator[str]:
        """The heap just before each operation."""
        first = self.replay.method(layout.number).first_heap
        for op, (block, before) in enumerate(layout.place):
            state = mine.before[op]
            if state is None or block < 0:
                if block >= 0 or state is not None:
                    yield f"{self.ctx.program.signature(m)} before {op}: only one of them comes here"
                continue
            for row, bits in enumerate(self.replay.state_at(layout.number, block, before)):
                slot = layout.rows[first + row]
                yield from self.differ(m, f"before {op}", slot, state.get(slot, NOTHING), _tokens(layout, bits))

    def summary(self, m: int, layout: Layout) -> Iterator[str]:
        want = {row: tokens for row, tokens in self.oracle.facts[m].rows.items() if not _of_table(row)}
        bits = self.solution.summaries[layout.number]
        columns = layout.summary_cols
        got = {row: frozenset(columns[c] for c in bits_of(b)) for row, b in zip(layout.summary_rows, bits, strict=True)}
        for row in sorted({*want, *got}, key=repr):
            yield from self.differ(m, "summary", row, want.get(row, NOTHING), got.get(row, NOTHING))


def _tokens(layout: Layout, bits: int) -> Tokens:
    return frozenset(layout.columns[c] for c in bits_of(bits))


def _of_table(slot: Slot) -> bool:
    return not isinstance(slot, int) and slot[0] in (TABLE, TABLE_CELL)


def _held(table: Table, place: Place) -> set[Key]:
    """What a place of the table holds, whatever it is called there."""
    held = table.statics.get(place, 0) if isinstance(place, int) else table._cell(*place)
    return set(table.numbering.tokens(held))
