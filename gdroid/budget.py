"""Wall time and memory of one analysis: checked often, spent once."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from analyzer.limits import Limits

_EVERY = 64
"""Checks between two looks at the memory, which cost more than a look at the clock."""


class OutOfBudget(Exception):
    """A bound of time or memory was hit; what is done by then stays."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Budget:
    """Time and memory left. A phase may be given only a part of the time, so that later ones can still report."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.start = time.monotonic()
        self.deadline = self.start + limits.wall_time_s
        self._count = 0

    def until(self, share: float) -> None:
        """Lets the phases from here on run until a share of the whole wall time is spent."""
        self.deadline = self.start + self.limits.wall_time_s * share

    def has_time(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() <= self.deadline

    def check(self) -> None:
        """Raises OutOfBudget when a bound is hit."""
        if not self.has_time():
            raise OutOfBudget("wall_time_s")
        self._count += 1
        if self._count % _EVERY == 1 and resident_mb() > self.limits.memory_mb:
            raise OutOfBudget("memory_mb")


def resident_mb() -> float:
    """Resident memory of this process now, in MB; its peak where the system does not tell."""
    try:
        with Path("/proc/self/statm").open(encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() / 1e6
    except (OSError, ValueError, IndexError):
        return peak_mb()


def peak_mb() -> float:
    """Highest resident memory of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3
