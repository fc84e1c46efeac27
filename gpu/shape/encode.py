"""From the state of a method to its part of the encoded problem (`gpu.problem`; design.md 5)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from gpu import problem as pb
from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.cells import begin_again
from gpu.shape.code import blocks, write_blocks
from gpu.shape.export import plan
from gpu.shape.layout import (
    AGAIN,
    C_OP,
    CACHED,
    CALL,
    CELL,
    DATA,
    E_BLOCKS,
    E_COLS,
    E_ENTRIES,
    E_EXPORTS,
    E_NUMBER,
    E_PLACES,
    E_ROWS,
    F_FLAGS,
    FIELD_STAR,
    FINE,
    GROW_MAP,
    LABELS,
    M_CELL,
    M_ROW,
    M_SHARED,
    M_TOKEN,
    MISSED,
    MISSING,
    OWN_FIELD,
    P_KIND,
    P_OP,
    PER_BLOCKS,
    PER_COLS,
    PER_ENTRIES,
    PER_EXPORTS,
    PER_PLACES,
    PER_ROWS,
    PLAN_COUNT,
    R_A,
    R_B,
    R_C,
    R_COUNT,
    R_ENTRY,
    R_FILTER,
    R_KIND,
    S_FLAGS,
    SC_TOKEN,
    SINK,
    SITE_OWN_METHOD,
    SM_COLS,
    SM_N_COLS,
    SM_N_ROWS,
    SM_ROWS,
    SR_A,
    SR_B,
    SR_C,
    SR_KIND,
    STATIC,
    STATUS,
    T_COUNT,
    TABLE,
    TABLE_CELL,
    TK_GID,
    VALUE,
    X_ONE,
    X_VALUE,
)
from gpu.shape.links import everything, filter_mask, has_room, keep_filter, mask_of
from gpu.shape.maps import put
from gpu.shape.names import fold
from gpu.shape.signatures import CODE, ENCODING, FLOW, I4X2, I8, INT, OUT, STATE, WORLD


@kernel(INT(STATE, I4X2, I4X2))
def begin(s, named, kept):
    """Fills the map of a finished state again; the status.

    `named`: see `gpu.shape.method.start`; `kept`: entries of the old map that say more than the other arrays.
    """
    hd, ri = s.hd, s.ri
    hd[STATUS] = FINE
    hd[CACHED] = 0
    good = 1
    for t in range(hd[T_COUNT]):
        good &= put(s.mp, M_TOKEN, s.tk[t, TK_GID], 0, 0, t)
    for row in range(hd[R_COUNT]):
        kind = ri[row, R_KIND]
        if kind == CELL:
            good &= put(s.mp, M_CELL, ri[row, R_A], ri[row, R_B], 0, row)
        elif kind != VALUE:
            good &= put(s.mp, M_ROW + 256 * kind, ri[row, R_A], ri[row, R_B], ri[row, R_C], row)
    for i in range(len(kept)):
        good &= put(s.mp, kept[i, 0], kept[i, 1], kept[i, 2], kept[i, 3], kept[i, 4])
    for i in range(len(named)):
        if named[i, 5]:
            good &= put(s.mp, M_SHARED, named[i, 1], 0, 0, 1)
    if not good:
        hd[STATUS] = GROW_MAP
    return hd[STATUS]


@kernel(INT(STATE, INT, INT, INT), helper=True)
def is_left_out(s, row, first_spare, end_spare):
    """Whether a row is of no use: one that stays empty, or is the table's."""
    kind = s.ri[row, R_KIND]
    if kind == TABLE or kind == TABLE_CELL:
        return 1
    return 1 if first_spare <= row < end_spare and not bits.some(s.rb, row) else 0


@kernel(INT(STATE, ENCODING, INT, INT, INT), helper=True)
def number_rows(s, e, first_spare, end_spare, base):
    """Numbers rows: values, heap rows, channels. How many they are."""
    hd, ri = s.hd, s.ri
    n = 0
    for group in range(3):
        for row in range(hd[R_COUNT]):
            kind = ri[row, R_KIND]
            mine = pb.VALUE if kind == VALUE else pb.HEAP if kind == CELL or kind == STATIC else pb.CHANNEL
            if group == 0:
                e.map[row] = -1
            if mine != group or is_left_out(s, row, first_spare, end_spare):
                continue
            if not has_room(s, e, base + n, len(e.row)):
                return 0
            e.map[row] = n
            e.row[base + n, 0] = mine
            e.row[base + n, 2] = row
            e.row[base + n, 3] = kind
            n += 1
    return n


@kernel(INT(WORLD, STATE, ENCODING, INT, INT), helper=True)
def write_rows(w, s, e, base, n):
    """Masks of rows, and what they hold on entry."""
    ri, tmp, cnt = s.ri, s.tmp, e.cnt
    for i in range(n):
        row = e.row[base + i, 2]
        m = -1
        if ri[row, R_FILTER] != -1:
            everything(s.hd, tmp)
            bits.copy(tmp, X_VALUE, tmp, X_ONE)
            keep_filter(w, s, ri[row, R_FILTER])
            m = filter_mask(s, e, tmp, X_VALUE)
        e.row[base + i, 1] = m
        at = ri[row, R_ENTRY]
        if at < 0:
            continue
        for k in range(s.eb.shape[1]):
            x = s.eb[at, k]
            while x:
                if not has_room(s, e, cnt[E_ENTRIES], len(e.entry)):
                    return 0
                e.entry[cnt[E_ENTRIES], 0] = i
                e.entry[cnt[E_ENTRIES], 1] = 64 * k + bits.lowest(x)
                cnt[E_ENTRIES] += 1
                x &= x - bits.ONE
    cnt[E_ROWS] = base + n
    return 1


@kernel(INT(WORLD, INT, INT), helper=True)
def export_column(w, sid, gid):
    """Export column of a token in a summary that was written for a method, whose columns are sorted; or -1."""
    first = w.smm[sid, SM_COLS]
    low, high = first, first + w.smm[sid, SM_N_COLS]
    while low < high:
        middle = (low + high) >> 1
        if w.smc[middle, SC_TOKEN] < gid:
            low = middle + 1
        else:
            high = middle
    return low - first if low < first + w.smm[sid, SM_N_COLS] and w.smc[low, SC_TOKEN] == gid else -1


@kernel(INT(WORLD, INT, INT, INT, INT, INT), helper=True)
def export_row(w, sid, kind, a, b, c):
    """Export row of a name in such a summary, or -1."""
    smr, first = w.smr, w.smm[sid, SM_ROWS]
    end = first + w.smm[sid, SM_N_ROWS]
    low, high = first, end
    while low < high:
        i = (low + high) >> 1
        less = smr[i, SR_KIND] < kind
        if smr[i, SR_KIND] == kind:
            less = smr[i, SR_A] < a
            if smr[i, SR_A] == a:
                less = smr[i, SR_B] < b or (smr[i, SR_B] == b and smr[i, SR_C] < c)
        if less:
            low = i + 1
        else:
            high = i
    if low < end and smr[low, SR_KIND] == kind and smr[low, SR_A] == a and smr[low, SR_B] == b and smr[low, SR_C] == c:
        return low - first
    return -1


@kernel(INT(WORLD, STATE, ENCODING, INT, INT), helper=True)
def write_columns(w, s, e, sid, level):
    """Flags of columns, and the export column of each."""
    for t in range(s.hd[T_COUNT]):
        n = e.cnt[E_COLS]
        if not has_room(s, e, n, len(e.col)):
            return 0
        flag = pb.DATA if bits.has(s.mk, DATA, t) else 0
        e.col[n, 0] = flag | (pb.LABEL if bits.has(s.mk, LABELS, t) else 0)
        e.col[n, 1] = export_column(w, sid, fold(w, s.hd, s.tk[t, TK_GID], level))
        e.cnt[E_COLS] = n + 1
    return 1


@kernel(INT(WORLD, STATE, ENCODING, OUT, INT, INT), helper=True)
def write_exports(w, s, e, o, sid, level):
    """Which rows of the method become which rows of its summary."""
    ri, cnt = s.ri, e.cnt
    if not plan(w, s, o):
        return 0
    for i in range(s.hd[PLAN_COUNT]):
        row = o.plan[i, 0]
        kind, a, b, c = ri[row, R_KIND], ri[row, R_A], ri[row, R_B], ri[row, R_C]
        if e.map[row] < 0:
            continue
        if kind == CELL:
            f = b
            if level >= 2 and not w.fld[b, F_FLAGS] & OWN_FIELD:
                f = w.hdr[FIELD_STAR]
            a, b, c = fold(w, s.hd, s.tk[a, TK_GID], level), 0, f
        elif kind == SINK and level >= 2 and (b < 0 or not w.site[b, S_FLAGS] & SITE_OWN_METHOD):
            b = -1
        to = export_row(w, sid, kind, a, b, c)
        if to < 0:
            continue
        m = -1
        if kind == SINK:
            bits.copy(s.tmp, X_ONE, s.mk, DATA)
            bits.remove(s.tmp, X_ONE, s.mk, LABELS)
            m = mask_of(s, e)
        n = cnt[E_EXPORTS]
        if not has_room(s, e, n, len(e.export)):
            return 0
        e.export[n, 0] = e.map[row]
        e.export[n, 1] = to
        e.export[n, 2] = o.plan[i, 1]
        e.export[n, 3] = m
        cnt[E_EXPORTS] = n + 1
    return 1


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, OUT, I8))
def encode(w, s, code, flow, e, o, what):
    """Writes a method behind the others; the status, after which it is to be done again from the same place.

    `what`: (first row that is left out if empty, end of these, number of the summary, its level).
    """
    hd, cnt, prm = s.hd, e.cnt, code.prm
    hd[STATUS] = FINE
    hd[MISSED] = 0
    begin_again(w, s)
    rows, tokens = hd[R_COUNT], hd[T_COUNT]
    base = cnt[E_ROWS]
    n = number_rows(s, e, what[0], what[1], base)
    for op in range(len(flow.throws)):
        e.first[op] = -1
    for p in range(len(prm) - 1, -1, -1):
        op = code.cal[prm[p, P_OP], C_OP] if prm[p, P_KIND] == CALL else prm[p, P_OP]
        e.next[p] = e.first[op]
        e.first[op] = p
    if hd[STATUS] == FINE:
        blocks(w, s, code, flow, e)
    if hd[STATUS] == FINE and not hd[MISSED]:
        write_blocks(s, flow, e)
        write_columns(w, s, e, what[2], what[3])
        write_rows(w, s, e, base, n)
        write_exports(w, s, e, o, what[2], what[3])
    if hd[STATUS]:
        return hd[STATUS]
    if hd[MISSED]:
        return MISSING
    if hd[R_COUNT] != rows or hd[T_COUNT] != tokens:
        return AGAIN
    at = cnt[E_NUMBER]
    e.per[at, PER_COLS] = cnt[E_COLS]
    e.per[at, PER_ROWS] = cnt[E_ROWS]
    e.per[at, PER_ENTRIES] = cnt[E_ENTRIES]
    e.per[at, PER_BLOCKS] = cnt[E_BLOCKS]
    e.per[at, PER_EXPORTS] = cnt[E_EXPORTS]
    e.per[at, PER_PLACES] = cnt[E_PLACES]
    cnt[E_NUMBER] = at + 1
    return FINE
