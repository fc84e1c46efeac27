"""Reads and writes of cells: through a field, or through any fields of a set; what reads find is kept."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.cells import (
    begin_entry,
    begin_list,
    cell,
    go_through,
    has_entry,
    named_row,
    place,
    region_kind,
    token,
    write,
)
from gpu.shape.filters import fits, mask
from gpu.shape.layout import (
    CACHED,
    CLOCK,
    DATA,
    DEEP,
    F_BIT,
    F_FLAGS,
    F_WILD,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_ELEM,
    FIELD_STAR,
    FORMAL,
    GROW_CACHE,
    GROW_MAP,
    LABELS,
    M_BELOW,
    M_CELL,
    M_READ,
    MANY,
    MERGE_KEYS,
    OWN_FIELD,
    P_REACHED,
    P_RELATED,
    PRIVATE_FIELD,
    R_B,
    R_FILTER,
    R_NEXT,
    STATUS,
    T_A,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    TABLE_CELL,
    TH_OWN,
    TH_PRIVATE,
    TK_CELLS,
    TK_GID,
    TK_STAMP,
    TOKEN_ANY_MEMBER,
    X_ONE,
)
from gpu.shape.maps import find, put
from gpu.shape.names import intern, meets, reads_field, reads_group
from gpu.shape.signatures import INT, STATE, U8X2, WORLD


@kernel(INT(STATE, INT, INT, INT), helper=True)
def new_read(s, kind, t, what):
    """Place for what a read of a token finds; 0 where there is no room."""
    hd = s.hd
    n = hd[CACHED] + 1
    if n >= len(s.rs):
        hd[STATUS] = GROW_CACHE
        return 0
    if not put(s.mp, kind, t, what, 0, n):
        hd[STATUS] = GROW_MAP
        return 0
    hd[CACHED] = n
    s.rs[n] = -1
    return n


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def begin_read(w, s, t, f):
    """Makes the cells that a read of field f of a token reads; 1 where that is done for good."""
    gid = s.tk[t, TK_GID]
    if not has_entry(w, gid):
        return 1
    if cell(w, s, t, f) < 0:
        return 0
    member = w.tok[gid, T_MEMBER]
    if member >= 0:
        at = place(w, s, P_RELATED, member, f)
        if at < 0:
            return 0
        for i in range(at + 1, at + 1 + w.lists[at]):
            if cell(w, s, t, w.lists[i]) < 0:
                return 0
    return 1


@kernel(INT(WORLD, STATE, INT, INT, U8X2, INT), helper=True)
def add_cells(w, s, t, f, d, j):
    """Row j of d |= the cells that a read of field f of a token reads."""
    rb, mp = s.rb, s.mp
    if reads_group(w, f):
        row = s.tk[t, TK_CELLS]
        while row >= 0:
            if reads_field(w, f, s.ri[row, R_B]):
                bits.join(d, j, rb, row)
            row = s.ri[row, R_NEXT]
        return 1
    row = find(mp, M_CELL, t, f, 0)
    if row >= 0:
        bits.join(d, j, rb, row)
    if w.fld[f, F_FLAGS] & OWN_FIELD:
        return 1
    row = find(mp, M_CELL, t, w.hdr[FIELD_STAR], 0)
    if row >= 0:
        bits.join(d, j, rb, row)
    if w.fld[f, F_WILD] >= 0:
        row = find(mp, M_CELL, t, w.fld[f, F_WILD], 0)
        if row >= 0:
            bits.join(d, j, rb, row)
    return 1


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def read_one(w, s, t, f):
    """Place of what a read of field f of a token finds, up to date; 0 where it cannot have the field."""
    at = find(s.mp, M_READ, t, f, 0)
    if at < 0:
        good = fits(w, s, t, f)
        if good < 0:
            return 0
        if good == 0:
            if not put(s.mp, M_READ, t, f, 0, 0):
                s.hd[STATUS] = GROW_MAP
            return 0
        if not begin_read(w, s, t, f):
            return 0
        at = new_read(s, M_READ, t, f)
    if at > 0 and s.rs[at] < s.tk[t, TK_STAMP]:
        bits.clear(s.rc, at)
        add_cells(w, s, t, f, s.rc, at)
        s.rs[at] = s.hd[CLOCK]
    return at


@kernel(INT(WORLD, STATE, U8X2, INT, INT, U8X2, INT), helper=True)
def read(w, s, a, i, f, d, j):
    """Row j of d = the cells of field f of the tokens in row i of a, with the labels of the tokens."""
    for k in range(a.shape[1]):
        d[j, k] = a[i, k] & s.mk[LABELS, k]
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            at = read_one(w, s, t, f)
            if at > 0:
                bits.join(d, j, s.rc, at)
    return 1


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def begin_below(w, s, t, through):
    """First read of a token through some fields: what it held there as it came in."""
    tok, hdr, hd = w.tok, w.hdr, s.hd
    gid = s.tk[t, TK_GID]
    good = 1
    if has_entry(w, gid):
        own = 1 if w.thf[through] & TH_OWN else 0
        row = cell(w, s, t, hdr[FIELD_BELOW_OWN] if own else hdr[FIELD_BELOW])
        if row < 0:
            return 0
        kind = tok[gid, T_KIND]
        if kind == FORMAL or kind == DEEP:
            region = intern(w, hd, DEEP, tok[gid, T_A], region_kind(w, gid) | own, -1)
            if region < 0 or not go_through(w, s, region, through):
                return 0
        member = tok[gid, T_MEMBER]
        if member >= 0:
            at = place(w, s, P_REACHED, member, through)
            if at < 0:
                return 0
            good &= begin_list(w, s, row, at)
            many = tok[member, T_FLAGS] & MANY
            good &= begin_entry(w, s, row, token(w, s, member if many else hdr[TOKEN_ANY_MEMBER]))
            if many and w.thf[through] & TH_PRIVATE:
                for f in range(len(w.fld)):
                    if w.fld[f, F_FLAGS] & PRIVATE_FIELD and w.fld[f, F_BIT] >= 0:
                        bit = w.fld[f, F_BIT]
                        if (w.thr[through, bit >> 6] >> np.uint64(bit & 63)) & bits.ONE:
                            good &= begin_read(w, s, t, f)
    return good


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def read_one_through(w, s, t, through):
    """Place of what a read of a token through some fields finds, up to date; 0 where something is missing."""
    at = find(s.mp, M_BELOW, t, through, 0)
    if at < 0:
        if not begin_below(w, s, t, through):
            return 0
        at = new_read(s, M_BELOW, t, through)
    if at > 0 and s.rs[at] < s.tk[t, TK_STAMP]:
        bits.clear(s.rc, at)
        row = s.tk[t, TK_CELLS]
        while row >= 0:
            if meets(w, through, s.ri[row, R_B]):
                bits.join(s.rc, at, s.rb, row)
            row = s.ri[row, R_NEXT]
        s.rs[at] = s.hd[CLOCK]
    return at


@kernel(INT(WORLD, STATE, U8X2, INT, INT, U8X2, INT), helper=True)
def read_through(w, s, a, i, through, d, j):
    """Row j of d = the cells of the tokens in row i of a that a read through some fields reads, with their labels."""
    for k in range(a.shape[1]):
        d[j, k] = a[i, k] & s.mk[LABELS, k]
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            at = read_one_through(w, s, t, through)
            if at > 0:
                bits.join(d, j, s.rc, at)
    return 1


@kernel(INT(WORLD, STATE, U8X2, INT, INT, U8X2, INT), helper=True)
def write_cells(w, s, a, i, f, d, j):
    """Adds row j of d to the cells of field f of the tokens in row i of a."""
    wild = s.hd[MERGE_KEYS] and w.fld[f, F_WILD] == w.hdr[FIELD_ELEM]
    depends = False
    nothing = True
    for k in range(a.shape[1]):
        if d[j, k]:
            nothing = False
        if d[j, k] & s.mk[DATA, k] & ~s.mk[LABELS, k]:
            depends = True
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            row = -1 if wild else find(s.mp, M_CELL, t, f, 0)
            if row < 0:
                if fits(w, s, t, f) <= 0:
                    continue
                row = cell(w, s, t, f)
                if row < 0:
                    continue
            if nothing:
                continue
            write(w, s, row, d, j)
            if depends:
                member = w.tok[s.tk[t, TK_GID], T_MEMBER]
                if member >= 0:
                    filter_ = s.ri[row, R_FILTER]
                    m = mask(w, s, filter_) if filter_ != -1 else -1
                    some = False
                    for q in range(a.shape[1]):
                        y = d[j, q] & s.mk[DATA, q] & ~s.mk[LABELS, q]
                        if m >= 0:
                            y &= s.mk[m, q]
                        s.tmp[X_ONE, q] = y
                        if y:
                            some = True
                    if some:
                        if w.tok[member, T_FLAGS] & MANY:
                            member = w.hdr[TOKEN_ANY_MEMBER]
                        to = named_row(w, s, TABLE_CELL, member, f, 0)
                        if to >= 0:
                            write(w, s, to, s.tmp, X_ONE)
    return 1
