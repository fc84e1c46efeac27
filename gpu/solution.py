"""What every engine returns: the facts that are compared (semantics.md 8), and their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gpu.pack import fact_offsets
from gpu.problem import HEAP, LABEL, Problem

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Facts of a problem, as words of 64 bits, low ones first; bit c of a row says that token c may be there.

    A row of a method with n columns has ceil(n / 64) words, a row of a summary with n export columns as well.
    `rows`, `heads` and `summaries` show the same as Python integers, made when they are asked for.
    """

    problem: Problem
    facts: NDArray[np.uint64]
    """(fact_off[-1],) per method: all its rows (value and channel rows; heap rows are 0 here), then for each block
    its heap rows, in row order, at the head of the block; a block that is not reached holds nothing. Empty in a
    solution that has summaries only."""
    fact_off: NDArray[np.int64]
    """(n_methods + 1,) offsets into `facts`."""
    summary_words: NDArray[np.uint64]
    """(summary_off[-1],) per method: its export rows, bits over export columns."""
    summary_off: NDArray[np.int64]
    """(n_methods + 1,) offsets into `summary_words`."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        rows: Iterable[Sequence[int]],
        heads: Iterable[Iterable[Sequence[int]]],
        summaries: Iterable[Sequence[int]],
    ) -> Solution:
        """A solution from rows given as integers, per method: all rows; heap rows of each block; export rows."""
        width, fact_off, summary_off = fact_offsets(problem)
        facts = []
        for words, values, blocks in zip(width.tolist(), rows, heads, strict=True):
            facts += [_words(values, words), *(_words(head, words) for head in blocks)]
        exported = (np.diff(problem.sumcol_off)[: problem.n_methods].astype(np.int64) + 63) // 64
        sums = [_words(values, words) for words, values in zip(exported.tolist(), summaries, strict=True)]
        return cls(problem, _joined(facts), fact_off, _joined(sums), summary_off)

    @property
    def has_facts(self) -> bool:
        """Whether rows and heads were kept, not summaries alone."""
        return len(self.facts) == int(self.fact_off[-1])

    @property
    def rows(self) -> Sequence[BitRows]:
        """Per method and row: value and channel rows; heap rows are 0 here."""
        return _Made(self.problem.n_methods, self._rows)

    @property
    def heads(self) -> Sequence[Sequence[BitRows]]:
        """Per method and block: its heap rows, in row order, at the head of the block."""
        return _Made(self.problem.n_methods, self._heads)

    @property
    def summaries(self) -> Sequence[BitRows]:
        """Per method: its export rows, bits over export columns."""
        return _Made(self.problem.n_methods, self._summary)

    def _rows(self, m: int) -> BitRows:
        n, words = _size(self.problem.row_off, m), (_size(self.problem.col_off, m) + 63) // 64
        first = int(self.fact_off[m])
        return BitRows(self.facts[first : first + n * words].reshape(n, words))

    def _heads(self, m: int) -> Sequence[BitRows]:
        p = self.problem
        n, words = _size(p.row_off, m), (_size(p.col_off, m) + 63) // 64
        heap = int(np.count_nonzero(p.row_kind[p.row_off[m] : p.row_off[m + 1]] == HEAP))
        first, last = int(self.fact_off[m]) + n * words, int(self.fact_off[m + 1])
        blocks = self.facts[first:last].reshape(_size(p.block_off, m), heap, words)
        return _Made(len(blocks), lambda b: BitRows(blocks[b]))

    def _summary(self, m: int) -> BitRows:
        n, words = _size(self.problem.sumrow_off, m), (_size(self.problem.sumcol_off, m) + 63) // 64
        return BitRows(self.summary_words[self.summary_off[m] : self.summary_off[m + 1]].reshape(n, words))

    def holds(self, m: int, row: int, column: int) -> bool:
        """Whether a token may be in a row of method m: of a heap row, at the head of any block."""
        p, word, bit = self.problem, column >> 6, np.uint64(1 << (column & 63))
        n, words, first = _size(p.row_off, m), (_size(p.col_off, m) + 63) // 64, int(self.fact_off[m])
        kinds = p.row_kind[p.row_off[m] : p.row_off[m + 1]]
        if kinds[row] != HEAP:
            return bool(self.facts[first + row * words + word] & bit)
        heap = int(np.count_nonzero(kinds == HEAP))
        at = first + n * words + (row - int(np.argmax(kinds == HEAP))) * words + word
        return bool((self.facts[at : int(self.fact_off[m + 1]) : heap * words] & bit).any())

    def labels(self, m: int, kind: int) -> list[tuple[int, list[int]]]:
        """Rows of method m, of a kind that is not HEAP, that hold labels; with their labels, ascending."""
        p = self.problem
        flags = p.col_flag[p.col_off[m] : p.col_off[m + 1]] & LABEL
        if not flags.any():
            return []
        rows = np.flatnonzero(p.row_kind[p.row_off[m] : p.row_off[m + 1]] == kind)
        n, words, first = _size(p.row_off, m), (len(flags) + 63) // 64, int(self.fact_off[m])
        facts = self.facts[first : first + n * words].reshape(n, words)[rows].astype("<u8", copy=False)
        bits = np.unpackbits(facts.view(np.uint8), axis=1, bitorder="little")[:, : len(flags)] & (flags > 0)
        return [(int(rows[i]), np.flatnonzero(bits[i]).tolist()) for i in np.flatnonzero(bits.any(axis=1))]

    @property
    def n_facts(self) -> int:
        """Number of facts: bits of value and channel rows, and of heap rows at the heads of blocks."""
        return sum(_count(self.facts[i : i + _CHUNK]) for i in range(0, len(self.facts), _CHUNK))

    def digest(self) -> str:
        """SHA-256 over facts, then summaries, words low byte first; equal for every engine."""
        sha = hashlib.sha256()
        for words in (self.facts, self.summary_words):
            sha.update(np.ascontiguousarray(words, "<u8").data)
        return sha.hexdigest()


class BitRows(Sequence[int]):
    """Rows of words (n, words) uint64, read as integers: bit c is column c."""

    __slots__ = ("words",)

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, i: int) -> int: ...
    @overload
    def __getitem__(self, i: slice) -> list[int]: ...
    def __getitem__(self, i: int | slice) -> int | list[int]:
        if isinstance(i, slice):
            return list(BitRows(self.words[i]))
        return int.from_bytes(self.words[i].astype("<u8", copy=False).tobytes(), "little")

    def __iter__(self) -> Iterator[int]:
        size = self.words.shape[1] * 8
        data = self.words.astype("<u8", copy=False).tobytes()
        for i in range(len(self.words)):
            yield int.from_bytes(data[i * size : (i + 1) * size], "little")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class _Made(Sequence[T]):
    """A sequence whose members are made when they are asked for."""

    __slots__ = ("_make", "_n")

    def __init__(self, n: int, make: Callable[[int], T]) -> None:
        self._n, self._make = n, make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, i: int) -> T: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[T]: ...
    def __getitem__(self, i: int | slice) -> T | Sequence[T]:
        if isinstance(i, slice):
            return [self._make(k) for k in range(self._n)[i]]
        return self._make(range(self._n)[i])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(other) == len(self) and all(map(_equal, self, other))

    __hash__ = None  # type: ignore[assignment]


def _equal(one: object, other: object) -> bool:
    return one == other


_CHUNK = 1 << 16
_BYTE = np.array([i.bit_count() for i in range(256)], np.uint8)


def _count(words: NDArray[np.uint64]) -> int:
    """Number of bits."""
    if hasattr(np, "bitwise_count"):
        return int(np.bitwise_count(words).sum(dtype=np.int64))
    return int(_BYTE[words.view(np.uint8)].sum(dtype=np.int64))


def _size(off: NDArray[np.int32], i: int) -> int:
    return int(off[i + 1]) - int(off[i])


def _words(rows: Sequence[int], width: int) -> NDArray[np.uint64]:
    """Rows as words, low ones first."""
    return np.frombuffer(b"".join(row.to_bytes(width * 8, "little") for row in rows), "<u8").astype(np.uint64)


def _joined(parts: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


START = -1
"""In place of a row: a token comes into being."""


@dataclass(frozen=True, slots=True)
class Hop:
    """An operation that passes a token from a row of a method to another, or makes it."""

    source: int
    """Row that held it, or START."""
    row: int
    op: int
    """Operation of the problem."""
    application: int = -1
    """Of a call: the application that passes it, and then"""
    column: int = -1
    """the export column of its summary that carries it, and"""
    export_row: int = -1
    """the export row by which it comes out."""


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

    def path(self, m: int, column: int, row: int) -> list[Hop]:
        """How a token gets into a row of method m: shortest, then by the earliest operations; empty if it does not.

        It begins where the token comes into being, or with a row that holds it on entry.
        """
        ...
