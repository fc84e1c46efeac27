"""The reference engine: the readable definition of the solve pass (semantics.md 3 and 4).

Sets of tokens are Python integers used as bit sets; a method is solved by a worklist over its blocks, a strongly
connected component by repeating until no summary grows. No cleverness: every other engine is compared with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from gpu.bits import bits_of
from gpu.problem import CHILD, CONSTANT, DROPPED, GENERATE, HEAP, LABEL, LOAD, OR, REGION, STORE, TO_CELLS, Problem
from gpu.solution import Solution

Link = dict[int, list[int]]


def _csr(off: list[int], values: list[int], i: int) -> list[int]:
    return values[off[i] : off[i + 1]]


class Summary:
    """A summary as an engine sees it: export columns, export rows, and facts that may grow."""

    __slots__ = ("alias", "bits", "kind", "owner", "parent", "region")

    def __init__(self, tables: Tables, s: int) -> None:
        first, last = tables.sumcol_off[s], tables.sumcol_off[s + 1]
        self.kind = tables.sumcol_kind[first:last]
        self.parent = tables.sumcol_parent[first:last]
        self.region = [_csr(tables.region_off, tables.region_col, c) for c in range(first, last)]
        self.alias = [_csr(tables.alias_off, tables.alias_row, c) for c in range(first, last)]
        rows = range(tables.sumrow_off[s], tables.sumrow_off[s + 1])
        self.owner = [tables.sumrow_owner[r] for r in rows]
        self.bits = [sum(1 << c for c in _csr(tables.bits_off, tables.bits_col, r)) for r in rows]


class Tables:
    """The arrays of a problem as Python lists, and masks and links in the form that the equations use."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._masks: dict[int, int] = {}
        self._links: dict[int, Link] = {}
        self.summaries: dict[int, Summary] = {}

    def __getattr__(self, name: str) -> list[int]:
        """An array, as a list when it is asked for the first time."""
        if name.startswith("_"):
            raise AttributeError(name)
        values: list[int] = getattr(self._problem, name).tolist()
        setattr(self, name, values)
        return values

    def mask(self, m: int) -> int:
        """Bit set of the columns that pass mask m; -1 passes all."""
        if m < 0:
            return -1
        if m not in self._masks:
            self._masks[m] = sum(1 << c for c in _csr(self.mask_off, self.mask_col, m))
        return self._masks[m]

    def link(self, k: int) -> Link:
        """Column of a base -> rows that it selects."""
        if k not in self._links:
            link: Link = {}
            for i in range(self.link_off[k], self.link_off[k + 1]):
                link.setdefault(self.link_col[i], []).append(self.link_row[i])
            self._links[k] = link
        return self._links[k]

    def summary(self, s: int) -> Summary:
        """Summary s, shared by all its applications."""
        if s not in self.summaries:
            self.summaries[s] = Summary(self, s)
        return self.summaries[s]


class MethodSolver:
    """The equations of one method. `rows` holds value and channel rows; a heap state is a list of the heap rows."""

    def __init__(self, tables: Tables, m: int) -> None:
        t = self.t = tables
        self.m = m
        first, last = t.row_off[m], t.row_off[m + 1]
        kinds = t.row_kind[first:last]
        self.n_rows = last - first
        self.first_heap = kinds.index(HEAP) if HEAP in kinds else self.n_rows
        self.n_heap = kinds.count(HEAP)
        self.row_mask = [t.mask(k) for k in t.row_mask[first:last]]
        self.labels = sum(1 << c for c, flag in enumerate(t.col_flag[t.col_off[m] : t.col_off[m + 1]]) if flag & LABEL)
        self.first_block = t.block_off[m]
        self.n_blocks = t.block_off[m + 1] - self.first_block
        self.rows = [0] * self.n_rows
        self.heads: list[list[int] | None] = [None] * self.n_blocks
        self.reads: dict[int, set[int]] = {}
        self.block = 0
        self.grown = False
        self.touched: set[int] = set()
        """Heap rows that the block at hand wrote or cleared."""
        self.news: list[set[int]] = [set() for _ in range(self.n_blocks)]
        """Per block, heap rows that grew at its head since it was last visited: its successors have the others."""
        entry = [0] * self.n_heap
        for i in range(t.entry_off[m], t.entry_off[m + 1]):
            row, bit = t.entry_row[i], 1 << t.entry_col[i]
            if self.is_heap(row):
                entry[row - self.first_heap] |= bit
            else:
                self.rows[row] |= bit
        self.entry = entry

    def is_heap(self, row: int) -> bool:
        """Whether the row has a value per block."""
        return self.first_heap <= row < self.first_heap + self.n_heap

    def get(self, row: int, heap: list[int]) -> int:
        """R(row) in a state."""
        return heap[row - self.first_heap] if self.is_heap(row) else self.rows[row]

    def add(self, row: int, bits: int, heap: list[int]) -> None:
        """R(row) |= bits."""
        if self.is_heap(row):
            heap[row - self.first_heap] |= bits
            self.touched.add(row - self.first_heap)
        elif bits & ~self.rows[row]:
            self.rows[row] |= bits
            self.grown = True

    # -- transfer functions ------------------------------------------------------------------------------------

    def step(self, op: int, heap: list[int]) -> None:
        """Applies one operation to a heap state, in place."""
        t = self.t
        kind, dst, src = t.op_kind[op], t.op_dst[op], t.op_src[op]
        added: list[tuple[int, int]] = []
        if kind == GENERATE:
            added.append((dst, 1 << src))
        elif kind == OR:
            added.append((dst, self.get(src, heap) & t.mask(t.op_mask[op])))
        elif kind == LOAD:
            bits = self.select(self.get(src, heap), t.link(t.op_link[op]), heap)
            added.append((dst, bits & t.mask(t.op_mask[op])))
        elif kind == STORE:
            value, link = self.get(dst, heap), t.link(t.op_link[op])
            base = self.get(src, heap)
            added.extend((row, value & self.row_mask[row]) for c in bits_of(base) for row in link.get(c, ()))
        else:
            for application in range(t.call_off[dst], t.call_off[dst + 1]):
                added.extend(self.apply(application, heap))
        for i in range(t.clear_off[op], t.clear_off[op + 1]):
            heap[t.clear_row[i] - self.first_heap] = 0
            self.touched.add(t.clear_row[i] - self.first_heap)
        for row, bits in added:
            self.add(row, bits, heap)

    def select(self, base: int, link: Link, heap: list[int]) -> int:
        """Union of the rows that the tokens of a base select."""
        bits = 0
        for c in bits_of(base):
            for row in link.get(c, ()):
                bits |= self.get(row, heap)
        return bits

    def substitution(self, application: int, heap: list[int]) -> list[int]:
        """The least sigma of semantics.md 4: per export column of the summary, tokens of the caller."""
        t = self.t
        summary = t.summary(t.app_summary[application])
        first = t.bind_off[application]
        sigma = [0] * len(summary.kind)
        for c, kind in enumerate(summary.kind):
            at = t.bind_at[first + c]
            if kind == CONSTANT and at >= 0:
                sigma[c] = 1 << at
            elif kind != CONSTANT and at >= 0:
                sigma[c] = self.get(at, heap) & t.mask(t.bind_mask[first + c])
        again = any(kind in (CHILD, REGION) for kind in summary.kind)
        while again:
            again = False
            for c, kind in enumerate(summary.kind):
                if kind == CHILD:
                    link = t.link(t.bind_link[first + c])
                    bits = self.child(sigma[summary.parent[c]], link, summary, summary.alias[c], sigma, heap)
                elif kind == REGION:
                    link = t.link(t.bind_link[first + c])
                    bits = 0
                    for source in summary.region[c]:
                        alias = [r for r in summary.alias[c] if summary.owner[r] != source]
                        bits |= self.child(sigma[source], link, summary, alias, sigma, heap)
                    frontier = bits
                    while frontier:
                        found = self.child(frontier, link, summary, summary.alias[c], sigma, heap)
                        frontier = found & ~bits
                        bits |= found
                else:
                    continue
                if bits & ~sigma[c]:
                    sigma[c] |= bits
                    again = True
        return sigma

    def child(
        self, owners: int, link: Link, summary: Summary, alias: list[int], sigma: list[int], heap: list[int]
    ) -> int:
        """What cells of `owners` held before the call, or may get from the callee through an aliasing argument."""
        bits = self.select(owners, link, heap) | owners & self.labels
        for r in alias:
            if sigma[summary.owner[r]] & owners:
                bits |= self.image(summary.bits[r], sigma)
        return bits

    def image(self, bits: int, sigma: list[int]) -> int:
        """Union of sigma over the export columns in `bits`."""
        result = 0
        for c in bits_of(bits):
            result |= sigma[c]
        return result

    def apply(self, application: int, heap: list[int]) -> Iterator[tuple[int, int]]:
        """What one application adds: (row, bits)."""
        t = self.t
        s = t.app_summary[application]
        summary = t.summary(s)
        self.reads.setdefault(s, set()).add(self.block)
        sigma = self.substitution(application, heap)
        first = t.write_off[application]
        for r, bits in enumerate(summary.bits):
            row = t.write_row[first + r]
            if not bits or row == DROPPED:
                continue
            value = self.image(bits, sigma) & t.mask(t.write_mask[first + r])
            if row == TO_CELLS:
                link = t.link(t.write_link[first + r])
                for c in bits_of(sigma[summary.owner[r]]):
                    for cell in link.get(c, ()):
                        yield cell, value & self.row_mask[cell]
            else:
                yield row, value & self.row_mask[row]

    # -- fixed point -------------------------------------------------------------------------------------------

    def solve(self, check: Callable[[], None]) -> None:
        """Brings the method to its fixed point under the present summaries of its callees."""
        t = self.t
        if self.heads[0] is None:
            self.heads[0] = list(self.entry)
            self.news[0] = set(range(self.n_heap))
        while True:
            self.grown = False
            waiting = [b for b in range(self.n_blocks) if self.heads[b] is not None]
            queued = set(waiting)
            while waiting:
                check()
                self.block = heappop(waiting)
                queued.discard(self.block)
                head = self.heads[self.block]
                assert head is not None
                state = list(head)
                self.touched = self.news[self.block]
                self.news[self.block] = set()
                block = self.first_block + self.block
                for op in range(t.op_off[block], t.op_off[block + 1]):
                    self.step(op, state)
                for i in range(t.succ_off[block], t.succ_off[block + 1]):
                    if self.join(t.succ[i], state) and t.succ[i] not in queued:
                        queued.add(t.succ[i])
                        heappush(waiting, t.succ[i])
            if not self.grown:
                return

    def join(self, block: int, state: list[int]) -> bool:
        """Joins a state into the head of a block; whether that head grew or was reached for the first time."""
        head = self.heads[block]
        if head is None:
            self.heads[block] = list(state)
            self.news[block] = set(range(self.n_heap))
            return True
        grown = {i for i in self.touched if state[i] & ~head[i]}
        for i in grown:
            head[i] |= state[i]
        self.news[block] |= grown
        return bool(grown)

    def export(self) -> bool:
        """Copies the exit facts into the method's summary; whether it grew."""
        t = self.t
        summary = t.summary(self.m)
        at = t.exit_block[self.m]
        state = self.heads[at] if at >= 0 else None
        first_col = t.col_off[self.m]
        grown = False
        for i in range(t.export_off[self.m], t.export_off[self.m + 1]):
            row, to, skip = t.export_row[i], t.export_to[i], t.export_skip[i]
            if self.is_heap(row):
                bits = state[row - self.first_heap] if state is not None else 0
            else:
                bits = self.rows[row]
            bits &= t.mask(t.export_mask[i])
            if skip >= 0:
                bits &= ~(1 << skip)
            image = 0
            for c in bits_of(bits):
                if t.col_export[first_col + c] >= 0:
                    image |= 1 << t.col_export[first_col + c]
            if image & ~summary.bits[to]:
                summary.bits[to] |= image
                grown = True
        return grown

    def states(self) -> list[tuple[int, ...]]:
        """Heap rows at the head of each block; unreached blocks hold nothing."""
        return [tuple(head) if head is not None else (0,) * self.n_heap for head in self.heads]


def solve(problem: Problem, check: Callable[[], None] = lambda: None) -> Solution:
    """Solves a problem. `check` is called often and may raise to stop the run.

    Returns the least solution of the equations; raises only what `check` raises.
    """
    tables = Tables(problem)
    rows: list[tuple[int, ...]] = []
    heads: list[tuple[tuple[int, ...], ...]] = []
    for first, last in zip(tables.scc_off, tables.scc_off[1:], strict=False):
        solvers = [MethodSolver(tables, m) for m in range(first, last)]
        again = True
        while again:
            again = False
            for solver in solvers:
                solver.solve(check)
                again |= solver.export()
            again = again and any(s in range(first, last) for solver in solvers for s in solver.reads)
        for solver in solvers:
            rows.append(tuple(solver.rows))
            heads.append(tuple(solver.states()))
    return Solution.of(problem, rows, heads, [tables.summary(m).bits for m in range(problem.n_methods)])


class _Replayed(MethodSolver):
    """A method after the solve: at each application the state is always the same, and so is its substitution."""

    def __init__(self, tables: Tables, m: int) -> None:
        super().__init__(tables, m)
        self._known: dict[int, list[int]] = {}

    def substitution(self, application: int, heap: list[int]) -> list[int]:
        """As of any method, evaluated once per application."""
        if application not in self._known:
            self._known[application] = super().substitution(application, heap)
        return self._known[application]


class _Solved(Tables):
    """Tables in which summaries are those of a solution."""

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.problem)
        self._solution = solution

    def summary(self, s: int) -> Summary:
        """As of any tables; of a method, with all its facts."""
        known = s in self.summaries
        summary = super().summary(s)
        if not known and s < self._solution.problem.n_methods:
            summary.bits = list(self._solution.summaries[s])
        return summary


class Replay:
    """A solved problem, evaluated again where someone wants to look: states between blocks' heads."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.tables = _Solved(solution)
        self._methods: dict[int, MethodSolver] = {}

    def method(self, m: int) -> MethodSolver:
        """Solver of method m, holding its facts."""
        if m not in self._methods:
            solver: MethodSolver = _Replayed(self.tables, m)
            solver.rows = list(self.solution.rows[m])
            self._methods[m] = solver
        return self._methods[m]

    def states(self, m: int, block: int) -> Iterator[tuple[int, list[int]]]:
        """(operation, heap rows just before it) for each operation of a block, in order; then (-1, the end state)."""
        solver = self.method(m)
        state = list(self.solution.heads[m][block])
        first = self.tables.block_off[m] + block
        for op in range(self.tables.op_off[first], self.tables.op_off[first + 1]):
            yield op, state
            solver.step(op, state)
        yield -1, state

    def state_at(self, m: int, block: int, before: int) -> list[int]:
        """Heap rows in a block before its operation number `before`."""
        state: list[int] = []
        for i, (_, found) in enumerate(self.states(m, block)):
            state = list(found)
            if i == before:
                break
        return state
