"""Summaries: what a method does to its caller, coarsened to a level (semantics.md 4)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.cells import region_kind
from gpu.shape.layout import (
    BEYOND,
    CAP,
    CELL,
    CHILD,
    CONSTANT,
    DATA,
    DEEP,
    F_FLAGS,
    F_THROUGH,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_STAR,
    FINE,
    FOLD,
    FORMAL,
    GROW_PLAN,
    GROW_WORLD,
    LABELS,
    M_CELL,
    M_REGION,
    N_BITS,
    N_COLS,
    N_LISTS,
    N_ROWS,
    N_SUMMARIES,
    N_VALUES,
    O_COLS,
    O_ROWS,
    O_SLOTS,
    OBJECT,
    OUTSIDE,
    OVER_EXPORT,
    OWN_FIELD,
    PATH_LENGTH,
    PLAN_COUNT,
    PSEUDO,
    R_A,
    R_B,
    R_C,
    R_COUNT,
    R_ENTRY,
    R_KIND,
    R_NEXT,
    REGION,
    RETURN,
    ROOT,
    S_FLAGS,
    SC_ALIAS,
    SC_FIELD,
    SC_KIND,
    SC_N_ALIAS,
    SC_N_REGION,
    SC_PARENT,
    SC_REGION,
    SC_THROUGH,
    SC_TOKEN,
    SC_UNIQUE,
    SINK,
    SITE_OWN_METHOD,
    SM_BITS,
    SM_COLS,
    SM_ENTRIES,
    SM_MUST,
    SM_N_COLS,
    SM_N_MUST,
    SM_N_ROWS,
    SM_PATHS,
    SM_REGION,
    SM_ROWS,
    SM_WORDS,
    SR_A,
    SR_B,
    SR_C,
    SR_COLUMNS,
    SR_KIND,
    SR_OWNER,
    STATIC,
    STATUS,
    T_A,
    T_B,
    T_C,
    T_COUNT,
    T_DEPTH,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    TABLE,
    TABLE_CELL,
    TAINT,
    THROWN,
    TK_CELLS,
    TK_GID,
    TK_TARGET,
    X_BITS,
    X_FRONTIER,
    X_VALUE,
)
from gpu.shape.maps import find, put, slot_of
from gpu.shape.names import fold, intern, meets, reads_field, union
from gpu.shape.signatures import INT, OUT, STATE, WORLD


@kernel(INT(STATE, INT, INT), helper=True)
def has_news(s, row, kept):
    """Whether a row holds more than it held on entry; `kept`: what was stored again counts too."""
    e = s.ri[row, R_ENTRY]
    for k in range(s.rb.shape[1]):
        x = s.rb[row, k]
        if e >= 0:
            x &= ~s.eb[e, k] if not kept else ~(s.eb[e, k] & ~s.sb[e, k])
        if x:
            return 1
    return 0


@kernel(INT(WORLD, STATE, OUT, INT, INT, INT), helper=True)
def take(w, s, o, row, kept, only_data):
    """Puts a row on the plan: what it holds is exported, and what that holds. 0 where there is no room.

    `kept`: what it held on entry and was not stored again is left out; `only_data`: formals only.
    """
    hd, ri = s.hd, s.ri
    n = hd[PLAN_COUNT]
    if n >= len(o.plan):
        hd[STATUS] = GROW_PLAN
        return 0
    e = ri[row, R_ENTRY]
    skip = -1
    for k in range(s.rb.shape[1]):
        x = s.rb[row, k]
        if only_data:
            x &= s.mk[DATA, k] & ~s.mk[LABELS, k]
        if kept and e >= 0:
            left = s.eb[e, k] & ~s.sb[e, k]
            x &= ~left
            if left:
                skip = 64 * k + bits.lowest(left)
                while left & (left - bits.ONE):
                    left &= left - bits.ONE
                    skip = 64 * k + bits.lowest(left)
        s.tmp[X_FRONTIER, k] |= x
    hd[PLAN_COUNT] = n + 1
    o.plan[n, 0] = row
    o.plan[n, 1] = skip
    return 1


@kernel(INT(WORLD, STATE, OUT), helper=True)
def plan(w, s, o):
    """Which rows are exported, in `o.plan`: row, and the token that is not exported or -1."""
    hd, ri, tk, tmp = s.hd, s.ri, s.tk, s.tmp
    hd[PLAN_COUNT] = 0
    bits.clear(tmp, X_FRONTIER)
    bits.clear(tmp, X_BITS)
    for row in range(hd[N_VALUES], hd[R_COUNT]):
        kind = ri[row, R_KIND]
        if kind == RETURN or kind == THROWN:
            take(w, s, o, row, 0, 0)
        elif kind == STATIC or kind == PSEUDO:
            if has_news(s, row, 1):
                take(w, s, o, row, 1, 0)
        elif kind == TABLE or kind == TABLE_CELL or kind == SINK:
            good = False
            for k in range(tmp.shape[1]):
                if s.rb[row, k] & s.mk[DATA, k] & ~s.mk[LABELS, k]:
                    good = True
            if good:
                take(w, s, o, row, 0, 0 if kind == SINK else 1)
        elif kind == CELL:
            owner = w.tok[tk[ri[row, R_A], TK_GID], T_KIND]
            if (owner == FORMAL or owner == DEEP) and has_news(s, row, 1):
                take(w, s, o, row, 1, 0)
    again = True
    while again:
        again = False
        for k in range(tmp.shape[1]):
            while tmp[X_FRONTIER, k] & ~tmp[X_BITS, k]:
                again = True
                t = 64 * k + bits.lowest(tmp[X_FRONTIER, k] & ~tmp[X_BITS, k])
                bits.add(tmp, X_BITS, t)
                gid = tk[t, TK_GID]
                kind = w.tok[gid, T_KIND]
                member = w.tok[gid, T_MEMBER] >= 0
                if kind == FORMAL or kind == DEEP or kind == TAINT or ((kind == OBJECT or kind == BEYOND) and member):
                    continue
                row = tk[t, TK_CELLS]
                while row >= 0:
                    if has_news(s, row, 0):
                        take(w, s, o, row, 0, 0)
                    row = ri[row, R_NEXT]
                if hd[STATUS]:
                    return 0
    return 1


@kernel(INT(WORLD, STATE, OUT, INT), helper=True)
def column(w, s, o, gid):
    """Number, before they are sorted, of the export column of a token, new or known; -1 where there is no room."""
    if gid < 0:
        return -1
    found = find(o.map, 0, gid, 0, 0)
    if found >= 0:
        return found
    n = o.num[O_COLS]
    o.slots[o.num[O_SLOTS]] = slot_of(o.map, 0, gid, 0, 0)
    if n >= len(o.col) or n >= 64 * o.bits.shape[1] or not put(o.map, 0, gid, 0, 0, n):
        s.hd[STATUS] = GROW_PLAN
        return -1
    o.num[O_SLOTS] += 1
    o.num[O_COLS] = n + 1
    o.col[n, 0] = gid
    o.col[n, 1] = 0
    return n


@kernel(INT(WORLD, STATE, OUT, INT, INT, INT, INT), helper=True)
def out_row(w, s, o, kind, a, b, c):
    """Number, before they are sorted, of an export row, new or known; -1 where there is no room."""
    found = find(o.map, 1 + kind, a, b, c)
    if found >= 0:
        return found
    n = o.num[O_ROWS]
    o.slots[o.num[O_SLOTS]] = slot_of(o.map, 1 + kind, a, b, c)
    if n >= len(o.row) or not put(o.map, 1 + kind, a, b, c, n):
        s.hd[STATUS] = GROW_PLAN
        return -1
    o.num[O_SLOTS] += 1
    o.num[O_ROWS] = n + 1
    o.row[n, SR_KIND] = kind
    o.row[n, SR_A] = a
    o.row[n, SR_B] = b
    o.row[n, SR_C] = c
    bits.clear(o.bits, n)
    return n


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def folded_region(w, s, gid, level):
    """Region that a formal is folded into at a level, or -1."""
    found = fold(w, s.hd, gid, max(level, s.hd[FOLD]))
    return found if found != gid else -1


@kernel(INT(STATE, INT), helper=True)
def region_depth(s, level):
    """Length of the paths from which regions go on."""
    level = max(level, s.hd[FOLD])
    if level == 0:
        return s.hd[PATH_LENGTH]
    return min(s.hd[PATH_LENGTH], 1 if level == 1 else 0)


@kernel(INT(WORLD, STATE, INT, INT, INT, INT), helper=True)
def is_source(w, s, t, root, own, level):
    """Whether the region (root, own) is reached from the cells of a token."""
    tok = w.tok
    gid = s.tk[t, TK_GID]
    if tok[gid, T_KIND] != FORMAL or tok[gid, T_A] != root or region_kind(w, gid) > own:
        return 0
    if folded_region(w, s, gid, level) >= 0:
        return 0
    if tok[gid, T_DEPTH] >= region_depth(s, level):
        return 1
    return (
        1
        if find(s.mp, M_CELL, t, w.hdr[FIELD_BELOW], 0) >= 0 or find(s.mp, M_CELL, t, w.hdr[FIELD_BELOW_OWN], 0) >= 0
        else 0
    )


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def region_through(w, s, region, level):
    """The fields through which an exported region is reached."""
    tok = w.tok
    found = find(s.mp, M_REGION, region, 0, 0)
    for t in range(s.hd[T_COUNT]):
        gid = s.tk[t, TK_GID]
        if tok[gid, T_KIND] == FORMAL and folded_region(w, s, gid, level) == region:
            depth = region_depth(s, level)
            while tok[gid, T_DEPTH] > depth:
                found = union(w, s.hd, w.fld[tok[gid, T_C], F_THROUGH], found)
                gid = tok[gid, T_B]
    return found


@kernel(INT(WORLD, STATE, OUT, INT), helper=True)
def gather(w, s, o, level):
    """Export rows over unsorted columns, and which columns are wanted; 0 where there is no room."""
    hd, ri, tk, tmp = s.hd, s.ri, s.tk, s.tmp
    for t in range(hd[T_COUNT]):
        tk[t, TK_TARGET] = column(w, s, o, fold(w, hd, tk[t, TK_GID], level))
        if hd[STATUS]:
            return 0
    for i in range(hd[PLAN_COUNT]):
        row, skip = o.plan[i, 0], o.plan[i, 1]
        kind, a, b, c = ri[row, R_KIND], ri[row, R_A], ri[row, R_B], ri[row, R_C]
        some = False
        for k in range(tmp.shape[1]):
            x = s.rb[row, k]
            if skip >= 0 and skip >> 6 == k:
                x &= ~(bits.ONE << np.uint64(skip & 63))
            if kind == SINK or kind == TABLE or kind == TABLE_CELL:
                x &= s.mk[DATA, k] & ~s.mk[LABELS, k]
            tmp[X_VALUE, k] = x
            if x:
                some = True
        if not some:
            continue
        if kind == CELL:
            owner = tk[a, TK_TARGET]
            o.col[owner, 1] = 1
            f = b
            if level >= 2 and not w.fld[b, F_FLAGS] & OWN_FIELD:
                f = w.hdr[FIELD_STAR]
            a, b, c = o.col[owner, 0], 0, f
        elif kind == SINK and level >= 2:
            if b < 0 or not w.site[b, S_FLAGS] & SITE_OWN_METHOD:
                b = -1
        to = out_row(w, s, o, kind, a, b, c)
        if to < 0:
            return 0
        for k in range(tmp.shape[1]):
            x = tmp[X_VALUE, k]
            while x:
                t = 64 * k + bits.lowest(x)
                x &= x - bits.ONE
                bits.add(o.bits, to, tk[t, TK_TARGET])
                o.col[tk[t, TK_TARGET], 1] = 1
    return 1


@kernel(INT(WORLD, STATE, OUT, INT), helper=True)
def close(w, s, o, level):
    """Wants what wanted columns are bound by: parents of formals, sources of regions; 0 where there is no room."""
    hd, tok = s.hd, w.tok
    again = True
    while again:
        again = False
        i = 0
        while i < o.num[O_COLS]:
            if o.col[i, 1] == 1:
                o.col[i, 1] = 2
                again = True
                gid = o.col[i, 0]
                if tok[gid, T_KIND] == FORMAL and tok[gid, T_B] >= 0:
                    up = column(w, s, o, tok[gid, T_B])
                    if up < 0:
                        return 0
                    o.col[up, 1] = max(o.col[up, 1], 1)
                elif tok[gid, T_KIND] == DEEP:
                    for t in range(hd[T_COUNT]):
                        if is_source(w, s, t, tok[gid, T_A], tok[gid, T_B], level):
                            up = column(w, s, o, s.tk[t, TK_GID])
                            if up < 0:
                                return 0
                            o.col[up, 1] = max(o.col[up, 1], 1)
            i += 1
    return 1


@kernel("void(int32[::1], int32[:, ::1], int64, int64)", helper=True)
def sort(order, key, n, width):
    """Sorts the first n numbers of rows of `key` by their first `width` columns (Shell's sort)."""
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, n):
            x = order[i]
            j = i
            while j >= gap:
                y = order[j - gap]
                less = False
                for k in range(width):
                    if key[x, k] != key[y, k]:
                        less = key[x, k] < key[y, k]
                        break
                if not less:
                    break
                order[j] = y
                j -= gap
            order[j] = x
        gap //= 3


@kernel(INT(WORLD, STATE, OUT, INT, INT), helper=True)
def write_out(w, s, o, level, n_must):
    """Writes the summary behind the others; its number, -1 where there is no room."""
    hd, hdr, tok = s.hd, w.hdr, w.tok
    n_cols = 0
    for i in range(o.num[O_COLS]):
        if o.col[i, 1]:
            o.order[n_cols] = i
            n_cols += 1
    sort(o.order, o.col, n_cols, 1)
    for i in range(n_cols):
        o.col[o.order[i], 2] = i
    n_rows = o.num[O_ROWS]
    for i in range(n_rows):
        o.sorted[i] = i
    sort(o.sorted, o.row, n_rows, 4)
    words = (n_cols + 63) // 64
    sid, cols, rows = hdr[N_SUMMARIES], hdr[N_COLS], hdr[N_ROWS]
    lists, at = hdr[N_LISTS], hdr[N_BITS]
    if (
        sid >= len(w.smm)
        or cols + n_cols > len(w.smc)
        or rows + n_rows > len(w.smr)
        or lists + 2 * n_must + n_cols * 4 > len(w.sml)
        or at + n_rows * words > len(w.smb)
    ):
        hd[STATUS] = GROW_WORLD
        return -1
    smm, smc, smr, sml, smb = w.smm, w.smc, w.smr, w.sml, w.smb
    entries = paths = region = 0
    for i in range(n_rows):
        r = o.sorted[i]
        for k in range(4):
            smr[rows + i, k] = o.row[r, k]
        smr[rows + i, SR_OWNER] = -1
        if o.row[r, SR_KIND] == CELL:
            smr[rows + i, SR_OWNER] = o.col[find(o.map, 0, o.row[r, SR_A], 0, 0), 2]
        for k in range(words):
            smb[at + i * words + k] = bits.ZERO
        for k in range(o.bits.shape[1]):
            x = o.bits[r, k]
            while x:
                c = o.col[64 * k + bits.lowest(x), 2]
                x &= x - bits.ONE
                smb[at + i * words + (c >> 6)] |= bits.ONE << np.uint64(c & 63)
                entries += 1
    for i in range(n_cols):
        gid = o.col[o.order[i], 0]
        kind = tok[gid, T_KIND]
        c = cols + i
        smc[c, SC_KIND] = CONSTANT
        smc[c, SC_TOKEN] = gid
        smc[c, SC_PARENT] = -1
        smc[c, SC_FIELD] = -1
        smc[c, SC_THROUGH] = -1
        smc[c, SC_N_REGION] = 0
        smc[c, SC_N_ALIAS] = 0
        smc[c, SC_UNIQUE] = 0
        smc[c, SC_REGION] = lists
        if kind == FORMAL and tok[gid, T_B] < 0:
            smc[c, SC_KIND] = ROOT
        elif kind == FORMAL:
            paths += 1
            smc[c, SC_KIND] = CHILD
            smc[c, SC_PARENT] = o.col[find(o.map, 0, tok[gid, T_B], 0, 0), 2]
            smc[c, SC_FIELD] = tok[gid, T_C]
        elif kind == DEEP:
            region = 1
            smc[c, SC_KIND] = REGION
            through = region_through(w, s, gid, level)
            if tok[gid, T_B]:
                other = intern(w, hd, DEEP, tok[gid, T_A], 0, -1)
                if other >= 0:
                    through = union(w, hd, region_through(w, s, other, level), through)
            smc[c, SC_THROUGH] = max(through, 0)
            for t in range(hd[T_COUNT]):
                if is_source(w, s, t, tok[gid, T_A], tok[gid, T_B], level):
                    if lists >= len(sml):
                        hd[STATUS] = GROW_WORLD
                        return -1
                    sml[lists] = o.col[find(o.map, 0, s.tk[t, TK_GID], 0, 0), 2]
                    lists += 1
            smc[c, SC_N_REGION] = lists - smc[c, SC_REGION]
        smc[c, SC_ALIAS] = lists
        if (kind == FORMAL and tok[gid, T_B] >= 0) or kind == DEEP:
            for r in range(n_rows):
                owner = smr[rows + r, SR_OWNER]
                if owner < 0 or not tok[smr[rows + r, SR_A], T_FLAGS] & OUTSIDE:
                    continue
                f = smr[rows + r, SR_C]
                if kind == DEEP:
                    good = meets(w, smc[c, SC_THROUGH], f)
                else:
                    good = reads_field(w, smc[c, SC_FIELD], f) if owner != smc[c, SC_PARENT] else 0
                if good:
                    if lists >= len(sml):
                        hd[STATUS] = GROW_WORLD
                        return -1
                    sml[lists] = r
                    lists += 1
            smc[c, SC_N_ALIAS] = lists - smc[c, SC_ALIAS]
    if hd[STATUS] or lists + 2 * n_must > len(sml):
        hd[STATUS] = GROW_WORLD
        return -1
    smm[sid, SM_MUST] = lists
    for i in range(n_must):
        gid = o.must[2 * i]
        sml[lists] = o.col[find(o.map, 0, gid, 0, 0), 2] if gid >= 0 else -1
        sml[lists + 1] = o.must[2 * i + 1]
        lists += 2
    smm[sid, SM_N_MUST] = n_must
    smm[sid, SM_COLS] = cols
    smm[sid, SM_N_COLS] = n_cols
    smm[sid, SM_ROWS] = rows
    smm[sid, SM_N_ROWS] = n_rows
    smm[sid, SM_BITS] = at
    smm[sid, SM_WORDS] = words
    smm[sid, SM_ENTRIES] = entries
    smm[sid, SM_PATHS] = paths
    smm[sid, SM_REGION] = region
    hdr[N_SUMMARIES] = sid + 1
    hdr[N_COLS] = cols + n_cols
    hdr[N_ROWS] = rows + n_rows
    hdr[N_LISTS] = lists
    hdr[N_BITS] = at + n_rows * words
    return sid


@kernel(INT(WORLD, STATE, OUT, INT, INT))
def export(w, s, o, level, n_must):
    """Number of the new summary of a method at a level; -1 with a status where there is no room, or it is over its cap.

    `o.must` holds n_must pairs (gid of a formal or -1, field): cells and static fields that are overwritten on every
    path to a return.
    """
    hd, ri = s.hd, s.ri
    hd[STATUS] = FINE
    for i in range(o.num[O_SLOTS]):
        o.map[o.slots[i], 5] = 0
    o.map[len(o.map) - 1, 0] = 0
    o.num[O_SLOTS] = 0
    o.num[O_COLS] = 0
    o.num[O_ROWS] = 0
    if not plan(w, s, o):
        return -1
    if level == 0:
        total = -hd[PLAN_COUNT]
        for i in range(hd[PLAN_COUNT]):
            if ri[o.plan[i, 0], R_KIND] == CELL:
                total += bits.count(s.rb, o.plan[i, 0])
        if total > hd[CAP]:
            hd[STATUS] = OVER_EXPORT
            return -1
    if not gather(w, s, o, level):
        return -1
    for i in range(n_must):
        if o.must[2 * i] >= 0:
            c = column(w, s, o, o.must[2 * i])
            if c < 0:
                return -1
            o.col[c, 1] = max(o.col[c, 1], 1)
    if not close(w, s, o, level):
        return -1
    return write_out(w, s, o, level, n_must)


@kernel(INT(WORLD, INT, INT))
def same(w, a, b):
    """Whether two summaries say the same."""
    smm, smc, smr = w.smm, w.smc, w.smr
    for k in (SM_N_COLS, SM_N_ROWS, SM_ENTRIES, SM_N_MUST):
        if smm[a, k] != smm[b, k]:
            return 0
    for i in range(smm[a, SM_N_COLS]):
        c, d = smm[a, SM_COLS] + i, smm[b, SM_COLS] + i
        for k in (SC_KIND, SC_TOKEN, SC_PARENT, SC_THROUGH, SC_N_REGION, SC_N_ALIAS):
            if smc[c, k] != smc[d, k]:
                return 0
        for j in range(smc[c, SC_N_REGION] + smc[c, SC_N_ALIAS]):
            if w.sml[smc[c, SC_REGION] + j] != w.sml[smc[d, SC_REGION] + j]:
                return 0
    for i in range(smm[a, SM_N_ROWS]):
        c, d = smm[a, SM_ROWS] + i, smm[b, SM_ROWS] + i
        for k in range(SR_COLUMNS):
            if smr[c, k] != smr[d, k]:
                return 0
    for i in range(smm[a, SM_N_ROWS] * smm[a, SM_WORDS]):
        if w.smb[smm[a, SM_BITS] + i] != w.smb[smm[b, SM_BITS] + i]:
            return 0
    for i in range(2 * smm[a, SM_N_MUST]):
        if w.sml[smm[a, SM_MUST] + i] != w.sml[smm[b, SM_MUST] + i]:
            return 0
    return 1
