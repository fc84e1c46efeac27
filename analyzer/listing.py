"""`gdroid facts`: a method statement by statement, with what may hold before each."""

from __future__ import annotations

from analyzer.idfg import Idfg


def listing(idfg: Idfg, method: str, pc: int | None, concrete: bool) -> str:
    return ""
