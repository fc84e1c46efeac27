"""The taint client: labels that meet sinks, as leaks (semantics.md 4, formats.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analyzer.idfg import Idfg
from analyzer.models.types import Rule, Sink, Source
from analyzer.tokens import OBJECT, SINK, TAINT, UNKNOWN, Key, Site
from analyzer.witness import Witnesses, WitnessStep
from gpu.bits import bits_of

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
    """A label in a sink row of a method; `site` is one that the row may stand for."""

    method: int
    token: Key
    row: Key
    site: int


_Places = dict[tuple[object, ...], list[_Meeting]]
"""What makes one finding -> where its label and its sink meet."""


def leaks(
    idfg: Idfg, rules_for: Callable[[str, str], tuple[Rule, ...]], condition: Condition, witnesses: Witnesses
) -> list[Leak]:
    """All leaks of a solved app, each with its shortest witness: one per (rule, source statement, sink statement).

    A sink row that lost its site (export level 2) stands for many statements in libraries, of which one may be
    reached: these are one finding per (rule, source statement), at the first of them, that says so.
    """
    known, folded = _meetings(idfg, rules_for)
    found: list[Leak] = []
    reported: set[tuple[str, int, int]] = set()
    for places, widened in ((known, False), (folded, True)):
        for place in sorted(places):
            met = [m for m in places[place] if _holds(idfg, m, condition)]
            first = min((m.site for m in met), default=-1)
            meetings = [m for m in met if m.site == first]
            statement = (str(place[0]), meetings[0].token[2], first) if meetings else None
            if statement is None or statement in reported:
                continue
            reported.add(statement)
            among = len({m.site for m in met}) if widened else 0
            found.append(_leak(idfg, witnesses, rules_for, str(place[0]), meetings, among))
    return found


def _meetings(idfg: Idfg, rules_for: Callable[[str, str], tuple[Rule, ...]]) -> tuple[_Places, _Places]:
    """Where labels meet sinks whose statement is known, or is in the app's own code; and the others."""
    ctx = idfg.ctx
    known: _Places = {}
    folded: _Places = {}
    for method, layout in idfg.encoded.layouts.items():
        for row, key in enumerate(layout.rows):
            if isinstance(key, int) or key[0] != SINK:
                continue
            tokens = [layout.columns[c] for c in bits_of(idfg.solution.rows[layout.number][row])]
            labels = [t for t in tokens if t[0] == TAINT]
            for site in sink_sites(idfg, method, key) if labels else ():
                certain = key[2] >= 0 or ctx.is_own(ctx.sites[site].method)
                for token in labels:
                    for rule in rules_for(ctx.library.sources[token[1]].kind, ctx.library.sinks[key[1]].kind):
                        place = (rule.id, token[1], token[2]) + ((key[1], site, key[3]) if certain else ())
                        (known if certain else folded).setdefault(place, []).append(_Meeting(method, token, key, site))
    return known, folded


def sink_sites(idfg: Idfg, method: int, row: Key) -> list[int]:
    """Call sites that a sink row of a method stands for: its own, or all that folded rows of callees came from."""
    if row[2] >= 0:
        return [row[2]]
    layouts = idfg.encoded.layouts
    found: set[int] = set()
    seen = {method}
    stack = [method]
    while stack:
        for callee in idfg.ctx.graph.callees(stack.pop()):
            if callee in seen or callee not in layouts or row not in layouts[callee].summary_rows:
                continue
            seen.add(callee)
            rows = [k for k in layouts[callee].rows if not isinstance(k, int) and k[0] == SINK]
            found.update(k[2] for k in rows if (k[1], k[3]) == (row[1], row[3]) and k[2] >= 0)
            if row in rows:
                stack.append(callee)
    return sorted(found)


def _holds(idfg: Idfg, meeting: _Meeting, condition: Condition) -> bool:
    """Whether the conditions of both ends may hold."""
    ctx = idfg.ctx
    ends = (ctx.library.sources[meeting.token[1]], meeting.token[2]), (ctx.library.sinks[meeting.row[1]], meeting.site)
    return all(not end.when or condition(end.when, ctx.sites[s].method, ctx.sites[s].op) for end, s in ends)


def _leak(
    idfg: Idfg,
    witnesses: Witnesses,
    rules_for: Callable[[str, str], tuple[Rule, ...]],
    rule_id: str,
    meetings: list[_Meeting],
    among: int,
) -> Leak:
    """The leak with the shortest witness among the places where its ends meet; `among` sink statements, if not 0."""
    ctx = idfg.ctx
    token, row, site = meetings[0].token, meetings[0].row, meetings[0].site
    source, sink = ctx.library.sources[token[1]], ctx.library.sinks[row[1]]
    a, b = ctx.sites[token[2]], ctx.sites[site]
    paths = []
    smallest = sorted(meetings, key=lambda m: (len(idfg.encoded.layouts[m.method].rows), m.method))
    for meeting in smallest[:MOST_MEETINGS]:
        witnesses.guesses = set()
        steps = witnesses.path(meeting.method, meeting.token, meeting.row)
        rests = set(witnesses.guesses)
        if not steps:
            ends = ((a.method, a.op, "the data comes in here"), (b.method, b.op, "it leaves the app here"))
            steps = [WitnessStep(*end) for end in ends if end[1] >= 0]
            rests.add("no witness path: only its two ends are shown")
        elif not _begins(idfg, steps, a):
            rests.add(THROUGH_TABLE)
        if among:
            rests.add(f"{FOLDED_PLACE}; it is one of {among} in libraries")
        elif meeting.row[2] == -1:
            rests.add(FOLDED_PLACE)
        layout = idfg.encoded.layouts[meeting.method]
        if any(key == (UNKNOWN,) for key in layout.columns):
            rests.add(f"widened: objects folded in {ctx.program.signature(meeting.method)}")
        paths.append((not steps, len(steps), [(s.method, s.op) for s in steps], steps, tuple(sorted(rests))))
    paths.sort(key=lambda p: p[:3])
    rule = next(r for r in rules_for(source.kind, sink.kind) if r.id == rule_id)
    return Leak(rule, source, token[2], sink, site, row[3], tuple(paths[0][3]), paths[0][4])


def _begins(idfg: Idfg, steps: list[WitnessStep], source: Site) -> bool:
    """Whether a path begins at its source: a call, or a parameter that the framework hands over."""
    if source.op < 0:
        return any(s.method in idfg.ctx.environments for s in steps)
    return any((s.method, s.op) == (source.method, source.op) for s in steps)


def receiver_objects(idfg: Idfg, method: int, op: int, argument: int) -> list[Key]:
    """Objects that an argument of a call may be, for conditions."""
    layout = idfg.encoded.layouts[method]
    body = idfg.ctx.program.body(method)
    args = body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist()
    if argument >= len(args) or args[argument] < 0:
        return []
    row = idfg.solution.rows[layout.number][args[argument]]
    return [layout.columns[c] for c in bits_of(row) if layout.columns[c][0] == OBJECT]
