"""A problem as kernels read it: one array of records that point at each other, and one array of constant bit rows.

`Packed.code` holds everything of a problem but its origins, as records of int32. What is a CSR offset in `Problem` is
an address in `code` here, so that a transfer function needs one array and no table of offsets. Sets of columns (masks,
labels, facts of constant summaries) are rows of 64-bit words in `Packed.words`; a mask of -1 is the row of ones at
address 0. The constants below are the fields of the records; `X_SIZE` is a record's length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu.errors import UnreadableInput
from gpu.problem import APPLY, CHILD, CONSTANT, HEAP, LABEL, LOAD, OR, REGION, STORE, TO_CELLS, Problem

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U8 = NDArray[np.uint64]

# Method: sizes; addresses in `code` (BLOCK_AT .. CALLER_END) and in `words` (LABELS_AT).
(
    M_WIDTH, M_ROWS, M_FIRST_HEAP, M_HEAP, M_BLOCKS, M_BLOCK_AT, M_ENTRY_AT, M_ENTRY_END, M_EXIT, M_EXPORT_AT,
    M_EXPORT_END, M_SUMMARY, M_COL_EXPORT_AT, M_ROW_MASK_AT, M_CALLER_AT, M_CALLER_END, M_LABELS_AT, M_ODD, M_SIZE,
) = range(19)  # fmt: skip
"""M_ODD: a load or a call reads rows other than heap rows through a link. M_EXIT: block or -1."""
# Strongly connected component: a run of methods.
C_FIRST, C_LAST, C_SIZE = range(3)
# Block: its operations (addresses of records) and its successors (addresses of block numbers).
B_OP, B_OP_END, B_SUCC, B_SUCC_END, B_SIZE = range(5)
# Operation. APPLY: DST and SRC are the first and the end address of its applications.
O_KIND, O_DST, O_SRC, O_LINK, O_LINK_END, O_MASK, O_CLEAR, O_CLEAR_END, O_SIZE = range(9)
# A pair of a link. Pairs of a link are sorted by column, then row.
L_COL, L_ROW, L_SIZE = range(3)
# Application, binding, write.
A_SUMMARY, A_BIND, A_WRITE, A_SIZE = range(4)
I_AT, I_LINK, I_LINK_END, I_MASK, I_SIZE = range(5)
W_ROW, W_LINK, W_LINK_END, W_MASK, W_SIZE = range(5)
# Summary, its columns; a row is the number of its owner. S_BITS is an address in `words`.
S_COLS, S_COL_AT, S_ROWS, S_ROW_AT, S_BITS, S_WIDTH, S_ROUNDS, S_SIZE = range(8)
"""S_ROUNDS: 0 if all columns are constants and roots, 1 if each column hangs on earlier ones only, else 2."""
X_KIND, X_PARENT, X_REGION, X_REGION_END, X_ALIAS, X_ALIAS_END, X_SIZE = range(7)
# Entry fact, export, caller (method, block that applies the summary; callers in the same component only).
N_ROW, N_COL, N_SIZE = range(3)
E_ROW, E_TO, E_SKIP, E_MASK, E_SIZE = range(5)
R_METHOD, R_BLOCK, R_SIZE = range(3)

ALL = 0
"""Address in `words` of the row of ones."""


class Sizes(NamedTuple):
    """What one worker needs at most: words and integers of scratch memory, for any method or component."""

    width: int
    """Words of a row."""
    rows: int
    heap: int
    """Words of a heap state."""
    heap_bits: int
    """Words of a bit set of heap rows."""
    news: int
    """Words of one such set per block."""
    sigma: int
    """Words of the substitutions of one call."""
    images: int
    """Words of the images of one summary's rows."""
    export_bits: int
    """Words of a row of a summary."""
    exports: int
    """Rows and columns of a summary, the larger number."""
    reads: int
    """Reads of rows by operations of a method."""
    component: int
    """Methods of a component."""
    block_bits: int
    """Words of two bit sets of blocks for each method of a component."""
    facts: int
    """Words of facts of a component."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A problem in the form that kernels take. Words from `summary_at` on are results, and 0 at first."""

    code: I4
    """(n,) records: methods, components, and the rest."""
    words: U8
    """(n,) constant rows: ones, labels, masks, summaries that do not change."""
    component_at: int
    """Address of the first component record."""
    fact_off: I8
    """(n_methods + 1,) words of rows and heads of each method, in a run of all."""
    summary_off: I8
    """(n_methods + 1,) words of the summary of each method; `summary_at` and these make S_BITS."""
    edges: I4
    """(n, 2) component of a caller, component of a callee that is another one; sorted, no duplicates."""
    cost: NDArray[np.float64]
    """(n_components,) roughly, the microseconds that a component takes."""
    sizes: Sizes

    @property
    def summary_at(self) -> int:
        """Address of the summaries of methods: right behind the constant words."""
        return len(self.words)


def fact_offsets(problem: Problem) -> tuple[I8, I8, I8]:
    """Words per row (n_methods,), offsets of facts and offsets of summaries (n_methods + 1,) each, in words.

    A method's facts are all its rows (heap rows empty), then for each block its heap rows; a row of a summary has as
    many words as its export columns need. Rows of n columns have ceil(n / 64) words.
    """
    n = problem.n_methods
    width = (np.diff(problem.col_off).astype(np.int64) + 63) // 64
    rows = np.diff(problem.row_off).astype(np.int64)
    heap = _per(problem.row_off, problem.row_kind == HEAP)
    facts = (rows + heap * np.diff(problem.block_off)) * width
    sums = np.diff(problem.sumrow_off)[:n].astype(np.int64) * (
        (np.diff(problem.sumcol_off)[:n].astype(np.int64) + 63) // 64
    )
    return width, _offsets(facts), _offsets(sums)


def component_layer(packed: Packed) -> I8:
    """(n_components,) layer of each: callees in other components are in lower ones."""
    layer = [0] * len(packed.cost)
    for caller, callee in packed.edges.tolist():  # sorted by caller, and callees come first
        if layer[callee] >= layer[caller]:
            layer[caller] = layer[callee] + 1
    return np.array(layer, np.int64)


def component_sizes(problem: Problem) -> dict[str, I8]:
    """What a worker needs for each component alone: per field of `Sizes`, (n_components,)."""
    return _Packer(problem).component_sizes()


def pack(problem: Problem) -> Packed:
    """Packs a problem.

    Raises:
        UnreadableInput: an index of the problem points outside of what it may; names the array at fault.
    """
    return _Packer(problem).run()


def _offsets(counts: I8) -> I8:
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)


def _per(off: I4 | I8, values: NDArray[np.generic]) -> I8:
    """Sum of values for each owner of a CSR."""
    total = _offsets(values.astype(np.int64))
    result: I8 = total[off[1:]] - total[off[:-1]]
    return result


def _owner(off: I4 | I8) -> I8:
    """Owner of each entry of a CSR."""
    return np.repeat(np.arange(len(off) - 1, dtype=np.int64), np.diff(off))


def _extremes(off: I4, values: I4) -> tuple[I8, I8]:
    """Least and largest value of each owner of a CSR; those of an owner without entries mean nothing."""
    least, most = np.zeros(len(off) - 1, np.int64), np.zeros(len(off) - 1, np.int64)
    full = np.flatnonzero(np.diff(off))
    if len(full):
        least[full] = np.minimum.reduceat(values, off[full])
        most[full] = np.maximum.reduceat(values, off[full])
    return least, most


def _most(n: int, at: I4 | I8, values: I4 | I8) -> I8:
    """Largest value that comes to each of n places; -1 where none does. Places below 0 are left out."""
    most = np.full(n, -1, np.int64)
    use = at >= 0
    np.maximum.at(most, at[use], values[use])
    return most


class _Packer:
    """Builds the sections one after the other; `at` says where each will lie."""

    def __init__(self, problem: Problem) -> None:
        p = self.p = problem
        self.block_method = _owner(p.block_off)
        self.op_block = _owner(p.op_off)
        self.op_method = self.block_method[self.op_block]
        self.is_apply = p.op_kind == APPLY
        self.n_rows, self.n_cols = np.diff(p.row_off).astype(np.int64), np.diff(p.col_off).astype(np.int64)
        self.n_blocks = np.diff(p.block_off).astype(np.int64)
        self.n_heap = _per(p.row_off, p.row_kind == HEAP)
        self.first_heap = _per(p.row_off, p.row_kind < HEAP)
        self.width, self.fact_off, self.summary_off = fact_offsets(p)
        # A call, and with it its applications, belongs to the method of the operation that makes it.
        calls = len(p.call_off) - 1
        self.call_method = _most(calls, p.op_dst[self.is_apply], self.op_method[self.is_apply])
        self.app_method = self.call_method[_owner(p.call_off)]
        self.bind_app, self.write_app = _owner(p.bind_off), _owner(p.write_off)
        self.col_summary, self.out_summary = _owner(p.sumcol_off), _owner(p.sumrow_off)

    def run(self) -> Packed:
        p = self.p
        self.check()
        links = self.links()
        words, mask_at, labels_at, bits_at = self.words()
        callers, caller_off, edges = self.callers()
        lengths = {
            "method": p.n_methods * M_SIZE, "component": (len(p.scc_off) - 1) * C_SIZE,
            "block": len(self.block_method) * B_SIZE, "op": len(p.op_kind) * O_SIZE, "succ": len(p.succ),
            "clear": len(p.clear_row), "link": links.size, "app": len(p.app_summary) * A_SIZE,
            "bind": len(p.bind_at) * I_SIZE, "write": len(p.write_row) * W_SIZE, "summary": p.n_summaries * S_SIZE,
            "col": len(p.sumcol_kind) * X_SIZE, "out": len(p.sumrow_owner), "region": len(p.region_col),
            "alias": len(p.alias_row), "entry": len(p.entry_row) * N_SIZE, "export": len(p.export_row) * E_SIZE,
            "col_export": len(p.col_export), "row_mask": len(p.row_mask), "caller": callers.size,
        }  # fmt: skip
        self.at = dict(zip(lengths, _offsets(np.array(list(lengths.values()))).tolist(), strict=False))
        total = sum(lengths.values())
        if total >= 1 << 31:
            raise UnreadableInput("the problem is larger than engines can address")
        code = np.zeros(total, np.int32)

        def table(name: str, size: int) -> I4:
            return code[self.at[name] : self.at[name] + lengths[name]].reshape(-1, size)

        def ends(name: str, off: I4 | I8, size: int) -> I8:
            at: I8 = self.at[name] + off.astype(np.int64) * size
            return at

        def span(records: I4, field: int, name: str, off: I4 | I8, size: int) -> None:
            """Fields (first, end) of records that own the entries of a CSR."""
            at = ends(name, off, size)
            records[:, field], records[:, field + 1] = at[:-1], at[1:]

        def linked(records: I4, field: int, link: I4) -> None:
            """Fields (first, end) of the pairs of a link; an empty span where there is none."""
            at = ends("link", p.link_off, L_SIZE)
            use = link >= 0
            records[use, field], records[use, field + 1] = at[link[use]], at[link[use] + 1]

        method = table("method", M_SIZE)
        method[:, M_WIDTH], method[:, M_ROWS], method[:, M_BLOCKS] = self.width, self.n_rows, self.n_blocks
        method[:, M_FIRST_HEAP], method[:, M_HEAP], method[:, M_EXIT] = self.first_heap, self.n_heap, p.exit_block
        method[:, M_BLOCK_AT] = ends("block", p.block_off[:-1], B_SIZE)
        span(method, M_ENTRY_AT, "entry", p.entry_off, N_SIZE)
        span(method, M_EXPORT_AT, "export", p.export_off, E_SIZE)
        method[:, M_SUMMARY] = self.at["summary"] + np.arange(p.n_methods) * S_SIZE
        method[:, M_COL_EXPORT_AT] = self.at["col_export"] + p.col_off[:-1]
        method[:, M_ROW_MASK_AT] = self.at["row_mask"] + p.row_off[:-1]
        span(method, M_CALLER_AT, "caller", caller_off, R_SIZE)
        method[:, M_LABELS_AT], method[:, M_ODD] = labels_at, self.odd
        component = table("component", C_SIZE)
        component[:, C_FIRST], component[:, C_LAST] = p.scc_off[:-1], p.scc_off[1:]
        block = table("block", B_SIZE)
        span(block, B_OP, "op", p.op_off, O_SIZE)
        span(block, B_SUCC, "succ", p.succ_off, 1)
        op = table("op", O_SIZE)
        op[:, O_KIND], op[:, O_DST], op[:, O_SRC], op[:, O_MASK] = p.op_kind, p.op_dst, p.op_src, mask_at[p.op_mask]
        apps = ends("app", p.call_off, A_SIZE)
        call = p.op_dst[self.is_apply]
        op[self.is_apply, O_DST], op[self.is_apply, O_SRC] = apps[call], apps[call + 1]
        linked(op, O_LINK, p.op_link)
        span(op, O_CLEAR, "clear", p.clear_off, 1)
        table("succ", 1)[:, 0], table("clear", 1)[:, 0] = p.succ, p.clear_row
        table("link", L_SIZE)[:] = links
        app = table("app", A_SIZE)
        app[:, A_SUMMARY] = self.at["summary"] + p.app_summary.astype(np.int64) * S_SIZE
        app[:, A_BIND], app[:, A_WRITE] = ends("bind", p.bind_off[:-1], I_SIZE), ends("write", p.write_off[:-1], W_SIZE)
        bind = table("bind", I_SIZE)
        bind[:, I_AT], bind[:, I_MASK] = p.bind_at, mask_at[p.bind_mask]
        linked(bind, I_LINK, p.bind_link)
        write = table("write", W_SIZE)
        write[:, W_ROW], write[:, W_MASK] = p.write_row, mask_at[p.write_mask]
        linked(write, W_LINK, p.write_link)
        summary = table("summary", S_SIZE)
        summary[:, S_COLS], summary[:, S_ROWS] = np.diff(p.sumcol_off), np.diff(p.sumrow_off)
        summary[:, S_COL_AT] = ends("col", p.sumcol_off[:-1], X_SIZE)
        summary[:, S_ROW_AT] = ends("out", p.sumrow_off[:-1], 1)
        summary[:, S_BITS], summary[:, S_WIDTH] = bits_at, (np.diff(p.sumcol_off) + 63) // 64
        summary[:, S_ROUNDS] = self.rounds()
        col = table("col", X_SIZE)
        col[:, X_KIND], col[:, X_PARENT] = p.sumcol_kind, p.sumcol_parent
        span(col, X_REGION, "region", p.region_off, 1)
        span(col, X_ALIAS, "alias", p.alias_off, 1)
        table("out", 1)[:, 0], table("region", 1)[:, 0], table("alias", 1)[:, 0] = (
            p.sumrow_owner, p.region_col, p.alias_row,
        )  # fmt: skip
        entry = table("entry", N_SIZE)
        entry[:, N_ROW], entry[:, N_COL] = p.entry_row, p.entry_col
        export = table("export", E_SIZE)
        export[:, E_ROW], export[:, E_TO] = p.export_row, p.export_to
        export[:, E_SKIP], export[:, E_MASK] = p.export_skip, mask_at[p.export_mask]
        table("col_export", 1)[:, 0], table("row_mask", 1)[:, 0] = p.col_export, mask_at[p.row_mask]
        table("caller", R_SIZE)[:] = callers
        return Packed(
            code, words, self.at["component"], self.fact_off, self.summary_off, edges, self.cost(), self.sizes()
        )

    # -- parts -------------------------------------------------------------------------------------------------

    def links(self) -> I4:
        """Pairs of all links, each link sorted by column and row."""
        p = self.p
        pairs = np.stack((p.link_col, p.link_row), axis=1).astype(np.int32)
        key = (_owner(p.link_off) << 62 - 30) + p.link_col
        if (np.diff(key) < 0).any():
            order = np.lexsort((p.link_row, p.link_col, _owner(p.link_off)))
            pairs = pairs[order]
        return pairs

    def words(self) -> tuple[U8, I8, I8, I8]:
        """Constant rows; addresses of masks (the last one, for -1, is ALL), labels, and rows of all summaries."""
        p, n = self.p, self.p.n_methods
        mask_width = np.zeros(len(p.mask_off) - 1, np.int64)
        every = np.arange(n)
        users = (
            (p.op_mask, self.op_block, self.block_method),
            (p.row_mask, _owner(p.row_off), every),
            (p.bind_mask, self.bind_app, self.app_method),
            (p.write_mask, self.write_app, self.app_method),
            (p.export_mask, _owner(p.export_off), every),
        )
        for mask, owner, method_of in users:
            use = np.flatnonzero(mask >= 0)
            method = method_of[owner[use]]
            known = method >= 0  # applications of calls that nobody makes have no method; they are never evaluated
            np.maximum.at(mask_width, mask[use[known]], self.width[method[known]])
        sum_width = (np.diff(p.sumcol_off).astype(np.int64) + 63) // 64
        ones = max(int(self.width.max(initial=0)), int(sum_width.max(initial=0)), 1)
        labels_at = ones + _offsets(self.width)
        mask_at = labels_at[-1] + _offsets(mask_width)
        sum_words = np.diff(p.sumrow_off) * sum_width
        constant_at = mask_at[-1] + _offsets(sum_words[n:])
        words = np.zeros(int(constant_at[-1]), np.uint64)
        words[:ones] = ~np.uint64(0)

        def put(row_at: I8, column: I8) -> None:
            np.bitwise_or.at(words, row_at + (column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))

        labels = np.flatnonzero(p.col_flag & LABEL)
        method = _owner(p.col_off)[labels]
        put(labels_at[method], labels - p.col_off[method])
        owner, column = _owner(p.mask_off), p.mask_col.astype(np.int64)
        inside = column < mask_width[owner] * 64
        put(mask_at[owner[inside]], column[inside])
        bit_row = _owner(p.bits_off)
        constant = self.out_summary[bit_row] >= n  # methods begin with nothing
        bit_row = bit_row[constant]
        summary = self.out_summary[bit_row]
        row_at = constant_at[summary - n] + (bit_row - p.sumrow_off[summary]) * sum_width[summary]
        put(row_at, p.bits_col.astype(np.int64)[constant])
        mask_at[-1] = ALL
        bits_at = np.concatenate((len(words) + self.summary_off[:-1], constant_at[:-1]))
        if len(words) + int(self.summary_off[-1]) >= 1 << 31:
            raise UnreadableInput("the problem is larger than engines can address")
        return words, mask_at, labels_at[:-1], bits_at

    def callers(self) -> tuple[I4, I8, I4]:
        """(method, block) of callers in the same component, CSR by callee; edges between other components."""
        p, n = self.p, self.p.n_methods
        component = _owner(p.scc_off)
        ops = np.flatnonzero(self.is_apply)
        call = p.op_dst[ops]
        count = np.diff(p.call_off)[call]
        op = np.repeat(ops, count)
        app = np.arange(len(op)) - np.repeat(_offsets(count)[:-1], count) + np.repeat(p.call_off[call], count)
        callee = p.app_summary[app]
        op, callee = op[callee < n], callee[callee < n]
        caller = self.op_method[op]
        block = self.op_block[op] - p.block_off[caller]
        inner = component[caller] == component[callee]
        found = np.unique(np.stack((callee[inner], caller[inner], block[inner]), axis=1), axis=0)
        off = np.searchsorted(found[:, 0], np.arange(n + 1))
        pairs = component[caller[~inner]] * len(p.scc_off) + component[callee[~inner]]
        pairs = np.unique(pairs)
        edges = np.stack(np.divmod(pairs, len(p.scc_off)), axis=1)
        if (edges[:, 0] < edges[:, 1]).any():
            raise UnreadableInput("scc_off: a component stands before one that it calls")
        return found[:, 1:].astype(np.int32), off.astype(np.int64), edges.astype(np.int32)

    def rounds(self) -> I8:
        """S_ROUNDS of each summary."""
        p = self.p
        number = np.arange(len(p.sumcol_kind)) - p.sumcol_off[self.col_summary]
        reads = p.sumcol_kind >= CHILD
        back = (p.sumcol_kind == CHILD) & (p.sumcol_parent >= number)
        back |= reads & (np.diff(p.alias_off) > 0)
        region_owner = _owner(p.region_off)
        late = _per(p.region_off, p.region_col >= number[region_owner]) > 0
        back |= (p.sumcol_kind == REGION) & late
        once, more = _per(p.sumcol_off, reads) > 0, _per(p.sumcol_off, back) > 0
        return np.where(more, 2, once.astype(np.int64))

    def sizes(self) -> Sizes:
        p = self.p
        binds = _offsets(np.diff(p.bind_off).astype(np.int64))
        per_call = binds[p.call_off[1:]] - binds[p.call_off[:-1]]
        reads = (p.op_kind == OR) + (p.op_kind == LOAD) + 2 * (p.op_kind == STORE).astype(np.int64)
        reads[self.is_apply] = per_call[p.op_dst[self.is_apply]]
        sigma = per_call[p.op_dst[self.is_apply]] * self.width[self.op_method[self.is_apply]]
        heap_bits = (self.n_heap + 63) // 64
        blocks = 2 * ((self.n_blocks + 63) // 64)

        outs, cols = np.diff(p.sumrow_off).astype(np.int64), np.diff(p.sumcol_off).astype(np.int64)
        images = np.where(self.rounds() > 1, outs, 0)[p.app_summary] * self.width[np.maximum(self.app_method, 0)]

        def most(values: I8) -> int:
            return int(values.max(initial=0))

        return Sizes(
            width=most(self.width), rows=most(self.n_rows), heap=most(self.n_heap * self.width),
            heap_bits=most(heap_bits), news=most(heap_bits * self.n_blocks), sigma=most(sigma),
            images=most(images), export_bits=most((cols + 63) // 64), exports=max(most(outs), most(cols)),
            reads=most(_per(p.op_off[p.block_off], reads)), component=most(np.diff(p.scc_off).astype(np.int64)),
            block_bits=most(_per(p.scc_off, blocks)), facts=most(_per(p.scc_off, np.diff(self.fact_off))),
        )  # fmt: skip

    def component_sizes(self) -> dict[str, I8]:
        p = self.p
        n, components = p.n_methods, len(p.scc_off) - 1
        of = _owner(p.scc_off)
        binds = _offsets(np.diff(p.bind_off).astype(np.int64))
        per_call = (binds[p.call_off[1:]] - binds[p.call_off[:-1]])[p.op_dst[self.is_apply]]
        caller = self.op_method[self.is_apply]
        reads = (p.op_kind == OR) + (p.op_kind == LOAD) + 2 * (p.op_kind == STORE).astype(np.int64)
        reads[self.is_apply] = per_call
        heap_bits = (self.n_heap + 63) // 64
        outs, cols = np.diff(p.sumrow_off).astype(np.int64), np.diff(p.sumcol_off).astype(np.int64)
        user, used = self.app_method, p.app_summary
        most_cols = np.maximum(_most(n, user, cols[used]), cols[:n])
        most_outs = np.maximum(_most(n, user, outs[used]), outs[:n])
        images = np.where(self.rounds() > 1, outs, 0)[used]
        methods = {
            "width": self.width, "rows": self.n_rows, "heap": self.n_heap * self.width, "heap_bits": heap_bits,
            "news": heap_bits * self.n_blocks, "sigma": _most(n, caller, per_call) * self.width,
            "images": _most(n, user, images) * self.width, "export_bits": (most_cols + 63) // 64,
            "exports": np.maximum(most_cols, most_outs), "reads": _per(p.op_off[p.block_off], reads),
        }  # fmt: skip
        found = {name: np.maximum(_most(components, of, values), 0) for name, values in methods.items()}
        found["component"] = np.diff(p.scc_off).astype(np.int64)
        found["block_bits"] = _per(p.scc_off, 2 * ((self.n_blocks + 63) // 64))
        found["facts"] = _per(p.scc_off, np.diff(self.fact_off))
        return found

    def cost(self) -> NDArray[np.float64]:
        p = self.p
        # Fitted by eye to real apps. Which method is how many times as large as which matters, not the unit.
        work = 1.0 + 0.15 * self.n_rows + 0.01 * np.diff(self.fact_off)
        ops = 0.3 + 0.06 * self.width[self.op_method]
        work += np.bincount(self.op_method, ops, p.n_methods)
        method = self.app_method[self.bind_app]
        work += np.bincount(method[method >= 0], 0.15 + 0.15 * self.width[method[method >= 0]], p.n_methods)
        return np.bincount(_owner(p.scc_off), work, len(p.scc_off) - 1).astype(np.float64)

    # -- what Problem.validate leaves open -----------------------------------------------------------------------

    def check(self) -> None:
        """Refuses indices that would lead a kernel out of its memory."""
        p, n = self.p, self.p.n_methods

        def refuse(wrong: NDArray[np.bool_] | bool, name: str) -> None:
            if np.any(wrong):
                raise UnreadableInput(f"{name}: index outside its method or summary")

        inner = np.ones(len(p.row_kind), bool)
        inner[p.row_off[:-1][self.n_rows > 0]] = False
        refuse((np.diff(p.row_kind.astype(np.int64)) < 0) & inner[1:], "row_kind")
        refuse(self.n_blocks < 1, "block_off")
        refuse(p.sumcol_off[-1] < 0 or p.n_summaries < n or int(p.scc_off[-1]) != n or p.scc_off[0] != 0, "scc_off")
        refuse(np.diff(p.scc_off) < 0, "scc_off")
        # Calls and links, for every method that uses them.
        method, call = self.op_method[self.is_apply], p.op_dst[self.is_apply]
        refuse(self.call_method[call] != method, "op_dst: a call of two methods")
        clear = _owner(p.clear_off)
        row = p.clear_row - self.first_heap[self.op_method[clear]]
        refuse((row < 0) | (row >= self.n_heap[self.op_method[clear]]), "clear_row")
        empty = np.diff(p.link_off) == 0
        most_col = _extremes(p.link_off, p.link_col)[1]
        least_row, most_row = _extremes(p.link_off, p.link_row)
        self.odd = np.zeros(n, bool)
        loads = np.flatnonzero((p.op_link >= 0) & (p.op_kind == LOAD))
        stores = np.flatnonzero((p.op_link >= 0) & (p.op_kind != LOAD))
        binds, writes = np.flatnonzero(p.bind_link >= 0), np.flatnonzero(p.write_link >= 0)
        for name, link, users, reads in (
            ("op_link", p.op_link[loads], self.op_method[loads], True),
            ("op_link", p.op_link[stores], self.op_method[stores], False),
            ("bind_link", p.bind_link[binds], self.app_method[self.bind_app[binds]], True),
            ("write_link", p.write_link[writes], self.app_method[self.write_app[writes]], False),
        ):
            use = (users >= 0) & ~empty[link]
            at, user = link[use], users[use]
            outside = (most_col[at] >= self.n_cols[user]) | (most_row[at] >= self.n_rows[user])
            refuse(outside, f"{name}, link_col, link_row")
            if reads:
                first = self.first_heap[user]
                other = (least_row[at] < first) | (most_row[at] >= first + self.n_heap[user])
                self.odd[user[other]] = True
        # Summaries.
        cols, outs = np.diff(p.sumcol_off).astype(np.int64), np.diff(p.sumrow_off).astype(np.int64)
        mine = cols[self.col_summary]
        child = p.sumcol_kind == CHILD
        refuse(child & ((p.sumcol_parent < 0) | (p.sumcol_parent >= mine)), "sumcol_parent")
        refuse((p.region_col < 0) | (p.region_col >= mine[_owner(p.region_off)]), "region_col")
        owner = _owner(p.alias_off)
        refuse((p.alias_row < 0) | (p.alias_row >= outs[self.col_summary][owner]), "alias_row")
        refuse(p.sumrow_owner[p.sumrow_off[self.col_summary[owner]] + p.alias_row] < 0, "alias_row, sumrow_owner")
        refuse((p.sumrow_owner < -1) | (p.sumrow_owner >= cols[self.out_summary]), "sumrow_owner")
        refuse((p.bits_col < 0) | (p.bits_col >= cols[self.out_summary[_owner(p.bits_off)]]), "bits_col")
        # Bindings and writes.
        use = np.flatnonzero(p.bind_at >= 0)
        app = self.bind_app[use]
        kind = p.sumcol_kind[use - p.bind_off[app] + p.sumcol_off[p.app_summary[app]]]
        method = self.app_method[app]
        limit = np.where(kind == CONSTANT, self.n_cols[method], self.n_rows[method])
        refuse((method >= 0) & (p.bind_at[use] >= limit), "bind_at")
        use = np.flatnonzero(p.write_row >= 0)
        method = self.app_method[self.write_app[use]]
        refuse((method >= 0) & (p.write_row[use] >= self.n_rows[method]), "write_row")
        use = np.flatnonzero(p.write_row == TO_CELLS)
        app = self.write_app[use]
        refuse(p.sumrow_owner[use - p.write_off[app] + p.sumrow_off[p.app_summary[app]]] < 0, "write_row")
        # Exports.
        owner = _owner(p.export_off)
        refuse((p.export_to < 0) | (p.export_to >= outs[owner]), "export_to")
        refuse((p.export_row < 0) | (p.export_skip >= self.n_cols[owner]), "export_row, export_skip")
        refuse(p.col_export >= cols[_owner(p.col_off)], "col_export")
        refuse(p.mask_col < 0, "mask_col")
