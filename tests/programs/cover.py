"""Which run-time objects and labels the tokens of a method stand for, in one activation of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from analyzer.lower import Key
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    DEEP,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    STATIC,
    TAINT,
    UNKNOWN,
    root_field,
)
from gpu.bits import bits_of
from tests.programs.heap import CellKey, Origin, Value, Write, window
from tests.programs.solving import Solved

Cells = dict[int, list[tuple[int, int]]]
"""Column -> (field, bits) of its cells."""


@dataclass
class Activation:
    """One run of a method."""

    number: int
    method: int
    start: int
    args: list[Value]
    op: int = 0
    looked: tuple[int, int] = (-1, -1)
    memo: dict[tuple[Key, int], dict[Origin | None, frozenset[Origin]]] = field(default_factory=dict)


class Cover:
    """Decides, for an activation, whether tokens cover what was seen.

    A formal stands for what lay on its path on entry, and for what was stored there since through another outside
    token of the method (semantics.md 4, the alias term of sigma).
    """

    def __init__(self, solved: Solved, statics: dict[int, list[Write]]) -> None:
        self.s, self.statics = solved, statics
        self.sites = solved.ctx.sites
        table = solved.ctx.table
        self.table_sites = {(s.method, s.op) for s in (self.sites[i] for i in table.sites if i >= 0)}
        self.table_content = {key for _, held in table.everything() for key in held}
        self._heap: dict[tuple[int, int], tuple[Cells, dict[int, int]]] = {}
        self._calls: dict[tuple[int, int], int] = {}
        for i, site in enumerate(self.sites.all):
            if site.kind == "call":
                self._calls[site.method, site.op] = i

    # -- rows --------------------------------------------------------------------------------------------------

    def rows(self, method: int) -> tuple[int, ...]:
        layout = self.s.idfg.layout(method)
        return self.s.solution.rows[layout.number]

    def row(self, method: int, key: tuple[int, ...]) -> int:
        """Bits of a channel row; 0 when the method has none."""
        layout = self.s.idfg.layout(method)
        at = self.s.idfg.row(layout, key)
        return self.rows(method)[at] if at >= 0 else 0

    def heap(self, method: int, op: int) -> tuple[Cells, dict[int, int]]:
        """(cells by column, static rows) before an operation."""
        if (method, op) not in self._heap:
            layout, rows = self.s.idfg.state(method, op)
            column = {key: c for c, key in enumerate(layout.columns)}
            cells: Cells = {}
            statics = {}
            for row, key in enumerate(layout.rows):
                if isinstance(key, int):
                    continue
                if key[0] == CELL:
                    cells.setdefault(column[key[1]], []).append((key[2], rows[row]))
                elif key[0] == STATIC:
                    statics[key[1]] = rows[row]
            self._heap[method, op] = cells, statics
        return self._heap[method, op]

    def cell_bits(self, act: Activation, cells: Cells, o: Origin, key: CellKey) -> int | None:
        """Union of the rows that stand for a cell, over all tokens that cover its object.

        None when there is none, or when one is an unknown object from outside: labels come with it, not with its cells;
        or when a coarse store is all that speaks of a cell of an object that came in.
        """
        found = None
        star = self.s.ctx.fields.star
        columns = self.s.idfg.layout(act.method).columns
        for column, rows in cells.items():
            related = [bits for f, bits in rows if self.matches(f, key)]
            if related and self.stands_for(act, columns[column], o):
                kind = columns[column][0]
                if kind == BEYOND or (kind in (UNKNOWN, BY_TYPE) and (act.number not in o.chain or self.in_table(o))):
                    return None
                if kind != OBJECT and not any(f != star and self.matches(f, key) for f, _ in rows):
                    return None
                for bits in related:
                    found = (found or 0) | bits
        return found

    def matches(self, f: int, key: CellKey) -> bool:
        """Whether a field of the analysis speaks of a run-time cell."""
        fields = self.s.ctx.fields
        if f == fields.star:
            return not (isinstance(key, int) and fields.is_own(key))
        if isinstance(key, tuple):
            if key[0] == "$elem":
                keyed = fields.wild(f) == fields.elem
                return f == fields.elem or (keyed and not (isinstance(key[1], str) and f != fields.key(key[1])))
            if key[0] == "$value":
                return f == fields.value
            return f in (fields.any, fields.index(key[1]))
        return f == key

    # -- tokens ------------------------------------------------------------------------------------------------

    def missing(self, act: Activation, bits: int, value: Value) -> Iterator[Origin]:
        """What of a value no token of a row covers."""
        columns = self.s.idfg.layout(act.method).columns
        tokens = [columns[c] for c in bits_of(bits)]
        if value.object is not None and not any(self.stands_for(act, t, value.object) for t in tokens):
            yield value.object
        for label in value.labels:
            if not any(self.carries(act, t, label) for t in tokens):
                yield label

    def carries(self, act: Activation, token: Key, label: Origin) -> bool:
        """Whether a token stands for a label."""
        if token[0] == TAINT:
            site = self.sites[token[2]]
            return (site.method, site.op) == label.site[:2]
        if token[0] == FORMAL:
            return any(label in labels for labels in self.held(act, token).values())
        if token[0] == DEEP:
            return label in self.region(act, token)[1]
        return False

    def stands_for(self, act: Activation, token: Key, o: Origin) -> bool:
        """Whether a token may be an object."""
        kind = token[0]
        if kind == UNKNOWN:
            return act.number in o.chain or o.kind in ("library", "exception") or self.in_table(o)
        if kind == OBJECT:
            return self.named(act, token, o)
        if kind == FORMAL:
            return o in self.held(act, token)
        if kind == DEEP:
            return o in self.region(act, token)[0]
        if kind == BY_TYPE:
            inside = act.number in o.chain and o.site[:2] not in self.table_sites  # those keep their names
            return o.type == token[1] and (inside or bool({(UNKNOWN,), token} & self.table_content))
        if kind == LIBRARY_BY_TYPE:
            return o.kind in ("library", "exception")
        return kind == BEYOND and (o.kind in ("library", "exception") or self.in_table(o))

    def in_table(self, o: Origin) -> bool:
        """Whether the table of library statics may speak of an object: by its site, or folded."""
        by_type = {(BY_TYPE, o.type, own) for own in (0, 1)}
        return o.site[:2] in self.table_sites or bool({(UNKNOWN,), *by_type} & self.table_content)

    def named(self, act: Activation, token: Key, o: Origin) -> bool:
        site = self.sites[token[1]]
        if o.kind == "exception":
            return site.kind == "exception" and self.s.hierarchy.may_be(False, site.type, o.type)
        if (site.method, site.op, site.kind) != o.site:
            return False
        if token[1] in self.s.ctx.table.sites:
            return True
        if act.number not in o.chain:
            return False
        at = o.chain[act.number]
        shape = self.s.ctx.shapes[act.method]
        if shape.context and site.kind in ("new", "library") and (act.method, at) != o.site[:2]:
            return bool(token[2] == self._calls.get((act.method, at), -2))
        return bool(token[2] == -1)

    def root_value(self, act: Activation, root: int) -> Value | None:
        f = root_field(root)
        if f < 0:
            return act.args[root] if root < len(act.args) else None
        value = None
        for write in self.statics.get(f, ()):
            if write.time < act.start:
                value = write.value
        return value

    def held(self, act: Activation, token: Key) -> dict[Origin | None, frozenset[Origin]]:
        """Objects that a formal stands for, each with labels that come with it; None: no object."""
        _, root, path = token
        if not path:
            value = self.root_value(act, root)
            return {} if value is None else {value.object: value.labels}
        owner = (FORMAL, root, path[:-1])
        found: dict[Origin | None, frozenset[Origin]] = {}
        for o, labels in self.held(act, owner).items():
            found[None] = found.get(None, frozenset()) | labels
            if o is None:
                continue
            for key, history in o.cells.items():
                if self.matches(path[-1], key):
                    for write in window(history, act.start):
                        if write.time >= act.start and not self.through_alias(act, write, owner):
                            continue
                        v = write.value
                        found[v.object] = found.get(v.object, frozenset()) | v.labels | labels
        return found

    def through_alias(self, act: Activation, write: Write, owner: Key) -> bool:
        """Whether a store during an activation may have gone through another outside token than the owner."""
        if write.activation != act.number or write.base < 0:
            return True
        columns = self.s.idfg.layout(act.method).columns
        for c in bits_of(self.rows(act.method)[write.base]):
            token = columns[c]
            if token != owner and (
                token[0] not in (OBJECT, TAINT) or (token[0] == OBJECT and token[1] in self.s.ctx.table.sites)
            ):
                return True
        return False

    def goes_through(self, through: Iterable[int], key: CellKey) -> bool:
        """Whether a cell is among those that a read through some fields reads."""
        fields = self.s.ctx.fields
        private = isinstance(key, int) and fields.is_private(key)
        return any((f == fields.star and not private) or (f != fields.star and self.matches(f, key)) for f in through)

    def region(self, act: Activation, token: Key) -> tuple[set[Origin], set[Origin]]:
        """(objects, labels) that a region token stands for, held on entry or since."""
        value = self.root_value(act, token[1])
        through: set[int] = set()
        for own in range(token[2] + 1):
            found = self.s.ctx.shapes[act.method].through.get((DEEP, token[1], own))
            through |= found.fields if found is not None else set()
        objects: set[Origin] = set()
        if value is None:
            return objects, set()
        labels: set[Origin] = set()
        pending: list[Origin] = []
        path_kind = self.s.ctx.fields.through
        for source in self.s.idfg.layout(act.method).columns:
            if source[:2] == (FORMAL, token[1]) and path_kind(source[2]).own <= token[2]:
                held = self.held(act, source)
                pending += [o for o in held if o is not None]
                labels |= set().union(*held.values())
        seen: set[Origin] = set()
        while pending:
            o = pending.pop()
            if o in seen:
                continue
            seen.add(o)
            for key, history in o.cells.items():
                if not self.goes_through(through, key):
                    continue
                for write in window(history, act.start):
                    labels |= write.value.labels
                    if write.value.object is not None:
                        objects.add(write.value.object)
                        pending.append(write.value.object)
        return objects, labels
