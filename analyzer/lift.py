"""Three-address code over registers: what the dex instructions of a whole app mean, as one table of rows.

The table is made at once for all code items with look-up tables from dex opcode to operation (a millisecond per
ten thousand instructions), and sliced per method when a body is asked for. Moves stay rows of their own (`MOVE`);
`move-result` is folded into the row before it; second halves of wide arguments are dropped.

Opcode numbers and operand formats: "Dalvik bytecode" and "Dalvik executable instruction formats" (source.android.com).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analyzer.dex import Dex
from analyzer.ir import I4, CallKind, Op
from analyzer.kernels.layout import FILLED, MOVE, RESULT
from gpu.errors import UnreadableInput

OP, PC, DST, A, B, C, REF, THROWS = range(8)
"""Columns of a row."""

# Operand selectors: which dex column feeds a row column.
_NONE, _A, _B, _C, _X, _OPCODE = range(6)

# (first opcode, last opcode, operation, dst, a, b, c, ref, throws)
_FORMATS: tuple[tuple[int, int, int, int, int, int, int, int, bool], ...] = (
    (0x01, 0x09, MOVE, _A, _B, _NONE, _NONE, _NONE, False),
    (0x0A, 0x0C, RESULT, _A, _NONE, _NONE, _NONE, _NONE, False),
    (0x0D, 0x0D, Op.CAUGHT, _A, _NONE, _NONE, _NONE, _NONE, False),
    (0x0E, 0x0E, Op.RETURN, _NONE, _NONE, _NONE, _NONE, _NONE, False),
    (0x0F, 0x11, Op.RETURN, _NONE, _A, _NONE, _NONE, _NONE, False),
    (0x12, 0x19, Op.CONST, _A, _NONE, _NONE, _X, _OPCODE, False),
    (0x1A, 0x1B, Op.STRING, _A, _NONE, _NONE, _NONE, _X, True),
    (0x1C, 0x1C, Op.CLASS, _A, _NONE, _NONE, _NONE, _X, True),
    (0x1D, 0x1E, Op.MONITOR, _NONE, _A, _NONE, _NONE, _OPCODE, True),
    (0x1F, 0x1F, Op.CAST, _A, _A, _NONE, _NONE, _X, True),
    (0x20, 0x20, Op.NODATA, _A, _B, _NONE, _NONE, _X, True),
    (0x21, 0x21, Op.NODATA, _A, _B, _NONE, _NONE, _NONE, True),
    (0x22, 0x22, Op.NEW, _A, _NONE, _NONE, _NONE, _X, True),
    (0x23, 0x23, Op.NEW_ARRAY, _A, _B, _NONE, _NONE, _X, True),
    (0x24, 0x25, FILLED, _NONE, _NONE, _NONE, _NONE, _X, True),
    (0x26, 0x26, Op.FILL, _NONE, _A, _NONE, _NONE, _X, True),
    (0x27, 0x27, Op.THROW, _NONE, _A, _NONE, _NONE, _NONE, True),
    (0x28, 0x2A, Op.GOTO, _NONE, _NONE, _NONE, _X, _NONE, False),
    (0x2B, 0x2C, Op.SWITCH, _NONE, _A, _NONE, _NONE, _X, False),
    (0x2D, 0x31, Op.DATA, _A, _B, _C, _NONE, _OPCODE, False),
    (0x32, 0x37, Op.IF, _NONE, _A, _B, _X, _OPCODE, False),
    (0x38, 0x3D, Op.IF, _NONE, _A, _NONE, _X, _OPCODE, False),
    (0x44, 0x4A, Op.AGET, _A, _B, _C, _NONE, _NONE, True),
    (0x4B, 0x51, Op.APUT, _NONE, _B, _C, _A, _NONE, True),
    (0x52, 0x58, Op.GET, _A, _B, _NONE, _NONE, _X, True),
    (0x59, 0x5F, Op.PUT, _NONE, _B, _A, _NONE, _X, True),
    (0x60, 0x66, Op.SGET, _A, _NONE, _NONE, _NONE, _X, True),
    (0x67, 0x6D, Op.SPUT, _NONE, _A, _NONE, _NONE, _X, True),
    (0x6E, 0x72, Op.CALL, _NONE, _NONE, _NONE, _NONE, _X, True),
    (0x74, 0x78, Op.CALL, _NONE, _NONE, _NONE, _NONE, _X, True),
    (0x7B, 0x8F, Op.DATA, _A, _B, _NONE, _NONE, _OPCODE, False),
    (0x90, 0xAF, Op.DATA, _A, _B, _C, _NONE, _OPCODE, False),
    (0xB0, 0xCF, Op.DATA, _A, _A, _B, _NONE, _OPCODE, False),
    (0xD0, 0xE2, Op.DATA, _A, _B, _NONE, _X, _OPCODE, False),
    (0xFA, 0xFD, Op.CALL, _NONE, _NONE, _NONE, _NONE, _X, True),
    (0xFE, 0xFF, Op.NODATA, _A, _NONE, _NONE, _NONE, _NONE, True),
)

_DIVISIONS = (0x93, 0x94, 0x9E, 0x9F, 0xB3, 0xB4, 0xBE, 0xBF, 0xD3, 0xD4, 0xDB, 0xDC)
"""div and rem of int and long: the only arithmetic that throws."""

_CALL_KINDS = {
    0x6E: CallKind.VIRTUAL,
    0x6F: CallKind.SUPER,
    0x70: CallKind.DIRECT,
    0x71: CallKind.STATIC,
    0x72: CallKind.INTERFACE,
    0x74: CallKind.VIRTUAL,
    0x75: CallKind.SUPER,
    0x76: CallKind.DIRECT,
    0x77: CallKind.STATIC,
    0x78: CallKind.INTERFACE,
    0xFA: CallKind.POLYMORPHIC,
    0xFB: CallKind.POLYMORPHIC,
    0xFC: CallKind.CUSTOM,
    0xFD: CallKind.CUSTOM,
}


def _tables() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int8]]:
    operation = np.full(256, Op.NOP, np.uint8)
    selectors = np.zeros((5, 256), np.uint8)
    throws = np.zeros(256, np.bool_)
    kinds = np.full(256, -1, np.int8)
    for first, last, op, dst, a, b, c, ref, throwing in _FORMATS:
        span = slice(first, last + 1)
        operation[span] = op
        for column, selector in enumerate((dst, a, b, c, ref)):
            selectors[column, span] = selector
        throws[span] = throwing
    throws[list(_DIVISIONS)] = True
    for opcode, kind in _CALL_KINDS.items():
        kinds[opcode] = kind
    return operation, selectors, throws, kinds


OPERATION, _SELECTORS, _THROWS, CALL_KIND = _tables()


@dataclass(slots=True)
class Code:
    """The rows of one code item, as Python lists; instruction indices are relative to its first instruction."""

    rows: list[list[int]]
    """Per instruction: op, pc, dst, a, b, c, ref, throws. CALL and FILLED: a, b = bounds in `args`."""
    args: list[int]
    args_start: int
    """What to subtract from the bounds in a row before they index `args`."""
    starts: list[int]
    """First instruction of each basic block, ascending."""
    n_registers: int
    n_ins: int
    tries: list[tuple[int, int, int, int]]
    """(first instruction, end instruction, first handler row, end handler row), ascending."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of all code items of an app."""

    rows: I4  # (n_insns, 8) columns as named above; branch targets in C are relative instruction indices
    args: I4  # registers of calls, the second half of wide ones left out; -1 where the code gives too few
    leader: NDArray[np.bool_]  # (n_insns,) begins a basic block
    insn_off: NDArray[np.int64]  # (n_code + 1,)
    switch_key: I4
    switch_target: I4  # relative instruction index of each row of the switch tables
    lit64: NDArray[np.int64]
    try_off: NDArray[np.int64]
    tries: I4  # (n_tries, 4) as in Code.tries
    handler_type: I4
    handler_insn: I4  # relative instruction index
    registers: I4  # (n_code,)
    ins: I4
    damaged: dict[int, str] = field(default_factory=dict)  # code index -> why it cannot be used

    def problem(self, index: int) -> str:
        """Why code item `index` cannot be used; '' where it is intact."""
        if index in self.damaged:
            return self.damaged[index]
        return "" if self.insn_off[index] < self.insn_off[index + 1] else "no instructions"

    def code(self, index: int) -> Code:
        """The rows of code item `index`; raises UnreadableInput where it is damaged."""
        if why := self.problem(index):
            raise UnreadableInput(f"code item {index}: {why}")
        low, high = int(self.insn_off[index]), int(self.insn_off[index + 1])
        rows: list[list[int]] = self.rows[low:high].tolist()
        first = last = -1
        for row in rows:
            if row[OP] == Op.CALL or row[OP] == FILLED:
                if first < 0:
                    first = row[A]
                last = row[B]
        first_try, last_try = int(self.try_off[index]), int(self.try_off[index + 1])
        return Code(
            rows,
            self.args[first:last].tolist() if first >= 0 else [],
            first,
            np.flatnonzero(self.leader[low:high]).tolist(),
            int(self.registers[index]),
            int(self.ins[index]),
            [tuple(t) for t in self.tries[first_try:last_try].tolist()] if last_try > first_try else [],
        )


def table(dex: Dex, prototypes: I4) -> Table:
    """The rows of every code item of `dex`.

    `prototypes`: (n_call_instructions,) proto id of each call, in instruction order (see `call_prototypes`).
    """
    opcode = dex.op
    n = len(opcode)
    insn_off = dex.insn_off.astype(np.int64)
    code_of = np.repeat(np.arange(len(insn_off) - 1, dtype=np.int64), np.diff(insn_off))
    sources = np.empty((6, n), np.int32)
    sources[_NONE] = -1
    for column, values in ((_A, dex.a), (_B, dex.b), (_C, dex.c), (_X, dex.x), (_OPCODE, opcode)):
        sources[column] = values
    every = np.arange(n)
    rows = np.empty((n, 8), np.int32)
    rows[:, OP] = OPERATION[opcode]
    rows[:, PC] = dex.pc
    for column, selector in zip((DST, A, B, C, REF), _SELECTORS, strict=True):
        rows[:, column] = sources[selector[opcode], every]
    rows[:, THROWS] = _THROWS[opcode]
    del sources
    damaged = {int(i): f"status {int(s)}" for i, s in enumerate(dex.code_status) if s} if dex.code_status.any() else {}
    registers = dex.code_registers.astype(np.int32)

    _fold_results(rows, insn_off)
    args, bad_arg = _arguments(dex, rows, prototypes, registers, code_of)
    _flag(damaged, code_of, bad_arg, "argument register out of range")
    _flag(damaged, code_of, _bad_registers(rows, registers, code_of), "register out of range")

    leader = np.zeros(n, np.bool_)
    leader[insn_off[:-1][np.diff(insn_off) > 0]] = True
    ends = np.isin(rows[:, OP], (Op.GOTO, Op.IF, Op.SWITCH, Op.RETURN, Op.THROW))
    after = np.flatnonzero(ends) + 1
    leader[after[after < n]] = True
    keys = (code_of << 32) | dex.pc.astype(np.int64)

    def place(code: NDArray[np.int64], pc: NDArray[np.int64], exact: bool) -> tuple[NDArray[np.int64], I4]:
        """Global and relative instruction index of each (code, pc); flags code where there is none."""
        wanted = (code << 32) | pc
        found = np.searchsorted(keys, wanted)
        if exact and len(wanted):
            inside = np.minimum(found, max(n - 1, 0))
            wrong = (found >= n) | (keys[inside] != wanted)
            for i in np.unique(code[wrong]).tolist():
                damaged.setdefault(i, "branch into the middle of an instruction")
            found = np.where(wrong, insn_off[code], found)
        return found, (found - insn_off[code]).astype(np.int32)

    jumps = np.flatnonzero((rows[:, OP] == Op.GOTO) | (rows[:, OP] == Op.IF))
    target, relative = place(code_of[jumps], rows[jumps, C].astype(np.int64), True)
    leader[target] = True
    rows[jumps, C] = relative

    switches = np.flatnonzero(rows[:, OP] == Op.SWITCH)
    counts = dex.b[switches].astype(np.int64) | (dex.c[switches].astype(np.int64) << 16)
    rows[switches, C] = counts
    switch_rows, switch_code = _expand(dex.x[switches].astype(np.int64), counts, code_of[switches])
    switch_target = np.zeros(len(dex.switch_target), np.int32)
    target, relative = place(switch_code, dex.switch_target[switch_rows].astype(np.int64), True)
    leader[target] = True
    switch_target[switch_rows] = relative

    try_off = dex.try_off.astype(np.int64)
    try_code = np.repeat(np.arange(len(try_off) - 1, dtype=np.int64), np.diff(try_off))
    handler_off = dex.try_handler_off.astype(np.int64)
    handler_code = np.repeat(try_code, np.diff(handler_off))
    begin, begin_relative = place(try_code, dex.try_start.astype(np.int64), False)
    end, end_relative = place(try_code, dex.try_end.astype(np.int64), False)
    for bound in (begin, end):
        leader[bound[bound < insn_off[try_code + 1]]] = True
    target, handler_insn = place(handler_code, dex.handler_pc.astype(np.int64), True)
    leader[target] = True
    tries = np.stack([begin_relative, end_relative, handler_off[:-1], handler_off[1:]], axis=1).astype(np.int32)

    return Table(
        rows,
        args,
        leader,
        insn_off,
        dex.switch_key.astype(np.int32),
        switch_target,
        dex.lit64,
        try_off,
        tries,
        dex.handler_type.astype(np.int32),
        handler_insn,
        registers,
        dex.code_ins.astype(np.int32),
        damaged,
    )


def call_prototypes(dex: Dex) -> I4:
    """(n_calls,) proto id of each call instruction, -1 where there is none, in instruction order."""
    kinds = CALL_KIND[dex.op]
    calls = np.flatnonzero(kinds >= 0)
    kind = kinds[calls]
    result = np.full(len(calls), -1, np.int32)
    plain = kind < CallKind.POLYMORPHIC
    result[plain] = dex.method_proto[dex.x[calls[plain]]]
    polymorphic = kind == CallKind.POLYMORPHIC
    rows = calls[polymorphic]
    result[polymorphic] = dex.c[rows].astype(np.int32) | (dex.b[rows].astype(np.int32) << 16)
    custom = kind == CallKind.CUSTOM
    if custom.any():
        result[custom] = dex.call_site_proto[dex.x[calls[custom]]]
    return result


def _fold_results(rows: I4, insn_off: NDArray[np.int64]) -> None:
    """Gives each call and filled-new-array the register of the move-result that follows it."""
    results = np.flatnonzero(rows[:, OP] == RESULT)
    first = np.zeros(len(rows) + 1, np.bool_)
    first[insn_off] = True
    before = np.maximum(results - 1, 0)
    usable = ~first[results] & np.isin(rows[before, OP], (Op.CALL, FILLED))
    rows[before[usable], DST] = rows[results[usable], DST]
    rows[results, OP] = Op.NOP
    rows[results, DST] = -1


def _arguments(
    dex: Dex, rows: I4, prototypes: I4, registers: I4, code_of: NDArray[np.int64]
) -> tuple[I4, NDArray[np.int64]]:
    """Registers of all calls without second halves, their bounds set in `rows`; and rows with a bad register."""
    kinds = CALL_KIND[dex.op]
    users = np.flatnonzero((kinds >= 0) | (rows[:, OP] == FILLED))
    is_call = kinds[users] >= 0
    has_receiver = is_call & (kinds[users] != CallKind.STATIC) & (kinds[users] != CallKind.CUSTOM)
    proto = np.full(len(users), -1, np.int64)
    proto[is_call] = prototypes
    known = proto >= 0
    given = dex.arg_off[users + 1].astype(np.int64) - dex.arg_off[users].astype(np.int64)

    param_off = dex.proto_params_off.astype(np.int64)
    n_params = np.diff(param_off)
    wide = np.isin(dex.proto_params, wide_types(dex))
    words = np.concatenate([[0], np.cumsum(1 + wide)])
    first_word = words[:-1] - np.repeat(words[param_off[:-1]], n_params)

    receiver = has_receiver.astype(np.int64)
    counts = np.where(known, receiver + n_params[np.maximum(proto, 0)] if len(n_params) else 0, given)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(users)), counts)
    nth = np.arange(len(owner)) - bounds[owner]
    position = nth.copy()
    parameter = known[owner] & (nth >= receiver[owner])
    at = owner[parameter]
    position[parameter] = receiver[at] + first_word[param_off[proto[at]] + nth[parameter] - receiver[at]]
    inside = position < given[owner]
    args = np.full(len(owner), -1, np.int32)
    args[inside] = dex.args[dex.arg_off[users[owner[inside]]].astype(np.int64) + position[inside]]

    rows[users, A] = bounds[:-1]
    rows[users, B] = bounds[1:]
    rows[users, C] = kinds[users]
    bad = np.unique(users[owner[args >= registers[code_of[users[owner]]]]])
    return args, bad


def wide_types(dex: Dex) -> list[int]:
    """Type ids of long and double."""
    names = (dex.strings.find("J"), dex.strings.find("D"))
    return [int(t) for s in names if s >= 0 for t in np.flatnonzero(dex.type_descriptor == s)]


def _bad_registers(rows: I4, registers: I4, code_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that name a register that their code item does not have."""
    limit = registers[code_of]
    op = rows[:, OP]
    calls = (op == Op.CALL) | (op == FILLED)
    bad = (rows[:, DST] >= limit) | (~calls & ((rows[:, A] >= limit) | (rows[:, B] >= limit)))
    bad |= (op == Op.APUT) & (rows[:, C] >= limit)
    return np.flatnonzero(bad)


def _flag(damaged: dict[int, str], code_of: NDArray[np.int64], bad: NDArray[np.int64], why: str) -> None:
    for index in np.unique(code_of[bad]).tolist():
        damaged.setdefault(index, why)


def _expand(
    start: NDArray[np.int64], count: NDArray[np.int64], owner: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All indices start .. start + count, and the owner of each."""
    bounds = np.concatenate([[0], np.cumsum(count)])
    index = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - start, count)
    return index, np.repeat(owner, count)
