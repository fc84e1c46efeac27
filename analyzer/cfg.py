"""Control-flow graph of one method: basic blocks, normal and exceptional edges, reverse post-order, cycles.

Blocks are split at branch targets, after branches, at handlers and at both bounds of try ranges. A block that lies in
a try range and holds an operation that may throw has exceptional edges to all handlers of the range; they leave from
the state *before* each such operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.ir import Op
from analyzer.lift import OP, REF, THROWS, C, Code, Table

_ENDS = frozenset((int(Op.RETURN), int(Op.THROW)))


@dataclass(slots=True)
class Graph:
    """Reachable blocks in reverse post-order; block 0 is the entry and has no predecessor."""

    bounds: list[tuple[int, int]]
    """First and end instruction of each block; the entry may be empty."""
    successors: list[list[int]]
    """Normal successors, fall-through first, without duplicates."""
    handlers: list[list[int]]
    """Handler blocks that a throw in the block can reach, without duplicates; empty where nothing throws."""
    range_of: list[int]
    """Try range of each block or -1."""
    ranges: list[list[tuple[int, int]]]
    """(caught type id or -1, handler block) per range, in order."""

    def predecessors(self) -> tuple[list[list[int]], list[list[int]]]:
        """Normal and exceptional predecessors of each block, ascending."""
        normal: list[list[int]] = [[] for _ in self.bounds]
        exceptional: list[list[int]] = [[] for _ in self.bounds]
        for block, targets in enumerate(self.successors):
            for target in targets:
                normal[target].append(block)
        for block, targets in enumerate(self.handlers):
            for target in targets:
                exceptional[target].append(block)
        return normal, exceptional


def build(code: Code, table: Table, decided: Mapping[int, int] | None = None) -> Graph:
    """The graph of `code`.

    `decided`: branch instruction -> the one instruction that it continues at, for branches on constants.
    """
    starts = code.starts
    if len(starts) == 1 and not code.tries:
        end = code.rows[-1][OP]
        if end != Op.GOTO and end != Op.IF and end != Op.SWITCH:
            return Graph([(0, len(code.rows))], [[]], [[]], [-1], [])
    ends = [*starts[1:], len(code.rows)]
    number = {start: block for block, start in enumerate(starts)}
    successors = [_successors(code, table, end - 1, number, decided or {}) for end in ends]
    range_of, catchers = _cover(code, table, starts, ends, number)
    bounds = list(zip(starts, ends, strict=True))
    entry = 0
    if any(0 in s for s in successors) or any(0 in c for c in catchers):
        entry = len(bounds)
        bounds.append((0, 0))
        successors.append([0])
        range_of.append(-1)
        catchers.append([])
    order = reverse_post_order(entry, lambda block: successors[block] + catchers[block], len(bounds))
    position = {block: k for k, block in enumerate(order)}
    used = sorted({range_of[block] for block in order if catchers[block]})
    renumbered = {old: new for new, old in enumerate(used)}
    ranges = []
    for old in used:
        _, _, first, last = code.tries[old]
        types, insns = table.handler_type[first:last].tolist(), table.handler_insn[first:last].tolist()
        ranges.append([(t, position[number[i]]) for t, i in zip(types, insns, strict=True)])
    return Graph(
        [bounds[block] for block in order],
        [[position[s] for s in successors[block]] for block in order],
        [[position[s] for s in catchers[block]] for block in order],
        [renumbered.get(range_of[block], -1) for block in order],
        ranges,
    )


def _successors(
    code: Code, table: Table, last: int, number: Mapping[int, int], decided: Mapping[int, int]
) -> list[int]:
    row = code.rows[last]
    op = row[OP]
    if op in _ENDS:
        return []
    if last in decided:
        return [number[decided[last]]]
    if op == Op.GOTO:
        return [number[row[C]]]
    following = number.get(last + 1)  # None: falls off the end, which no valid code does
    found = [] if following is None else [following]
    if op == Op.IF:
        found.append(number[row[C]])
    elif op == Op.SWITCH:
        targets = table.switch_target[row[REF] : row[REF] + row[C]].tolist()
        found.extend(number[t] for t in targets)
    return list(dict.fromkeys(found)) if len(found) > 1 else found


def _cover(
    code: Code, table: Table, starts: Sequence[int], ends: Sequence[int], number: Mapping[int, int]
) -> tuple[list[int], list[list[int]]]:
    """Try range and exceptional successors of each block; where ranges overlap, which no valid code has, the first."""
    range_of = [-1] * len(starts)
    catchers: list[list[int]] = [[] for _ in starts]
    for index, (begin, end, first, last) in enumerate(code.tries):
        if begin >= end or begin not in number:
            continue
        targets = list(dict.fromkeys(number[i] for i in table.handler_insn[first:last].tolist()))
        block = number[begin]
        while block < len(starts) and starts[block] < end:
            if range_of[block] < 0:
                range_of[block] = index
                if any(row[THROWS] for row in code.rows[starts[block] : ends[block]]):
                    catchers[block] = targets
            block += 1
    return range_of, catchers


def reverse_post_order(entry: int, successors: Callable[[int], Sequence[int]], n_blocks: int) -> list[int]:
    """Blocks reachable from `entry` in reverse post-order; a block's first successor comes as early as it can."""
    seen = bytearray(n_blocks)
    order: list[int] = []
    stack = [entry]
    while stack:
        block = stack.pop()
        if block < 0:
            order.append(~block)
        elif not seen[block]:
            seen[block] = 1
            stack.append(~block)
            stack.extend(successors(block))
    order.reverse()
    return order


def in_cycle(successors: Sequence[Sequence[int]]) -> list[bool]:
    """Which blocks lie on a cycle: members of a strongly connected component with an edge inside (Tarjan 1972).

    Blocks are numbered in reverse post-order: without an edge backwards nothing is on a cycle.
    """
    result = [False] * len(successors)
    if not any(target <= block for block, targets in enumerate(successors) for target in targets):
        return result
    index: dict[int, int] = {}
    low = [0] * len(successors)
    component: list[int] = []
    closed = bytearray(len(successors))
    for root in range(len(successors)):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        component.append(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            block, rest = stack[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    component.append(target)
                    stack.append((target, iter(successors[target])))
                    break
                if not closed[target]:
                    low[block] = min(low[block], index[target])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[block])
                if low[block] == index[block]:
                    members = [component.pop()]
                    while members[-1] != block:
                        members.append(component.pop())
                    looping = len(members) > 1 or block in successors[block]
                    for member in members:
                        closed[member] = 1
                        result[member] = looping
    return result
