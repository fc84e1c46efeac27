"""From the state of a method to its part of the encoded problem (`gpu.problem`; design.md 5)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu import problem as pb
from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.calls import add_image, effect, of_library, of_target, split, static_kind, substitute
from gpu.shape.cells import begin_again, fits, mask, place, token
from gpu.shape.export import plan
from gpu.shape.layout import (
    AGAIN,
    C_ARGS,
    C_DISPATCHED,
    C_DST,
    C_LIBRARY,
    C_MARKED,
    C_N_ARGS,
    C_N_TARGETS,
    C_N_THROWN,
    C_OP,
    C_RETURN,
    C_SITE,
    C_TARGETS,
    C_THROWN,
    CACHED,
    CALL,
    CELL,
    CELL_DATA,
    CHILD,
    CONSTANT,
    DATA,
    DATA_ONLY,
    E_APPLIED,
    E_APPS,
    E_BINDS,
    E_BLOCKS,
    E_CALLS,
    E_CLEARS,
    E_COLS,
    E_CONSTANTS,
    E_DRAFTS,
    E_EDGES,
    E_ENTRIES,
    E_EXPORTS,
    E_LINKS,
    E_MASK_COLS,
    E_MASKS,
    E_NODES,
    E_NUMBER,
    E_OPS,
    E_PAIRS,
    E_PLACES,
    E_ROWS,
    E_SERIAL,
    E_SUCCS,
    E_WRITES,
    F_FLAGS,
    F_WILD,
    FIELD_ANY,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FIELD_ELEM,
    FIELD_OUTER,
    FIELD_STAR,
    FINE,
    GEN,
    GROW_ENCODED,
    GROW_MAP,
    HERE,
    LABELS,
    LOAD,
    M_CELL,
    M_ROW,
    M_SHARED,
    M_TOKEN,
    MERGE_KEYS,
    MISSED,
    MISSING,
    MT_SUMMARY,
    NODE_EDGE,
    NODE_END,
    NODE_FIRST,
    NODE_LAST,
    NODE_NUMBER,
    OP_CLEAR,
    OP_DST,
    OP_EXTRA,
    OP_KIND,
    OP_LINK,
    OP_MASK,
    OP_ORIGIN,
    OP_SRC,
    OR,
    OWN_FIELD,
    P_DST,
    P_FIELD,
    P_FILTER,
    P_KEY,
    P_KIND,
    P_OP,
    P_SRC,
    P_STATIC,
    P_VALUE,
    PER_BLOCKS,
    PER_COLS,
    PER_ENTRIES,
    PER_EXIT,
    PER_EXPORTS,
    PER_PLACES,
    PER_ROWS,
    PLAN_COUNT,
    PSEUDO_FIELD,
    R_A,
    R_B,
    R_C,
    R_COUNT,
    R_ENTRY,
    R_FILTER,
    R_KIND,
    R_NEXT,
    RETURN,
    RETURN_DATA,
    ROOT,
    S_FLAGS,
    SC_FIELD,
    SC_KIND,
    SC_N_REGION,
    SC_PARENT,
    SC_REGION,
    SC_THROUGH,
    SC_TOKEN,
    SINK,
    SITE_OWN_METHOD,
    SM_BITS,
    SM_COLS,
    SM_N_COLS,
    SM_N_ROWS,
    SM_ROWS,
    SM_WORDS,
    SR_A,
    SR_B,
    SR_C,
    SR_KIND,
    SR_OWNER,
    STATIC,
    STATUS,
    STORE,
    T_A,
    T_COUNT,
    TABLE,
    TABLE_CELL,
    TABLE_GET,
    THROWN,
    TK_CELLS,
    TK_GID,
    VALUE,
    X_MASK,
    X_ONE,
    X_VALUE,
)
from gpu.shape.maps import find, mix, put
from gpu.shape.names import fold, meets
from gpu.shape.signatures import CODE, ENCODING, FLOW, I4X2, I8, INT, OUT, STATE, U8X2, WORLD


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


# ---------------------------------------------------------------------------------------------- masks and links


@kernel(INT(STATE, ENCODING, INT, INT), helper=True)
def has_room(s, e, n, size):
    """Whether there is room for one more; else that is the status."""
    if n + 1 < size:
        return 1
    s.hd[STATUS] = GROW_ENCODED
    return 0


@kernel("void(int64[::1], uint64[:, ::1])", helper=True)
def everything(hd, tmp):
    """Row X_ONE = all tokens."""
    n = hd[T_COUNT]
    for k in range(tmp.shape[1]):
        left = n - 64 * k
        tmp[X_ONE, k] = ~bits.ZERO if left >= 64 else (bits.ONE << np.uint64(max(left, 0))) - bits.ONE


@kernel(INT(WORLD, STATE, INT), helper=True)
def keep_filter(w, s, filter_):
    """Row X_ONE &= what passes a filter."""
    if filter_ != -1:
        m = mask(w, s, filter_)
        if m >= 0:
            bits.keep(s.tmp, X_ONE, s.mk, m)
    return 1


@kernel(INT(STATE, ENCODING), helper=True)
def mask_of(s, e):
    """Number of the mask that lets row X_ONE pass, new or known."""
    tmp, cnt = s.tmp, e.cnt
    h = g = np.int64(0)
    n = 0
    for k in range(tmp.shape[1]):
        x = tmp[X_ONE, k]
        n += bits.count_word(x)
        word = np.int64(x)
        if word:
            h = mix(h, k, word & 0xFFFFFFFF, word >> 32)
            g = mix(g, word >> 32, k, word & 0xFFFFFFFF)
    salt = 0
    while True:
        found = find(e.known, 2 * cnt[E_SERIAL], h, g, salt)
        if found < 0:
            break
        first = e.mask_end[found - 1] if found else 0
        same = e.mask_end[found] - first == n
        if same:
            for i in range(first, e.mask_end[found]):
                if not bits.has(tmp, X_ONE, e.mask[i]):
                    same = False
                    break
        if same:
            return found
        salt += 1
    new, at = cnt[E_MASKS], cnt[E_MASK_COLS]
    if not has_room(s, e, new, len(e.mask_end)) or not has_room(s, e, at + n, len(e.mask)):
        return 0
    if not put(e.known, 2 * cnt[E_SERIAL], h, g, salt, new):
        s.hd[STATUS] = GROW_ENCODED
        return 0
    for k in range(tmp.shape[1]):
        x = tmp[X_ONE, k]
        while x:
            e.mask[at] = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            at += 1
    e.mask_end[new] = at
    cnt[E_MASK_COLS] = at
    cnt[E_MASKS] = new + 1
    return new


@kernel(INT(STATE, ENCODING, U8X2, INT), helper=True)
def filter_mask(s, e, a, i):
    """Mask for row X_ONE; -1 where it holds nothing back of what row i of a may bring."""
    for k in range(a.shape[1]):
        if a[i, k] & ~s.tmp[X_ONE, k]:
            return mask_of(s, e)
    return -1


@kernel(INT(STATE, ENCODING, INT, INT), helper=True)
def pair(s, e, t, row):
    """Adds a pair to the link at hand."""
    n = e.cnt[E_PAIRS]
    if not has_room(s, e, n, len(e.link)):
        return 0
    e.link[n, 0] = t
    e.link[n, 1] = e.map[row]
    e.cnt[E_PAIRS] = n + 1
    return 1


@kernel(INT(STATE, ENCODING), helper=True)
def close_link(s, e):
    """Number of the link at hand, new or known."""
    cnt, link = e.cnt, e.link
    new, end = cnt[E_LINKS], cnt[E_PAIRS]
    first = e.link_end[new - 1] if new else 0
    h = g = np.int64(0)
    for i in range(first, end):
        h = mix(h, link[i, 0], link[i, 1], i - first)
        g = mix(link[i, 1], g, link[i, 0], 5)
    salt = 0
    while True:
        found = find(e.known, 2 * cnt[E_SERIAL] + 1, h, g, salt)
        if found < 0:
            break
        at = e.link_end[found - 1] if found else 0
        same = e.link_end[found] - at == end - first
        if same:
            for i in range(end - first):
                if link[at + i, 0] != link[first + i, 0] or link[at + i, 1] != link[first + i, 1]:
                    same = False
                    break
        if same:
            cnt[E_PAIRS] = first
            return found
        salt += 1
    if not has_room(s, e, new, len(e.link_end)):
        return 0
    if not put(e.known, 2 * cnt[E_SERIAL] + 1, h, g, salt, new):
        s.hd[STATUS] = GROW_ENCODED
        return 0
    e.link_end[new] = end
    cnt[E_LINKS] = new + 1
    return new


@kernel(INT(WORLD, STATE, ENCODING, U8X2, INT, INT), helper=True)
def read_link(w, s, e, a, i, f):
    """Link to the cells that a read of field f of the tokens in row i of a reads."""
    hdr, fld, ri = w.hdr, w.fld, s.ri
    outer = f == hdr[FIELD_OUTER]
    wild = f == hdr[FIELD_ANY] or f == hdr[FIELD_ELEM]
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            if fits(w, s, t, f) <= 0:
                continue
            if outer or wild:
                row = s.tk[t, TK_CELLS]
                while row >= 0:
                    g = ri[row, R_B]
                    if outer:
                        good = fld[g, F_FLAGS] & PSEUDO_FIELD and g != hdr[FIELD_BELOW] and g != hdr[FIELD_BELOW_OWN]
                    else:
                        good = g == f or g == hdr[FIELD_STAR] or fld[g, F_WILD] == f
                    if good:
                        pair(s, e, t, row)
                    row = ri[row, R_NEXT]
                continue
            row = find(s.mp, M_CELL, t, f, 0)
            if row >= 0:
                pair(s, e, t, row)
            if fld[f, F_FLAGS] & OWN_FIELD:
                continue
            row = find(s.mp, M_CELL, t, hdr[FIELD_STAR], 0) if f != hdr[FIELD_STAR] else -1
            if row >= 0:
                pair(s, e, t, row)
            row = find(s.mp, M_CELL, t, fld[f, F_WILD], 0) if fld[f, F_WILD] >= 0 else -1
            if row >= 0:
                pair(s, e, t, row)
    return close_link(s, e)


@kernel(INT(WORLD, STATE, ENCODING, U8X2, INT, INT), helper=True)
def write_link(w, s, e, a, i, f):
    """Link to the cells f of the tokens in row i of a; where keys are merged, to those of its wild card."""
    if s.hd[MERGE_KEYS] and w.fld[f, F_WILD] == w.hdr[FIELD_ELEM]:
        f = w.hdr[FIELD_ELEM]
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            row = find(s.mp, M_CELL, t, f, 0)
            if row >= 0:
                pair(s, e, t, row)
    return close_link(s, e)


@kernel(INT(WORLD, STATE, ENCODING, INT), helper=True)
def wide_link(w, s, e, through):
    """Link to the cells that a read through some fields reads of the tokens in row X_VALUE."""
    for k in range(s.tmp.shape[1]):
        x = s.tmp[X_VALUE, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            row = s.tk[t, TK_CELLS]
            while row >= 0:
                if meets(w, through, s.ri[row, R_B]):
                    pair(s, e, t, row)
                row = s.ri[row, R_NEXT]
    return close_link(s, e)


# ------------------------------------------------------------------------------------------------------- calls


@kernel(INT(WORLD, INT), helper=True)
def writes_heap(w, sid):
    """Whether a summary writes cells or static fields."""
    first = w.smm[sid, SM_ROWS]
    for r in range(first, first + w.smm[sid, SM_N_ROWS]):
        kind = w.smr[r, SR_KIND]
        if kind == CELL or kind == CELL_DATA or kind == STATIC:
            return 1
    return 0


@kernel(INT(STATE, ENCODING, INT, INT), helper=True)
def note_applied(s, e, target, sid):
    """Adds to what the call at hand applies."""
    n = e.cnt[E_APPLIED]
    if has_room(s, e, n, len(e.applied)):
        e.applied[n, 0] = target
        e.applied[n, 1] = sid
        e.cnt[E_APPLIED] = n + 1
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT), helper=True)
def look_up(w, s, code, e, c):
    """Finds what a call applies: `applied`. 0 where something has to be asked first."""
    cal = code.cal
    e.cnt[E_APPLIED] = 0
    dispatched = cal[c, C_DISPATCHED]
    if dispatched:
        split(w, s, code, c)
    for i in range(cal[c, C_TARGETS], cal[c, C_TARGETS] + cal[c, C_N_TARGETS]):
        target = code.lst[i]
        if not dispatched or of_target(w, s, code, c, target):
            note_applied(s, e, target, w.mth[target, MT_SUMMARY])
    if cal[c, C_LIBRARY] or cal[c, C_MARKED]:
        if not dispatched or of_library(w, s, code, c):
            sid = effect(w, s, code, c)
            if sid < 0:
                return 0
            note_applied(s, e, -1, sid)
    return 1


@kernel(INT(STATE, ENCODING, INT), helper=True)
def constant_number(s, e, sid):
    """Number of a summary that does not change while solving."""
    found = e.constant_of[sid]
    if found < 0:
        found = e.cnt[E_CONSTANTS]
        if not has_room(s, e, found, len(e.constant)):
            return 0
        e.constant_of[sid] = found
        e.constant[found] = sid
        e.cnt[E_CONSTANTS] = found + 1
    return len(e.per) + found


@kernel(INT(STATE, ENCODING, INT, INT, INT), helper=True)
def add_bind(s, e, at, link, m):
    """Adds the binding of an export column."""
    n = e.cnt[E_BINDS]
    if has_room(s, e, n, len(e.bind)):
        e.bind[n, 0] = at
        e.bind[n, 1] = link
        e.bind[n, 2] = m
        e.cnt[E_BINDS] = n + 1
    return 1


@kernel(INT(STATE, ENCODING, INT, INT, INT), helper=True)
def add_write(s, e, row, link, m):
    """Adds the destination of an export row."""
    n = e.cnt[E_WRITES]
    if has_room(s, e, n, len(e.write)):
        e.write[n, 0] = row
        e.write[n, 1] = link
        e.write[n, 2] = m
        e.cnt[E_WRITES] = n + 1
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT), helper=True)
def bind_root(w, s, code, e, c, column):
    """Binding of a root formal, which stands in a column of the summary; the substitution says what may be bound."""
    cal = code.cal
    root = w.tok[w.smc[column, SC_TOKEN], T_A]
    if root < 0:
        f = (-1 - root) * 2
        row = find(s.mp, M_ROW + 256 * static_kind(w, f), f, 0, 0)
        return add_bind(s, e, e.map[row] if row >= 0 else -1, -1, -1)
    if root >= cal[c, C_N_ARGS] or code.lst[cal[c, C_ARGS] + root] < 0:
        return add_bind(s, e, -1, -1, -1)
    return -1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT), helper=True)
def bindings(w, s, code, e, c, sid):
    """How the export columns of a summary are bound at a call; `substitute` comes first."""
    smc, sg, tmp = w.smc, s.sg, s.tmp
    first = w.smm[sid, SM_COLS]
    for i in range(w.smm[sid, SM_N_COLS]):
        column = first + i
        kind = smc[column, SC_KIND]
        if kind == CONSTANT:
            t = np.int64(-1)
            for k in range(sg.shape[1]):
                if sg[i, k]:
                    t = 64 * k + bits.lowest(sg[i, k])
            add_bind(s, e, t, -1, -1)
        elif kind == ROOT:
            if bind_root(w, s, code, e, c, column) < 0:
                value = code.lst[code.cal[c, C_ARGS] + w.tok[smc[column, SC_TOKEN], T_A]]
                bits.copy(tmp, X_ONE, sg, i)
                add_bind(s, e, e.map[value], -1, filter_mask(s, e, s.rb, value))
        elif kind == CHILD:
            add_bind(s, e, -1, read_link(w, s, e, sg, smc[column, SC_PARENT], smc[column, SC_FIELD]), -1)
        else:
            bits.copy(tmp, X_VALUE, sg, i)
            for at in range(smc[column, SC_REGION], smc[column, SC_REGION] + smc[column, SC_N_REGION]):
                bits.join(tmp, X_VALUE, sg, w.sml[at])
            add_bind(s, e, -1, wide_link(w, s, e, smc[column, SC_THROUGH]), -1)
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT, INT), helper=True)
def destinations(w, s, code, e, c, sid, heap_only):
    """Where the export rows of a summary go at a call; `substitute` comes first."""
    smm, smr, cal, tmp, sg = w.smm, w.smr, code.cal, s.tmp, s.sg
    words = smm[sid, SM_WORDS]
    for r in range(smm[sid, SM_N_ROWS]):
        row = smm[sid, SM_ROWS] + r
        kind = smr[row, SR_KIND]
        bits.clear(tmp, X_VALUE)
        add_image(tmp, X_VALUE, sg, w.smb, smm[sid, SM_BITS] + r * words, words)
        if kind == CELL or kind == CELL_DATA:
            m = -1
            if kind == CELL_DATA:
                bits.copy(tmp, X_ONE, s.mk, DATA)
                m = filter_mask(s, e, tmp, X_VALUE)
            add_write(s, e, pb.TO_CELLS, write_link(w, s, e, sg, smr[row, SR_OWNER], smr[row, SR_C]), m)
            continue
        to = -1
        filter_ = -1
        if heap_only and kind != STATIC:
            to = -1
        elif kind == RETURN or kind == RETURN_DATA:
            to = cal[c, C_DST]
            filter_ = DATA_ONLY if kind == RETURN_DATA else cal[c, C_RETURN]
        elif kind == THROWN:
            if cal[c, C_N_THROWN]:
                to = code.lst[cal[c, C_THROWN]]
        else:
            b = cal[c, C_SITE] if kind == SINK and smr[row, SR_B] == HERE else smr[row, SR_B]
            to = find(s.mp, M_ROW + 256 * kind, smr[row, SR_A], b, smr[row, SR_C])
        if to < 0 or e.map[to] < 0:
            add_write(s, e, pb.DROPPED, -1, -1)
            continue
        everything(s.hd, tmp)
        keep_filter(w, s, filter_)
        add_write(s, e, e.map[to], -1, filter_mask(s, e, tmp, X_VALUE))
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT), helper=True)
def applications(w, s, code, e, c, heap_only):
    """Number of a call with what it applies (`look_up` comes first); `heap_only`: shape effects on the heap alone."""
    cal, cnt = code.cal, e.cnt
    for i in range(cnt[E_APPLIED]):
        target, sid = e.applied[i, 0], e.applied[i, 1]
        if w.smm[sid, SM_N_ROWS] == 0 or (heap_only and not writes_heap(w, sid)):
            continue
        if not cal[c, C_DISPATCHED]:
            for k in range(s.tmp.shape[1]):
                s.tmp[X_MASK, k] = ~bits.ZERO
        elif target >= 0:
            of_target(w, s, code, c, target)
        else:
            of_library(w, s, code, c)
        if not substitute(w, s, code, c, target, sid):
            return 0
        n = cnt[E_APPS]
        if not has_room(s, e, n, len(e.app)):
            return 0
        bindings(w, s, code, e, c, sid)
        destinations(w, s, code, e, c, sid, heap_only)
        e.app[n, 0] = e.number[target] if target >= 0 and not heap_only else constant_number(s, e, sid)
        e.app[n, 1] = cnt[E_BINDS]
        e.app[n, 2] = cnt[E_WRITES]
        cnt[E_APPS] = n + 1
        if s.hd[STATUS]:
            return 0
    n = cnt[E_CALLS]
    if not has_room(s, e, n, len(e.call_end)):
        return 0
    e.call_end[n] = cnt[E_APPS]
    cnt[E_CALLS] = n + 1
    return n


# -------------------------------------------------------------------------------------------------------- code


@kernel(INT(ENCODING), helper=True)
def new_node(e):
    """A new block, empty."""
    n = e.cnt[E_NODES]
    e.node[n, NODE_FIRST] = 0
    e.node[n, NODE_END] = 0
    e.node[n, NODE_EDGE] = -1
    e.node[n, NODE_LAST] = -1
    e.node[n, NODE_NUMBER] = -1
    e.cnt[E_NODES] = n + 1
    return n


@kernel(INT(ENCODING, INT, INT), helper=True)
def add_edge(e, a, b):
    """Adds a successor to a block."""
    n = e.cnt[E_EDGES]
    e.edge[n, 0] = b
    e.edge[n, 1] = -1
    if e.node[a, NODE_EDGE] < 0:
        e.node[a, NODE_EDGE] = n
    else:
        e.edge[e.node[a, NODE_LAST], 1] = n
    e.node[a, NODE_LAST] = n
    e.cnt[E_EDGES] = n + 1
    return n


@kernel(INT(STATE, ENCODING, INT, INT, INT, INT, INT, INT, INT, INT), helper=True)
def emit(s, e, node, kind, dst, src, link, m, origin, clearing):
    """Adds an operation to a block, whose operations are added without a break; `clearing`: a primitive, or -1."""
    n = e.cnt[E_DRAFTS]
    if not has_room(s, e, n, len(e.draft)):
        return 0
    if e.node[node, NODE_END] == 0:
        e.node[node, NODE_FIRST] = n
    e.node[node, NODE_END] = n + 1
    draft = e.draft
    draft[n, OP_KIND] = kind
    draft[n, OP_DST] = dst
    draft[n, OP_SRC] = src
    draft[n, OP_LINK] = link
    draft[n, OP_MASK] = m
    draft[n, OP_ORIGIN] = origin
    draft[n, OP_EXTRA] = 0
    draft[n, OP_CLEAR] = clearing
    e.cnt[E_DRAFTS] = n + 1
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT), helper=True)
def leave(w, s, code, e, now, call_number):
    """Ends a block before an operation that may throw; the block that goes on. `call_number`: a call that changes.

    The block's state reaches the range, which is the caller's to connect; before a call that changes the heap, so does
    the state after the callees' shape effects, which are applied weakly in a block of their own: node + 1, or none.
    """
    after = new_node(e)
    add_edge(e, now, after)
    if call_number < 0:
        return after
    some = 0
    for i in range(e.cnt[E_APPLIED]):
        some |= writes_heap(w, e.applied[i, 1])
    if some:
        node = new_node(e)
        number = applications(w, s, code, e, call_number, 1)
        emit(s, e, node, pb.APPLY, number, 0, -1, -1, code.cal[call_number, C_OP], -1)
        e.draft[e.cnt[E_DRAFTS] - 1, OP_EXTRA] = 1
        add_edge(e, now, node)
    return after


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT), helper=True)
def call_op(w, s, code, flow, e, node, p):
    """Writes a call into a block."""
    c = code.prm[p, P_OP]
    clears = flow.clear_off[p + 1] > flow.clear_off[p]
    some = False
    for i in range(e.cnt[E_APPLIED]):
        if w.smm[e.applied[i, 1], SM_N_ROWS]:
            some = True
    if not some and not clears:
        return 0
    origin = code.cal[c, C_OP]
    emit(s, e, node, pb.APPLY, applications(w, s, code, e, c, 0), 0, -1, -1, origin, p if clears else -1)
    if code.cal[c, C_N_THROWN] == 2:
        at = code.cal[c, C_THROWN]
        a, b = e.map[code.lst[at]], e.map[code.lst[at + 1]]
        if a >= 0 and b >= 0:
            emit(s, e, node, pb.OR, b, a, -1, -1, origin, -1)
    return 1


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT), helper=True)
def primitive(w, s, code, flow, e, node, p):
    """Writes a primitive that is no call into a block; one that can do nothing is left out."""
    prm, tmp = code.prm, s.tmp
    kind, op, dst, src, value = prm[p, P_KIND], prm[p, P_OP], prm[p, P_DST], prm[p, P_SRC], prm[p, P_VALUE]
    clears = flow.clear_off[p + 1] > flow.clear_off[p]
    clearing = p if clears else -1
    to = e.map[dst] if dst >= 0 else -1
    if kind == GEN:
        if to >= 0:
            emit(s, e, node, pb.GENERATE, to, token(w, s, prm[p, P_KEY]), -1, -1, op, -1)
    elif kind == TABLE_GET:
        at = place(w, s, P_STATIC, prm[p, P_FIELD], 0)
        if at >= 0 and to >= 0:
            for i in range(at + 1, at + 1 + w.lists[at]):
                emit(s, e, node, pb.GENERATE, to, token(w, s, w.lists[i]), -1, -1, op, -1)
    elif kind == OR:
        if to >= 0 and src >= 0 and e.map[src] >= 0:
            everything(s.hd, tmp)
            keep_filter(w, s, prm[p, P_FILTER])
            keep_filter(w, s, s.ri[dst, R_FILTER])
            if clears or bits.meet(s.rb, src, tmp, X_ONE):
                emit(s, e, node, pb.OR, to, e.map[src], -1, filter_mask(s, e, s.rb, src), op, clearing)
    elif kind == LOAD:
        base = e.map[src]
        emit(s, e, node, pb.LOAD, to, base, read_link(w, s, e, s.rb, src, prm[p, P_FIELD]), -1, op, -1)
        if bits.meet(s.rb, src, s.mk, LABELS):
            bits.copy(tmp, X_ONE, s.mk, LABELS)
            emit(s, e, node, pb.OR, to, base, -1, filter_mask(s, e, s.rb, src), op, -1)
    elif kind == STORE:
        if bits.some(s.rb, src) and (clears or bits.some(s.rb, value)):
            link = write_link(w, s, e, s.rb, src, prm[p, P_FIELD])
            emit(s, e, node, pb.STORE, e.map[value], e.map[src], link, -1, op, clearing)
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT), helper=True)
def changes_heap(w, s, code, e, p):
    """Whether a primitive may change the heap; of a call, `look_up` comes first."""
    kind = code.prm[p, P_KIND]
    if kind == CALL:
        for i in range(e.cnt[E_APPLIED]):
            if writes_heap(w, e.applied[i, 1]):
                return 1
        return 0
    return 1 if kind == STORE or (kind == OR and s.ri[code.prm[p, P_DST], R_KIND] == STATIC) else 0


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT, INT), helper=True)
def operation(w, s, code, flow, e, op, now, fresh_range):
    """Writes one operation. Returns the block that goes on, twice, plus whether the next throw begins a new block.

    `fresh_range`: node of the range that covers the operation, twice, plus whether its state is news to it; or -1.
    """
    fresh = fresh_range & 1 if fresh_range >= 0 else 0
    call_number = np.int64(-1)
    p = e.first[op]
    changes = 0
    while p >= 0:
        if code.prm[p, P_KIND] == CALL:
            call_number = code.prm[p, P_OP]
            if not look_up(w, s, code, e, call_number):
                return 2 * now + fresh
        changes |= changes_heap(w, s, code, e, p)
        p = e.next[p]
    if fresh_range >= 0 and flow.throws[op] and (fresh or changes):
        before = now
        now = leave(w, s, code, e, before, call_number if changes else -1)
        if e.cnt[E_NODES] == now + 2:  # a block with the effects on the way
            add_edge(e, now + 1, fresh_range >> 1)
        add_edge(e, before, fresh_range >> 1)
        fresh = changes
    at = e.cnt[E_PLACES] + op
    e.place[at, 0] = now
    e.place[at, 1] = e.node[now, NODE_END] - e.node[now, NODE_FIRST]
    p = e.first[op]
    while p >= 0:
        if code.prm[p, P_KIND] == CALL:
            call_op(w, s, code, flow, e, now, p)
        else:
            primitive(w, s, code, flow, e, now, p)
        if s.hd[STATUS]:
            return 2 * now + fresh
        p = e.next[p]
    return 2 * now + fresh


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING), helper=True)
def blocks(w, s, code, flow, e):
    """Lays out blocks. A block that a try range covers is split where its state changes between throws."""
    cnt = e.cnt
    n_blocks, n_ranges = len(flow.ops) - 1, len(flow.range_off) - 1
    cnt[E_NODES] = cnt[E_EDGES] = cnt[E_DRAFTS] = 0
    for _ in range(2 + n_blocks + n_ranges):
        new_node(e)
    end = 1 + n_blocks + n_ranges
    add_edge(e, 0, 1)
    for r in range(n_ranges):
        for i in range(flow.range_off[r], flow.range_off[r + 1]):
            known = False
            for j in range(flow.range_off[r], i):
                known |= flow.handler[j] == flow.handler[i]
            if not known:
                add_edge(e, 1 + n_blocks + r, 1 + flow.handler[i])
    for b in range(n_blocks):
        now = 1 + b
        covered = flow.range[b]
        fresh = 1
        leaves = -1
        for op in range(flow.ops[b], flow.ops[b + 1]):
            where = 2 * (1 + n_blocks + covered) + fresh if covered >= 0 else -1
            after = operation(w, s, code, flow, e, op, now, where)
            if s.hd[STATUS]:
                return 0
            now, fresh = after >> 1, after & 1
            if flow.returns[op]:
                leaves = now
        for i in range(flow.succ_off[b], flow.succ_off[b + 1]):
            add_edge(e, now, 1 + flow.succ[i])
        if leaves >= 0:
            add_edge(e, leaves, end)
    return 1


@kernel(INT(ENCODING), helper=True)
def number_blocks(e):
    """Numbers the blocks that are reached in reverse post-order: `order`, and how many they are."""
    node, stack = e.node, e.stack
    n = e.cnt[E_NODES]
    found = 0
    top = 0
    stack[0, 0] = 0
    stack[0, 1] = node[0, NODE_EDGE]
    node[0, NODE_NUMBER] = -2
    while top >= 0:
        edge = stack[top, 1]
        if edge < 0:
            found += 1
            e.order[n - found] = stack[top, 0]
            top -= 1
            continue
        stack[top, 1] = e.edge[edge, 1]
        to = e.edge[edge, 0]
        if node[to, NODE_NUMBER] == -1:
            node[to, NODE_NUMBER] = -2
            top += 1
            stack[top, 0] = to
            stack[top, 1] = node[to, NODE_EDGE]
    for i in range(found):
        e.order[i] = e.order[n - found + i]
        node[e.order[i], NODE_NUMBER] = i
    return found


@kernel(INT(STATE, FLOW, ENCODING, INT), helper=True)
def write_op(s, flow, e, x):
    """Writes a drafted operation."""
    cnt = e.cnt
    n = cnt[E_OPS]
    if not has_room(s, e, n, len(e.op)):
        return 0
    for k in range(OP_CLEAR):
        e.op[n, k] = e.draft[x, k]
    p = e.draft[x, OP_CLEAR]
    first = cnt[E_CLEARS]
    if p >= 0:
        for i in range(flow.clear_off[p], flow.clear_off[p + 1]):
            row = e.map[flow.clear[i]]
            known = row < 0
            for j in range(first, cnt[E_CLEARS]):
                known |= e.clear[j] == row
            if not known and has_room(s, e, cnt[E_CLEARS], len(e.clear)):
                e.clear[cnt[E_CLEARS]] = row
                cnt[E_CLEARS] += 1
    e.op[n, OP_CLEAR] = cnt[E_CLEARS]
    cnt[E_OPS] = n + 1
    return 1


@kernel(INT(STATE, FLOW, ENCODING), helper=True)
def write_blocks(s, flow, e):
    """Writes the blocks that are reached."""
    cnt, node = e.cnt, e.node
    found = number_blocks(e)
    for i in range(found):
        b = e.order[i]
        first = cnt[E_SUCCS]
        edge = node[b, NODE_EDGE]
        while edge >= 0:
            to = node[e.edge[edge, 0], NODE_NUMBER]
            edge = e.edge[edge, 1]
            at = cnt[E_SUCCS]
            if not has_room(s, e, at, len(e.succ)):
                return 0
            while at > first and e.succ[at - 1] > to:
                at -= 1
            if at > first and e.succ[at - 1] == to:
                continue
            for j in range(cnt[E_SUCCS], at, -1):
                e.succ[j] = e.succ[j - 1]
            e.succ[at] = to
            cnt[E_SUCCS] += 1
        for x in range(node[b, NODE_FIRST], node[b, NODE_END]):
            write_op(s, flow, e, x)
        n = cnt[E_BLOCKS]
        if not has_room(s, e, n, len(e.block)):
            return 0
        e.block[n, 0] = cnt[E_SUCCS]
        e.block[n, 1] = cnt[E_OPS]
        cnt[E_BLOCKS] = n + 1
    at = cnt[E_PLACES]
    for op in range(len(flow.throws)):
        e.place[at + op, 0] = node[e.place[at + op, 0], NODE_NUMBER]
    cnt[E_PLACES] = at + len(flow.throws)
    e.per[cnt[E_NUMBER], PER_EXIT] = node[len(flow.ops) + len(flow.range_off) - 1, NODE_NUMBER]
    return 1


# --------------------------------------------------------------------------------------------- rows and columns


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
