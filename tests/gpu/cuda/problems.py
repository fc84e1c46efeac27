"""Tiny problems for kernels that run slowly: each shows one thing, and a few are random and small."""

from __future__ import annotations

import random
from collections.abc import Callable

from gpu.problem import APPLY, CHILD, CONSTANT, GENERATE, LOAD, OR, REGION, ROOT, STORE, TO_CELLS, Problem
from tests.gpu.random_problems import Maker
from tests.gpu.tiny import Tiny

Op = tuple[int, int, int, int, int, list[int]]


def generate(dst: int, column: int) -> Op:
    return (GENERATE, dst, column, -1, -1, [])


def move(dst: int, src: int, mask: int = -1) -> Op:
    return (OR, dst, src, -1, mask, [])


def _or_with_mask() -> Problem:
    t = Tiny()
    mask = t.mask(0, 2)
    t.summary([], [])
    t.method(3, (2, 0, 0), [([*(generate(0, c) for c in range(3)), move(1, 0, mask)], [])])
    return t.problem()


def _load() -> Problem:
    t = Tiny()
    link = t.link((2, 3), (0, 2))
    t.summary([], [])
    t.method(4, (2, 2, 0), [([(LOAD, 1, 0, link, -1, [])], [])], entry=((0, 0), (2, 1), (3, 3)))
    return t.problem()


def _store(clears: list[int]) -> Problem:
    t = Tiny()
    link = t.link((0, 2))
    t.summary([], [])
    entry = ((0, 0), (1, 1), (2, 2))
    t.method(3, (2, 1, 0), [([(STORE, 1, 0, link, -1, clears)], [1]), ([], [])], entry=entry)
    return t.problem()


def _store_with_empty_base() -> Problem:
    t = Tiny()
    link = t.link((0, 2), (0, 3))
    t.summary([], [])
    ops: list[Op] = [(STORE, 2, 1, link, -1, [2]), (STORE, 3, 0, link, -1, [3])]
    t.method(3, (2, 2, 0), [(ops, [1]), ([], [])], entry=((0, 0), (2, 1), (3, 2)))
    return t.problem()


def _masked_rows() -> Problem:
    t = Tiny()
    link, mask = t.link((0, 2), (0, 3)), t.mask(1)
    t.summary([], [])
    ops: list[Op] = [(STORE, 1, 0, link, -1, [])]
    t.method(3, (2, 2, 0), [(ops, [1]), ([], [])], entry=((0, 0), (1, 1), (1, 2)), row_masks={3: mask})
    return t.problem()


def _loop() -> Problem:
    t = Tiny()
    link = t.link((0, 2), (1, 3))
    t.summary([], [])
    body: list[Op] = [(STORE, 1, 0, link, -1, []), (LOAD, 1, 0, link, -1, []), move(0, 1)]
    t.method(2, (2, 2, 0), [([], [1]), (body, [1, 2]), ([], [])], entry=((0, 0), (1, 1)))
    return t.problem()


def _merge() -> Problem:
    """Two arms store different objects; a strong update in one of them; what is loaded after they meet."""
    t = Tiny()
    link = t.link((0, 4))
    t.summary([], [])
    left: list[Op] = [generate(1, 1), (STORE, 1, 0, link, -1, [4])]
    right: list[Op] = [generate(2, 2), (STORE, 2, 0, link, -1, [])]
    last: list[Op] = [(LOAD, 3, 0, link, -1, [])]
    t.method(4, (4, 1, 0), [([generate(0, 0)], [1, 2]), (left, [3]), (right, [3]), (last, [])], entry=((4, 3),))
    return t.problem()


def _shared_slots() -> Problem:
    """Values that are never live together, one after the other, around a loop; and one written in two places."""
    t = Tiny()
    t.summary([], [(-1, [])])
    first = [generate(0, 0), move(1, 0), move(2, 1), move(5, 2)]
    loop = [generate(3, 1), move(4, 3), move(5, 4), move(6, 5)]
    t.method(3, (6, 1, 1), [(first, [1]), (loop, [1, 2]), ([move(7, 5)], [])], exports=((7, 0, -1, -1),))
    return t.problem()


def _phi() -> Problem:
    """Moves into one value at the head of a loop, from before the loop and from its end."""
    t = Tiny()
    t.summary([], [])
    head = [move(1, 0), move(1, 3)]
    t.method(
        3, (4, 0, 1), [([generate(0, 0)], [1]), (head, [2, 3]), ([move(2, 1), generate(3, 1)], [1]), ([move(4, 1)], [])]
    )
    return t.problem()


def _parameters() -> Problem:
    """Values that hold on entry, one of them never read; block 0 is the head of a loop that reuses their slots."""
    t = Tiny()
    t.summary([], [])
    t.method(4, (5, 0, 1), [([move(2, 0), generate(3, 3), move(4, 3), move(5, 4)], [0])], entry=((0, 0), (1, 1)))
    return t.problem()


def _not_reached() -> Problem:
    t = Tiny()
    t.summary([], [])
    t.method(1, (1, 1, 0), [([], []), ([generate(0, 0)], [])], entry=((1, 0),))
    return t.problem()


def _exit(at: int) -> Problem:
    """A method whose heap is exported from a block that is reached, or not."""
    t = Tiny()
    t.summary([(CONSTANT, 0, [], [])] * 2, [(-1, [])])
    blocks: list[tuple[list[Op], list[int]]] = [([generate(0, 0)], [1]), ([], []), ([], [])]
    t.method(
        2,
        (1, 1, 0),
        blocks,
        entry=((1, 1),),
        exit_block=at,
        exports=((1, 0, -1, -1), (0, 0, -1, -1)),
        names={0: 0, 1: 1},
    )
    return t.problem()


def _substitution() -> Problem:
    """Children, labels, a region, and an argument that aliases another; see `tests/gpu/test_engines.py`."""
    t = Tiny()
    t.summary([], [(-1, [])])
    cells = t.link((0, 3), (1, 4))
    columns = [(ROOT, 0, [], []), (ROOT, 0, [], []), (CHILD, 0, [], [0]), (CONSTANT, 0, [], []), (REGION, 0, [0], [0])]
    constant = t.summary(columns, [(1, [3]), (-1, [2]), (-1, [4])])
    binds = [(0, -1, -1), (1, -1, -1), (-1, cells, -1), (4, -1, -1), (-1, cells, -1)]
    call = t.call((constant, binds, [(TO_CELLS, cells, -1), (2, -1, -1), (5, -1, -1)]))
    entry = ((0, 0), (0, 2), (1, 0), (3, 3))
    t.method(5, (3, 2, 1), [([(APPLY, call, 0, -1, -1, [3])], [1]), ([], [])], entry=entry, labels=(2,))
    return t.problem()


def _calls(depth: int, wide: bool) -> Problem:
    """Each method returns a new object, and what the ones before it return: one after the other, or all at once."""
    t = Tiny()
    for _ in range(depth):
        t.summary([(CONSTANT, 0, [], [])] * depth, [(-1, [])])
    for m in range(depth):
        callees = [] if not m else [m - 1] if not wide or m < depth - 1 else range(m)
        callees = [] if wide and m < depth - 1 else callees
        call = t.call(*((s, [(c, -1, -1) for c in range(depth)], [(0, -1, -1)]) for s in callees))
        ops: list[Op] = [generate(0, m), (APPLY, call, 0, -1, -1, [])]
        t.method(depth, (1, 0, 0), [(ops, [])], exports=((0, 0, -1, -1),), names={c: c for c in range(depth)})
    return t.problem()


def _recursion(methods: int) -> Problem:
    """Each method returns a new object, or what the next one returns; the last one calls the first."""
    t = Tiny()
    for _ in range(methods):
        t.summary([(CONSTANT, 0, [], [])] * methods, [(-1, [])])
    for m in range(methods):
        call = t.call(((m + 1) % methods, [(c, -1, -1) for c in range(methods)], [(0, -1, -1)]))
        ops: list[Op] = [generate(0, m), (APPLY, call, 0, -1, -1, [])]
        names = {c: c for c in range(methods)}
        t.method(methods, (1, 0, 0), [(ops, [])], exports=((0, 0, -1, -1),), names=names, new_component=m == 0)
    return t.problem()


def _width(columns: int) -> Problem:
    t = Tiny()
    link = t.link(*((c, 2 + c % 3) for c in range(0, columns, 16)))
    t.summary([(CONSTANT, 0, [], [])] * columns, [(-1, [])])
    ops: list[Op] = [(STORE, 0, 0, link, -1, []), (LOAD, 1, 0, link, -1, [])]
    t.method(
        columns,
        (2, 3, 0),
        [(ops, [1]), ([], [])],
        entry=tuple((0, c) for c in range(0, columns, 8)),
        exit_block=1,
        exports=((1, 0, columns - 1, -1), (3, 0, -1, -1)),
        names={c: columns - 1 - c for c in range(columns)},
    )
    return t.problem()


def _many_nodes() -> Problem:
    """A fan of blocks that meet: worklists longer than a warp, of all kinds."""
    t = Tiny()
    link = t.link((0, 7), (1, 8))
    t.summary([], [])
    kinds: list[Op] = [
        generate(1, 1), move(2, 0), (LOAD, 3, 0, link, -1, []), (STORE, 0, 0, link, -1, []), generate(4, 2), move(5, 0),
    ]  # fmt: skip
    blocks: list[tuple[list[Op], list[int]]] = [([generate(0, 0)], [1, 2, 3, 4, 5, 6])]
    blocks += [([op], [7]) for op in kinds] + [([(LOAD, 6, 0, link, -1, [])], [])]
    t.method(3, (7, 2, 0), blocks, entry=((7, 2),))
    return t.problem()


class SmallMaker(Maker):
    """Random problems of a few rows and columns."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, most_columns=6)
        self.n_methods, self.n_constants = rng.randint(1, 3), 1
        self.n_cols = [rng.randint(1, 6) for _ in range(self.n_methods)]
        self.n_values = [rng.randint(0, 3) for _ in range(self.n_methods)]
        self.n_heap = [rng.randint(0, 3) for _ in range(self.n_methods)]
        self.n_rows = [v + h + rng.randint(0, 1) for v, h in zip(self.n_values, self.n_heap, strict=True)]
        self.sizes = [(rng.randint(0, 3), rng.randint(0, 2)) for _ in range(self.n_methods + 1)]


MAKERS: dict[str, Callable[[], Problem]] = {
    "or": _or_with_mask,
    "load": _load,
    "strong store": lambda: _store([2]),
    "weak store": lambda: _store([]),
    "store with empty base": _store_with_empty_base,
    "masked rows": _masked_rows,
    "loop": _loop,
    "merge": _merge,
    "shared slots": _shared_slots,
    "phi": _phi,
    "parameters": _parameters,
    "not reached": _not_reached,
    "exit": lambda: _exit(1),
    "exit not reached": lambda: _exit(2),
    "substitution": _substitution,
    "chain of calls": lambda: _calls(4, False),
    "many callees": lambda: _calls(4, True),
    "recursion": lambda: _recursion(1),
    "mutual recursion": lambda: _recursion(3),
    "two words": lambda: _width(65),
    "three words": lambda: _width(130),
    "many nodes": _many_nodes,
    **{f"random {seed}": lambda seed=seed: SmallMaker(random.Random(seed)).make() for seed in range(12)},  # type: ignore[misc]
}
"""Names and makers; more than thirty."""
