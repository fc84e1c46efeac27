"""The table: library statics, and the cells of every object that they reach, for the whole app (semantics.md 4).

It is flow-insensitive and holds tokens of no method in particular. Its objects are called *members* here: allocation
sites, without a context, and names of folded objects. *Outer* members are those that statics and app-wide objects reach
through fields that library code may know; what only private fields (`Fields.is_private`) lead to is *inner*.

Two tokens stand for any member. Beside `ANY_MEMBER` stand the labels that may be reached, through fields that are not
private, from the members meant; so what such cells of it hold is itself, and no label. `FORGOTTEN_MEMBER` is what a
coarse summary makes of a member: its cells hold all labels that such cells of outer members hold. A private cell of
either holds what that field of any member holds: the app's own classes are few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.callgraph.scc import components
from analyzer.tokens import ANYWHERE, BEYOND, DEEP, FORGOTTEN, FORMAL, OBJECT, TAINT, Fields, Key, Through
from gpu.bits import bits_of

ANY_MEMBER: Key = (BEYOND, ANYWHERE)
FORGOTTEN_MEMBER: Key = (BEYOND, FORGOTTEN)
MANY = frozenset([ANY_MEMBER, FORGOTTEN_MEMBER])

_NOTHING: set[Key] = set()
_NO_FIELDS: frozenset[int] = frozenset()

Place = int | tuple[Key, int]
"""A library static, or (member, field)."""


@dataclass(slots=True)
class Table:
    """What library statics and their objects hold."""

    names: Fields
    sites: set[int]
    """Allocation sites that are members."""
    roots: Collection[int]
    """Sites that no static needs to hold: app-wide objects of library models."""
    kin: dict[int, list[int]]
    """Sites that may stand for the same object: what one holds is read from the other too."""

    statics: dict[int, set[Key]] = field(default_factory=dict)
    cells: dict[tuple[Key, int], set[Key]] = field(default_factory=dict)
    """What is stored through a token for any member is in the cells of `ANY_MEMBER`, and those are read by all."""
    folded: set[Key] = field(default_factory=set)
    """Other members."""
    changes: Changes = field(default_factory=lambda: Changes())
    """What the last `add` changed."""
    _own_fields: dict[Key, set[int]] = field(default_factory=dict)
    """Per member, fields of its own cells."""
    _held: dict[Key, set[Key]] = field(default_factory=dict)
    """Per member, objects in its cells that are not private."""
    _labels: dict[tuple[Key, int], set[Key]] = field(default_factory=dict)
    """Labels in a cell, where there are any."""
    _fields: dict[Key, frozenset[int]] = field(default_factory=dict)
    """Per member, fields that hold something."""
    _outer: set[Key] = field(default_factory=set)
    _forgotten: set[Key] = field(default_factory=set)
    """Members that a coarse summary made `FORGOTTEN_MEMBER` of: from then on they are outer ones."""
    _by_field: dict[int, set[Key]] = field(default_factory=dict)
    """Per field, labels that an outer member holds there; of a private field, all that any member holds."""
    _reached: dict[Key, frozenset[Key]] = field(default_factory=dict)
    """Per member, labels reached through fields that are not private."""
    _content: dict[tuple[Place, int], frozenset[Key]] = field(default_factory=dict)
    _all_labels: list[Key] = field(default_factory=list)
    _label_bit: dict[Key, int] = field(default_factory=dict)
    _reach_bits: dict[Key, int] = field(default_factory=dict)
    """Per member, `_reached` as bits over the labels."""
    _part_bits: dict[int, int] = field(default_factory=dict)
    _sets: dict[int, frozenset[Key]] = field(default_factory=dict)

    def copy(self) -> Table:
        """The same content, apart, with nothing derived yet: `index` comes before it is used."""
        statics = {f: set(held) for f, held in self.statics.items()}
        cells = {place: set(held) for place, held in self.cells.items()}
        made = Table(self.names, set(self.sites), self.roots, self.kin, statics, cells, set(self.folded))
        made._forgotten = set(self._forgotten)
        return made

    def restore(self, other: Table) -> None:
        """Takes the content of a copy made before."""
        self.statics, self.cells = other.statics, other.cells
        self.folded, self._forgotten = other.folded, other._forgotten
        self.sites.intersection_update({*other.sites, *self.roots})
        self._own_fields, self._held, self._labels = {}, {}, {}
        self.index()

    def member(self, key: Key) -> Key | None:
        """The member, or the token for any, that a token of some method stands for; None for other tokens."""
        if key[0] == OBJECT:
            return (OBJECT, key[1], -1) if key[1] in self.sites else None
        return key if key in self.folded or key in MANY else None

    def add(self, contributions: Iterable[tuple[Place, Key]]) -> set[Key]:
        """Takes in what methods write; the members that are new."""
        grouped: dict[Place, set[Key]] = {}
        for place, content in contributions:
            grouped.setdefault(place, set()).add(content)
        return self.add_all(grouped.items())

    def add_all(self, contributions: Iterable[tuple[Place, Collection[Key]]]) -> set[Key]:
        """As `add`, place by place."""
        known = set(self.members())
        self.changes = Changes()
        everything: set[Key] = set()
        for place, contents in contributions:
            if isinstance(place, tuple):
                place = (store_place(place[0]), place[1])
                self.cells.setdefault(place, set()).update(contents)
                self.changes.cells.add(place)
                self._note(place, contents)
            else:
                self.statics.setdefault(place, set()).update(contents)
                self.changes.statics.add(place)
            everything.update(contents)
        for content in everything:
            if content[0] == OBJECT:
                self.sites.add(content[1])
            elif content[0] != TAINT and content not in MANY:
                self.folded.add(content)
        self.index()
        return set(self.members()) - known

    def _note(self, place: tuple[Key, int], contents: Iterable[Key]) -> None:
        """Keeps what is asked of all cells together."""
        m, f = place
        self._own_fields.setdefault(m, set()).add(f)
        labels = {k for k in contents if k[0] == TAINT}
        if labels:
            self._labels.setdefault(place, set()).update(labels)
        if not self.names.is_private(f):
            self._held.setdefault(m, set()).update(k for k in contents if k[0] != TAINT)

    def members(self) -> list[Key]:
        """All members, in an order that depends on nothing else."""
        return [(OBJECT, site, -1) for site in sorted(self.sites)] + sorted(self.folded, key=repr)

    def index(self) -> None:
        """Brings what is derived from the cells up to date."""
        self._content = {}
        if not self._own_fields:  # of a copy
            for place, held in self.cells.items():
                self._note(place, held)
        members = self.members()
        before = self._fields, self._by_field, self._reached
        shared = self._own_fields.get(ANY_MEMBER, set())
        fields = {m: self._own_fields.get(m, set()) | shared for m in members}
        for site, others in self.kin.items():
            for other in others:
                fields.setdefault((OBJECT, site, -1), set()).update(self._own_fields.get((OBJECT, other, -1), ()))
        self._outer = self._find_outer()
        self._by_field = {}
        for place in self.cells:
            if self.names.is_private(place[1]):
                self._by_field.setdefault(place[1], set()).update(self.cells[place])
        for (m, f), labels in self._labels.items():
            if (m == ANY_MEMBER or m in self._outer) and not self.names.is_private(f):
                self._by_field.setdefault(f, set()).update(labels)
        fields[FORGOTTEN_MEMBER] = set(self._by_field)
        fields[ANY_MEMBER] = {f for f in self._by_field if self.names.is_private(f)}
        sets: dict[frozenset[int], frozenset[int]] = {}
        self._fields = {
            m: sets.setdefault(key, key) for m, found in fields.items() if found and (key := frozenset(found))
        }
        self._reached = self._find_reached(members)
        self.changes.fields = _changed(before[0], self._fields)
        self.changes.by_field = _changed(before[1], self._by_field)
        self.changes.reached = _changed(before[2], self._reached)

    def _find_outer(self) -> set[Key]:
        """Members that statics and app-wide objects reach through fields that are not private."""
        held = self._held
        pending: set[Key] = set().union(*self.statics.values(), held.get(ANY_MEMBER, ()))
        pending |= {(OBJECT, site, -1) for site in self.roots} | self._forgotten
        outer: set[Key] = set()
        while pending:
            m = pending.pop()
            if m not in outer:
                outer.add(m)
                pending |= held.get(m, set()) - outer
                if m[0] == OBJECT:
                    pending.update((OBJECT, other, -1) for other in self.kin.get(m[1], ()))
        return {m for m in outer if m[0] != TAINT}

    def _find_reached(self, members: Sequence[Key]) -> dict[Key, frozenset[Key]]:
        """Labels that are reached from each member."""
        labels = {k for held in self._labels.values() for k in held}
        labels.update(k for held in self.statics.values() for k in held if k[0] == TAINT)
        self._all_labels = sorted(labels)
        number = self._label_bit = {label: 1 << i for i, label in enumerate(self._all_labels)}
        self._reach_bits, self._part_bits, self._sets = {}, {}, {}
        if not labels:
            return {}
        direct: dict[Key, int] = {}
        for (m, f), held in self._labels.items():
            if not self.names.is_private(f):
                direct[m] = direct.get(m, 0) | sum(number[k] for k in held)
        nodes = dict.fromkeys([*members, *self._held, *direct])
        for held in self._held.values():
            nodes.update(dict.fromkeys(held))
        at = {m: i for i, m in enumerate(nodes)}
        graph: list[set[int]] = [{at[k] for k in self._held.get(m, ())} for m in nodes]
        if ANY_MEMBER in at:
            for m in members:  # what is stored through it, all members hold
                graph[at[m]].add(at[ANY_MEMBER])
        if FORGOTTEN_MEMBER in at:
            graph[at[FORGOTTEN_MEMBER]].update(at[m] for m in members if m in self._outer)
        for site, others in self.kin.items():
            if (OBJECT, site, -1) in at:
                graph[at[OBJECT, site, -1]].update(
                    at[OBJECT, other, -1] for other in others if (OBJECT, other, -1) in at
                )
        found: list[int] = [direct.get(m, 0) for m in nodes]
        for component in components(
            range(len(graph)), {i: sorted(out) for i, out in enumerate(graph)}
        ):  # callees first
            bits = 0
            for i in component:
                bits |= found[i]
                for j in graph[i]:
                    bits |= found[j]
            for i in component:
                found[i] = bits
        sets: dict[int, frozenset[Key]] = {}
        for bits in set(found):
            sets[bits] = frozenset(self._all_labels[i] for i in bits_of(bits))
        self._reach_bits = dict(zip(nodes, found, strict=True))
        return {m: sets[bits] for m, bits in zip(nodes, found, strict=True) if bits}

    def fields_of(self, member: Key) -> frozenset[int]:
        """Fields of a member that hold something; equal sets are the same object."""
        return self._fields.get(member, _NO_FIELDS)

    def content(self, place: Place, most: int) -> frozenset[Key]:
        """What a static or a cell holds, seen by a load: beyond `most` objects, one for all with the labels reached."""
        known = self._content.get((place, most))
        if known is None:
            known = self._content[place, most] = self._seen(place, most)
        return known

    def _seen(self, place: Place, most: int) -> frozenset[Key]:
        if isinstance(place, int):
            parts = [self.statics.get(place, _NOTHING)]
        else:
            parts = self._parts(*place)
        if sum(map(len, parts)) > most:
            objects = {k for part in parts for k in part if k[0] != TAINT} if len(parts) > 1 else None
            if max(map(self._n_objects, parts)) > most or (objects is not None and len(objects) > most):
                bits = 0
                for part in parts:
                    bits |= self._bits_of(part)
                return self._many(bits)
        return frozenset().union(*parts)

    def _n_objects(self, part: set[Key]) -> int:
        return len(part) if len(part) <= 1 else sum(k[0] != TAINT for k in part)

    def _bits_of(self, part: set[Key]) -> int:
        """Labels in a set, and reached from its objects, as bits."""
        found = self._part_bits.get(id(part))
        if found is None:
            found = 0
            for k in part:
                found |= self._label_bit[k] if k[0] == TAINT else self._reach_bits.get(k, 0)
            self._part_bits[id(part)] = found
        return found

    def _many(self, bits: int) -> frozenset[Key]:
        """One token for all objects, with labels."""
        found = self._sets.get(bits)
        if found is None:
            found = self._sets[bits] = frozenset([ANY_MEMBER, *(self._all_labels[i] for i in bits_of(bits))])
        return found

    def may_hold(self, member: Key, f: int) -> bool:
        """Whether a cell can hold anything; asked often, so it is quick."""
        cells = self.cells
        if (member, f) in cells or (ANY_MEMBER, f) in cells or member in MANY:
            return True
        return member[0] == OBJECT and member[1] in self.kin

    def reached(self, member: Key, through: Through | None = None) -> frozenset[Key]:
        """Labels that are reached from a member through some fields, private ones left out.

        Which fields they are matters for `FORGOTTEN_MEMBER` only.
        """
        if member == FORGOTTEN_MEMBER and through is not None:
            labels = (held for f, held in self._by_field.items() if through.meets(f) and not self.names.is_private(f))
            return frozenset().union(*labels)
        return self._reached.get(member, frozenset())

    def forget(self, member: Key) -> Key:
        """The token that a coarse summary makes of a member."""
        self._forgotten.add(member)
        return FORGOTTEN_MEMBER

    def _parts(self, member: Key, f: int) -> list[set[Key]]:
        """Sets whose union a cell holds."""
        if member in MANY:
            private = self.names.is_private(f)
            return [self._by_field.get(f, _NOTHING) if member == FORGOTTEN_MEMBER or private else _NOTHING]
        found = [self.cells.get((member, f), _NOTHING)]
        if (ANY_MEMBER, f) in self.cells:
            found.append(self.cells[ANY_MEMBER, f])
        if member[0] == OBJECT:
            others = ((OBJECT, other, -1) for other in self.kin.get(member[1], ()))
            found += [self.cells[other, f] for other in others if (other, f) in self.cells]
        return found

    def _cell(self, member: Key, f: int) -> set[Key]:
        return set().union(*self._parts(member, f))


@dataclass(slots=True)
class Changes:
    """What an addition changed: cells and statics that hold more, and of what is derived, what is different."""

    cells: set[tuple[Key, int]] = field(default_factory=set)
    statics: set[int] = field(default_factory=set)
    fields: set[Key] = field(default_factory=set)
    by_field: set[int] = field(default_factory=set)
    reached: set[Key] = field(default_factory=set)


def _changed(before: dict[Any, Any], now: dict[Any, Any]) -> set[Any]:
    """Keys whose values differ."""
    return {k for k, v in now.items() if before.get(k) != v} | {k for k in before if k not in now}


def store_place(member: Key) -> Key:
    """The member in whose cells a store through a member goes."""
    return ANY_MEMBER if member in MANY else member


def concrete(key: Key) -> Key | None:
    """A token as the table holds it, or None for what only its method knows."""
    if key[0] == OBJECT:
        return (OBJECT, key[1], -1)
    return None if key[0] in (FORMAL, DEEP) else key
