"""SSA form of one method, to be read: what the kernels behind `analyzer.bodies` must give.

Each register renamed to values, phis only where they are needed and live.

Blocks are renamed in reverse post-order. At a join, a phi is made for each live register on whose value the edges
differ or may differ (a loop's back edge is not known yet); phis that turn out to be trivial are removed afterwards, as
in Braun et al., "Simple and efficient construction of static single assignment form" (2013). An exceptional edge
brings, for each operation of the block that may throw, the state before it.

A value that is undefined (-1) on some path keeps its phi, so that definitions dominate uses in any code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from analyzer import cfg
from analyzer.ir import Body, Op
from analyzer.lift import FILLED, MOVE, Code, Table
from gpu.errors import UnreadableInput
from tests.analyzer.readable import constants, liveness
from tests.analyzer.readable import phis as phis_of

_PRUNING_ROUNDS = 8
"""Each round decides branches on constants that the round before exposed; more would be quadratic in hostile code."""

LITERAL_POOL = frozenset((0x18, 0x19))
"""Opcodes whose literal is an index into Table.lit64."""

_NOP, _CONST, _APUT, _CALL, _CAUGHT = int(Op.NOP), int(Op.CONST), int(Op.APUT), int(Op.CALL), int(Op.CAUGHT)
_DATA, _IF, _SWITCH, _GOTO, _PHI = int(Op.DATA), int(Op.IF), int(Op.SWITCH), int(Op.GOTO), int(Op.PHI)
_NEW_ARRAY, _NODATA = int(Op.NEW_ARRAY), int(Op.NODATA)

_LARGEST_STATE = 1 << 25
"""Registers times blocks of one method: what its renaming holds at once. Real giants need a tenth of it."""

_NO_CYCLE = np.zeros(1, np.bool_)

_WIDTH = 8  # op, pc, dst, a, b, c, ref, throws


def build(code: Code, table: Table, parameters: Sequence[int]) -> Body:
    """The body of `code`; `parameters`: the register of each parameter, `this` first."""
    decided: dict[int, int] = {}
    for _ in range(_PRUNING_ROUNDS):
        graph = cfg.build(code, table, decided)
        if code.n_registers * len(graph.bounds) > _LARGEST_STATE:
            raise UnreadableInput(f"{code.n_registers} registers in {len(graph.bounds)} blocks are too many")
        renaming = _Renaming(code, table, graph, parameters)
        body = renaming.body()
        if not renaming.branches_on_constants:
            break
        taken = constants.decide(body, code, graph, table)
        if not taken:
            break
        for block, target in taken.items():
            decided[graph.bounds[block][1] - 1] = graph.bounds[target][0]
    return body


class _Renaming:
    """One pass over the blocks of a graph, and what it collects."""

    def __init__(self, code: Code, table: Table, graph: cfg.Graph, parameters: Sequence[int]) -> None:
        self.code = code
        self.table = table
        self.graph = graph
        self.first_handler: dict[int, int] = {}  # block -> handler
        for handler, (_, target) in enumerate(chain(*graph.ranges)):
            self.first_handler.setdefault(target, handler)
        self.n_params = len(parameters)
        self.value_reg: list[int] = list(parameters)
        self.constant: dict[int, int] = {}
        self.foldable: set[int] = set()  # values that may turn out to be constants
        self.branches_on_constants = False
        self.out: list[int] = []  # _WIDTH numbers per operation
        self.block_off: list[int] = [0]
        self.arguments: list[tuple[int, list[int]]] = []  # (operation, values) of calls, ascending
        self.stores: list[int] = []  # APUT operations
        self.phis: dict[int, set[int]] = {}  # value -> values that come in
        self.phi_op: dict[int, int] = {}  # value -> operation
        self.exits: list[list[int]] = []  # block -> register -> value at its end
        self.thrown: list[dict[int, list[int]]] = []  # block -> register defined in it -> values visible at throws

    def body(self) -> Body:
        """Renames all blocks and assembles the arrays."""
        graph = self.graph
        n = self.code.n_registers
        state = [-1] * (n + 1)  # the last slot is what an absent operand (-1) reads
        for value, register in enumerate(self.value_reg):
            if register < n:
                state[register] = value
        if len(graph.bounds) == 1:
            self._rename(0, state, [])
        else:
            self._rename_all(state)
        return self._assemble()

    def _rename_all(self, state: list[int]) -> None:
        graph = self.graph
        normal, exceptional = graph.predecessors()
        joins = any(exceptional) or any(len(p) > 1 for p in normal)
        live, several = liveness.solve(self.code, graph, self.value_reg) if joins else ([], 0)
        pending: list[tuple[int, int, int]] = []
        for block in range(len(graph.bounds)):
            before, thrower = normal[block], exceptional[block]
            new_phis: list[int] = []
            if block:
                known = [p for p in before if p < block] or [p for p in thrower if p < block]
                state = self.exits[known[0]].copy()
                if thrower or len(before) > 1:
                    new_phis = self._join(block, state, before, thrower, live[block] & several, pending)
            self._rename(block, state, new_phis)
        for block, register, phi in pending:
            incoming = self.phis[phi]
            for p in normal[block]:
                if p >= block:
                    incoming.add(self.exits[p][register])
            for p in exceptional[block]:
                if p >= block:
                    incoming.update(self._at_throws(p, register))

    def _join(
        self,
        block: int,
        state: list[int],
        before: list[int],
        thrower: list[int],
        registers: int,
        pending: list[tuple[int, int, int]],
    ) -> list[int]:
        """Sets `state` at the head of a block with several edges into it; the phis made for it."""
        exits = self.exits
        made: list[int] = []
        complete = (not before or before[-1] < block) and (not thrower or thrower[-1] < block)
        while registers:
            low = registers & -registers
            registers ^= low
            register = low.bit_length() - 1
            incoming = {exits[p][register] for p in before if p < block}
            for p in thrower:
                if p < block:
                    incoming.update(self._at_throws(p, register))
            if complete and len(incoming) == 1:
                (state[register],) = incoming
                continue
            phi = len(self.value_reg)
            self.value_reg.append(register)
            self.phis[phi] = incoming
            state[register] = phi
            made.append(phi)
            if not complete:
                pending.append((block, register, phi))
        return made

    def _at_throws(self, block: int, register: int) -> Sequence[int]:
        """Values that the register may have where an operation of the block throws."""
        values = self.thrown[block].get(register)
        return (self.exits[block][register],) if values is None else values

    def _rename(self, block: int, state: list[int], new_phis: list[int]) -> None:
        """Emits the operations of one block; `state` (register -> value) becomes the one at its end."""
        out, value_reg, rows = self.out, self.value_reg, self.code.rows
        args, args_start = self.code.args, self.code.args_start
        first, end = self.graph.bounds[block]
        covered = bool(self.graph.handlers[block])
        thrown: dict[int, list[int]] = {}
        defined_at: dict[int, int] = {}
        last_throw = -1
        if first < end and rows[first][0] == _CAUGHT and self._caught(block, rows[first], state):
            if covered:
                thrown[rows[first][2]] = []
                defined_at[rows[first][2]] = first
            first += 1
        for phi in new_phis:
            self.phi_op[phi] = len(out) // _WIDTH
            self.foldable.add(phi)
            out += (_PHI, rows[first][1] if first < end else -1, phi, -1, -1, -1, -1, 0)
        for at in range(first, end):
            op, pc, dst, a, b, c, ref, throws = rows[at]
            if op == _NOP:
                continue
            if covered:
                if throws:
                    last_throw = at
                if dst >= 0:
                    seen = thrown.setdefault(dst, [])
                    if last_throw > defined_at.get(dst, -1):
                        seen.append(state[dst])
                    defined_at[dst] = at
            if op == MOVE:
                state[dst] = state[a]
                continue
            if op == _CALL:
                self.arguments.append((len(out) // _WIDTH, [state[r] for r in args[a - args_start : b - args_start]]))
                a = b = -1
            elif op == FILLED:
                self._filled(rows[at], [state[r] for r in args[a - args_start : b - args_start]], state)
                continue
            else:
                a = state[a]
                b = state[b]
                if op == _APUT:
                    c = state[c]
                    self.stores.append(len(out) // _WIDTH)
            if dst >= 0:
                value = len(value_reg)
                value_reg.append(dst)
                state[dst] = dst = value
                if op == _CONST:
                    self.foldable.add(value)
                    self.constant[value] = int(self.table.lit64[c]) if ref in LITERAL_POOL else c
                    c = ref = -1
                elif op == _DATA:
                    self._arithmetic(value, ref, a, b, c)
                elif op == _CAUGHT:  # move-exception outside the head of a handler: no valid code
                    op = _NODATA
            elif op in (_IF, _SWITCH, _GOTO):
                if len(self.graph.successors[block]) == 1:
                    op, a, b, c, ref = _GOTO, -1, -1, -1, -1
                else:
                    if a in self.foldable and (b < 0 or b in self.foldable):
                        self.branches_on_constants = True
                    if op == _IF:
                        c = -1
            out += (op, pc, dst, a, b, c, ref, throws)
        if covered:
            for register, values in thrown.items():
                if last_throw > defined_at[register]:
                    values.append(state[register])
        self.thrown.append(thrown)
        self.exits.append(state)
        self.block_off.append(len(out) // _WIDTH)

    def _caught(self, block: int, row: list[int], state: list[int]) -> bool:
        """Emits the CAUGHT of a block, if it is a handler."""
        handler = self.first_handler.get(block)
        if handler is None:
            return False
        value = len(self.value_reg)
        self.value_reg.append(row[2])
        state[row[2]] = value
        self.out += (_CAUGHT, row[1], value, -1, -1, -1, handler, 0)
        return True

    def _arithmetic(self, value: int, opcode: int, a: int, b: int, literal: int) -> None:
        """Notes what is known of the value of a DATA operation."""
        if a in self.foldable and (b < 0 or b in self.foldable):
            self.foldable.add(value)
            constant = self.constant
            if a in constant and (b < 0 or b in constant):
                result = constants.fold(opcode, constant[a], constant[b] if b >= 0 else literal)
                if result is not None:
                    constant[value] = result

    def _filled(self, row: list[int], elements: list[int], state: list[int]) -> None:
        """Emits filled-new-array as a NEW_ARRAY and a store per element."""
        out, pc = self.out, row[1]

        def number(value: int) -> int:
            self.value_reg.append(-1)
            self.constant[len(self.value_reg) - 1] = value
            out.extend((_CONST, pc, len(self.value_reg) - 1, -1, -1, -1, -1, 0))
            return len(self.value_reg) - 1

        length = number(len(elements))
        array = len(self.value_reg)
        self.value_reg.append(row[2])
        if row[2] >= 0:
            state[row[2]] = array
        out += (_NEW_ARRAY, pc, array, length, -1, -1, row[6], row[7])
        for index, element in enumerate(elements):
            position = number(index)
            self.stores.append(len(out) // _WIDTH)
            out += (_APUT, pc, -1, array, position, element, -1, 0)

    def _assemble(self) -> Body:
        """The arrays; phis that are trivial or dead are dropped and values renumbered."""
        if self.phis:
            self._settle_phis()
        graph = self.graph
        n_ops, n_blocks, n_values = len(self.out) // _WIDTH, len(graph.bounds), len(self.value_reg)
        columns = np.array(self.out, np.int32).reshape(-1, _WIDTH).T.copy()
        arg_off: list[int] = []
        args: list[int] = []
        for op, values in self.arguments:
            arg_off += [len(args)] * (op + 1 - len(arg_off))
            args += values
        arg_off += [len(args)] * (n_ops + 1 - len(arg_off))
        handlers = list(chain(*graph.ranges))
        pieces = (
            arg_off,
            args,
            self.block_off,
            *_flat(graph.successors),
            graph.range_of,
            [*accumulate(map(len, graph.ranges), initial=0)],
            [kind for kind, _ in handlers],
            [block for _, block in handlers],
            self.value_reg,
        )
        joined = np.array([*chain(*pieces)], np.int32)
        ends = [*accumulate(map(len, pieces))]
        parts = [joined[end - len(piece) : end] for piece, end in zip(pieces, ends, strict=True)]
        if n_blocks == 1:
            in_cycle = _NO_CYCLE
        else:
            edges = [s + h for s, h in zip(graph.successors, graph.handlers, strict=True)]
            in_cycle = np.array(cfg.in_cycle(edges), np.bool_)
        return Body(
            n_params=self.n_params,
            n_values=n_values,
            op=columns[0].astype(np.uint8),
            pc=columns[1],
            dst=columns[2],
            a=columns[3],
            b=columns[4],
            c=columns[5],
            ref=columns[6],
            arg_off=parts[0],
            args=parts[1],
            throws=columns[7].astype(np.bool_),
            block_off=parts[2],
            succ_off=parts[3],
            succ=parts[4],
            block_range=parts[5],
            range_off=parts[6],
            handler_type=parts[7],
            handler_block=parts[8],
            in_cycle=in_cycle,
            constant=self.constant,
            value_reg=parts[9],
        )

    def _settle_phis(self) -> None:
        """Replaces trivial phis by what they stand for, drops dead ones, and renumbers where any went."""
        out, phis = self.out, self.phis
        replaced = phis_of.trivial(phis)
        used = {*out[3::_WIDTH], *out[4::_WIDTH], *chain(*(values for _, values in self.arguments))}
        used.update(out[op * _WIDTH + 5] for op in self.stores)
        incoming = {p: {replaced.get(v, v) for v in vs} - {p} for p, vs in phis.items() if p not in replaced}
        live = phis_of.reached({replaced.get(v, v) for v in used}, incoming)
        if len(live) < len(phis):
            number = [-1] * (len(self.value_reg) + 1)  # the last for an absent operand (-1)
            alive = [v for v in range(len(self.value_reg)) if v not in phis or v in live]
            for new, old in enumerate(alive):
                number[old] = new
            for phi, value in replaced.items():
                number[phi] = number[value]
            self._renumber(number, {op for phi, op in self.phi_op.items() if phi not in live})
            self.value_reg = [self.value_reg[v] for v in alive]
            self.constant = {number[v]: c for v, c in self.constant.items()}
        else:
            number = [*range(len(self.value_reg)), -1]
        for phi in sorted(live):
            values = sorted(number[v] for v in incoming[phi] if v >= 0)
            self.arguments.append((self.phi_op[phi], values))
            known = {self.constant.get(v) for v in values}
            if len(known) == 1 and len(values) == len(incoming[phi]) and (constant := known.pop()) is not None:
                self.constant[number[phi]] = constant
        self.arguments.sort()

    def _renumber(self, number: list[int], dropped: set[int]) -> None:
        """New numbers for values, without some operations."""
        out = self.out
        for column in (3, 4):
            out[column::_WIDTH] = [number[v] for v in out[column::_WIDTH]]
        for op in self.stores:
            out[op * _WIDTH + 5] = number[out[op * _WIDTH + 5]]
        out[2::_WIDTH] = [number[v] for v in out[2::_WIDTH]]
        place = []
        kept: list[int] = []
        for op in range(len(out) // _WIDTH):
            place.append(len(kept) // _WIDTH)
            if op not in dropped:
                kept += out[op * _WIDTH : (op + 1) * _WIDTH]
        place.append(len(kept) // _WIDTH)
        self.out = kept
        self.block_off = [place[op] for op in self.block_off]
        self.arguments = [(place[op], [number[v] for v in values]) for op, values in self.arguments]
        self.phi_op = {phi: place[op] for phi, op in self.phi_op.items()}


def _flat(lists: Sequence[list[int]]) -> tuple[list[int], list[int]]:
    """CSR offsets and items of lists laid end to end."""
    return [*accumulate(map(len, lists), initial=0)], [*chain(*lists)]
