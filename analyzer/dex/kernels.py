"""The reader's loops over bytes, compiled by Numba. Import compiles (or loads) them: only `reader` does so.

Rules that keep these safe, as array bounds are not checked here:
- offsets come from the input, so each is compared with the end of its dex file before it is used;
- ids are compared, unsigned, with the size of their table;
- a counting pass validates and sizes, a filling pass writes only what the counting pass accepted (`status` 0);
- rows that an input can demand many times over (shared payloads, lists, code) are paid from a budget in proportion
  to its size.

`dex` is (n_dex, DEX_COLUMNS) int64: BASE (offsets count from here), END (first byte behind the file), then for each
kind of id table COUNT, OFFSET (absolute), ROW (index of its first row in `maps`), see `count_of` and its kin. `maps`
int32 turns (ROW + dex-local id) into a global id.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import functools

import numpy as np

from analyzer.dex.layout import (
    ACCEPTED,
    BAD_BRANCH,
    BAD_HEADER,
    BAD_INDEX,
    BAD_OPCODE,
    BAD_PAYLOAD,
    BAD_REGISTER,
    BAD_TRIES,
    BASE,
    CLASSES,
    CUT_OFF,
    DAMAGED,
    END,
    EXTENT,
    FRAME,
    INS,
    LIMITS,
    N_ARGS,
    N_COUNTS,
    N_HANDLERS,
    N_INSNS,
    N_LIT64,
    N_PAYLOADS,
    N_SWITCH,
    N_TRIES,
    NESTED,
    NO_CODE,
    OUTS,
    TABLES,
    TOO_LARGE,
)
from analyzer.dex.opcodes import (
    A_MASK,
    A_SHIFT,
    A_WIDE,
    ARGUMENTS,
    B_MASK,
    B_SHIFT,
    B_WIDE,
    BRANCH,
    C_MASK,
    C_SHIFT,
    C_WIDE,
    CONST_WIDE,
    DATA,
    DECODE,
    FIELD,
    HANDLE,
    LENGTH,
    LIT64,
    LITERAL,
    MEANS,
    METHOD,
    PACKED,
    PROTO,
    STRING,
    TYPE,
    UNASSIGNED,
    USES,
    X_LEFT,
    X_MASK,
    X_RIGHT,
)
from gpu import jit

kernel = functools.partial(jit.kernel, _nrt=False)
"""Kernels here allocate nothing. Without this Numba counts references of arrays, atomically, at every call."""

PRIME = np.uint64(0x9E3779B97F4A7C15)
LOW_BITS, HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
SIXTEEN, SHIFT, FORTY_EIGHT = np.uint64(16), np.uint64(32), np.uint64(48)

# ---------------------------------------------------------------------------------------------------- numbers


# An unsigned index costs no test for a negative one, which would also keep LLVM from joining neighbouring loads.


@kernel("int64(uint8[::1], int64)", helper=True)
def u2(buf, p):
    i = np.uint64(p)
    return np.int64(buf[i]) | np.int64(buf[i + ONE]) << 8


@kernel("int64(uint8[::1], int64)", helper=True)
def u4(buf, p):
    i = np.uint64(p)
    low = np.uint32(buf[i]) | np.uint32(buf[i + ONE]) << np.uint32(8)
    return np.int64(low | np.uint32(buf[i + TWO]) << np.uint32(16) | np.uint32(buf[i + THREE]) << np.uint32(24))


@kernel("int64(uint8[::1], int64)", helper=True)
def u8_word(buf, p):
    """Eight bytes as one number; one load."""
    return u4(buf, p) | u4(buf, p + 4) << 32


@kernel("UniTuple(int64, 2)(uint8[::1], int64, int64)", helper=True)
def uleb(buf, p, end):
    """ULEB128 of at most 5 bytes: (value, next offset); value -1 if it is cut off or longer. No branch per byte."""
    if p >= end:
        return -1, p
    w = u8_word(buf, p)
    two = w >> 7 & 1
    three = two & w >> 15
    four = three & w >> 23
    five = four & w >> 31
    size = 1 + two + three + four + five
    if five & w >> 39 or p + size > end:
        return -1, p
    value = w & 0x7F | w >> 1 & 0x3F80 | w >> 2 & 0x1FC000 | w >> 3 & 0xFE00000 | w >> 4 & 0xF0000000
    return value & ((1 << 7 * size) - 1), p + size


@kernel("UniTuple(int64, 2)(uint8[::1], int64, int64)", helper=True)
def handler_count(buf, p, end):
    """SLEB128 that opens a handler list: (rows * 2 + has a catch-all, next offset); -1 if damaged."""
    value = 0
    for shift in range(0, 35, 7):
        if p >= end:
            break
        byte = np.int64(buf[p])
        p += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte & 0x40:
                value -= 1 << (shift + 7)
            if value > 0:
                return value * 2, p
            return (1 - value) * 2 + 1, p
    return -1, p


# ---------------------------------------------------------------------------------------------------- id tables


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


# ---------------------------------------------------------------------------------------------------- classes


@kernel("int64(uint8[::1], int64, int64, int64, int64, int64)", helper=True)
def skip_members(buf, p, end, count, limit, numbers):
    """Walk `count` encoded fields or methods (`numbers` ULEB128 each); the offset behind them, -1 if damaged."""
    index = 0
    for _ in range(count):
        value, p = uleb(buf, p, end)
        index += value
        if value < 0 or index >= limit:
            return -1
        for _i in range(1, numbers):
            value, p = uleb(buf, p, end)
            if value < 0:
                return -1
    return p


@kernel("int64(uint8[::1], int64[:, ::1], int32[:, ::1], uint8[::1], int64)")
def count_classes(buf, dex, counts, status, budget):
    """Count per class: interfaces, static fields, instance fields, direct methods, virtual methods; validate them.

    What is damaged counts as empty and sets `status`. Returns how many classes are damaged.
    """
    bad = 0
    row = 0
    for d in range(len(dex)):
        base, end = dex[d, BASE], dex[d, END]
        for k in range(dex[d, TABLES + 3 * CLASSES]):
            item = dex[d, TABLES + 3 * CLASSES + 1] + 32 * k
            fine = u4(buf, item) < dex[d, TABLES + 3 * TYPE]
            p = u4(buf, item + 12)
            if p != 0:
                p += base
                n = u4(buf, p) if p + 4 <= end else -1
                if n < 0 or p + 4 + 2 * n > end or n > budget:
                    fine = False
                else:
                    budget -= n
                    for i in range(n):
                        if u2(buf, p + 4 + 2 * i) >= dex[d, TABLES + 3 * TYPE]:
                            fine = False
                    if fine:
                        counts[row, 0] = n
            p = u4(buf, item + 24)
            if p != 0:
                p += base
                total = 0
                for i in range(4):
                    n, p = uleb(buf, p, end)
                    if n < 0:
                        total = -1
                        break
                    counts[row, 1 + i] = n
                    total += n * (2 + (i >> 1))
                if total < 0 or total > end - p or total > budget:
                    p = -1
                else:
                    budget -= total
                for i in range(4):
                    if p >= 0:
                        kind = FIELD if i < 2 else METHOD
                        p = skip_members(buf, p, end, counts[row, 1 + i], dex[d, TABLES + 3 * kind], 2 + (i >> 1))
                if p < 0:
                    fine = False
                    for i in range(1, 5):
                        counts[row, i] = 0
            if not fine:
                status[row] = DAMAGED
                bad += 1
            row += 1
    return bad


@kernel(
    "void(uint8[::1], int64[:, ::1], int32[::1], int64, int32[:, ::1], int64[:, ::1], int32[:, ::1], uint32[::1],"
    "int32[::1], int32[:, ::1], uint32[::1], int32[:, ::1], uint32[::1], int64[::1], uint8[::1])"
)
def fill_classes(
    buf, dex, maps, n_types, counts, starts, head, access, interfaces, fields, f_access, methods, m_access, code, direct
):
    """Columns of classes, encoded fields and encoded methods.

    `starts` (n_classes, 3): first row of interfaces, fields, methods. `head` (n_classes, 4): type, superclass, source
    file, dex; `fields`, `methods` (n, 2): class row, global id; `code`: absolute offset or -1.
    """
    row = 0
    for d in range(len(dex)):
        base, end = dex[d, BASE], dex[d, END]
        types, n_local = dex[d, TABLES + 3 * TYPE + 2], dex[d, TABLES + 3 * TYPE]
        for k in range(dex[d, TABLES + 3 * CLASSES]):
            item = dex[d, TABLES + 3 * CLASSES + 1] + 32 * k
            index = u4(buf, item)
            head[row, 0] = maps[types + index] if index < n_local else n_types
            index = u4(buf, item + 8)
            head[row, 1] = maps[types + index] if index < n_local else -1
            index = u4(buf, item + 16)
            strings = dex[d, TABLES + 3 * STRING + 2]
            head[row, 2] = maps[strings + index] if index < dex[d, TABLES + 3 * STRING] else -1
            head[row, 3] = d
            access[row] = u4(buf, item + 4)
            p = base + u4(buf, item + 12) + 4
            for i in range(counts[row, 0]):
                interfaces[starts[row, 0] + i] = maps[types + u2(buf, p + 2 * i)]
            p = base + u4(buf, item + 24)
            if counts[row, 1] + counts[row, 2] + counts[row, 3] + counts[row, 4] > 0:
                for _ in range(4):
                    _n, p = uleb(buf, p, end)
            at = starts[row, 1]
            ids = dex[d, TABLES + 3 * FIELD + 2]
            for part in range(2):
                index = 0
                for _ in range(counts[row, 1 + part]):
                    step, p = uleb(buf, p, end)
                    flags, p = uleb(buf, p, end)
                    index += step
                    fields[at, 0] = row
                    fields[at, 1] = maps[ids + index]
                    f_access[at] = flags
                    at += 1
            at = starts[row, 2]
            ids = dex[d, TABLES + 3 * METHOD + 2]
            for part in range(2):
                index = 0
                for _ in range(counts[row, 3 + part]):
                    step, p = uleb(buf, p, end)
                    flags, p = uleb(buf, p, end)
                    offset, p = uleb(buf, p, end)
                    index += step
                    methods[at, 0] = row
                    methods[at, 1] = maps[ids + index]
                    m_access[at] = flags
                    code[at] = base + offset if offset != 0 else -1
                    direct[at] = 1 - part
                    at += 1
            row += 1


@kernel("int64(int64)", helper=True)
def value_bytes(kind):
    """Most bytes that an encoded value of this type has; 0 if there is no such scalar type."""
    if kind == 0x00:
        return 1
    if kind == 0x02 or kind == 0x03:
        return 2
    if kind == 0x04 or kind == 0x10 or 0x15 <= kind <= 0x1B:
        return 4
    if kind == 0x06 or kind == 0x11:
        return 8
    return 0


@kernel("int64(int64)", helper=True)
def value_table(kind):
    """Kind of id that an encoded value of this type holds; -1 for numbers."""
    if kind == 0x15:
        return PROTO
    if kind == 0x16:
        return HANDLE
    if kind == 0x17:
        return STRING
    if kind == 0x18:
        return TYPE
    if kind == 0x19 or kind == 0x1B:
        return FIELD
    if kind == 0x1A:
        return METHOD
    return -1


@kernel("void(uint8[::1], int64[:, ::1], int32[::1], int32[:, ::1], int64[:, ::1], uint8[::1], int64[::1], uint8[::1])")
def static_values(buf, dex, maps, counts, starts, kinds, values, status):
    """Initial values of static fields; `status` per class: NESTED where an array or annotation needs slow reading."""
    row = 0
    for d in range(len(dex)):
        base, end = dex[d, BASE], dex[d, END]
        for k in range(dex[d, TABLES + 3 * CLASSES]):
            p = u4(buf, dex[d, TABLES + 3 * CLASSES + 1] + 32 * k + 28)
            n_static = np.int64(counts[row, 1])
            if p != 0 and n_static > 0:
                n, p = uleb(buf, base + p, end)
                if n < 0 or n > n_static:
                    status[row] = DAMAGED
                for i in range(min(n, n_static)):
                    if p >= end:
                        status[row] = DAMAGED
                        break
                    kind = np.int64(buf[p]) & 31
                    size = (np.int64(buf[p]) >> 5) + 1
                    p += 1
                    if kind == 0x1C or kind == 0x1D:
                        status[row] = NESTED
                        break
                    value = 0
                    if kind == 0x1F:
                        value = size - 1
                    elif kind != 0x1E:
                        limit = value_bytes(kind)
                        if size > limit or p + size > end:
                            status[row] = DAMAGED
                            break
                        for j in range(size):
                            value |= np.int64(buf[p + j]) << (8 * j)
                        p += size
                        table = value_table(kind)
                        if table >= 0:
                            if value >= dex[d, TABLES + 3 * table]:
                                status[row] = DAMAGED
                                break
                            value = np.int64(maps[dex[d, TABLES + 3 * table + 2] + value])
                        elif kind == 0x10 or kind == 0x11:
                            value <<= 8 * (limit - size)
                        elif kind != 0x03 and size < 8:
                            sign = 1 << (8 * size - 1)
                            value = (value ^ sign) - sign
                    kinds[starts[row, 1] + i] = kind
                    values[starts[row, 1] + i] = value
            row += 1


# ---------------------------------------------------------------------------------------------------- code


@kernel("int64(uint16[::1], int64)", helper=True)
def word(code, p):
    """Four units from p on as one number, the first lowest; one load."""
    i = np.uint64(p)
    low = np.uint64(code[i]) | np.uint64(code[i + ONE]) << SIXTEEN
    return np.int64(low | np.uint64(code[i + TWO]) << SHIFT | np.uint64(code[i + THREE]) << FORTY_EIGHT)


@kernel("int64(uint16[::1], int64)", helper=True)
def s4(code, p):
    """Signed 32-bit number in two units."""
    i = np.uint64(p)
    return np.int64(np.int32(np.uint32(code[i]) | np.uint32(code[i + ONE]) << np.uint32(16)))


@kernel("int64(uint16[::1], int64, int64)", helper=True)
def payload_units(code, p, left):
    """Length in units of the payload at unit p, of which `left` units remain in the code; -1 if it does not fit."""
    kind = np.int64(code[p]) >> 8
    units = 4
    if left < 2:
        return -1
    n = np.int64(code[p + 1])
    if kind == 1:
        units = 4 + 2 * n
    elif kind == 2:
        units = 2 + 4 * n
    else:
        if left < 4:
            return -1
        units = 4 + ((s4(code, p + 2) & 0xFFFFFFFF) * n + 1) // 2
    return units if units <= left else -1


@kernel("int64(uint8[::1], int64, int64, int64, int64, int32[::1], int64, int64[::1])", helper=True)
def check_handlers(buf, p, end, n_types, size, marks, mark, budget):
    """Rows of the handler list at p, -1 if it is damaged; paid from budget[2] before the walk."""
    code, p = handler_count(buf, p, end)
    rows = code >> 1
    if code < 0 or rows > min(end - p, budget[2]):
        return -1
    budget[2] -= rows
    for i in range(rows):
        if i < rows - 1 or code & 1 == 0:
            index, p = uleb(buf, p, end)
            if index < 0 or index >= n_types:
                return -1
        target, p = uleb(buf, p, end)
        if target < 0 or target >= size or marks[target] != mark:
            return -1
    return rows


@kernel("int64(uint8[::1], int64, int64, int64, int64, int64, int32[::1], int64, int64[::1], int64[::1])", helper=True)
def check_tries(buf, table, n, end, n_types, size, marks, mark, budget, total):
    """Validate the n try items at offset `table` and the handlers behind them; adds their rows to `total`."""
    if table + 8 * n > end:
        return BAD_TRIES
    last = 0
    for i in range(n):
        start, length = u4(buf, table + 8 * i), u2(buf, table + 8 * i + 4)
        if start < last or start + length > size or start >= size or marks[start] != mark:
            return BAD_TRIES
        last = start + length
        if length > 0:
            at = table + 8 * n + u2(buf, table + 8 * i + 6)
            rows = check_handlers(buf, at, end, n_types, size, marks, mark, budget)
            if rows < 0:
                return BAD_TRIES
            total[N_HANDLERS] += rows
            total[N_TRIES] += 1
    return ACCEPTED


@kernel(
    "int64(uint8[::1], uint16[::1], int64[:, ::1], int64, int64, int64, int32[:, ::1], int64[::1], int32[::1],"
    "int32[::1], int64[::1])",
    helper=True,
    forceinline=True,
)
def check_code(buf, code, dex, d, offset, item, headers, total, marks, targets, budget):
    """Validate one code item, fill its header and add the rows that it needs to `total`; returns its status.

    `marks` and `targets` are scratch of as many rows as the largest code item has units: marks[pc] == mark where an
    instruction of this item starts. `budget` is (units, switch rows, handler rows) that may still be demanded.
    """
    mark = item + 1
    end = dex[d, END]
    if offset & 3 or offset < 0 or offset + 16 > end:
        return BAD_HEADER
    p = offset >> 1
    registers = np.int64(code[p])
    size = s4(code, p + 6) & 0xFFFFFFFF
    headers[item, FRAME] = registers
    headers[item, INS] = code[p + 1]
    headers[item, OUTS] = code[p + 2]
    if size == 0:
        return NO_CODE
    if offset + 16 + 2 * size > end:
        return CUT_OFF
    if size > budget[0]:
        return TOO_LARGE
    budget[0] -= size
    headers[item, EXTENT] = size
    if code[p + 1] > registers:
        return BAD_REGISTER
    spare = max(0, 16 - registers)
    n_tries = np.int64(code[p + 3])
    p += 8
    n_insns, n_args, n_lit64, n_switch, n_payloads, n_targets = 0, 0, 0, 0, 0, 0
    pc = 0
    while pc < size:
        w = word(code, p + pc)
        op = w & 255
        units = DECODE[op, LENGTH]
        if op == 0 and 0x100 <= w & 0xFFFF < 0x400:
            units = payload_units(code, p + pc, size - pc)
            if units < 0:
                return BAD_PAYLOAD
            pc += units
            continue
        if pc + units > size:
            return CUT_OFF
        a = w >> DECODE[op, A_SHIFT] & DECODE[op, A_MASK]
        b = w >> DECODE[op, B_SHIFT] & DECODE[op, B_MASK]
        c = w >> DECODE[op, C_SHIFT] & DECODE[op, C_MASK]
        x = w << DECODE[op, X_LEFT] >> DECODE[op, X_RIGHT] & DECODE[op, X_MASK]
        meaning = DECODE[op, MEANS]
        uses = DECODE[op, USES]
        if uses != ARGUMENTS:
            top = max(a + DECODE[op, A_WIDE], b + DECODE[op, B_WIDE], c + DECODE[op, C_WIDE])
            if top + uses > registers:
                return BAD_REGISTER
        else:
            n_args += a
            if DECODE[op, B_MASK] != 0:
                if b + a > registers:
                    return BAD_REGISTER
            else:
                if a > 5:
                    return BAD_REGISTER
                # All nibbles at once: adding 16 - registers to one that is too large sets its fifth bit.
                list_ = (w >> 32 & 0xFFFF | (w >> 8 & 15) << 16) & (1 << 4 * a) - 1
                over = (list_ & 0x0F0F0F) + spare * 0x010101 | (list_ >> 4 & 0x0F0F) + spare * 0x0101
                if over & 0x101010 and a > 0:
                    return BAD_REGISTER
            if DECODE[op, C_MASK] != 0 and c >= dex[d, LIMITS + PROTO]:
                return BAD_INDEX
        if meaning <= LITERAL:
            if x >= dex[d, LIMITS + meaning]:
                return BAD_INDEX
        elif meaning == BRANCH:
            if x + pc < 0 or x + pc >= size:
                return BAD_BRANCH
            targets[n_targets] = x + pc
            n_targets += 1
        elif meaning == LIT64:
            n_lit64 += 1
        elif meaning == UNASSIGNED:
            return BAD_OPCODE
        else:
            q = pc + x
            if q < 0 or q + 2 > size or q & 1 or code[p + q] != (meaning - PACKED + 1) << 8:
                return BAD_PAYLOAD
            if payload_units(code, p + q, size - q) < 0:
                return BAD_PAYLOAD
            if meaning == DATA:
                n_payloads += 1
            else:
                rows = np.int64(code[p + q + 1])
                if rows > budget[1]:
                    return TOO_LARGE
                budget[1] -= rows
                n_switch += rows
                targets[n_targets] = -1 - pc
                n_targets += 1
        marks[np.uint64(pc)] = mark
        n_insns += 1
        pc += units
    for i in range(n_targets):
        pc = np.int64(targets[i])
        if pc >= 0:
            if marks[pc] != mark:
                return BAD_BRANCH
            continue
        pc = -1 - pc
        q = p + pc + s4(code, p + pc + 1)
        rows = np.int64(code[q + 1])
        q += 4 if code[q] == 0x100 else 2 + 2 * rows
        for j in range(rows):
            target = pc + s4(code, q + 2 * j)
            if target < 0 or target >= size or marks[target] != mark:
                return BAD_BRANCH
    if n_tries > 0:
        table = 2 * (p + size + (size & 1))
        status = check_tries(buf, table, n_tries, end, dex[d, LIMITS + TYPE], size, marks, mark, budget, total)
        if status != ACCEPTED:
            return status
    total[N_INSNS] += n_insns
    total[N_ARGS] += n_args
    total[N_LIT64] += n_lit64
    total[N_SWITCH] += n_switch
    total[N_PAYLOADS] += n_payloads
    return ACCEPTED


@kernel(
    "int64(uint8[::1], uint16[::1], int64[:, ::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1],"
    "int64[:, ::1], int64[::1], int32[::1], int32[::1], int64[::1])"
)
def count_code(buf, code, dex, code_dex, offsets, headers, status, starts, total, marks, targets, budget):
    """Validate every code item, see `check_code`. Returns how many were not accepted.

    `starts` (n_code + 1, N_COUNTS) receives the first row of each item in each table; items that are not accepted
    have none.
    """
    bad = 0
    for i in range(len(offsets)):
        status[i] = check_code(
            *(buf, code, dex, np.int64(code_dex[i]), offsets[i], i, headers, total, marks, targets, budget)
        )
        if status[i] != ACCEPTED:
            bad += 1
            for k in range(N_COUNTS):
                total[k] = starts[i, k]
        for k in range(N_COUNTS):
            starts[i + 1, k] = total[k]
    return bad


@kernel(
    "void(uint16[::1], int64[:, ::1], int32[::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1],"
    "int64[:, ::1], uint8[::1], int32[::1], uint16[::1], uint16[::1], uint16[::1], int32[::1], int64[::1],"
    "uint16[::1], int64[::1], int32[::1], int32[::1], int64[::1], int32[:, ::1])"
)
def fill_code(
    code,
    dex,
    maps,
    code_dex,
    offsets,
    headers,
    status,
    starts,
    ops,
    pcs,
    col_a,
    col_b,
    col_c,
    col_x,
    arg_off,
    args,
    lit64,
    switch_key,
    switch_target,
    payload_off,
    payload,
):
    """Columns of the instructions of every accepted code item. `args` has 5 rows to spare."""
    for item in range(len(offsets)):
        if status[item] != ACCEPTED:
            continue
        d = code_dex[item]
        row, arg, lit = np.uint64(starts[item, N_INSNS]), starts[item, N_ARGS], starts[item, N_LIT64]
        case, data = starts[item, N_SWITCH], starts[item, N_PAYLOADS]
        p = (offsets[item] >> 1) + 8
        size = np.int64(headers[item, EXTENT])
        pc = 0
        while pc < size:
            w = word(code, p + pc)
            op = w & 255
            units = DECODE[op, LENGTH]
            if op == 0 and 0x100 <= w & 0xFFFF < 0x400:
                pc += payload_units(code, p + pc, size - pc)
                continue
            a = w >> DECODE[op, A_SHIFT] & DECODE[op, A_MASK]
            b = w >> DECODE[op, B_SHIFT] & DECODE[op, B_MASK]
            c = w >> DECODE[op, C_SHIFT] & DECODE[op, C_MASK]
            x = w << DECODE[op, X_LEFT] >> DECODE[op, X_RIGHT] & DECODE[op, X_MASK]
            meaning = DECODE[op, MEANS]
            arg_off[row] = arg
            if DECODE[op, USES] == ARGUMENTS:
                if DECODE[op, B_MASK] != 0:
                    for i in range(a):
                        args[np.uint64(arg + i)] = b + i
                else:
                    # Always five, which is faster; what is too much lies in the rows of later arguments.
                    list_ = w >> 32 & 0xFFFF | (w >> 8 & 15) << 16
                    for i in range(5):
                        args[np.uint64(arg + i)] = list_ >> 4 * i & 15
                arg += a
                b = 0
                if DECODE[op, C_MASK] != 0:
                    c = np.int64(maps[dex[d, TABLES + 3 * PROTO + 2] + c])
                    b = c >> 16
            if meaning < LITERAL:
                x = np.int64(maps[np.uint64(dex[d, TABLES + 3 * meaning + 2] + x)])
            elif meaning == BRANCH:
                x += pc
            elif meaning == LIT64:
                if op == CONST_WIDE:
                    lit64[lit] = w >> 16 & 0xFFFFFFFFFFFF | np.int64(code[p + pc + 4]) << 48
                else:
                    lit64[lit] = x << 32
                x = lit
                lit += 1
            elif meaning == DATA:
                q = p + pc + x
                payload_off[data] = 2 * (q + 4)
                payload[data, 0] = code[q + 1]
                payload[data, 1] = s4(code, q + 2)
                x = data
                data += 1
            elif meaning != LITERAL:
                q = p + pc + x
                rows = np.int64(code[q + 1])
                x = case
                b = rows
                c = 0
                for i in range(rows):
                    if meaning == PACKED:
                        switch_key[case] = s4(code, q + 2) + i
                        switch_target[case] = pc + s4(code, q + 4 + 2 * i)
                    else:
                        switch_key[case] = s4(code, q + 2 + 2 * i)
                        switch_target[case] = pc + s4(code, q + 2 + 2 * rows + 2 * i)
                    case += 1
            ops[row] = op
            pcs[row] = pc
            col_a[row] = a
            col_b[row] = b
            col_c[row] = c
            col_x[row] = x
            row += ONE
            pc += units


@kernel(
    "void(uint8[::1], int64[:, ::1], int32[::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1], int64[:, ::1],"
    "int32[:, ::1], int64[::1], int32[:, ::1])"
)
def fill_tries(buf, dex, maps, code_dex, offsets, headers, status, starts, ranges, handler_off, handlers):
    """Try ranges (n, 2: first pc, pc behind the last) and their handlers (n, 2: type or -1, pc)."""
    for item in range(len(offsets)):
        at, row = starts[item, N_TRIES], starts[item, N_HANDLERS]
        if status[item] != ACCEPTED or at == starts[item + 1, N_TRIES]:
            continue
        d = code_dex[item]
        end = dex[d, END]
        types = dex[d, TABLES + 3 * TYPE + 2]
        size = np.int64(headers[item, EXTENT])
        tries = u2(buf, offsets[item] + 6)
        table = offsets[item] + 16 + 2 * (size + (size & 1))
        for i in range(tries):
            start, length = u4(buf, table + 8 * i), u2(buf, table + 8 * i + 4)
            if length == 0:
                continue
            ranges[at, 0] = start
            ranges[at, 1] = start + length
            handler_off[at] = row
            at += 1
            rows, p = handler_count(buf, table + 8 * tries + u2(buf, table + 8 * i + 6), end)
            for j in range(rows >> 1):
                handlers[row, 0] = -1
                if j < (rows >> 1) - 1 or rows & 1 == 0:
                    index, p = uleb(buf, p, end)
                    handlers[row, 0] = maps[types + index]
                target, p = uleb(buf, p, end)
                handlers[row, 1] = target
                row += 1
