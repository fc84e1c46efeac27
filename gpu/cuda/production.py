"""Engine `cuda`: many problems in one launch, solved by the kernel of `gpu.cuda.resident`; copies overlap with kernels.

Problems are joined into batches that fit the device's memory. While one is solved, the next one is packed and sent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu import batch, cpu, fixpoint, transfer
from gpu.cuda import compact, resident, team
from gpu.cuda.build import OUTLINED, Platform, build
from gpu.cuda.device import Device, simulated
from gpu.cuda.platforms import fields as box_fields
from gpu.cuda.resident import (
    I_DONE,
    I_SIZE_ALL,
    I_TAIL,
    T_BUDGET,
    T_CALLER_OFF,
    T_CALLERS,
    T_LANE,
    T_LARGE,
    T_QUEUES,
    T_SETTINGS,
    T_SLICES,
    T_TEAM_AT,
    T_TEAM_SIZE,
    T_TEAMS,
    T_TOTAL,
    T_WAITS,
    T_WORTH,
)
from gpu.errors import EngineUnavailable
from gpu.pack import Sizes, component_sizes, fact_offsets, pack
from gpu.problem import Problem
from gpu.solution import Solution

Check = Callable[[], None]
I8 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Options:
    """How the engine runs. Limits of small components say what a lane alone solves."""

    platform: Platform = "device"
    lanes: int = 32
    """Threads of a warp; the simulator's are slow."""
    warps: int = 0
    """Of the launch; 0: what the device holds, and the problem can use."""
    slices: int = 400
    """Of work until the kernel returns and the host looks whether to go on."""
    budget: int = 100_000
    """Units of work of a slice."""
    worth: int = 16
    """Steps of a loop from which on a team is called; not measured."""
    small_width: int = 2
    small_heap: int = 128
    """Words."""
    small_work: int = 4_000
    """Words of facts."""
    batch_bytes: int = 0
    """Device memory for one batch; 0: a third of what is free, as two are there at a time."""


MODULES = (transfer, fixpoint, team, resident, compact)
WARPS_PER_PROCESSOR = 8
"""The kernel takes about 200 registers per thread, so that a multiprocessor holds eight to ten warps."""


@functools.cache
def entries(platform: Platform) -> dict[str, Callable[..., Any]]:
    """The kernels by name."""
    rows = {"add", "both", "copy", "empty", "equal", "grow", "join", "lacks", "meets", "next_pair"}
    built = build("cuda", platform, (*MODULES, box_fields), OUTLINED | rows)
    return {name: built.entry(name) for name in ("solve_ready", "count_words", "take_words")}


def default_options() -> Options:
    """For the device, or for its simulator."""
    return Options("simulator", lanes=2, warps=1, slices=1 << 30, budget=2_000) if simulated() else Options()


def solve(problem: Problem, check: Check = lambda: None, options: Options | None = None) -> Solution:
    """Solves a problem; the facts are those of `gpu.reference`, bit for bit.

    Raises:
        EngineUnavailable: no device, or not enough memory on it.
        UnreadableInput: the problem's indices do not fit together.
    """
    return next(solve_many([problem], check, options))


def solve_many(
    problems: Iterable[Problem], check: Check = lambda: None, options: Options | None = None
) -> Iterator[Solution]:
    """Solves problems in as few launches as memory allows; solutions come in the order of the problems."""
    options = options or default_options()
    device = Device(options.platform)
    room = options.batch_bytes or device.free() // 3
    running: Batch | None = None
    for part in _batches(problems, room):
        started = Batch(device, part, options, room)
        started.start()
        if running is not None:
            yield from running.results(check)
        running = started
    if running is not None:
        yield from running.results(check)


def _batches(problems: Iterable[Problem], room: int) -> Iterator[list[Problem]]:
    """Runs of problems whose facts, records and scratch memory fit together, roughly."""
    part: list[Problem] = []
    taken = 0
    for problem in problems:
        size = problem_bytes(problem)
        if part and taken + size > room:
            yield part
            part, taken = [], 0
        part.append(problem)
        taken += size
    if part:
        yield part


def problem_bytes(problem: Problem) -> int:
    """Device memory for a problem's facts, records and constants, without scratch memory, about."""
    _, fact_off, summary_off = fact_offsets(problem)
    records: int = sum(getattr(problem, f.name).nbytes for f in fields(problem))
    return int(fact_off[-1] + summary_off[-1]) * 8 + 2 * records


class Batch:
    """Problems on the device: sent when it is made; then the kernel is started, waited for, and the facts fetched."""

    def __init__(self, device: Device, problems: Sequence[Problem], options: Options, room: int) -> None:
        self.device, self.problems, self.options = device, problems, options
        self.problem = batch.join(problems)
        packed = self.packed = pack(self.problem)
        self.entries = entries(options.platform)
        self.stream = device.stream()
        self.n = len(packed.cost)
        self.facts_at = packed.summary_at + int(packed.summary_off[-1])
        scratch_at = self.facts_at + int(packed.fact_off[-1])
        self.lanes = options.lanes if options.platform != "sequential" else 1
        large, small, every = self._bins()
        # Scratch memory: of each lane for the largest small component, of each team for the largest one of all.
        lane_places, lane_words = cpu.scratch(small, 0, False)
        team_places, team_words = cpu.scratch(every, 0, False)
        lane, worker = cpu.worker_fields(small, lane_places), cpu.worker_fields(every, team_places)
        warps = options.warps or device.processors() * WARPS_PER_PROCESSOR
        if options.platform == "sequential":
            warps = 1
        ready = max(-(-self.n // self.lanes), int(large.sum()), 1)
        warps = min(warps, ready)
        left = max(room, 1 << 20) - scratch_at * 8
        per_warp = (lane_words + len(lane)) * 8 * self.lanes
        per_team = (team_words + len(worker)) * 8
        warps = max(min(warps, (left - per_team) // per_warp), 1)
        teams = int(max(min(warps, int(large.sum()), (left - warps * per_warp) // per_team), 1))
        words = scratch_at + warps * self.lanes * lane_words + teams * team_words
        if options.platform == "device" and words * 8 > device.free():
            raise EngineUnavailable(f"not enough device memory: {words >> 17} MB of facts and scratch memory")
        self.warps = warps
        all_fields = np.concatenate(
            [
                _places(lane, lane_places, scratch_at, lane_words, warps * self.lanes),
                _places(worker, team_places, scratch_at + warps * self.lanes * lane_words, team_words, teams),
            ]
        )
        ints, settings = self._tables(large)
        settings[T_LANE], settings[T_TEAM_SIZE], settings[T_TEAMS] = len(lane), len(worker), teams
        settings[T_TEAM_AT] = warps * self.lanes * len(lane)
        self.words = device.zeros(words, np.uint64, self.stream)
        device.put_into(self.words, packed.words, self.stream)
        put = functools.partial(device.put, stream=self.stream)
        self.ints = put(ints)
        self.arguments = (
            put(packed.code), self.words, put(all_fields), self.ints, device.zeros(16, np.int64, self.stream),
            put(np.arange(self.n, dtype=np.int32)), packed.component_at, put(self.facts_at + packed.fact_off[:-1]),
            put(settings),
        )  # fmt: skip

    def _bins(self) -> tuple[NDArray[np.bool_], Sizes, Sizes]:
        """Which components a warp solves; sizes of the others, and of all."""
        options = self.options
        sizes = component_sizes(self.problem)
        large = (sizes["width"] > options.small_width) | (sizes["heap"] > options.small_heap)
        large |= (sizes["facts"] > options.small_work) | (sizes["sigma"] > 4 * options.small_heap)
        large |= sizes["rows"] + 2 * sizes["reads"] > 4 * options.small_heap
        large |= np.maximum(sizes["exports"], sizes["images"]) > 4 * options.small_heap

        def most(which: NDArray[np.bool_]) -> Sizes:
            return Sizes(**{name: int(sizes[name][which].max(initial=0)) for name in Sizes._fields})

        return large, most(~large), most(np.ones(len(large), bool))

    def _tables(self, large: NDArray[np.bool_]) -> tuple[NDArray[np.int32], I8]:
        """The `ints` of `gpu.cuda.resident`, with all that is ready in the queues; and settings."""
        n, edges = self.n, self.packed.edges
        waits = np.bincount(edges[:, 0], minlength=n)
        order = np.argsort(edges[:, 1], kind="stable")
        off = np.searchsorted(edges[order, 1], np.arange(n + 1))
        tables = (waits, np.full(2 * n, -1), off, edges[order, 0], large)
        at = I_SIZE_ALL + np.concatenate(([0], np.cumsum([len(table) for table in tables])))
        ints = np.concatenate([np.zeros(I_SIZE_ALL, np.int32), *tables]).astype(np.int32)
        settings = np.zeros(T_SETTINGS, np.int64)
        settings[[T_WAITS, T_QUEUES, T_CALLER_OFF, T_CALLERS, T_LARGE]] = at[:5]
        # Most work first: it is the long ones that others wait for.
        ready = np.flatnonzero(waits == 0)
        ready = ready[np.argsort(-self.packed.cost[ready], kind="stable")]
        for k in (0, 1):
            mine = ready[large[ready] == bool(k)]
            ints[at[1] + k * n : at[1] + k * n + len(mine)] = mine
            ints[I_TAIL + k] = len(mine)
        options = self.options
        settings[[T_TOTAL, T_SLICES, T_BUDGET, T_WORTH]] = n, options.slices, options.budget, options.worth
        return ints, settings

    def start(self) -> None:
        """Starts the kernel, or starts it again where it was; does not wait."""
        self.device.launch(self.entries["solve_ready"], self.warps, self.lanes, *self.arguments, stream=self.stream)

    def finish(self, check: Check) -> None:
        """Waits for all components."""
        check()
        while int(self.device.get_some(self.ints, I_DONE, 1, self.stream)[0]) < self.n:
            check()
            self.start()

    def results(self, check: Check) -> list[Solution]:
        """Waits for all components, then the facts of each problem."""
        self.finish(check)
        packed = self.packed
        summaries = self.device.get_some(self.words, packed.summary_at, self.facts_at - packed.summary_at, self.stream)
        facts = self._facts()
        return batch.split(Solution(self.problem, facts, packed.fact_off, summaries, packed.summary_off), self.problems)

    def _facts(self) -> NDArray[np.uint64]:
        """Facts, compacted where that is less to copy."""
        n = int(self.packed.fact_off[-1])
        pieces = -(-n // compact.PIECE)
        if not pieces:
            return np.zeros(0, np.uint64)
        device, stream = self.device, self.stream
        counts = device.zeros(pieces, np.int32, stream)
        blocks = min(pieces, device.processors() * 16)
        threads = min(self.lanes * 8, 256)
        device.launch(self.entries["count_words"], blocks, threads, self.words, self.facts_at, n, counts, stream=stream)
        count = device.get(counts, stream)
        total = int(count.sum())
        if total * 12 >= n * 8:
            return device.get_some(self.words, self.facts_at, n, stream)
        starts = device.put((np.cumsum(count) - count).astype(np.int32), stream)
        place, found = device.zeros(max(total, 1), np.int32, stream), device.zeros(max(total, 1), np.uint64, stream)
        device.launch(
            self.entries["take_words"], blocks, threads, self.words, self.facts_at, n, starts, place, found,
            stream=stream,
        )  # fmt: skip
        facts = np.zeros(n, np.uint64)
        facts[device.get(place, stream)[:total]] = device.get(found, stream)[:total]
        return facts


def _places(worker: I8, places: dict[int, int], at: int, words: int, count: int) -> I8:
    """Fields of workers of a kind, one after the other; the scratch memory of each is its own."""
    all_fields = np.repeat(worker[None, :], count, axis=0)
    for field in places:
        all_fields[:, field] += at + words * np.arange(count)
    return all_fields.ravel()
