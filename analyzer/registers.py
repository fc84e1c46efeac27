"""Which SSA values a dex register may hold at a place: SSA form has dropped moves, so the instructions are asked."""

from __future__ import annotations

from bisect import bisect_left

from analyzer import cfg
from analyzer.ir import Body, Op
from analyzer.kernels.layout import MOVE
from analyzer.lift import DST, PC, THROWS, A, Code
from analyzer.lift import OP as ROW_OP
from analyzer.program import Program

_PHI = int(Op.PHI)


class Registers:
    """Reaching definitions of one method, looked for backwards from where they are wanted.

    Phis are not among the values: what comes into them is. A path that a branch on a constant excludes brings
    nothing. The second register of a wide value holds what it held before.
    """

    def __init__(self, program: Program, method: int, body: Body, code: Code) -> None:
        self.body, self.code = body, code
        self.n_registers = code.n_registers
        self._pcs = [row[PC] for row in code.rows]
        self.last_pc = self._pcs[-1]
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        self._defined: dict[tuple[int, int], int] = {}  # (pc, register) -> value
        self._parameters: dict[int, int] = {int(body.value_reg[v]): v for v in range(body.n_params)}
        ops, dst = body.op.tolist(), body.dst.tolist()
        registers = body.value_reg.tolist()
        for i, pc in enumerate(body.pc.tolist()):
            if dst[i] >= 0 and ops[i] != _PHI and registers[dst[i]] >= 0:
                self._defined[pc, registers[dst[i]]] = dst[i]
        alive = {pc for pc, op in zip(body.pc.tolist(), ops, strict=True) if op != _PHI}
        self._graph(program, alive)

    def _graph(self, program: Program, alive: set[int]) -> None:
        """Blocks of the instructions, without edges out of blocks and into blocks that the body has pruned."""
        graph = cfg.build(self.code, program.table)
        self.bounds = graph.bounds
        rows = self.code.rows
        jumps = {pc: op for pc, op in zip(self.body.pc.tolist(), self.body.op.tolist(), strict=True) if op != _PHI}
        kept = [not any(self._emits(row) and row[PC] not in alive for row in rows[a:b]) for a, b in graph.bounds]
        self.normal: list[list[int]] = [[] for _ in graph.bounds]
        self.exceptional: list[list[int]] = [[] for _ in graph.bounds]
        for block, (targets, handlers) in enumerate(zip(graph.successors, graph.handlers, strict=True)):
            if not kept[block]:
                continue
            first, end = graph.bounds[block]
            last = rows[end - 1] if first < end else None
            if last is not None and last[ROW_OP] in (Op.IF, Op.SWITCH) and jumps.get(last[PC]) == Op.GOTO:
                targets = self._taken(last[PC], targets, graph, alive)
            for target in targets:
                if kept[target]:
                    self.normal[target].append(block)
            for target in handlers:
                self.exceptional[target].append(block)
        self.block_of = [0] * len(rows)
        for block, (first, end) in enumerate(graph.bounds):
            for row in range(first, end):
                self.block_of[row] = block
        self.entry = 0

    @staticmethod
    def _emits(row: list[int]) -> bool:
        """Whether a row leaves an operation in the body wherever it can be reached."""
        return row[ROW_OP] not in (MOVE, Op.NOP, Op.CAUGHT)

    def _taken(self, pc: int, targets: list[int], graph: cfg.Graph, alive: set[int]) -> list[int]:
        """The target that a decided branch continues at, told by the first operation behind it."""
        body = self.body
        op = next(i for i, p in enumerate(body.pc.tolist()) if p == pc and body.op[i] != _PHI)
        block = int(body.block_off.searchsorted(op, side="right")) - 1
        wanted = self._first_pc(block)
        found = [t for t in targets if self._first_row_pc(t, graph, alive) == wanted]
        return found or targets

    def _first_pc(self, block: int) -> int:
        """Program counter of the first operation behind a block that has one successor."""
        body, seen = self.body, set()
        while True:
            block = int(body.succ[body.succ_off[block]])
            for op in range(int(body.block_off[block]), int(body.block_off[block + 1])):
                if body.op[op] != _PHI:
                    return int(body.pc[op])
            if block in seen or body.succ_off[block] == body.succ_off[block + 1]:
                return -1
            seen.add(block)

    def _first_row_pc(self, block: int, graph: cfg.Graph, alive: set[int]) -> int:
        seen = set()
        while block not in seen:
            seen.add(block)
            first, end = graph.bounds[block]
            for row in self.code.rows[first:end]:
                if row[PC] in alive and row[ROW_OP] not in (MOVE, Op.NOP):
                    return row[PC]
            if not graph.successors[block]:
                break
            block = graph.successors[block][0]
        return -1

    def row_at(self, pc: int) -> int:
        """The instruction at a pc, or the next one; -1 behind the end."""
        row = bisect_left(self._pcs, pc)
        return row if row < len(self._pcs) else -1

    def values(self, row: int, register: int) -> frozenset[int]:
        """Values that the register may hold just before instruction `row`; -1 among them: undefined."""
        if (row, register) not in self._known:
            self._known[row, register] = self._values(row, register)
        return self._known[row, register]

    def _values(self, row: int, register: int) -> frozenset[int]:
        found: set[int] = set()
        seen: set[tuple[int, int]] = set()
        block = self.block_of[row]
        work = [(block, row, register)]
        while work:
            block, end, r = work.pop()
            left = self._search(block, end, r, found)
            if left < 0 or (block, left) in seen:
                continue
            seen.add((block, left))
            if block == self.entry:
                found.add(self._parameters.get(left, -1))
            work += [(p, self.bounds[p][1], left) for p in self.normal[block]]
            for p in self.exceptional[block]:
                first, last = self.bounds[p]
                work += [(p, at, left) for at in range(first, last) if self.code.rows[at][THROWS]]
        return frozenset(found)

    def _search(self, block: int, end: int, r: int, found: set[int]) -> int:
        """Goes back from `end` to the head of a block; the register still wanted there, or -1 when it was found."""
        for at in range(end - 1, self.bounds[block][0] - 1, -1):
            line = self.code.rows[at]
            if line[DST] != r:
                continue
            if line[ROW_OP] == MOVE:
                r = line[A]
                continue
            found.add(self._defined.get((line[PC], r), -1))
            return -1
        return r


def origins(body: Body) -> list[frozenset[int]]:
    """Per value: the values other than phis that it may be."""
    dst, ops = body.dst.tolist(), body.op.tolist()
    incoming: dict[int, list[int]] = {}
    for i, op in enumerate(ops):
        if op == _PHI:
            incoming[dst[i]] = body.args[body.arg_off[i] : body.arg_off[i + 1]].tolist()
    found: list[frozenset[int]] = []
    for value in range(body.n_values):
        reached, work = {value}, [value]
        while work:
            for other in incoming.get(work.pop(), ()):
                if other not in reached:
                    reached.add(other)
                    work.append(other)
        found.append(frozenset(v for v in reached if v not in incoming))
    return found
