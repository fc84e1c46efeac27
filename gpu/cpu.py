"""Engine `cpu`: bit matrices on all cores. One kernel call solves a run of components (`gpu.fixpoint`).

Small problems are one run on one thread. Otherwise the components of a layer are cut into tasks of about equal cost; a
task is ready when all tasks that it needs are done, and threads take the ready task with the longest way to the end.
A component is solved by one thread from facts that are final, so that results do not depend on who solves what when.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpu.errors import EngineUnavailable
from gpu.fixpoint import T_SIZE, solve_run
from gpu.pack import Packed, Sizes, component_layer, pack
from gpu.problem import Problem
from gpu.solution import Solution
from gpu.threads import threads_wanted
from gpu.transfer import (
    BASE,
    BITS,
    BLOCK_BITS,
    CHANGED,
    FACTS,
    FIRST,
    FOUND,
    FRESH,
    FRONTIER,
    IMAGE_ROUND,
    IMAGES,
    LAST,
    LIMIT,
    LOCAL,
    N_FIELDS,
    NEW,
    NEWS,
    NEXT,
    OLD,
    QUEUE,
    READ_AT,
    READ_END,
    SEEN,
    SIGMA,
    STATE,
    STATES,
    VALUE,
    WORK,
)

Keep = Literal["all", "summaries"]
Check = Callable[[], None]

_solve_run: Callable[..., int] = solve_run

SLICE_S = 0.02
"""Seconds of work between two calls of `check`."""
SMALL = 4_000.0
"""Estimated microseconds below which more threads do not pay."""
LEAST_TASK = 100.0
"""Estimated microseconds below which a task is not cut further."""
TASKS_PER_THREAD = 12
FIRST_BUDGET = 4_000_000
"""Units of work, of a nanosecond or so, of a worker's first call."""


def solve(
    problem: Problem,
    check: Check = lambda: None,
    *,
    threads: int | None = None,
    keep: Keep = "all",
    budget: int | None = None,
) -> Solution:
    """Solves a problem; the facts are those of `gpu.reference`, bit for bit.

    `check` is called by the calling thread, at least about every 50 ms, and may raise to stop the run. `keep`: with
    "summaries" the facts of a component are given up as soon as it is solved. `budget` fixes the units of work between
    two checks (for tests).

    Raises:
        UnreadableInput: the problem's indices do not fit together.
        EngineUnavailable: not enough memory.
    Else only what `check` raises.
    """
    packed = pack(problem)
    wanted = threads_wanted(threads)
    if threads is None and float(packed.cost.sum()) < SMALL:
        wanted = 1
    run = _Run(packed, wanted, keep, budget)
    if wanted == 1:
        run.alone(check)
    else:
        _Team(run, _Tasks(packed, wanted)).work(check)
    first = packed.summary_at
    facts_at = first + int(packed.summary_off[-1])
    facts, summaries = run.words[facts_at : facts_at + int(packed.fact_off[-1])], run.words[first:facts_at]
    if keep != "all":
        facts, summaries = facts[:0].copy(), summaries.copy()  # so that the rest is given up
    return Solution(problem, facts, packed.fact_off, summaries, packed.summary_off)


class _Run:
    """The memory of one solve: constant rows, summaries, facts, then the scratch memory of each worker."""

    def __init__(self, packed: Packed, workers: int, keep: Keep, budget: int | None) -> None:
        self.packed = packed
        facts_at = packed.summary_at + int(packed.summary_off[-1])
        scratch_at = facts_at + (int(packed.fact_off[-1]) if keep == "all" else 0)
        lean = keep != "all"
        fact_at = np.zeros(0, np.int64) if lean else facts_at + packed.fact_off[:-1]
        size = scratch(packed.sizes, 0, lean)[1]
        # Pages of zeros cost nothing until they are written to.
        try:
            self.words = np.zeros(scratch_at + workers * size, np.uint64)
        except MemoryError as error:
            raise EngineUnavailable(f"not enough memory: {(scratch_at + workers * size) >> 17} MB of facts") from error
        self.words[: len(packed.words)] = packed.words
        places = [scratch(packed.sizes, scratch_at + i * size, lean)[0] for i in range(workers)]
        self.workers = [_Worker(packed, self.words, fact_at, fields, budget) for fields in places]

    def alone(self, check: Check) -> None:
        """Solves everything on this thread."""
        worker = self.workers[0]
        worker.give(np.arange(len(self.packed.cost), dtype=np.int32))
        check()
        while not worker.go_on():
            check()


class _Worker:
    """Scratch memory of one thread, and the components that it is at."""

    def __init__(
        self,
        packed: Packed,
        words: NDArray[np.uint64],
        fact_at: NDArray[np.int64],
        fields: dict[int, int],
        budget: int | None,
    ) -> None:
        self.packed, self.words, self.fact_at = packed, words, fact_at
        self.s = worker_fields(packed.sizes, fields)
        self.fixed, self.budget = budget is not None, budget or FIRST_BUDGET
        self.components: NDArray[np.int32] = np.zeros(0, np.int32)

    def give(self, components: NDArray[np.int32]) -> None:
        """Sets the components to solve, in this order."""
        self.components = components
        self.s[NEXT], self.s[LAST], self.s[FIRST] = 0, len(components), -1

    def go_on(self) -> bool:
        """Works for a time slice; whether all is done."""
        packed = self.packed
        self.s[WORK], self.s[LIMIT] = 0, self.budget
        start = time.perf_counter()
        done = _solve_run(packed.code, self.words, self.s, self.components, packed.component_at, self.fact_at)
        seconds = time.perf_counter() - start
        if not (done or self.fixed):
            self.budget = int(min(max(self.budget * SLICE_S / max(seconds, 1e-6), self.budget / 4), self.budget * 4))
        return bool(done)


def worker_fields(sizes: Sizes, fields: dict[int, int]) -> NDArray[np.int64]:
    """The `s` of a worker: fields, of which `fields` are given, then lists."""
    lists = {
        STATES: sizes.component * T_SIZE, CHANGED: sizes.exports, SEEN: sizes.exports, IMAGE_ROUND: sizes.exports,
        READ_AT: sizes.rows, READ_END: sizes.rows + 2 * sizes.reads,
    }  # fmt: skip
    s = np.zeros(N_FIELDS + sum(lists.values()), np.int64)
    at = N_FIELDS
    for field, length in lists.items():
        s[field] = at
        at += length
    for field, at in fields.items():
        s[field] = at
    return s


def scratch(sizes: Sizes, at: int, lean: bool) -> tuple[dict[int, int], int]:
    """Where a worker's scratch memory lies, by field of `s`, from address `at` on; its words in all."""
    lengths = {
        STATE: sizes.heap, LOCAL: sizes.heap_bits, FRESH: sizes.heap_bits, NEWS: sizes.news, SIGMA: sizes.sigma,
        VALUE: sizes.width, BASE: sizes.width, BITS: sizes.width, FRONTIER: sizes.width, FOUND: sizes.width,
        IMAGES: sizes.images, OLD: sizes.export_bits, NEW: sizes.export_bits,
        QUEUE: (sizes.component + 63) // 64, BLOCK_BITS: sizes.block_bits, FACTS: sizes.facts if lean else 0,
    }  # fmt: skip
    fields, first = {}, at
    for field, length in lengths.items():
        fields[field] = at
        at += length
    return fields, -(-(at - first) // 16) * 16 + 16  # no cache line in common


class _Tasks:
    """Components of a layer, cut into tasks; and which tasks need which."""

    def __init__(self, packed: Packed, threads: int) -> None:
        n = len(packed.cost)
        layers = component_layer(packed)
        order = np.argsort(layers, kind="stable")
        # All threads have a part of each layer, and of a long one many.
        limit = np.minimum(np.bincount(layers, packed.cost) / threads, packed.cost.sum() / (threads * TASKS_PER_THREAD))
        limit = np.maximum(limit, LEAST_TASK)[layers[order]]
        before = np.cumsum(packed.cost[order]) - packed.cost[order]
        starts = np.searchsorted(layers[order], layers[order])
        piece = ((before - before[starts]) / limit).astype(np.int64)
        cut = (np.diff(layers[order], prepend=0) != 0) | (np.diff(piece, prepend=0) != 0)
        task_of_ordered = np.cumsum(cut)
        task = np.zeros(n, np.int64)
        task[order] = task_of_ordered
        count = int(task_of_ordered[-1]) + 1 if n else 0
        off = np.searchsorted(task_of_ordered, np.arange(count + 1))
        self.components = [order[off[i] : off[i + 1]].astype(np.int32) for i in range(count)]
        pairs = np.unique(task[packed.edges[:, 1]] * count + task[packed.edges[:, 0]])
        needed, needing = np.divmod(pairs, max(count, 1))
        self.waits_for = np.bincount(needing, minlength=count).tolist()
        self.dependents: list[list[int]] = [[] for _ in range(count)]
        for callee, caller in zip(needed.tolist(), needing.tolist(), strict=True):
            self.dependents[callee].append(caller)
        # The longest way to the end, own cost included. Tasks of higher layers have higher numbers.
        self.way = np.bincount(task, packed.cost, count).tolist()
        for i in reversed(range(count)):
            self.way[i] += max((self.way[k] for k in self.dependents[i]), default=0.0)


class _Team:
    """Threads that take ready tasks until none is left."""

    def __init__(self, run: _Run, tasks: _Tasks) -> None:
        self.run, self.tasks = run, tasks
        self.changed = threading.Condition()
        self.left = len(tasks.components)
        self.waits_for = list(tasks.waits_for)
        self.ready = [(-tasks.way[i], i) for i in range(self.left) if not self.waits_for[i]]
        heapq.heapify(self.ready)
        self.stopped = False
        self.error: BaseException | None = None

    def work(self, check: Check) -> None:
        """Solves everything. This thread works too, and it alone calls `check`."""
        helpers = [threading.Thread(target=self._help, args=(worker,), daemon=True) for worker in self.run.workers[1:]]
        for helper in helpers:
            helper.start()
        try:
            self._take_tasks(self.run.workers[0], check)
        finally:
            self._stop()
            for helper in helpers:
                helper.join()
        if self.error is not None:
            raise self.error

    def _help(self, worker: _Worker) -> None:
        try:
            self._take_tasks(worker, lambda: None)
        except BaseException as error:  # noqa: BLE001  (raised again by the thread that called)
            self.error = error
            self._stop()

    def _stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def _take_tasks(self, worker: _Worker, check: Check) -> None:
        while True:
            check()
            with self.changed:
                if self.stopped or not self.left:
                    return
                if not self.ready:
                    self.changed.wait(SLICE_S)
                    continue
                task = heapq.heappop(self.ready)[1]
            worker.give(self.tasks.components[task])
            while not worker.go_on():
                check()
                if self.stopped:
                    return
            self._done(task)

    def _done(self, task: int) -> None:
        with self.changed:
            self.left -= 1
            for dependent in self.tasks.dependents[task]:
                self.waits_for[dependent] -= 1
                if not self.waits_for[dependent]:
                    heapq.heappush(self.ready, (-self.tasks.way[dependent], dependent))
            self.changed.notify_all()
