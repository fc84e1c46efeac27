"""Control-flow graph of one method; the readable definition is `analyzer.cfg`."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

from analyzer.kernels.layout import (
    B_CATCH,
    B_END,
    B_FIRST,
    B_LEFT,
    B_POS,
    B_POST,
    B_RANGE,
    B_STACK,
    B_STAMP,
    B_SUCC,
    E_PRED,
    E_RAW,
    E_SUCC,
    G_BLOCKS,
    G_CATCH,
    G_END,
    G_FIRST,
    G_HANDLER,
    G_INTO,
    G_LEFT,
    G_LOW,
    G_PRED,
    G_RANGE,
    G_STACK,
    G_STAMP,
    G_SUCC,
    GOTO,
    H_BLOCK,
    H_INTO,
    H_RAW,
    H_TARGET,
    H_TYPE,
    I_DECIDED,
    I_NUMBER,
    IF,
    R_C,
    R_OP,
    R_REF,
    R_THROWS,
    RETURN,
    SWITCH,
    T_BEGIN,
    T_END,
    T_FIRST,
    T_LAST,
    THROW,
    Y_NEW,
    Y_TARGETS,
    Y_ZERO,
    Z_BLOCKS,
    Z_HANDLERS,
    Z_TARGETS,
    Z_TRY,
    helper,
)


@helper
def raw_blocks(rows, leader, base, n, switch_target, insns, raw, edges):
    """Blocks in the order of the code and their normal successors; returns how many blocks."""
    count = 0
    for i in range(n):
        insns[I_NUMBER, i] = -1
        if leader[base + i]:
            insns[I_NUMBER, i] = count
            raw[B_FIRST, count] = i
            if count:
                raw[B_END, count - 1] = i
            count += 1
    raw[B_END, count - 1] = n
    for b in range(count + 1):
        raw[B_RANGE, b] = raw[B_CATCH, b] = raw[B_POS, b] = raw[B_STAMP, b] = -1
    m = 0
    for b in range(count):
        raw[B_SUCC, b] = m
        last = raw[B_END, b] - 1
        decided = insns[I_DECIDED, last]
        op = rows[base + last, R_OP]
        if op == RETURN or op == THROW:
            continue
        if decided >= 0 or op == GOTO:
            edges[E_RAW, m] = insns[I_NUMBER, decided if decided >= 0 else rows[base + last, R_C]]
            m += 1
            continue
        if b + 1 < count:  # otherwise it falls off the end, which no valid code does
            edges[E_RAW, m] = b + 1
            raw[B_STAMP, b + 1] = b
            m += 1
        first, targets = 0, 0
        if op == IF:
            targets = 1
        elif op == SWITCH:
            first, targets = rows[base + last, R_REF], rows[base + last, R_C]
        for k in range(first, first + targets):
            target = insns[I_NUMBER, rows[base + last, R_C] if op == IF else switch_target[k]]
            if raw[B_STAMP, target] != b:
                raw[B_STAMP, target] = b
                edges[E_RAW, m] = target
                m += 1
    raw[B_SUCC, count] = m
    return count


@helper
def cover(rows, base, n, tries, first_try, n_tries, handler_insn, insns, raw, count, ranges, handlers):
    """Try range and exceptional successors of each raw block; where ranges overlap the first counts."""
    for b in range(count):
        raw[B_STAMP, b] = -1
    m = 0
    for t in range(n_tries):
        row = first_try + t
        begin, end = tries[row, T_BEGIN], tries[row, T_END]
        ranges[Y_TARGETS, t] = m
        ranges[Y_NEW, t] = -1
        ranges[Y_ZERO, t] = 0
        if begin >= end or begin >= n or insns[I_NUMBER, begin] < 0:
            continue
        for k in range(tries[row, T_FIRST], tries[row, T_LAST]):
            target = insns[I_NUMBER, handler_insn[k]]
            if raw[B_STAMP, target] != t:
                raw[B_STAMP, target] = t
                handlers[H_RAW, m] = target
                m += 1
                if target == 0:
                    ranges[Y_ZERO, t] = 1
        b = insns[I_NUMBER, begin]
        while b < count and raw[B_FIRST, b] < end:
            if raw[B_RANGE, b] < 0:
                raw[B_RANGE, b] = t
                if m > ranges[Y_TARGETS, t]:
                    for i in range(base + raw[B_FIRST, b], base + raw[B_END, b]):
                        if rows[i, R_THROWS]:
                            raw[B_CATCH, b] = t
                            break
            b += 1
    ranges[Y_TARGETS, n_tries] = m


@helper
def walk(raw, count, edges, ranges, handlers):
    """Adds an entry block where block 0 has a predecessor; then reverse post-order. Returns how many are reached."""
    hit = False
    for e in range(raw[B_SUCC, count]):
        hit = hit or edges[E_RAW, e] == 0
    for b in range(count):
        hit = hit or (raw[B_CATCH, b] >= 0 and ranges[Y_ZERO, raw[B_CATCH, b]] == 1)
    entry = 0
    if hit:
        entry = count
        raw[B_FIRST, entry] = raw[B_END, entry] = 0
        edges[E_RAW, raw[B_SUCC, entry]] = 0
        raw[B_SUCC, entry + 1] = raw[B_SUCC, entry] + 1
        raw[B_RANGE, entry] = raw[B_CATCH, entry] = raw[B_POS, entry] = -1
    depth, done, b = 0, 0, entry
    raw[B_STACK, 0] = entry
    raw[B_POS, entry] = 0
    raw[B_LEFT, entry] = -1
    while depth >= 0:
        b = raw[B_STACK, depth]
        normal = raw[B_SUCC, b + 1] - raw[B_SUCC, b]
        catch = raw[B_CATCH, b]
        if raw[B_LEFT, b] < 0:
            raw[B_LEFT, b] = normal + (ranges[Y_TARGETS, catch + 1] - ranges[Y_TARGETS, catch] if catch >= 0 else 0)
        if raw[B_LEFT, b] == 0:
            raw[B_POST, done] = b
            done += 1
            depth -= 1
            continue
        raw[B_LEFT, b] -= 1
        k = raw[B_LEFT, b]
        if k < normal:
            target = edges[E_RAW, raw[B_SUCC, b] + k]
        else:
            target = handlers[H_RAW, ranges[Y_TARGETS, catch] + k - normal]
        if raw[B_POS, target] < 0:
            raw[B_POS, target] = 0
            raw[B_LEFT, target] = -1
            depth += 1
            raw[B_STACK, depth] = target
    for k in range(done):
        b = raw[B_POST, k]
        raw[B_POS, b] = done - 1 - k
        if raw[B_CATCH, b] >= 0:
            ranges[Y_NEW, raw[B_CATCH, b]] = 0
    return done


@helper
def finish(
    raw, count, edges, tries, first_try, n_tries, ranges, handler_insn, handler_type, insns, handlers, final, spans
):
    """The final blocks, edges, ranges and handlers; returns the number of ranges."""
    used = 0
    for b in range(count):
        final[G_HANDLER, b] = -1
        final[G_STAMP, b] = -1
    h = d = 0
    for t in range(n_tries):
        if ranges[Y_NEW, t] < 0:
            continue
        ranges[Y_NEW, t] = used
        spans[Z_TRY, used] = t
        spans[Z_HANDLERS, used] = h
        spans[Z_TARGETS, used] = d
        for k in range(tries[first_try + t, T_FIRST], tries[first_try + t, T_LAST]):
            b = raw[B_POS, insns[I_NUMBER, handler_insn[k]]]
            handlers[H_BLOCK, h] = b
            handlers[H_TYPE, h] = handler_type[k]
            if final[G_HANDLER, b] < 0:
                final[G_HANDLER, b] = h
            h += 1
            if final[G_STAMP, b] != used:
                final[G_STAMP, b] = used
                handlers[H_TARGET, d] = b
                d += 1
        used += 1
    spans[Z_HANDLERS, used] = h
    spans[Z_TARGETS, used] = d
    m = 0
    for b in range(count):
        old = raw[B_POST, count - 1 - b]
        final[G_FIRST, b] = raw[B_FIRST, old]
        final[G_END, b] = raw[B_END, old]
        final[G_RANGE, b] = ranges[Y_NEW, raw[B_RANGE, old]] if raw[B_RANGE, old] >= 0 else -1
        final[G_CATCH, b] = ranges[Y_NEW, raw[B_CATCH, old]] if raw[B_CATCH, old] >= 0 else -1
        final[G_SUCC, b] = m
        for e in range(raw[B_SUCC, old], raw[B_SUCC, old + 1]):
            edges[E_SUCC, m] = raw[B_POS, edges[E_RAW, e]]
            m += 1
    final[G_SUCC, count] = m
    return used


@helper
def into_blocks(final, count, edges, n_ranges, handlers, spans):
    """Predecessors of each block, ascending; ranges that lead to each block; blocks that throw per range."""
    for b in range(count + 1):
        final[G_PRED, b] = final[G_INTO, b] = 0
    for r in range(n_ranges + 1):
        spans[Z_BLOCKS, r] = 0
    for e in range(final[G_SUCC, count]):
        final[G_PRED, edges[E_SUCC, e]] += 1
    for d in range(spans[Z_TARGETS, n_ranges]):
        final[G_INTO, handlers[H_TARGET, d]] += 1
    for b in range(count):
        final[G_PRED, b + 1] += final[G_PRED, b]
        final[G_INTO, b + 1] += final[G_INTO, b]
        if final[G_CATCH, b] >= 0:
            spans[Z_BLOCKS, final[G_CATCH, b]] += 1
    for r in range(n_ranges):
        spans[Z_BLOCKS, r + 1] += spans[Z_BLOCKS, r]
    for b in range(count - 1, -1, -1):
        for e in range(final[G_SUCC, b], final[G_SUCC, b + 1]):
            final[G_PRED, edges[E_SUCC, e]] -= 1
            edges[E_PRED, final[G_PRED, edges[E_SUCC, e]]] = b
        r = final[G_CATCH, b]
        if r >= 0:
            spans[Z_BLOCKS, r] -= 1
            final[G_BLOCKS, spans[Z_BLOCKS, r]] = b
    for r in range(n_ranges - 1, -1, -1):
        for d in range(spans[Z_TARGETS, r], spans[Z_TARGETS, r + 1]):
            b = handlers[H_TARGET, d]
            final[G_INTO, b] -= 1
            handlers[H_INTO, final[G_INTO, b]] = r


@helper
def child(b, k, final, edges, handlers, spans):
    """The k-th block that an edge of block b leads to, exceptional edges last; -1 behind the last."""
    at = final[G_SUCC, b] + k
    if at < final[G_SUCC, b + 1]:
        return edges[E_SUCC, at]
    r = final[G_CATCH, b]
    if r < 0:
        return -1
    at += spans[Z_TARGETS, r] - final[G_SUCC, b + 1]
    return handlers[H_TARGET, at] if at < spans[Z_TARGETS, r + 1] else -1


@helper
def cycles(final, count, edges, handlers, spans, result, first):
    """Which blocks lie on a cycle: members of a component with an edge inside (Tarjan 1972); into result[first:].

    G_STAMP is a block's index, -1 before it is seen and `count` when its component is closed.
    """
    for b in range(count):
        result[first + b] = False
        final[G_STAMP, b] = -1
        final[G_LEFT, b] = 0
    seen, open_, depth = 1, 1, 0  # block 0 reaches every block
    final[G_STACK, 0] = final[G_BLOCKS, 0] = 0  # the walk; the open components
    final[G_STAMP, 0] = final[G_LOW, 0] = 0
    while depth >= 0:
        b = final[G_STACK, depth]
        target = child(b, final[G_LEFT, b], final, edges, handlers, spans)
        if target >= 0:
            final[G_LEFT, b] += 1
            if target == b:
                result[first + b] = True
            if final[G_STAMP, target] < 0:
                final[G_STAMP, target] = final[G_LOW, target] = seen
                final[G_BLOCKS, open_] = target
                seen += 1
                open_ += 1
                depth += 1
                final[G_STACK, depth] = target
            elif final[G_STAMP, target] < count and final[G_STAMP, target] < final[G_LOW, b]:
                final[G_LOW, b] = final[G_STAMP, target]
            continue
        depth -= 1
        if depth >= 0:
            parent = final[G_STACK, depth]
            if final[G_LOW, b] < final[G_LOW, parent]:
                final[G_LOW, parent] = final[G_LOW, b]
        if final[G_LOW, b] == final[G_STAMP, b]:
            several = final[G_BLOCKS, open_ - 1] != b
            member = -1
            while member != b:
                open_ -= 1
                member = final[G_BLOCKS, open_]
                final[G_STAMP, member] = count
                result[first + member] |= several
