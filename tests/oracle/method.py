"""Summaries, and the fixed points of one method."""

from __future__ import annotations

from analyzer.ir import Op
from analyzer.tokens import (
    BEYOND,
    CELL,
    DEEP,
    FORMAL,
    OBJECT,
    PSEUDO,
    RETURN,
    SINK,
    STATIC,
    TABLE,
    TABLE_CELL,
    TAINT,
    THROWN,
    Key,
)
from tests.oracle.sets import NOTHING, Effects, Slot, Tokens, View, formals, is_heap
from tests.oracle.statements import Statements


class Method(Statements):
    """Shape, facts and summary of one method."""

    def exported(self) -> list[tuple[Slot, Tokens]]:
        """Slots that the summary speaks of, each with what it held anyway."""
        found: dict[Slot, Tokens] = {}
        frontier: set[Key] = set()

        def take(slot: Key, anyway: Tokens) -> None:
            found[slot] = anyway
            tokens = self.shape[slot] - anyway
            frontier.update(formals(tokens) if slot[0] in (SINK, TABLE, TABLE_CELL) else tokens)

        for slot, tokens in self.shape.items():
            if isinstance(slot, int):
                continue
            # What it held anyway is no change, unless it was stored again: callers may clear the slot first.
            anyway = self.entry.get(slot, NOTHING) - self.stored.get(slot, NOTHING)
            kind = slot[0]
            if kind in (RETURN, THROWN) or (kind in (SINK, TABLE, TABLE_CELL) and formals(tokens)):
                take(slot, NOTHING)
            elif tokens - anyway and (kind in (STATIC, PSEUDO) or (kind == CELL and slot[1][0] in (FORMAL, DEEP))):
                take(slot, anyway)
        done: set[Key] = set()
        while frontier - done:
            o = (frontier - done).pop()
            done.add(o)
            in_table = o[0] in (OBJECT, BEYOND) and self.in_table(o)
            if o[0] not in (FORMAL, DEEP, TAINT) and not in_table:
                for f in self.cells.get(o, ()):
                    slot = (CELL, o, f)
                    if self.shape[slot] - self.entry[slot]:
                        take(slot, NOTHING)
        return list(found.items())

    def shape_summary(self) -> Effects:
        """The summary by the shape, under the present summaries of the callees."""
        self.find_shape()
        return self.export(self.see_shape)

    def solved_summary(self) -> Effects:
        """The summary by the facts, under the present summaries of the callees."""
        self.solve()
        return self.export(self.see_exit)

    def export(self, see: View) -> Effects:
        """The summary by some facts: those of the shape, or those of the exit."""
        level = self.level
        rows: dict[Key, Tokens] = {}
        for slot, anyway in self.exported():
            assert not isinstance(slot, int)
            tokens = see(slot) - anyway
            if slot[0] in (SINK, TABLE, TABLE_CELL):
                tokens = formals(tokens)
            if tokens:
                row = self.folding.row(slot, level)
                named = frozenset(self.folding.token(t, level) for t in tokens)
                rows[row] = rows.get(row, NOTHING) | named
        return Effects(rows, self.regions())

    def regions(self) -> dict[Key, tuple[Tokens, frozenset[int]]]:
        """Per region, the formals from whose cells it is reached, and the fields that this takes."""
        depth = min(self.k, (self.k, 1, 0, 0)[max(self.level, self.fold)])
        through = {region: set(fields) for region, fields in self.through.items()}
        regions = {t for t in self.names if t[0] == DEEP}
        sources: set[Key] = set()
        for t in self.names:
            if t[0] != FORMAL:
                continue
            name = self.folding.token(t, max(self.level, self.fold))
            if name != t:
                regions.add(name)
                through.setdefault(name, set()).update(t[2][depth:])
            elif len(t[2]) >= depth or any(below in self.cells.get(t, ()) for below in self.fields.below):
                sources.add(t)
        found: dict[Key, tuple[Tokens, frozenset[int]]] = {}
        for region in regions:
            taken = through.get(region, set()) | (through.get((DEEP, region[1], 0), set()) if region[2] else set())
            of_root = {t for t in sources if t[1] == region[1] and self.own_path(t) <= region[2]}
            found[region] = frozenset(of_root), frozenset(taken)
        return found

    def find_shape(self) -> None:
        """Statements in any order, nothing cleared, until nothing changes."""
        while True:
            self.changed = False
            for i in self.whole.in_order(len(self.body.op)):
                for _, added in (*self.routed(i, self.see_shape), *self.statement(i, self.see_shape, False)):
                    for slot, tokens in added:
                        known = self.shape.get(slot, NOTHING)
                        self.stored[slot] = self.stored.get(slot, NOTHING) | tokens & self.entry.get(slot, NOTHING)
                        if slot not in self.shape or tokens - known:
                            self.shape[slot] = known | tokens
                            self.names |= tokens
                            self.changed = True
            if not self.changed:
                return

    def solve(self) -> None:
        """Facts before each operation, under the present summaries."""
        body = self.body
        start = {slot: tokens for slot, tokens in self.entry.items() if is_heap(slot)}
        for slot, tokens in self.entry.items():
            if not is_heap(slot):
                self.rows[slot] = self.rows.get(slot, NOTHING) | tokens
        self.join(self.heads, 0, start)
        self.changed = True
        while self.changed:
            self.changed = False
            for b in self.whole.in_order(body.n_blocks):
                head = self.heads[b]
                if head is None:
                    continue
                state = dict(head)
                for i in self.ops_of(b):
                    self.step(i, b, state)
                for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
                    self.join(self.heads, s, state)

    def step(self, i: int, b: int, state: dict[Slot, Tokens]) -> None:
        """One operation: notes the state before it, and changes it to the state after it."""
        self.before[i] = dict(state)

        def see(slot: Slot) -> Tokens:
            return state.get(slot, NOTHING) if is_heap(slot) else self.rows.get(slot, NOTHING)

        if self.body.throws[i] and self.handlers(b):
            thrown = dict(state)
            if self.body.op[i] == Op.CALL:
                for applied in self.applications(self.calls[i], False):
                    for slot, tokens in self.apply(self.calls[i], applied, see):
                        if is_heap(slot):
                            thrown[slot] = thrown.get(slot, NOTHING) | tokens
            for h in self.handlers(b):
                self.join(self.heads, h, thrown)
        for cleared, added in (*self.routed(i, see), *self.statement(i, see, True)):
            for slot in cleared:
                state[slot] = NOTHING
            for slot, tokens in added:
                if is_heap(slot):
                    state[slot] = state.get(slot, NOTHING) | tokens
                elif tokens - self.rows.get(slot, NOTHING):
                    self.rows[slot] = self.rows.get(slot, NOTHING) | tokens
                    self.changed = True
        if self.body.op[i] == Op.RETURN:
            exits = [self.exit]
            self.join(exits, 0, state)
            self.exit = exits[0]

    def join(self, states: list[dict[Slot, Tokens] | None], at: int, state: dict[Slot, Tokens]) -> None:
        known = states[at]
        if known is None:
            states[at], self.changed = dict(state), True
            return
        for slot, tokens in state.items():
            if tokens - known.get(slot, NOTHING):
                known[slot] = known.get(slot, NOTHING) | tokens
                self.changed = True

    def see_exit(self, slot: Slot) -> Tokens:
        if is_heap(slot):
            return self.exit.get(slot, NOTHING) if self.exit is not None else NOTHING
        return self.rows.get(slot, NOTHING)
