"""Random problems, valid by construction, with what the encoder never makes: links to any row, all rows alias."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from gpu.problem import (
    APPLY,
    CHANNEL,
    CHILD,
    CONSTANT,
    DROPPED,
    GENERATE,
    HEAP,
    LOAD,
    OR,
    REGION,
    ROOT,
    STORE,
    TO_CELLS,
    VALUE,
    Problem,
)

_BYTES = ("row_kind", "col_flag", "op_kind", "sumcol_kind")


class Arrays:
    """Growing arrays of a problem, by name; `close` ends an owner of a CSR."""

    def __init__(self) -> None:
        self.values: dict[str, list[int]] = {}
        self.offsets: dict[str, list[int]] = {}

    def add(self, **columns: int) -> None:
        for name, value in columns.items():
            self.values.setdefault(name, []).append(value)

    def close(self, off: str, entries: str) -> int:
        """Ends the present owner; its number."""
        self.offsets.setdefault(off, [0]).append(len(self.values.setdefault(entries, [])))
        return len(self.offsets[off]) - 2

    def problem(self) -> Problem:
        arrays: dict[str, Any] = {}
        for name in Problem.__dataclass_fields__:
            values = self.offsets.get(name, [0]) if name.endswith("_off") else self.values.get(name, [])
            wide = name in ("method_key", "op_origin")
            arrays[name] = np.array(values, np.uint8 if name in _BYTES else np.int64 if wide else np.int32)
        problem = Problem(**arrays)
        problem.validate()
        return problem


class Maker:
    """Makes one random problem."""

    def __init__(self, rng: random.Random, most_columns: int = 150, odd_links: bool = True) -> None:
        self.rng, self.a, self.odd_links = rng, Arrays(), odd_links
        self.n_methods, self.n_constants = rng.randint(1, 5), rng.randint(1, 4)
        self.n_cols = [rng.choice((rng.randint(1, 8), rng.randint(1, most_columns))) for _ in range(self.n_methods)]
        self.n_values = [rng.randint(0, 6) for _ in range(self.n_methods)]
        self.n_heap = [rng.choice((0, rng.randint(0, 5), rng.randint(0, 80))) for _ in range(self.n_methods)]
        self.n_rows = [v + h + rng.randint(0, 3) for v, h in zip(self.n_values, self.n_heap, strict=True)]
        self.sizes = [
            (rng.choice((rng.randint(0, 6), rng.randint(0, 90))), rng.randint(0, 6))
            for _ in range(self.n_methods + self.n_constants)
        ]

    def make(self) -> Problem:
        a = self.a
        self.components()
        self.summaries()
        for m in range(self.n_methods):
            a.add(method_key=100 + m)
            self.m = m
            self.matrix()
            self.code()
            self.exports()
        for name in ("mask_off", "link_off", "call_off", "bind_off", "write_off"):
            a.offsets.setdefault(name, [0])
        for name in ("region_off", "alias_off", "bits_off", "clear_off"):
            a.offsets.setdefault(name, [0])
        return a.problem()

    def components(self) -> None:
        self.first: list[int] = []
        ends = [0]
        while ends[-1] < self.n_methods:
            ends.append(min(self.n_methods, ends[-1] + self.rng.randint(1, 3)))
        self.a.offsets["scc_off"] = ends
        self.last = [next(e for e in ends if e > m) for m in range(self.n_methods)]

    def some(self, n: int, most: int = 4) -> list[int]:
        """Some numbers below n, in no order, perhaps none."""
        return self.rng.sample(range(n), min(n, self.rng.randint(0, most)))

    def summaries(self) -> None:
        a, rng = self.a, self.rng
        for s, (cols, rows) in enumerate(self.sizes):
            owners = [rng.randrange(-1, cols) if cols else -1 for _ in range(rows)]
            owned = [r for r in range(rows) if owners[r] >= 0]
            for _ in range(cols):
                kind = rng.choice((CONSTANT, ROOT, ROOT, CHILD, CHILD, REGION))
                a.add(sumcol_kind=kind, sumcol_parent=rng.randrange(cols))
                for c in self.some(cols) if kind == REGION else ():
                    a.add(region_col=c)
                a.close("region_off", "region_col")
                for r in rng.sample(owned, rng.randint(0, len(owned))) if kind >= CHILD else ():
                    a.add(alias_row=r)
                a.close("alias_off", "alias_row")
            a.close("sumcol_off", "sumcol_kind")
            for r in range(rows):
                a.add(sumrow_owner=owners[r])
                for c in self.some(cols, 8) if s >= self.n_methods else ():
                    a.add(bits_col=c)
                a.close("bits_off", "bits_col")
            a.close("sumrow_off", "sumrow_owner")

    # -- masks and links of the method at hand -----------------------------------------------------------------

    def mask(self) -> int:
        if self.rng.random() < 0.8:
            return -1
        n = self.n_cols[self.m]
        for c in self.rng.sample(range(n), self.rng.randint(self.rng.choice((0, n // 2)), n)):
            self.a.add(mask_col=c)
        return self.a.close("mask_off", "mask_col")

    def link(self) -> int:
        m, rng = self.m, self.rng
        first, last = self.n_values[m], self.n_values[m] + self.n_heap[m]
        if self.odd_links and rng.random() < 0.1:
            first, last = 0, self.n_rows[m]
        for _ in range(rng.choice((0, 2, 8, 60)) if first < last else 0):
            self.a.add(link_col=rng.randrange(self.n_cols[m]), link_row=rng.randrange(first, last))
        return self.a.close("link_off", "link_col")

    def row(self) -> int:
        return self.rng.randrange(self.n_rows[self.m])

    def column(self) -> int:
        return self.rng.randrange(self.n_cols[self.m])

    # -- methods -----------------------------------------------------------------------------------------------

    def matrix(self) -> None:
        a, rng, m = self.a, self.rng, self.m
        names = self.sizes[m][0]
        for _ in range(self.n_cols[m]):
            a.add(col_flag=rng.choice((0, 0, 1, 2, 3)), col_export=rng.randrange(-1, names))
        a.close("col_off", "col_flag")
        for r in range(self.n_rows[m]):
            kind = VALUE if r < self.n_values[m] else HEAP if r < self.n_values[m] + self.n_heap[m] else CHANNEL
            a.add(row_kind=kind, row_mask=self.mask())
        a.close("row_off", "row_kind")
        for _ in range(rng.randint(0, 40) if self.n_rows[m] else 0):
            a.add(entry_row=self.row(), entry_col=self.column())
        a.close("entry_off", "entry_row")

    def code(self) -> None:
        a, rng, m = self.a, self.rng, self.m
        blocks = rng.randint(1, 7)
        a.add(exit_block=rng.randrange(-1, blocks))
        for b in range(blocks):
            after = [b + 1] if b + 1 < blocks and rng.random() < 0.8 else []
            for t in sorted({*after, *self.some(blocks, 2)}):
                a.add(succ=t)
            a.close("succ_off", "succ")
            for _ in range(rng.randint(0, 5) if self.n_rows[m] else 0):
                self.operation()
            a.close("op_off", "op_kind")
        self.blocks = blocks
        a.offsets.setdefault("block_off", [0]).append(a.offsets.get("block_off", [0])[-1] + blocks)

    def operation(self) -> None:
        a, rng, m = self.a, self.rng, self.m
        kind = rng.choice((GENERATE, OR, LOAD, STORE, APPLY, APPLY))
        dst, src, link, mask = self.row(), self.row(), -1, -1
        if kind == GENERATE:
            src = self.column()
        elif kind == OR:
            mask = self.mask()
        elif kind == LOAD:
            link, mask = self.link(), self.mask()
        elif kind == STORE:
            link = self.link()
        else:
            dst, src = self.call(), 0
        a.add(op_kind=kind, op_dst=dst, op_src=src, op_link=link, op_mask=mask, op_origin=rng.randrange(1000))
        heap = range(self.n_values[m], self.n_values[m] + self.n_heap[m])
        for r in rng.sample(heap, min(len(heap), rng.choice((0, 0, 1, 2, 10)))):
            a.add(clear_row=r)
        a.close("clear_off", "clear_row")

    def call(self) -> int:
        """A call of methods that come before or are in the same component, and of constant summaries."""
        a, rng = self.a, self.rng
        known = [*range(self.last[self.m]), *range(self.n_methods, len(self.sizes))]
        for s in rng.choices(known, k=rng.randint(0, 3)):
            a.add(app_summary=s)
            first, owner = a.offsets["sumcol_off"][s], a.offsets["sumrow_off"][s]
            for c in range(self.sizes[s][0]):
                constant = a.values["sumcol_kind"][first + c] == CONSTANT
                seed = rng.random() < 0.7 if a.values["sumcol_kind"][first + c] <= ROOT else rng.random() < 0.1
                at = -1 if not seed else self.column() if constant else self.row()
                a.add(bind_at=at, bind_link=self.link() if rng.random() < 0.8 else -1, bind_mask=self.mask())
            a.close("bind_off", "bind_at")
            for r in range(self.sizes[s][1]):
                row = rng.choice((DROPPED, self.row(), self.row(), TO_CELLS))
                if row == TO_CELLS and a.values["sumrow_owner"][owner + r] < 0:
                    row = DROPPED
                a.add(write_row=row, write_link=self.link(), write_mask=self.mask())
            a.close("write_off", "write_row")
        a.values.setdefault("app_summary", [])
        return a.close("call_off", "app_summary")

    def exports(self) -> None:
        a, rng, m = self.a, self.rng, self.m
        rows = self.sizes[m][1]
        for _ in range(rng.randint(0, 6) if rows and self.n_rows[m] else 0):
            skip = self.column() if rng.random() < 0.3 else -1
            a.add(export_row=self.row(), export_to=rng.randrange(rows), export_skip=skip, export_mask=self.mask())
        a.close("export_off", "export_row")


def random_problem(rng: random.Random, most_columns: int = 150, odd_links: bool = True) -> Problem:
    """A problem of a few methods and components, recursion included."""
    return Maker(rng, most_columns, odd_links).make()
