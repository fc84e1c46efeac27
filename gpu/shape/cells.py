"""Tokens, rows and cells of one method, made when they are first met, with what they hold on entry."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.layout import (
    BEYOND,
    BY_TYPE,
    CACHED,
    CELL,
    CHANGED,
    CLOCK,
    DATA,
    DATA_FIELD,
    DATA_ONLY,
    DEEP,
    E_COUNT,
    ESCAPES,
    ESCAPING,
    EXACT,
    F_BIT,
    F_CLASS,
    F_FILTER,
    F_FLAGS,
    F_THROUGH,
    F_WILD,
    FIELD_ANY,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_ELEM,
    FIELD_ESCAPED,
    FIELD_OUTER,
    FIELD_STAR,
    FOLD,
    FORMAL,
    GROW_CACHE,
    GROW_ENTRIES,
    GROW_MAP,
    GROW_MASKS,
    GROW_ROWS,
    GROW_TOKENS,
    GROW_WORDS,
    GROW_WORLD,
    HEAP_STAMP,
    IS_DATA,
    IS_LABEL,
    IS_ROOT,
    K_PLACE,
    K_TYPE,
    LABELS,
    LIBRARY_BY_TYPE,
    M_BELOW,
    M_CELL,
    M_COUNT,
    M_MASK,
    M_PLACE,
    M_READ,
    M_REGION,
    M_ROW,
    M_STAMP,
    M_TOKEN,
    MANY,
    MAX_KEYS,
    MAX_TOKENS,
    MERGE_KEYS,
    MISSED,
    N_MISSES,
    N_VALUES,
    OBJECT,
    OUTSIDE,
    OVER_KEYS,
    OVER_TOKENS,
    OWN_FIELD,
    P_CELL,
    P_REACHED,
    P_RELATED,
    PATH_LENGTH,
    PATH_OWN,
    PRIVATE_FIELD,
    PSEUDO,
    PSEUDO_FIELD,
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
    ROUTES,
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
    T_TYPE,
    TABLE,
    TABLE_CELL,
    TAINT,
    TH_OWN,
    TH_PRIVATE,
    TK_CELLS,
    TK_COUNT,
    TK_GID,
    TK_KEYED,
    TK_STAMP,
    TOKEN_ANY_MEMBER,
    TOKEN_FOLDED,
    TY_ABOVE_ARRAYS,
    TY_COMPLETE,
    TY_ELEMENT,
    TY_FINAL,
    TY_FLAGS,
    TY_INTERFACE,
    TY_KNOWN,
    TY_PRIMITIVE,
    TY_RANK,
    TY_SUPERTYPES,
    TYPE_OBJECT,
    UNKNOWN,
    UNSEEN,
    X_ONE,
)
from gpu.shape.maps import find, put
from gpu.shape.names import fold, intern, meets, union
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


@kernel("void(int64[::1], int32[::1], int64, int64, int64, int64, int64)", helper=True)
def ask(hd, miss, top, kind, a, b, c):
    """Writes down a question."""
    miss[top] = kind
    miss[top + 1] = 3
    miss[top + 2] = a
    miss[top + 3] = b
    miss[top + 4] = c
    hd[MISSED] = 1


@kernel(INT(WORLD, STATE, INT, INT, INT, INT), helper=True)
def answer(w, s, kind, a, b, pending):
    """What the caller knows of (kind, a, b); -1 where it has to be asked first."""
    found = find(w.known, kind, a, b, 0)
    if found >= 0 and found != pending:
        return found
    s.hd[MISSED] = 1
    if found < 0:
        top = w.hdr[N_MISSES]
        if top + 8 < len(w.miss) and put(w.known, kind, a, b, 0, pending):
            ask(s.hd, w.miss, top, kind, a, b, 0)
            w.hdr[N_MISSES] = top + 5
        elif top + 8 < len(w.miss):
            s.hd[STATUS] = GROW_WORLD
    return -1


@kernel(INT(WORLD, STATE, INT), helper=True)
def described(w, s, type_id):
    """Whether a type is described; else it is asked for."""
    if type_id < len(w.typ) and w.typ[type_id, TY_FLAGS]:
        return 1
    answer(w, s, K_TYPE, type_id, 0, 0)
    return 0


@kernel(INT(WORLD, INT, INT), helper=True)
def is_subtype(w, a, b):
    """Whether every object of type a, which is no array, is known to be one of type b."""
    at = w.typ[a, TY_SUPERTYPES]
    low, high = at + 1, at + 1 + w.lists[at]
    while low < high:
        middle = (low + high) >> 1
        if w.lists[middle] < b:
            low = middle + 1
        else:
            high = middle
    return 1 if low < at + 1 + w.lists[at] and w.lists[low] == b else 0


@kernel(INT(WORLD, STATE, INT, INT, INT), helper=True)
def may_be(w, s, exact, known, target):
    """Whether an object of a type may be of another; -1 where it has to be asked first (`Hierarchy.may_be`)."""
    if known < 0 or target < 0 or known == target or target == w.hdr[TYPE_OBJECT]:
        return 1
    typ = w.typ
    if not described(w, s, known) or not described(w, s, target):
        return -1
    rank, goal_rank = typ[known, TY_RANK], typ[target, TY_RANK]
    if rank or goal_rank:
        if (typ[known, TY_FLAGS] | typ[target, TY_FLAGS]) & TY_PRIMITIVE:
            return 0
        known, target = typ[known, TY_ELEMENT], typ[target, TY_ELEMENT]
        if not described(w, s, known) or not described(w, s, target):
            return -1
        if rank > goal_rank:
            return 1 if typ[target, TY_FLAGS] & TY_ABOVE_ARRAYS else 0
        if rank < goal_rank:
            return 1 if not exact and typ[known, TY_FLAGS] & TY_ABOVE_ARRAYS else 0
        if known == target or target == w.hdr[TYPE_OBJECT]:
            return 1 if known == target or not typ[known, TY_FLAGS] & TY_PRIMITIVE else 0
    node, goal = typ[known, TY_FLAGS], typ[target, TY_FLAGS]
    if (node | goal) & TY_PRIMITIVE:
        return 0
    if not node & goal & TY_KNOWN or is_subtype(w, known, target) or not node & TY_COMPLETE:
        return 1
    if exact:
        return 0
    if is_subtype(w, target, known) or not goal & TY_COMPLETE:
        return 1
    if node & TY_INTERFACE:
        return 0 if goal & TY_FINAL else 1
    return 1 if goal & TY_INTERFACE and not node & TY_FINAL else 0


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def passes(w, s, gid, type_id):
    """Whether a token may go where only values of a type fit."""
    kind = w.tok[gid, T_KIND]
    if kind == OBJECT or kind == BY_TYPE or kind == LIBRARY_BY_TYPE:
        return may_be(w, s, 1 if w.tok[gid, T_FLAGS] & EXACT else 0, w.tok[gid, T_TYPE], type_id)
    return 1


@kernel(INT(WORLD, STATE, INT), helper=True)
def mask(w, s, kind):
    """Row of mk with the tokens that pass a filter, which is not -1; -1 where there is no room."""
    if kind == DATA_ONLY:
        return DATA
    hd, mi = s.hd, s.mi
    m = find(s.mp, M_MASK, kind, 0, 0)
    if m < 0:
        m = hd[M_COUNT]
        if m >= len(s.mk):
            hd[STATUS] = GROW_MASKS
            return -1
        if not put(s.mp, M_MASK, kind, 0, 0, m):
            hd[STATUS] = GROW_MAP
            return -1
        hd[M_COUNT] = m + 1
        bits.clear(s.mk, m)
        mi[m, 0] = kind
        mi[m, 1] = 0
    n = hd[T_COUNT]
    looked = n
    for t in range(mi[m, 1], n):
        gid = s.tk[t, TK_GID]
        if kind == ESCAPES:
            good = w.tok[gid, T_FLAGS] & ESCAPING
        elif kind <= ROUTES:
            good = w.tok[gid, T_FLAGS] & IS_LABEL
        else:
            good = passes(w, s, gid, kind)
            if good < 0:
                looked = min(looked, t)
        if good > 0:
            bits.add(s.mk, m, t)
    mi[m, 1] = looked
    return m


@kernel(INT(WORLD, STATE, INT), helper=True)
def known_type(w, s, gid):
    """Declared or exact type of a token, -1 unknown."""
    tok = w.tok
    if tok[gid, T_KIND] == FORMAL and tok[gid, T_DEPTH] == 0 and tok[gid, T_A] >= 0:
        return s.params[tok[gid, T_A]]
    return tok[gid, T_TYPE]


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def fits(w, s, t, f):
    """Whether an object of a token can have a field at all; -1 where it has to be asked first."""
    gid = s.tk[t, TK_GID]
    kind = w.tok[gid, T_KIND]
    if kind == TAINT:
        return 0
    if w.fld[f, F_FLAGS] & PSEUDO_FIELD:
        return 1
    if kind == FORMAL:
        return may_be(w, s, 0, known_type(w, s, gid), w.fld[f, F_CLASS])
    return passes(w, s, gid, w.fld[f, F_CLASS])


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


@kernel(
    "void(int64[::1], int32[:, ::1], uint64[:, ::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], int64, int64, "
    "uint64[:, ::1], int64)",
    helper=True,
)
def add_cells(hdr, fld, rb, ri, tk, mp, t, f, d, j):
    """Row j of d |= the cells that a read of field f of a token reads."""
    if f == hdr[FIELD_OUTER] or f == hdr[FIELD_ANY] or f == hdr[FIELD_ELEM]:
        row = tk[t, TK_CELLS]
        while row >= 0:
            g = ri[row, R_B]
            if f == hdr[FIELD_OUTER]:
                good = fld[g, F_FLAGS] & PSEUDO_FIELD and g != hdr[FIELD_BELOW] and g != hdr[FIELD_BELOW_OWN]
            else:
                good = g == f or g == hdr[FIELD_STAR] or fld[g, F_WILD] == f
            if good:
                bits.join(d, j, rb, row)
            row = ri[row, R_NEXT]
        return
    row = find(mp, M_CELL, t, f, 0)
    if row >= 0:
        bits.join(d, j, rb, row)
    if fld[f, F_FLAGS] & OWN_FIELD:
        return
    row = find(mp, M_CELL, t, hdr[FIELD_STAR], 0)
    if row >= 0:
        bits.join(d, j, rb, row)
    if fld[f, F_WILD] >= 0:
        row = find(mp, M_CELL, t, fld[f, F_WILD], 0)
        if row >= 0:
            bits.join(d, j, rb, row)


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
        add_cells(w.hdr, w.fld, s.rb, s.ri, s.tk, s.mp, t, f, s.rc, at)
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
