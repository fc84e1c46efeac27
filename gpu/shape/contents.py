"""What methods put into the table of library statics (semantics.md 4), gathered for the whole app."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.layout import (
    C_PLACES,
    C_TOKENS,
    CELL,
    DEEP,
    FIELD_BELOW,
    FIELD_BELOW_OWN,
    FORMAL,
    MANY,
    N_VALUES,
    R_A,
    R_B,
    R_COUNT,
    R_ENTRY,
    R_KIND,
    T_BASE,
    T_FLAGS,
    T_KIND,
    T_MEMBER,
    TABLE,
    TABLE_CELL,
    TK_GID,
    TOKEN_ANY_MEMBER,
)
from gpu.shape.maps import find, put
from gpu.shape.signatures import CONTENTS, INT, STATE, WORLD


@kernel(INT(CONTENTS, INT, INT), helper=True)
def place_of(c, member, f):
    """Row of a static (member -1) or of a cell of a member, new or known; -1 where there is no room."""
    at = find(c.map, 0, member, f, 0)
    if at < 0:
        at = c.num[C_PLACES]
        if at >= len(c.place) or at >= len(c.held) or not put(c.map, 0, member, f, 0, at):
            return -1
        c.num[C_PLACES] = at + 1
        c.place[at, 0] = member
        c.place[at, 1] = f
        c.place[at, 2] = 0
        bits.clear(c.held, at)
    return at


@kernel(INT(CONTENTS, INT), helper=True)
def content_number(c, gid):
    """Number of a token among the contents of the table, new or known; -1 where there is no room."""
    n = c.number[gid]
    if n < 0:
        n = c.num[C_TOKENS]
        if n >= len(c.gid) or n >= 64 * c.held.shape[1]:
            return -1
        c.num[C_TOKENS] = n + 1
        c.gid[n] = gid
        c.number[gid] = n
    return n


@kernel(INT(WORLD, STATE, CONTENTS))
def contribute(w, s, c):
    """Adds what a method puts into the table to the contents; 0 where there was no room: it can be done again."""
    hd, ri, tk, tok = s.hd, s.ri, s.tk, w.tok
    for row in range(hd[N_VALUES], hd[R_COUNT]):
        kind = ri[row, R_KIND]
        skip_entry = False
        if kind == TABLE:
            member, f = -1, ri[row, R_A]
        elif kind == TABLE_CELL:
            member, f = ri[row, R_A], ri[row, R_B]
        elif kind == CELL:
            member, f = tok[tk[ri[row, R_A], TK_GID], T_MEMBER], ri[row, R_B]
            if member < 0 or f == w.hdr[FIELD_BELOW] or f == w.hdr[FIELD_BELOW_OWN]:
                continue
            if tok[member, T_FLAGS] & MANY:
                member = w.hdr[TOKEN_ANY_MEMBER]
            skip_entry = True
        else:
            continue
        e = ri[row, R_ENTRY]
        at = np.int64(-1)
        for k in range(s.rb.shape[1]):
            x = s.rb[row, k]
            if skip_entry and e >= 0:
                x &= ~s.eb[e, k]
            while x:
                t = 64 * k + bits.lowest(x)
                x &= x - bits.ONE
                gid = tk[t, TK_GID]
                if tok[gid, T_KIND] == FORMAL or tok[gid, T_KIND] == DEEP:
                    continue
                n = content_number(c, tok[gid, T_BASE])
                if at < 0:
                    at = place_of(c, member, f)
                if n < 0 or at < 0:
                    return 0
                if not bits.has(c.held, at, n):
                    bits.add(c.held, at, n)
                    c.place[at, 2] = 1
    return 1
