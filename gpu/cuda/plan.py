"""A plan for a problem that is larger than the device's memory: parts along the call graph, and what is where when.

Parts are copied in one after the other, each as soon as there is room for it beside those that are still there, so
that copies run while kernels do. A component runs when all that it calls is solved, in whatever part that is
(dependency counters, as in the production kernel); components are never cut. A part leaves when all of it is solved
and copied out. Summaries stay as long as there is room and somebody will read them; what has to go is what is read
latest (Belady's rule, which is possible as the order is known). Results come to the host in any case, so that a summary
that goes need not be copied out again.

A step names the steps that must have left before it comes, so that memory is enough however long anything takes. All
seconds here are those of a model (`Costs`), not measurements.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gpu.cuda.load import Load
from gpu.errors import EngineUnavailable

Where = Literal["device", "host"]
Parts = list[tuple[Where, tuple[int, ...]]]
UNLIMITED = 1 << 62
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Assumptions about a machine, with an H200 behind PCIe 5 x16 in mind; none of them was measured."""

    in_bytes_per_s: float = 50e9
    """Host to device, pinned memory; the bus has 63 GB/s per direction by its specification."""
    out_bytes_per_s: float = 50e9
    """Device to host, at the same time as the other direction."""
    copy_s: float = 8e-6
    """Until a copy begins."""
    launch_s: float = 6e-6
    """Until a kernel begins."""
    workers: int = 132 * 8
    """Components that are solved at the same time: warps of 132 multiprocessors."""
    work_s: float = 1e-6
    """Of a warp for a unit of work: as fast as a CPU core. With 6.6e-6 all warps together would be as fast as 160
    cores; the faster they are the more copies matter, so that this is the harder case for a planner."""
    host_work_s: float = 1e-6
    """Of a CPU core for a unit of work."""
    host_workers: int = 1
    """CPU cores that solve components which the device cannot hold."""
    fact_share: float = 1.0
    """Part of the bytes of facts that is copied out; below 1 where they are compacted first."""


@dataclass(frozen=True, slots=True)
class Step:
    """One part. `drop` goes, its records and `copy_in` come, it is solved, its facts and `copy_out` are copied out, and
    all but summaries goes. On the host: the CPU engine solves it when what it calls has been copied out."""

    where: Where
    components: tuple[int, ...]
    """Solved here, ascending (bottom-up)."""
    again: tuple[int, ...] = ()
    """Solved once more, because that is cheaper than to copy their summaries; their facts are not copied out."""
    drop: tuple[int, ...] = ()
    """Summaries that leave the device; the host has them."""
    copy_in: tuple[int, ...] = ()
    """Summaries that come from the host."""
    keep: tuple[int, ...] = ()
    """Summaries that are on the device already, and stay there during the step."""
    copy_out: tuple[int, ...] = ()
    """Summaries that are made here; they stay on the device too, until a later step drops them."""
    after: tuple[int, ...] = ()
    """Steps that must have left the device before `drop` and the copy; others before may still run."""
    bytes_in: int = 0
    bytes_out: int = 0
    bytes_held: int = 0
    """On the device from this step's copy on, with what steps hold that need not have left."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order, and how long they take under the model."""

    steps: tuple[Step, ...]
    budget: int
    """Bytes of device memory."""
    seconds: float


def plan(load: Load, budget: int, costs: Costs | None = None, *, host: bool = False) -> Plan:
    """The best plan found: several orders of components, cut to several sizes, each evaluated under the model.

    `host`: components that the device cannot hold are left to the CPU engine (`Step.where`).

    Raises:
        EngineUnavailable: a component alone needs more than `budget` bytes, and `host` is not wanted.
    """
    costs = costs or Costs()
    too_large = [c for c in range(len(load.records)) if _alone(load, c) > budget]
    if too_large and not host:
        c = max(too_large, key=lambda c: _alone(load, c))
        methods = load.makes(c)
        which = f"method {methods[0]}" if len(methods) == 1 else f"methods {methods[0]} to {methods[-1]}, recursive,"
        raise EngineUnavailable(
            f"not enough device memory: {which} alone needs {_alone(load, c):,} bytes "
            f"({int(load.facts[c]):,} of facts), the budget is {budget:,}; {len(too_large)} of "
            f"{len(load.records)} components are too large"
        )
    return _best(load, budget, costs, too_large)


def unlimited_s(load: Load, costs: Costs | None = None, on_host: Collection[int] = ()) -> float:
    """Seconds of the best plan found for a device that holds everything; `on_host`: components left to the CPU."""
    return _best(load, UNLIMITED, costs or Costs(), on_host).seconds


def lru_s(load: Load, budget: int, costs: Costs | None = None, *, filled: bool = True, host: bool = False) -> float:
    """Seconds of the naive way: components in file order, copies on demand, least recently used summaries go first.

    Nothing overlaps. `filled`: a step takes as many components as fit; else each is a step of its own.

    Raises:
        EngineUnavailable: as `plan`.
    """
    costs = costs or Costs()
    too_large = {c for c in range(len(load.records)) if _alone(load, c) > budget}
    if too_large and not host:
        raise EngineUnavailable(
            f"not enough device memory: {len(too_large)} components need more than {budget:,} bytes"
        )
    seconds, used = 0.0, dict[int, int]()
    groups = _cut(load, range(len(load.records)), budget if filled else 0, too_large)
    for now, (where, components) in enumerate(groups):
        if where == "host":
            seconds += _host_s(load, components, costs)
            continue
        wanted = _reads(load, components)
        missing = [s for s in wanted if s not in used]
        own = [s for c in components for s in load.makes(c)]
        room = budget - _hold(load, components) - sum(int(load.summary[s]) for s in (*own, *missing, *used))
        for s in sorted(used, key=lambda s: used[s]):
            if room >= 0:
                break
            if s not in wanted:
                del used[s]
                room += int(load.summary[s])
        used |= dict.fromkeys((*wanted, *own), now)
        into = int(load.records[list(components)].sum()) + sum(int(load.summary[s]) for s in missing)
        out = _out(load, components, costs)
        seconds += 2 * costs.copy_s + into / costs.in_bytes_per_s + out / costs.out_bytes_per_s
        seconds += costs.launch_s + _compute_s(load, components, costs)
    return seconds


# -- sizes and times of a part -------------------------------------------------------------------------------------


def _hold(load: Load, components: Iterable[int]) -> int:
    """Bytes that a part needs from its copy in to its copy out, without summaries."""
    return sum([load.hold_bytes[c] for c in components])


def _alone(load: Load, component: int) -> int:
    """Bytes without which a component cannot be solved."""
    summaries = (*load.reads[component], *load.makes(component))
    held: int = sum([load.summary_bytes[s] for s in summaries])
    return held + _hold(load, [component])


def _reads(load: Load, components: Sequence[int]) -> set[int]:
    """Summaries that a part applies and does not make."""
    found = set().union(*(load.reads[c] for c in components))
    return found.difference(s for c in components for s in load.makes(c))


def _out(load: Load, components: Sequence[int], costs: Costs) -> int:
    """Bytes of the results of a part."""
    made = sum(int(load.result[s]) for c in components for s in load.makes(c))
    return made + math.ceil(costs.fact_share * int(load.facts[list(components)].sum()))


def _compute_s(load: Load, components: Sequence[int], costs: Costs) -> float:
    """Seconds of a part on the device: components that are ready go to free warps, most work above them first."""
    return costs.work_s * _schedule(load, components, costs.workers)[0]


def _host_s(load: Load, components: Sequence[int], costs: Costs) -> float:
    return costs.host_work_s * _schedule(load, components, costs.host_workers)[0]


def _schedule(load: Load, components: Iterable[int], workers: int) -> tuple[float, dict[int, float]]:
    """Units of time until all are solved, and when each begins; list scheduling by the longest way up."""
    order = sorted(components)
    inside = set(order)
    callees = {c: inside.intersection(load.callees[c]) for c in order}
    if len(order) <= workers:  # nobody waits for a worker
        begins: dict[int, float] = {}
        end: dict[int, float] = {}
        for c in order:
            begins[c] = max((end[d] for d in callees[c]), default=0.0)
            end[c] = begins[c] + float(load.work[c])
        return max(end.values(), default=0.0), begins
    callers: dict[int, list[int]] = {c: [] for c in order}
    for c, below in callees.items():
        for d in below:
            callers[d].append(c)
    way: dict[int, float] = {}
    for c in reversed(order):
        way[c] = float(load.work[c]) + max((way[d] for d in callers[c]), default=0.0)
    waits = {c: len(below) for c, below in callees.items()}
    ready = [(-way[c], c) for c in order if not waits[c]]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    begins, now = {}, 0.0
    while ready or running:
        while ready and len(running) < workers:
            c = heapq.heappop(ready)[1]
            begins[c] = now
            heapq.heappush(running, (now + float(load.work[c]), c))
        now, c = heapq.heappop(running)
        for d in callers[c]:
            waits[d] -= 1
            if not waits[d]:
                heapq.heappush(ready, (-way[d], d))
    return now, begins


# -- orders and cuts -------------------------------------------------------------------------------------------------


def _orders(load: Load, workers: int) -> Iterator[list[int]]:
    """Orders in which callees come first: of the problem; by the time at which all of it would run; depth first;
    by the longest way up."""
    n = len(load.records)
    yield list(range(n))
    begins = _schedule(load, range(n), workers)[1]
    # A component without work may begin together with its callee, which stands before it in the problem.
    yield sorted(range(n), key=lambda c: (begins[c], c))
    seen, found = [False] * n, list[int]()
    for root in reversed(range(n)):  # callers stand last
        stack = [(root, False)]
        while stack:
            c, done = stack.pop()
            if done:
                found.append(c)
            elif not seen[c]:
                seen[c] = True
                stack.append((c, True))
                below = set(load.callees[c])
                stack += [(d, False) for d in sorted(below) if not seen[d]]
    yield found
    way = [0.0] * n
    for c in reversed(range(n)):
        way[c] += float(load.work[c])
        for d in load.callees[c]:
            way[d] = max(way[d], way[c])
    yield sorted(range(n), key=lambda c: (-way[c], c))


def _cut(load: Load, order: Iterable[int], room: int, on_host: Iterable[int] = ()) -> Parts:
    """Parts of at most `room` bytes with all summaries that they read and make, or of one component; those of the host
    stand where they are ready."""
    on_host = set(on_host)
    parts: Parts = []
    part: list[int] = []
    summaries: set[int] = set()
    taken = 0

    def close() -> None:
        nonlocal taken
        if part:
            parts.append(("device", tuple(sorted(part))))
        part.clear()
        summaries.clear()
        taken = 0

    for c in order:
        if c in on_host:
            if not set(load.callees[c]).isdisjoint(part):
                close()
            parts.append(("host", (c,)))
            continue
        wanted = {*load.reads[c], *load.makes(c)}
        more = load.hold_bytes[c] + sum([load.summary_bytes[s] for s in wanted - summaries])
        if part and taken + more > room:
            close()
            more = _alone(load, c)
        part.append(c)
        summaries |= wanted
        taken += more
    close()
    return parts


def _best(load: Load, budget: int, costs: Costs, on_host: Collection[int]) -> Plan:
    """The plan that takes least, of all orders and cuts that are tried."""
    everything = _hold(load, range(len(load.records))) + int(load.summary.sum())
    shares = (1, 2, 3, 4, 8, 16, 32) if budget < everything else (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)
    rooms = [min(budget, everything) // k for k in shares]
    best = Plan((), budget, math.inf if len(load.records) else 0.0)
    seen = set()
    for order in _orders(load, costs.workers):
        for room in rooms:
            parts = _cut(load, order, room, on_host)
            if tuple(parts) not in seen:
                seen.add(tuple(parts))
                best = min(best, _place(load, parts, budget, costs), key=lambda found: found.seconds)
    return best


# -- what is where when ----------------------------------------------------------------------------------------------


class _Memory:
    """Device memory while steps are placed one after the other."""

    def __init__(self, load: Load, budget: int, parts: Parts) -> None:
        self.load, self.budget = load, budget
        self.here: set[int] = set()
        """Summaries on the device."""
        self.holds: dict[int, int] = {}
        """Bytes of each step that need not have left, without summaries."""
        self.pins: dict[int, set[int]] = {}
        """Summaries that it reads or makes."""
        self.here_bytes = 0
        self.dead: set[int] = set()
        """Summaries that no later part reads."""
        self.uses: dict[int, list[int]] = {}
        """Per summary, parts that read it, latest first."""
        for i in reversed(range(len(parts))):
            if parts[i][0] == "device":
                for s in _reads(load, parts[i][1]):
                    self.uses.setdefault(s, []).append(i)

    def next_use(self, s: int, after: int) -> float:
        """Part that reads a summary next, after one; infinite if none does. Parts are asked for in order."""
        uses = self.uses.get(s, [])
        while uses and uses[-1] <= after:
            uses.pop()
        return uses[-1] if uses else math.inf

    def bytes(self, summaries: Iterable[int]) -> int:
        """Of some summaries."""
        return sum([self.load.summary_bytes[s] for s in summaries])

    def leave(self, step: int) -> None:
        """A step has left: only its summaries are there still."""
        del self.holds[step], self.pins[step]

    def admit(self, i: int, hold: int, needed: set[int], made: set[int]) -> set[int] | None:
        """Summaries that go, so that part i fits; None: it does not. What nobody reads again goes in any case."""
        gone = (self.dead & self.here).difference(needed, made, *self.pins.values())
        come = (needed | made) - self.here
        room = self.budget - hold - sum(self.holds.values()) - self.here_bytes - self.bytes(come) + self.bytes(gone)
        if room < 0:
            movable = self.here.difference(gone, needed, made, *self.pins.values())
            for s in sorted(movable, key=lambda s: (-self.next_use(s, i), s)):
                gone.add(s)
                room += self.load.summary_bytes[s]
                if room >= 0:
                    break
        return gone if room >= 0 else None

    def place(self, i: int, hold: int, gone: set[int], needed: set[int], made: set[int]) -> None:
        """Part i is there; `gone` as `admit` said."""
        come = (needed | made) - self.here
        self.here_bytes += self.bytes(come) - self.bytes(gone)
        self.here -= gone
        self.here |= come
        self.holds[i], self.pins[i] = hold, needed | made
        self.dead.update(s for s in needed | made if self.next_use(s, i) == math.inf)


def _place(load: Load, parts: Parts, budget: int, costs: Costs) -> Plan:
    """Decides for each part what it waits for, and what goes, comes, stays or is made again."""
    memory, clock = _Memory(load, budget, parts), Clock(load, costs)
    steps: list[Step] = []
    for i, (where, components) in enumerate(parts):
        own = {s for c in components for s in load.makes(c)}
        if where == "host":
            steps.append(Step("host", components, copy_out=tuple(sorted(own))))
            clock.run(steps[-1])
            continue
        reads = _reads(load, components)
        after = [j for j in memory.holds if clock.left[j] <= clock.in_free]
        for j in after:
            memory.leave(j)
        again = _again(load, memory.here, reads, costs)
        while True:
            made = own.union(*(load.makes(c) for c in again))
            needed = reads.union(*(load.reads[c] for c in again)) - made
            hold = _hold(load, (*components, *again))
            gone = memory.admit(i, hold, needed, made)
            if gone is not None:
                break
            if memory.holds:
                after.append(min(memory.holds, key=lambda j: clock.left[j]))
                memory.leave(after[-1])
            else:
                assert again, "a part is larger than the device's memory"
                again = ()
        keep, come = memory.here - gone, needed - memory.here
        memory.place(i, hold, gone, needed, made)
        steps.append(
            Step(
                "device",
                components,
                again,
                drop=_sorted(gone),
                copy_in=_sorted(come),
                keep=_sorted(keep),
                copy_out=_sorted(own),
                after=_sorted(after),
                bytes_in=_records(load, (*components, *again)) + memory.bytes(come),
                bytes_out=_out(load, components, costs),
                bytes_held=sum(memory.holds.values()) + memory.here_bytes,
            )
        )
        clock.run(steps[-1])
    return Plan(tuple(steps), budget, clock.end)


def _sorted(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _records(load: Load, components: Sequence[int]) -> int:
    """Bytes copied in for a part, without what it reads: records, and those of the summaries that it makes."""
    made = [s for c in components for s in load.makes(c)]
    return int(load.records[list(components)].sum() + load.summary[made].sum() - load.result[made].sum())


def _again(load: Load, here: set[int], reads: set[int], costs: Costs) -> tuple[int, ...]:
    """Components that had better be solved again than have their summaries copied; all that they read is there."""
    found = []
    missing = reads - here
    for c in sorted({int(load.maker[s]) for s in missing} - {-1}):
        made = set(load.makes(c))
        copied = sum(int(load.summary[s]) for s in made & missing) / costs.in_bytes_per_s
        solved = _records(load, [c]) / costs.in_bytes_per_s + float(load.work[c]) * costs.work_s
        if solved < copied and not made & here and here.issuperset(load.reads[c]):
            found.append(c)
    return tuple(found)


class Clock:
    """When each step comes, runs and leaves: copies in, warps, copies out and the host's cores work side by side.

    Copies in are made in the order of the steps. A component begins when its part is there, all that it calls is
    solved, and a warp is free; parts that came earlier have their warps first.
    """

    def __init__(self, load: Load, costs: Costs) -> None:
        self.load, self.costs = load, costs
        self.in_free = 0.0
        self.left: dict[int, float] = {}
        """When each step had left the device, or was done on the host."""
        self.solved: dict[int, float] = {}
        """When each component was solved."""
        self.known: dict[int, float] = {}
        """When each summary was on the host."""
        self.warps, self.cores = [0.0] * costs.workers, [0.0] * costs.host_workers
        self.outs: list[tuple[float, float]] = []
        """Copies out, (begin, end), in order of time."""

    @property
    def end(self) -> float:
        """When everything that ran has left."""
        return max(self.left.values(), default=0.0)

    def run(self, step: Step) -> None:
        """The next step."""
        load, costs, number = self.load, self.costs, len(self.left)
        if step.where == "host":
            for c in step.components:
                ready = max((self.known.get(s, 0.0) for s in load.reads[c]), default=0.0)
                self.solved[c] = self._work(self.cores, ready, costs.host_work_s * float(load.work[c]))
            self.left[number] = max(self.solved[c] for c in step.components)
        else:
            begin = max([self.in_free, *(self.left[j] for j in step.after)])
            begin = max([begin, *(self.known.get(s, 0.0) for s in step.copy_in)])
            self.in_free = begin + costs.copy_s + step.bytes_in / costs.in_bytes_per_s
            here = self.in_free + costs.launch_s
            ends = [self._device(c, here) for c in sorted((*step.components, *step.again))]
            self.left[number] = self._out(max(ends), costs.copy_s + step.bytes_out / costs.out_bytes_per_s)
        self.known |= dict.fromkeys(step.copy_out, self.left[number])

    def _device(self, c: int, here: float) -> float:
        ready = max([here, *[self.solved[d] for d in self.load.callees[c]]])
        self.solved[c] = self._work(self.warps, ready, self.costs.work_s * float(self.load.work[c]))
        return self.solved[c]

    @staticmethod
    def _work(workers: list[float], ready: float, seconds: float) -> float:
        """Gives work to the worker (ascending: when each is free) that waits least for it; when it is done."""
        at = max(bisect.bisect_right(workers, ready) - 1, 0)
        end = max(workers.pop(at), ready) + seconds
        bisect.insort(workers, end)
        return end

    def _out(self, ready: float, seconds: float) -> float:
        """The end of a copy out that takes the first gap."""
        begin = ready
        for i, (first, last) in enumerate(self.outs):
            if begin + seconds <= first:
                self.outs.insert(i, (begin, begin + seconds))
                return begin + seconds
            begin = max(begin, last)
        self.outs.append((begin, begin + seconds))
        return begin + seconds
