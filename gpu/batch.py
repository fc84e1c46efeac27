"""Many problems as one: their methods side by side, so that one launch solves all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu.pack import fact_offsets
from gpu.problem import APPLY, Problem
from gpu.solution import Solution


def join(problems: Sequence[Problem]) -> Problem:
    """One problem that holds all others, in order; a single one is returned as it is.

    Summaries of methods stand first in every problem, so those of methods are joined first, then the constant ones.
    """
    if len(problems) == 1:
        return problems[0]
    arrays: dict[str, Any] = {}
    for f in fields(Problem):
        parts = [getattr(p, f.name) for p in problems]
        if f.name in _SUMMARIES or f.name in _SUMMARY_OFFSETS:
            continue
        if f.name.endswith("_off"):
            arrays[f.name] = _offsets([np.diff(part) for part in parts])
        elif f.name in _SHIFTED:
            arrays[f.name] = _shifted(parts, [len(getattr(p, _SHIFTED[f.name])) - 1 for p in problems])
        else:
            arrays[f.name] = np.concatenate(parts)
    arrays["op_dst"] = np.concatenate(
        [np.where(p.op_kind == APPLY, p.op_dst + first, p.op_dst) for p, first in zip(problems, _first(
            [len(p.call_off) - 1 for p in problems]), strict=True)]
    ).astype(np.int32)  # fmt: skip
    arrays["scc_off"] = _offsets([np.diff(p.scc_off) for p in problems])
    n = [p.n_methods for p in problems]
    constants = [p.n_summaries - p.n_methods for p in problems]
    app = []
    for p, method, constant in zip(problems, _first(n), _first(constants), strict=True):
        s = p.app_summary
        app.append(np.where(s < p.n_methods, s + method, s - p.n_methods + sum(n) + constant))
    arrays["app_summary"] = np.concatenate(app).astype(np.int32)
    arrays |= _summaries(problems)
    joined = Problem(**arrays)
    return joined


def split(solution: Solution, problems: Sequence[Problem]) -> list[Solution]:
    """The solution of each problem, from that of all."""
    found, fact, summary = [], 0, 0
    for p in problems:
        _, fact_off, summary_off = fact_offsets(p)
        facts = solution.facts[fact : fact + int(fact_off[-1])]
        sums = solution.summary_words[summary : summary + int(summary_off[-1])]
        found.append(Solution(p, facts, fact_off, sums, summary_off))
        fact, summary = fact + int(fact_off[-1]), summary + int(summary_off[-1])
    return found


_SHIFTED = {
    "row_mask": "mask_off", "op_mask": "mask_off", "bind_mask": "mask_off", "write_mask": "mask_off",
    "export_mask": "mask_off", "op_link": "link_off", "bind_link": "link_off", "write_link": "link_off",
}  # fmt: skip
"""Arrays of global numbers, and whose offsets say how many there are; -1 stays."""
_SUMMARY_OFFSETS = ("sumcol_off", "sumrow_off", "region_off", "alias_off", "bits_off")
_SUMMARIES = ("sumcol_kind", "sumcol_parent", "region_col", "alias_row", "sumrow_owner", "bits_col")


def _first(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts).tolist()][: len(counts)]


def _offsets(counts: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(np.concatenate(counts), dtype=np.int64))).astype(np.int32)


def _shifted(parts: Sequence[NDArray[np.int32]], counts: Sequence[int]) -> NDArray[np.int32]:
    shifted = [np.where(part >= 0, part + first, part) for part, first in zip(parts, _first(counts), strict=True)]
    return np.concatenate(shifted).astype(np.int32)


def _summaries(problems: Sequence[Problem]) -> dict[str, Any]:
    """Arrays of summaries: methods of all problems, then constants of all problems."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in (*_SUMMARY_OFFSETS, *_SUMMARIES)}
    for constant in (False, True):
        for p in problems:
            a, b = (p.n_methods, p.n_summaries) if constant else (0, p.n_methods)
            cols, rows = slice(p.sumcol_off[a], p.sumcol_off[b]), slice(p.sumrow_off[a], p.sumrow_off[b])
            parts["sumcol_off"].append(np.diff(p.sumcol_off[a : b + 1]))
            parts["sumrow_off"].append(np.diff(p.sumrow_off[a : b + 1]))
            parts["sumcol_kind"].append(p.sumcol_kind[cols])
            parts["sumcol_parent"].append(p.sumcol_parent[cols])
            parts["sumrow_owner"].append(p.sumrow_owner[rows])
            for off, values, owners in (
                (p.region_off, "region_col", cols), (p.alias_off, "alias_row", cols), (p.bits_off, "bits_col", rows),
            ):  # fmt: skip
                name = {"region_col": "region_off", "alias_row": "alias_off", "bits_col": "bits_off"}[values]
                parts[name].append(np.diff(off[owners.start : owners.stop + 1]))
                parts[values].append(getattr(p, values)[off[owners.start] : off[owners.stop]])
    return {
        name: _offsets(values) if name in _SUMMARY_OFFSETS else np.concatenate(values) for name, values in parts.items()
    }
