"""What every engine returns: the facts that are compared (semantics.md 8), and their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from gpu.problem import Problem


@dataclass(frozen=True, slots=True)
class Solution:
    """Facts of a problem. A row is a Python integer; bit c says that token c of the method may be there."""

    problem: Problem
    rows: tuple[tuple[int, ...], ...]
    """Per method and row: value and channel rows; heap rows are 0 here."""
    heads: tuple[tuple[tuple[int, ...], ...], ...]
    """Per method and block: its heap rows, in row order, at the head of the block."""
    summaries: tuple[tuple[int, ...], ...]
    """Per method: its export rows, bits over export columns."""

    @property
    def n_facts(self) -> int:
        """Number of facts: bits of value and channel rows, and of heap rows at the heads of blocks."""
        total = sum(row.bit_count() for rows in self.rows for row in rows)
        return total + sum(row.bit_count() for heads in self.heads for head in heads for row in head)

    def digest(self) -> str:
        """SHA-256 over all facts in canonical order; equal for every engine."""
        sha = hashlib.sha256()
        off = self.problem.col_off.tolist()
        sizes = self.problem.sumcol_off.tolist()
        for m, (rows, heads, summary) in enumerate(zip(self.rows, self.heads, self.summaries, strict=True)):
            width = (off[m + 1] - off[m] + 63) // 64 * 8
            for row in rows:
                sha.update(row.to_bytes(width, "little"))
            for head in heads:
                for row in head:
                    sha.update(row.to_bytes(width, "little"))
            width = (sizes[m + 1] - sizes[m] + 63) // 64 * 8
            for row in summary:
                sha.update(row.to_bytes(width, "little"))
        return sha.hexdigest()


class MethodFacts(Protocol):
    """The facts of one method, and its transfer functions, for those who ask why a fact holds."""

    rows: list[int]
    first_heap: int
    n_heap: int
    n_blocks: int

    def is_heap(self, row: int) -> bool:
        """Whether the row has a value per block."""
        ...

    def get(self, row: int, heap: list[int]) -> int:
        """R(row) in a state."""
        ...

    def substitution(self, application: int, heap: list[int]) -> list[int]:
        """Per export column of the applied summary, tokens of the caller."""
        ...


class Replay(Protocol):
    """A solved problem, evaluated again where someone wants to look: states between the heads of blocks."""

    tables: Any

    def method(self, m: int) -> MethodFacts:
        """Facts of method m."""
        ...

    def states(self, m: int, block: int) -> Iterator[tuple[int, list[int]]]:
        """(operation, heap rows just before it) for each operation of a block; then (-1, the end state)."""
        ...

    def state_at(self, m: int, block: int, before: int) -> list[int]:
        """Heap rows in a block before its operation number `before`."""
        ...
