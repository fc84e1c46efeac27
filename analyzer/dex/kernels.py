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
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment"
# ruff: noqa: SIM109

from __future__ import annotations

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
    N_ARGS,
    N_HANDLERS,
    N_INSNS,
    N_LIT64,
    N_PAYLOADS,
    N_SWITCH,
    N_TRIES,
    NESTED,
    NO_CODE,
    TABLES,
    TOO_LARGE,
)
from analyzer.dex.opcodes import (
    BRANCH,
    DATA,
    F3RC,
    F4RCC,
    F10T,
    F10X,
    F11N,
    F12X,
    F20T,
    F21C,
    F21H,
    F21S,
    F21T,
    F22B,
    F22C,
    F22S,
    F22T,
    F22X,
    F23X,
    F30T,
    F31C,
    F31I,
    F31T,
    F32X,
    F35C,
    F45CC,
    F51L,
    F_NONE,
    FIELD,
    FORMAT,
    HANDLE,
    LIT64,
    MEANING,
    METHOD,
    PACKED,
    PROTO,
    SPARSE,
    STRING,
    TYPE,
    UNITS,
    WIDE,
)
from gpu.jit import kernel

PRIME = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(32)

# ---------------------------------------------------------------------------------------------------- numbers


@kernel("int64(uint8[::1], int64)", helper=True)
def u2(buf, p):
    return np.int64(buf[p]) | np.int64(buf[p + 1]) << 8


@kernel("int64(uint8[::1], int64)", helper=True)
def u4(buf, p):
    low = np.int64(buf[p]) | np.int64(buf[p + 1]) << 8
    return low | np.int64(buf[p + 2]) << 16 | np.int64(buf[p + 3]) << 24


@kernel("UniTuple(int64, 2)(uint8[::1], int64, int64)", helper=True)
def uleb(buf, p, end):
    """ULEB128 of at most 5 bytes: (value, next offset); value -1 if it is cut off or longer."""
    value = 0
    for shift in range(0, 35, 7):
        if p >= end:
            break
        byte = np.int64(buf[p])
        p += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, p
    return -1, p


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
            while q < stop and buf[q] != 0:
                h = (h ^ np.uint64(buf[q])) * PRIME
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
        for i in range(numbers):
            value, p = uleb(buf, p, end)
            if value < 0:
                return -1
            if i == 0:
                index += value
                if index >= limit:
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
def s4(code, p):
    """Signed 32-bit number in two units."""
    return np.int64(np.int32(np.uint32(code[p]) | np.uint32(code[p + 1]) << np.uint32(16)))


@kernel("int64(int64, int64)", helper=True)
def signed(value, bits):
    """Sign-extend the low `bits` bits."""
    sign = 1 << (bits - 1)
    return (value ^ sign) - sign


@kernel("UniTuple(int64, 4)(uint16[::1], int64, int64)", helper=True)
def operands(code, p, form):
    """Operands of the instruction at unit p: registers a, b, c (-1 none) and x (index, literal or relative target).

    For the forms with an argument list: a = number of arguments, b = first register of a range, c = index of the proto.
    """
    unit = np.int64(code[p])
    a, b, c, x = unit >> 8, -1, -1, 0
    if form == F35C or form == F45CC:
        a = unit >> 12
        x = np.int64(code[p + 1])
        if form == F45CC:
            c = np.int64(code[p + 3])
    elif form == F3RC or form == F4RCC:
        x = np.int64(code[p + 1])
        b = np.int64(code[p + 2])
        if form == F4RCC:
            c = np.int64(code[p + 3])
    elif form == F22C or form == F22S or form == F22T:
        a = (unit >> 8) & 15
        b = unit >> 12
        x = np.int64(code[p + 1])
        if form != F22C:
            x = signed(x, 16)
    elif form == F12X:
        a = (unit >> 8) & 15
        b = unit >> 12
    elif form == F21C:
        x = np.int64(code[p + 1])
    elif form == F21T or form == F21S:
        x = signed(np.int64(code[p + 1]), 16)
    elif form == F11N:
        a = (unit >> 8) & 15
        x = signed(unit >> 12, 4)
    elif form == F10X:
        a = -1
    elif form == F23X:
        b = np.int64(code[p + 1]) & 255
        c = np.int64(code[p + 1]) >> 8
    elif form == F10T:
        x = signed(a, 8)
        a = -1
    elif form == F22B:
        b = np.int64(code[p + 1]) & 255
        x = signed(np.int64(code[p + 1]) >> 8, 8)
    elif form == F20T:
        a = -1
        x = signed(np.int64(code[p + 1]), 16)
    elif form == F21H:
        x = signed(np.int64(code[p + 1]), 16) << 16
    elif form == F31I or form == F31T:
        x = s4(code, p + 1)
    elif form == F31C:
        x = s4(code, p + 1) & 0xFFFFFFFF
    elif form == F22X:
        b = np.int64(code[p + 1])
    elif form == F32X:
        a = np.int64(code[p + 1])
        b = np.int64(code[p + 2])
    elif form == F30T:
        a = -1
        x = s4(code, p + 1)
    return a, b, c, x


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


@kernel(
    "int64(uint8[::1], uint16[::1], int64[:, ::1], int64, int64, int64, int32[::1], int32[::1], int32[::1],int64[::1])",
    helper=True,
)
def check_code(buf, code, dex, d, offset, mark, counts, marks, targets, budget):
    """Validate one code item and fill its row of counts; returns its status.

    `marks` and `targets` are scratch of as many rows as the largest code item has units: marks[pc] == mark where an
    instruction of this item starts. `budget` is (units, switch rows, handler rows) that may still be demanded.
    """
    end = dex[d, END]
    if offset & 3 or offset < 0 or offset + 16 > end:
        return BAD_HEADER
    p = offset >> 1
    registers = np.int64(code[p])
    tries = np.int64(code[p + 3])
    size = s4(code, p + 6) & 0xFFFFFFFF
    for i in range(3):
        counts[EXTENT + i] = code[p + i]
    if size == 0:
        return NO_CODE
    if offset + 16 + 2 * size > end:
        return CUT_OFF
    if size > budget[0]:
        return TOO_LARGE
    budget[0] -= size
    counts[EXTENT + 3] = size
    if code[p + 1] > registers:
        return BAD_REGISTER
    p += 8
    n_insns, n_args, n_lit64, n_switch, n_payloads, n_targets = 0, 0, 0, 0, 0, 0
    pc = 0
    while pc < size:
        op = np.int64(code[p + pc]) & 255
        if op == 0 and 0x100 <= code[p + pc] < 0x400:
            units = payload_units(code, p + pc, size - pc)
            if units < 0:
                return BAD_PAYLOAD
            pc += units
            continue
        form = np.int64(FORMAT[op])
        units = np.int64(UNITS[op])
        if form == F_NONE:
            return BAD_OPCODE
        if pc + units > size:
            return CUT_OFF
        a, b, c, x = operands(code, p + pc, form)
        meaning = np.int64(MEANING[op])
        if F35C <= form <= F4RCC:
            n_args += a
            if form == F3RC or form == F4RCC:
                if a > 0 and b + a > registers:
                    return BAD_REGISTER
            else:
                if a > 5:
                    return BAD_REGISTER
                word = np.int64(code[p + pc + 2]) | (np.int64(code[p + pc]) >> 8 & 15) << 16
                for _ in range(a):
                    if word & 15 >= registers:
                        return BAD_REGISTER
                    word >>= 4
            if c >= 0 and c >= dex[d, TABLES + 3 * PROTO]:
                return BAD_INDEX
        else:
            wide = np.int64(WIDE[op])
            if a + (wide & 1) >= registers or b + (wide >> 1 & 1) >= registers or c + (wide >> 2) >= registers:
                return BAD_REGISTER
        if meaning <= HANDLE:
            if x >= dex[d, TABLES + 3 * meaning]:
                return BAD_INDEX
        elif meaning == BRANCH:
            if x + pc < 0 or x + pc >= size:
                return BAD_BRANCH
            targets[n_targets] = x + pc
            n_targets += 1
        elif meaning == LIT64:
            n_lit64 += 1
        elif meaning == PACKED or meaning == SPARSE or meaning == DATA:
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
        marks[pc] = mark
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
    n_tries, n_handlers, last = 0, 0, 0
    table = 2 * (p + size + (size & 1))
    if tries > 0 and table + 8 * tries > end:
        return BAD_TRIES
    for i in range(tries):
        start, length = u4(buf, table + 8 * i), u2(buf, table + 8 * i + 4)
        if start < last or start + length > size or start >= size or marks[start] != mark:
            return BAD_TRIES
        last = start + length
        if length > 0:
            at = table + 8 * tries + u2(buf, table + 8 * i + 6)
            rows = check_handlers(buf, at, end, dex[d, TABLES + 3 * TYPE], size, marks, mark, budget)
            if rows < 0:
                return BAD_TRIES
            n_handlers += rows
            n_tries += 1
    counts[N_INSNS] = n_insns
    counts[N_ARGS] = n_args
    counts[N_LIT64] = n_lit64
    counts[N_SWITCH] = n_switch
    counts[N_PAYLOADS] = n_payloads
    counts[N_TRIES] = n_tries
    counts[N_HANDLERS] = n_handlers
    return ACCEPTED


@kernel(
    "int64(uint8[::1], uint16[::1], int64[:, ::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1], int32[::1],"
    "int32[::1], int64[::1])"
)
def count_code(buf, code, dex, code_dex, offsets, counts, status, marks, targets, budget):
    """Validate and size every code item, see `check_code`. Returns how many were not accepted."""
    bad = 0
    for i in range(len(offsets)):
        status[i] = check_code(
            buf, code, dex, np.int64(code_dex[i]), offsets[i], i + 1, counts[i], marks, targets, budget
        )
        if status[i] != ACCEPTED:
            bad += 1
    return bad


@kernel(
    "void(uint8[::1], uint16[::1], int64[:, ::1], int32[::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1],"
    "int64[:, ::1], uint8[::1], int32[::1], uint16[::1], uint16[::1], uint16[::1], int32[::1], int64[::1],"
    "uint16[::1], int64[::1], int32[::1], int32[::1], int64[::1], int32[:, ::1])"
)
def fill_code(
    buf,
    code,
    dex,
    maps,
    code_dex,
    offsets,
    counts,
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
    """Columns of the instructions of every accepted code item; `starts` (n_code, 7) is the first row of each table."""
    for item in range(len(offsets)):
        if status[item] != ACCEPTED:
            continue
        d = code_dex[item]
        row, arg, lit = starts[item, N_INSNS], starts[item, N_ARGS], starts[item, N_LIT64]
        case, data = starts[item, N_SWITCH], starts[item, N_PAYLOADS]
        p = (offsets[item] >> 1) + 8
        size = np.int64(counts[item, EXTENT + 3])
        pc = 0
        while pc < size:
            op = np.int64(code[p + pc]) & 255
            if op == 0 and 0x100 <= code[p + pc] < 0x400:
                pc += payload_units(code, p + pc, size - pc)
                continue
            form = np.int64(FORMAT[op])
            a, b, c, x = operands(code, p + pc, form)
            meaning = np.int64(MEANING[op])
            arg_off[row] = arg
            if F35C <= form <= F4RCC:
                if form == F3RC or form == F4RCC:
                    for i in range(a):
                        args[arg + i] = b + i
                else:
                    word = np.int64(code[p + pc + 2]) | (np.int64(code[p + pc]) >> 8 & 15) << 16
                    for i in range(a):
                        args[arg + i] = word & 15
                        word >>= 4
                arg += a
                b = 0
                if c >= 0:
                    c = np.int64(maps[dex[d, TABLES + 3 * PROTO + 2] + c])
                    b = c >> 16
            if meaning <= HANDLE:
                x = np.int64(maps[dex[d, TABLES + 3 * meaning + 2] + x])
            elif meaning == BRANCH:
                x += pc
            elif meaning == LIT64:
                value = s4(code, p + pc + 1) & 0xFFFFFFFF
                if form == F51L:
                    lit64[lit] = value | s4(code, p + pc + 3) << 32
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
            elif meaning == PACKED or meaning == SPARSE:
                q = p + pc + x
                rows = np.int64(code[q + 1])
                x = case
                b = rows & 0xFFFF
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
            col_a[row] = max(a, 0)
            col_b[row] = max(b, 0)
            col_c[row] = max(c, 0)
            col_x[row] = x
            row += 1
            pc += UNITS[op]


@kernel(
    "void(uint8[::1], int64[:, ::1], int32[::1], int32[::1], int64[::1], int32[:, ::1], uint8[::1], int64[:, ::1],"
    "int32[:, ::1], int64[::1], int32[:, ::1])"
)
def fill_tries(buf, dex, maps, code_dex, offsets, counts, status, starts, ranges, handler_off, handlers):
    """Try ranges (n, 2: first pc, pc behind the last) and their handlers (n, 2: type or -1, pc)."""
    for item in range(len(offsets)):
        if status[item] != ACCEPTED or counts[item, N_TRIES] == 0:
            continue
        d = code_dex[item]
        end = dex[d, END]
        types = dex[d, TABLES + 3 * TYPE + 2]
        at, row = starts[item, N_TRIES], starts[item, N_HANDLERS]
        size = np.int64(counts[item, EXTENT + 3])
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
