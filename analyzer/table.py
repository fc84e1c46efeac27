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

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analyzer.tokens import ANYWHERE, BEYOND, DEEP, FORGOTTEN, FORMAL, OBJECT, TAINT, Fields, Key, Through
from gpu.bits import bits_of

ANY_MEMBER: Key = (BEYOND, ANYWHERE)
FORGOTTEN_MEMBER: Key = (BEYOND, FORGOTTEN)
MANY = frozenset([ANY_MEMBER, FORGOTTEN_MEMBER])

_NO_FIELDS: frozenset[int] = frozenset()
_COLUMNS = 128
"""Bytes of each row that are transposed at a time."""

Place = int | tuple[Key, int]
"""A library static, or (member, field)."""


class Numbering:
    """Tokens by number, in the order in which they turned up; a set of them is an integer with a bit for each."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.labels = 0
        """Those that are labels."""
        self._known: dict[Key, int] = {}

    def number(self, key: Key) -> int:
        """Number of a token, new or known."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.keys)
            self.keys.append(key)
            if key[0] == TAINT:
                self.labels |= 1 << found
        return found

    def bit(self, key: Key) -> int:
        """The set of one token."""
        return 1 << self.number(key)

    def bits(self, keys: Iterable[Key]) -> int:
        """A set of tokens."""
        found = 0
        for key in keys:
            found |= 1 << self.number(key)
        return found

    def tokens(self, bits: int) -> Iterator[Key]:
        """The tokens of a set."""
        keys = self.keys
        return (keys[i] for i in bits_of(bits))


@dataclass(slots=True)
class Table:
    """What library statics and their objects hold. Sets of tokens are integers, see `Numbering`."""

    names: Fields
    sites: set[int]
    """Allocation sites that are members."""
    roots: Collection[int]
    """Sites that no static needs to hold: app-wide objects of library models."""
    kin: dict[int, list[int]]
    """Sites that may stand for the same object: what one holds is read from the other too."""

    numbering: Numbering = field(default_factory=Numbering)
    """Of all copies of the table."""
    statics: dict[int, int] = field(default_factory=dict)
    cells: dict[tuple[Key, int], int] = field(default_factory=dict)
    """What is stored through a token for any member is in the cells of `ANY_MEMBER`, and those are read by all."""
    folded: set[Key] = field(default_factory=set)
    """Other members."""
    changes: Changes = field(default_factory=lambda: Changes())
    """What the last `add` changed."""
    _own_fields: dict[Key, set[int]] = field(default_factory=dict)
    """Per member, fields of its own cells."""
    _held: dict[Key, int] = field(default_factory=dict)
    """Per member, objects in its cells that are not private."""
    _fields: dict[Key, frozenset[int]] = field(default_factory=dict)
    """Per member, fields that hold something."""
    _outer: int = 0
    _forgotten: set[Key] = field(default_factory=set)
    """Members that a coarse summary made `FORGOTTEN_MEMBER` of: from then on they are outer ones."""
    _by_field: dict[int, int] = field(default_factory=dict)
    """Per field, labels that an outer member holds there; of a private field, all that any member holds."""
    _reaching: dict[int, int] = field(default_factory=dict)
    """Per label, by number, the members that reach it through fields that are not private."""
    _reached: dict[Key, int] = field(default_factory=dict)
    """The same per member; bit i is the i-th label of `_reaching`."""
    _content: dict[tuple[Place, int], frozenset[Key]] = field(default_factory=dict)
    _sets: dict[int, frozenset[Key]] = field(default_factory=dict)

    def copy(self) -> Table:
        """The same content, apart, with nothing derived yet: `index` comes before it is used."""
        made = Table(
            self.names, set(self.sites), self.roots, self.kin, self.numbering, dict(self.statics), dict(self.cells),
            set(self.folded),
        )  # fmt: skip
        made._forgotten = set(self._forgotten)
        return made

    def restore(self, other: Table) -> None:
        """Takes the content of a copy made before."""
        self.statics, self.cells = other.statics, other.cells
        self.folded, self._forgotten = other.folded, other._forgotten
        self.sites.intersection_update({*other.sites, *self.roots})
        self._own_fields, self._held = {}, {}
        self.index()

    def everything(self) -> Iterator[tuple[Place, frozenset[Key]]]:
        """Each static and cell with what was written to it."""
        for found in (self.statics, self.cells):
            for place, held in found.items():
                yield place, frozenset(self.numbering.tokens(held))

    def member(self, key: Key) -> Key | None:
        """The member, or the token for any, that a token of some method stands for; None for other tokens."""
        if key[0] == OBJECT:
            return (OBJECT, key[1], -1) if key[1] in self.sites else None
        return key if key in self.folded or key in MANY else None

    def add(self, contributions: Iterable[tuple[Place, Key]]) -> set[Key]:
        """Takes in what methods write; the members that are new."""
        grouped: dict[Place, int] = {}
        for place, content in contributions:
            grouped[place] = grouped.get(place, 0) | self.numbering.bit(content)
        return self.add_all(grouped.items())

    def add_all(self, contributions: Iterable[tuple[Place, int]]) -> set[Key]:
        """As `add`, place by place, with sets."""
        self.changes = Changes()
        new: set[Key] = set()
        for place, held in contributions:
            if isinstance(place, tuple):
                place = (store_place(place[0]), place[1])
                before = self.cells.get(place, 0)
                self.cells[place] = before | held
                self._note(place, held)
                self.changes.cells.add(place)
            else:
                before = self.statics.get(place, 0)
                self.statics[place] = before | held
                self.changes.statics.add(place)
            for content in self.numbering.tokens(held & ~before & ~self.numbering.labels):
                if self.member(content) is None:
                    new.add(content)
                    if content[0] == OBJECT:
                        self.sites.add(content[1])
                    else:
                        self.folded.add(content)
        self.index()
        return new

    def _note(self, place: tuple[Key, int], held: int) -> None:
        """Keeps what is asked of all cells together."""
        m, f = place
        self._own_fields.setdefault(m, set()).add(f)
        if not self.names.is_private(f):
            self._held[m] = self._held.get(m, 0) | (held & ~self.numbering.labels)

    def members(self) -> list[Key]:
        """All members, in an order that depends on nothing else."""
        return [(OBJECT, site, -1) for site in sorted(self.sites)] + sorted(self.folded, key=repr)

    def index(self) -> None:
        """Brings what is derived from the cells up to date."""
        self._content = {}
        if not self._own_fields:  # of a copy
            for place, held in self.cells.items():
                self._note(place, held)
        for site, others in self.kin.items():
            self.numbering.bits((OBJECT, one, -1) for one in (site, *others))
        members = self.members()
        before = self._fields, self._by_field, self._labels_by_member()
        shared = self._own_fields.get(ANY_MEMBER, set())
        fields = {m: self._own_fields.get(m, set()) | shared for m in members}
        for site, others in self.kin.items():
            for other in others:
                fields.setdefault((OBJECT, site, -1), set()).update(self._own_fields.get((OBJECT, other, -1), ()))
        self._outer = self._find_outer()
        self._by_field = self._find_by_field()
        fields[FORGOTTEN_MEMBER] = set(self._by_field)
        fields[ANY_MEMBER] = {f for f in self._by_field if self.names.is_private(f)}
        sets: dict[frozenset[int], frozenset[int]] = {}
        self._fields = {
            m: sets.setdefault(key, key) for m, found in fields.items() if found and (key := frozenset(found))
        }
        self._find_reached(members)
        self.changes.fields = _changed(before[0], self._fields)
        self.changes.by_field = _changed(before[1], self._by_field)
        self.changes.reached = _changed(before[2], self._labels_by_member())

    def _find_outer(self) -> int:
        """Members that statics and app-wide objects reach through fields that are not private."""
        n, held = self.numbering, self._held
        pending = held.get(ANY_MEMBER, 0)
        for found in self.statics.values():
            pending |= found
        pending |= n.bits((OBJECT, site, -1) for site in self.roots) | n.bits(self._forgotten)
        outer = 0
        while pending:
            new = pending & ~outer & ~n.labels
            outer |= new
            pending = 0
            for m in n.tokens(new):
                pending |= held.get(m, 0) | self._kin_of(m)
        return outer

    def _kin_of(self, m: Key) -> int:
        others = self.kin.get(m[1], ()) if m[0] == OBJECT and self.kin else ()
        return self.numbering.bits((OBJECT, other, -1) for other in others)

    def _find_by_field(self) -> dict[int, int]:
        n, found = self.numbering, dict[int, int]()
        for (m, f), held in self.cells.items():
            if self.names.is_private(f):
                found[f] = found.get(f, 0) | held
            elif held & n.labels and (m == ANY_MEMBER or self._outer >> n.number(m) & 1):
                found[f] = found.get(f, 0) | held & n.labels
        return found

    def _find_reached(self, members: Sequence[Key]) -> None:
        """Labels that are reached from each member."""
        n = self.numbering
        labels, direct = 0, dict[Key, int]()
        for found in self.statics.values():
            labels |= found & n.labels
        for (m, f), held in self.cells.items():
            if held & n.labels:
                labels |= held & n.labels
                if not self.names.is_private(f):
                    direct[m] = direct.get(m, 0) | held & n.labels
        self._reaching, self._reached, self._sets = {}, {}, {}
        if not labels:
            return
        any_member, inside = n.bit(ANY_MEMBER), n.bits(members)
        forgotten = n.number(FORGOTTEN_MEMBER)
        nodes = [*(n.number(m) for m in members), n.number(ANY_MEMBER), forgotten]
        graph = [0] * len(n.keys)
        for i in nodes:
            m = n.keys[i]
            graph[i] = self._held.get(m, 0) | self._kin_of(m)
            if m not in MANY:  # what is stored through it, all members hold
                graph[i] |= any_member
        graph[forgotten] |= inside & self._outer
        holders = _transposed(graph, len(n.keys))
        for label in sorted(bits_of(labels), key=lambda i: n.keys[i]):
            bit = 1 << label
            reaching = frontier = n.bits(m for m, held in direct.items() if held & bit)
            while frontier:
                above = 0
                for i in bits_of(frontier):
                    above |= holders[i]
                frontier = above & ~reaching
                reaching |= frontier
            self._reaching[label] = reaching
        reached = _transposed(list(self._reaching.values()), len(n.keys))
        self._reached = {n.keys[i]: reached[i] for i in nodes if reached[i]}

    def _labels_by_member(self) -> dict[Key, frozenset[Key]]:
        return {m: self._label_set(bits) for m, bits in self._reached.items()}

    def _label_set(self, bits: int) -> frozenset[Key]:
        """Labels by bits over `_reaching`; equal sets are the same object."""
        found = self._sets.get(bits)
        if found is None:
            labels = list(self._reaching)
            found = self._sets[bits] = frozenset(self.numbering.keys[labels[i]] for i in bits_of(bits))
        return found

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
        held = self.statics.get(place, 0) if isinstance(place, int) else self._cell(*place)
        n = self.numbering
        if (held & ~n.labels).bit_count() <= most:
            return frozenset(n.tokens(held))
        bits = 0
        for i, (label, reaching) in enumerate(self._reaching.items()):
            if held >> label & 1 or held & reaching:
                bits |= 1 << i
        return self._label_set(bits) | {ANY_MEMBER}

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
            held = 0
            for f, found in self._by_field.items():
                if through.meets(f) and not self.names.is_private(f):
                    held |= found
            return frozenset(self.numbering.tokens(held))
        return self._label_set(self._reached.get(member, 0))

    def forget(self, member: Key) -> Key:
        """The token that a coarse summary makes of a member."""
        self._forgotten.add(member)
        return FORGOTTEN_MEMBER

    def _cell(self, member: Key, f: int) -> int:
        """All that a read of a cell finds."""
        if member in MANY:
            private = self.names.is_private(f)
            return self._by_field.get(f, 0) if member == FORGOTTEN_MEMBER or private else 0
        found = self.cells.get((member, f), 0) | self.cells.get((ANY_MEMBER, f), 0)
        if member[0] == OBJECT:
            for other in self.kin.get(member[1], ()):
                found |= self.cells.get(((OBJECT, other, -1), f), 0)
        return found


@dataclass(slots=True)
class Changes:
    """What an addition changed: cells and statics that hold more, and of what is derived, what is different."""

    cells: set[tuple[Key, int]] = field(default_factory=set)
    statics: set[int] = field(default_factory=set)
    fields: set[Key] = field(default_factory=set)
    by_field: set[int] = field(default_factory=set)
    reached: set[Key] = field(default_factory=set)


def _transposed(rows: Sequence[int], width: int) -> list[int]:
    """Sets of numbers below `width`, the other way round: set i of the result holds j where set j of `rows` holds i."""
    n_bytes = (width + 7) // 8
    packed = np.frombuffer(b"".join(row.to_bytes(n_bytes, "little") for row in rows), np.uint8)
    packed = packed.reshape(len(rows), n_bytes)
    found: list[int] = []
    for at in range(0, n_bytes, _COLUMNS):
        bits = np.unpackbits(packed[:, at : at + _COLUMNS], axis=1, bitorder="little")
        back = np.packbits(bits.T, axis=1, bitorder="little")
        found += [int.from_bytes(row.tobytes(), "little") for row in back]
    return found[:width]


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
