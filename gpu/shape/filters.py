"""What may go where: types, and the filters of rows as masks over the tokens of a method."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.layout import (
    BY_TYPE,
    DATA,
    DATA_ONLY,
    ESCAPES,
    ESCAPING,
    EXACT,
    F_CLASS,
    F_FLAGS,
    FORMAL,
    GROW_MAP,
    GROW_MASKS,
    GROW_WORLD,
    IS_LABEL,
    K_TYPE,
    LIBRARY_BY_TYPE,
    M_COUNT,
    M_MASK,
    MISSED,
    N_MISSES,
    OBJECT,
    PSEUDO_FIELD,
    ROUTES,
    STATUS,
    T_A,
    T_COUNT,
    T_DEPTH,
    T_FLAGS,
    T_KIND,
    T_TYPE,
    TAINT,
    TK_GID,
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
)
from gpu.shape.maps import find, put
from gpu.shape.signatures import INT, STATE, WORLD


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
