"""Tokens and fields: interning and folding of tokens, what a read reads, sets of fields (semantics.md 1 and 4)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape.bits import ONE
from gpu.shape.layout import (
    ANYWHERE,
    BEYOND,
    BY_TYPE,
    DEEP,
    ESCAPING,
    EXACT,
    EXCEPTION,
    F_BIT,
    F_FLAGS,
    F_TYPE,
    F_WILD,
    FIELD_ANY,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_ELEM,
    FIELD_OUTER,
    FIELD_STAR,
    FORGOT,
    FORGOTTEN,
    FORMAL,
    GROW_WORLD,
    IS_DATA,
    IS_LABEL,
    K_SITE,
    K_THROUGH,
    K_TOKEN,
    K_UNION,
    LIBRARY,
    LIBRARY_BY_TYPE,
    MANY,
    N_SITES,
    N_THROUGHS,
    N_TOKENS,
    NEW,
    OBJECT,
    OUTSIDE,
    OWN_FIELD,
    OWN_MADE,
    OWN_PATH,
    PATH_OWN,
    PRIVATE_FIELD,
    PSEUDO_FIELD,
    S_FLAGS,
    S_KIND,
    S_METHOD,
    S_OP,
    S_PC,
    S_TEXT,
    S_TYPE,
    SITE_ESCAPING,
    SITE_MEMBER,
    SITE_OWN_MADE,
    SITE_OWN_METHOD,
    STATUS,
    STRING,
    T_A,
    T_B,
    T_BASE,
    T_C,
    T_DEPTH,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    T_TYPE,
    TAINT,
    TEXT,
    TH_ANY_GROUP,
    TH_ELEM_GROUP,
    TH_LIBRARY,
    TH_OUTER,
    TH_OWN,
    TH_STAR,
    TOKEN_FOLDED,
    TOKEN_FORGOTTEN,
    TOKEN_UNKNOWN,
    UNKNOWN,
    WEAK_FIELD,
    WEAK_PATH,
)
from gpu.shape.maps import find, mix, put
from gpu.shape.signatures import I8, INT, MAP, WORLD


@kernel(INT(WORLD, I8, INT, INT, INT, INT), helper=True)
def new_token(w, hd, kind, a, b, c):
    """A token that is not known yet; -1 where there is no room."""
    gid = w.hdr[N_TOKENS]
    if gid >= len(w.tok) or not put(w.known, K_TOKEN + kind * 256, a, b, c, gid):
        hd[STATUS] = GROW_WORLD
        return -1
    w.hdr[N_TOKENS] = gid + 1
    tok = w.tok
    tok[gid, T_KIND] = kind
    tok[gid, T_A] = a
    tok[gid, T_B] = b
    tok[gid, T_C] = c
    tok[gid, T_TYPE] = -1
    tok[gid, T_DEPTH] = 0
    tok[gid, T_BASE] = gid
    tok[gid, T_MEMBER] = -1
    flags = 0
    if kind == OBJECT:
        what, marks = w.site[a, S_KIND], w.site[a, S_FLAGS]
        tok[gid, T_TYPE] = w.site[a, S_TYPE]
        if what < LIBRARY:
            flags |= EXACT
        if what == LIBRARY or what == EXCEPTION:
            flags |= OUTSIDE
        if what == STRING:
            flags |= TEXT
        if what == NEW and marks & SITE_ESCAPING:
            flags |= ESCAPING
        if marks & SITE_OWN_MADE:
            flags |= OWN_MADE
    elif kind == FORMAL:
        flags = IS_DATA | OUTSIDE | ESCAPING
        if b >= 0:
            up, field = tok[b, T_FLAGS], w.fld[c, F_FLAGS]
            tok[gid, T_DEPTH] = tok[b, T_DEPTH] + 1
            tok[gid, T_TYPE] = w.fld[c, F_TYPE]
            if up & PATH_OWN or field & OWN_FIELD:
                flags |= PATH_OWN
            if field & OWN_FIELD or field & PSEUDO_FIELD:
                if (tok[b, T_DEPTH] == 0 and field & OWN_FIELD) or up & OWN_PATH:
                    flags |= OWN_PATH
            if up & WEAK_PATH or field & WEAK_FIELD:
                flags |= WEAK_PATH
        elif a < 0:
            tok[gid, T_TYPE] = w.fld[(-1 - a) * 2, F_TYPE]
    elif kind == DEEP:
        flags = IS_DATA | OUTSIDE
    elif kind == TAINT:
        flags = IS_LABEL | IS_DATA
    elif kind == BY_TYPE or kind == LIBRARY_BY_TYPE:
        tok[gid, T_TYPE] = a
        flags = OUTSIDE
        if kind == BY_TYPE:
            flags |= EXACT
        if b:
            flags |= OWN_MADE
    elif kind == UNKNOWN:
        flags = OUTSIDE | ESCAPING
    elif kind == BEYOND:
        flags = OUTSIDE
        if a == ANYWHERE or a == FORGOTTEN:
            flags |= MANY
            tok[gid, T_MEMBER] = gid
    tok[gid, T_FLAGS] = flags
    return gid


@kernel(INT(WORLD, I8, INT, INT, INT, INT), helper=True)
def intern(w, hd, kind, a, b, c):
    """Number of a token, new or known; -1 where there is no room for a new one."""
    found = find(w.known, K_TOKEN + kind * 256, a, b, c)
    if found >= 0:
        return found
    if kind != OBJECT:
        return new_token(w, hd, kind, a, b, c)
    base = -1
    if b != -1:
        base = find(w.known, K_TOKEN + kind * 256, a, -1, c)
        if base < 0:
            base = new_token(w, hd, kind, a, -1, c)
            if base < 0:
                return -1
            if w.site[a, S_FLAGS] & SITE_MEMBER:
                w.tok[base, T_MEMBER] = base
    gid = new_token(w, hd, kind, a, b, c)
    if gid >= 0:
        w.tok[gid, T_BASE] = gid if base < 0 else base
        if w.site[a, S_FLAGS] & SITE_MEMBER:
            w.tok[gid, T_MEMBER] = w.tok[gid, T_BASE]
    return gid


@kernel(INT(WORLD, I8, INT, INT, INT, INT, INT, INT), helper=True)
def library_site(w, hd, method, op, pc, type_id, app, own):
    """Site of what a library call returns, new or known; -1 where there is no room."""
    found = find(w.known, K_SITE + LIBRARY * 256, method, op, type_id)
    if found >= 0:
        return found
    number = w.hdr[N_SITES]
    if number >= len(w.site) or not put(w.known, K_SITE + LIBRARY * 256, method, op, type_id, number):
        hd[STATUS] = GROW_WORLD
        return -1
    w.hdr[N_SITES] = number + 1
    w.site[number, S_METHOD] = method
    w.site[number, S_OP] = op
    w.site[number, S_PC] = pc
    w.site[number, S_KIND] = LIBRARY
    w.site[number, S_TYPE] = type_id
    w.site[number, S_TEXT] = -1
    flags = 0
    if app:
        flags |= SITE_ESCAPING
    if own:
        flags |= SITE_OWN_MADE | SITE_OWN_METHOD
    w.site[number, S_FLAGS] = flags
    return number


@kernel(INT(WORLD, I8, INT, INT), helper=True)
def fold(w, hd, gid, level):
    """Name of a token at a level; what a coarse name stands for of the table is noted. -1 where there is no room."""
    if level == 0:
        return gid
    tok = w.tok
    kind, flags = tok[gid, T_KIND], tok[gid, T_FLAGS]
    if kind == FORMAL:
        if tok[gid, T_DEPTH] > (1 if level == 1 else 0) and (level > 2 or not flags & OWN_PATH):
            return intern(w, hd, DEEP, tok[gid, T_A], 1 if flags & PATH_OWN else 0, -1)
        return gid
    if kind == DEEP or kind == TAINT or kind == UNKNOWN:
        return gid
    member = tok[gid, T_MEMBER]
    if member >= 0:
        if level == 1 or tok[member, T_FLAGS] & MANY or (kind != BEYOND and flags & OWN_MADE):
            return gid
        tok[member, T_FLAGS] |= FORGOT
        return w.hdr[TOKEN_FORGOTTEN]
    if kind == OBJECT:
        if tok[gid, T_TYPE] < 0:
            return w.hdr[TOKEN_UNKNOWN]
        own = 1 if flags & OWN_MADE else 0
        if level > 1 and not own:
            return w.hdr[TOKEN_UNKNOWN]
        named = BY_TYPE if not flags & OUTSIDE else LIBRARY_BY_TYPE
        found = intern(w, hd, named, tok[gid, T_TYPE], own, -1)
        if found >= 0 and w.site[tok[gid, T_A], S_FLAGS] & SITE_ESCAPING:
            tok[found, T_FLAGS] |= ESCAPING
        return found
    if kind == BY_TYPE or kind == LIBRARY_BY_TYPE:
        return gid if level == 1 or flags & OWN_MADE else w.hdr[TOKEN_UNKNOWN]
    if kind == BEYOND:
        return w.hdr[TOKEN_FOLDED] if level == 1 else w.hdr[TOKEN_UNKNOWN]
    return gid


@kernel(INT(WORLD, INT, INT), helper=True)
def meets(w, through, f):
    """Whether a read through a set of fields reads a cell of field f."""
    fld = w.fld
    bit = fld[f, F_BIT]
    if bit >= 0 and (w.thr[through, bit >> 6] >> np.uint64(bit & 63)) & ONE:
        return 1
    flags, hdr = w.thf[through], w.hdr
    if f == hdr[FIELD_BELOW]:
        return 1
    if f == hdr[FIELD_BELOW_OWN]:
        return 1 if flags & TH_OWN else 0
    if flags & TH_STAR and not fld[f, F_FLAGS] & PRIVATE_FIELD:
        return 1
    if flags & TH_OUTER and fld[f, F_FLAGS] & PSEUDO_FIELD:
        return 1
    if f == hdr[FIELD_STAR]:
        return 1 if flags & TH_LIBRARY else 0
    if f == hdr[FIELD_ANY] and flags & TH_ANY_GROUP:
        return 1
    if f == hdr[FIELD_ELEM] and flags & TH_ELEM_GROUP:
        return 1
    if fld[f, F_WILD] >= 0:
        bit = w.fld[fld[f, F_WILD], F_BIT]
        if bit >= 0 and (w.thr[through, bit >> 6] >> np.uint64(bit & 63)) & ONE:
            return 1
    return 0


@kernel(INT(WORLD, I8), helper=True)
def intern_through(w, hd):
    """Number of the set of fields in the first free row of the throughs, whose flags stand there too."""
    new = w.hdr[N_THROUGHS]
    h = g = 0
    for i in range(w.thr.shape[1]):
        word = np.int64(w.thr[new, i])
        if word:
            h = mix(h, i, word & 0xFFFFFFFF, word >> 32)
            g = mix(g, word >> 32, i, word & 0xFFFFFFFF)
    salt = 0
    while True:
        found = find(w.known, K_THROUGH, h, g, salt)
        if found < 0:
            break
        same = True
        for i in range(w.thr.shape[1]):
            if w.thr[found, i] != w.thr[new, i]:
                same = False
                break
        if same:
            return found
        salt += 1
    if new + 2 >= len(w.thr) or not put(w.known, K_THROUGH, h, g, salt, new):
        hd[STATUS] = GROW_WORLD
        return -1
    w.hdr[N_THROUGHS] = new + 1
    return new


@kernel(INT(WORLD, I8, INT, INT), helper=True)
def union(w, hd, a, b):
    """Number of the union of two sets of fields; -1 for a set stands for the empty one, as an answer for no room."""
    if a == b or b < 0:
        return a
    if a < 0:
        return b
    low, high = min(a, b), max(a, b)
    found = find(w.known, K_UNION, low, high, 0)
    if found >= 0:
        return found
    new = w.hdr[N_THROUGHS]
    for i in range(w.thr.shape[1]):
        w.thr[new, i] = w.thr[a, i] | w.thr[b, i]
    w.thf[new] = w.thf[a] | w.thf[b]
    found = intern_through(w, hd)
    if found >= 0 and not put(w.known, K_UNION, low, high, 0, found):
        hd[STATUS] = GROW_WORLD
        return -1
    return found


@kernel(INT(WORLD, I8, INT, INT, INT, INT))
def intern_token(w, hd, kind, a, b, c):
    """As `intern`, for the caller of kernels."""
    return intern(w, hd, kind, a, b, c)


@kernel(INT(WORLD, I8))
def intern_fields(w, hd):
    """As `intern_through`, for the caller of kernels."""
    return intern_through(w, hd)


@kernel(INT(MAP, INT, INT, INT, INT))
def lookup(table, kind, a, b, c):
    """As `find`, for the caller of kernels."""
    return find(table, kind, a, b, c)


@kernel(INT(MAP, INT, INT, INT, INT, INT))
def store(table, kind, a, b, c, value):
    """As `put`, for the caller of kernels."""
    return put(table, kind, a, b, c, value)


@kernel(INT(WORLD, INT), helper=True)
def reads_group(w, f):
    """Whether a read of field f reads a whole group of fields; see `reads_field`."""
    hdr = w.hdr
    return 1 if f == hdr[FIELD_OUTER] or f == hdr[FIELD_ANY] or f == hdr[FIELD_ELEM] else 0


@kernel(INT(WORLD, INT, INT), helper=True)
def reads_field(w, f, g):
    """Whether a read of field f reads a cell of field g."""
    hdr, fld = w.hdr, w.fld
    if f == hdr[FIELD_OUTER]:
        return 1 if fld[g, F_FLAGS] & PSEUDO_FIELD and g != hdr[FIELD_BELOW] and g != hdr[FIELD_BELOW_OWN] else 0
    if f == g:
        return 1
    if f == hdr[FIELD_ANY] or f == hdr[FIELD_ELEM]:
        return 1 if g == hdr[FIELD_STAR] or fld[g, F_WILD] == f else 0
    if fld[f, F_FLAGS] & OWN_FIELD:
        return 0
    return 1 if g == hdr[FIELD_STAR] or g == fld[f, F_WILD] else 0
