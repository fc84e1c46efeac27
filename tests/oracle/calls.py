"""Reads, stores, and calls by substitution (semantics.md 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.libcalls import HERE
from analyzer.table import store_place
from analyzer.tokens import (
    BY_TYPE,
    CELL,
    CELL_DATA,
    DEEP,
    FORMAL,
    FRESH,
    OBJECT,
    PSEUDO,
    RANGE,
    RETURN,
    RETURN_DATA,
    SINK,
    SOURCE,
    STATIC,
    TABLE_CELL,
    TAINT,
    THROWN,
    Key,
)
from tests.oracle.naming import Naming
from tests.oracle.sets import (
    DATA,
    NOTHING,
    Applied,
    Call,
    Effects,
    Slot,
    Tokens,
    View,
    data,
    formals,
    labels,
    met,
    objects,
    related,
)


class Calls(Naming):
    """What calls of a method do."""

    def read(self, see: View, owners: Iterable[Key], f: int) -> Tokens:
        """What field f of some tokens holds, with the labels of the tokens."""
        found = set(labels(owners))
        for o in objects(owners):
            if not self.has_field(o, f):
                continue
            if self.comes_in(o):
                self.cell(o, f)
                member = self.table.member(o)
                if member is not None:
                    for g in related(self.fields, f, self.table.fields_of(member)):
                        self.cell(o, g)
            for g in related(self.fields, f, tuple(self.cells.get(o, ()))):
                found |= see((CELL, o, g))
        return frozenset(found)

    def comes_in(self, o: Key) -> bool:
        """Whether a token's object may hold something before anything is stored here."""
        return self.in_table(o) or (self.outside(o) and o[0] != BY_TYPE)

    def read_through(self, see: View, owners: Iterable[Key], through: frozenset[int]) -> Tokens:
        """What a read through any of some fields finds in some tokens, with the labels of the tokens."""
        found = set(labels(owners))
        for o in objects(owners):
            if self.comes_in(o):
                self.begin_below(o, through)
            for g in met(self.fields, through, self.cells.get(o, ())):
                found |= see((CELL, o, g))
        return frozenset(found)

    def store(self, owners: Iterable[Key], f: int, value: Tokens) -> list[tuple[Slot, Tokens]]:
        """What a store adds to which cells."""
        added: list[tuple[Slot, Tokens]] = []
        for o in objects(owners):
            if self.has_field(o, f):
                slot = self.cell(o, f)
                fitting = self.keep(value, self.wants(slot))
                added.append((slot, fitting))
                member = self.table.member(o)
                if member is not None:
                    added.append(((TABLE_CELL, store_place(member), f), formals(fitting)))
        return added

    def index(self, value: int) -> int:
        number = self.body.constant.get(value, -1)
        return self.fields.index(number) if 0 <= number < self.ctx.limits.keys_per_object else self.fields.any

    def thrown_rows(self, i: int) -> list[Slot]:
        """Where an exception goes: to the try range around it, and out of the method unless a handler catches all."""
        body = self.body
        r = int(body.block_range[self.block_of[i]])
        if r < 0:
            return [(THROWN,)]
        catches_all = -1 in body.handler_type[body.range_off[r] : body.range_off[r + 1]].tolist()
        return [(RANGE, r)] if catches_all else [(RANGE, r), (THROWN,)]

    def applications(self, call: Call, solving: bool) -> list[Applied]:
        """What a call may run: the shape decides, by the receivers' types."""
        ctx = self.ctx
        effects = self.whole.facts if solving else self.whole.shapes
        found: list[Applied] = []
        receiver = self.shape.get(call.args[0], NOTHING) if call.args else NOTHING
        library = call.library or call.marked
        if not call.dispatched:
            found = [Applied(t, effects.get(t, Effects())) for t in call.targets]
            return [*found, Applied(-1, self.library_effects(call))] if library else found
        elsewhere = set(receiver) if call.marked or call.shim >= 0 else set(labels(receiver))
        receivers: dict[int, set[Key]] = {t: set(labels(receiver)) for t in call.targets}
        for o in objects(receiver):
            exact = o[0] == BY_TYPE or (o[0] == OBJECT and ctx.sites[o[1]].kind in ("new", "string", "class"))
            target = ctx.hierarchy.dispatch(self.type_of(o), call.method) if exact else -1
            if not exact:
                for t in call.targets:
                    if self.is_a(o, ctx.program.method(t).cls):
                        receivers[t].add(o)
            if target in receivers:
                receivers[target].add(o)
            else:
                elsewhere.add(o)
        if call.shim >= 0:
            receivers[call.shim] = set(receiver)
        for t in call.targets:
            if objects(receivers[t]):
                found.append(Applied(t, effects.get(t, Effects()), frozenset(receivers[t])))
        if library and objects(elsewhere):
            found.append(Applied(-1, self.library_effects(call), frozenset(elsewhere)))
        return found

    def library_effects(self, call: Call) -> Effects:
        """The model of a library method, or the default for methods without one."""
        library = self.ctx.library
        keys = tuple(self.texts(a) for a in call.args) if library.keyed(call.method) else ()
        effect = library.effect(call.method, call.static, call.shim >= 0, not call.library, keys)
        return self.whole.of_library(effect.summary)

    def texts(self, value: int) -> tuple[str, ...] | None:
        """The constant texts that an argument may be; None when it may be anything else."""
        if value < 0:
            return None
        if value in self.body.constant:
            return (str(self.body.constant[value]),)
        sites = self.ctx.sites
        found = set()
        for o in objects(self.shape.get(value, NOTHING)):
            if o[0] != OBJECT or sites[o[1]].kind != "string":
                return None
            found.add(self.ctx.program.string(sites[o[1]].text))
        return tuple(sorted(found)) if 0 < len(found) <= self.ctx.limits.keys_per_object else None

    def apply(self, call: Call, applied: Applied, see: View) -> list[tuple[Slot, Tokens]]:
        """What one effect adds to the caller's slots."""
        sigma = self.substitution(call, applied, see)
        added: list[tuple[Slot, Tokens]] = []
        for row, tokens in applied.effects.rows.items():
            value: Tokens = frozenset().union(*(sigma[t] for t in tokens))
            kind = row[0]
            if kind in (CELL, CELL_DATA):
                added += self.store(sigma[row[1]], row[2], data(value) if kind == CELL_DATA else value)
            elif kind in (RETURN, RETURN_DATA):
                if call.dst >= 0:
                    ret = self.ctx.program.method(call.method).ret
                    added.append((call.dst, self.keep(value, DATA if kind == RETURN_DATA else self.of_type(ret))))
            elif kind == THROWN:
                added += [(slot, value) for slot in self.thrown_rows(call.op)]
            else:
                if kind == SINK and row[2] == HERE:
                    row = (SINK, row[1], call.site, row[3])
                slot = self.static(row[1]) if kind in (STATIC, PSEUDO) else row
                added.append((slot, self.keep(value, self.wants(slot))))
        return added

    def substitution(self, call: Call, applied: Applied, see: View) -> dict[Key, Tokens]:
        """The least sigma: what the callee's tokens are here."""
        effects = applied.effects
        wanted = {t for tokens in effects.rows.values() for t in tokens}
        wanted |= {row[1] for row in effects.rows if row[0] in (CELL, CELL_DATA)}
        if applied.target >= 0:
            wanted |= {owner for owner, _ in self.whole.must.get(applied.target, ()) if owner}
        pending = list(wanted)
        while pending:
            t = pending.pop()
            needed = (
                {(FORMAL, t[1], t[2][:-1])}
                if t[0] == FORMAL and t[2]
                else effects.regions[t][0]
                if t in effects.regions
                else NOTHING
            )
            pending += [n for n in needed if n not in wanted]
            wanted |= needed
        sigma: dict[Key, Tokens] = dict.fromkeys(wanted, NOTHING)
        again = True
        while again:
            again = False
            for t in wanted:
                found = sigma[t] | self.meaning(t, call, applied, see, sigma)
                if found != sigma[t]:
                    sigma[t], again = found, True
        return sigma

    def meaning(self, t: Key, call: Call, applied: Applied, see: View, sigma: dict[Key, Tokens]) -> Tokens:
        """One equation of sigma."""
        if t[0] == DEEP:
            sources, through = applied.effects.regions.get(t, (NOTHING, frozenset()))
            return frozenset().union(*(self.child(s, through, applied, see, sigma) for s in (*sources, t)))
        if t[0] == FORMAL and t[2]:
            return self.child((FORMAL, t[1], t[2][:-1]), t[2][-1], applied, see, sigma)
        if t[0] == FORMAL and isinstance(t[1], int):
            return self.argument(t[1], call, applied, see)
        return frozenset({self.renamed(t, call, applied.target)})

    def child(self, o: Key, f: int | frozenset[int], applied: Applied, see: View, sigma: dict[Key, Tokens]) -> Tokens:
        """sigma(o.f): what the cells held before, and what the callee stores through another name of the object."""
        whole = not isinstance(f, int)
        found = set(self.read_through(see, sigma[o], f) if whole else self.read(see, sigma[o], f))
        for row, tokens in applied.effects.rows.items():
            if row[0] not in (CELL, CELL_DATA) or not self.outside_callee(row[1]):
                continue
            if row[1] == o and o[0] != DEEP:  # a region stands for many objects, so it may alias itself
                continue
            read = met(self.fields, f, (row[2],)) if whole else related(self.fields, f, (row[2],))
            if read and sigma[row[1]] & sigma[o]:
                value: Tokens = frozenset().union(*(sigma[t] for t in tokens))
                found |= data(value) if row[0] == CELL_DATA else value
        return frozenset(found)

    def outside_callee(self, t: Key) -> bool:
        """Whether a callee's token may be an object that the caller knows by another name."""
        return t[0] != FRESH and self.outside(t)

    def argument(self, root: int, call: Call, applied: Applied, see: View) -> Tokens:
        """What a root formal is bound to."""
        if root < 0:
            return see(self.static(-1 - root))
        if root >= len(call.args) or call.args[root] < 0:
            return NOTHING
        bound = see(call.args[root])
        if root == 0 and applied.receivers is not None:
            bound &= applied.receivers
        if applied.target < 0:
            return bound
        ref = self.ctx.program.method(applied.target)
        params = list(ref.params) if self.ctx.program.is_static(applied.target) else [ref.cls, *ref.params]
        return self.keep(bound, self.of_type(params[root])) if root < len(params) else bound

    def renamed(self, t: Key, call: Call, target: int) -> Key:
        """The caller's name of a callee's object or label."""
        sites = self.ctx.sites
        if t[0] == FRESH:
            (fresh,) = self.new(call.op, "library", t[1])
            return fresh
        if t[0] == SOURCE:
            return (TAINT, t[1], call.site)
        if t[0] == FORMAL:  # an object of which the whole app has one
            return self.name(t[1])
        name = t
        if t[0] == OBJECT:
            site = sites[t[1]]
            apart = self.contexts and site.kind in ("new", "library") and site.method >= 0 and not self.in_table(t)
            name = self.name((OBJECT, t[1], call.site if apart else -1))
            if target >= 0:
                self.origin.setdefault(name, set()).add((call.op, target, t))
        name = self.name(name)
        self.names.add(name)
        return name
