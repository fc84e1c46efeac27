"""Which registers are live at the head of each block, as bit sets."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.cfg import Graph
from analyzer.ir import Op
from analyzer.lift import FILLED, Code

_NOP, _CALL, _APUT = int(Op.NOP), int(Op.CALL), int(Op.APUT)


def solve(code: Code, graph: Graph, parameters: Sequence[int]) -> tuple[list[int], int]:
    """(registers live at the head of each block, registers that may hold more than one definition), as bit sets.

    An exceptional edge keeps a register alive unless it is defined before the block's first throw. A register that is
    live at the entry counts as defined there.
    """
    args, args_start = code.args, code.args_start
    once = several = 0
    for register in parameters:
        once |= 1 << register
    used: list[int] = []
    kept: list[int] = []  # registers that the block does not define
    kept_throwing: list[int] = []  # registers not defined before the first throw; none if nothing throws
    for block, (first, end) in enumerate(graph.bounds):
        use = defined = 0
        thrown = False
        until_throw = 0
        for op, _, dst, a, b, c, _, throws in code.rows[first:end]:
            if op == _NOP:
                continue
            if throws and not thrown:
                thrown = True
                until_throw = ~defined
            if op in (_CALL, FILLED):
                for register in args[a - args_start : b - args_start]:
                    if register >= 0 and not defined >> register & 1:
                        use |= 1 << register
            else:
                if a >= 0 and not defined >> a & 1:
                    use |= 1 << a
                if b >= 0 and not defined >> b & 1:
                    use |= 1 << b
                if op == _APUT and not defined >> c & 1:
                    use |= 1 << c
            if dst >= 0:
                bit = 1 << dst
                several |= once & bit
                once |= bit
                defined |= bit
        used.append(use)
        kept.append(~defined)
        kept_throwing.append(until_throw if graph.handlers[block] else 0)
    live = used.copy()
    changed = True
    while changed:
        changed = False
        for block in range(len(live) - 1, -1, -1):
            out = 0
            for target in graph.successors[block]:
                out |= live[target]
            caught = 0
            for target in graph.handlers[block]:
                caught |= live[target]
            now = used[block] | out & kept[block] | caught & kept_throwing[block]
            if now != live[block]:
                live[block] = now
                changed = True
    return live, several | live[0]  # live at the entry: a parameter, or undefined on some path
