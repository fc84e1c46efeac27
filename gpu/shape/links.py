"""Masks and links of the encoded problem: which tokens pass, which row each token of a base selects."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.filters import fits, mask
from gpu.shape.layout import (
    E_LINKS,
    E_MASK_COLS,
    E_MASKS,
    E_PAIRS,
    E_SERIAL,
    F_FLAGS,
    F_WILD,
    FIELD_ELEM,
    FIELD_STAR,
    GROW_ENCODED,
    LABELS,
    M_CELL,
    MERGE_KEYS,
    OWN_FIELD,
    R_B,
    R_NEXT,
    STATUS,
    T_COUNT,
    TK_CELLS,
    X_ONE,
    X_VALUE,
)
from gpu.shape.maps import find, mix, put
from gpu.shape.names import meets, reads_field, reads_group
from gpu.shape.signatures import ENCODING, INT, STATE, U8X2, WORLD


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
    group = reads_group(w, f)
    for k in range(a.shape[1]):
        x = a[i, k] & ~s.mk[LABELS, k]
        while x:
            t = 64 * k + bits.lowest(x)
            x &= x - bits.ONE
            if fits(w, s, t, f) <= 0:
                continue
            if group:
                row = s.tk[t, TK_CELLS]
                while row >= 0:
                    if reads_field(w, f, ri[row, R_B]):
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
