"""One line of text per operation, in the style of Java with the register names of smali."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.dex import opcodes
from analyzer.ir import Body, CallKind, Op
from analyzer.program import Program

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>", "ushr": ">>>",
    "eq": "==", "ne": "!=", "lt": "<", "ge": ">=", "gt": ">", "le": "<=",
}  # fmt: skip


def class_name(descriptor: str) -> str:
    """`a.b.C[]` for `[La/b/C;`."""
    element = descriptor.lstrip("[")
    names = {"Z": "boolean", "B": "byte", "S": "short", "C": "char", "I": "int", "J": "long", "F": "float"}
    names |= {"D": "double", "V": "void"}
    plain = names.get(element) or element.removeprefix("L").removesuffix(";").replace("/", ".")
    return plain + "[]" * (len(descriptor) - len(element))


def short_name(descriptor: str) -> str:
    """`C[]` for `[La/b/C;`."""
    return class_name(descriptor).rpartition(".")[2]


def value_name(program: Program, body: Body, value: int) -> str:
    """`this`, `p1`, `v3` after the register it was defined in; `t12` for a value without one; `?` if undefined."""
    if value < 0:
        return "?"
    register = int(body.value_reg[value])
    if register < 0:
        return f"p{value}" if value < body.n_params else f"t{value}"
    first = int(body.value_reg[0]) if body.n_params else -1
    return f"p{register - first}" if 0 <= first <= register else f"v{register}"


def format_op(program: Program, body: Body, index: int, name: Callable[[int], str] | None = None) -> str:
    """One line for operation `index` of a body, such as `v5 = v3.getDeviceId()`.

    `name`: what values are called; by default `value_name`.
    """
    named = name if name is not None else lambda value: value_name(program, body, value)
    op = Op(int(body.op[index]))
    dst, a, b, c, ref = (int(column[index]) for column in (body.dst, body.a, body.b, body.c, body.ref))
    text = _FORMATS[op](_Line(program, body, index, a, b, c, ref, named))
    return f"{named(dst)} = {text}" if dst >= 0 else text


class _Line:
    """An operation with its operands named."""

    def __init__(
        self, program: Program, body: Body, index: int, a: int, b: int, c: int, ref: int, name: Callable[[int], str]
    ) -> None:
        self.program, self.body, self.index = program, body, index
        stored = c if body.op[index] == Op.APUT else -1  # of a call, `c` is its kind
        self.a, self.b, self.c = (name(v) for v in (a, b, stored))
        self.has_a, self.has_b, self.number, self.ref = a >= 0, b >= 0, c, ref
        low, high = int(body.arg_off[index]), int(body.arg_off[index + 1])
        self.args = [name(v) for v in body.args[low:high].tolist()]

    @property
    def type(self) -> str:
        return short_name(self.program.type_name(self.ref))

    @property
    def field(self) -> str:
        return self.program.field(self.ref).name

    @property
    def static_field(self) -> str:
        return f"{short_name(self.program.type_name(self.program.field(self.ref).cls))}.{self.field}"

    @property
    def mnemonic(self) -> str:
        return opcodes.NAMES[self.ref] if self.ref >= 0 else ""

    @property
    def symbol(self) -> str:
        word = self.mnemonic.removeprefix("if-").split("-")[0]
        return _SYMBOLS.get(word.removesuffix("z"), _SYMBOLS.get(word, "?"))

    def successors(self) -> str:
        block = int(self.body.block_off.searchsorted(self.index, side="right")) - 1
        low, high = int(self.body.succ_off[block]), int(self.body.succ_off[block + 1])
        return " | ".join(f"B{s}" for s in self.body.succ[low:high].tolist())


def _const(line: _Line) -> str:
    return str(line.body.constant.get(int(line.body.dst[line.index]), "?"))


def _string(line: _Line) -> str:
    text = line.program.string(line.ref).encode("unicode_escape", "surrogatepass").decode("ascii").replace('"', '\\"')
    return f'"{text}"'


def _data(line: _Line) -> str:
    if not line.mnemonic:
        return f"data({line.a}, {line.b})" if line.has_b else f"data({line.a})"
    if line.has_b:
        return f"{line.a} {line.symbol} {line.b}" if line.symbol != "?" else f"{line.mnemonic}({line.a}, {line.b})"
    if "/lit" in line.mnemonic:
        if line.mnemonic.startswith("rsub"):
            return f"{line.number} - {line.a}"
        return f"{line.a} {line.symbol} {line.number}"
    prefix = {"neg": "-", "not": "~"}.get(line.mnemonic.split("-")[0])
    return prefix + line.a if prefix else f"({line.mnemonic.rpartition('-')[2]}) {line.a}"


def _nodata(line: _Line) -> str:
    if not line.has_a:
        return "a method handle or type"
    return f"{line.a} instanceof {line.type}" if line.ref >= 0 else f"{line.a}.length"


def _caught(line: _Line) -> str:
    block = int(line.body.handler_block[line.ref])
    types = dict.fromkeys(int(line.body.handler_type[handler]) for _, handler in line.body.caught_by(block))
    return "caught " + " | ".join("any" if t < 0 else short_name(line.program.type_name(t)) for t in types)


def _call(line: _Line) -> str:
    if line.number == CallKind.CUSTOM:
        return f"custom#{line.ref}({', '.join(line.args)})"
    method = line.program.method(line.ref)
    owner = short_name(line.program.type_name(method.cls))
    if line.number == CallKind.STATIC or not line.args:
        return f"{owner}.{method.name}({', '.join(line.args)})"
    base, arguments = line.args[0], ", ".join(line.args[1:])
    if method.name == "<init>":
        return f"{base}.{owner}({arguments})"
    return f"{base}.{'super.' if line.number == CallKind.SUPER else ''}{method.name}({arguments})"


def _if(line: _Line) -> str:
    if not line.has_a:
        return f"any of {line.successors()}"
    return f"if ({line.a} {line.symbol} {line.b if line.has_b else 0}) {line.successors()}"


_FORMATS: dict[Op, Callable[[_Line], str]] = {
    Op.CONST: _const,
    Op.STRING: _string,
    Op.CLASS: lambda line: f"{line.type}.class",
    Op.NEW: lambda line: f"new {line.type}",
    Op.NEW_ARRAY: lambda line: f"new {line.type.removesuffix('[]')}[{line.a}]",
    Op.CAST: lambda line: f"({line.type}) {line.a}",
    Op.DATA: _data,
    Op.NODATA: _nodata,
    Op.CAUGHT: _caught,
    Op.PHI: lambda line: f"phi({', '.join(line.args)})",
    Op.GET: lambda line: f"{line.a}.{line.field}",
    Op.PUT: lambda line: f"{line.a}.{line.field} = {line.b}",
    Op.SGET: lambda line: line.static_field,
    Op.SPUT: lambda line: f"{line.static_field} = {line.a}",
    Op.AGET: lambda line: f"{line.a}[{line.b}]",
    Op.APUT: lambda line: f"{line.a}[{line.b}] = {line.c}",
    Op.CALL: _call,
    Op.RETURN: lambda line: f"return {line.a}" if line.has_a else "return",
    Op.THROW: lambda line: f"throw {line.a}",
    Op.IF: _if,
    Op.SWITCH: lambda line: f"switch ({line.a}) {line.successors()}",
    Op.GOTO: lambda line: f"goto {line.successors()}",
    Op.MONITOR: lambda line: f"{line.mnemonic or 'monitor'} {line.a}",
    Op.FILL: lambda line: f"{line.a} = {{...}}",
    Op.UNKNOWN: lambda line: f"any {line.type}",
    Op.NOP: lambda line: "nop",
}
