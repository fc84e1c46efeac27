"""What a problem asks of a device: bytes and work of each component, bytes of each summary, and who reads which."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpu.cpu import scratch
from gpu.pack import (
    A_SIZE,
    B_SIZE,
    C_SIZE,
    E_SIZE,
    I_SIZE,
    L_SIZE,
    M_SIZE,
    N_SIZE,
    O_SIZE,
    R_SIZE,
    S_SIZE,
    W_SIZE,
    X_SIZE,
    Packed,
    Sizes,
    component_sizes,
    fact_offsets,
    pack,
)
from gpu.problem import APPLY, Problem

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
F8 = NDArray[np.float64]
INT, WORD = 4, 8
"""Bytes."""


@dataclass(frozen=True)
class Load:
    """Bytes are those of the packed form (`gpu.pack`), an upper bound where parts of a problem share constant rows.

    Summaries have the numbers that they have in the problem: methods first, then constant ones.
    """

    records: I8
    """(n_components,) bytes copied in: records of methods, blocks, operations, calls, links; constant bit rows."""
    facts: I8
    """(n_components,) bytes of rows and block heads; results."""
    scratch: I8
    """(n_components,) bytes of scratch memory of the worker that solves it."""
    work: F8
    """(n_components,) units of work, of about a microsecond of one CPU core (`gpu.pack.Packed.cost`)."""
    summary: I8
    """(n_summaries,) bytes: its records, and its bits."""
    result: I8
    """(n_summaries,) bytes of its bits; results."""
    maker: I8
    """(n_summaries,) component that makes it; -1 for constant ones, which the host has from the beginning."""
    methods: I8
    """(n_components + 1,) offsets: methods of each component."""
    reads: tuple[tuple[int, ...], ...]
    """Per component: summaries that it applies and does not make, ascending."""

    @property
    def bytes(self) -> int:
        """Of the whole problem on a device: records, facts and summaries; scratch memory is not counted."""
        return int(self.records.sum() + self.facts.sum() + self.summary.sum())

    @cached_property
    def hold_bytes(self) -> list[int]:
        """Per component: records, facts and scratch memory."""
        held: list[int] = (self.records + self.facts + self.scratch).tolist()
        return held

    @cached_property
    def summary_bytes(self) -> list[int]:
        """As `summary`."""
        sizes: list[int] = self.summary.tolist()
        return sizes

    @cached_property
    def callees(self) -> list[list[int]]:
        """Per component: components that make what it reads, ascending."""
        maker = self.maker.tolist()
        return [sorted({maker[s] for s in found} - {-1}) for found in self.reads]

    @cached_property
    def _made(self) -> list[range]:
        off = self.methods.tolist()
        return [range(first, last) for first, last in itertools.pairwise(off)]

    def makes(self, component: int) -> range:
        """Summaries that a component makes."""
        return self._made[component]


def measure(problem: Problem, packed: Packed | None = None) -> Load:
    """What a problem asks of a device.

    Raises:
        UnreadableInput: the problem's indices do not fit together.
    """
    p, n, packed = problem, problem.n_methods, packed or pack(problem)
    width, fact_off, _ = fact_offsets(p)
    component = np.repeat(np.arange(len(p.scc_off) - 1), np.diff(p.scc_off))
    op_method = np.repeat(np.repeat(np.arange(n), np.diff(p.block_off)), np.diff(p.op_off))
    applies = np.flatnonzero(p.op_kind == APPLY)
    call_method = np.full(len(p.call_off) - 1, -1, np.int64)
    call_method[p.op_dst[applies]] = op_method[applies]
    app_method = call_method[_owner(p.call_off)]
    bind_method, write_method = app_method[_owner(p.bind_off)], app_method[_owner(p.write_off)]
    block_method = np.repeat(np.arange(n), np.diff(p.block_off))

    def per_method(owner: I8, size: int) -> I8:
        found: I8 = np.bincount(owner[owner >= 0], minlength=n) * size
        return found

    callee = p.app_summary.astype(np.int64)
    known = app_method >= 0
    outer = known.copy()
    inner = np.flatnonzero(known & (callee < n))
    outer[inner] = component[app_method[inner]] != component[callee[inner]]
    ints = M_SIZE + np.diff(p.block_off) * B_SIZE + np.diff(p.col_off) + np.diff(p.row_off).astype(np.int64)
    ints += np.diff(p.entry_off) * N_SIZE + np.diff(p.export_off) * E_SIZE
    ints += per_method(op_method, O_SIZE) + per_method(op_method[_owner(p.clear_off)], 1)
    ints += per_method(block_method[_owner(p.succ_off)], 1) + per_method(app_method, A_SIZE)
    ints += per_method(app_method[known & ~outer], R_SIZE)
    ints += per_method(bind_method, I_SIZE) + per_method(write_method, W_SIZE)
    links = (p.op_link, op_method), (p.bind_link, bind_method), (p.write_link, write_method)
    ints += _used(links, np.diff(p.link_off), n) * L_SIZE
    masks = (
        (p.op_mask, op_method), (p.row_mask, _owner(p.row_off)), (p.bind_mask, bind_method),
        (p.write_mask, write_method), (p.export_mask, _owner(p.export_off)),
    )  # fmt: skip
    # Ones and labels are a row each.
    words = (2 + _used(masks, np.ones(len(p.mask_off) - 1, np.int64), n)) * np.maximum(width, 1)
    records = np.bincount(component, ints * INT + words * WORD, len(p.scc_off) - 1).astype(np.int64) + C_SIZE * INT
    columns, rows = np.diff(p.sumcol_off).astype(np.int64), np.diff(p.sumrow_off).astype(np.int64)
    result = rows * ((columns + 63) // 64) * WORD
    extra = np.diff(p.region_off).astype(np.int64) + np.diff(p.alias_off)
    extra_off = np.concatenate(([0], np.cumsum(extra)))
    extras = extra_off[p.sumcol_off[1:]] - extra_off[p.sumcol_off[:-1]]
    summary = result + (S_SIZE + columns * X_SIZE + rows + extras) * INT + (columns + 63) // 64 * WORD
    sizes = component_sizes(p)
    lanes = [Sizes(**{name: int(values[c]) for name, values in sizes.items()}) for c in range(len(records))]
    reads: list[set[int]] = [set() for _ in range(len(records))]
    for c, s in zip(component[app_method[outer]].tolist(), callee[outer].tolist(), strict=True):
        reads[c].add(s)
    return Load(
        records=records,
        facts=np.diff(fact_off[p.scc_off]) * WORD,
        scratch=np.array([scratch(one, 0, False)[1] * WORD for one in lanes], np.int64),
        work=packed.cost,
        summary=summary,
        result=result,
        maker=np.concatenate((component, np.full(p.n_summaries - n, -1))).astype(np.int64),
        methods=p.scc_off.astype(np.int64),
        reads=tuple(tuple(sorted(found)) for found in reads),
    )


def _owner(off: I4) -> I8:
    return np.repeat(np.arange(len(off) - 1, dtype=np.int64), np.diff(off))


def _used(users: tuple[tuple[I4, I8], ...], size: NDArray[np.generic], n: int) -> I8:
    """(n,) sum of the sizes of what each method uses, each counted once per method."""
    keys = [method[(at >= 0) & (method >= 0)] * len(size) + at[(at >= 0) & (method >= 0)] for at, method in users]
    method, at = np.divmod(np.unique(np.concatenate(keys)), max(len(size), 1))
    return np.bincount(method, size[at], n).astype(np.int64) if len(at) else np.zeros(n, np.int64)
