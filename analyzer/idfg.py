"""The IDFG: facts at every point of the app, to be asked for and exported."""

from __future__ import annotations

from analyzer.encode import Encoded, Layout
from analyzer.words import Names
from analyzer.shape import Context
from analyzer.tokens import Key
from gpu.errors import WrongConfiguration
from gpu.bits import bits_of
from gpu.solution import Replay, Solution

Facts = dict[str, tuple[str, ...]]
"""Slot in words -> tokens in words, sorted."""


class Idfg:
    """Facts of a solved app. Points are (method id, pc); facts hold just before the statement."""

    def __init__(self, ctx: Context, encoded: Encoded, solution: Solution, replay: Replay) -> None:
        self.ctx, self.encoded, self.solution, self.replay = ctx, encoded, solution, replay
        self.names = Names(ctx.program, ctx.fields, ctx.sites, ctx.library)

    def layout(self, method: int) -> Layout:
        """Where a method's rows and columns are.

        Raises:
            WrongConfiguration: the method is not reached by the analysis.
        """
        if method not in self.encoded.layouts:
            raise WrongConfiguration(f"{self.ctx.program.signature(method)}: not reached by the analysis")
        return self.encoded.layouts[method]

    def tokens(self, layout: Layout, bits: int) -> tuple[str, ...]:
        """Tokens of a row in words, sorted."""
        return tuple(sorted({self.names.token(layout.method, layout.columns[c]) for c in bits_of(bits)}))

    def op_at(self, method: int, pc: int) -> int:
        """Index of the IR operation at a pc (the next one, where the pc holds none); -1 if there is none."""
        body = self.ctx.program.body(method)
        later = [(int(p), i) for i, p in enumerate(body.pc.tolist()) if p >= pc]
        return min(later)[1] if later else -1

    def state(self, method: int, op: int) -> tuple[Layout, list[int]]:
        """All rows of a method just before an IR operation; value and channel rows are those of the whole method."""
        layout = self.layout(method)
        rows = list(self.solution.rows[layout.number])
        block, before = layout.place[op]
        solver = self.replay.method(layout.number)
        if block >= 0:
            heap = self.replay.state_at(layout.number, block, before)
            rows[solver.first_heap : solver.first_heap + solver.n_heap] = heap
        return layout, rows

    def facts(self, method: int, pc: int) -> Facts:
        """What every slot may hold just before the statement at a pc."""
        op = self.op_at(method, pc)
        layout, rows = self.state(method, max(op, 0))
        found: Facts = {}
        for row, bits in enumerate(rows):
            if bits:
                slot = self.names.slot(method, layout.rows[row])
                found[slot] = tuple(sorted({*found.get(slot, ()), *self.tokens(layout, bits)}))
        return dict(sorted(found.items()))

    def points_to(self, method: int, pc: int, register: int) -> tuple[str, ...]:
        """What a dex register may hold just before the statement at a pc."""
        layout = self.layout(method)
        value = self.value_of_register(method, pc, register)
        return self.tokens(layout, self.solution.rows[layout.number][value]) if value >= 0 else ()

    def value_of_register(self, method: int, pc: int, register: int) -> int:
        """The SSA value in a register before a pc: the last definition before it in code order; -1 if there is none."""
        body = self.ctx.program.body(method)
        best = (-1, -1)
        for value in range(body.n_params):
            if int(body.value_reg[value]) == register:
                best = (-1, value)
        for i, dst in enumerate(body.dst.tolist()):
            if dst >= 0 and int(body.value_reg[dst]) == register and best[0] < int(body.pc[i]) < pc:
                best = (int(body.pc[i]), dst)
        return best[1]

    def row(self, layout: Layout, key: Key) -> int:
        """Row number of a slot key; -1 if the method has no such slot."""
        try:
            return layout.rows.index(key)
        except ValueError:
            return -1
