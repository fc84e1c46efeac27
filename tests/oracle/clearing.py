"""Uniqueness, clear sets, and what a method certainly overwrites (semantics.md 1, 3 and 4)."""

from __future__ import annotations

from analyzer.ir import Op
from analyzer.tokens import CELL, DEEP, FORMAL, OBJECT, STATIC, Key
from tests.oracle.calls import Calls
from tests.oracle.sets import NOTHING, Call, Slot, Tokens, met, objects, related


class Clearing(Calls):
    """What stores and calls of a method clear, by its final shape."""

    def unique(self, o: Key) -> bool:
        """Whether a token stands for at most one object while the method runs."""
        if o[0] == FORMAL:  # a pseudo-static holds many objects; what is read from it once is one
            if o[1] < 0 and self.pseudo_reads.get(-1 - o[1], 0) > 1:
                return False
            return not any(self.fields.weak(f) for f in o[2])
        if o[0] != OBJECT or self.outside(o) or self.recursive:
            return False
        site = self.ctx.sites[o[1]]
        origin = self.origin.get(o, set())
        if site.method == self.m and o[2] == -1 and not origin:
            return self.runs_once(site.op)
        return len({(op, t) for op, _, t in origin}) == 1 and all(
            self.runs_once(op) and self.whole.methods[target].unique(t) for op, target, t in origin
        )

    def runs_once(self, i: int) -> bool:
        """Whether an operation runs at most once while the method does."""
        return not self.body.in_cycle[self.block_of[i]]

    def clear_set(self, base: Tokens, f: int) -> list[Slot]:
        """Cells that a store to field f of a base clears."""
        if len(objects(base)) != 1 or self.fields.weak(f):
            return []
        (o,) = objects(base)
        if f not in self.cells.get(o, ()) or not self.unique(o):
            return []
        if self.outside(o):
            fresh_this = self.constructor and o == (FORMAL, 0, ())
            for other, present in self.cells.items():
                if other == o or not self.outside(other) or (fresh_this and other[0] in (FORMAL, DEEP)):
                    continue
                if (related(self.fields, f, present) or self.comes_in_through(other, f)) and self.compatible(o, other):
                    return []
        return [(CELL, o, f)]

    def comes_in_through(self, o: Key, f: int) -> bool:
        """Whether a token is read through some fields, f perhaps among them."""
        if not any(below in self.cells.get(o, ()) for below in self.fields.below):
            return False
        if o[0] not in (FORMAL, DEEP):
            return True
        return any(met(self.fields, self.through.get((DEEP, o[1], own), ()), (f,)) for own in (0, 1))

    def clear_set_of_call(self, call: Call, calls_inside: bool) -> list[Slot]:
        """Cells that a call certainly overwrites: it has one target, which does so."""
        applied = self.applications(call, False)
        if len(applied) != 1 or applied[0].target < 0 or (call.library and call.shim < 0):
            return []
        target = applied[0].target
        if not calls_inside and target in self.whole.scc_of[self.m]:
            return []
        must = self.whole.must.get(target, frozenset())
        if not must:
            return []
        see = self.see_shape
        sigma = self.substitution(call, applied[0], see)
        found: list[Slot] = []
        for owner, f in must:
            if owner:
                found += self.clear_set(sigma[owner], f)
            elif (STATIC, f) in self.shape:
                found.append((STATIC, f))
        return found

    def see_shape(self, slot: Slot) -> Tokens:
        return self.shape.get(slot, NOTHING)

    def cleared(self, i: int, solving: bool) -> list[Slot]:
        """What an operation clears, by the final shape; while that is being found, nothing."""
        if not solving:
            return []
        if i not in self.clears:
            self.clears[i] = self.find_cleared(i, True)
        return self.clears[i]

    def find_cleared(self, i: int, calls_inside: bool) -> list[Slot]:
        """`calls_inside`: whether calls inside the component count. What runs in any order clears nothing."""
        if self.ctx.any_order(self.m):
            return []
        body = self.body
        op = body.op[i]
        if op in (Op.PUT, Op.APUT):
            f = self.fields.instance(int(body.ref[i])) if op == Op.PUT else self.index(int(body.b[i]))
            return self.clear_set(self.see_shape(int(body.a[i])), f)
        if op == Op.SPUT:
            slot = self.static_slot(int(body.ref[i]))
            return [slot] if slot is not None and slot[0] == STATIC else []
        return self.clear_set_of_call(self.calls[i], calls_inside) if op == Op.CALL else []

    def certain(self) -> frozenset[tuple[Key, int]]:
        """What every path to a return overwrites, of what the caller knows; a static field stands as ((), field)."""
        body = self.body
        gains = {i: frozenset(self.find_cleared(i, False)) for i in range(len(body.op))}
        heads: list[frozenset[Slot] | None] = [None] * body.n_blocks
        heads[0] = frozenset()
        ends: list[frozenset[Slot]] = []
        again = True
        while again:
            again, ends = False, []
            arrivals: list[tuple[int, frozenset[Slot]]] = []
            for b in range(body.n_blocks):
                state = heads[b]
                if state is None:
                    continue
                for i in self.ops_of(b):
                    if body.throws[i]:
                        arrivals += [(h, state) for h in self.handlers(b)]
                    state |= gains[i]
                    if body.op[i] == Op.RETURN:
                        ends.append(state)
                arrivals += [(s, state) for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist()]
            for b, state in arrivals:
                met = heads[b]
                joined = state if met is None else met & state
                if b and joined != met:
                    heads[b], again = joined, True
        always = frozenset.intersection(*ends) if ends else frozenset()
        found: set[tuple[Key, int]] = set()
        for slot in always:
            assert not isinstance(slot, int)
            if slot[0] == STATIC:
                found.add(((), slot[1]))
            elif slot[1][0] == FORMAL and (self.level == 0 or (self.level == 1 and len(slot[1][2]) <= 1)):
                found.add((slot[1], slot[2]))
        return frozenset(found)

    def handlers(self, block: int) -> list[int]:
        """Handlers of the range that covers a block."""
        body, r = self.body, int(self.body.block_range[block])
        return [] if r < 0 else sorted(set(body.handler_block[body.range_off[r] : body.range_off[r + 1]].tolist()))
