"""One method of a solved app, statement by statement: what it looks like, what holds before it, what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from analyzer.idfg import Idfg
from analyzer.ir import Op
from analyzer.pretty import format_op
from analyzer.registers import origins
from analyzer.tokens import CELL, FORMAL, STATIC, Key
from gpu import problem as pb
from gpu.bits import bits_of

JUMPS = (Op.GOTO, Op.IF, Op.SWITCH)


@dataclass(frozen=True, slots=True)
class Change:
    """A heap row that a statement changes."""

    row: int
    """Its number among the heap rows."""
    before: int
    after: int


class MethodView:
    """Statements are IR operations by their index; rows are bit sets over the method's columns.

    Raises WrongConfiguration for a method that the analysis does not reach.
    """

    def __init__(self, idfg: Idfg, method: int) -> None:
        self.idfg, self.method = idfg, method
        self.program, self.names = idfg.ctx.program, idfg.names
        self.layout = idfg.layout(method)
        self.body = self.program.body(method)
        self.shape = idfg.ctx.shapes[method]
        self.facts = idfg.replay.method(self.layout.number)
        self._tables = idfg.replay.tables
        self._origin = idfg.encoded.problem.op_origin
        self._states: dict[int, list[list[int]]] = {}
        self._is_static = self.program.is_static(method)

    # -- code --------------------------------------------------------------------------------------------------

    @cached_property
    def block_of(self) -> list[int]:
        """Block of each operation."""
        return self.shape.low.block_of

    @cached_property
    def blocks(self) -> list[int]:
        """Blocks that hold operations, in the order of the code."""
        off, pc = self.body.block_off.tolist(), self.body.pc.tolist()
        held = [b for b in range(self.body.n_blocks) if off[b] < off[b + 1]]
        return sorted(held, key=lambda b: (max(pc[off[b] : off[b + 1]]), b))

    @cached_property
    def order(self) -> list[int]:
        """All operations in the order of the code."""
        off = self.body.block_off.tolist()
        return [op for b in self.blocks for op in range(off[b], off[b + 1])]

    @cached_property
    def position(self) -> dict[int, int]:
        """Operation -> its place in `order`."""
        return {op: i for i, op in enumerate(self.order)}

    def reached(self, op: int) -> bool:
        """Whether any path leads to the operation."""
        return self.layout.place[op][0] >= 0

    def pc(self, op: int) -> int:
        """Program counter of an operation, 0 where it has none."""
        return max(int(self.body.pc[op]), 0)

    def head(self, block: int) -> int:
        """First operation of a block; of the first block behind an empty one, -1 if there is none."""
        seen = set()
        while block not in seen:
            seen.add(block)
            if self.body.block_off[block] < self.body.block_off[block + 1]:
                return int(self.body.block_off[block])
            targets = self.body.succ[self.body.succ_off[block] : self.body.succ_off[block + 1]].tolist()
            if not targets:
                break
            block = targets[0]
        return -1

    def successors(self, block: int) -> list[int]:
        """First operations behind the normal edges of a block."""
        targets = self.body.succ[self.body.succ_off[block] : self.body.succ_off[block + 1]].tolist()
        return [head for t in targets if (head := self.head(t)) >= 0]

    @cached_property
    def predecessors(self) -> dict[int, list[int]]:
        """First operation of a block -> last operations of the blocks that lead to it normally."""
        found: dict[int, list[int]] = {}
        off = self.body.block_off.tolist()
        for b in self.blocks:
            for head in self.successors(b):
                found.setdefault(head, []).append(off[b + 1] - 1)
        return found

    # -- words -------------------------------------------------------------------------------------------------

    def value_name(self, value: int) -> str:
        """`this`, `p1`, `v3`; a number for a constant without a register, `t7` for other such values."""
        if value < 0:
            return "?"
        register = int(self.body.value_reg[value])
        if value < self.body.n_params and (register < 0 or value == 0):
            return self.names.parameter(self.method, value)
        if register < 0:
            return str(self.body.constant[value]) if value in self.body.constant else f"t{value}"
        return self.register_name(register)

    def register_name(self, register: int) -> str:
        """`p1` for the registers that parameters come in, `v3` for the others."""
        first = int(self.body.value_reg[0]) if self.body.n_params else -1
        return f"p{register - first}" if 0 <= first <= register else f"v{register}"

    def operand_name(self, op: int, value: int) -> str:
        """Name of a value where an operation uses it: `v3@0012` when register v3 has been written since."""
        name = self.value_name(value)
        return self.with_origin(value) if self._overwritten(op, value) else name

    def with_origin(self, value: int) -> str:
        """`v3@0012`: the value that register v3 got at 0012; `p1@entry`."""
        name = self.value_name(value)
        if value < 0 or name == "this" or int(self.body.value_reg[value]) < 0:
            return name
        return f"{name}@entry" if value < self.body.n_params else f"{name}@{self.pc(self._definition[value]):04x}"

    @cached_property
    def _definition(self) -> dict[int, int]:
        return {dst: op for op, dst in enumerate(self.body.dst.tolist()) if dst >= 0}

    @cached_property
    def _origins(self) -> list[frozenset[int]]:
        return origins(self.body)

    def _overwritten(self, op: int, value: int) -> bool:
        registers = self.idfg.registers(self.method)
        if registers is None or value < 0 or self.body.value_reg[value] < 0 or self.value_name(value) == "this":
            return False
        row = registers.row_at(self.pc(op))
        return registers.values(row, int(self.body.value_reg[value])) - {-1} != self._origins[value]

    def plain_text(self, op: int) -> str:
        """The statement with every value named after its register only."""
        return self.text(op, self.value_name)

    def text(self, op: int, operand: Callable[[int], str] | None = None) -> str:
        """The statement, jumps with the pc that they lead to."""
        named = operand if operand is not None else lambda value: self.operand_name(op, value)
        kind = Op(int(self.body.op[op]))
        if kind == Op.PHI:
            args = self.operands(op)
            return f"{self.value_name(int(self.body.dst[op]))} = " + " or ".join(self.with_origin(a) for a in args)
        dst = int(self.body.dst[op])
        text = format_op(self.program, self.body, op, lambda v: self.value_name(v) if v == dst else named(v))
        if kind not in JUMPS:
            return text.replace("this.super.", "super.", 1) if kind == Op.CALL else text
        block = self.block_of[op]
        blocks = self.body.succ[self.body.succ_off[block] : self.body.succ_off[block + 1]].tolist()
        text = text.removesuffix(" | ".join(f"B{s}" for s in blocks)).rstrip()
        places = [f"{self.pc(h):04x}" for h in self.successors(block)]
        if kind == Op.IF and len(places) == 2 and text.startswith("if"):
            return f"{text} goto {places[1]} else {places[0]}"
        return f"{'goto' if kind == Op.GOTO else text} {' | '.join(places)}"

    # -- operands ----------------------------------------------------------------------------------------------

    def operands(self, op: int) -> list[int]:
        """Values that an operation uses and that can hold objects or data, without duplicates."""
        body, kind = self.body, Op(int(self.body.op[op]))
        a, b, c = int(body.a[op]), int(body.b[op]), int(body.c[op])
        if kind in (Op.CALL, Op.PHI):
            found = body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist()
        elif kind in (Op.GET, Op.AGET, Op.CAST, Op.RETURN, Op.THROW, Op.SPUT):
            found = [a]
        elif kind in (Op.PUT, Op.DATA):
            found = [a, b]
        elif kind == Op.APUT:
            found = [a, c]
        else:
            found = []
        return list(dict.fromkeys(v for v in found if v >= 0))

    def visible(self, op: int) -> list[int]:
        """Parameters, and values that are defined somewhere on a way to an operation."""
        wanted, off = self.block_of[op], self.body.block_off.tolist()
        above: dict[int, list[int]] = {}
        for b in range(self.body.n_blocks):
            targets = self.body.succ[self.body.succ_off[b] : self.body.succ_off[b + 1]].tolist()
            for target in [*targets, *self.body.handlers_of(b)]:
                above.setdefault(target, []).append(b)
        reached, work = set(above.get(wanted, ())), list(above.get(wanted, ()))
        while work:
            for b in above.get(work.pop(), ()):
                if b not in reached:
                    reached.add(b)
                    work.append(b)
        ops = [o for b in reached - {wanted} for o in range(off[b], off[b + 1])]
        ops += range(off[wanted], off[wanted + 1] if wanted in reached else op)
        return sorted({*range(self.body.n_params), *(int(self.body.dst[o]) for o in ops if self.body.dst[o] >= 0)})

    def named_values(self, op: int) -> dict[str, int]:
        """What each register may hold before an operation; in synthetic code, each value."""
        registers = self.idfg.registers(self.method)
        if registers is None:
            return {self.value_name(v): self.value(v) for v in self.visible(op)}
        row = registers.row_at(self.pc(op))
        first = int(self.body.value_reg[0]) if self.body.n_params else -1
        found = {}
        for register in range(registers.n_registers):
            this = register == first and not self._is_static
            bits = 0
            for value in registers.values(row, register):
                bits |= self.value(value)
            found["this" if this else self.register_name(register)] = bits
        return found

    def base(self, op: int) -> int:
        """The value through which an operation reads, writes or calls; -1 for none."""
        kind = Op(int(self.body.op[op]))
        if kind in (Op.GET, Op.PUT, Op.AGET, Op.APUT):
            return int(self.body.a[op])
        if kind == Op.CALL and op in self.shape.calls and not self.shape.calls[op].static:
            args = self.operands(op)
            return args[0] if args else -1
        return -1

    def value(self, value: int) -> int:
        """What a value may be."""
        return self.facts.rows[value] if value >= 0 else 0

    def keys(self, bits: int) -> list[Key]:
        """Tokens of a bit set."""
        return [self.layout.columns[c] for c in bits_of(bits)]

    def own_formal(self, value: int) -> bool:
        """Whether a value is a parameter of which only what came in is known."""
        return value < self.body.n_params and self.keys(self.value(value)) == [(FORMAL, value, ())]

    # -- heap --------------------------------------------------------------------------------------------------

    def problem_ops(self, op: int) -> Iterator[tuple[int, int]]:
        """(number in its block, operation of the problem) for what stands for an IR operation."""
        block, before = self.layout.place[op]
        if block < 0:
            return
        t = self._tables
        first = t.block_off[self.layout.number] + block
        start, end = t.op_off[first], t.op_off[first + 1]
        at = before
        while start + at < end and self._origin[start + at] == op:
            yield at, start + at
            at += 1

    def states(self, block: int) -> list[list[int]]:
        """Heap rows before each operation of a block of the problem, then at its end."""
        if block not in self._states:
            found = self.idfg.replay.states(self.layout.number, block)
            self._states[block] = [list(state) for _, state in found]
        return self._states[block]

    def before(self, op: int) -> list[int]:
        """Heap rows just before an operation; all empty where no path leads to it."""
        block, at = self.layout.place[op]
        return self.states(block)[at] if block >= 0 else [0] * self.facts.n_heap

    def after(self, op: int) -> list[int]:
        """Heap rows just after an operation that ends normally."""
        block, at = self.layout.place[op]
        if block < 0:
            return [0] * self.facts.n_heap
        return self.states(block)[at + len(list(self.problem_ops(op)))]

    def heap_row(self, at: int) -> Key:
        """Slot key of a heap row by its number among them."""
        key = self.layout.rows[self.facts.first_heap + at]
        assert not isinstance(key, int)
        return key

    def slot_name(self, at: int) -> str:
        """A heap row in words."""
        return self.names.slot(self.method, self.heap_row(at))

    @cached_property
    def entry(self) -> list[int]:
        """Heap rows when the method begins."""
        return list(self.idfg.solution.heads[self.layout.number][0])

    @staticmethod
    def difference(before: list[int], after: list[int]) -> list[Change]:
        """Heap rows that differ between two states."""
        return [Change(i, a, b) for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]

    def touched(self, op: int) -> list[int]:
        """Heap rows that a field, array or static access may mean, for the objects that its base may be."""
        found: dict[int, None] = {}
        t, first = self._tables, self.facts.first_heap
        for at, p in self.problem_ops(op):
            kind = t.op_kind[p]
            rows: list[int] = []
            if kind in (pb.LOAD, pb.STORE):
                heap = self.states(self.layout.place[op][0])[at]
                link = t.link(t.op_link[p])
                rows = [row for c in bits_of(self.facts.get(t.op_src[p], heap)) for row in link.get(c, ())]
            elif kind == pb.OR:
                rows = [row for row in (t.op_src[p], t.op_dst[p]) if self.facts.is_heap(row)]
            found.update((row - first, None) for row in rows)
        return list(found)

    def cleared(self, op: int) -> set[int]:
        """Heap rows whose content an operation replaces."""
        t, first = self._tables, self.facts.first_heap
        spans = [(t.clear_off[p], t.clear_off[p + 1]) for _, p in self.problem_ops(op)]
        return {t.clear_row[i] - first for start, end in spans for i in range(start, end)}

    def channels(self, op: int) -> dict[Key, int]:
        """What an operation adds to channels: returns, throws, sinks, pseudo-statics."""
        found: dict[Key, int] = {}
        for at, problem_op in self.problem_ops(op):
            block, _ = self.layout.place[op]
            for row, bits in self._outputs(problem_op, self.states(block)[at]):
                key = self.layout.rows[row]
                bits &= self.facts.rows[row]  # what the row's filter lets pass
                if bits and not isinstance(key, int) and key[0] not in (CELL, STATIC):
                    found[key] = found.get(key, 0) | bits
        return found

    def _outputs(self, op: int, heap: list[int]) -> Iterator[tuple[int, int]]:
        """(row, bits) that an operation of the problem gives to rows by name."""
        t = self._tables
        kind, dst, src = t.op_kind[op], t.op_dst[op], t.op_src[op]
        if kind == pb.OR and self.body.op[self._origin[op]] != Op.CALL:
            yield dst, self.facts.get(src, heap) & t.mask(t.op_mask[op])
        if kind != pb.APPLY:
            return
        for application in range(t.call_off[dst], t.call_off[dst + 1]):
            summary = t.summary(t.app_summary[application])
            sigma = self.facts.substitution(application, heap)
            first = t.write_off[application]
            for r, bits in enumerate(summary.bits):
                row = t.write_row[first + r]
                if row < 0:
                    continue
                value = 0
                for c in bits_of(bits):
                    value |= sigma[c]
                yield row, value & t.mask(t.write_mask[first + r])
