"""Summaries: what a call of a method does, in terms of its formals (semantics.md 4), and how they are coarsened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from analyzer.table import MANY, Table
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    CELL_DATA,
    DEEP,
    FOLDED,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    SINK,
    TAINT,
    UNKNOWN,
    Fields,
    Key,
    Sites,
    Through,
)
from gpu.problem import CHILD, CONSTANT, REGION, ROOT

Must = frozenset[tuple[Key, int]]
"""Cells (owner, field) that are overwritten on every path to a return; a static field stands as ((), field)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Rows over columns. Column i is a token of the callee's naming; `bits[r]` is a bit set of columns."""

    cols: tuple[Key, ...]
    kind: tuple[int, ...]
    parent: tuple[int, ...]
    """CHILD: column of the object whose field it is; else -1."""
    field: tuple[int, ...]
    """CHILD: that field; else -1."""
    region: tuple[tuple[int, ...], ...]
    """REGION: columns from whose cells it is reached."""
    through: tuple[Through | None, ...]
    """REGION: fields through which it is reached; else None."""
    alias: tuple[tuple[int, ...], ...]
    """CHILD, REGION: rows that may turn out to be one of the cells read; of a region's source, its own rows are not."""
    rows: tuple[Key, ...]
    owner: tuple[int, ...]
    """Column that owns a cell row; -1 for other rows."""
    bits: tuple[int, ...]
    must: Must = frozenset()

    @property
    def entries(self) -> int:
        """Number of facts exported."""
        return sum(b.bit_count() for b in self.bits)


def is_outside(key: Key, sites: Sites, table_sites: set[int] | frozenset[int] = frozenset()) -> bool:
    """Whether a token may stand for an object from before or outside the run of its method."""
    if key[0] == OBJECT:
        return sites[key[1]].outside or key[1] in table_sites
    return key[0] in (FORMAL, DEEP, BEYOND, UNKNOWN, BY_TYPE, LIBRARY_BY_TYPE)


def make(
    rows: Mapping[Key, Iterable[Key]],
    regions: Mapping[Key, tuple[Iterable[Key], Through]],
    fields: Fields,
    sites: Sites,
    must: Must = frozenset(),
) -> Summary:
    """Builds a summary in canonical order from rows of token keys.

    `regions` names, per region token, the formals from whose cells it is reached, and through which fields.
    """
    cols: set[Key] = set()
    wanted = [key for keys in rows.values() for key in keys]
    wanted += [row[1] for row in rows if row[0] in (CELL, CELL_DATA)]
    wanted += [owner for owner, _ in must if owner]
    while wanted:
        key = wanted.pop()
        if key in cols:
            continue
        cols.add(key)
        if key[0] == FORMAL and key[2]:
            wanted.append((FORMAL, key[1], key[2][:-1]))
        elif key[0] == DEEP:
            wanted.extend(regions[key][0] if key in regions else ())
    order = tuple(sorted(cols, key=repr_key))
    index = {key: i for i, key in enumerate(order)}
    row_order = tuple(sorted(rows, key=repr_key))
    owner = tuple(index[r[1]] if r[0] in (CELL, CELL_DATA) else -1 for r in row_order)
    outside_rows = [i for i, r in enumerate(row_order) if owner[i] >= 0 and is_outside(r[1], sites)]
    stored = {row_order[r][2] for r in outside_rows}
    by_field: dict[int, list[int]] = {}
    bound: list[tuple[int, int, int, tuple[int, ...], Through | None, tuple[int, ...]]] = []
    for key in order:
        if key[0] == FORMAL and not key[2]:
            bound.append((ROOT if isinstance(key[1], int) else CONSTANT, -1, -1, (), None, ()))
        elif key[0] == FORMAL:
            up, f = index[FORMAL, key[1], key[2][:-1]], key[2][-1]
            if f not in by_field:
                wanted_fields = set(fields.related(f, stored))
                by_field[f] = [r for r in outside_rows if row_order[r][2] in wanted_fields]
            bound.append((CHILD, up, f, (), None, tuple(r for r in by_field[f] if owner[r] != up)))
        elif key[0] == DEEP:
            formals, through = regions.get(key, ((), fields.through(())))
            sources = tuple(sorted(index[s] for s in formals))
            bound.append(
                (REGION, -1, -1, sources, through, tuple(r for r in outside_rows if through.meets(row_order[r][2])))
            )
        else:
            bound.append((CONSTANT, -1, -1, (), None, ()))
    bits = tuple(sum(1 << index[k] for k in set(rows[r])) for r in row_order)
    kind, parent, field, region, reach, aliases = zip(*bound, strict=True) if bound else ((), (), (), (), (), ())
    return Summary(order, kind, parent, field, region, reach, aliases, row_order, owner, bits, must)


def repr_key(key: Key) -> tuple[object, ...]:
    """Sort key for token and slot keys, whose elements may be integers or tuples."""
    return tuple(
        (0, x, ()) if isinstance(x, int) else (1, 0, repr_key(x)) if isinstance(x, tuple) else (2, 0, (x,)) for x in key
    )


class Folding:
    """How tokens and rows are named after folding to a level (semantics.md 4, bounds).

    Level 1 names objects by type and formals to depth 1; level 2 leaves formal roots and one unknown object, and cells
    lose their field. What the app's own code made keeps its type, its own fields their names, and formals the paths
    through these: that is little, and where the secrets are. Level 3 gives up those paths. What is in the table of
    library statics stays there under any name, so that stores through it are not lost.
    """

    def __init__(self, sites: Sites, table: Table, fields: Fields, is_own: Callable[[int], bool]) -> None:
        """`is_own`: whether a method is the app's own."""
        self._sites, self._table, self._fields, self._is_own = sites, table, fields, is_own

    def token(self, key: Key, level: int) -> Key:
        """Name of a token at a level."""
        if level == 0:
            return key
        kind = key[0]
        member = self._table.member(key) if kind not in (FORMAL, DEEP, TAINT, UNKNOWN) else None
        if member is not None:
            if level == 1 or member in MANY or (kind != BEYOND and self.is_own(key)):
                return key
            return self._table.forget(member)
        if kind == OBJECT:
            site = self._sites[key[1]]
            if site.type < 0:
                return (UNKNOWN,)
            key = (LIBRARY_BY_TYPE if site.outside else BY_TYPE, site.type, int(self.is_own(key)))
            kind = key[0]
        if kind in (BY_TYPE, LIBRARY_BY_TYPE):
            return key if level == 1 or key[2] else (UNKNOWN,)
        if kind == FORMAL and len(key[2]) > (1 if level == 1 else 0) and (level > 2 or not self._is_own_path(key[2])):
            return (DEEP, key[1], self._fields.through(key[2]).own)
        if kind == BEYOND:
            return (BEYOND, FOLDED) if level == 1 else (UNKNOWN,)
        return key

    def is_own(self, key: Key) -> bool:
        """Whether the app's own code made the objects of a token."""
        if key[0] == OBJECT:
            site = self._sites[key[1]]
            return site.kind in ("new", "library") and site.method >= 0 and self._is_own(site.method)
        return bool(key[0] in (BY_TYPE, LIBRARY_BY_TYPE) and key[2])

    def _is_own_path(self, path: tuple[int, ...]) -> bool:
        """Whether a path goes through own fields, and perhaps from there through pseudo-fields."""
        own = self._fields.is_own
        return own(path[0]) and all(f >= Fields.FIRST_PSEUDO or own(f) for f in path)

    def row(self, key: Key, level: int) -> Key:
        """Name of a row at a level; at level 2 sinks in library code lose their site."""
        if level == 0:
            return key
        if key[0] == CELL:
            f = self._fields.star if level >= 2 and not self._fields.is_own(key[2]) else key[2]
            return (CELL, self.token(key[1], level), f)
        if key[0] == SINK and level >= 2 and not (key[2] >= 0 and self._is_own(self._sites[key[2]].method)):
            return (SINK, key[1], -1, key[3])
        return key
