"""The flow-insensitive fixed point of one method under the present summaries of its callees (semantics.md 2)."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.calls import call, is_settled, stamp
from gpu.shape.cells import begin_again, begin_entry, named_row, new_row, place, token, write
from gpu.shape.filters import mask
from gpu.shape.layout import (
    ANY_MISSED,
    CHANGED,
    CLOCK,
    FINE,
    FORMAL,
    GEN,
    GROW_MAP,
    LOAD,
    M_SHARED,
    MISSED,
    MISSING,
    N_PARAMS,
    N_VALUES,
    OR,
    P_DST,
    P_FIELD,
    P_FILTER,
    P_KEY,
    P_KIND,
    P_OP,
    P_SRC,
    P_STATIC,
    P_VALUE,
    R_STAMP,
    STATUS,
    STOPPED,
    STORE,
    TABLE_GET,
    UNSEEN,
    VALUE,
    X_VALUE,
)
from gpu.shape.maps import put
from gpu.shape.names import intern
from gpu.shape.reads import read, write_cells
from gpu.shape.signatures import CODE, I4X2, INT, STATE, WORLD


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def generate(w, s, dst, gid):
    """Adds one token to a row."""
    t = token(w, s, gid)
    if t < 0:
        return 0
    bits.clear(s.tmp, X_VALUE)
    bits.add(s.tmp, X_VALUE, t)
    return write(w, s, dst, s.tmp, X_VALUE)


@kernel(INT(WORLD, STATE, INT, INT), helper=True)
def get_static(w, s, dst, f):
    """Adds what the table knows of a static field to a row."""
    at = place(w, s, P_STATIC, f, 0)
    if at < 0:
        return 0
    bits.clear(s.tmp, X_VALUE)
    for i in range(at + 1, at + 1 + w.lists[at]):
        t = token(w, s, w.lists[i])
        if t < 0:
            return 0
        bits.add(s.tmp, X_VALUE, t)
    return write(w, s, dst, s.tmp, X_VALUE)


@kernel(INT(WORLD, STATE, CODE, INT), helper=True)
def step(w, s, code, p):
    """Evaluates one primitive, unless nothing that it reads has changed."""
    prm, hd, ri, tmp = code.prm, s.hd, s.ri, s.tmp
    kind, dst, src, value = prm[p, P_KIND], prm[p, P_DST], prm[p, P_SRC], prm[p, P_VALUE]
    since, now = s.done[p], hd[CLOCK]
    hd[MISSED] = 0
    if kind == OR:
        if ri[src, R_STAMP] <= since:
            return 1
        filter_ = prm[p, P_FILTER]
        if filter_ == -1:
            write(w, s, dst, s.rb, src)
        else:
            m = mask(w, s, filter_)
            if m < 0:
                return 0
            bits.copy(tmp, X_VALUE, s.rb, src)
            bits.keep(tmp, X_VALUE, s.mk, m)
            write(w, s, dst, tmp, X_VALUE)
    elif kind == GEN:
        if since >= 0:
            return 1
        generate(w, s, dst, prm[p, P_KEY])
    elif kind == LOAD:
        if since >= 0 and ri[src, R_STAMP] <= since and stamp(w, s, prm[p, P_FIELD]) <= since:
            return 1
        read(w, s, s.rb, src, prm[p, P_FIELD], tmp, X_VALUE)
        write(w, s, dst, tmp, X_VALUE)
    elif kind == STORE:
        if since >= 0 and ri[src, R_STAMP] <= since and ri[value, R_STAMP] <= since:
            return 1
        write_cells(w, s, s.rb, src, prm[p, P_FIELD], s.rb, value)
    elif kind == TABLE_GET:
        if since >= 0:
            return 1
        get_static(w, s, dst, prm[p, P_FIELD])
    else:
        if is_settled(w, s, code, prm[p, P_OP], since):
            return 1
        call(w, s, code, prm[p, P_OP])
    if hd[STATUS] or hd[MISSED]:
        s.done[p] = -1
        hd[ANY_MISSED] |= hd[MISSED]
    else:
        s.done[p] = now
    return 1


@kernel(INT(WORLD, STATE, CODE, INT))
def run(w, s, code, budget):
    """Brings a method to its fixed point; the status: FINE, MISSING (answers), STOPPED (out of budget), what to grow.

    It can be called again after any of these but FINE, and goes on.
    """
    hd = s.hd
    hd[STATUS] = FINE
    hd[ANY_MISSED] = 0
    if hd[UNSEEN]:
        begin_again(w, s)
        if hd[STATUS]:
            return hd[STATUS]
    while hd[STATUS] == FINE:
        hd[CHANGED] = 0
        for p in range(len(code.prm)):
            step(w, s, code, p)
            if hd[STATUS]:
                return hd[STATUS]
            budget -= 1
        if not hd[CHANGED] or hd[ANY_MISSED]:
            break
        if budget < 0:
            return STOPPED
    if hd[STATUS]:
        return hd[STATUS]
    return MISSING if hd[ANY_MISSED] or hd[UNSEEN] else FINE


@kernel(INT(WORLD, STATE, I4X2))
def start(w, s, named):
    """Makes the rows of a method that are always there; the status, after which it begins again from nothing.

    `named`: (kind, a, b, c, whether a pseudo-static holds something on entry, whether that is more than one object).
    """
    hd = s.hd
    hd[STATUS] = FINE
    for _ in range(hd[N_VALUES]):
        if new_row(w, s, VALUE, 0, 0, 0, -1) < 0:
            return hd[STATUS]
    for i in range(hd[N_PARAMS]):
        begin_entry(w, s, i, token(w, s, intern(w, hd, FORMAL, i, -1, -1)))
    for i in range(len(named)):
        row = named_row(w, s, named[i, 0], named[i, 1], named[i, 2], named[i, 3])
        if row >= 0 and named[i, 4]:
            begin_entry(w, s, row, token(w, s, intern(w, hd, FORMAL, -1 - named[i, 1] // 2, -1, -1)))
        if named[i, 5] and not put(s.mp, M_SHARED, named[i, 1], 0, 0, 1):
            hd[STATUS] = GROW_MAP
        if hd[STATUS]:
            return hd[STATUS]
    return hd[STATUS]
