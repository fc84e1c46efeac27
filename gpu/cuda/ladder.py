"""Drives a rung of the ladder: layers of methods bottom-up, a launch each; a component again until no summary grows."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu import cpu, fixpoint, transfer
from gpu.cuda import grp, mat, mer, plain, rounds
from gpu.cuda.build import Built, Platform, build
from gpu.cuda.device import Device, simulated
from gpu.cuda.nodes import PerNode, per_node
from gpu.cuda.rounds import (
    AT_AGAIN,
    AT_BUCKETS,
    AT_CHAINS,
    AT_FACTS,
    AT_GROWN,
    AT_MARKS,
    AT_READERS,
    AT_READERS_END,
    AT_SIZE,
    C_LISTED,
    C_LONGEST,
    C_OVERFLOW,
    C_POOL,
    C_POSTPONED,
    C_ROUNDS,
    C_SIZE_ALL,
    C_VISITS,
    C_WARP_KINDS,
    C_WARPS,
    SET_COUNT,
    SET_LIST_SIZE,
    SET_LISTS,
    SET_SIZE,
    SET_WARP,
)
from gpu.errors import EngineUnavailable
from gpu.pack import M_CALLER_AT, M_CALLER_END, M_HEAP, M_SIZE, Packed, component_layer, fact_offsets, pack
from gpu.problem import APPLY, CONSTANT, GENERATE, HEAP, STORE, Problem
from gpu.solution import Solution

Rung = Literal["plain", "mat", "grp", "mer"]
RUNGS: dict[str, tuple[ModuleType, ...]] = {
    "plain": (plain,),
    "mat": (mat,),
    "grp": (mat, grp),
    "mer": (mat, grp, mer),
}
"""Modules of each rung on top of `gpu.cuda.rounds`."""


class Counters(NamedTuple):
    """What the paper argues with."""

    visits: int
    """Evaluations of a node."""
    rounds: int
    listed: int
    """Lengths of all worklists together."""
    longest: int
    """Length of the longest worklist."""
    warps: int
    """Warps that had something to do, in all rounds."""
    warp_kinds: int
    """Access kinds in each of them, together: divided by `warps`, how often a warp goes through its program."""
    postponed: int
    """Nodes on worklists that were not taken, in all rounds."""
    fact_bytes: int
    """Of device memory for facts at nodes: matrices, or chains and chunks that were taken."""
    left_out: int
    """Methods whose matrices do not fit: the CPU solved them."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a rung runs."""

    platform: Platform = "device"
    threads: int = 256
    """Of a block."""
    warp: int = 32
    counting: bool = False
    method_bytes: int = 1 << 30
    """A method whose matrices take more is left out."""
    pool_bytes: int = 1 << 26
    """Of facts of `plain` at first; doubled where it does not do."""


@functools.cache
def entry(rung: str, platform: Platform) -> tuple[Built, Callable[..., Any]]:
    """The kernel of a rung."""
    built = build(rung, platform, (transfer, fixpoint, rounds, *RUNGS[rung]))
    return built, built.entry("solve_methods")


def default_options() -> Options:
    """For the device, or for its simulator, where a thread is slow."""
    return Options("simulator", threads=2, warp=2) if simulated() else Options()


def solve(
    problem: Problem, rung: Rung, check: Callable[[], None] = lambda: None, options: Options | None = None
) -> Solution:
    """Solves a problem; facts are those of `gpu.reference`, bit for bit.

    Raises:
        EngineUnavailable: no device, or not enough memory.
        UnreadableInput: the problem's indices do not fit together.
    """
    options = options or default_options()
    return Ladder(problem, rung, options).run(check)[0]


class Ladder:
    """A problem on the device, ready for a rung to solve it."""

    def __init__(self, problem: Problem, rung: Rung, options: Options) -> None:
        self.rung, self.options = rung, options
        self.device = Device(options.platform)
        self.seconds = 0.0
        """Of the launches of the last run."""
        self.nodes: PerNode = per_node(problem)
        self.packed: Packed = pack(self.nodes.problem)
        p = self.nodes.problem
        self.width, self.fact_off, self.summary_off = fact_offsets(p)
        self.n_nodes = np.diff(p.block_off).astype(np.int64)
        scc = np.repeat(np.arange(len(p.scc_off) - 1), np.diff(p.scc_off))
        over = np.diff(self.fact_off) * 8 > options.method_bytes
        self.out = np.zeros(len(p.scc_off) - 1, bool)
        self.out[scc[over]] = True
        layer = component_layer(self.packed)
        order = np.argsort(layer, kind="stable")
        self.layers = np.split(order, np.flatnonzero(np.diff(layer[order])) + 1)
        self.heap = self.packed.code[: p.n_methods * M_SIZE].reshape(-1, M_SIZE)[:, M_HEAP].astype(np.int64)

    def run(self, check: Callable[[], None] = lambda: None) -> tuple[Solution, Counters]:
        """Solves it once more from the beginning; with `Options.counting`, counters are filled."""
        pool = self.options.pool_bytes // 4
        while True:
            state = _State(self, pool)
            self.device.wait()
            start = time.perf_counter()
            if state.solve(check):
                self.seconds = time.perf_counter() - start
                return state.solution(), state.counters()
            if pool * 8 > min(self.device.free(), 1 << 33):
                raise EngineUnavailable(f"not enough memory: sets of facts take more than {pool >> 18} MB")
            pool *= 2


class _State:
    """Device memory of one run."""

    def __init__(self, ladder: Ladder, pool: int) -> None:
        self.ladder = ladder
        device, packed, options = ladder.device, ladder.packed, ladder.options
        p = ladder.nodes.problem
        self.entry = entry(ladder.rung, options.platform)[1]
        inside = np.repeat(~ladder.out, np.diff(p.scc_off))
        sets = ladder.rung == "plain"
        rows = np.diff(p.row_off).astype(np.int64) * ladder.width
        held = np.where(inside, rows if sets else np.diff(ladder.fact_off), 0)
        self.facts_at = packed.summary_at + int(ladder.summary_off[-1])
        fact_at = np.concatenate(([0], np.cumsum(held))) + self.facts_at
        scratch_at = int(fact_at[-1])
        # As many blocks as there is room for; each thread has scratch memory for the largest method.
        sizes = packed.sizes._replace(
            rows=0, reads=0, component=0, news=0, block_bits=0, facts=packed.sizes.heap if sets else 0
        )
        fields, size = cpu.scratch(sizes, 0, True)
        n_threads = options.threads if options.platform != "sequential" else 1
        room = max((device.free() - scratch_at * 8) // 4, 1)
        most = int(min(max(room // (size * 8 * n_threads), 1), device.processors() * 8, max(p.n_methods, 1)))
        self.blocks, self.threads = most, n_threads
        self.words = device.zeros(scratch_at + size * most * n_threads, np.uint64)
        device.put_into(self.words, packed.words)
        first = cpu.worker_fields(sizes, fields)
        all_s = np.repeat(first[None, :], most * n_threads, axis=0)
        for field in fields:
            all_s[:, field] += scratch_at + size * np.arange(most * n_threads)
        self.all_s = device.put(all_s)
        # Marks, lists, readers, flags.
        n = p.n_methods
        readers, reader_off = _readers(p)
        mark_at = np.concatenate(([0], np.cumsum(2 * ladder.n_nodes)))
        readers_at = int(mark_at[-1])
        grown_at = readers_at + len(readers)
        lists_at = grown_at + n
        list_size = int(ladder.n_nodes.max(initial=0)) + rounds.N_KINDS * options.warp
        ints = np.zeros(lists_at + most * 4 * list_size, np.int32)
        ints[readers_at:grown_at] = readers
        self.ints, self.grown_at = device.put(ints), grown_at
        at = np.zeros((n, AT_SIZE), np.int64)
        at[:, AT_FACTS], at[:, AT_MARKS], at[:, AT_GROWN] = fact_at[:-1], mark_at[:-1], grown_at + np.arange(n)
        at[:, AT_READERS], at[:, AT_READERS_END] = readers_at + reader_off[:-1], readers_at + reader_off[1:]
        at[:, AT_BUCKETS] = np.clip(ladder.heap, 1, plain.MOST_BUCKETS)
        chains = np.concatenate(([0], np.cumsum(np.where(inside, ladder.n_nodes, 0) * at[:, AT_BUCKETS])))
        at[:, AT_CHAINS] = chains[:-1]
        self.chain_ints = int(chains[-1]) if sets else 0
        self.at_host, self.at = at, device.put(at)
        first_chunk = -(-(self.chain_ints + 1) // plain.CHUNK) * plain.CHUNK  # address 0 means none
        self.pool = device.zeros(max(pool, first_chunk + plain.CHUNK) if sets else 1, np.int32)
        counters = np.zeros(C_SIZE_ALL, np.int64)
        counters[C_POOL] = first_chunk
        self.counted = device.put(counters)
        settings = np.zeros(SET_SIZE, np.int64)
        settings[SET_WARP], settings[SET_LISTS], settings[SET_LIST_SIZE] = options.warp, lists_at, list_size
        settings[SET_COUNT] = options.counting
        self.settings = device.put(settings)
        self.boxes = device.zeros(rounds.BOX_SIZE, np.int64)
        self.code = device.put(packed.code)
        self.host: _Host | None = None

    def solve(self, check: Callable[[], None]) -> bool:
        """Runs all layers; False where the pool ran out."""
        ladder = self.ladder
        scc_off = ladder.nodes.problem.scc_off
        for layer in ladder.layers:
            check()
            for c in layer[ladder.out[layer]]:
                self.on_host(int(c), check)
            inside = layer[~ladder.out[layer]]
            methods = np.concatenate([np.arange(scc_off[c], scc_off[c + 1]) for c in inside] or [np.zeros(0, int)])
            loops = [c for c in inside if scc_off[c + 1] - scc_off[c] > 1 or self.calls_itself(int(scc_off[c]))]
            self.launch(methods)
            while loops:
                check()
                grown = ladder.device.get(self.ints)[self.grown_at : self.grown_at + len(self.at_host)]
                loops = [c for c in loops if grown[scc_off[c] : scc_off[c + 1]].any()]
                if not loops:
                    break
                methods = np.concatenate([np.arange(scc_off[c], scc_off[c + 1]) for c in loops])
                ints = ladder.device.get(self.ints)
                ints[self.grown_at + methods] = 0
                self.ints = ladder.device.put(ints)
                self.at_host[methods, AT_AGAIN] = 1
                self.at = ladder.device.put(self.at_host)
                self.launch(methods)
            if ladder.rung == "plain" and ladder.device.get(self.counted)[C_OVERFLOW]:
                return False
        ladder.device.wait()
        return True

    def calls_itself(self, m: int) -> bool:
        code, base = self.ladder.packed.code, m * M_SIZE
        return bool(code[base + M_CALLER_AT] < code[base + M_CALLER_END])

    def launch(self, methods: NDArray[np.int64]) -> None:
        if len(methods):
            self.ladder.device.launch(
                self.entry, min(self.blocks, len(methods)), self.threads, self.code, self.words, self.all_s,
                self.ints, self.pool, self.at, self.ladder.device.put(methods.astype(np.int32)), self.boxes,
                self.counted, self.settings,
            )  # fmt: skip

    def on_host(self, component: int, check: Callable[[], None]) -> None:
        """A component whose matrices do not fit."""
        ladder = self.ladder
        self.host = self.host or _Host(ladder.nodes.origin)
        first, last = ladder.packed.summary_at, self.facts_at
        words = ladder.device.get(self.words)
        words[first:last] |= self.host.solve(component, words[first:last], check)
        self.words = ladder.device.put(words)

    def solution(self) -> Solution:
        """Facts and summaries of the problem as it came."""
        ladder = self.ladder
        packed, p = ladder.packed, ladder.nodes.problem
        words = ladder.device.get(self.words)
        summaries = words[packed.summary_at : self.facts_at].copy()
        facts = np.zeros(int(ladder.fact_off[-1]), np.uint64)
        inside = np.repeat(~ladder.out, np.diff(p.scc_off))
        if ladder.rung == "plain":
            self.decode(facts, words, inside)
        else:
            facts[np.repeat(inside, np.diff(ladder.fact_off))] = words[self.facts_at :][
                : int(np.diff(ladder.fact_off)[inside].sum())
            ]
        found = ladder.nodes.solution(facts, summaries)
        if self.host is not None:
            self.host.fill(found, np.flatnonzero(~inside))
        return found

    def decode(self, facts: NDArray[np.uint64], words: NDArray[np.uint64], inside: NDArray[np.bool_]) -> None:
        """Sets of all nodes as matrices; rows that a method has one of are matrices already."""
        ladder = self.ladder
        p, pool = ladder.nodes.problem, ladder.device.get(self.pool)
        rows = np.diff(p.row_off).astype(np.int64) * ladder.width
        for m in np.flatnonzero(inside):
            at, size = int(self.at_host[m, AT_FACTS]), int(rows[m])
            facts[ladder.fact_off[m] : ladder.fact_off[m] + size] = words[at : at + size]
        # One entry per chain: where the facts of its node go, and its first chunk.
        buckets = self.at_host[inside, AT_BUCKETS]
        chains = ladder.n_nodes[inside] * buckets
        number = np.arange(int(chains.sum())) - np.repeat(np.cumsum(chains) - chains, chains)
        base = np.repeat((ladder.fact_off[:-1] + rows)[inside], chains)
        base = base + number // np.repeat(buckets, chains) * np.repeat((ladder.heap * ladder.width)[inside], chains)
        chunk = pool[np.repeat(self.at_host[inside, AT_CHAINS], chains) + number].astype(np.int64)
        while (use := chunk > 0).any():
            base, chunk = base[use], chunk[use]
            for k in range(1, plain.CHUNK):
                fact = pool[chunk + k].astype(np.int64) - 1
                real = fact >= 0
                np.bitwise_or.at(
                    facts, base[real] + (fact[real] >> 6), np.uint64(1) << (fact[real] & 63).astype(np.uint64)
                )
            chunk = pool[chunk].astype(np.int64)

    def counters(self) -> Counters:
        """What was counted, and the bytes of facts."""
        ladder = self.ladder
        c = ladder.device.get(self.counted).tolist()
        p = ladder.nodes.problem
        inside = np.repeat(~ladder.out, np.diff(p.scc_off))
        rows = np.diff(p.row_off).astype(np.int64) * ladder.width
        matrices = int((np.diff(ladder.fact_off) - rows)[inside].sum()) * 8
        taken = (c[C_POOL]) * 4
        return Counters(
            c[C_VISITS], c[C_ROUNDS], c[C_LISTED], c[C_LONGEST], c[C_WARPS], c[C_WARP_KINDS], c[C_POSTPONED],
            taken if ladder.rung == "plain" else matrices, int(np.count_nonzero(~inside)),
        )  # fmt: skip


class _Host:
    """Components that are left out, solved by the CPU engine's kernel."""

    def __init__(self, problem: Problem) -> None:
        self.packed = pack(problem)
        self.run = cpu._Run(self.packed, 1, "all", None)

    def solve(self, component: int, summaries: NDArray[np.uint64], check: Callable[[], None]) -> NDArray[np.uint64]:
        """All summaries after a component is solved, given those of its callees."""
        first = self.packed.summary_at
        mine = self.run.words[first : first + len(summaries)]
        mine[:] = summaries
        worker = self.run.workers[0]
        worker.give(np.array([component], np.int32))
        while not worker.go_on():
            check()
        return mine.copy()

    def fill(self, solution: Solution, methods: NDArray[np.int64]) -> None:
        """Puts the facts of methods in place."""
        first = self.packed.summary_at + int(self.packed.summary_off[-1])
        for m in methods:
            at, end = int(self.packed.fact_off[m]), int(self.packed.fact_off[m + 1])
            solution.facts[at:end] = self.run.words[first + at : first + end]


def _readers(p: Problem) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Per method, nodes that read rows that it has one of, through links too: (nodes, offsets)."""
    method = np.repeat(np.arange(p.n_methods), np.diff(p.block_off))
    block = np.repeat(np.arange(len(method)), np.diff(p.op_off))
    of = method[block]
    kinds, first = p.row_kind, p.row_off[:-1].astype(np.int64)

    def single(m: NDArray[np.int64], row: NDArray[np.int32]) -> NDArray[np.bool_]:
        return np.asarray(kinds[first[m] + row] != HEAP)

    def odd(m: NDArray[np.int64], link: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether a link selects such rows."""
        found = np.zeros(len(link), bool)
        for i in np.flatnonzero(link >= 0):
            rows = p.link_row[p.link_off[link[i]] : p.link_off[link[i] + 1]]
            found[i] = len(rows) > 0 and bool((kinds[first[m[i]] + rows] != HEAP).any())
        return found

    reads = np.zeros(len(block), bool)
    plain_op = (p.op_kind != APPLY) & (p.op_kind != GENERATE)
    reads[plain_op] = single(of[plain_op], p.op_src[plain_op])
    stores = p.op_kind == STORE
    reads[stores] |= single(of[stores], p.op_dst[stores])
    linked = plain_op & (p.op_link >= 0)
    reads[linked] |= odd(of[linked], p.op_link[linked])
    for op in np.flatnonzero(p.op_kind == APPLY):
        m, call = of[op], p.op_dst[op]
        for a in range(p.call_off[call], p.call_off[call + 1]):
            k = slice(int(p.bind_off[a]), int(p.bind_off[a + 1]))
            s = p.sumcol_off[p.app_summary[a]]
            kind = p.sumcol_kind[s : s + k.stop - k.start]
            rows = p.bind_at[k][(kind != CONSTANT) & (p.bind_at[k] >= 0)]
            links = p.bind_link[k]
            if single(np.full(len(rows), m), rows).any() or odd(np.full(len(links), m), links).any():
                reads[op] = True
                break
    nodes = np.unique(block[reads])
    owner = method[nodes]
    off = np.searchsorted(owner, np.arange(p.n_methods + 1))
    return (nodes - p.block_off[owner]).astype(np.int32), off.astype(np.int64)
