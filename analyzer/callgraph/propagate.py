"""Sets of types that flow along edges until nothing changes.

A set is a row of bits, one per exact class, bit 0 for any object of the framework or of unknown origin. Nodes are
small ints; most hold so few types that one word is their set, and only the others have a row. Everything is added in
arrays; the loops are kernels (`analyzer.kernels.flow`).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.hierarchy import Hierarchy
from analyzer.kernels.layout import EVENTS, HEAD, ROWS, TAIL
from analyzer.program import Program

I4 = NDArray[np.int32]

LIBRARY = 0
"""The bit of objects that the app did not make."""

_EVERYTHING = -1
"""No mask."""


class TypeFlow:
    """Nodes, edges and watchers. The result does not depend on the order in which they are added."""

    def __init__(self, program: Program, hierarchy: Hierarchy, n_types: int = 0) -> None:
        """`n_types`: about how many classes there will be."""
        from analyzer.kernels import flow

        self._kernels: ModuleType = flow
        self._program, self._hierarchy = program, hierarchy
        self.type_at: list[int] = [-1]
        """Bit -> exact class."""
        self._bit: dict[int, int] = {}
        self._under: dict[int, list[int]] = {}  # class -> bits of its subtypes
        self._loose: list[int] = []  # bits of classes with undefined supertypes
        self._arrays: list[int] = []
        self._mask: dict[int, int] = {}  # class -> row of its mask
        self._array_masks: list[int] = []  # array classes with masks
        self.n_nodes = self._n_edges = self._n_watchers = 0
        words = n_types // 64 + 1
        self._small = np.zeros((1024, 2), np.uint64)
        self._place = np.full((1024, 2), -1, np.int32)
        self._types = np.zeros((64, words), np.uint64)
        self._pending = np.zeros((64, words), np.uint64)
        self._delta = np.zeros(words, np.uint64)
        self._masks = np.zeros((64, words), np.uint64)
        self._filters = np.full(1024, _EVERYTHING, np.int32)
        self._queue = np.zeros(1025, np.int32)
        self._queued = np.zeros(1024, np.uint8)
        self._edges = np.full((3, 1024), -1, np.int32)
        self._watchers = np.full((3, 1024), -1, np.int32)
        self._events = np.empty((4096, 2), np.int32)
        self._state = np.zeros(4, np.int64)

    # -- types ------------------------------------------------------------------------------------------------------

    def bit(self, exact: int) -> int:
        """The bit of objects of exactly this class."""
        known = self._bit.get(exact)
        if known is None:
            known = self._bit[exact] = len(self.type_at)
            self.type_at.append(exact)
            if known >> 6 >= self._types.shape[1]:
                self._widen()
            h = self._hierarchy
            above = h.supertypes(exact)
            for up in above:
                self._under.setdefault(up, []).append(known)
            rows = [self._mask[up] for up in above if up in self._mask]
            if self._is_array(exact):
                self._arrays.append(known)
                rows += [self._mask[t] for t in self._array_masks if h.may_be(True, exact, t)]
            elif not h.is_complete(exact):
                self._loose.append(known)
                rows = list(range(len(self._mask)))
            self._masks[rows, known >> 6] |= np.uint64(1 << (known & 63))
        return known

    def mask(self, target: int) -> int:
        """The row of the mask of all bits whose objects may be a `target`.

        A class with undefined supertypes may be anything; no library object is one of an app's class.
        """
        row = self._mask.get(target)
        if row is None:
            h = self._hierarchy
            row = self._mask[target] = len(self._mask)
            if row == len(self._masks):
                self._masks = _longer(self._masks, row + 1)
            bits = [*self._under.get(target, ()), *self._loose]
            if self._is_array(target):
                self._array_masks.append(target)
                bits += [bit for bit in self._arrays if h.may_be(True, self.type_at[bit], target)]
            if not h.is_app(target):
                bits.append(LIBRARY)
            for bit in bits:
                self._masks[row, bit >> 6] |= np.uint64(1 << (bit & 63))
        return row

    def _is_array(self, t: int) -> bool:
        return self._program.type_name(t)[0] == "["

    def _widen(self) -> None:
        words = self._types.shape[1] + max(2, self._types.shape[1] // 4)
        self._delta = np.zeros(words, np.uint64)
        for name in ("_types", "_pending", "_masks"):
            old = getattr(self, name)
            new = np.zeros((len(old), words), np.uint64)
            new[:, : old.shape[1]] = old
            setattr(self, name, new)

    def bits(self, node: int) -> list[int]:
        """What is in a node, ascending."""
        word, row = self._place[node].tolist()
        if row >= 0:
            return list(_bits_of(int.from_bytes(self._types[row].astype("<u8").tobytes(), "little")))
        return [64 * word + bit for bit in _bits_of(int(self._small[node, 0]))]

    # -- nodes, edges, watchers -------------------------------------------------------------------------------------

    def nodes(self, count: int) -> int:
        """Adds `count` nodes and returns the first."""
        first = self.n_nodes
        self.n_nodes += count
        if self.n_nodes > len(self._filters):
            self._small = _longer(self._small, self.n_nodes)
            self._place = _longer(self._place, self.n_nodes, -1)
            self._filters = _longer(self._filters, self.n_nodes, _EVERYTHING)
            self._queued = _longer(self._queued, self.n_nodes)
            head, tail = int(self._state[HEAD]), int(self._state[TAIL])
            waiting = self._queue[head:tail] if head <= tail else np.r_[self._queue[head:], self._queue[:tail]]
            queue = np.zeros(len(self._filters) + 1, np.int32)
            queue[: len(waiting)] = waiting
            self._queue = queue
            self._state[HEAD], self._state[TAIL] = 0, len(waiting)
            for name in ("_edges", "_watchers"):
                if getattr(self, name).shape[1] < len(self._filters):
                    setattr(self, name, _wider(getattr(self, name), len(self._filters)))
        return first

    def filter(self, nodes: I4 | int, masks: I4 | int) -> None:
        """From now on only what the masks let pass enters the nodes."""
        self._filters[nodes] = masks

    def edges(self, sources: I4, targets: I4) -> None:
        """Everything in the sources, now and later, is in their targets."""
        self._n_edges += len(sources)
        if self._n_edges > self._edges.shape[1]:
            self._edges = _wider(self._edges, self._n_edges)
        first = self._n_edges - len(sources)
        done = 0
        while done < len(sources):
            done = self._kernels.add_edges(sources, targets, done, first, self._edges, *self._common)
            self._free_row()

    def seed(self, nodes: I4, bits: I4) -> None:
        """Puts one bit into each node."""
        done = 0
        while done < len(nodes):
            done = self._kernels.seed(nodes, bits, done, *self._common)
            self._free_row()

    def watch(self, nodes: I4, masks: I4) -> int:
        """Adds watchers that see each bit that is, or comes, into their node once, through a mask (-1: none).

        Returns the number of the first.
        """
        first = self._n_watchers
        self._n_watchers += len(nodes)
        if self._n_watchers > self._watchers.shape[1]:
            self._watchers = _wider(self._watchers, self._n_watchers)
        done = 0
        while True:
            done = self._kernels.watch(
                *(nodes, masks, done, first, self._watchers, *self._sets, self._masks, self._events, self._state)
            )
            if done == len(nodes):
                break
            self._events = _longer(self._events, 2 * len(self._events))
        return first

    @property
    def _sets(self) -> tuple[Any, ...]:
        return (self._small, self._place, self._types, self._pending)

    @property
    def _common(self) -> tuple[Any, ...]:
        return (*self._sets, self._filters, self._masks, self._queue, self._queued, self._state)

    def _free_row(self, more: int = 1) -> None:
        """Sees to it that rows are free."""
        used = int(self._state[ROWS])
        if used + more > len(self._types):
            self._types = _longer(self._types, used + more)
            pending = np.zeros_like(self._types)
            pending[: len(self._pending)] = self._pending
            self._pending = pending

    def run(self) -> tuple[I4, I4]:
        """Propagates until nothing is left to do; which watchers saw which bits since the last run."""
        kernels = self._kernels
        while True:
            lacks = kernels.propagate(self._delta, self._edges, self._watchers, self._events, *self._common)
            if lacks == kernels.DONE:
                break
            if lacks == kernels.SHORT_EVENTS:
                self._events = _longer(self._events, 2 * len(self._events))
            else:
                self._free_row(len(self._types) + 1)  # at least twice as many in all
        n = int(self._state[EVENTS])
        self._state[EVENTS] = 0
        return self._events[:n, 0].copy(), self._events[:n, 1].copy()


def _bits_of(value: int) -> Iterator[int]:
    """Positions of the set bits, ascending."""
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low


def _longer(old: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """A copy with room for at least `size` rows, and half as many again as before."""
    new = np.full((max(size, len(old) + len(old) // 2), *old.shape[1:]), fill, old.dtype)
    new[: len(old)] = old
    return new


def _wider(old: I4, size: int) -> I4:
    """A copy with room for at least `size` columns, and twice as many as before."""
    new = np.full((len(old), max(size, 2 * old.shape[1])), -1, np.int32)
    new[:, : old.shape[1]] = old
    return new
