"""Androguard as the oracle of the dex reader: every method, instruction by instruction.

Compared: opcodes, pcs, registers, arguments, literals, branch and switch targets with keys, array payloads, texts of
references, code headers, try ranges and handlers, access flags, class headers, initial values, source lines.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analyzer.dex import Dex, opcodes, read

ANDROGUARD_FAULTS = {
    "payload": "yields switch and array payloads as instructions; they are compared through the instruction that uses"
    " them",
    "invoke-polymorphic": "get_operands takes no index and returns None; the instruction's fields are read instead",
    "invoke-custom": "resolves the call site to None; the index is compared",
    "const-method-handle": "looks the handle up in the method table; the index is compared",
    "const-method-type": "resolves the proto to None; the index is compared",
    "high byte 0xff": "takes const-method-type with a register above v0 for an ODEX instruction, raises, loses the rest"
    " of the method",
    "nop": "raises on a nop whose high byte is not 0 to 3",
    "key overflow": "does not wrap the keys of a packed-switch at 2^31",
    "unsigned": "does not sign-extend encoded ints, shorts, longs; compared modulo their size",
    "byte": "reads an encoded byte unsigned and its length from nowhere",
    "float": "does not decode encoded floats and doubles: the bytes are given as they stand, right-aligned",
    "get_debug": "get_debug raises: it seeks in the wrong object; its DebugInfoItem is built on the bytes instead",
    "empty range": "keeps try ranges of length 0, which cover nothing",
}
"""Where Androguard 4.1.4 is known to be wrong or poor, and what is compared instead."""


def silence() -> None:
    """Androguard logs to standard error, loudly."""
    from loguru import logger

    logger.disable("androguard")


def dex_entries(path: Path) -> list[bytes]:
    """Dex files of an app, in the order of Android's class path."""
    if path.suffix == ".dex":
        return [path.read_bytes()]
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("classes") and name.endswith(".dex")]
        names.sort(key=lambda name: int(name[7:-4] or 1))
        return [archive.read(name) for name in names]


class Texts:
    """Names behind the global ids of a Dex, cached."""

    def __init__(self, dex: Dex) -> None:
        string = dex.strings
        self.types = [string[i] for i in dex.type_descriptor]
        off = dex.proto_params_off
        self.protos = [
            "(" + " ".join(self.types[t] for t in dex.proto_params[off[i] : off[i + 1]]) + ")" + self.types[ret]
            for i, ret in enumerate(dex.proto_return)
        ]
        columns = zip(dex.field_class, dex.field_type, dex.field_name, strict=True)
        self.fields = [(self.types[c], self.types[t], string[n]) for c, t, n in columns]
        columns = zip(dex.method_class, dex.method_proto, dex.method_name, strict=True)
        self.methods = [(self.types[c], string[n], self.protos[p]) for c, p, n in columns]


class Mismatch(AssertionError):
    """The two readers disagree."""


def compare(files: list[bytes]) -> Counter[str]:
    """Compare both readers on the dex files of an app; returns how much was compared. Raises Mismatch."""
    ours = read(files)
    checker = _Checker(ours)
    for number, data in enumerate(files):
        checker.file(number, data)
    done = checker.done
    for what, total in (
        ("methods", len(ours.em_method)),
        ("fields", len(ours.ef_field)),
        ("classes", len(ours.class_type)),
    ):
        if done[what] != total:
            raise Mismatch(f"{done[what]} of our {total} {what} were found")
    if not ours.code_status.any() and done["instructions"] < len(ours.op):
        raise Mismatch("instructions that Androguard does not have")
    return done


class _Checker:
    def __init__(self, ours: Dex) -> None:
        self.ours = ours
        self.texts = Texts(ours)
        self.done: Counter[str] = Counter()
        # Lists are several times faster than arrays, item by item.
        names = (
            *("op", "pc", "a", "b", "c", "x", "arg_off", "args", "insn_off", "lit64", "switch_key", "switch_target"),
            *("try_off", "try_start", "try_end", "try_handler_off", "handler_type", "handler_pc"),
        )
        self.col = {name: getattr(ours, name).tolist() for name in names}

    def equal(self, got: Any, expected: Any, where: Any) -> None:
        if got != expected:
            raise Mismatch(f"{where}: we read {got}, Androguard {expected}")

    def file(self, number: int, data: bytes) -> None:
        from androguard.core.dex import DEX

        self.buffer = io.BytesIO(data)
        theirs = DEX(data)
        manager = theirs.get_class_manager()
        ours = self.ours
        rows = [i for i in range(len(ours.class_type)) if ours.class_dex[i] == number]
        classes = list(theirs.get_classes())
        self.equal(len(rows), len(classes), "classes")
        for row, cls in zip(rows, classes, strict=True):
            name = cls.get_name()
            self.equal(self.texts.types[ours.class_type[row]], name, "class")
            parent = ours.class_super[row]
            self.equal(self.texts.types[parent] if parent >= 0 else None, _super(cls), name)
            self.equal(int(ours.class_access[row]), cls.get_access_flags(), name)
            off = ours.class_interfaces_off
            interfaces = [self.texts.types[t] for t in ours.class_interfaces[off[row] : off[row + 1]]]
            self.equal(interfaces, list(cls.get_interfaces()), name)
            self.members(row, cls, manager)
            self.done["classes"] += 1

    def members(self, row: int, cls: Any, manager: Any) -> None:
        ours = self.ours
        data = cls.class_data_item
        fields = range(ours.class_ef_off[row], ours.class_ef_off[row + 1])
        theirs = [*data.get_static_fields(), *data.get_instance_fields()] if data else []
        self.equal(len(fields), len(theirs), cls.get_name())
        for i, (ef, field) in enumerate(zip(fields, theirs, strict=True)):
            key = (field.get_class_name(), field.get_descriptor().replace(" ", ""), field.get_name())
            got = self.texts.fields[ours.ef_field[ef]]
            self.equal((got[0], got[1].replace(" ", ""), got[2]), key, key)
            self.equal(int(ours.ef_access[ef]), field.get_access_flags(), key)
            self.equal(bool(ours.ef_static[ef]), i < len(data.get_static_fields()), key)
            self.value(ef, field, key)
            self.done["fields"] += 1
        methods = range(ours.class_em_off[row], ours.class_em_off[row + 1])
        theirs = [*data.get_direct_methods(), *data.get_virtual_methods()] if data else []
        self.equal(len(methods), len(theirs), cls.get_name())
        for i, (em, method) in enumerate(zip(methods, theirs, strict=True)):
            key = (method.get_class_name(), method.get_name(), method.get_descriptor())
            self.equal(self.texts.methods[ours.em_method[em]], key, key)
            self.equal(int(ours.em_access[em]), method.get_access_flags(), key)
            self.equal(bool(ours.em_direct[em]), i < len(data.get_direct_methods()), key)
            self.done["methods"] += 1
            code = method.get_code()
            self.equal(ours.em_code[em] >= 0, code is not None, key)
            if code is not None:
                self.code(int(ours.em_code[em]), code, key, manager)

    def value(self, ef: int, field: Any, key: Any) -> None:
        kind, ours = int(self.ours.ef_value_kind[ef]), int(self.ours.ef_value[ef])
        value = field.get_init_value()
        if value is None:
            self.equal(kind, 0xFF, key)
            return
        self.equal(kind, value.get_value_type(), key)
        theirs: Any = value.get_value()
        size = value.get_value_arg() + 1
        if kind in (0x02, 0x03, 0x04, 0x06, 0x00):  # fault: unsigned, byte
            self.equal(ours % (1 << 8 * size), theirs, key)
        elif kind in (0x10, 0x11):  # fault: float
            bits = int.from_bytes(struct.pack("<q", ours), "little")
            self.equal(bits >> 8 * ((4 if kind == 0x10 else 8) - size), theirs, key)
        elif kind == 0x17:
            self.equal(self.ours.strings[ours], theirs, key)
        elif kind == 0x18:
            self.equal(self.texts.types[ours], theirs, key)
        elif kind == 0x1F:
            self.equal(bool(ours), theirs, key)
        self.done["values"] += 1

    def code(self, code: int, theirs: Any, key: Any, manager: Any) -> None:
        ours, col = self.ours, self.col
        header = (int(ours.code_registers[code]), int(ours.code_ins[code]), int(ours.code_outs[code]))
        self.equal(header, (theirs.get_registers_size(), theirs.get_ins_size(), theirs.get_outs_size()), key)
        self.equal(int(ours.code_units[code]), theirs.get_insns_size(), key)
        if ours.code_status[code]:
            self.done["damaged"] += 1
            return
        row, end = col["insn_off"][code], col["insn_off"][code + 1]
        payloads, switches, arrays = {}, [], []
        pc = 0
        for insn in self.walk(code, theirs):
            op = insn.get_op_value()
            if op >= 0x100:  # fault: payload
                payloads[pc] = insn
            else:
                if row >= end:
                    raise Mismatch(f"{key}: we miss the instruction at {pc}")
                self.equal((col["op"][row], col["pc"][row]), (op, pc), key)
                self.instruction(row, insn, pc, (*key, pc), manager)
                if op in (0x2B, 0x2C):
                    switches.append((row, pc, pc + insn.get_ref_off()))
                elif op == 0x26:
                    arrays.append((row, pc + insn.get_ref_off()))
                row += 1
            pc += insn.get_length() // 2
        if pc == theirs.get_insns_size():
            self.equal(row, end, key)
        for row, pc, at in switches:
            first, rows = col["x"][row], col["b"][row] | col["c"][row] << 16
            got = (col["switch_key"][first : first + rows], col["switch_target"][first : first + rows])
            keys = [(key + 2**31) % 2**32 - 2**31 for key in payloads[at].get_keys()]  # fault: key overflow
            expected = (keys, [pc + target for target in payloads[at].get_targets()])
            self.equal(got, expected, (*key, pc))
            self.done["cases"] += rows
        for row, at in arrays:
            x = col["x"][row]
            size = int(ours.payload_width[x] * ours.payload_count[x])
            start = int(ours.payload_off[x])
            self.equal(ours.data[start : start + size].tobytes(), bytes(payloads[at].get_data()[:size]), key)
            self.done["arrays"] += 1
        self.tries(code, theirs, key, manager)
        self.lines(code, theirs, key, manager)
        self.done["instructions"] += col["insn_off"][code + 1] - col["insn_off"][code]

    def walk(self, code: int, theirs: Any) -> Iterator[Any]:
        """Androguard's instructions, up to where a known fault ends them."""
        from androguard.core.dex import InvalidInstruction, LinearSweepAlgorithm

        pc, body = 0, theirs.get_bc()
        try:
            for insn in LinearSweepAlgorithm.get_instructions(body.CM, body.size, body.insn, 0):
                yield insn
                pc += insn.get_length() // 2
        except InvalidInstruction:  # fault: high byte 0xff, nop
            rows = range(self.col["insn_off"][code], self.col["insn_off"][code + 1])
            op = next((self.col["op"][i] for i in rows if self.col["pc"][i] == pc), None)
            if op not in (0x00, 0xFF):
                raise
            self.done["given up by Androguard"] += 1

    def instruction(self, row: int, insn: Any, pc: int, where: Any, manager: Any) -> None:
        col = self.col
        op, a, b, c, x = col["op"][row], col["a"][row], col["b"][row], col["c"][row], col["x"][row]
        form = opcodes.FORMATS[opcodes.FORMAT[op]]
        registers, number, ref = _operands(form, insn)
        args = col["args"][col["arg_off"][row] : col["arg_off"][row + 1]]
        if form in ("35c", "3rc", "45cc", "4rcc"):
            self.equal((a, args), (len(registers), registers), where)
            if form in ("45cc", "4rcc"):
                self.equal(self.texts.protos[c | b << 16], _proto(manager, insn.HHHH), where)
        else:
            self.equal(args, [], where)
            self.equal([a, b, c][: len(registers)], registers, where)
        meaning = opcodes.MEANING[op]
        if meaning == opcodes.BRANCH:
            assert number is not None
            self.equal(x, pc + number, where)
        elif meaning == opcodes.LIT64:
            self.equal(col["lit64"][x], number, where)
        elif meaning == opcodes.LITERAL and number is not None:
            self.equal(x, number, where)
        elif meaning == opcodes.STRING:
            self.equal(self.ours.strings[x], manager.get_raw_string(ref), where)
        elif meaning == opcodes.TYPE:
            self.equal(self.texts.types[x], manager.get_type(ref), where)
        elif meaning == opcodes.FIELD:
            cls, kind, name = manager.get_field(ref)
            self.equal(self.texts.fields[x], (cls, kind, name), where)
        elif meaning == opcodes.METHOD:
            cls, name, proto = manager.get_method(ref)
            self.equal(self.texts.methods[x], (cls, name, "".join(proto)), where)
        elif meaning == opcodes.PROTO:  # fault: const-method-type
            self.equal(self.texts.protos[x], _proto(manager, ref), where)
        elif meaning in (opcodes.SITE, opcodes.HANDLE):  # fault: invoke-custom, const-method-handle
            self.equal(x, ref, where)

    def tries(self, code: int, theirs: Any, key: Any, manager: Any) -> None:
        col = self.col
        got = []
        for i in range(col["try_off"][code], col["try_off"][code + 1]):
            begin, end = col["try_handler_off"][i], col["try_handler_off"][i + 1]
            handlers = [
                (self.texts.types[kind] if kind >= 0 else None, pc)
                for kind, pc in zip(col["handler_type"][begin:end], col["handler_pc"][begin:end], strict=True)
            ]
            got.append((col["try_start"][i], col["try_end"][i], handlers))
        expected = []
        for item in theirs.get_tries():
            if item.get_insn_count() == 0:  # fault: empty range
                continue
            position = item.get_handler_off() + theirs.handlers.get_off()
            handler = next(h for h in theirs.handlers.get_list() if h.get_off() == position)
            rows = [(manager.get_type(h.get_type_idx()), h.get_addr()) for h in handler.get_handlers()]
            if handler.get_size() <= 0:
                rows.append((None, handler.get_catch_all_addr()))
            start = item.get_start_addr()
            expected.append((start, start + item.get_insn_count(), rows))
        self.equal(got, expected, key)
        self.done["tries"] += len(got)

    def lines(self, code: int, theirs: Any, key: Any, manager: Any) -> None:
        from androguard.core.dex import DebugInfoItem

        if theirs.get_debug_info_off() == 0:
            self.equal(self.ours.line(code, 0), None, key)
            return
        self.buffer.seek(theirs.get_debug_info_off())  # fault: get_debug
        for pc, line in _positions(DebugInfoItem(self.buffer, manager)):
            if pc < theirs.get_insns_size():
                self.equal(self.ours.line(code, pc), line, (*key, pc))
                self.done["lines"] += 1


def _super(cls: Any) -> str | None:
    name: str = cls.get_superclassname()
    return None if name.startswith("AG:") else name


def _proto(manager: Any, index: int | None) -> str:
    return "".join(manager.get_proto(index))


def _positions(debug: Any) -> Iterator[tuple[int, int]]:
    """(pc, line) of a debug_info item that Androguard took apart; of several lines at one pc the last."""
    table: dict[int, int] = {}
    pc, line = 0, debug.get_line_start()
    for step in debug.get_bytecodes():
        op = step.get_op_value()
        if op == 0x01:
            pc += step.format[0][0]
        elif op == 0x02:
            line += step.format[0][0]
        elif op >= 0x0A:
            line += (op - 0x0A) % 15 - 4
            pc += (op - 0x0A) // 15
            table[pc] = line
    yield from table.items()


def _operands(form: str, insn: Any) -> tuple[list[int], int | None, int | None]:
    """(registers, literal or offset, index) of an instruction, by its format."""
    if form in ("35c", "45cc"):
        return [insn.C, insn.D, insn.E, insn.F, insn.G][: insn.A], None, insn.BBBB
    if form in ("3rc", "4rcc"):
        return list(range(insn.CCCC, insn.CCCC + insn.AA)), None, insn.BBBB
    if form == "10x":
        return [], None, None
    if form == "12x":
        return [insn.A, insn.B], None, None
    if form == "11n":
        return [insn.A], insn.B, None
    if form == "11x":
        return [insn.AA], None, None
    if form in ("10t", "20t", "30t"):
        return [], insn.get_ref_off(), None
    if form in ("22x", "32x"):
        return [insn.AAAA if form == "32x" else insn.AA, insn.BBBB], None, None
    if form in ("21t", "31t"):
        return [insn.AA], insn.get_ref_off(), None
    if form in ("21s", "21h", "31i", "51l"):
        return [insn.AA], insn.get_literals()[0], None
    if form in ("21c", "31c"):
        return [insn.AA], None, insn.get_ref_kind()
    if form == "23x":
        return [insn.AA, insn.BB, insn.CC], None, None
    if form == "22b":
        return [insn.AA, insn.BB], insn.CC, None
    if form == "22t":
        return [insn.A, insn.B], insn.get_ref_off(), None
    if form == "22s":
        return [insn.A, insn.B], insn.CCCC, None
    assert form == "22c", form
    return [insn.A, insn.B], None, insn.get_ref_kind()
