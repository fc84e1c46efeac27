"""A concrete interpreter of small programs that checks each fact it sees against the IDFG.

It runs the register code below the IR, with every unknown answered at random, and looks up, for each instruction that
it executes, the IR operation at the same pc: what the operands and the result hold must be in the rows of their SSA
values, what the heap holds in the heap rows at that point.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass

from analyzer.ir import CallKind, Op
from analyzer.lift import MOVE
from analyzer.tokens import CELL, RANGE, RETURN, STATIC, THROWN
from tests.programs.cover import Activation, Cover
from tests.programs.heap import NULL, CellKey, Origin, Value, Write, reachable
from tests.programs.solving import Solved

_OP, _PC, _DST, _A, _B, _C, _REF, _THROWS = range(8)
_NPE, _CCE = "Ljava/lang/NullPointerException;", "Ljava/lang/ClassCastException;"
_IFS = {
    0x32: lambda a, b: a == b,
    0x33: lambda a, b: a != b,
    0x38: lambda a, b: a in (0, None),
    0x39: lambda a, b: a not in (0, None),
}


class Stop(Exception):
    """The run has used up its steps."""


class Thrown(Exception):
    """An exception of the program."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


@dataclass(frozen=True)
class Fault:
    """Something seen that the IDFG does not have."""

    where: str
    slot: str
    seen: str
    rows: str

    def __str__(self) -> str:
        return f"{self.where}: {self.slot} holds {self.seen}, but the IDFG has only {self.rows}"


class Unsound(AssertionError):
    """Raised at the first fault."""


class Interpreter:
    """Runs a solved program once."""

    def __init__(self, solved: Solved, seed: int, steps: int = 200, depth: int = 8, surprise: float = 0.03) -> None:
        self.s, self.random = solved, random.Random(seed)
        self.program, self.hierarchy = solved.program, solved.hierarchy
        self.steps, self.depth, self.surprise = steps, depth, surprise
        self.time = 0
        self.n_origins = 0
        self.statics: dict[int, list[Write]] = {}
        self.stack: list[Activation] = []
        self.n_activations = 0
        self.found: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        self.cover = Cover(solved, self.statics)
        self.checks = 0
        self._codes: dict[int, tuple] = {}  # type: ignore[type-arg]

    def run(self) -> None:
        """Runs Main.main(); raises Unsound."""
        with contextlib.suppress(Stop, Thrown):
            self.call(self.s.graph.root, [])
        missing = self.found - self.s.findings()
        if missing:
            (method, op), (sink_method, sink_op) = sorted(missing)[0]
            raise Unsound(
                f"data of {self.program.signature(method)} op {op} reaches the sink in "
                f"{self.program.signature(sink_method)} op {sink_op}, but there is no finding"
            )

    # -- origins -----------------------------------------------------------------------------------------------

    def make(self, op: int, kind: str, type_id: int) -> Origin:
        self.n_origins += 1
        chain = {a.number: a.op for a in self.stack}
        return Origin(self.n_origins, (self.stack[-1].method, op, kind), chain, type_id)

    def surprise_at(self, type_name: str = _NPE) -> Thrown:
        return Thrown(Value(self.make(self.stack[-1].op, "exception", self.program.type_id(type_name))))

    def store(self, o: Origin, key: CellKey, value: Value, base: int) -> None:
        self.time += 1
        o.cells.setdefault(key, []).append(Write(self.time, value, self.stack[-1].number, base))

    # -- code --------------------------------------------------------------------------------------------------

    def code(self, method: int) -> tuple:  # type: ignore[type-arg]
        if method not in self._codes:
            definition = self.program.definition(method)
            assert definition is not None
            code = self.program.table.code(definition.code)
            body = self.program.body(method)
            at = {int(pc): i for i, pc in enumerate(body.pc.tolist()) if body.op[i] != Op.PHI}
            columns = [c.tolist() for c in (body.dst, body.a, body.b, body.c, body.arg_off, body.args)]
            self._codes[method] = code, at, columns
        return self._codes[method]

    def call(self, method: int, args: list[Value]) -> Value:
        if len(self.stack) >= self.depth:
            raise Stop
        self.n_activations += 1
        self.time += 1
        activation = Activation(self.n_activations, method, self.time, args)
        self.stack.append(activation)
        try:
            return self.execute(activation, args)
        finally:
            self.stack.pop()

    def execute(self, act: Activation, args: list[Value]) -> Value:
        method = act.method
        code, at, _ = self.code(method)
        registers = [NULL] * code.n_registers
        for i, value in enumerate(args):
            registers[code.n_registers - code.n_ins + i] = value
        i = 0
        pending = NULL
        while True:
            row = code.rows[i]
            self.steps -= 1
            if self.steps < 0:
                raise Stop
            if row[_OP] == MOVE:
                registers[row[_DST]] = registers[row[_A]]
                i += 1
                continue
            if row[_OP] == Op.NOP:
                i += 1
                continue
            op = at.get(row[_PC], -1)
            if op < 0:
                raise Unsound(f"{self.program.signature(method)} pc {row[_PC]}: executed, but pruned from the body")
            act.op = op
            self.look(act, op, row, registers)
            try:
                if row[_THROWS] and self.random.random() < self.surprise:
                    raise self.surprise_at()
                if row[_OP] == Op.RETURN:
                    value = registers[row[_A]] if row[_A] >= 0 else NULL
                    self.check_row(act, (RETURN,), value)
                    return value
                result, i = self.step(act, op, i, row, registers, pending)
            except Thrown as thrown:
                act.op = op
                i = self.handler(act, code, i, thrown)
                pending = thrown.value
                continue
            if result is not None:
                if row[_DST] >= 0:
                    registers[row[_DST]] = result
                self.check(act, self.code(method)[2][0][op], result)

    def handler(self, act: Activation, code, i: int, thrown: Thrown) -> int:  # type: ignore[no-untyped-def]
        """Instruction of the handler that catches; raises the exception again when there is none."""
        exception = thrown.value.object
        assert exception is not None
        body = self.program.body(act.method)
        block = next(b for b in range(body.n_blocks) if body.block_off[b] <= act.op < body.block_off[b + 1])
        covered = int(body.block_range[block])
        for first, end, low, high in code.tries:
            if first <= i < end:
                self.check_row(act, (RANGE, covered), thrown.value, thrown=True)
                for h in range(low, high):
                    kind = int(self.program.table.handler_type[h])
                    if kind < 0 or self.hierarchy.is_subtype(exception.type, kind):
                        return int(self.program.table.handler_insn[h])
        self.check_row(act, (THROWN,), thrown.value, thrown=True)
        raise thrown

    def step(self, act, op, i, row, registers, pending):  # type: ignore[no-untyped-def]
        """(result or None, next instruction)."""
        kind = row[_OP]
        a = registers[row[_A]] if kind not in (Op.CALL, Op.CONST) and row[_A] >= 0 else NULL
        b = registers[row[_B]] if kind != Op.CALL and row[_B] >= 0 else NULL
        operand = self.code(act.method)[2][1][op]
        if kind == Op.CONST:
            return Value(row[_C]), i + 1
        if kind == Op.STRING:
            constant = self.make(op, "string", self.program.type_id("Ljava/lang/String;"))
            constant.text = self.program.string(row[_REF])
            return Value(constant), i + 1
        if kind == Op.CLASS:
            return Value(self.make(op, "class", self.program.type_id("Ljava/lang/Class;"))), i + 1
        if kind in (Op.NEW, Op.NEW_ARRAY):
            return Value(self.make(op, "new", row[_REF])), i + 1
        if kind == Op.CAUGHT:
            return pending, i + 1
        if kind == Op.CAST:
            if a.object and not self.hierarchy.is_subtype(a.object.type, row[_REF]):
                raise self.surprise_at(_CCE)
            return a, i + 1
        if kind == Op.DATA:
            number = (a.payload or 0) + (b.payload or 0) if not isinstance(a.payload, Origin) else 0
            return Value(int(number) & 0xFF, a.labels | b.labels), i + 1
        if kind == Op.NODATA:
            return Value(0), i + 1
        if kind == Op.GOTO:
            return None, row[_C]
        if kind == Op.IF:
            holds = _IFS[row[_REF]](a.payload or 0, b.payload or 0)
            return None, row[_C] if holds else i + 1
        if kind in (Op.GET, Op.PUT):
            if a.object is None:
                raise self.surprise_at()
            key = self.s.ctx.fields.resolve(row[_REF])
            if kind == Op.PUT:
                self.store(a.object, key, b, operand)
                return None, i + 1
            return self.read(a.object, key, a), i + 1
        if kind in (Op.AGET, Op.APUT):
            if a.object is None:
                raise self.surprise_at()
            key = ("#", int(b.payload or 0))
            if kind == Op.APUT:
                self.store(a.object, key, registers[row[_C]], operand)
                return None, i + 1
            return self.read(a.object, key, a), i + 1
        if kind in (Op.SGET, Op.SPUT):
            field = self.s.ctx.fields.resolve(row[_REF])
            history = self.statics.setdefault(field, [])
            if kind == Op.SGET:
                return history[-1].value if history else NULL, i + 1
            self.time += 1
            history.append(Write(self.time, a, act.number, -1))
            return None, i + 1
        if kind == Op.THROW:
            if a.object is None:
                raise self.surprise_at()
            raise Thrown(a)
        assert kind == Op.CALL, Op(kind)
        code = self.code(act.method)[0]
        values = [registers[r] for r in code.args[row[_A] - code.args_start : row[_B] - code.args_start]]
        return self.invoke(act, op, row, values), i + 1

    def read(self, o: Origin, key: CellKey, base: Value) -> Value:
        """What a cell holds, with labels of the base.

        A label that a caller put on the base comes along only if the cell was not written since: in a callee it is the
        formal of the cell that stands for it.
        """
        history = o.cells.get(key)
        act = self.stack[-1]
        if not history:
            return Value(None, base.labels)
        written, value = history[-1].time >= act.start, history[-1].value
        passing = (label for label in base.labels if not written or act.number in label.chain)
        return Value(value.payload, value.labels.union(passing))

    def invoke(self, act: Activation, op: int, row: list[int], values: list[Value]) -> Value | None:
        method = row[_REF]
        ref = self.program.method(method)
        if row[_C] != CallKind.STATIC and values[0].object is None:
            raise self.surprise_at()
        if row[_C] == CallKind.VIRTUAL:
            receiver = values[0].object
            assert receiver is not None
            target = self.hierarchy.dispatch(receiver.type, method) if self.hierarchy.is_app(receiver.type) else -1
        else:
            target = self.hierarchy.resolve(ref.cls, ref.name, self.program.descriptor(method))
        if target >= 0 and self.program.has_code(target):
            result = self.call(target, values)
        else:
            result = self.library(act, op, method, values)
        act.op = op
        return result if self.program.type_name(ref.ret) != "V" else None

    def key_of(self, key: Value) -> str | int:
        """What tells apart a key of a map: the text of a constant, else the object itself."""
        if key.object is None:
            return 0
        return key.object.number if key.object.text is None else key.object.text

    def library(self, act: Activation, op: int, method: int, values: list[Value]) -> Value:
        """What the library methods of the small language do."""
        name, ret = self.program.method(method).name, self.program.method(method).ret
        if name == "unknown":
            tired = len(self.stack) > self.depth // 2 or self.steps < 50
            return Value(self.random.choice((0, 0, 0, 0, 0, 1) if tired else (0, 0, 1, 1, 2, 3)))
        if name in ("source", "number", "mark"):
            label = frozenset([self.make(op, "label", -1)])
            if name == "number":
                return Value(7, label)
            if name == "mark":
                return Value(values[0].payload, values[0].labels | label)
            return Value(self.make(op, "library", ret), label)
        if name in ("sink", "out"):
            _, labels = reachable(values[0])
            self.found |= {(label.site[:2], (act.method, op)) for label in labels}
            return NULL
        if name == "add":
            assert values[0].object is not None
            count = sum(isinstance(k, tuple) for k in values[0].object.cells)
            self.store(values[0].object, ("$elem", count), values[1], -1)
            return Value(1)
        if name == "get" and not self.program.signature(method).startswith("Ljava/util/HashMap;"):
            assert values[0].object is not None
            cells = [k for k in values[0].object.cells if isinstance(k, tuple)]
            if not cells:
                raise self.surprise_at()
            return self.read(values[0].object, self.random.choice(sorted(cells)), values[0])
        owner = values[0].object if values else None
        if name in ("put", "get"):
            assert owner is not None
            key: CellKey = ("$elem", self.key_of(values[1]))
            old = self.read(owner, key, values[0])
            if name == "put":
                self.store(owner, key, values[2], -1)
            return old
        if name == "append":
            assert owner is not None
            before = owner.cells[("$value", 0)][-1].value.labels if ("$value", 0) in owner.cells else frozenset()
            self.store(owner, ("$value", 0), Value(None, before | values[1].labels), -1)
            return values[0]
        if name == "toString":
            assert owner is not None
            return Value(self.make(op, "library", ret), self.read(owner, ("$value", 0), values[0]).labels)
        # a method without a model may hand on all that it can reach
        objects, labels = set(), set()
        for value in values:
            more = reachable(value)
            objects |= more[0]
            labels |= more[1]
        if name == "<init>":
            return NULL
        if self.program.type_name(ret)[0] in "L[":
            return Value(self.make(op, "library", ret), frozenset(labels))
        return Value(1, frozenset(labels))

    # -- checks ------------------------------------------------------------------------------------------------

    def look(self, act: Activation, op: int, row: list[int], registers: list[Value]) -> None:
        """Checks the operands of an operation and the heap before it."""
        code, _, (_, a, b, c, off, args) = self.code(act.method)
        if row[_OP] == Op.CALL:
            given = code.args[row[_A] - code.args_start : row[_B] - code.args_start]
            for register, value in zip(given, args[off[op] : off[op + 1]], strict=True):
                self.check(act, value, registers[register])
        elif row[_OP] != Op.CONST:
            operands = [(row[_A], a[op]), (row[_B], b[op])]
            if row[_OP] == Op.APUT:
                operands.append((row[_C], c[op]))
            for register, value in operands:
                if register >= 0 and value >= 0:
                    self.check(act, value, registers[register])
        if act.looked != (self.time, op):
            act.looked = self.time, op
            self.check_heap(act, op, registers)

    def fault(self, act: Activation, slot: str, value: str, bits: int) -> None:
        layout = self.s.idfg.layout(act.method)
        signature = self.program.signature(act.method)
        body = self.program.body(act.method)
        where = f"{signature} op {act.op} pc {int(body.pc[act.op])} {Op(body.op[act.op]).name}"
        raise Unsound(str(Fault(where, slot, value, str(self.s.idfg.tokens(layout, bits)))))

    def describe(self, o: Origin) -> str:
        method, op, kind = o.site
        what = f" {self.program.type_name(o.type)}" if o.type >= 0 else ""
        return f"{kind}{what} of {self.program.signature(method)} op {op} (chain {o.chain})"

    def require(self, act: Activation, bits: int, value: Value, slot: str) -> None:
        self.checks += 1
        for missing in self.cover.missing(act, bits, value):
            self.fault(act, slot, self.describe(missing), bits)

    def check(self, act: Activation, ssa: int, value: Value) -> None:
        if ssa >= 0 and value.carries:
            bits = self.cover.rows(act.method)[ssa]
            self.require(act, bits, value, f"value %{ssa}")

    def check_row(self, act: Activation, key: tuple[int, ...], value: Value, thrown: bool = False) -> None:
        if not value.carries or (thrown and value.object is not None and value.object.kind == "exception"):
            return
        self.require(act, self.cover.row(act.method, key), value, str(key))

    def check_heap(self, act: Activation, op: int, registers: list[Value]) -> None:
        """Checks statics, and the cells of what this activation can reach."""
        cells, statics = self.cover.heap(act.method, op)
        for field, bits in statics.items():
            history = self.statics.get(field)
            if history and history[-1].value.carries:
                self.require(act, bits, history[-1].value, f"static {self.program.field_signature(field)}")
        seen: set[Origin] = set()
        for value in (*registers, *act.args, *(history[-1].value for history in self.statics.values() if history)):
            if value.object is not None and value.object not in seen:
                seen |= reachable(value)[0]
        for o in sorted(seen, key=lambda o: o.number):
            for key, history in o.cells.items():
                value = history[-1].value
                if not value.carries:
                    continue
                found = self.cover.cell_bits(act, cells, o, key)
                if found is not None:
                    self.require(act, found, value, f"cell {key} of {self.describe(o)}")


__all__ = ["CELL", "STATIC", "Interpreter", "Unsound"]
