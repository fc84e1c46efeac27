"""Calls of the encoded problem: the summaries that each applies, what binds them and where their rows go."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu import problem as pb
from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.calls import add_image, effect, of_library, of_target, split, static_kind, substitute
from gpu.shape.layout import (
    C_ARGS,
    C_DISPATCHED,
    C_DST,
    C_LIBRARY,
    C_MARKED,
    C_N_ARGS,
    C_N_TARGETS,
    C_N_THROWN,
    C_RETURN,
    C_SITE,
    C_TARGETS,
    C_THROWN,
    CELL,
    CELL_DATA,
    CHILD,
    CONSTANT,
    DATA,
    DATA_ONLY,
    E_APPLIED,
    E_APPS,
    E_BINDS,
    E_CALLS,
    E_CONSTANTS,
    E_WRITES,
    HERE,
    M_ROW,
    MT_SUMMARY,
    RETURN,
    RETURN_DATA,
    ROOT,
    SC_FIELD,
    SC_KIND,
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
    SM_ROWS,
    SM_WORDS,
    SR_A,
    SR_B,
    SR_C,
    SR_KIND,
    SR_OWNER,
    STATIC,
    STATUS,
    T_A,
    THROWN,
    X_MASK,
    X_ONE,
    X_VALUE,
)
from gpu.shape.links import everything, filter_mask, has_room, keep_filter, read_link, wide_link, write_link
from gpu.shape.maps import find
from gpu.shape.signatures import CODE, ENCODING, INT, STATE, WORLD


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


@kernel(INT(WORLD, INT), helper=True)
def writes_heap(w, sid):
    """Whether a summary writes cells or static fields."""
    first = w.smm[sid, SM_ROWS]
    for r in range(first, first + w.smm[sid, SM_N_ROWS]):
        kind = w.smr[r, SR_KIND]
        if kind == CELL or kind == CELL_DATA or kind == STATIC:
            return 1
    return 0
