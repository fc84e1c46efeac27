"""What methods put into the table of library statics, on its way from the kernels' arrays to `analyzer.table`."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer.shape_state import MethodState
from analyzer.table import Numbering, Place
from analyzer.world import WorldArrays, longer
from gpu.shape import layout as lay
from gpu.shape.layout import Contents, new_map


class TableContents:
    """Gathers what methods write to library statics and to cells of the table, as sets over the table's numbering."""

    def __init__(self, world: WorldArrays, numbering: Numbering) -> None:
        from gpu.shape import contents, maps

        self._kernels: Any = contents
        self._maps: Any = maps
        self._world, self._numbering = world, numbering
        self._arrays = Contents(
            np.zeros(2, np.int64), np.zeros((256, 3), np.int32), np.zeros((256, 4), np.uint64), np.zeros(256, np.int32),
            np.full(4096, -1, np.int32), new_map(256),
        )  # fmt: skip
        self._tell()

    def add(self, state: MethodState) -> None:
        """Adds what a method puts into the table."""
        self._know_tokens()
        while not self._kernels.contribute(self._world.arrays, state.arrays, self._arrays):
            self._grow()

    def take(self) -> list[tuple[Place, int]]:
        """The places that hold more than when they were taken last, with all that they hold."""
        c, world = self._arrays, self._world
        self._learn()
        n = int(c.num[lay.C_PLACES])
        rows = np.flatnonzero(c.place[:n, 2])
        found: list[tuple[Place, int]] = []
        for (member, f, _), held in zip(c.place[rows].tolist(), c.held[rows], strict=True):
            place: Place = world.sparse(f) if member < 0 else (world.key(member), world.sparse(f))
            found.append((place, int.from_bytes(held.tobytes(), "little")))
        c.place[rows, 2] = 0
        return found

    def number_new(self) -> None:
        """Brings the kernels' numbers up to date with the table's; before kernels run again."""
        self._learn()
        self._tell()

    def _learn(self) -> None:
        """Tells the table's numbering of tokens that kernels met first."""
        c, keys = self._arrays, self._numbering.keys
        for gid in c.gid[len(keys) : c.num[lay.C_TOKENS]].tolist():
            self._numbering.number(self._world.key(gid))

    def _tell(self) -> None:
        """Tells the kernels of tokens that the table met first."""
        keys = self._numbering.keys
        first = int(self._arrays.num[lay.C_TOKENS])
        gids = [self._world.token(key) for key in keys[first:]]
        while len(keys) > min(len(self._arrays.gid), 64 * self._arrays.held.shape[1]):
            self._grow()
        self._know_tokens()
        c = self._arrays
        c.gid[first : len(keys)] = gids
        c.number[gids] = np.arange(first, len(keys))
        c.num[lay.C_TOKENS] = len(keys)

    def _know_tokens(self) -> None:
        """Makes room for a number of each token that there is."""
        n = int(self._world.arrays.hdr[lay.N_TOKENS])
        if n > len(self._arrays.number):
            self._arrays = self._arrays.replace(number=longer(self._arrays.number, 2 * n, -1))

    def _grow(self) -> None:
        """Makes room in every array that is nearly full."""
        c = self._arrays
        places, tokens = int(c.num[lay.C_PLACES]), int(c.num[lay.C_TOKENS])
        grown: dict[str, Any] = {}
        if places + 1 >= len(c.place):
            grown["place"] = longer(c.place, 2 * len(c.place))
            grown["held"] = longer(c.held, 2 * len(c.held))
            grown["map"] = new_map(2 * len(c.place))
            self._maps.rehash(c.map, grown["map"])
        if tokens + 1 >= len(c.gid):
            grown["gid"] = longer(c.gid, 2 * len(c.gid))
        if tokens + 1 >= 64 * c.held.shape[1]:
            held = grown.get("held", c.held)
            grown["held"] = np.concatenate([held, np.zeros_like(held)], axis=1)
        self._arrays = c.replace(**grown)
