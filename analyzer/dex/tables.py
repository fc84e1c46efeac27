"""What the reader returns: every dex file of an app as arrays in one id space."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analyzer.dex.header import Problem
from analyzer.dex.lines import line_table
from analyzer.dex.strings import StringTable

Bools = NDArray[np.bool_]
U1 = NDArray[np.uint8]
U2 = NDArray[np.uint16]
U4 = NDArray[np.uint32]
I4 = NDArray[np.int32]
I8 = NDArray[np.int64]

_LINE_TABLES_KEPT = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Dex:
    """The dex files of an app, joined.

    Ids of strings, types, protos, fields and methods are numbered first come over the files in order, so equal items
    of several files have one id. Classes, encoded members and code items stand in file order. `*_off` arrays are CSR:
    row i owns [off[i], off[i + 1]).
    """

    names: tuple[str, ...]
    """(n_dex,) file of each dex; `name!1`, `name!2` for the further ones in a container."""
    versions: tuple[int, ...]
    """(n_dex,) format version, 35 to 41."""
    data: U1
    """Bytes of all files, joined."""
    dex_base: I8
    """(n_dex,) position in `data` from which the offsets of a dex count."""
    dex_end: I8
    """(n_dex,) position in `data` behind the dex."""

    strings: StringTable
    type_descriptor: I4
    """(n_types,) string id."""
    proto_return: I4
    """(n_protos,) type id."""
    proto_params_off: I4
    """(n_protos + 1,) CSR into `proto_params`."""
    proto_params: I4
    """Type ids."""
    field_class: I4
    """(n_fields,) type id."""
    field_type: I4
    """(n_fields,) type id."""
    field_name: I4
    """(n_fields,) string id."""
    method_class: I4
    """(n_methods,) type id."""
    method_name: I4
    """(n_methods,) string id."""
    method_proto: I4
    """(n_methods,) proto id."""

    class_type: I4
    """(n_classes,) type id."""
    class_super: I4
    """(n_classes,) type id, -1 none."""
    class_access: U4
    """(n_classes,) access flags."""
    class_interfaces_off: I4
    """(n_classes + 1,) CSR into `class_interfaces`."""
    class_interfaces: I4
    """Type ids."""
    class_source: I4
    """(n_classes,) string id of the source file, -1 none."""
    class_dex: I4
    """(n_classes,) index into `names`."""
    class_shadowed: Bools
    """(n_classes,) an earlier class has the same type; Android never loads this one."""
    class_em_off: I4
    """(n_classes + 1,) CSR into the encoded methods."""
    class_ef_off: I4
    """(n_classes + 1,) CSR into the encoded fields."""

    em_class: I4
    """(n_encoded_methods,) index of the class."""
    em_method: I4
    """(n_encoded_methods,) method id."""
    em_access: U4
    """(n_encoded_methods,) access flags."""
    em_code: I4
    """(n_encoded_methods,) index of the code item, -1 none. Methods can share one."""
    em_direct: Bools
    """(n_encoded_methods,) stands among the direct methods (static, private, constructor)."""

    ef_class: I4
    """(n_encoded_fields,) index of the class."""
    ef_field: I4
    """(n_encoded_fields,) field id."""
    ef_access: U4
    """(n_encoded_fields,) access flags."""
    ef_static: Bools
    """(n_encoded_fields,) stands among the static fields."""
    ef_value_kind: U1
    """(n_encoded_fields,) VALUE_* type of the initial value, 0xff none."""
    ef_value: I8
    """(n_encoded_fields,) the initial value: a number, the bits of a float or double, or a global id."""

    code_dex: I4
    """(n_code,) index into `names`."""
    code_off: I8
    """(n_code,) position of the code item in `data`."""
    code_registers: U2
    """(n_code,) registers of the frame."""
    code_ins: U2
    """(n_code,) words of the arguments; they arrive in the last registers."""
    code_outs: U2
    """(n_code,) words that calls from here pass at most."""
    code_units: I4
    """(n_code,) length of the instructions in 16-bit units."""
    code_status: U1
    """(n_code,) 0: decoded; else an index into `STATUS`, and the code item has no rows below."""

    insn_off: I8
    """(n_code + 1,) CSR into the instructions. Payloads are no instructions, so pcs can have gaps."""
    op: U1
    """(n_insns,) opcode, see `opcodes`."""
    pc: I4
    """(n_insns,) 16-bit units from the start of the method."""
    a: U2
    """(n_insns,) first register; the number of arguments of an invoke or filled-new-array."""
    b: U2
    """(n_insns,) second register. Rows of a switch = b | c << 16; proto of invoke-polymorphic = c | b << 16."""
    c: U2
    """(n_insns,) third register."""
    x: I4
    """(n_insns,) by `opcodes.MEANING`: global id, literal, target pc, first row in `switch_*`, `payload_*`, `lit64`."""
    arg_off: I8
    """(n_insns + 1,) CSR into `args`."""
    args: U2
    """Argument registers; both words of a wide argument are listed."""
    lit64: I8
    """Numbers of const-wide and const-wide/high16 (const-wide/16 and /32 are in x, to be sign-extended)."""
    switch_key: I4
    switch_target: I4
    """pc."""
    payload_off: I8
    """Position in `data` of the bytes of each fill-array-data instruction."""
    payload_width: I4
    """Bytes per element."""
    payload_count: I8
    """Elements."""

    try_off: I8
    """(n_code + 1,) CSR into the try ranges, which ascend and do not overlap within a code item."""
    try_start: I4
    """(n_tries,) pc."""
    try_end: I4
    """(n_tries,) pc behind the range."""
    try_handler_off: I8
    """(n_tries + 1,) CSR into the handlers, first match first."""
    handler_type: I4
    """Type id, -1 catches all."""
    handler_pc: I4

    call_site_handle: I4
    """(n_sites,) id of the bootstrap method handle, -1 if the call site is damaged."""
    call_site_name: I4
    """(n_sites,) string id of the method name."""
    call_site_proto: I4
    """(n_sites,) proto id."""
    call_site_arg_off: I4
    """(n_sites + 1,) CSR into the extra arguments of the bootstrap method."""
    call_site_arg_kind: U1
    """VALUE_* type, as in `ef_value_kind`."""
    call_site_arg_value: I8
    """As in `ef_value`."""
    method_handle_kind: U1
    """(n_handles,) 0 static put, 1 static get, 2 instance put, 3 instance get, 4 invoke static, 5 invoke instance,
    6 invoke constructor, 7 invoke direct, 8 invoke interface."""
    method_handle_member: I4
    """(n_handles,) field id for kinds 0 to 3, else method id; -1 if damaged."""

    problems: tuple[Problem, ...]
    """What was skipped or is damaged."""

    _lines: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict, repr=False)

    def line(self, code: int, pc: int) -> int | None:
        """Return the source line of `pc` in code item `code`; None if the file does not say."""
        table = self._lines.get(code)
        if table is None:
            if len(self._lines) >= _LINE_TABLES_KEPT:
                self._lines.clear()
            table = self._lines[code] = self._line_table(code)
        row = bisect_right(table[0], pc) - 1
        return table[1][row] if row >= 0 else None

    def _line_table(self, code: int) -> tuple[list[int], list[int]]:
        if self.code_status[code]:
            return [], []
        at, dex = int(self.code_off[code]), int(self.code_dex[code])
        offset = int.from_bytes(self.data[at + 8 : at + 12].tobytes(), "little")
        if offset == 0:
            return [], []
        start = int(self.dex_base[dex]) + offset
        return line_table(self.data.data, start, int(self.dex_end[dex]), int(self.code_units[code]))
