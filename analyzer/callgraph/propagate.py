"""Sets of types that flow along edges until nothing changes.

A set is the bits of a Python int: one bit per exact class, bit 0 for any object of the framework or of unknown
origin. Nodes are small ints; most have no edges and cost one list entry.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from analyzer.hierarchy import Hierarchy
from analyzer.program import Program

LIBRARY = 1
"""Bit 0: an object that the app did not make."""


def bits_of(value: int) -> Iterator[int]:
    """Positions of the set bits, ascending."""
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low


class TypeFlow:
    """Nodes, edges and watchers. The result does not depend on the order in which they are added."""

    def __init__(self, program: Program, hierarchy: Hierarchy) -> None:
        self._program, self._hierarchy = program, hierarchy
        self.type_at: list[int] = [-1]
        self._bit: dict[int, int] = {}
        self._under: dict[int, int] = {}  # class -> bits of its subtypes
        self._loose = 0  # bits of classes with undefined supertypes
        self._library: dict[int, int] = {}  # class -> LIBRARY, or 0 where only the app makes such objects
        self._arrays: list[tuple[int, int]] = []
        self._array_masks: dict[int, int] = {}
        self.types: list[int] = []
        self._pending: list[int] = []
        self._succ: dict[int, list[int]] = {}
        self._filter: dict[int, int] = {}
        self._watch: dict[int, list[Callable[[int], None]]] = {}
        self._work: deque[int] = deque()

    def bit(self, exact: int) -> int:
        """The bit of objects of exactly this class."""
        known = self._bit.get(exact)
        if known is None:
            h = self._hierarchy
            known = self._bit[exact] = 1 << len(self.type_at)
            self.type_at.append(exact)
            if self._is_array(exact):
                self._arrays.append((exact, known))
                self._array_masks.clear()
            else:
                if not h.is_complete(exact):
                    self._loose |= known
                for up in h.supertypes(exact):
                    self._under[up] = self._under.get(up, 0) | known
        return known

    def mask(self, target: int) -> int:
        """All bits whose objects may be a `target`; a class with undefined supertypes may be anything."""
        library = self._library.get(target)
        if library is None:
            library = self._library[target] = 0 if self._hierarchy.is_app(target) else LIBRARY
        found = self._under.get(target, 0) | library | self._loose
        if self._arrays:
            arrays = self._array_masks.get(target)
            if arrays is None:
                may_be = self._hierarchy.may_be
                arrays = 0
                for exact, bit in self._arrays:
                    arrays |= bit if may_be(True, exact, target) else 0
                self._array_masks[target] = arrays
            found |= arrays
        return found

    def nodes(self, count: int) -> int:
        """Adds `count` nodes and returns the first."""
        first = len(self.types)
        self.types.extend([0] * count)
        self._pending.extend([0] * count)
        return first

    def filter(self, node: int, target: int) -> None:
        """From now on only what may be a `target` enters the node."""
        self._filter[node] = target

    def edge(self, source: int, target: int) -> None:
        """Everything in `source`, now and later, is in `target`."""
        if source == target:
            return
        self._succ.setdefault(source, []).append(target)
        if self.types[source]:
            self.seed(target, self.types[source])

    def seed(self, node: int, bits: int) -> None:
        """Puts types into a node."""
        new = bits & ~self.types[node]
        target = self._filter.get(node)
        if new and target is not None:
            new &= self.mask(target)
        if new:
            self.types[node] |= new
            if not self._pending[node]:
                self._work.append(node)
            self._pending[node] |= new

    def watch(self, node: int, notify: Callable[[int], None]) -> None:
        """Calls `notify` with every bit that is, or comes, into the node; each bit once."""
        self._watch.setdefault(node, []).append(notify)
        done = self.types[node] & ~self._pending[node]
        if done:
            notify(done)

    def _is_array(self, t: int) -> bool:
        return self._program.type_name(t)[0] == "["

    def run(self) -> None:
        """Propagates until nothing is left to do."""
        work, pending, types, filters = self._work, self._pending, self.types, self._filter
        nothing: tuple[int, ...] = ()
        while work:
            node = work.popleft()
            delta = pending[node]
            pending[node] = 0
            for target in self._succ.get(node, nothing):
                new = delta & ~types[target]
                if new and target in filters:
                    new &= self.mask(filters[target])
                if new:
                    types[target] |= new
                    if not pending[target]:
                        work.append(target)
                    pending[target] |= new
            watchers = self._watch.get(node)
            if watchers:
                for notify in tuple(watchers):
                    notify(delta)
