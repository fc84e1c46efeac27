"""Phis that need not be, trivial ones and dead ones; and the numbers of the values that stay.

Braun et al., "Simple and efficient construction of static single assignment form" (2013). A value that is undefined
(-1) on some path keeps its phi, so that definitions dominate uses in any code.
"""

# The signature of a kernel is its type, so annotations would only repeat it.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from analyzer.kernels.layout import (
    APUT,
    F_HEAD,
    F_IN,
    F_INSTEAD,
    F_LIVE,
    F_STACK,
    F_TAIL,
    F_VALUE,
    M_OPS,
    M_PAIRS,
    M_PHIS,
    M_USES,
    M_VALUES,
    NONE,
    O_A,
    O_C,
    O_DST,
    O_OP,
    P_IN,
    P_NEXT,
    P_OF,
    P_PHI,
    P_VALUE,
    PHI,
    V_NUMBER,
    V_PHI,
    helper,
)


@helper
def find(values, phis, value):
    """What a value stands for: not a trivial phi. Shortens the way."""
    root = value
    while root >= 0 and values[V_PHI, root] >= 0 and phis[F_INSTEAD, values[V_PHI, root]] != NONE:
        root = phis[F_INSTEAD, values[V_PHI, root]]
    while value != root:
        following = phis[F_INSTEAD, values[V_PHI, value]]
        phis[F_INSTEAD, values[V_PHI, value]] = root
        value = following
    return root


@helper
def sort_pairs(values, phis, pairs, totals):
    """What comes into each phi, and into which phis each phi comes."""
    n = totals[M_PHIS]
    for phi in range(n + 1):
        phis[F_IN, phi] = 0
        phis[F_INSTEAD, phi] = NONE
        phis[F_HEAD, phi] = phis[F_TAIL, phi] = -1
        phis[F_LIVE, phi] = 1
    for m in range(totals[M_PAIRS]):
        phis[F_IN, pairs[P_PHI, m]] += 1
    for phi in range(n):
        phis[F_IN, phi + 1] += phis[F_IN, phi]
    for m in range(totals[M_PAIRS] - 1, -1, -1):
        phi, value = pairs[P_PHI, m], pairs[P_VALUE, m]
        phis[F_IN, phi] -= 1
        at = phis[F_IN, phi]
        pairs[P_IN, at] = value
        pairs[P_OF, at] = phi
        if value >= 0 and values[V_PHI, value] >= 0:
            other = values[V_PHI, value]
            pairs[P_NEXT, at] = phis[F_HEAD, other]
            phis[F_HEAD, other] = at
            if phis[F_TAIL, other] < 0:
                phis[F_TAIL, other] = at


@helper
def replace_trivial(values, phis, pairs, n):
    """Phis that have one other value come in stand for that value. F_LIVE marks those that wait on the stack."""
    depth = n
    for phi in range(n):
        phis[F_STACK, n - 1 - phi] = phi
    while depth > 0:
        depth -= 1
        phi = phis[F_STACK, depth]
        phis[F_LIVE, phi] = 0
        if phis[F_INSTEAD, phi] != NONE:
            continue
        only, several = NONE, False
        for k in range(phis[F_IN, phi], phis[F_IN, phi + 1]):
            value = find(values, phis, pairs[P_IN, k])
            if value == phis[F_VALUE, phi] or value == only:
                continue
            if only != NONE:
                several = True
                break
            only = value
        if several:
            continue
        if only == NONE:
            only = -1
        phis[F_INSTEAD, phi] = only
        at = phis[F_HEAD, phi]
        while at >= 0:
            user = pairs[P_OF, at]
            if phis[F_LIVE, user] == 0:
                phis[F_LIVE, user] = 1
                phis[F_STACK, depth] = user
                depth += 1
            at = pairs[P_NEXT, at]
        if only >= 0 and values[V_PHI, only] >= 0 and phis[F_HEAD, phi] >= 0:
            other = values[V_PHI, only]
            if phis[F_HEAD, other] < 0:
                phis[F_HEAD, other] = phis[F_HEAD, phi]
            else:
                pairs[P_NEXT, phis[F_TAIL, other]] = phis[F_HEAD, phi]
            phis[F_TAIL, other] = phis[F_TAIL, phi]


@helper
def follow(table, row, k, values, phis, depth):
    """Replaces a value by what it stands for; if that is a phi, it is used, and goes on the stack once."""
    value = find(values, phis, table[row, k])
    table[row, k] = value
    if value >= 0 and values[V_PHI, value] >= 0 and phis[F_LIVE, values[V_PHI, value]] == 0:
        phis[F_LIVE, values[V_PHI, value]] = 1
        phis[F_STACK, depth] = values[V_PHI, value]
        return depth + 1
    return depth


@helper
def settle(ops, uses, values, phis, pairs, totals):
    """Replaces trivial phis in operations, marks the operations of dead ones (-1), and numbers the values that stay."""
    n = totals[M_PHIS]
    if n > 0:
        sort_pairs(values, phis, pairs, totals)
        replace_trivial(values, phis, pairs, n)
        for phi in range(n):
            phis[F_LIVE, phi] = 0
        depth = np.int64(0)
        for i in range(totals[M_OPS]):
            for row in range(O_A, O_C + 1 if ops[O_OP, i] == APUT else O_C):
                depth = follow(ops, row, i, values, phis, depth)
        for k in range(totals[M_USES]):
            depth = follow(uses, np.int64(0), k, values, phis, depth)
        while depth > 0:
            depth -= 1
            phi = phis[F_STACK, depth]
            for k in range(phis[F_IN, phi], phis[F_IN, phi + 1]):
                depth = follow(pairs, np.int64(P_IN), k, values, phis, depth)
    number = 0
    for v in range(totals[M_VALUES]):
        values[V_NUMBER, v] = -1
        if values[V_PHI, v] < 0 or phis[F_LIVE, values[V_PHI, v]]:
            values[V_NUMBER, v] = number
            number += 1
    for i in range(totals[M_OPS]):
        if ops[O_OP, i] == PHI and values[V_NUMBER, ops[O_DST, i]] < 0:
            ops[O_OP, i] = -1
