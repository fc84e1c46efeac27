"""Calls: which summaries a call applies, the substitution, and what it writes (semantics.md 4)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.cells import named_row, token, write
from gpu.shape.filters import answer, mask
from gpu.shape.layout import (
    BY_TYPE,
    C_ARGS,
    C_DISPATCHED,
    C_DST,
    C_EFFECT,
    C_LIBRARY,
    C_MARKED,
    C_METHOD,
    C_N_ARGS,
    C_N_TARGETS,
    C_N_THROWN,
    C_OP,
    C_PC,
    C_RETURN,
    C_SHIM,
    C_SHIMMED,
    C_SITE,
    C_TARGETS,
    C_TEXTS,
    C_THROWN,
    CELL,
    CELL_DATA,
    CHILD,
    CLOCK,
    CONSTANT,
    CONTEXT,
    DATA,
    DATA_ONLY,
    ENV_FIELD,
    ESCAPING,
    EXACT,
    F_FLAGS,
    F_WILD,
    FIELD_STAR,
    FRESH,
    GROW_SIGMA,
    GROW_WORLD,
    HEAP_STAMP,
    HERE,
    K_DISPATCH,
    K_EFFECT,
    LABELS,
    LIBRARY,
    M_ROW,
    M_STAMP,
    MAX_KEYS,
    METHOD,
    MISSED,
    MT_CLASS,
    MT_N_PARAMS,
    MT_OWN,
    MT_PARAMS,
    MT_SUMMARY,
    N_MISSES,
    NEW,
    OBJECT,
    PSEUDO,
    R_STAMP,
    REGION,
    RETURN,
    RETURN_DATA,
    ROOT,
    S_KIND,
    S_METHOD,
    S_TEXT,
    SC_ALIAS,
    SC_FIELD,
    SC_KIND,
    SC_N_ALIAS,
    SC_N_REGION,
    SC_PARENT,
    SC_REGION,
    SC_THROUGH,
    SC_TOKEN,
    SINK,
    SM_BITS,
    SM_COLS,
    SM_N_COLS,
    SM_N_ROWS,
    SM_REGION,
    SM_ROWS,
    SM_WORDS,
    SOURCE,
    SR_A,
    SR_B,
    SR_C,
    SR_KIND,
    SR_OWNER,
    STATIC,
    STATUS,
    T_A,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    T_TYPE,
    TAINT,
    TEXT,
    THROWN,
    TK_GID,
    TK_TARGET,
    X_ANYWHERE,
    X_BITS,
    X_FRONTIER,
    X_LIBRARY,
    X_MASK,
    X_READ,
    X_VALUE,
)
from gpu.shape.maps import find, mix, put
from gpu.shape.names import intern, library_site, reads_group
from gpu.shape.reads import read, read_through, write_cells
from gpu.shape.signatures import CODE, INT, STATE, U8X2, WORLD


@kernel(INT(WORLD, STATE, INT), helper=True)
def stamp(w, s, f):
    """When a read of a field last came to read something else."""
    hdr, hd = w.hdr, s.hd
    if reads_group(w, f):
        return hd[HEAP_STAMP]
    found = max(find(s.mp, M_STAMP, f, 0, 0), find(s.mp, M_STAMP, hdr[FIELD_STAR], 0, 0))
    if w.fld[f, F_WILD] >= 0:
        found = max(found, find(s.mp, M_STAMP, w.fld[f, F_WILD], 0, 0))
    return found


@kernel(INT(WORLD, INT), helper=True)
def static_kind(w, f):
    """Kind of the row of a static field of the app or of the environments."""
    return PSEUDO if w.fld[f, F_FLAGS] & ENV_FIELD else STATIC


@kernel(INT(WORLD, STATE, INT), helper=True)
def summary_stamp(w, s, sid):
    """When a summary last came to read something else of the method's heap and static fields."""
    hd = s.hd
    if w.smm[sid, SM_REGION]:
        return hd[HEAP_STAMP]
    found = np.int64(-1)
    first = w.smm[sid, SM_COLS]
    for c in range(first, first + w.smm[sid, SM_N_COLS]):
        if w.smc[c, SC_KIND] == CHILD:
            found = max(found, stamp(w, s, w.smc[c, SC_FIELD]))
        elif w.smc[c, SC_KIND] == ROOT:
            root = w.tok[w.smc[c, SC_TOKEN], T_A]
            if root < 0:
                f = (-1 - root) * 2
                row = find(s.mp, M_ROW + 256 * static_kind(w, f), f, 0, 0)
                found = max(found, s.ri[row, R_STAMP] if row >= 0 else hd[CLOCK] + 1)
    return found


@kernel(INT(WORLD, STATE, CODE, INT, INT), helper=True)
def texts(w, s, code, value, top):
    """Writes the texts that an argument may be to the questions: their number, -1 where it is not constant; its end."""
    miss = w.miss
    miss[top] = -1
    if value < 0:
        return top + 1
    n = 0
    for k in range(s.rb.shape[1]):
        x = s.rb[value, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            gid = s.tk[t, TK_GID]
            if w.tok[gid, T_KIND] != OBJECT or not w.tok[gid, T_FLAGS] & TEXT:
                return top + 1
            text = w.site[w.tok[gid, T_A], S_TEXT]
            i = top + 1
            while i < top + 1 + n and miss[i] < text:
                i += 1
            if i < top + 1 + n and miss[i] == text:
                continue
            if n == w.hdr[MAX_KEYS]:
                return top + 1
            for j in range(top + 1 + n, i, -1):
                miss[j] = miss[j - 1]
            miss[i] = text
            n += 1
    if n:
        miss[top] = n
    return top + 1 + n


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def effect(w, s, code, c):
    """Summary of the library part of a call; -1 where it has to be asked first."""
    cal, miss = code.cal, w.miss
    if cal[c, C_EFFECT] >= 0:
        return cal[c, C_EFFECT]
    top = w.hdr[N_MISSES]
    at = cal[c, C_TEXTS]  # in the lists: number of the reference, arguments looked at, their constants or -1
    n_args = code.lst[at + 1]
    if top + 8 + n_args * (w.hdr[MAX_KEYS] + 2) >= len(miss):
        s.hd[MISSED] = 1
        return -1
    begin = top + 5
    miss[begin] = code.lst[at]
    end = begin + 1
    for i in range(n_args):
        if code.lst[at + 2 + i] != -1:
            miss[end] = 1
            miss[end + 1] = code.lst[at + 2 + i]
            end += 2
        else:
            end = texts(w, s, code, code.lst[cal[c, C_ARGS] + i], end)
    h = g = 0
    for i in range(begin, end):
        h = mix(h, i - begin, miss[i], 7)
        g = mix(miss[i], g, 3, i - begin)
    salt = 0
    while True:
        found = find(w.known, K_EFFECT, h, g, salt)
        if found <= 0:
            break
        same = w.lists[found + 1] == end - begin
        if same:
            for i in range(end - begin):
                if w.lists[found + 2 + i] != miss[begin + i]:
                    same = False
                    break
        if same:
            return w.lists[found]
        salt += 1
    s.hd[MISSED] = 1
    if found < 0:
        if not put(w.known, K_EFFECT, h, g, salt, 0):
            s.hd[STATUS] = GROW_WORLD
            return -1
        miss[top] = K_EFFECT
        miss[top + 1] = end - begin + 3
        miss[top + 2] = h
        miss[top + 3] = g
        miss[top + 4] = salt
        w.hdr[N_MISSES] = end
    return -1


@kernel(INT(WORLD, STATE, CODE, INT, INT), helper=True)
def rename(w, s, code, c, gid):
    """Caller's name of a constant column; -1 where there is no room."""
    hd, tok, cal = s.hd, w.tok, code.cal
    kind = tok[gid, T_KIND]
    if kind == FRESH:
        app, own = tok[gid, T_FLAGS] & ESCAPING, w.mth[hd[METHOD], MT_OWN]
        site = library_site(w, hd, hd[METHOD], cal[c, C_OP], cal[c, C_PC], tok[gid, T_A], app, own)
        return intern(w, hd, OBJECT, site, -1, -1) if site >= 0 else -1
    if kind == SOURCE:
        return intern(w, hd, TAINT, tok[gid, T_A], cal[c, C_SITE], -1)
    if kind == OBJECT:
        site = tok[gid, T_A]
        what = w.site[site, S_KIND]
        named = hd[CONTEXT] and (what == NEW or what == LIBRARY) and tok[gid, T_MEMBER] < 0
        context = cal[c, C_SITE] if named and w.site[site, S_METHOD] >= 0 else -1
        return intern(w, hd, OBJECT, site, context, -1)
    return gid


@kernel("void(uint64[:, ::1], int64, uint64[:, ::1], uint64[::1], int64, int64)", helper=True)
def add_image(d, j, sigma, smb, at, words):
    """Row j of d |= union of the substitution over the columns in a row of a summary."""
    for k in range(words):
        x = smb[at + k]
        while x:
            bits.join(d, j, sigma, 64 * k + bits.lowest(x))
            x &= x - bits.ONE


@kernel(INT(WORLD, STATE, INT, INT, U8X2, INT, INT), helper=True)
def add_aliased(w, s, sid, c, a, i, source):
    """Row X_READ |= what rows of a summary write to cells that column c may read of the tokens in row i of a.

    Rows that are owned by column `source` are left out.
    """
    smm, smc = w.smm, w.smc
    first = smm[sid, SM_COLS] + c
    words = smm[sid, SM_WORDS]
    for at in range(smc[first, SC_ALIAS], smc[first, SC_ALIAS] + smc[first, SC_N_ALIAS]):
        r = w.sml[at]
        owner = w.smr[smm[sid, SM_ROWS] + r, SR_OWNER]
        if owner != source and bits.meet(s.sg, owner, a, i):
            add_image(s.tmp, X_READ, s.sg, w.smb, smm[sid, SM_BITS] + r * words, words)
    return 1


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def add_region(w, s, sid, c):
    """Adds to column c of the substitution what is reached through its fields; whether it grew."""
    smc, sg, tmp = w.smc, s.sg, s.tmp
    first = w.smm[sid, SM_COLS]
    through = smc[first + c, SC_THROUGH]
    bits.clear(tmp, X_BITS)
    at = smc[first + c, SC_REGION]
    for i in range(at, at + smc[first + c, SC_N_REGION]):
        source = w.sml[i]
        read_through(w, s, sg, source, through, tmp, X_READ)
        add_aliased(w, s, sid, c, sg, source, source)
        bits.join(tmp, X_BITS, tmp, X_READ)
    bits.copy(tmp, X_FRONTIER, tmp, X_BITS)
    while bits.some(tmp, X_FRONTIER):
        read_through(w, s, tmp, X_FRONTIER, through, tmp, X_READ)
        add_aliased(w, s, sid, c, tmp, X_FRONTIER, -1)
        bits.copy(tmp, X_FRONTIER, tmp, X_READ)
        bits.remove(tmp, X_FRONTIER, tmp, X_BITS)
        bits.join(tmp, X_BITS, tmp, X_READ)
    return bits.join(sg, c, tmp, X_BITS)


@kernel(INT(WORLD, STATE, CODE, INT, INT, INT, INT), helper=True)
def bind(w, s, code, c, target, column, root):
    """Binds a root formal of a callee: column of the substitution = the argument, or the static field."""
    sg, cal = s.sg, code.cal
    if root < 0:
        f = (-1 - root) * 2
        row = named_row(w, s, static_kind(w, f), f, 0, 0)
        if row < 0:
            return 0
        bits.copy(sg, column, s.rb, row)
        return 1
    if root >= cal[c, C_N_ARGS] or code.lst[cal[c, C_ARGS] + root] < 0:
        bits.clear(sg, column)
        return 1
    bits.copy(sg, column, s.rb, code.lst[cal[c, C_ARGS] + root])
    if root == 0:
        bits.keep(sg, column, s.tmp, X_MASK)
    if target >= 0 and root < w.mth[target, MT_N_PARAMS]:
        filter_ = w.par[w.mth[target, MT_PARAMS] + root]
        if filter_ != -1:
            m = mask(w, s, filter_)
            if m < 0:
                return 0
            bits.keep(sg, column, s.mk, m)
    return 1


@kernel(INT(WORLD, STATE, CODE, INT, INT, INT), helper=True)
def substitute(w, s, code, c, target, sid):
    """The least substitution of semantics.md 4 in the scratch; 0 where something is missing.

    X_MASK holds what of the receiver may be bound.
    """
    smm, smc, sg = w.smm, w.smc, s.sg
    first, n = smm[sid, SM_COLS], smm[sid, SM_N_COLS]
    if n > len(sg):
        s.hd[STATUS] = GROW_SIGMA
        return 0
    nested = 0
    for column in range(n):
        kind = smc[first + column, SC_KIND]
        gid = smc[first + column, SC_TOKEN]
        bits.clear(sg, column)
        if kind == CONSTANT:
            t = token(w, s, rename(w, s, code, c, gid))
            if t < 0:
                return 0
            bits.add(sg, column, t)
        elif kind == ROOT:
            if not bind(w, s, code, c, target, column, w.tok[gid, T_A]):
                return 0
        else:
            nested = 1
    while nested:
        nested = 0
        for column in range(n):
            kind = smc[first + column, SC_KIND]
            if kind == CHILD:
                parent = smc[first + column, SC_PARENT]
                read(w, s, sg, parent, smc[first + column, SC_FIELD], s.tmp, X_READ)
                add_aliased(w, s, sid, column, sg, parent, -1)
                nested |= bits.join(sg, column, s.tmp, X_READ)
            elif kind == REGION:
                nested |= add_region(w, s, sid, column)
            if s.hd[STATUS]:
                return 0
    return 1


@kernel(INT(WORLD, STATE, CODE, INT, INT, INT), helper=True)
def apply(w, s, code, c, target, sid):
    """Applies a summary at a call; 0 where something is missing."""
    smm, smr, cal, tmp, sg = w.smm, w.smr, code.cal, s.tmp, s.sg
    if smm[sid, SM_N_ROWS] == 0:
        return 1
    if not substitute(w, s, code, c, target, sid):
        return 0
    words = smm[sid, SM_WORDS]
    for r in range(smm[sid, SM_N_ROWS]):
        row = smm[sid, SM_ROWS] + r
        kind = smr[row, SR_KIND]
        bits.clear(tmp, X_VALUE)
        add_image(tmp, X_VALUE, sg, w.smb, smm[sid, SM_BITS] + r * words, words)
        if kind == CELL or kind == CELL_DATA:
            if kind == CELL_DATA:
                bits.keep(tmp, X_VALUE, s.mk, DATA)
            write_cells(w, s, sg, smr[row, SR_OWNER], smr[row, SR_C], tmp, X_VALUE)
        elif kind == RETURN or kind == RETURN_DATA:
            if cal[c, C_DST] >= 0:
                filter_ = DATA_ONLY if kind == RETURN_DATA else cal[c, C_RETURN]
                if filter_ != -1:
                    m = mask(w, s, filter_)
                    if m < 0:
                        return 0
                    bits.keep(tmp, X_VALUE, s.mk, m)
                write(w, s, cal[c, C_DST], tmp, X_VALUE)
        elif kind == THROWN:
            for i in range(cal[c, C_THROWN], cal[c, C_THROWN] + cal[c, C_N_THROWN]):
                write(w, s, code.lst[i], tmp, X_VALUE)
        else:
            b = cal[c, C_SITE] if kind == SINK and smr[row, SR_B] == HERE else smr[row, SR_B]
            to = named_row(w, s, kind, smr[row, SR_A], b, smr[row, SR_C])
            if to >= 0:
                write(w, s, to, tmp, X_VALUE)
        if s.hd[STATUS]:
            return 0
    return 1


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def dispatch(w, s, gid, method):
    """Method that runs when a token's object receives a call: -1 library code, -2 may be any, -3 ask first."""
    tok = w.tok
    kind = tok[gid, T_KIND]
    if (kind == OBJECT or kind == BY_TYPE) and tok[gid, T_FLAGS] & EXACT:
        found = answer(w, s, K_DISPATCH, tok[gid, T_TYPE], method, 0)
        return found - 2 if found >= 0 else -3
    return -2


@kernel(INT(WORLD, STATE, CODE, INT, INT), helper=True)
def of_target(w, s, code, c, target):
    """Row X_MASK = what of the receiver's row may be bound to the first parameter of a target; whether that is any.

    `split` comes first.
    """
    cal, tmp = code.cal, s.tmp
    receiver = code.lst[cal[c, C_ARGS]] if cal[c, C_N_ARGS] else -1
    if target == cal[c, C_SHIM]:
        if receiver < 0:
            return 0
        bits.copy(tmp, X_MASK, s.rb, receiver)
    else:
        m = mask(w, s, w.mth[target, MT_CLASS]) if bits.some(tmp, X_ANYWHERE) else LABELS
        if m < 0:
            return 0
        for k in range(tmp.shape[1]):
            tmp[X_MASK, k] = s.rb[receiver, k] & s.mk[LABELS, k] if receiver >= 0 else bits.ZERO
            if m != LABELS:
                tmp[X_MASK, k] |= tmp[X_ANYWHERE, k] & s.mk[m, k]
            x = s.rb[receiver, k] & ~s.mk[LABELS, k] if receiver >= 0 else bits.ZERO
            while x:
                t = 64 * k + bits.lowest(x)
                x &= x - bits.ONE
                if s.tk[t, TK_TARGET] == target:
                    bits.add(tmp, X_MASK, t)
    for k in range(tmp.shape[1]):
        if tmp[X_MASK, k] & ~s.mk[LABELS, k]:
            return 1
    return 0


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def split(w, s, code, c):
    """Tells the receiver's tokens apart by the target that they dispatch to; rows X_ANYWHERE and X_LIBRARY."""
    cal, tmp = code.cal, s.tmp
    bits.clear(tmp, X_ANYWHERE)
    bits.clear(tmp, X_LIBRARY)
    receiver = code.lst[cal[c, C_ARGS]] if cal[c, C_N_ARGS] else -1
    if receiver < 0:
        return 0
    for k in range(tmp.shape[1]):
        x = s.rb[receiver, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            target = dispatch(w, s, s.tk[t, TK_GID], cal[c, C_METHOD])
            s.tk[t, TK_TARGET] = target
            if target == -2:
                bits.add(tmp, X_ANYWHERE, t)
            elif target > -3:
                inside = False
                for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
                    if code.lst[i] == target:
                        inside = True
                if not inside:
                    bits.add(tmp, X_LIBRARY, t)
    return 1


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def of_library(w, s, code, c):
    """Row X_MASK = what of the receiver's row goes to the library part of a call; whether that is any."""
    cal, tmp = code.cal, s.tmp
    receiver = code.lst[cal[c, C_ARGS]] if cal[c, C_N_ARGS] else -1
    if receiver < 0:
        return 0
    if cal[c, C_LIBRARY] and not cal[c, C_SHIMMED]:
        for k in range(tmp.shape[1]):
            tmp[X_MASK, k] = tmp[X_LIBRARY, k] | tmp[X_ANYWHERE, k] | (s.rb[receiver, k] & s.mk[LABELS, k])
    else:
        bits.copy(tmp, X_MASK, s.rb, receiver)
    for k in range(tmp.shape[1]):
        if tmp[X_MASK, k] & ~s.mk[LABELS, k]:
            return 1
    return 0


@kernel(INT(WORLD, STATE, CODE, INT, INT), helper=True)
def is_settled(w, s, code, c, since):
    """Whether a call would do the same as at a time before; what summaries it used is noted."""
    cal, ri = code.cal, s.ri
    settled = 1 if since >= 0 else 0
    for i in range(cal[c, C_ARGS], cal[c, C_ARGS] + cal[c, C_N_ARGS]):
        if code.lst[i] >= 0 and ri[code.lst[i], R_STAMP] > since:
            settled = 0
    for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
        sid = w.mth[code.lst[i], MT_SUMMARY]
        if s.used[i] != sid:
            s.used[i] = sid
            settled = 0
        if settled and summary_stamp(w, s, sid) > since:
            settled = 0
    if settled and (cal[c, C_LIBRARY] or cal[c, C_MARKED]):
        sid = effect(w, s, code, c)
        if sid < 0 or summary_stamp(w, s, sid) > since:
            settled = 0
    return settled


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def call(w, s, code, c):
    """Applies what a call does."""
    cal, hd = code.cal, s.hd
    dispatched = cal[c, C_DISPATCHED]
    if dispatched:
        split(w, s, code, c)
    else:
        for k in range(s.tmp.shape[1]):
            s.tmp[X_MASK, k] = ~bits.ZERO
    for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
        target = code.lst[i]
        sid = w.mth[target, MT_SUMMARY]
        if w.smm[sid, SM_N_ROWS] and (not dispatched or of_target(w, s, code, c, target)):
            apply(w, s, code, c, target, sid)
        if hd[STATUS]:
            return 0
    if cal[c, C_LIBRARY] or cal[c, C_MARKED]:
        if not dispatched or of_library(w, s, code, c):
            sid = effect(w, s, code, c)
            if sid >= 0:
                apply(w, s, code, c, -1, sid)
    return 1
