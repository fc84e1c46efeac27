"""`read`: the order of the passes, the allocation between them, and the account of what is damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.dex import layout
from analyzer.dex.callsites import read_call_sites, read_nested_values
from analyzer.dex.header import Header, Problem, headers
from analyzer.dex.layout import BASE, CLASSES, DEX_COLUMNS, END, LIMITS, N_COUNTS, TABLES
from analyzer.dex.opcodes import FIELD, HANDLE, METHOD, PROTO, SITE, STRING, TYPE
from analyzer.dex.strings import StringTable
from analyzer.dex.tables import Dex
from gpu.errors import GdroidError, UnreadableInput, UnsupportedFeature

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]

_PAD = 64
"""Zero bytes behind each file: kernels read a few bytes at once."""

_MAX_PROBLEMS = 200
"""Damaged items listed one by one; the rest is counted."""


def read(files: Sequence[bytes], names: Sequence[str] | None = None, *, skip_unreadable: bool = False) -> Dex:
    """Read dex files, in the order in which Android looks classes up, into one id space.

    Raises UnreadableInput (UnsupportedFeature for big-endian files) where a header or an id table is unusable; with
    `skip_unreadable` such a file becomes a problem, unless no other is left. All other damage is listed in
    `Dex.problems` and, per code item, in `Dex.code_status`.
    """
    if names is None:
        names = [f"classes{i + 1 if i else ''}.dex" for i in range(len(files))]
    if len(names) != len(files):
        raise ValueError("one name per file")
    # Compiled on import, so imported here.
    from analyzer.dex import kernels

    return _Reader(files, names, kernels, skip_unreadable).read()


def csr(counts: NDArray[Any], dtype: type[np.signedinteger[Any]] = np.int64) -> NDArray[Any]:
    """Offsets of rows with the given counts, one more than there are counts."""
    out = np.zeros(len(counts) + 1, dtype)
    np.cumsum(counts, out=out[1:])
    return out


class _Reader:
    """The state of one `read`: the joined bytes, the table of dex files, the map from local to global ids."""

    def __init__(
        self, files: Sequence[bytes], names: Sequence[str], kernels: ModuleType, skip_unreadable: bool = False
    ) -> None:
        self.k = kernels
        self.problems: list[Problem] = []
        starts = [0]
        for data in files:
            starts.append((starts[-1] + len(data) + _PAD + 7) & ~7)
        self.data = np.zeros(starts[-1] + _PAD, np.uint8)
        self.headers: list[Header] = []
        failure: GdroidError | None = None
        for at, data, name in zip(starts, files, names, strict=False):
            self.data[at : at + len(data)] = np.frombuffer(data, np.uint8)
            try:
                self.headers += headers(data, name, at, self.problems)
            except (UnreadableInput, UnsupportedFeature) as error:
                if not skip_unreadable:
                    raise
                failure = error
                self.problems.append(Problem(name, "file", f"skipped: {error}"))
        if failure and not self.headers:
            raise failure
        self.seed = np.uint64(int.from_bytes(os.urandom(8), "little"))
        self.total = sum(map(len, files))
        self._place_rows()

    def _place_rows(self) -> None:
        """Give each id table its rows in `maps`, kind by kind; dex files of a container can share their strings."""
        dex = self.dex = np.zeros((len(self.headers), DEX_COLUMNS), np.int64)
        self.sections: list[tuple[int, int, int, int, int]] = []
        shared: dict[tuple[int, int, int], int] = {}
        self.first = [0] * (CLASSES + 1)
        row = 0
        for kind in range(CLASSES + 1):
            if kind == CLASSES:
                self.n_map, row = row, 0
            self.first[kind] = row
            for d, header in enumerate(self.headers):
                count, offset = header.tables[kind]
                column = TABLES + 3 * kind
                dex[d, BASE], dex[d, END] = header.base, header.end
                dex[d, column : column + 3] = count, offset, row
                dex[d, LIMITS + kind] = count if kind < CLASSES else np.iinfo(np.int64).max
                if kind == STRING:
                    key = (header.base, offset, count)
                    if key in shared:
                        dex[d, column + 2] = shared[key]
                        continue
                    shared[key] = row
                    self.sections.append((header.base, header.end, offset, count, row))
                row += count
        self.n_class = row

    def read(self) -> Dex:
        self.maps = np.zeros(self.n_map + 1, np.int32)
        columns: dict[str, Any] = self._strings()
        columns |= self._ids(len(columns["start"]))
        columns |= self._classes(len(columns["type_descriptor"]))
        columns |= self._code(columns)
        columns |= read_call_sites(self.data, self.dex, self.maps, [h.name for h in self.headers], self.problems)
        self._sentinels(columns)
        strings = StringTable(self.data, columns.pop("start"), columns.pop("size"))
        return Dex(
            names=tuple(header.name for header in self.headers),
            versions=tuple(header.version for header in self.headers),
            data=self.data,
            dex_base=self.dex[:, BASE].copy(),
            dex_end=self.dex[:, END].copy(),
            strings=strings,
            problems=tuple(self.problems),
            **columns,
        )

    # ------------------------------------------------------------------------------------------------ id tables

    def _part(self, kind: int) -> I4:
        """Slice of `maps` for one kind of id."""
        return self.maps[self.first[kind] : self.first[kind + 1] if kind < HANDLE else self.n_map]

    def _strings(self) -> dict[str, Any]:
        sections = np.array(self.sections, np.int64).reshape(-1, 5)
        n = int(sections[:, 3].sum())
        start, size, hashes = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.uint64)
        damaged = np.zeros(len(sections), np.int64)
        # Texts do not overlap in a sane file, so this is never short.
        budget = 2 * (sections[:, 1] - sections[:, 0])
        self.k.scan_strings(self.data, sections, damaged, budget, start, size, hashes, self.seed)
        for (base, _, _, _, _), count in zip(self.sections, damaged.tolist(), strict=True):
            if count:
                name = next(header.name for header in self.headers if header.base == base)
                self.problems.append(Problem(name, "string table", f'{count} strings lie outside the file: read as ""'))
        gids, first = self._part(STRING), np.empty(n, np.int32)
        unique = self.k.intern_strings(self.data, start, size, hashes, _hash_table(n), gids, first)
        if unique < 0:
            texts = [self.data[p : p + s].tobytes() for p, s in zip(start.tolist(), size.tolist(), strict=True)]
            unique = _intern_slowly(texts, gids, first)
        first = first[:unique]
        return {"start": start[first], "size": size[first]}

    def _intern(self, kind: int, data: I4, offsets: I8) -> I4:
        """Number rows first come; the numbers go to `maps`. Returns the first row of each number."""
        return self._intern_into(self._part(kind), data, offsets)

    def _intern_into(self, gids: I4, data: I4, offsets: I8) -> I4:
        first = np.empty(len(gids), np.int32)
        unique = self.k.intern_rows(data, offsets, self.seed, _hash_table(len(gids)), gids, first)
        if unique < 0:
            rows = [data[p:q].tobytes() for p, q in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
            unique = _intern_slowly(rows, gids, first)
        return first[:unique]

    def _ids(self, n_strings: int) -> dict[str, Any]:
        """Types, protos, fields, methods. Ids out of range become the first id behind the table, see `_sentinels`."""
        data, dex, maps, first = self.data, self.dex, self.maps, self.first
        self.bad_types = self.bad_protos = self.bad_strings = 0
        rows = np.empty(len(self._part(TYPE)), np.int32)
        self.bad_strings += self.k.type_rows(data, dex, maps, n_strings, TYPE, first[TYPE], rows)
        types = rows[self._intern(TYPE, rows, np.arange(len(rows) + 1))]
        n_types = len(types)

        sizes = np.empty(len(self._part(PROTO)), np.int64)
        bad_lists = self.k.proto_sizes(data, dex, first[PROTO], self.total, sizes)
        if bad_lists:
            self._note("proto table", f"{bad_lists} damaged parameter lists: read as empty")
        offsets = csr(sizes)
        rows = np.empty(offsets[-1], np.int32)
        self.bad_types += self.k.proto_rows(data, dex, maps, n_types, first[PROTO], offsets, rows)
        kept = self._intern(PROTO, rows, offsets)
        params_off = csr(sizes[kept] - 1, np.int32)
        gather = np.arange(params_off[-1]) + np.repeat(offsets[kept] + 1 - params_off[:-1], sizes[kept] - 1)
        columns: dict[str, Any] = {
            "type_descriptor": types,
            "proto_return": rows[offsets[kept]],
            "proto_params_off": params_off,
            "proto_params": rows[gather],
        }
        for kind, second, others, noun in ((FIELD, TYPE, n_types, "field"), (METHOD, PROTO, len(kept), "method")):
            table = np.empty((len(self._part(kind)), 3), np.int32)
            limits = np.array([others, n_strings], np.int64)
            bad = self.k.member_rows(data, dex, maps, kind, second, first[kind], n_types, limits, table)
            self.bad_types += bad & 1
            self.bad_protos += bad & 2
            self.bad_strings += bad & 4
            unique = self._intern(kind, table.reshape(-1), np.arange(0, 3 * len(table) + 1, 3))
            table = table[unique]
            columns[f"{noun}_class"] = table[:, 0].copy()
            columns["field_type" if kind == FIELD else "method_proto"] = table[:, 1].copy()
            columns[f"{noun}_name"] = table[:, 2].copy()
        for kind in (SITE, HANDLE):
            self._part(kind)[:] = np.arange(len(self._part(kind)), dtype=np.int32)
        return columns

    def _sentinels(self, columns: dict[str, Any]) -> None:
        """Append what stands for ids out of range, where there were any: an empty string, type and proto."""
        if self.bad_protos:
            self._note("id tables", "proto ids out of range: read as an empty proto")
            self.bad_types += 1
            columns["proto_return"] = np.append(columns["proto_return"], np.int32(len(columns["type_descriptor"])))
            off = columns["proto_params_off"]
            columns["proto_params_off"] = np.append(off, off[-1])
        if self.bad_types:
            self._note("id tables", "type ids out of range: read as an empty type")
            self.bad_strings += 1
            columns["type_descriptor"] = np.append(columns["type_descriptor"], np.int32(len(columns["start"])))
        if self.bad_strings:
            self._note("id tables", "string ids out of range: read as an empty string")
            columns["start"] = np.append(columns["start"], np.int64(len(self.data) - _PAD))
            columns["size"] = np.append(columns["size"], np.int32(0))

    def _note(self, where: str, what: str) -> None:
        self.problems.append(Problem(", ".join(header.name for header in self.headers), where, what))

    # ------------------------------------------------------------------------------------------------ classes

    def _classes(self, n_types: int) -> dict[str, Any]:
        data, dex, maps = self.data, self.dex, self.maps
        counts, status = np.zeros((self.n_class, 5), np.int32), np.zeros(self.n_class, np.uint8)
        self.k.count_classes(data, dex, counts, status, self.total)
        starts = np.zeros((self.n_class + 1, 3), np.int64)
        np.cumsum(counts[:, 0], out=starts[1:, 0])
        np.cumsum(counts[:, 1] + counts[:, 2], out=starts[1:, 1])
        np.cumsum(counts[:, 3] + counts[:, 4], out=starts[1:, 2])
        n_interfaces, n_fields, n_methods = (int(n) for n in starts[-1])
        head, access = np.empty((self.n_class, 4), np.int32), np.empty(self.n_class, np.uint32)
        interfaces = np.empty(n_interfaces, np.int32)
        fields, f_access = np.empty((n_fields, 2), np.int32), np.empty(n_fields, np.uint32)
        methods, m_access = np.empty((n_methods, 2), np.int32), np.empty(n_methods, np.uint32)
        code, direct = np.empty(n_methods, np.int64), np.empty(n_methods, np.uint8)
        self.k.fill_classes(
            *(data, dex, maps, n_types, counts, starts, head, access, interfaces),
            *(fields, f_access, methods, m_access, code, direct),
        )
        self.bad_types += int((head[:, 0] == n_types).any())
        kinds, values = np.full(n_fields, 0xFF, np.uint8), np.zeros(n_fields, np.int64)
        value_status = np.zeros(self.n_class, np.uint8)
        self.k.static_values(data, dex, maps, counts, starts, kinds, values, value_status)
        nested = np.flatnonzero(value_status == layout.NESTED)
        read_nested_values(data, dex, maps, nested, counts, starts, kinds, values, value_status)
        class_dex = head[:, 3].copy()
        self._damaged_classes(class_dex, status, value_status)
        shadowed = np.ones(self.n_class, bool)
        shadowed[np.unique(head[:, 0], return_index=True)[1]] = False
        rows = np.repeat(np.arange(self.n_class), counts[:, 1] + counts[:, 2])
        return {
            "class_type": head[:, 0].copy(),
            "class_super": head[:, 1].copy(),
            "class_access": access,
            "class_interfaces_off": starts[:, 0].astype(np.int32),
            "class_interfaces": interfaces,
            "class_source": head[:, 2].copy(),
            "class_dex": class_dex,
            "class_shadowed": shadowed,
            "class_em_off": starts[:, 2].astype(np.int32),
            "class_ef_off": starts[:, 1].astype(np.int32),
            "em_class": methods[:, 0].copy(),
            "em_method": methods[:, 1].copy(),
            "em_access": m_access,
            "em_direct": direct.view(np.bool_),
            "em_code": code,
            "ef_class": fields[:, 0].copy(),
            "ef_field": fields[:, 1].copy(),
            "ef_access": f_access,
            "ef_static": np.arange(n_fields) - starts[rows, 1] < counts[rows, 1],
            "ef_value_kind": kinds,
            "ef_value": values,
        }

    def _damaged_classes(self, class_dex: I4, status: NDArray[np.uint8], values: NDArray[np.uint8]) -> None:
        for rows, what in (
            (np.flatnonzero(status), "damaged interfaces or members: left out"),
            (np.flatnonzero(values == layout.DAMAGED), "damaged initial values of static fields: some are left out"),
        ):
            for row in rows[:_MAX_PROBLEMS].tolist():
                local = row - int(self.dex[class_dex[row], TABLES + 3 * CLASSES + 2])
                name = self.headers[class_dex[row]].name
                self.problems.append(Problem(name, f"class definition {local}", what))
            if len(rows) > _MAX_PROBLEMS:
                self._note("class definitions", f"{len(rows) - _MAX_PROBLEMS} more: {what}")

    # ------------------------------------------------------------------------------------------------ code

    def _code(self, columns: dict[str, Any]) -> dict[str, Any]:
        data, dex, maps = self.data, self.dex, self.maps
        units = data.view(np.uint16)
        offsets, em_code, code_dex = self._code_items(columns)
        n = len(offsets)
        header, status = np.zeros((n, 4), np.int32), np.empty(n, np.uint8)
        starts = np.zeros((n + 1, N_COUNTS), np.int64)
        total = np.zeros(N_COUNTS, np.int64)
        longest = int((dex[:, END] - dex[:, BASE]).max(initial=0)) // 2 + 1
        marks, targets = np.zeros(longest, np.int32), np.empty(longest, np.int32)
        budget = np.array([2 * self.total, self.total, self.total], np.int64)
        if self.k.count_code(
            *(data, units, dex, code_dex, offsets, header, status, starts, total, marks, targets, budget),
        ):
            self._damaged_code(offsets, code_dex, status)
        n_insns, n_args, n_lit64, n_switch, n_payloads, n_tries, n_handlers = (int(total) for total in starts[-1])
        op, pc, x = np.empty(n_insns, np.uint8), np.empty(n_insns, np.int32), np.empty(n_insns, np.int32)
        a, b, c = (np.empty(n_insns, np.uint16) for _ in range(3))
        arg_off, lit64 = np.empty(n_insns + 1, np.int64), np.empty(n_lit64, np.int64)
        args = np.empty(n_args + 5, np.uint16)
        arg_off[-1] = n_args
        key, target = np.empty(n_switch, np.int32), np.empty(n_switch, np.int32)
        payload_off, payload = np.empty(n_payloads, np.int64), np.empty((n_payloads, 2), np.int32)
        self.k.fill_code(
            *(units, dex, maps, code_dex, offsets, header, status, starts, op, pc, a, b, c, x),
            *(arg_off, args, lit64, key, target, payload_off, payload),
        )
        ranges, handlers = np.empty((n_tries, 2), np.int32), np.empty((n_handlers, 2), np.int32)
        handler_off = np.empty(n_tries + 1, np.int64)
        handler_off[-1] = n_handlers
        self.k.fill_tries(data, dex, maps, code_dex, offsets, header, status, starts, ranges, handler_off, handlers)
        return {
            "em_code": em_code,
            "code_dex": code_dex,
            "code_off": offsets,
            "code_status": status,
            "code_registers": header[:, layout.FRAME].astype(np.uint16),
            "code_ins": header[:, layout.INS].astype(np.uint16),
            "code_outs": header[:, layout.OUTS].astype(np.uint16),
            "code_units": header[:, layout.EXTENT].copy(),
            "insn_off": starts[:, layout.N_INSNS].copy(),
            "op": op,
            "pc": pc,
            "a": a,
            "b": b,
            "c": c,
            "x": x,
            "arg_off": arg_off,
            "args": args[:n_args],
            "lit64": lit64,
            "switch_key": key,
            "switch_target": target,
            "payload_off": payload_off,
            "payload_width": payload[:, 0].copy(),
            "payload_count": payload[:, 1].astype(np.uint32).astype(np.int64),
            "try_off": starts[:, layout.N_TRIES].copy(),
            "try_start": ranges[:, 0].copy(),
            "try_end": ranges[:, 1].copy(),
            "try_handler_off": handler_off,
            "handler_type": handlers[:, 0].copy(),
            "handler_pc": handlers[:, 1].copy(),
        }

    def _code_items(self, columns: dict[str, Any]) -> tuple[I8, I4, I4]:
        """Distinct code items in order of first use: offsets, the item of each encoded method, the dex of each."""
        offsets = columns["em_code"]
        used = np.flatnonzero(offsets >= 0)
        rows = np.empty((len(used), 3), np.int32)
        rows[:, 0] = offsets[used] & 0x7FFFFFFF
        rows[:, 1] = offsets[used] >> 31
        rows[:, 2] = columns["class_dex"][columns["em_class"][used]]
        gids = np.empty(len(used), np.int32)
        first = self._intern_into(gids, rows.reshape(-1), np.arange(0, 3 * len(used) + 1, 3))
        em_code = np.full(len(offsets), -1, np.int32)
        em_code[used] = gids
        return offsets[used[first]], em_code, rows[first, 2].copy()

    def _damaged_code(self, offsets: I8, code_dex: I4, status: NDArray[np.uint8]) -> None:
        rows = np.flatnonzero(status)
        for i in rows[:_MAX_PROBLEMS].tolist():
            header = self.headers[code_dex[i]]
            where = f"code item at 0x{offsets[i] - header.base:x}"
            self.problems.append(Problem(header.name, where, layout.STATUS[status[i]]))
        if len(rows) > _MAX_PROBLEMS:
            self._note("code items", f"{len(rows) - _MAX_PROBLEMS} more are damaged")


def _hash_table(n: int) -> I4:
    """An empty table for n rows, at most half full."""
    return np.zeros(1 << max(4, (2 * n - 1).bit_length()), np.int32)


def _intern_slowly(rows: Sequence[bytes], gids: I4, first: I4) -> int:
    """Number rows by a dictionary: for input made to collide in the kernels' hash tables."""
    ids: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        gids[i] = ids.setdefault(row, len(ids))
    first[: len(ids)] = np.unique(gids, return_index=True)[1]
    return len(ids)
