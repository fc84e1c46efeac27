"""Summaries: what a call of a method does, in terms of its formals (semantics.md 4), and how they are coarsened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    CELL_DATA,
    DEEP,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    SINK,
    UNKNOWN,
    Fields,
    Key,
    Sites,
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
    regions: Mapping[Key, Iterable[Key]],
    fields: Fields,
    sites: Sites,
    must: Must = frozenset(),
) -> Summary:
    """Builds a summary in canonical order from rows of token keys.

    `regions` names, per region token, the formals from whose cells it is reached.
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
            wanted.extend(regions.get(key, ()))
    order = tuple(sorted(cols, key=repr_key))
    index = {key: i for i, key in enumerate(order)}
    row_order = tuple(sorted(rows, key=repr_key))
    owner = tuple(index[r[1]] if r[0] in (CELL, CELL_DATA) else -1 for r in row_order)
    outside_rows = [i for i, r in enumerate(row_order) if owner[i] >= 0 and is_outside(r[1], sites)]
    stored = {row_order[r][2] for r in outside_rows}
    by_field: dict[int, list[int]] = {}
    bound: list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]] = []
    for key in order:
        if key[0] == FORMAL and not key[2]:
            bound.append((ROOT if isinstance(key[1], int) else CONSTANT, -1, -1, (), ()))
        elif key[0] == FORMAL:
            up, f = index[FORMAL, key[1], key[2][:-1]], key[2][-1]
            if f not in by_field:
                wanted_fields = set(fields.related(f, stored))
                by_field[f] = [r for r in outside_rows if row_order[r][2] in wanted_fields]
            bound.append((CHILD, up, f, (), tuple(r for r in by_field[f] if owner[r] != up)))
        elif key[0] == DEEP:
            sources = tuple(sorted(index[s] for s in regions.get(key, ())))
            bound.append((REGION, -1, -1, sources, tuple(outside_rows)))
        else:
            bound.append((CONSTANT, -1, -1, (), ()))
    bits = tuple(sum(1 << index[k] for k in set(rows[r])) for r in row_order)
    kind, parent, field, region, aliases = zip(*bound, strict=True) if bound else ((), (), (), (), ())
    return Summary(order, kind, parent, field, region, aliases, row_order, owner, bits, must)


def repr_key(key: Key) -> tuple[object, ...]:
    """Sort key for token and slot keys, whose elements may be integers or tuples."""
    return tuple(
        (0, x, ()) if isinstance(x, int) else (1, 0, repr_key(x)) if isinstance(x, tuple) else (2, 0, (x,)) for x in key
    )


def fold_token(key: Key, level: int, sites: Sites, table_sites: set[int]) -> Key:
    """Name of a token after folding to `level`: 0 as it is, 1 objects by type and formals to depth 1, 2 roots only."""
    if level == 0:
        return key
    kind = key[0]
    if kind == OBJECT:
        if level == 1 and key[1] in table_sites:
            return key
        site = sites[key[1]]
        if level == 2 or site.type < 0:
            return (UNKNOWN,)
        return (LIBRARY_BY_TYPE, site.type) if site.outside else (BY_TYPE, site.type)
    if kind == FORMAL and len(key[2]) > (1 if level == 1 else 0):
        return (DEEP, key[1])
    if kind == BEYOND:
        return (BEYOND, -1) if level == 1 else (UNKNOWN,)
    if kind in (BY_TYPE, LIBRARY_BY_TYPE) and level == 2:
        return (UNKNOWN,)
    return key


def fold_row(key: Key, level: int, sites: Sites, table_sites: set[int], fields: Fields) -> Key:
    """Name of a row after folding to `level`; at level 2 cells lose their field and sinks their site."""
    if level == 0:
        return key
    if key[0] == CELL:
        return (CELL, fold_token(key[1], level, sites, table_sites), fields.star if level == 2 else key[2])
    if key[0] == SINK and level == 2:
        return (SINK, key[1], -1, key[3])
    return key
