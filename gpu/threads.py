"""How many threads engines use."""

from __future__ import annotations

import os

from gpu.errors import WrongConfiguration


def threads_wanted(threads: int | None = None) -> int:
    """Number of threads: the argument, or GDROID_THREADS, or all cores that this process may use.

    Raises:
        WrongConfiguration: GDROID_THREADS, or the argument, is not a positive number.
    """
    text = str(threads) if threads is not None else os.environ.get("GDROID_THREADS", "").strip()
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise WrongConfiguration(f"GDROID_THREADS: {text!r} is not a number of threads")
    return int(text)
