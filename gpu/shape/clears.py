"""What stores and calls certainly overwrite: the clear sets (semantics.md 3 and 4)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.calls import of_library, of_target, rename, split, substitute
from gpu.shape.cells import token
from gpu.shape.filters import known_type, may_be
from gpu.shape.layout import (
    C_DISPATCHED,
    C_IN_CYCLE,
    C_LIBRARY,
    C_MARKED,
    C_N_TARGETS,
    C_SHIMMED,
    C_TARGETS,
    CALL,
    CONSTANT,
    CONSTRUCTOR,
    DEEP,
    F_FLAGS,
    F_WILD,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_STAR,
    FINE,
    FORMAL,
    GROW_MAP,
    GROW_PLAN,
    LABELS,
    M_CELL,
    M_NOTHING,
    M_ORIGIN,
    M_REGION,
    M_ROW,
    M_SHARED,
    M_TOKEN,
    METHOD,
    MISSED,
    MISSING,
    MT_SUMMARY,
    OBJECT,
    OR,
    OUTSIDE,
    OWN_FIELD,
    P_DST,
    P_FIELD,
    P_KIND,
    P_OP,
    P_SRC,
    R_KIND,
    RECURSIVE,
    S_METHOD,
    S_OP,
    SC_KIND,
    SC_TOKEN,
    SC_UNIQUE,
    SM_COLS,
    SM_MUST,
    SM_N_COLS,
    SM_N_MUST,
    STATIC,
    STATUS,
    STORE,
    T_A,
    T_B,
    T_COUNT,
    T_DEPTH,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    TK_GID,
    TK_ORIGINS,
    TK_UNIQUE,
    WEAK_FIELD,
    WEAK_PATH,
    X_MASK,
)
from gpu.shape.maps import find, put
from gpu.shape.names import intern, meets
from gpu.shape.signatures import CODE, I4, INT, STATE, U8X2, WORLD


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def is_unique(w, s, code, t):
    """Whether a token stands for at most one run-time object while the method runs; `origins` comes first."""
    tok = w.tok
    gid = s.tk[t, TK_GID]
    kind, flags = tok[gid, T_KIND], tok[gid, T_FLAGS]
    if kind == FORMAL:
        if flags & WEAK_PATH:
            return 0
        return 0 if tok[gid, T_A] < 0 and find(s.mp, M_SHARED, (-1 - tok[gid, T_A]) * 2, 0, 0) >= 0 else 1
    if kind != OBJECT or tok[gid, T_MEMBER] >= 0 or s.hd[RECURSIVE] or flags & OUTSIDE:
        return 0
    site = tok[gid, T_A]
    if w.site[site, S_METHOD] == s.hd[METHOD] and tok[gid, T_B] == -1:
        return 1 if not code.cyc[w.site[site, S_OP]] and s.tk[t, TK_ORIGINS] == 0 else 0
    return 1 if s.tk[t, TK_ORIGINS] == 1 and s.tk[t, TK_UNIQUE] else 0


@kernel(INT(WORLD, STATE, CODE, INT, INT, INT), helper=True)
def add_origins(w, s, code, c, sid, at):
    """Counts the places that the objects of an applied summary come from; 0 where there is no room."""
    for i in range(w.smm[sid, SM_COLS], w.smm[sid, SM_COLS] + w.smm[sid, SM_N_COLS]):
        gid = w.smc[i, SC_TOKEN]
        if w.smc[i, SC_KIND] != CONSTANT or w.tok[gid, T_KIND] != OBJECT:
            continue
        t = token(w, s, rename(w, s, code, c, gid))
        if t < 0:
            return 0
        if find(s.mp, M_ORIGIN, c, gid, t) < 0:
            if not put(s.mp, M_ORIGIN, c, gid, t, 1):
                s.hd[STATUS] = GROW_MAP
                return 0
            s.tk[t, TK_ORIGINS] += 1
        if not w.smc[i, SC_UNIQUE] or code.cal[c, C_IN_CYCLE] or s.hd[RECURSIVE]:
            s.tk[t, TK_UNIQUE] = 0
    return 1


@kernel(INT(WORLD, STATE, CODE))
def origins(w, s, code):
    """Counts where the objects that calls return come from; the status, after which it is to be called again."""
    hd, cal = s.hd, code.cal
    hd[STATUS] = FINE
    hd[MISSED] = 0
    for t in range(hd[T_COUNT]):
        s.tk[t, TK_ORIGINS] = 0
        s.tk[t, TK_UNIQUE] = 1
    for i in range(len(s.mp) - 1):
        if s.mp[i, 5] and s.mp[i, 0] == M_ORIGIN:
            s.mp[i, 0] = M_NOTHING
    for c in range(len(cal)):
        if cal[c, C_DISPATCHED]:
            split(w, s, code, c)
        for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
            sid = w.mth[code.lst[i], MT_SUMMARY]
            if w.smm[sid, SM_N_COLS] and (not cal[c, C_DISPATCHED] or of_target(w, s, code, c, code.lst[i])):
                add_origins(w, s, code, c, sid, i)
            if hd[STATUS]:
                return hd[STATUS]
    return MISSING if hd[MISSED] else FINE


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def touches(w, s, t, f):
    """Whether a cell f of an outside token is read or written here, or in a callee."""
    tok, hdr = w.tok, w.hdr
    gid = s.tk[t, TK_GID]
    below = find(s.mp, M_CELL, t, hdr[FIELD_BELOW], 0) >= 0 or find(s.mp, M_CELL, t, hdr[FIELD_BELOW_OWN], 0) >= 0
    if below:
        if tok[gid, T_KIND] != FORMAL and tok[gid, T_KIND] != DEEP:
            return 1
        for own in range(2):
            region = intern(w, s.hd, DEEP, tok[gid, T_A], own, -1)
            through = find(s.mp, M_REGION, region, 0, 0) if region >= 0 else -1
            if through >= 0 and meets(w, through, f):
                return 1
    if find(s.mp, M_CELL, t, f, 0) >= 0:
        return 1
    if w.fld[f, F_FLAGS] & OWN_FIELD:
        return 0
    if find(s.mp, M_CELL, t, hdr[FIELD_STAR], 0) >= 0:
        return 1
    return 1 if w.fld[f, F_WILD] >= 0 and find(s.mp, M_CELL, t, w.fld[f, F_WILD], 0) >= 0 else 0


@kernel(INT(WORLD, STATE, CODE, U8X2, INT, INT), helper=True)
def strong_row(w, s, code, a, i, f):
    """Row that a store to field f of the tokens in row i of a clears, or -1 when the update is weak."""
    tok, tk = w.tok, s.tk
    if w.fld[f, F_FLAGS] & WEAK_FIELD:
        return -1
    t = np.int64(-1)
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        if x:
            if t >= 0 or x & (x - bits.ONE):
                return -1
            t = 64 * k + bits.lowest(x)
    if t < 0:
        return -1
    row = find(s.mp, M_CELL, t, f, 0)
    if row < 0 or not is_unique(w, s, code, t):
        return -1
    gid = tk[t, TK_GID]
    if tok[gid, T_FLAGS] & OUTSIDE or (tok[gid, T_KIND] == OBJECT and tok[gid, T_MEMBER] >= 0):
        first = tok[gid, T_KIND] == FORMAL and tok[gid, T_A] == 0 and tok[gid, T_DEPTH] == 0 and s.hd[CONSTRUCTOR]
        for other in range(s.hd[T_COUNT]):
            g = tk[other, TK_GID]
            kind = tok[g, T_KIND]
            if other == t or (first and (kind == FORMAL or kind == DEEP)):
                continue
            if not tok[g, T_FLAGS] & OUTSIDE and not (kind == OBJECT and tok[g, T_MEMBER] >= 0):
                continue
            if not touches(w, s, other, f):
                continue
            one, two = known_type(w, s, gid), known_type(w, s, g)
            if one < 0 or two < 0 or may_be(w, s, 0, one, two) == 1 or may_be(w, s, 0, two, one) == 1:
                return -1
    return row


@kernel(INT(WORLD, STATE, CODE, INT, I4, INT), helper=True)
def clears_of_call(w, s, code, c, out, n):
    """Writes the rows that a call clears behind the first n of `out`; their number."""
    cal = code.cal
    target, found = np.int64(-1), 0
    dispatched = cal[c, C_DISPATCHED]
    if cal[c, C_LIBRARY] and not cal[c, C_SHIMMED]:
        return n
    if dispatched:
        split(w, s, code, c)
    for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
        if not dispatched or of_target(w, s, code, c, code.lst[i]):
            target = code.lst[i]
            found += 1
    if cal[c, C_LIBRARY] or cal[c, C_MARKED]:
        if not dispatched or of_library(w, s, code, c):
            found += 1
    if found != 1 or target < 0:
        return n
    sid = w.mth[target, MT_SUMMARY]
    if w.smm[sid, SM_N_MUST] == 0:
        return n
    if dispatched:
        of_target(w, s, code, c, target)
    else:
        for k in range(s.tmp.shape[1]):
            s.tmp[X_MASK, k] = ~bits.ZERO
    if not substitute(w, s, code, c, target, sid):
        return n
    for i in range(w.smm[sid, SM_MUST], w.smm[sid, SM_MUST] + 2 * w.smm[sid, SM_N_MUST], 2):
        column, f = w.sml[i], w.sml[i + 1]
        if column >= 0:
            row = strong_row(w, s, code, s.sg, column, f)
        else:
            row = find(s.mp, M_ROW + 256 * STATIC, f, 0, 0)
        if row >= 0 and n < len(out):
            out[n] = row
            n += 1
    return n


@kernel(INT(WORLD, STATE, CODE, I4, I4))
def clears(w, s, code, off, out):
    """Rows that each primitive clears: out[off[p] : off[p + 1]]; `origins` comes first.

    Returns the status, after which it is to be called again; GROW_PLAN where `out` is too short.
    """
    hd, prm = s.hd, code.prm
    hd[STATUS] = FINE
    hd[MISSED] = 0
    n = 0
    for p in range(len(prm)):
        off[p] = n
        kind = prm[p, P_KIND]
        if kind == STORE:
            row = strong_row(w, s, code, s.rb, prm[p, P_SRC], prm[p, P_FIELD])
            if row >= 0 and n < len(out):
                out[n] = row
                n += 1
        elif kind == OR and s.ri[prm[p, P_DST], R_KIND] == STATIC:
            if n < len(out):
                out[n] = prm[p, P_DST]
                n += 1
        elif kind == CALL:
            n = clears_of_call(w, s, code, prm[p, P_OP], out, n)
        if n >= len(out):
            return GROW_PLAN
        if hd[STATUS]:
            return hd[STATUS]
    off[len(prm)] = n
    return MISSING if hd[MISSED] else FINE


@kernel(INT(WORLD, STATE, CODE, INT))
def mark_unique(w, s, code, sid):
    """Says of each object that a summary exports whether it is unique in its method."""
    for i in range(w.smm[sid, SM_COLS], w.smm[sid, SM_COLS] + w.smm[sid, SM_N_COLS]):
        if w.smc[i, SC_KIND] == CONSTANT and w.tok[w.smc[i, SC_TOKEN], T_KIND] == OBJECT:
            t = find(s.mp, M_TOKEN, w.smc[i, SC_TOKEN], 0, 0)
            w.smc[i, SC_UNIQUE] = 1 if t >= 0 and is_unique(w, s, code, t) else 0
    return 1
