"""Results, compacted on the device before they come back: most words of facts are 0."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

from gpu.cuda.build import kernel
from gpu.cuda.platforms.sequential import block, blocks, plus, thread, threads

PIECE = 1024
"""Words of a piece."""


@kernel
def count_words(words, first, n, counts):
    """Entry point: into `counts` (pieces,) int32, that are 0, how many of words[first : first + n] are not 0."""
    for piece in range(block(), (n + PIECE - 1) // PIECE, blocks()):
        for i in range(piece * PIECE + thread(), min((piece + 1) * PIECE, n), threads()):
            if words[first + i] != 0:
                plus(counts, piece, 1)


@kernel
def take_words(words, first, n, starts, place, found):
    """Entry point: those words into `found`, and where they were into `place`; `starts` (pieces,): of each piece."""
    for piece in range(block(), (n + PIECE - 1) // PIECE, blocks()):
        for i in range(piece * PIECE + thread(), min((piece + 1) * PIECE, n), threads()):
            if words[first + i] != 0:
                at = plus(starts, piece, 1)
                place[at], found[at] = i, words[first + i]
