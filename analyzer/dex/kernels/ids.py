"""Id tables: strings, types, protos, fields, methods, and the numbering of equal ones."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.dex.kernels.primitives import SHIFT, kernel, u2, u4, u8_word
from analyzer.dex.layout import BASE, END, TABLES
from analyzer.dex.opcodes import PROTO, STRING, TYPE

PRIME = np.uint64(0x9E3779B97F4A7C15)
LOW_BITS, HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@kernel("int64(uint8[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], uint64)")
def scan_strings(buf, sections, damaged, budgets, start, size, hashes, seed):
    """Find and hash the text of every string id. A section is (base, end, offset, count, first row).

    `damaged` (n_sections,) counts strings that lie outside the file or exceed its budget of bytes; they read as "".
    Returns the number of rows.
    """
    row = 0
    for s in range(len(sections)):
        base, end, table = sections[s, 0], sections[s, 1], sections[s, 2]
        budget = budgets[s]
        for k in range(sections[s, 3]):
            p = base + u4(buf, table + 4 * k)
            stop = min(end, p + budget)
            for _ in range(5):  # the length in UTF-16 units is not needed
                p += 1
                if p > end or buf[p - 1] < 0x80:
                    break
            q = p
            h = seed
            while q + 8 <= stop:
                text = np.uint64(u8_word(buf, q))
                if (text - LOW_BITS) & ~text & HIGH_BITS:  # a byte is 0
                    break
                h = (h ^ text) * PRIME
                h ^= h >> SHIFT
                q += 8
            while q < stop and buf[np.uint64(q)] != 0:
                h = (h ^ np.uint64(buf[np.uint64(q)])) * PRIME
                q += 1
            budget -= q - p + 1
            if q >= stop:
                damaged[s] += 1
                p = q = end
                h = seed
            start[row] = p
            size[row] = q - p
            hashes[row] = h ^ (h >> SHIFT)
            row += 1
    return row


@kernel("int64(uint8[::1], int64[::1], int32[::1], uint64[::1], int32[::1], int32[::1], int32[::1])")
def intern_strings(buf, start, size, hashes, table, gids, first):
    """Number equal strings alike, first come first. `table` is zeros, a power of two. Returns how many; -1: give up.

    `first` receives the first row of each number.
    """
    mask = len(table) - 1
    probes = 8 * len(start) + 1000
    n = 0
    for row in range(len(start)):
        slot = np.int64(hashes[row]) & mask
        while True:
            gid = np.int64(table[slot]) - 1
            if gid < 0:
                gid = n
                first[n] = row
                n += 1
                table[slot] = n
                break
            other = first[gid]
            if hashes[other] == hashes[row] and size[other] == size[row]:
                p, q, left = start[row], start[other], np.int64(size[row])
                while left > 0 and buf[p] == buf[q]:
                    p += 1
                    q += 1
                    left -= 1
                if left == 0:
                    break
            probes -= 1
            if probes < 0:
                return -1
            slot = (slot + 1) & mask
        gids[row] = gid
    return n


@kernel("int64(int32[::1], int64[::1], uint64, int32[::1], int32[::1], int32[::1])")
def intern_rows(data, offsets, seed, table, gids, first):
    """Like `intern_strings`, for rows of integers: row i is data[offsets[i]:offsets[i + 1]]."""
    mask = len(table) - 1
    probes = 8 * len(offsets) + 1000
    n = 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        h = seed
        for i in range(begin, end):
            h = (h ^ np.uint64(np.uint32(data[i]))) * PRIME
            h ^= h >> SHIFT
        slot = np.int64(h) & mask
        while True:
            gid = np.int64(table[slot]) - 1
            if gid < 0:
                gid = n
                first[n] = row
                n += 1
                table[slot] = n
                break
            p = offsets[first[gid]]
            if offsets[first[gid] + 1] - p == end - begin:
                i = begin
                while i < end and data[i] == data[p]:
                    i += 1
                    p += 1
                if i == end:
                    break
            probes -= 1
            if probes < 0:
                return -1
            slot = (slot + 1) & mask
        gids[row] = gid
    return n


@kernel("int64(uint8[::1], int64[:, ::1], int32[::1], int64, int64, int64, int32[::1])")
def type_rows(buf, dex, maps, n_strings, kind, first_row, out):
    """String id of every type. A string index out of range gives `n_strings`. Returns how many were."""
    bad = 0
    for d in range(len(dex)):
        at = dex[d, TABLES + 3 * kind + 2] - first_row
        for k in range(dex[d, TABLES + 3 * kind]):
            index = u4(buf, dex[d, TABLES + 3 * kind + 1] + 4 * k)
            if index < dex[d, TABLES + 3 * STRING]:
                out[at + k] = maps[dex[d, TABLES + 3 * STRING + 2] + index]
            else:
                out[at + k] = n_strings
                bad += 1
    return bad


@kernel("int64(uint8[::1], int64[:, ::1], int64, int64, int64[::1])")
def proto_sizes(buf, dex, first_row, budget, sizes):
    """Length of every proto's row: return type and parameters. Returns how many parameter lists are damaged."""
    bad = 0
    for d in range(len(dex)):
        at = dex[d, TABLES + 3 * PROTO + 2] - first_row
        for k in range(dex[d, TABLES + 3 * PROTO]):
            sizes[at + k] = 1
            p = u4(buf, dex[d, TABLES + 3 * PROTO + 1] + 12 * k + 8)
            if p == 0:
                continue
            p += dex[d, BASE]
            n = u4(buf, p) if p + 4 <= dex[d, END] else 0
            # A call passes at most 255 words.
            if p + 4 + 2 * n > dex[d, END] or n > 255 or n > budget:
                bad += 1
            else:
                sizes[at + k] = 1 + n
                budget -= n
    return bad


@kernel("int64(uint8[::1], int64[:, ::1], int32[::1], int64, int64, int64[::1], int32[::1])")
def proto_rows(buf, dex, maps, n_types, first_row, offsets, out):
    """Row of every proto: return type, parameter types. Returns how many type indices were out of range."""
    bad = 0
    for d in range(len(dex)):
        types, limit = dex[d, TABLES + 3 * TYPE + 2], dex[d, TABLES + 3 * TYPE]
        at = dex[d, TABLES + 3 * PROTO + 2] - first_row
        for k in range(dex[d, TABLES + 3 * PROTO]):
            item = dex[d, TABLES + 3 * PROTO + 1] + 12 * k
            index = u4(buf, item + 4)
            params = dex[d, BASE] + u4(buf, item + 8) + 4
            for i in range(offsets[at + k], offsets[at + k + 1]):
                if index < limit:
                    out[i] = maps[types + index]
                else:
                    out[i] = n_types
                    bad += 1
                if i + 1 < offsets[at + k + 1]:
                    index = u2(buf, params)
                    params += 2
    return bad


@kernel("int64(uint8[::1], int64[:, ::1], int32[::1], int64, int64, int64, int64, int64[::1], int32[:, ::1])")
def member_rows(buf, dex, maps, kind, second, first_row, n_types, n_others, out):
    """Row of every field or method: class, type or proto, name. Returns bits: 1 bad type, 2 bad proto, 4 bad name.

    `second` is the kind of the second column; `n_others` (2,) stands for its ids out of range and for bad names.
    """
    bad = 0
    for d in range(len(dex)):
        table = dex[d, TABLES + 3 * kind + 1]
        at = dex[d, TABLES + 3 * kind + 2] - first_row
        for k in range(dex[d, TABLES + 3 * kind]):
            item = table + 8 * k
            owner, other, name = u2(buf, item), u2(buf, item + 2), u4(buf, item + 4)
            if owner < dex[d, TABLES + 3 * TYPE]:
                out[at + k, 0] = maps[dex[d, TABLES + 3 * TYPE + 2] + owner]
            else:
                out[at + k, 0] = n_types
                bad |= 1
            if other < dex[d, TABLES + 3 * second]:
                out[at + k, 1] = maps[dex[d, TABLES + 3 * second + 2] + other]
            else:
                out[at + k, 1] = n_others[0]
                bad |= 1 if second == TYPE else 2
            if name < dex[d, TABLES + 3 * STRING]:
                out[at + k, 2] = maps[dex[d, TABLES + 3 * STRING + 2] + name]
            else:
                out[at + k, 2] = n_others[1]
                bad |= 4
    return bad
