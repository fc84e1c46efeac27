"""The encoded problem: everything an engine needs, as flat arrays, and nothing about Android.

A method is a bit matrix: *rows* are slots (SSA values, heap cells and static fields, channels), *columns* are tokens.
Heap rows have a value at the head of every block; value and channel rows have one value for the whole method.
Engines know five operations: GENERATE, OR, LOAD, STORE, APPLY (design.md 5; semantics.md 3 and 4).

All indices into rows, columns and blocks are local to their method; masks, links, calls, applications and summaries
have global ids. `X_off` is always a CSR offset array with one entry more than there are owners.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu.errors import UnreadableInput

VERSION = 1

# Operation kinds (op_kind).
GENERATE, OR, LOAD, STORE, APPLY = range(5)
# Row kinds (row_kind).
VALUE, HEAP, CHANNEL = range(3)
# Column flags (col_flag).
DATA, LABEL = 1, 2
# How an export column of a summary is bound (sumcol_kind).
CONSTANT, ROOT, CHILD, REGION = range(4)
# Destinations of an export row of a summary (write_row).
TO_CELLS, DROPPED = -1, -2

_U1 = ("row_kind", "col_flag", "op_kind", "sumcol_kind")
_I8 = ("method_key", "op_origin")


@dataclass(frozen=True, slots=True)
class Problem:
    """One encoded problem. Methods stand bottom-up; a strongly connected component is a run of methods."""

    method_key: NDArray[np.int64]  # (n_methods,) opaque ids of the maker
    scc_off: NDArray[np.int32]  # (n_sccs + 1,) runs of methods
    # Columns (tokens) and rows (slots) of each method.
    col_off: NDArray[np.int32]  # (n_methods + 1,)
    col_flag: NDArray[np.uint8]  # (n_cols,) DATA: survives in primitive rows; LABEL: data that came from a source
    row_off: NDArray[np.int32]  # (n_methods + 1,)
    row_kind: NDArray[np.uint8]  # (n_rows,) values, then heap rows, then channels
    row_mask: NDArray[np.int32]  # (n_rows,) mask of what may enter through STORE and APPLY, or -1
    # Masks: sets of columns that pass. Links: which row each column of a base selects.
    mask_off: NDArray[np.int32]
    mask_col: NDArray[np.int32]
    link_off: NDArray[np.int32]
    link_col: NDArray[np.int32]
    link_row: NDArray[np.int32]
    # Facts that hold on entry: (row, column); formals of parameters, of statics and of cells of outside objects.
    entry_off: NDArray[np.int32]  # (n_methods + 1,)
    entry_row: NDArray[np.int32]
    entry_col: NDArray[np.int32]
    # Control flow. Blocks are in reverse post-order; block 0 is the entry.
    block_off: NDArray[np.int32]  # (n_methods + 1,)
    exit_block: NDArray[np.int32]  # (n_methods,) the block where all returns meet, or -1
    succ_off: NDArray[np.int32]  # (n_blocks + 1,)
    succ: NDArray[np.int32]
    # Operations of each block, in order.
    op_off: NDArray[np.int32]  # (n_blocks + 1,)
    op_kind: NDArray[np.uint8]  # (n_ops,)
    op_dst: NDArray[np.int32]  # row written (GENERATE, OR, LOAD); row stored (STORE); call (APPLY)
    op_src: NDArray[np.int32]  # column (GENERATE); row (OR); base row (LOAD, STORE)
    op_link: NDArray[np.int32]  # LOAD, STORE; else -1
    op_mask: NDArray[np.int32]  # OR, LOAD: what passes, or -1
    op_origin: NDArray[np.int64]  # opaque: where the operation comes from
    clear_off: NDArray[np.int32]  # (n_ops + 1,) heap rows that the operation clears first
    clear_row: NDArray[np.int32]
    # Calls: applications of summaries, all evaluated on the state before the call.
    call_off: NDArray[np.int32]  # (n_calls + 1,) CSR into applications
    app_summary: NDArray[np.int32]  # (n_applications,)
    bind_off: NDArray[np.int32]  # (n_applications + 1,) one binding per export column of the summary
    bind_at: NDArray[np.int32]  # CONSTANT: column of the caller or -1; ROOT: row of the caller or -1
    bind_link: NDArray[np.int32]  # CHILD: cells read for its field; REGION: all cells of the caller
    bind_mask: NDArray[np.int32]  # ROOT: what may be bound, or -1
    write_off: NDArray[np.int32]  # (n_applications + 1,) one destination per export row of the summary
    write_row: NDArray[np.int32]  # row of the caller, TO_CELLS (through write_link) or DROPPED
    write_link: NDArray[np.int32]
    write_mask: NDArray[np.int32]  # or -1
    # Summaries: one per method (solved), then constants (library models, effects at exceptional edges).
    sumcol_off: NDArray[np.int32]  # (n_summaries + 1,)
    sumcol_kind: NDArray[np.uint8]
    sumcol_parent: NDArray[np.int32]  # CHILD: export column of its object
    region_off: NDArray[np.int32]  # (n_export_columns + 1,) REGION: export columns from whose cells it is reached
    region_col: NDArray[np.int32]
    alias_off: NDArray[np.int32]  # (n_export_columns + 1,) CHILD, REGION: export rows that may be the same cell;
    # what is read from a source of a region passes over the rows that the source owns
    alias_row: NDArray[np.int32]
    sumrow_off: NDArray[np.int32]  # (n_summaries + 1,)
    sumrow_owner: NDArray[np.int32]  # export column that owns the cell, or -1
    bits_off: NDArray[np.int32]  # (n_export_rows + 1,) facts of constant summaries; empty for methods
    bits_col: NDArray[np.int32]
    # How a method's exit facts become its summary.
    export_off: NDArray[np.int32]  # (n_methods + 1,)
    export_row: NDArray[np.int32]  # row of the method
    export_to: NDArray[np.int32]  # export row
    export_skip: NDArray[np.int32]  # column that is not exported (what the cell held on entry), or -1
    export_mask: NDArray[np.int32]  # what is exported (sinks: no labels), or -1
    col_export: NDArray[np.int32]  # (n_cols,) export column, or -1

    @property
    def n_methods(self) -> int:
        """Number of methods."""
        return len(self.method_key)

    @property
    def n_summaries(self) -> int:
        """Number of summaries, constant ones included."""
        return len(self.sumcol_off) - 1

    def save(self, path: Path) -> None:
        """Writes `problem.npz` (version first; no pickled objects)."""
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        with path.open("wb") as out:
            np.savez_compressed(out, version=np.array([VERSION], np.int32), **arrays)

    @classmethod
    def load(cls, path: Path) -> Problem:
        """Reads and validates `problem.npz`.

        Raises:
            UnreadableInput: not such a file, another version, or arrays that do not fit together.
        """
        try:
            with np.load(path, allow_pickle=False) as data:
                if "version" not in data or int(data["version"].ravel()[0]) != VERSION:
                    raise UnreadableInput(f"{path}: not an encoded problem of version {VERSION}")
                arrays = {f.name: np.ascontiguousarray(data[f.name]) for f in fields(cls)}
        except (OSError, ValueError, KeyError, EOFError, IndexError) as error:
            raise UnreadableInput(f"{path}: not an encoded problem: {error}") from error
        except Exception as error:  # zipfile.BadZipFile, zlib.error: NumPy lets them through
            raise UnreadableInput(f"{path}: damaged archive: {error}") from error
        problem = cls(**arrays)
        problem.validate(str(path))
        return problem

    def validate(self, name: str = "problem") -> None:
        """Checks types, offsets and index ranges, so that engines need not.

        Raises:
            UnreadableInput: names the array at fault.
        """
        for f in fields(self):
            array = getattr(self, f.name)
            want = np.uint8 if f.name in _U1 else np.int64 if f.name in _I8 else np.int32
            if array.dtype != want or array.ndim != 1:
                raise UnreadableInput(f"{name}: {f.name}: expected a vector of {np.dtype(want).name}")
        for owner, count, *targets in _OFFSETS:
            off = getattr(self, owner)
            n = _count(self, count)
            ends = {len(getattr(self, t)) for t in targets}
            if len(off) != n + 1 or off[0] != 0 or (np.diff(off) < 0).any() or ends != {int(off[-1])}:
                raise UnreadableInput(f"{name}: {owner}: offsets do not fit {', '.join(targets)}")
        for array_name, low, count in _RANGES:
            array = getattr(self, array_name)
            if len(array) and (int(array.min()) < low or int(array.max()) >= _count(self, count)):
                raise UnreadableInput(f"{name}: {array_name}: index out of range")
        self._validate_local(name)

    def _validate_local(self, name: str) -> None:
        """Checks that local indices stay inside their method."""

        def inside(array: str, owner_off: str, limit_off: str) -> None:
            values = getattr(self, array)
            own, limit = getattr(self, owner_off), np.diff(getattr(self, limit_off))
            bound = np.repeat(limit[: len(own) - 1], np.diff(own))
            if (values >= bound).any():
                raise UnreadableInput(f"{name}: {array}: index outside its method")

        inside("entry_row", "entry_off", "row_off")
        inside("entry_col", "entry_off", "col_off")
        inside("export_row", "export_off", "row_off")
        if (self.exit_block >= np.diff(self.block_off)).any():
            raise UnreadableInput(f"{name}: exit_block: index outside its method")
        blocks = np.diff(self.block_off)
        if (self.succ >= np.repeat(np.repeat(blocks, blocks), np.diff(self.succ_off))).any():
            raise UnreadableInput(f"{name}: succ: index outside its method")
        rows = np.repeat(np.repeat(np.diff(self.row_off), blocks), np.diff(self.op_off))
        cols = np.repeat(np.repeat(np.diff(self.col_off), blocks), np.diff(self.op_off))
        apply, generate = self.op_kind == APPLY, self.op_kind == GENERATE
        if (self.op_dst[~apply] >= rows[~apply]).any() or (self.op_dst[apply] >= len(self.call_off) - 1).any():
            raise UnreadableInput(f"{name}: op_dst: index out of range")
        reads = ~generate & ~apply
        if (self.op_src[generate] >= cols[generate]).any() or (self.op_src[reads] >= rows[reads]).any():
            raise UnreadableInput(f"{name}: op_src: index out of range")
        n_cols = np.diff(self.sumcol_off)[self.app_summary]
        n_rows = np.diff(self.sumrow_off)[self.app_summary]
        if (np.diff(self.bind_off) != n_cols).any() or (np.diff(self.write_off) != n_rows).any():
            raise UnreadableInput(f"{name}: bind_off, write_off: do not fit the summaries applied")


_OFFSETS: tuple[tuple[str, ...], ...] = (
    ("col_off", "method_key", "col_flag", "col_export"),
    ("row_off", "method_key", "row_kind", "row_mask"),
    ("mask_off", "mask_off-", "mask_col"),
    ("link_off", "link_off-", "link_col", "link_row"),
    ("entry_off", "method_key", "entry_row", "entry_col"),
    ("succ_off", "blocks", "succ"),
    ("op_off", "blocks", "op_kind", "op_dst", "op_src", "op_link", "op_mask", "op_origin"),
    ("clear_off", "op_kind", "clear_row"),
    ("call_off", "call_off-", "app_summary"),
    ("bind_off", "app_summary", "bind_at", "bind_link", "bind_mask"),
    ("write_off", "app_summary", "write_row", "write_link", "write_mask"),
    ("sumcol_off", "sumcol_off-", "sumcol_kind", "sumcol_parent"),
    ("region_off", "sumcol_kind", "region_col"),
    ("alias_off", "sumcol_kind", "alias_row"),
    ("sumrow_off", "sumcol_off-", "sumrow_owner"),
    ("bits_off", "sumrow_owner", "bits_col"),
    ("export_off", "method_key", "export_row", "export_to", "export_skip", "export_mask"),
)
_RANGES: tuple[tuple[str, int, str], ...] = (
    ("row_kind", 0, "3"),
    ("op_kind", 0, "5"),
    ("sumcol_kind", 0, "4"),
    ("row_mask", -1, "mask_off-"),
    ("op_mask", -1, "mask_off-"),
    ("op_link", -1, "link_off-"),
    ("bind_mask", -1, "mask_off-"),
    ("bind_link", -1, "link_off-"),
    ("write_mask", -1, "mask_off-"),
    ("export_mask", -1, "mask_off-"),
    ("write_link", -1, "link_off-"),
    ("write_row", -2, "row_kind"),
    ("bind_at", -1, "inf"),
    ("app_summary", 0, "sumcol_off-"),
    ("exit_block", -1, "inf"),
    ("entry_row", 0, "inf"),
    ("entry_col", 0, "inf"),
    ("succ", 0, "inf"),
    ("op_dst", 0, "inf"),
    ("mask_col", 0, "inf"),
    ("link_col", 0, "inf"),
    ("link_row", 0, "row_kind"),
    ("clear_row", 0, "row_kind"),
)


def _count(problem: Problem, what: str) -> int:
    if what == "inf":
        return 1 << 31
    if what.isdigit():
        return int(what)
    if what == "blocks":
        return int(problem.block_off[-1])
    if what.endswith("-"):
        return len(getattr(problem, what[:-1])) - 1
    return len(getattr(problem, what))
