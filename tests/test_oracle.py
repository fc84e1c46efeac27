"""Encoding and the reference engine against the oracle, which evaluates semantics.md without either."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.encode import Encoded, Encoder
from analyzer.hierarchy import Hierarchy
from analyzer.libcalls import LibraryCalls
from analyzer.limits import Limits
from analyzer.lower import Lowering
from analyzer.shape import Context, ShapePass
from analyzer.tokens import CELL, TABLE, TABLE_CELL, Fields, Key, Sites
from analyzer.words import Names
from gpu import reference
from gpu.bits import bits_of
from gpu.reference import Replay
from gpu.solution import Solution
from tests.oracle import NOTHING, Oracle, Slot, Tokens
from tests.programs.language import compile_program
from tests.programs.solving import ENV, call_graph, framework_model, knowledge


def differences(oracle: Oracle, ctx: Context, encoded: Encoded, solution: Solution) -> Iterator[str]:
    """Every place where they differ."""
    replay = Replay(solution)
    program = ctx.program
    names = Names(program, ctx.fields, ctx.sites, ctx.library)

    def differ(m: int, where: str, slot: Slot, want: Tokens, got: Tokens) -> Iterator[str]:
        if want != got:
            missing, more = ([names.token(m, t) for t in sorted(part, key=repr)] for part in (want - got, got - want))
            yield f"{program.signature(m)} {where} {names.slot(m, slot)}: missing {missing}, too much {more}"

    for m, layout in encoded.layouts.items():
        name = program.signature(m)
        mine, shape = oracle.methods[m], ctx.shapes[m]
        tokens = lambda bits, columns=layout.columns: frozenset(columns[c] for c in bits_of(bits))  # noqa: E731
        # The shape.
        known: set[Slot] = set()
        for row, bits in enumerate(shape.rows):
            slot: Slot = shape.row_keys[row] or row
            known.add(slot)
            got = frozenset(shape.keys[t] for t in bits_of(bits))
            yield from differ(m, "shape", slot, mine.shape.get(slot, NOTHING), got)
        for slot in mine.shape:
            if slot not in known and (mine.shape[slot] or slot[0] == CELL):
                yield f"{name} shape {names.slot(m, slot)}: no such row"
        # Values and channels.
        solver = replay.method(layout.number)
        for row, slot in enumerate(layout.rows):
            if not solver.is_heap(row):
                want = mine.rows.get(slot, NOTHING)
                yield from differ(m, "row", slot, want, tokens(solution.rows[layout.number][row]))
        for slot, found in mine.rows.items():
            if found and slot not in layout.rows and (isinstance(slot, int) or slot[0] not in (TABLE, TABLE_CELL)):
                yield f"{name} {names.slot(m, slot)}: no such row"
        # The heap before each operation.
        for op, (block, before) in enumerate(layout.place):
            state = mine.before[op]
            if (block < 0) != (state is None):
                yield f"{name} op {op}: {'not ' if block < 0 else ''}reached"
            if block < 0 or state is None:
                continue
            heap = replay.state_at(layout.number, block, before)
            for row, bits in enumerate(heap):
                slot = layout.rows[solver.first_heap + row]
                yield from differ(m, f"before {op}", slot, state.get(slot, NOTHING), tokens(bits))
        # Summaries.
        want_rows = {k: v for k, v in oracle.facts[m].rows.items() if k[0] not in (TABLE, TABLE_CELL)}
        got_rows: dict[Key, Tokens] = {}
        for row, bits in zip(layout.summary_rows, solution.summaries[layout.number], strict=True):
            if bits:
                got_rows[row] = frozenset(layout.summary_cols[c] for c in bits_of(bits))
        for row in sorted({*want_rows, *got_rows}, key=repr):
            yield from differ(m, "summary", row, want_rows.get(row, NOTHING), got_rows.get(row, NOTHING))
        must = ctx.summaries[m].must
        if must != oracle.must[m]:
            yield f"{name} certain: want {sorted(oracle.must[m], key=repr)}, got {sorted(must, key=repr)}"


def check(text: str, limits: Limits | None = None) -> list[str]:
    """Differences for a small program."""
    program, limits = compile_program(text), limits or Limits()
    hierarchy = Hierarchy(program, framework_model())
    graph = call_graph(program, hierarchy, program.method_find("LMain;", "main", "()V"))
    fields, sites = Fields(program, hierarchy), Sites()
    escaped = fields.resolve(program.field_id(ENV, "$escaped", "Ljava/lang/Object;"))
    library = LibraryCalls(program, hierarchy, knowledge(), fields, sites, escaped)
    lowering = Lowering(
        program, hierarchy, knowledge(), fields, sites, graph.own.is_own, library.source_id, program.type_id(ENV),
        limits.keys_per_object,
    )  # fmt: skip
    shapes = ShapePass(Context(program, hierarchy, graph, lowering, library, limits, lambda: None))
    shapes.run()
    encoded = Encoder(shapes.ctx, shapes.levels).run()
    encoded.problem.validate()
    return compare(shapes.ctx, shapes.levels, encoded)


def compare(ctx: Context, levels: dict[int, int], encoded: Encoded) -> list[str]:
    """Differences for anything that was encoded."""
    oracle = Oracle(ctx, levels)
    oracle.run()
    return list(differences(oracle, ctx, encoded, reference.solve(encoded.problem)))


STRAIGHT = """
class A { A f; Object o; }
class Main { static void main() { A a = new A(); A b = new A(); a.f = b; b.o = source(); A c = a.f; sink(c.o); c.o = null; sink(b.o); } }
"""


def test_straight_line_program() -> None:
    assert not check(STRAIGHT)
