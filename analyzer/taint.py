"""The taint client: labels that meet sinks, as leaks (semantics.md 4, formats.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from analyzer.callgraph.scc import components
from analyzer.idfg import Idfg
from analyzer.models.types import Rule, Sink, Source
from analyzer.tokens import SINK, TAINT, UNKNOWN, Key, Site
from analyzer.witness import Witnesses, WitnessStep
from gpu.problem import CHANNEL

Condition = Callable[[str, int, int], bool]
"""(condition name, method, IR operation) -> whether it may hold."""

FOLDED_PLACE = "widened: the sink's place was folded"
THROUGH_TABLE = "widened: it passes objects that library statics reach, which are kept for all moments at once"
"""Why a path does not begin at its source."""

MOST_MEETINGS = 3
"""Methods in which a witness of one finding is looked for, smallest first."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A label that meets a sink under a rule."""

    rule: Rule
    source: Source
    source_site: int
    sink: Sink
    sink_site: int
    position: int
    """Declared parameter of the sink that the data reaches; -1 the receiver."""
    path: tuple[WitnessStep, ...]
    rests_on: tuple[str, ...]

    @property
    def confidence(self) -> Literal["low", "medium", "high"]:
        """'high' when it rests on nothing; 'low' when not even the place of its sink is known."""
        if any(note.startswith(FOLDED_PLACE) for note in self.rests_on):
            return "low"
        return "medium" if self.rests_on else "high"


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A label in a sink row of a method."""

    method: int
    column: int
    row: int
    token: Key
    sink: Key


_Known = dict[tuple[str, int, int, int, int, int], list[_Meeting]]
"""(rule, source, its site, sink, its site, position) -> where both meet."""
_Folded = dict[tuple[str, int, int], list[tuple[_Meeting, tuple[int, ...]]]]
"""(rule, source, its site) -> where it meets sinks, and the sites that each of them may be."""


def leaks(
    idfg: Idfg, rules_for: Callable[[str, str], tuple[Rule, ...]], condition: Condition, witnesses: Witnesses
) -> list[Leak]:
    """All leaks of a solved app, each with its shortest witness: one per (rule, source statement, sink statement).

    A sink row that lost its site (export level 2) stands for many statements in libraries, of which one may be
    reached: these are one finding per (rule, source statement), at the first of them, that says so.
    """
    known, folded = _meetings(idfg, rules_for)
    holds = _Holds(idfg, condition)
    found: list[Leak] = []
    reported: set[tuple[str, int, int]] = set()
    for place in sorted(known):
        rule, source, at, sink, site, _ = place
        if (rule, at, site) not in reported and holds.source(source, at) and holds.sink(sink, site):
            reported.add((rule, at, site))
            found.append(_leak(idfg, witnesses, rules_for, rule, known[place], site, 0))
    for rule, source, at in sorted(folded):
        if not holds.source(source, at):
            continue
        met = [(m, holds.sinks(m.sink[1], sites)) for m, sites in folded[rule, source, at]]
        first = min((sites[0] for _, sites in met if sites), default=-1)
        if first >= 0 and (rule, at, first) not in reported:
            reported.add((rule, at, first))
            among = len(set().union(*{sites for _, sites in met}))
            meetings = [m for m, sites in met if first in sites]
            found.append(_leak(idfg, witnesses, rules_for, rule, meetings, first, among))
    return found


class _Holds:
    """Whether the conditions of sources and sinks may hold at their sites, each asked once."""

    def __init__(self, idfg: Idfg, condition: Condition) -> None:
        self.ctx, self.condition = idfg.ctx, condition
        self._sources: dict[tuple[int, int], bool] = {}
        self._sinks: dict[tuple[int, int], bool] = {}
        self._lists: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}

    def source(self, source: int, site: int) -> bool:
        """Of a source."""
        if (source, site) not in self._sources:
            self._sources[source, site] = self._holds(self.ctx.library.sources[source].when, site)
        return self._sources[source, site]

    def sink(self, sink: int, site: int) -> bool:
        """Of a sink."""
        if (sink, site) not in self._sinks:
            self._sinks[sink, site] = self._holds(self.ctx.library.sinks[sink].when, site)
        return self._sinks[sink, site]

    def sinks(self, sink: int, sites: tuple[int, ...]) -> tuple[int, ...]:
        """Those of some sites at which that of a sink holds."""
        if (sink, sites) not in self._lists:
            self._lists[sink, sites] = tuple(s for s in sites if self.sink(sink, s))
        return self._lists[sink, sites]

    def _holds(self, when: str | None, site: int) -> bool:
        return not when or self.condition(when, self.ctx.sites[site].method, self.ctx.sites[site].op)


def _meetings(idfg: Idfg, rules_for: Callable[[str, str], tuple[Rule, ...]]) -> tuple[_Known, _Folded]:
    """Where labels meet sinks whose statement is known, or is in the app's own code; and the others."""
    ctx = idfg.ctx
    known: _Known = {}
    folded: _Folded = {}
    sink_sites = SinkSites(idfg)
    rules: dict[tuple[int, int], tuple[Rule, ...]] = {}
    for method, layout in idfg.encoded.layouts.items():
        for row, columns in idfg.solution.labels(layout.number, CHANNEL):
            key = layout.slot(row)
            if isinstance(key, int) or key[0] != SINK:
                continue
            labels = [(c, layout.columns[c]) for c in columns if layout.columns[c][0] == TAINT]
            certain, others = sink_sites.split(method, key) if labels else ((), ())
            for column, token in labels:
                meeting = _Meeting(method, column, row, token, key)
                ends = token[1], key[1]
                if ends not in rules:
                    rules[ends] = rules_for(ctx.library.sources[ends[0]].kind, ctx.library.sinks[ends[1]].kind)
                for rule in rules[ends]:
                    for site in certain:
                        known.setdefault((rule.id, token[1], token[2], key[1], site, key[3]), []).append(meeting)
                    if others:
                        folded.setdefault((rule.id, token[1], token[2]), []).append((meeting, others))
    return known, folded


class SinkSites:
    """Call sites that sink rows stand for: its own, or all that folded rows of callees came from."""

    def __init__(self, idfg: Idfg) -> None:
        self.ctx, self.encoded = idfg.ctx, idfg.encoded
        self._folded: dict[Key, dict[int, frozenset[int]]] = {}
        self._split: dict[frozenset[int], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def of(self, method: int, row: Key) -> frozenset[int]:
        """Sites of a row of a method."""
        if row[2] >= 0:
            return frozenset((row[2],))
        if row not in self._folded:
            self._folded[row] = self._below(row)
        return self._folded[row].get(method, frozenset())

    def split(self, method: int, row: Key) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The same, sorted: those that are known or in the app's own code, and others."""
        sites = self.of(method, row)
        if row[2] >= 0:
            return tuple(sites), ()
        if sites not in self._split:
            own = {s for s in sites if self.ctx.is_own(self.ctx.sites[s].method)}
            self._split[sites] = tuple(sorted(own)), tuple(sorted(sites - own))
        return self._split[sites]

    @cached_property
    def _exported(self) -> dict[Key, set[int]]:
        """Folded sink row of a summary -> methods that have it."""
        found: dict[Key, set[int]] = {}
        for method, key in self.encoded.exports_of_kind(SINK):
            if key[2] < 0:
                found.setdefault(key, set()).add(method)
        return found

    @cached_property
    def _rows(self) -> dict[Key, dict[int, set[int]]]:
        """Folded sink row -> method -> sites of its rows that may be folded to that, and -1 for that row itself."""
        found: dict[Key, dict[int, set[int]]] = {}
        for layout, row in self.encoded.rows_of_kind(SINK):
            key = layout.slot(row)
            assert not isinstance(key, int)
            found.setdefault((SINK, key[1], -1, key[3]), {}).setdefault(layout.method, set()).add(key[2])
        return found

    def _below(self, row: Key) -> dict[int, frozenset[int]]:
        """Method that has a folded row -> sites in the methods below it: not its own, which have rows themselves."""
        rows, exported = self._rows.get(row, {}), self._exported.get(row, set())
        nodes = sorted(m for m, sites in rows.items() if -1 in sites)
        callees = {m: [c for c in self.ctx.graph.callees(m) if c in exported and c in rows] for m in nodes}
        found: dict[int, frozenset[int]] = {}
        for members in components(nodes, callees):
            below: set[int] = set()
            for m in members:
                for c in callees[m]:
                    if c not in members:
                        below |= rows[c] | found.get(c, frozenset())
            count = Counter(site for m in members for site in rows[m])
            every = below.union(count)
            for m in members:
                found[m] = frozenset(every - {s for s in rows[m] if count[s] == 1 and s not in below} - {-1})
        return found


def _leak(
    idfg: Idfg,
    witnesses: Witnesses,
    rules_for: Callable[[str, str], tuple[Rule, ...]],
    rule_id: str,
    meetings: list[_Meeting],
    site: int,
    among: int,
) -> Leak:
    """The leak with the shortest witness among the places where its ends meet; `among` sink statements, if not 0."""
    ctx = idfg.ctx
    token, sink_key = meetings[0].token, meetings[0].sink
    source, sink = ctx.library.sources[token[1]], ctx.library.sinks[sink_key[1]]
    a, b = ctx.sites[token[2]], ctx.sites[site]
    paths = []
    smallest = sorted(meetings, key=lambda m: (len(idfg.encoded.layouts[m.method].rows), m.method))
    for meeting in smallest[:MOST_MEETINGS]:
        witnesses.guesses = set()
        steps = witnesses.path(meeting.method, meeting.column, meeting.row)
        rests = set(witnesses.guesses)
        if not steps:
            ends = ((a.method, a.op, "the data comes in here"), (b.method, b.op, "it leaves the app here"))
            steps = [WitnessStep(*end) for end in ends if end[1] >= 0]
            rests.add("no witness path: only its two ends are shown")
        elif not _begins(idfg, steps, a):
            rests.add(THROUGH_TABLE)
        if among:
            rests.add(f"{FOLDED_PLACE}; it is one of {among} in libraries")
        elif meeting.sink[2] == -1:
            rests.add(FOLDED_PLACE)
        layout = idfg.encoded.layouts[meeting.method]
        if (UNKNOWN,) in layout.columns:
            rests.add(f"widened: objects folded in {ctx.program.signature(meeting.method)}")
        paths.append((not steps, len(steps), [(s.method, s.op) for s in steps], steps, tuple(sorted(rests))))
    paths.sort(key=lambda p: p[:3])
    rule = next(r for r in rules_for(source.kind, sink.kind) if r.id == rule_id)
    return Leak(rule, source, token[2], sink, site, sink_key[3], tuple(paths[0][3]), paths[0][4])


def _begins(idfg: Idfg, steps: list[WitnessStep], source: Site) -> bool:
    """Whether a path begins at its source: a call, or a parameter that the framework hands over."""
    if source.op < 0:
        return any(s.method in idfg.ctx.environments for s in steps)
    return any((s.method, s.op) == (source.method, source.op) for s in steps)
