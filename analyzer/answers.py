"""What the kernels of the shape pass cannot know and ask for: types, dispatch, library models, the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer.shape import Context
from analyzer.shape_state import CodeWriter
from analyzer.table import ANY_MEMBER, FORGOTTEN_MEMBER, MANY
from analyzer.tokens import OBJECT, Key
from analyzer.world import WorldArrays
from gpu.shape import layout as lay


class Answers:
    """Answers questions; what it said of places of the table it keeps, to see what has changed since."""

    def __init__(self, ctx: Context, world: WorldArrays, writer: CodeWriter) -> None:
        self.ctx, self.world, self._writer = ctx, world, writer
        self._places: dict[int, tuple[int, int, int, list[int]]] = {}
        """Per place of the table that was asked for: kind, the two numbers that name it, and the answer."""
        self._numbers: dict[frozenset[Key], list[int]] = {}
        """Tokens of the sets that the table gave as an answer."""
        self._related_fields: dict[tuple[int, int], tuple[frozenset[int], list[int]]] = {}

    def respond(self) -> None:
        """Answers what kernels asked for."""
        world, ctx = self.world, self.ctx
        world.pull_sites()
        hdr = world.arrays.hdr
        asked = world.arrays.miss[: hdr[lay.N_MISSES]].tolist()
        hdr[lay.N_MISSES] = 0
        at = 0
        while at < len(asked):
            kind, n = asked[at], asked[at + 1]
            question = asked[at + 2 : at + 2 + n]
            at += 2 + n
            a, b = question[0], question[1]
            low, high = kind & 255, kind >> 8
            if low == lay.K_TYPE:
                world.answer_type(a)
            elif low == lay.K_DISPATCH:
                world.answer(kind, a, b, ctx.hierarchy.dispatch(a, b) + 2)
            elif low == lay.K_PLACE:
                items = self._content(high, a, b)
                place = world.new_place(items)
                self._places[place] = (high, a, b, items)
                world.answer(kind, a, b, place)
            else:
                world.answer_effect(question, self._effect(question[3:]))
        world.push_sites()

    def _content(self, kind: int, a: int, b: int) -> list[int]:
        """What a place of the table holds: tokens, or fields."""
        world, table, most = self.world, self.ctx.table, self.ctx.limits.objects_per_static
        member = world.key(a) if kind != lay.P_STATIC else ()
        if kind == lay.P_RELATED:
            return self._related(member, b)
        if kind == lay.P_STATIC:
            found = table.content(world.sparse(a), most)
        elif kind == lay.P_REACHED:
            if member == FORGOTTEN_MEMBER:
                found = table.reached(member, world.through_of(b))
            else:
                found = table.reached(member)
        elif table.may_hold(member, world.sparse(b)):
            found = table.content((member, world.sparse(b)), most)
        else:
            return []
        known = self._numbers.get(found)
        if known is None:
            known = self._numbers[found] = sorted(map(world.token, found))
        return known

    def _related(self, member: Key, f: int) -> list[int]:
        """Fields of a member that a read of a field reads."""
        held = self.ctx.table.fields_of(member)
        known = self._related_fields.get((id(held), f))
        if known is None or known[0] is not held:
            found = [self.world.field(g) for g in self.ctx.fields.related(self.world.sparse(f), held)]
            known = self._related_fields[id(held), f] = (held, found)
        return known[1]

    def _effect(self, vector: list[int]) -> int:
        """Summary of a library call: number of the reference, then the texts of its arguments."""
        number, *rest = vector
        method, static, shimmed, marks_only, keyed = self._writer.references.all[number]
        keys: list[tuple[str, ...] | None] = []
        at = 0
        while keyed and at < len(rest):
            n = rest[at]
            if n < 0:
                keys.append(None)
                at += 1
                continue
            keys.append(tuple(sorted({self._text(i) for i in rest[at + 1 : at + 1 + n]})))
            at += 1 + n
        effect = self.ctx.library.effect(method, static, shimmed, marks_only, tuple(keys))
        return self.world.add_summary(effect.summary)

    def _text(self, number: int) -> str:
        if number <= -2:
            return self._writer.constants.all[-2 - number]
        return self.ctx.program.string(number)

    # -- places of the table -----------------------------------------------------------------------------------

    def places_now(self) -> dict[int, int]:
        """Where the answer about each place stands."""
        return {place: int(self.world.arrays.lists[place]) for place in self._places}

    def restore_places(self, places: dict[int, int]) -> None:
        """Takes back what was answered of a larger table; `places` were there when the table was as it is again."""
        world = self.world
        for place, (kind, a, b, _) in self._places.items():
            at = places[place] if place in places else world.new_list(self._content(kind, a, b))
            world.arrays.lists[place] = at

    def changed_places(self) -> Any:
        """Marks, by number, the places of the table that hold something else now, and brings their lists up to date."""
        world, changes, kin = self.world, self.ctx.table.changes, self.ctx.table.kin
        unknown = int(world.arrays.hdr[lay.TOKEN_ANY_MEMBER])
        fresh: list[int] = []
        for place, (kind, a, b, items) in self._places.items():
            member = world.key(a) if kind != lay.P_STATIC else ()
            if kind == lay.P_REACHED:
                stale = member in changes.reached or member == FORGOTTEN_MEMBER
            elif kind == lay.P_RELATED:
                stale = member in changes.fields
            else:
                stale = bool(changes.reached) and unknown in items
                if kind == lay.P_STATIC:
                    stale |= world.sparse(a) in changes.statics
                else:
                    f = world.sparse(b)
                    stale |= (member, f) in changes.cells or (ANY_MEMBER, f) in changes.cells
                    stale |= (member in MANY and f in changes.by_field) or (member[0] == OBJECT and member[1] in kin)
            if not stale:
                continue
            now = self._content(kind, a, b)
            if now != items:
                fresh.append(place)
                self._places[place] = (kind, a, b, now)
                at = world.new_list(now)
                world.arrays.lists[place] = at
        changed = np.zeros(len(world.arrays.lists), bool)
        changed[fresh] = True
        return changed
