"""Integer constants of an SSA body: folding, and which branches they decide.

`decide` is conditional constant propagation (Wegman and Zadeck, 1991) on phis that are plain unions: what is defined
in a block that cannot run does not come in. Floating-point values are never folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analyzer.cfg import Graph
from analyzer.ir import Body, Op
from analyzer.lift import Code, Table

_INT, _LONG = 32, 64


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _divide(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


_BINARY: tuple[Callable[[int, int, int], int | None], ...] = (
    lambda x, y, bits: x + y,
    lambda x, y, bits: x - y,
    lambda x, y, bits: x * y,
    lambda x, y, bits: _divide(x, y) if y else None,
    lambda x, y, bits: x - _divide(x, y) * y if y else None,
    lambda x, y, bits: x & y,
    lambda x, y, bits: x | y,
    lambda x, y, bits: x ^ y,
    lambda x, y, bits: x << (y & (bits - 1)),
    lambda x, y, bits: x >> (y & (bits - 1)),
    lambda x, y, bits: (x & ((1 << bits) - 1)) >> (y & (bits - 1)),
)
"""add, sub, mul, div, rem, and, or, xor, shl, shr, ushr: in the order of their opcodes."""

_LITERAL16 = {0xD0: 0, 0xD1: -1, 0xD2: 2, 0xD3: 3, 0xD4: 4, 0xD5: 5, 0xD6: 6, 0xD7: 7}
_LITERAL8 = {
    0xD8: 0, 0xD9: -1, 0xDA: 2, 0xDB: 3, 0xDC: 4, 0xDD: 5, 0xDE: 6, 0xDF: 7, 0xE0: 8, 0xE1: 9, 0xE2: 10,
}  # fmt: skip

_UNARY: dict[int, tuple[Callable[[int], int], int]] = {
    0x7B: (lambda x: -x, _INT),
    0x7C: (lambda x: ~x, _INT),
    0x7D: (lambda x: -x, _LONG),
    0x7E: (lambda x: ~x, _LONG),
    0x81: (lambda x: x, _LONG),
    0x84: (lambda x: x, _INT),
    0x8D: (lambda x: _signed(x, 8), _INT),
    0x8E: (lambda x: x & 0xFFFF, _INT),
    0x8F: (lambda x: _signed(x, 16), _INT),
}


def _operators() -> dict[int, tuple[int, int]]:
    """Opcode -> (index in _BINARY, -1 reversed subtraction; width in bits)."""
    found = {}
    for base, bits in ((0x90, _INT), (0x9B, _LONG), (0xB0, _INT), (0xBB, _LONG)):
        found.update({base + k: (k, bits) for k in range(11)})
    found.update({opcode: (k, _INT) for opcode, k in (_LITERAL16 | _LITERAL8).items()})
    return found


_OPERATORS = _operators()


def fold(opcode: int, x: int, y: int) -> int | None:
    """What the dex instruction computes from integers x and y (the literal, or ignored); None: not known."""
    if opcode in _OPERATORS:
        which, bits = _OPERATORS[opcode]
        result = y - x if which < 0 else _BINARY[which](x, y, bits)
        return None if result is None else _signed(result, bits)
    if opcode in _UNARY:
        function, bits = _UNARY[opcode]
        return _signed(function(x), bits)
    if opcode == 0x31:  # cmp-long
        return (x > y) - (x < y)
    return None


def holds(opcode: int, x: int, y: int) -> bool:
    """Whether the `if` instruction branches on integers x and y (0 for the if-*z forms)."""
    return (x == y, x != y, x < y, x >= y, x > y, x <= y)[(opcode - 0x32) % 6]


class _Propagation:
    """The lattice per value: unseen, one integer (`known`), or anything (`varies`); and the blocks that run."""

    def __init__(self, body: Body, branch: Callable[[int, Mapping[int, int]], list[int]], graph: Graph) -> None:
        self.body = body
        self.graph = graph
        self.branch = branch
        self.known: dict[int, int] = {}
        self.varies = bytearray(body.n_values)
        self.varies[: body.n_params] = b"\1" * body.n_params
        self.runs = bytearray(body.n_blocks)
        self.op = body.op.tolist()
        self.dst, self.a, self.b = body.dst.tolist(), body.a.tolist(), body.b.tolist()
        self.c, self.ref = body.c.tolist(), body.ref.tolist()
        self.block_off, self.arg_off, self.args = body.block_off.tolist(), body.arg_off.tolist(), body.args.tolist()
        self.users: dict[int, set[int]] = {}  # value -> blocks that use it in a PHI, DATA or branch

    def solve(self) -> None:
        """Runs to the least fixed point."""
        for block in range(self.body.n_blocks):
            for op in range(self.block_off[block], self.block_off[block + 1]):
                if self.op[op] in (Op.PHI, Op.DATA, Op.IF, Op.SWITCH):
                    for value in self._operands(op):
                        self.users.setdefault(value, set()).add(block)
        self.runs[0] = 1
        dirty = {0}
        while dirty:
            for block in sorted(dirty):
                dirty.discard(block)
                dirty |= self._visit(block)

    def _operands(self, op: int) -> list[int]:
        if self.op[op] == Op.PHI:
            incoming: list[int] = self.args[self.arg_off[op] : self.arg_off[op + 1]]
            return incoming
        return [v for v in (self.a[op], self.b[op]) if v >= 0]

    def _visit(self, block: int) -> set[int]:
        """Evaluates a block; the blocks that have to be looked at again."""
        dirty: set[int] = set()
        last = -1
        for op in range(self.block_off[block], self.block_off[block + 1]):
            last = op
            value = self.dst[op]
            if value < 0 or self.varies[value]:
                continue
            old = self.known.get(value)
            varies, new = self._evaluate(op)
            if varies:
                self.varies[value] = 1
                self.known.pop(value, None)
                dirty |= self.users.get(value, set())
            elif new is not None and new != old:
                self.known[value] = new
                dirty |= self.users.get(value, set())
        for target in self._continues(block, last) + self.graph.handlers[block]:
            if not self.runs[target]:
                self.runs[target] = 1
                dirty.add(target)
        return {b for b in dirty if self.runs[b]}

    def _evaluate(self, op: int) -> tuple[bool, int | None]:
        """(may be anything, else the constant or None where nothing came in yet)."""
        kind = self.op[op]
        if kind == Op.CONST:
            number = self.body.constant.get(self.dst[op])
            return number is None, number
        if kind != Op.PHI and kind != Op.DATA:
            return True, None
        operands = self._operands(op)
        if any(self.varies[v] for v in operands):
            return True, None
        if kind == Op.PHI:
            numbers = {self.known[v] for v in operands if v in self.known}
            return len(numbers) > 1, min(numbers) if numbers else None
        if not operands or any(v not in self.known for v in operands):
            return not operands, None
        result = fold(
            self.ref[op], self.known[operands[0]], self.known[operands[1]] if len(operands) > 1 else self.c[op]
        )
        return result is None, result

    def _continues(self, block: int, last: int) -> list[int]:
        """Normal successors that can be reached, as far as is known now."""
        successors = self.graph.successors[block]
        if len(successors) < 2:
            return successors
        operands = self._operands(last)
        if not operands or any(self.varies[v] for v in operands):
            return successors
        if any(v not in self.known for v in operands):
            return []
        return self.branch(block, self.known)


def decide(body: Body, code: Code, graph: Graph, table: Table) -> dict[int, int]:
    """Blocks that run and end with a branch on constants -> the one successor that they continue at."""
    number = {first: block for block, (first, end) in enumerate(graph.bounds) if first < end}
    last = (body.block_off[1:] - 1).tolist()
    op, a, b, ref, c = (column.tolist() for column in (body.op, body.a, body.b, body.ref, body.c))

    def branch(block: int, known: Mapping[int, int]) -> list[int]:
        at = last[block]
        x = known[a[at]]
        if op[at] == Op.IF:
            y = known[b[at]] if b[at] >= 0 else 0
            return [graph.successors[block][1 if holds(ref[at], x, y) else 0]]
        keys = table.switch_key[ref[at] : ref[at] + c[at]].tolist()
        if x in keys:
            return [number[int(table.switch_target[ref[at] + keys.index(x)])]]
        return graph.successors[block][:1]

    propagation = _Propagation(body, branch, graph)
    propagation.solve()
    decided = {}
    for block, successors in enumerate(graph.successors):
        if len(successors) > 1 and propagation.runs[block]:
            at = last[block]
            operands = [v for v in (a[at], b[at]) if v >= 0]
            if operands and all(v in propagation.known for v in operands):
                decided[block] = branch(block, propagation.known)[0]
    return decided
