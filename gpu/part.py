"""A problem that is solved part by part: a part is a problem of its own, in which callees outside are constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu.pack import fact_offsets
from gpu.problem import APPLY, Problem
from gpu.solution import Solution

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
U8 = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Part:
    """Some components of a problem, as a problem. Its facts are the facts that they have in the whole."""

    problem: Problem
    methods: I8
    """(n,) methods of the whole, ascending; the part's methods, in this order."""
    outside: I8
    """(n,) summaries of the whole (of methods that are solved, or constant ones) that are the part's constants."""


class Parts:
    """Cuts a problem into parts, and puts their solutions together. A part's callees must have been solved before."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        _, self.fact_off, self.summary_off = fact_offsets(problem)
        self.facts = np.zeros(int(self.fact_off[-1]), np.uint64)
        self.summary_words = np.zeros(int(self.summary_off[-1]), np.uint64)
        self.solved = np.zeros(problem.n_methods, bool)

    def cut(self, components: Sequence[int]) -> Part:
        """The part of some components (numbers of strongly connected components, in any order).

        Raises:
            ValueError: a method that is called is neither among them nor solved.
        """
        p = self.problem
        methods = spans(p.scc_off, np.sort(np.asarray(components, np.int64)))[1]
        a: dict[str, Any] = {"method_key": p.method_key[methods], "exit_block": p.exit_block[methods]}
        a["scc_off"] = spans(p.scc_off, np.sort(np.asarray(components, np.int64)))[0]

        def take(off: str, owners: I8, *names: str) -> I8:
            """Entries of some owners of a CSR; their numbers in the whole."""
            a[off], found = spans(getattr(p, off), owners)
            a.update((name, getattr(p, name)[found]) for name in names)
            return found

        take("col_off", methods, "col_flag", "col_export")
        take("row_off", methods, "row_kind", "row_mask")
        take("entry_off", methods, "entry_row", "entry_col")
        take("export_off", methods, "export_row", "export_to", "export_skip", "export_mask")
        blocks = take("block_off", methods)
        take("succ_off", blocks, "succ")
        ops = take("op_off", blocks, "op_kind", "op_dst", "op_src", "op_link", "op_mask", "op_origin")
        take("clear_off", ops, "clear_row")
        applies = a["op_kind"] == APPLY
        calls = np.unique(a["op_dst"][applies]).astype(np.int64)
        a["op_dst"][applies] = np.searchsorted(calls, a["op_dst"][applies])
        apps = take("call_off", calls)
        take("bind_off", apps, "bind_at", "bind_link", "bind_mask")
        take("write_off", apps, "write_row", "write_link", "write_mask")
        applied = p.app_summary[apps].astype(np.int64)
        outside = np.setdiff1d(applied, methods)
        called = outside[outside < p.n_methods]
        if not self.solved[called].all():
            raise ValueError(f"method {called[~self.solved[called]][0]} is called, and not solved yet")
        numbers = np.zeros(p.n_summaries, np.int64)
        summaries = np.concatenate((methods, outside))
        numbers[summaries] = np.arange(len(summaries))
        a["app_summary"] = numbers[applied].astype(np.int32)
        columns = take("sumcol_off", summaries, "sumcol_kind", "sumcol_parent")
        take("region_off", columns, "region_col")
        take("alias_off", columns, "alias_row")
        rows = take("sumrow_off", summaries, "sumrow_owner")
        a["bits_off"], a["bits_col"] = self._bits(summaries, len(methods), rows)
        for off, names, users in (
            ("mask_off", ("mask_col",), ("row_mask", "op_mask", "bind_mask", "write_mask", "export_mask")),
            ("link_off", ("link_col", "link_row"), ("op_link", "bind_link", "write_link")),
        ):
            used = np.unique(np.concatenate([a[user] for user in users])).astype(np.int64)
            used = used[used >= 0]
            take(off, used, *names)
            for user in users:
                a[user] = np.where(a[user] >= 0, np.searchsorted(used, a[user]), -1).astype(np.int32)
        return Part(Problem(**a), methods, outside)

    def _bits(self, summaries: I8, own: int, rows: I8) -> tuple[I4, I4]:
        """Facts of the part's summaries, CSR by export row: none of its own methods, all of what is outside."""
        p, n = self.problem, self.problem.n_methods
        owner = np.repeat(np.arange(len(summaries)), np.diff(p.sumrow_off)[summaries])
        fixed = np.flatnonzero(summaries[owner] >= n)
        off, found = spans(p.bits_off, rows[fixed])
        row, column = [np.repeat(fixed, np.diff(off))], [p.bits_col[found].astype(np.int64)]
        first = np.concatenate(([0], np.cumsum(np.diff(p.sumrow_off)[summaries])))
        for i in range(own, len(summaries)):
            s = int(summaries[i])
            if s >= n:
                break
            words = self.summary_words[self.summary_off[s] : self.summary_off[s + 1]]
            if words.any():
                lines = words.astype("<u8", copy=False).view(np.uint8).reshape(int(first[i + 1] - first[i]), -1)
                r, c = np.nonzero(np.unpackbits(lines, axis=1, bitorder="little"))
                row.append(first[i] + r)
                column.append(c)
        at, to = np.concatenate(row), np.concatenate(column)
        order = np.argsort(at, kind="stable")
        counts = np.bincount(at, minlength=len(rows))
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int32), to[order].astype(np.int32)

    def put(self, part: Part, solution: Solution) -> None:
        """Takes the facts and summaries of a part that is solved."""
        for off, target, source_off, source in (
            (self.fact_off, self.facts, solution.fact_off, solution.facts),
            (self.summary_off, self.summary_words, solution.summary_off, solution.summary_words),
        ):
            to = spans(off, part.methods)[1]
            target[to] = source[: int(source_off[-1])]
        self.solved[part.methods] = True

    def solution(self) -> Solution:
        """The solution of the whole.

        Raises:
            ValueError: a method is not solved yet.
        """
        if not self.solved.all():
            raise ValueError(f"method {np.flatnonzero(~self.solved)[0]} is not solved yet")
        return Solution(self.problem, self.facts, self.fact_off, self.summary_words, self.summary_off)


def spans(off: I4 | I8, owners: I8) -> tuple[I4, I8]:
    """For some owners of a CSR: offsets of a CSR of them alone (int32), and numbers of their entries (int64)."""
    first, count = off[owners].astype(np.int64), (off[owners + 1] - off[owners]).astype(np.int64)
    own = np.concatenate(([0], np.cumsum(count)))
    found: I8 = np.arange(own[-1]) + np.repeat(first - own[:-1], count)
    return own.astype(np.int32), found
