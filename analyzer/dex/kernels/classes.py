"""Class definitions, their members and the initial values of static fields."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.dex.kernels.primitives import kernel, u2, u4, uleb
from analyzer.dex.layout import BASE, CLASSES, DAMAGED, END, NESTED, TABLES
from analyzer.dex.opcodes import FIELD, HANDLE, METHOD, PROTO, STRING, TYPE


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
