"""The Dalvik instruction set as tables: names, formats, what the operands are.

Source: the Dalvik bytecode and instruction format pages of the Android documentation. Kernels take these tables as
constants, so this file counts as a kernel source (`gpu.jit.kernel_sources`).
"""

from __future__ import annotations

import numpy as np

FORMATS = (
    *("10x", "12x", "11n", "11x", "10t", "20t", "22x", "21t", "21s", "21h", "21c", "23x", "22b", "22t", "22s"),
    *("22c", "30t", "32x", "31i", "31t", "31c", "35c", "3rc", "45cc", "4rcc", "51l", "none"),
)
"""Format names; a format number is an index into this. `none`: the opcode is not assigned."""

F10X, F12X, F11N, F11X, F10T, F20T, F22X, F21T, F21S, F21H, F21C, F23X, F22B, F22T, F22S = range(15)
F22C, F30T, F32X, F31I, F31T, F31C, F35C, F3RC, F45CC, F4RCC, F51L, F_NONE = range(15, 27)

KINDS = ("string", "type", "proto", "field", "method", "call site", "method handle")
STRING, TYPE, PROTO, FIELD, METHOD, SITE, HANDLE = range(7)
"""Kinds of ids, as in `KINDS`."""

LITERAL, BRANCH, PACKED, SPARSE, DATA, LIT64, UNASSIGNED = range(7, 14)
"""What column x holds where it is not an id: number or nothing, target, switch rows, array payload, 64-bit number."""

_LETTERS = {"s": STRING, "t": TYPE, "p": PROTO, "f": FIELD, "m": METHOD, "c": SITE, "h": HANDLE}
_FIELD_ACCESS = ("", "-wide", "-object", "-boolean", "-byte", "-char", "-short")
_INT_OPS = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr", "ushr")
_FLOAT_OPS = _INT_OPS[:5]


def _arithmetic(form: str, suffix: str) -> list[str]:
    """Lines of the 32 binary operations, in opcode order, with the wide operands of `form`."""
    wide = "abc" if form == "23x" else "ab"
    shift = "ab" if form == "23x" else "a"
    lines = [f"{name}-int{suffix} {form}" for name in _INT_OPS]
    lines += [f"{name}-long{suffix} {form} - {shift if 'sh' in name else wide}" for name in _INT_OPS]
    lines += [f"{name}-float{suffix} {form}" for name in _FLOAT_OPS]
    return lines + [f"{name}-double{suffix} {form} - {wide}" for name in _FLOAT_OPS]


def _access(prefix: str, form: str, kind: str) -> list[str]:
    """Lines of the seven widths of an array or field access."""
    return [f"{prefix}{suffix} {form} {kind} {'a' if 'wide' in suffix else ''}" for suffix in _FIELD_ACCESS]


def _definitions() -> list[str]:
    """One line per opcode: name, format, kind of id (or -), wide operands."""
    invokes = ("virtual", "super", "direct", "static", "interface")
    unused = "unused none"
    lines = ["nop 10x"]
    for suffix, wide in (("", ""), ("-wide", "ab"), ("-object", "")):
        lines += [f"move{suffix} 12x - {wide}", f"move{suffix}/from16 22x - {wide}", f"move{suffix}/16 32x - {wide}"]
    lines += ["move-result 11x", "move-result-wide 11x - a", "move-result-object 11x", "move-exception 11x"]
    lines += ["return-void 10x", "return 11x", "return-wide 11x - a", "return-object 11x"]
    lines += ["const/4 11n", "const/16 21s", "const 31i", "const/high16 21h"]
    lines += ["const-wide/16 21s - a", "const-wide/32 31i - a", "const-wide 51l - a", "const-wide/high16 21h - a"]
    lines += ["const-string 21c s", "const-string/jumbo 31c s", "const-class 21c t"]
    lines += ["monitor-enter 11x", "monitor-exit 11x", "check-cast 21c t", "instance-of 22c t", "array-length 12x"]
    lines += ["new-instance 21c t", "new-array 22c t", "filled-new-array 35c t", "filled-new-array/range 3rc t"]
    lines += ["fill-array-data 31t", "throw 11x", "goto 10t", "goto/16 20t", "goto/32 30t"]
    lines += ["packed-switch 31t", "sparse-switch 31t", "cmpl-float 23x", "cmpg-float 23x"]
    lines += ["cmpl-double 23x - bc", "cmpg-double 23x - bc", "cmp-long 23x - bc"]
    lines += [f"if-{test} 22t" for test in ("eq", "ne", "lt", "ge", "gt", "le")]
    lines += [f"if-{test}z 21t" for test in ("eq", "ne", "lt", "ge", "gt", "le")]
    lines += [unused] * 6
    lines += _access("aget", "23x", "-") + _access("aput", "23x", "-")
    lines += _access("iget", "22c", "f") + _access("iput", "22c", "f")
    lines += _access("sget", "21c", "f") + _access("sput", "21c", "f")
    lines += [f"invoke-{kind} 35c m" for kind in invokes] + [unused]
    lines += [f"invoke-{kind}/range 3rc m" for kind in invokes] + [unused] * 2
    lines += ["neg-int 12x", "not-int 12x", "neg-long 12x - ab", "not-long 12x - ab"]
    lines += ["neg-float 12x", "neg-double 12x - ab"]
    lines += ["int-to-long 12x - a", "int-to-float 12x", "int-to-double 12x - a"]
    lines += ["long-to-int 12x - b", "long-to-float 12x - b", "long-to-double 12x - ab"]
    lines += ["float-to-int 12x", "float-to-long 12x - a", "float-to-double 12x - a"]
    lines += ["double-to-int 12x - b", "double-to-long 12x - ab", "double-to-float 12x - b"]
    lines += ["int-to-byte 12x", "int-to-char 12x", "int-to-short 12x"]
    lines += _arithmetic("23x", "") + _arithmetic("12x", "/2addr")
    lines += ["add-int/lit16 22s", "rsub-int 22s"] + [f"{name}-int/lit16 22s" for name in _INT_OPS[2:8]]
    lines += ["add-int/lit8 22b", "rsub-int/lit8 22b"] + [f"{name}-int/lit8 22b" for name in _INT_OPS[2:]]
    lines += [unused] * 23
    lines += ["invoke-polymorphic 45cc m", "invoke-polymorphic/range 4rcc m"]
    lines += ["invoke-custom 35c c", "invoke-custom/range 3rc c"]
    lines += ["const-method-handle 21c h", "const-method-type 21c p"]
    return lines


def _meaning(name: str, form: str, kind: str) -> int:
    """What column x holds for an opcode."""
    special = {"packed-switch": PACKED, "sparse-switch": SPARSE, "fill-array-data": DATA}
    special |= {"const-wide": LIT64, "const-wide/high16": LIT64}
    if kind in _LETTERS:
        return _LETTERS[kind]
    if name in special:
        return special[name]
    if form == "none":
        return UNASSIGNED
    return BRANCH if form.endswith("t") else LITERAL


_ROWS = [[*line.split(), "-", "-"][:4] for line in _definitions()]

NAMES: tuple[str, ...] = tuple(row[0] for row in _ROWS)
"""(256,) mnemonic of each opcode."""

OPCODES: dict[str, int] = {name: code for code, name in enumerate(NAMES) if name != "unused"}
"""Mnemonic to opcode."""

FORMAT = np.array([FORMATS.index(row[1]) for row in _ROWS], np.uint8)
"""(256,) format number."""

UNITS = np.array([int(row[1][0]) if row[1] != "none" else 0 for row in _ROWS], np.uint8)
"""(256,) length in 16-bit units; 0 where not assigned."""

MEANING = np.array([_meaning(*row[:3]) for row in _ROWS], np.uint8)
"""(256,) what column x holds: a kind of id (`KINDS`) or LITERAL, BRANCH, PACKED, SPARSE, DATA, LIT64."""

WIDE = np.array([sum(1 << "abc".index(letter) for letter in row[3].strip("-")) for row in _ROWS], np.uint8)
"""(256,) bits 0, 1, 2: operand a, b, c is a register pair."""

_BITS = {
    "10x": "",
    "12x": "a8.4 b12.4",
    "11n": "a8.4 x12.s4",
    "11x": "a8.8",
    "10t": "x8.s8",
    "20t": "x16.s16",
    "22x": "a8.8 b16.16",
    "21t": "a8.8 x16.s16",
    "21s": "a8.8 x16.s16",
    "21h": "a8.8 x16.h16",
    "21c": "a8.8 x16.u16",
    "23x": "a8.8 b16.8 c24.8",
    "22b": "a8.8 b16.8 x24.s8",
    "22t": "a8.4 b12.4 x16.s16",
    "22s": "a8.4 b12.4 x16.s16",
    "22c": "a8.4 b12.4 x16.u16",
    "30t": "x16.s32",
    "32x": "a16.16 b32.16",
    "31i": "a8.8 x16.s32",
    "31t": "a8.8 x16.s32",
    "31c": "a8.8 x16.u32",
    "35c": "a12.4 x16.u16",
    "3rc": "a8.8 b32.16 x16.u16",
    "45cc": "a12.4 c48.16 x16.u16",
    "4rcc": "a8.8 b32.16 c48.16 x16.u16",
    "51l": "a8.8",
    "none": "",
}
"""Where the operands lie in the first four units: first bit.width; x is signed, unsigned or (h) signed and shifted up
by 16 bits. For argument lists a is their length, b the first register of a range, c the proto."""

A_SHIFT, A_MASK, B_SHIFT, B_MASK, C_SHIFT, C_MASK, X_LEFT, X_RIGHT, X_MASK = range(9)
A_WIDE, B_WIDE, C_WIDE, LENGTH, FORM, MEANS, USES = range(9, 16)
"""Columns of DECODE. a = word >> A_SHIFT & A_MASK (b, c alike); x = word << X_LEFT >> X_RIGHT & X_MASK, signed."""

NO_REGISTER, REGISTERS, ARGUMENTS = range(3)
"""Column USES of DECODE."""


def _decoding(code: int) -> list[int]:
    """Row of DECODE for an opcode."""
    form = FORMATS[FORMAT[code]]
    row = [0] * 9
    for item in _BITS[form].split():
        start, width = item[1:].split(".")
        if item[0] == "x":
            bits = int(width[1:])
            row[X_LEFT] = 64 - int(start) - bits
            row[X_RIGHT] = 64 - bits - (16 if width[0] == "h" else 0)
            row[X_MASK] = {"s": -1, "h": -1 << 16, "u": (1 << bits) - 1}[width[0]]
        else:
            at = 2 * "abc".index(item[0])
            row[at : at + 2] = int(start), (1 << int(width)) - 1
    uses = ARGUMENTS if form in ("35c", "3rc", "45cc", "4rcc") else REGISTERS if row[A_MASK] else NO_REGISTER
    wide = [int(WIDE[code]) >> i & 1 for i in range(3)]
    return [*row, *wide, int(UNITS[code]), int(FORMAT[code]), int(MEANING[code]), uses]


CONST_WIDE = OPCODES["const-wide"]

DECODE = np.array([_decoding(code) for code in range(256)], np.int64)
"""(256, 16) how to take an instruction apart without a branch."""
