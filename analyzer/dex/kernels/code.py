"""Code items: validated and counted in one pass, written to columns in another."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.dex.kernels.primitives import ONE, kernel, s4, u2, u4, uleb, word
from analyzer.dex.layout import (
    ACCEPTED,
    BAD_BRANCH,
    BAD_HEADER,
    BAD_INDEX,
    BAD_OPCODE,
    BAD_PAYLOAD,
    BAD_REGISTER,
    BAD_TRIES,
    CUT_OFF,
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
    LENGTH,
    LIT64,
    LITERAL,
    MEANS,
    PACKED,
    PROTO,
    TYPE,
    UNASSIGNED,
    USES,
    X_LEFT,
    X_MASK,
    X_RIGHT,
)


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
