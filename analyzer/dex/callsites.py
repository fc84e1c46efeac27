"""Call sites, method handles, and static values that nest: rare, so read in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.dex.header import Problem
from analyzer.dex.layout import BASE, CLASSES, DAMAGED, END, TABLES
from analyzer.dex.opcodes import FIELD, HANDLE, METHOD, SITE
from analyzer.dex.values import HANDLE_VALUE, ID_VALUES, PROTO_VALUE, STRING_VALUE, DamagedValue, ValueReader

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U1 = NDArray[np.uint8]

_MAX_VALUES = 500_000
"""Encoded values read here, per app; what is beyond counts as damaged."""

_MAX_PROBLEMS = 50


def _global(dex: I8, maps: I4, d: int, kind: int, value: int) -> int:
    """Turn a dex-local id in an encoded value into a global one; numbers stay. Raises DamagedValue."""
    table = ID_VALUES.get(kind)
    if table is None:
        return value
    if not 0 <= value < dex[d, TABLES + 3 * table]:
        raise DamagedValue
    return int(maps[dex[d, TABLES + 3 * table + 2] + value])


def _u4(data: memoryview, p: int) -> int:
    return int.from_bytes(data[p : p + 4], "little")


def read_call_sites(
    data: U1, dex: I8, maps: I4, names: Sequence[str], problems: list[Problem]
) -> dict[str, NDArray[Any]]:
    """Columns `call_site_*` and `method_handle_*` of `Dex`."""
    view = data.data
    budget = _MAX_VALUES
    sites: list[tuple[int, int, int]] = []
    counts: list[int] = [0]
    kinds: list[int] = []
    values: list[int] = []
    handles: list[tuple[int, int]] = []
    damaged: list[Problem] = []
    for d, name in enumerate(names):
        base, end = int(dex[d, BASE]), int(dex[d, END])
        count, offset, _ = (int(n) for n in dex[d, TABLES + 3 * HANDLE : TABLES + 3 * HANDLE + 3])
        for k in range(count):
            p = offset + 8 * k
            kind, member = int.from_bytes(view[p : p + 2], "little"), int.from_bytes(view[p + 4 : p + 6], "little")
            table = TABLES + 3 * (FIELD if kind <= 3 else METHOD)
            fine = kind <= 8 and member < dex[d, table]
            handles.append((min(kind, 255), int(maps[dex[d, table + 2] + member]) if fine else -1))
            if not fine:
                damaged.append(Problem(name, f"method handle {k}", "kind or member out of range"))
        count, offset, _ = (int(n) for n in dex[d, TABLES + 3 * SITE : TABLES + 3 * SITE + 3])
        for k in range(count):
            reader = ValueReader(view, base + _u4(view, offset + 4 * k), end, budget)
            try:
                array = reader.array()
                if [kind for kind, _ in array[:3]] != [HANDLE_VALUE, STRING_VALUE, PROTO_VALUE]:
                    raise DamagedValue
                items = [(kind, _global(dex, maps, d, kind, value)) for kind, value in array]
                sites.append((items[0][1], items[1][1], items[2][1]))
                kinds += [kind for kind, _ in items[3:]]
                values += [value for _, value in items[3:]]
            except DamagedValue:
                sites.append((-1, -1, -1))
                damaged.append(Problem(name, f"call site {k}", "damaged or not handle, name and type first"))
            budget = reader.budget
            counts.append(len(kinds))
    problems += damaged[:_MAX_PROBLEMS]
    if len(damaged) > _MAX_PROBLEMS:
        problems.append(Problem(names[0], "call sites", f"{len(damaged) - _MAX_PROBLEMS} more are damaged"))
    columns = np.array(sites, np.int32).reshape(-1, 3)
    return {
        "call_site_handle": columns[:, 0].copy(),
        "call_site_name": columns[:, 1].copy(),
        "call_site_proto": columns[:, 2].copy(),
        "call_site_arg_off": np.array(counts, np.int32),
        "call_site_arg_kind": np.array(kinds, np.uint8),
        "call_site_arg_value": np.array(values, np.int64),
        "method_handle_kind": np.array([kind for kind, _ in handles], np.uint8),
        "method_handle_member": np.array([member for _, member in handles], np.int32),
    }


def read_nested_values(
    data: U1,
    dex: I8,
    maps: I4,
    rows: NDArray[np.intp],
    counts: I4,
    starts: I8,
    kinds: U1,
    values: I8,
    status: U1,
) -> None:
    """Initial values of the static fields of class rows `rows`, whose lists hold an array or an annotation."""
    view = data.data
    first = dex[:, TABLES + 3 * CLASSES + 2]
    budget = _MAX_VALUES
    for row in rows.tolist():
        # The last dex that starts at or before the row; one without classes starts where the next does.
        d = int(np.searchsorted(first, row, "right")) - 1
        base, end = int(dex[d, BASE]), int(dex[d, END])
        definition = int(dex[d, TABLES + 3 * CLASSES + 1]) + 32 * (row - int(first[d]))
        reader = ValueReader(view, base + _u4(view, definition + 28), end, budget)
        at, n = int(starts[row, 1]), int(counts[row, 1])
        try:
            n_values = reader.number()
            status[row] = DAMAGED if n_values > n else 0
            for i in range(min(n, n_values)):
                kind, value = reader.value(0)
                values[at + i] = _global(dex, maps, d, kind, value)
                kinds[at + i] = kind
        except DamagedValue:
            status[row] = DAMAGED
        budget = reader.budget
