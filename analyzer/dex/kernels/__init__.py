"""The reader's loops over bytes, compiled by Numba. Import compiles (or loads) them: only `reader` does so.

Rules that keep these safe, as array bounds are not checked here:
- offsets come from the input, so each is compared with the end of its dex file before it is used;
- ids are compared, unsigned, with the size of their table;
- a counting pass validates and sizes, a filling pass writes only what the counting pass accepted (`status` 0);
- rows that an input can demand many times over (shared payloads, lists, code) are paid from a budget in proportion
  to its size.

`dex` is (n_dex, DEX_COLUMNS) int64: BASE (offsets count from here), END (first byte behind the file), then for each
kind of id table COUNT, OFFSET (absolute), ROW (index of its first row in `maps`), and the
COUNTs once more from LIMITS on. `maps` int32 turns (ROW + dex-local id) into a global id.

The files of this folder and the tables that they import are named in `gpu.jit.KERNEL_FILES`.
"""

from analyzer.dex.kernels.classes import count_classes, fill_classes, static_values
from analyzer.dex.kernels.code import count_code, fill_code, fill_tries
from analyzer.dex.kernels.ids import (
    intern_rows,
    intern_strings,
    member_rows,
    proto_rows,
    proto_sizes,
    scan_strings,
    type_rows,
)

__all__ = [
    "count_classes",
    "count_code",
    "fill_classes",
    "fill_code",
    "fill_tries",
    "intern_rows",
    "intern_strings",
    "member_rows",
    "proto_rows",
    "proto_sizes",
    "scan_strings",
    "static_values",
    "type_rows",
]
