"""Tokens, rows and cells of one method, made when they are first met, with what they hold on entry."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.filters import answer, mask
from gpu.shape.layout import (
    BEYOND,
    BY_TYPE,
    CELL,
    CHANGED,
    CLOCK,
    DATA,
    DATA_FIELD,
    DATA_ONLY,
    DEEP,
    E_COUNT,
    ESCAPES,
    F_FILTER,
    F_FLAGS,
    F_THROUGH,
    F_WILD,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_ELEM,
    FIELD_ESCAPED,
    FIELD_STAR,
    FOLD,
    FORMAL,
    GROW_ENTRIES,
    GROW_MAP,
    GROW_ROWS,
    GROW_TOKENS,
    GROW_WORDS,
    HEAP_STAMP,
    IS_DATA,
    IS_LABEL,
    IS_ROOT,
    K_PLACE,
    LABELS,
    LIBRARY_BY_TYPE,
    M_CELL,
    M_PLACE,
    M_REGION,
    M_ROW,
    M_STAMP,
    M_TOKEN,
    MAX_KEYS,
    MAX_TOKENS,
    MERGE_KEYS,
    N_VALUES,
    OBJECT,
    OUTSIDE,
    OVER_KEYS,
    OVER_TOKENS,
    OWN_FIELD,
    P_CELL,
    PATH_LENGTH,
    PATH_OWN,
    PSEUDO,
    R_A,
    R_B,
    R_C,
    R_COUNT,
    R_ENTRY,
    R_FILTER,
    R_KIND,
    R_NEXT,
    R_STAMP,
    RETURN_DATA,
    SINK,
    STATIC,
    STATUS,
    T_A,
    T_B,
    T_COUNT,
    T_DEPTH,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    TABLE,
    TABLE_CELL,
    TAINT,
    TK_CELLS,
    TK_COUNT,
    TK_GID,
    TK_KEYED,
    TK_STAMP,
    TOKEN_FOLDED,
    UNKNOWN,
    UNSEEN,
)
from gpu.shape.maps import find, put
from gpu.shape.names import fold, intern, union
from gpu.shape.signatures import INT, STATE, U8X2, WORLD


@kernel(INT(WORLD, STATE, INT), helper=True)
def token(w, s, gid):
    """Number of a token in the method, new or known; -1 where there is no room, or a bound is hit."""
    hd = s.hd
    if gid < 0:
        return -1
    if hd[FOLD]:
        gid = fold(w, hd, gid, hd[FOLD])
        if gid < 0:
            return -1
    t = find(s.mp, M_TOKEN, gid, 0, 0)
    if t >= 0:
        return t
    t = hd[T_COUNT]
    if t >= w.hdr[MAX_TOKENS] and hd[FOLD] < 3:
        hd[STATUS] = OVER_TOKENS
        return -1
    if t >= 64 * s.rb.shape[1]:
        hd[STATUS] = GROW_WORDS
        return -1
    if t >= len(s.tk):
        hd[STATUS] = GROW_TOKENS
        return -1
    if not put(s.mp, M_TOKEN, gid, 0, 0, t):
        hd[STATUS] = GROW_MAP
        return -1
    hd[T_COUNT] = t + 1
    s.tk[t, TK_GID] = gid
    s.tk[t, TK_CELLS] = -1
    s.tk[t, TK_COUNT] = 0
    s.tk[t, TK_KEYED] = 0
    s.tk[t, TK_STAMP] = 0
    flags = w.tok[gid, T_FLAGS]
    if flags & IS_LABEL:
        bits.add(s.mk, LABELS, t)
    if flags & IS_DATA:
        bits.add(s.mk, DATA, t)
    return t


@kernel(INT(WORLD, STATE, INT, INT, INT, INT, INT), helper=True)
def new_row(w, s, kind, a, b, c, filter_):
    """A new row, empty; -1 where there is no room."""
    hd = s.hd
    row = hd[R_COUNT]
    if row >= len(s.rb):
        hd[STATUS] = GROW_ROWS
        return -1
    hd[R_COUNT] = row + 1
    bits.clear(s.rb, row)
    ri = s.ri
    ri[row, R_KIND] = kind
    ri[row, R_A] = a
    ri[row, R_B] = b
    ri[row, R_C] = c
    ri[row, R_FILTER] = filter_
    ri[row, R_ENTRY] = -1
    ri[row, R_NEXT] = -1
    ri[row, R_STAMP] = hd[CLOCK]
    return row


@kernel("void(int64[::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], int64)", helper=True)
def changed(hd, ri, tk, mp, row):
    """Notes that a row changed."""
    hd[CHANGED] = 1
    hd[CLOCK] += 1
    ri[row, R_STAMP] = hd[CLOCK]
    if ri[row, R_KIND] == CELL:
        hd[HEAP_STAMP] = hd[CLOCK]
        tk[ri[row, R_A], TK_STAMP] = hd[CLOCK]
        put(mp, M_STAMP, ri[row, R_B], 0, 0, hd[CLOCK])


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def begin_entry(w, s, row, t):
    """Adds a token to what a row held on entry; 0 where there is no room."""
    if t < 0:
        return 0
    hd = s.hd
    e = s.ri[row, R_ENTRY]
    if e < 0:
        e = hd[E_COUNT]
        if e >= len(s.eb):
            hd[STATUS] = GROW_ENTRIES
            return 0
        hd[E_COUNT] = e + 1
        bits.clear(s.eb, e)
        bits.clear(s.sb, e)
        s.ri[row, R_ENTRY] = e
    bits.add(s.eb, e, t)
    if not bits.has(s.rb, row, t):
        bits.add(s.rb, row, t)
        changed(hd, s.ri, s.tk, s.mp, row)
    return 1


@kernel(INT(WORLD, STATE, INT, INT, INT, INT), helper=True)
def named_row(w, s, kind, a, b, c):
    """A row that is no cell, new or known, with what a static field held on entry; -1 where there is no room."""
    row = find(s.mp, M_ROW + 256 * kind, a, b, c)
    if row < 0:
        filter_ = -1
        if kind == SINK or kind == RETURN_DATA:
            filter_ = DATA_ONLY
        elif kind == STATIC or kind == TABLE:
            filter_ = w.fld[a, F_FILTER]
        elif kind == TABLE_CELL:
            filter_ = w.fld[b, F_FILTER]
        elif kind == PSEUDO and a == w.hdr[FIELD_ESCAPED]:
            filter_ = ESCAPES
        row = new_row(w, s, kind, a, b, c, filter_)
        if row < 0:
            return -1
        if not put(s.mp, M_ROW + 256 * kind, a, b, c, row):
            s.hd[STATUS] = GROW_MAP
            s.hd[R_COUNT] = row
            return -1
    if kind == STATIC and s.ri[row, R_ENTRY] < 0 and not s.hd[IS_ROOT]:
        begin_entry(w, s, row, token(w, s, intern(w, s.hd, FORMAL, -1 - a // 2, -1, -1)))
    return row


@kernel(INT(WORLD, STATE, INT, INT, INT), helper=True)
def place(w, s, kind, a, b):
    """Where in the lists a place of the table stands; what it holds was read. -1 where it has to be asked first."""
    found = answer(w, s, K_PLACE + 256 * kind, a, b, 0)
    if found < 0:
        return -1
    if not put(s.mp, M_PLACE, found, 0, 0, 1):
        s.hd[STATUS] = GROW_MAP
    return w.lists[found]


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def go_through(w, s, region, through):
    """Notes fields through which a region is reached."""
    known = find(s.mp, M_REGION, region, 0, 0)
    grown = union(w, s.hd, through, known)
    if grown >= 0 and grown != known:
        if not put(s.mp, M_REGION, region, 0, 0, grown):
            s.hd[STATUS] = GROW_MAP
            return 0
        s.hd[CHANGED] = 1
    return 1


@kernel(INT(WORLD, INT), helper=True)
def region_kind(w, gid):
    """1 when a formal or region is reached through fields of the app's own classes, else 0."""
    if w.tok[gid, T_KIND] == DEEP:
        return w.tok[gid, T_B]
    return 1 if w.tok[gid, T_FLAGS] & PATH_OWN else 0


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def held_on_entry(w, s, gid, f):
    """Token of what a cell of a formal or a region held on entry: a longer path, or a region."""
    tok, hdr, hd = w.tok, w.hdr, s.hd
    below = f == hdr[FIELD_BELOW] or f == hdr[FIELD_BELOW_OWN]
    if tok[gid, T_KIND] == FORMAL and tok[gid, T_DEPTH] < hd[PATH_LENGTH] and not below:
        held = intern(w, hd, FORMAL, tok[gid, T_A], gid, f)
    else:
        own = region_kind(w, gid)
        if f == hdr[FIELD_BELOW_OWN] or w.fld[f, F_FLAGS] & OWN_FIELD:
            own = 1
        held = intern(w, hd, DEEP, tok[gid, T_A], own, -1)
    t = token(w, s, held)
    if t >= 0 and not below:
        name = s.tk[t, TK_GID]
        if tok[name, T_KIND] == DEEP and not go_through(w, s, name, w.fld[f, F_THROUGH]):
            return -1
    return t


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def begin_list(w, s, row, at):
    """Adds the tokens of a list to what a row held on entry; 0 where something failed."""
    good = 1
    for i in range(at + 1, at + 1 + w.lists[at]):
        good &= begin_entry(w, s, row, token(w, s, w.lists[i]))
    return good


@kernel(INT(WORLD, STATE, INT, INT, INT), helper=True)
def begin_cell(w, s, row, t, f):
    """Gives a new cell what it holds on entry; 0 where something is missing for that."""
    tok, hdr, hd = w.tok, w.hdr, s.hd
    gid = s.tk[t, TK_GID]
    kind, flags = tok[gid, T_KIND], tok[gid, T_FLAGS]
    if (kind == FORMAL or kind == DEEP) and f != hdr[FIELD_STAR]:
        return begin_entry(w, s, row, held_on_entry(w, s, gid, f))
    good = 1
    member = tok[gid, T_MEMBER]
    if member >= 0 and f != hdr[FIELD_BELOW] and f != hdr[FIELD_BELOW_OWN]:
        at = place(w, s, P_CELL, member, f)
        good = begin_list(w, s, row, at) if at >= 0 else 0
    if f == hdr[FIELD_STAR]:
        return good
    if kind == BEYOND or kind == UNKNOWN:
        return good & begin_entry(w, s, row, t)
    if not w.fld[f, F_FLAGS] & DATA_FIELD:
        if kind == LIBRARY_BY_TYPE:
            return good & begin_entry(w, s, row, token(w, s, hdr[TOKEN_FOLDED]))
        if kind == OBJECT and flags & OUTSIDE:
            return good & begin_entry(w, s, row, token(w, s, intern(w, hd, BEYOND, tok[gid, T_A], -1, -1)))
    return good


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def cell(w, s, t, f):
    """Row of a cell, new or known; -1 where there is no room."""
    hd = s.hd
    row = find(s.mp, M_CELL, t, f, 0)
    if row >= 0:
        return row
    keyed = w.fld[f, F_WILD] == w.hdr[FIELD_ELEM]
    if keyed and hd[MERGE_KEYS]:
        f = w.hdr[FIELD_ELEM]
        keyed = False
        row = find(s.mp, M_CELL, t, f, 0)
        if row >= 0:
            return row
    row = new_row(w, s, CELL, t, f, 0, w.fld[f, F_FILTER])
    if row < 0:
        return -1
    hd[CLOCK] += 1
    if not put(s.mp, M_STAMP, f, 0, 0, hd[CLOCK]) or not put(s.mp, M_CELL, t, f, 0, row):
        hd[STATUS] = GROW_MAP
        hd[R_COUNT] = row
        return -1
    hd[HEAP_STAMP] = hd[CLOCK]
    s.tk[t, TK_STAMP] = hd[CLOCK]
    hd[CHANGED] = 1
    s.ri[row, R_NEXT] = s.tk[t, TK_CELLS]
    s.tk[t, TK_CELLS] = row
    s.tk[t, TK_COUNT] += 1
    if not begin_cell(w, s, row, t, f):
        s.ri[row, R_C] = 1  # begun only in part
        hd[UNSEEN] = 1
    if keyed:
        s.tk[t, TK_KEYED] += 1
        if s.tk[t, TK_KEYED] > w.hdr[MAX_KEYS]:
            hd[STATUS] = OVER_KEYS
            return -1
    return row


@kernel(INT(WORLD, STATE), helper=True)
def begin_again(w, s):
    """Completes cells whose beginning failed for want of an answer or of room."""
    hd = s.hd
    hd[UNSEEN] = 0
    for row in range(hd[N_VALUES], hd[R_COUNT]):
        if s.ri[row, R_KIND] == CELL and s.ri[row, R_C]:
            if begin_cell(w, s, row, s.ri[row, R_A], s.ri[row, R_B]):
                s.ri[row, R_C] = 0
            else:
                hd[UNSEEN] = 1
    return hd[UNSEEN]


@kernel(INT(WORLD, STATE, INT, U8X2, INT), helper=True)
def write(w, s, row, a, i):
    """Adds what passes the row's filter of row i of a; 0 where there is no room."""
    ri, rb = s.ri, s.rb
    m = -1
    if ri[row, R_FILTER] != -1:
        m = mask(w, s, ri[row, R_FILTER])
        if m < 0:
            return 0
    e = ri[row, R_ENTRY]
    grown = bits.ZERO
    for k in range(rb.shape[1]):
        x = a[i, k]
        if m >= 0:
            x &= s.mk[m, k]
        if e >= 0:
            s.sb[e, k] |= x & s.eb[e, k]
        grown |= x & ~rb[row, k]
        rb[row, k] |= x
    if grown:
        changed(s.hd, ri, s.tk, s.mp, row)
    return 1


@kernel(INT(WORLD, INT), helper=True)
def has_entry(w, gid):
    """Whether cells of a token hold something on entry."""
    kind = w.tok[gid, T_KIND]
    if kind == OBJECT or kind == BY_TYPE:
        return 1 if w.tok[gid, T_MEMBER] >= 0 or (kind == OBJECT and w.tok[gid, T_FLAGS] & OUTSIDE) else 0
    return 0 if kind == TAINT else 1
