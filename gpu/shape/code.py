"""Blocks and operations of the encoded problem: split where a try range may leave them, in reverse post-order."""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from gpu import problem as pb
from gpu.jit import kernel
from gpu.shape import bits
from gpu.shape.applied import applications, look_up, writes_heap
from gpu.shape.cells import place, token
from gpu.shape.layout import (
    C_N_THROWN,
    C_OP,
    C_THROWN,
    CALL,
    E_APPLIED,
    E_BLOCKS,
    E_CLEARS,
    E_DRAFTS,
    E_EDGES,
    E_NODES,
    E_NUMBER,
    E_OPS,
    E_PLACES,
    E_SUCCS,
    GEN,
    LABELS,
    LOAD,
    NODE_EDGE,
    NODE_END,
    NODE_FIRST,
    NODE_LAST,
    NODE_NUMBER,
    OP_CLEAR,
    OP_DST,
    OP_EXTRA,
    OP_KIND,
    OP_LINK,
    OP_MASK,
    OP_ORIGIN,
    OP_SRC,
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
    PER_EXIT,
    R_FILTER,
    R_KIND,
    SM_N_ROWS,
    STATIC,
    STATUS,
    STORE,
    TABLE_GET,
    X_ONE,
)
from gpu.shape.links import everything, filter_mask, has_room, keep_filter, read_link, write_link
from gpu.shape.signatures import CODE, ENCODING, FLOW, INT, STATE, WORLD


@kernel(INT(ENCODING), helper=True)
def new_node(e):
    """A new block, empty."""
    n = e.cnt[E_NODES]
    e.node[n, NODE_FIRST] = 0
    e.node[n, NODE_END] = 0
    e.node[n, NODE_EDGE] = -1
    e.node[n, NODE_LAST] = -1
    e.node[n, NODE_NUMBER] = -1
    e.cnt[E_NODES] = n + 1
    return n


@kernel(INT(ENCODING, INT, INT), helper=True)
def add_edge(e, a, b):
    """Adds a successor to a block."""
    n = e.cnt[E_EDGES]
    e.edge[n, 0] = b
    e.edge[n, 1] = -1
    if e.node[a, NODE_EDGE] < 0:
        e.node[a, NODE_EDGE] = n
    else:
        e.edge[e.node[a, NODE_LAST], 1] = n
    e.node[a, NODE_LAST] = n
    e.cnt[E_EDGES] = n + 1
    return n


@kernel(INT(STATE, ENCODING, INT, INT, INT, INT, INT, INT, INT, INT), helper=True)
def emit(s, e, node, kind, dst, src, link, m, origin, clearing):
    """Adds an operation to a block, whose operations are added without a break; `clearing`: a primitive, or -1."""
    n = e.cnt[E_DRAFTS]
    if not has_room(s, e, n, len(e.draft)):
        return 0
    if e.node[node, NODE_END] == 0:
        e.node[node, NODE_FIRST] = n
    e.node[node, NODE_END] = n + 1
    draft = e.draft
    draft[n, OP_KIND] = kind
    draft[n, OP_DST] = dst
    draft[n, OP_SRC] = src
    draft[n, OP_LINK] = link
    draft[n, OP_MASK] = m
    draft[n, OP_ORIGIN] = origin
    draft[n, OP_EXTRA] = 0
    draft[n, OP_CLEAR] = clearing
    e.cnt[E_DRAFTS] = n + 1
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT, INT), helper=True)
def leave(w, s, code, e, now, call_number):
    """Ends a block before an operation that may throw; the block that goes on. `call_number`: a call that changes.

    The block's state reaches the range, which is the caller's to connect; before a call that changes the heap, so does
    the state after the callees' shape effects, which are applied weakly in a block of their own: node + 1, or none.
    """
    after = new_node(e)
    add_edge(e, now, after)
    if call_number < 0:
        return after
    some = 0
    for i in range(e.cnt[E_APPLIED]):
        some |= writes_heap(w, e.applied[i, 1])
    if some:
        node = new_node(e)
        number = applications(w, s, code, e, call_number, 1)
        emit(s, e, node, pb.APPLY, number, 0, -1, -1, code.cal[call_number, C_OP], -1)
        e.draft[e.cnt[E_DRAFTS] - 1, OP_EXTRA] = 1
        add_edge(e, now, node)
    return after


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT), helper=True)
def call_op(w, s, code, flow, e, node, p):
    """Writes a call into a block."""
    c = code.prm[p, P_OP]
    clears = flow.clear_off[p + 1] > flow.clear_off[p]
    some = False
    for i in range(e.cnt[E_APPLIED]):
        if w.smm[e.applied[i, 1], SM_N_ROWS]:
            some = True
    if not some and not clears:
        return 0
    origin = code.cal[c, C_OP]
    emit(s, e, node, pb.APPLY, applications(w, s, code, e, c, 0), 0, -1, -1, origin, p if clears else -1)
    if code.cal[c, C_N_THROWN] == 2:
        at = code.cal[c, C_THROWN]
        a, b = e.map[code.lst[at]], e.map[code.lst[at + 1]]
        if a >= 0 and b >= 0:
            emit(s, e, node, pb.OR, b, a, -1, -1, origin, -1)
    return 1


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT), helper=True)
def primitive(w, s, code, flow, e, node, p):
    """Writes a primitive that is no call into a block; one that can do nothing is left out."""
    prm, tmp = code.prm, s.tmp
    kind, op, dst, src, value = prm[p, P_KIND], prm[p, P_OP], prm[p, P_DST], prm[p, P_SRC], prm[p, P_VALUE]
    clears = flow.clear_off[p + 1] > flow.clear_off[p]
    clearing = p if clears else -1
    to = e.map[dst] if dst >= 0 else -1
    if kind == GEN:
        if to >= 0:
            emit(s, e, node, pb.GENERATE, to, token(w, s, prm[p, P_KEY]), -1, -1, op, -1)
    elif kind == TABLE_GET:
        at = place(w, s, P_STATIC, prm[p, P_FIELD], 0)
        if at >= 0 and to >= 0:
            for i in range(at + 1, at + 1 + w.lists[at]):
                emit(s, e, node, pb.GENERATE, to, token(w, s, w.lists[i]), -1, -1, op, -1)
    elif kind == OR:
        if to >= 0 and src >= 0 and e.map[src] >= 0:
            everything(s.hd, tmp)
            keep_filter(w, s, prm[p, P_FILTER])
            keep_filter(w, s, s.ri[dst, R_FILTER])
            if clears or bits.meet(s.rb, src, tmp, X_ONE):
                emit(s, e, node, pb.OR, to, e.map[src], -1, filter_mask(s, e, s.rb, src), op, clearing)
    elif kind == LOAD:
        base = e.map[src]
        emit(s, e, node, pb.LOAD, to, base, read_link(w, s, e, s.rb, src, prm[p, P_FIELD]), -1, op, -1)
        if bits.meet(s.rb, src, s.mk, LABELS):
            bits.copy(tmp, X_ONE, s.mk, LABELS)
            emit(s, e, node, pb.OR, to, base, -1, filter_mask(s, e, s.rb, src), op, -1)
    elif kind == STORE:
        if bits.some(s.rb, src) and (clears or bits.some(s.rb, value)):
            link = write_link(w, s, e, s.rb, src, prm[p, P_FIELD])
            emit(s, e, node, pb.STORE, e.map[value], e.map[src], link, -1, op, clearing)
    return 1


@kernel(INT(WORLD, STATE, CODE, ENCODING, INT), helper=True)
def changes_heap(w, s, code, e, p):
    """Whether a primitive may change the heap; of a call, `look_up` comes first."""
    kind = code.prm[p, P_KIND]
    if kind == CALL:
        for i in range(e.cnt[E_APPLIED]):
            if writes_heap(w, e.applied[i, 1]):
                return 1
        return 0
    return 1 if kind == STORE or (kind == OR and s.ri[code.prm[p, P_DST], R_KIND] == STATIC) else 0


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING, INT, INT, INT), helper=True)
def operation(w, s, code, flow, e, op, now, fresh_range):
    """Writes one operation. Returns the block that goes on, twice, plus whether the next throw begins a new block.

    `fresh_range`: node of the range that covers the operation, twice, plus whether its state is news to it; or -1.
    """
    fresh = fresh_range & 1 if fresh_range >= 0 else 0
    call_number = np.int64(-1)
    p = e.first[op]
    changes = 0
    while p >= 0:
        if code.prm[p, P_KIND] == CALL:
            call_number = code.prm[p, P_OP]
            if not look_up(w, s, code, e, call_number):
                return 2 * now + fresh
        changes |= changes_heap(w, s, code, e, p)
        p = e.next[p]
    if fresh_range >= 0 and flow.throws[op] and (fresh or changes):
        before = now
        now = leave(w, s, code, e, before, call_number if changes else -1)
        if e.cnt[E_NODES] == now + 2:  # a block with the effects on the way
            add_edge(e, now + 1, fresh_range >> 1)
        add_edge(e, before, fresh_range >> 1)
        fresh = changes
    at = e.cnt[E_PLACES] + op
    e.place[at, 0] = now
    e.place[at, 1] = e.node[now, NODE_END] - e.node[now, NODE_FIRST]
    p = e.first[op]
    while p >= 0:
        if code.prm[p, P_KIND] == CALL:
            call_op(w, s, code, flow, e, now, p)
        else:
            primitive(w, s, code, flow, e, now, p)
        if s.hd[STATUS]:
            return 2 * now + fresh
        p = e.next[p]
    return 2 * now + fresh


@kernel(INT(WORLD, STATE, CODE, FLOW, ENCODING), helper=True)
def blocks(w, s, code, flow, e):
    """Lays out blocks. A block that a try range covers is split where its state changes between throws."""
    cnt = e.cnt
    n_blocks, n_ranges = len(flow.ops) - 1, len(flow.range_off) - 1
    cnt[E_NODES] = cnt[E_EDGES] = cnt[E_DRAFTS] = 0
    for _ in range(2 + n_blocks + n_ranges):
        new_node(e)
    end = 1 + n_blocks + n_ranges
    add_edge(e, 0, 1)
    for r in range(n_ranges):
        for i in range(flow.range_off[r], flow.range_off[r + 1]):
            known = False
            for j in range(flow.range_off[r], i):
                known |= flow.handler[j] == flow.handler[i]
            if not known:
                add_edge(e, 1 + n_blocks + r, 1 + flow.handler[i])
    for b in range(n_blocks):
        now = 1 + b
        covered = flow.range[b]
        fresh = 1
        leaves = -1
        for op in range(flow.ops[b], flow.ops[b + 1]):
            where = 2 * (1 + n_blocks + covered) + fresh if covered >= 0 else -1
            after = operation(w, s, code, flow, e, op, now, where)
            if s.hd[STATUS]:
                return 0
            now, fresh = after >> 1, after & 1
            if flow.returns[op]:
                leaves = now
        for i in range(flow.succ_off[b], flow.succ_off[b + 1]):
            add_edge(e, now, 1 + flow.succ[i])
        if leaves >= 0:
            add_edge(e, leaves, end)
    return 1


@kernel(INT(ENCODING), helper=True)
def number_blocks(e):
    """Numbers the blocks that are reached in reverse post-order: `order`, and how many they are."""
    node, stack = e.node, e.stack
    n = e.cnt[E_NODES]
    found = 0
    top = 0
    stack[0, 0] = 0
    stack[0, 1] = node[0, NODE_EDGE]
    node[0, NODE_NUMBER] = -2
    while top >= 0:
        edge = stack[top, 1]
        if edge < 0:
            found += 1
            e.order[n - found] = stack[top, 0]
            top -= 1
            continue
        stack[top, 1] = e.edge[edge, 1]
        to = e.edge[edge, 0]
        if node[to, NODE_NUMBER] == -1:
            node[to, NODE_NUMBER] = -2
            top += 1
            stack[top, 0] = to
            stack[top, 1] = node[to, NODE_EDGE]
    for i in range(found):
        e.order[i] = e.order[n - found + i]
        node[e.order[i], NODE_NUMBER] = i
    return found


@kernel(INT(STATE, FLOW, ENCODING, INT), helper=True)
def write_op(s, flow, e, x):
    """Writes a drafted operation."""
    cnt = e.cnt
    n = cnt[E_OPS]
    if not has_room(s, e, n, len(e.op)):
        return 0
    for k in range(OP_CLEAR):
        e.op[n, k] = e.draft[x, k]
    p = e.draft[x, OP_CLEAR]
    first = cnt[E_CLEARS]
    if p >= 0:
        for i in range(flow.clear_off[p], flow.clear_off[p + 1]):
            row = e.map[flow.clear[i]]
            known = row < 0
            for j in range(first, cnt[E_CLEARS]):
                known |= e.clear[j] == row
            if not known and has_room(s, e, cnt[E_CLEARS], len(e.clear)):
                e.clear[cnt[E_CLEARS]] = row
                cnt[E_CLEARS] += 1
    e.op[n, OP_CLEAR] = cnt[E_CLEARS]
    cnt[E_OPS] = n + 1
    return 1


@kernel(INT(STATE, FLOW, ENCODING), helper=True)
def write_blocks(s, flow, e):
    """Writes the blocks that are reached."""
    cnt, node = e.cnt, e.node
    found = number_blocks(e)
    for i in range(found):
        b = e.order[i]
        first = cnt[E_SUCCS]
        edge = node[b, NODE_EDGE]
        while edge >= 0:
            to = node[e.edge[edge, 0], NODE_NUMBER]
            edge = e.edge[edge, 1]
            at = cnt[E_SUCCS]
            if not has_room(s, e, at, len(e.succ)):
                return 0
            while at > first and e.succ[at - 1] > to:
                at -= 1
            if at > first and e.succ[at - 1] == to:
                continue
            for j in range(cnt[E_SUCCS], at, -1):
                e.succ[j] = e.succ[j - 1]
            e.succ[at] = to
            cnt[E_SUCCS] += 1
        for x in range(node[b, NODE_FIRST], node[b, NODE_END]):
            write_op(s, flow, e, x)
        n = cnt[E_BLOCKS]
        if not has_room(s, e, n, len(e.block)):
            return 0
        e.block[n, 0] = cnt[E_SUCCS]
        e.block[n, 1] = cnt[E_OPS]
        cnt[E_BLOCKS] = n + 1
    at = cnt[E_PLACES]
    for op in range(len(flow.throws)):
        e.place[at + op, 0] = node[e.place[at + op, 0], NODE_NUMBER]
    cnt[E_PLACES] = at + len(flow.throws)
    e.per[cnt[E_NUMBER], PER_EXIT] = node[len(flow.ops) + len(flow.range_off) - 1, NODE_NUMBER]
    return 1
