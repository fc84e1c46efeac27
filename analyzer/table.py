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

import networkx as nx

from analyzer.tokens import ANYWHERE, BEYOND, DEEP, FORGOTTEN, FORMAL, OBJECT, TAINT, Fields, Key, Through
from gpu.bits import bits_of

ANY_MEMBER: Key = (BEYOND, ANYWHERE)
FORGOTTEN_MEMBER: Key = (BEYOND, FORGOTTEN)
MANY = frozenset([ANY_MEMBER, FORGOTTEN_MEMBER])

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
    _fields: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    """Per member, fields that hold something."""
    _outer: set[Key] = field(default_factory=set)
    _forgotten: set[Key] = field(default_factory=set)
    """Members that a coarse summary made `FORGOTTEN_MEMBER` of: from then on they are outer ones."""
    _by_field: dict[int, set[Key]] = field(default_factory=dict)
    """Per field, labels that an outer member holds there; of a private field, all that any member holds."""
    _reached: dict[Key, frozenset[Key]] = field(default_factory=dict)
    """Per member, labels reached through fields that are not private."""
    _content: dict[tuple[Place, int], frozenset[Key]] = field(default_factory=dict)

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
        self.index()

    def member(self, key: Key) -> Key | None:
        """The member, or the token for any, that a token of some method stands for; None for other tokens."""
        if key[0] == OBJECT:
            return (OBJECT, key[1], -1) if key[1] in self.sites else None
        return key if key in self.folded or key in MANY else None

    def add(self, contributions: Iterable[tuple[Place, Key]]) -> set[Key]:
        """Takes in what methods write; the members that are new."""
        known = set(self.members())
        for place, content in contributions:
            if isinstance(place, tuple):
                self.cells.setdefault((store_place(place[0]), place[1]), set()).add(content)
            else:
                self.statics.setdefault(place, set()).add(content)
            if content[0] == OBJECT:
                self.sites.add(content[1])
            elif content[0] != TAINT and content not in MANY:
                self.folded.add(content)
        self.index()
        return set(self.members()) - known

    def members(self) -> list[Key]:
        """All members, in an order that depends on nothing else."""
        return [(OBJECT, site, -1) for site in sorted(self.sites)] + sorted(self.folded, key=repr)

    def index(self) -> None:
        """Brings what is derived from the cells up to date."""
        self._content = {}
        members = self.members()
        own: dict[Key, set[int]] = {}
        for m, f in self.cells:
            own.setdefault(m, set()).add(f)
        shared = own.get(ANY_MEMBER, set())
        fields = {m: own.get(m, set()) | shared for m in members}
        for site, others in self.kin.items():
            for other in others:
                fields.setdefault((OBJECT, site, -1), set()).update(own.get((OBJECT, other, -1), ()))
        self._outer = self._find_outer()
        self._by_field = {}
        for (m, f), held in self.cells.items():
            if self.names.is_private(f):
                self._by_field.setdefault(f, set()).update(held)
            elif m == ANY_MEMBER or m in self._outer:
                labels = {k for k in held if k[0] == TAINT}
                if labels:
                    self._by_field.setdefault(f, set()).update(labels)
        fields[FORGOTTEN_MEMBER] = set(self._by_field)
        fields[ANY_MEMBER] = {f for f in self._by_field if self.names.is_private(f)}
        self._fields = {m: tuple(sorted(found)) for m, found in fields.items() if found}
        self._reached = self._find_reached(members)

    def _find_outer(self) -> set[Key]:
        """Members that statics and app-wide objects reach through fields that are not private."""
        held: dict[Key, set[Key]] = {}
        for (m, f), keys in self.cells.items():
            if not self.names.is_private(f):
                held.setdefault(m, set()).update(k for k in keys if k[0] != TAINT)
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
        return outer

    def _find_reached(self, members: Sequence[Key]) -> dict[Key, frozenset[Key]]:
        """Labels that are reached from each member."""
        labels = sorted({k for held in self.cells.values() for k in held if k[0] == TAINT})
        if not labels:
            return {}
        number = {label: i for i, label in enumerate(labels)}
        direct: dict[Key, int] = {}
        held: dict[Key, set[Key]] = {m: {ANY_MEMBER} for m in members}  # what is stored through it, all members hold
        for (m, f), keys in self.cells.items():
            if not self.names.is_private(f):
                held.setdefault(m, set()).update(keys)
        graph: nx.DiGraph[Key] = nx.DiGraph()
        for m, keys in held.items():
            graph.add_node(m)
            graph.add_edges_from((m, k) for k in keys if k[0] != TAINT)
            direct[m] = sum(1 << number[k] for k in keys if k[0] == TAINT)
        if FORGOTTEN_MEMBER in graph:
            graph.add_edges_from((FORGOTTEN_MEMBER, m) for m in members if m in self._outer)
        for site, others in self.kin.items():
            graph.add_edges_from(((OBJECT, site, -1), (OBJECT, other, -1)) for other in others)
        condensed = nx.condensation(graph)
        of: dict[int, int] = {}
        found: dict[Key, frozenset[Key]] = {}
        for c in reversed(list(nx.topological_sort(condensed))):
            inside = condensed.nodes[c]["members"]
            bits = 0
            for m in inside:
                bits |= direct.get(m, 0)
            for d in condensed.successors(c):
                bits |= of[d]
            of[c] = bits
            if bits:
                reached = frozenset(labels[i] for i in bits_of(bits))
                found.update(dict.fromkeys(inside, reached))
        return found

    def fields_of(self, member: Key) -> tuple[int, ...]:
        """Fields of a member that hold something."""
        return self._fields.get(member, ())

    def content(self, place: Place, most: int) -> frozenset[Key]:
        """What a static or a cell holds, seen by a load: beyond `most` objects, one for all with the labels reached."""
        known = self._content.get((place, most))
        if known is None:
            keys = self.statics.get(place, set()) if isinstance(place, int) else self._cell(*place)
            objects = [k for k in keys if k[0] != TAINT]
            if len(objects) > most:
                keys = {k for k in keys if k[0] == TAINT} | {ANY_MEMBER}
                keys.update(*(self._reached.get(k, ()) for k in objects))
            known = self._content[place, most] = frozenset(keys)
        return known

    def reached(self, member: Key, through: Through) -> frozenset[Key]:
        """Labels that are reached from a member through some fields, private ones left out."""
        if member == FORGOTTEN_MEMBER:
            labels = (held for f, held in self._by_field.items() if through.meets(f) and not self.names.is_private(f))
            return frozenset().union(*labels)
        return self._reached.get(member, frozenset())

    def forget(self, member: Key) -> Key:
        """The token that a coarse summary makes of a member."""
        self._forgotten.add(member)
        return FORGOTTEN_MEMBER

    def _cell(self, member: Key, f: int) -> set[Key]:
        if member in MANY:
            return self._by_field.get(f, set()) if member == FORGOTTEN_MEMBER or self.names.is_private(f) else set()
        found = self.cells.get((member, f), set()) | self.cells.get((ANY_MEMBER, f), set())
        if member[0] == OBJECT:
            found.update(*(self.cells.get(((OBJECT, other, -1), f), ()) for other in self.kin.get(member[1], ())))
        return found


def store_place(member: Key) -> Key:
    """The member in whose cells a store through a member goes."""
    return ANY_MEMBER if member in MANY else member


def concrete(key: Key) -> Key | None:
    """A token as the table holds it, or None for what only its method knows."""
    if key[0] == OBJECT:
        return (OBJECT, key[1], -1)
    return None if key[0] in (FORMAL, DEEP) else key
