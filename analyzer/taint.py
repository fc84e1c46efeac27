"""The taint client: labels that meet sinks, as leaks (semantics.md 4, formats.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzer.idfg import Idfg
from analyzer.models.types import Rule, Sink, Source
from analyzer.tokens import OBJECT, SINK, TAINT, UNKNOWN, Key
from analyzer.witness import Witnesses, WitnessStep
from gpu.bits import bits_of

Condition = Callable[[str, int, int], bool]
"""(condition name, method, IR operation) -> whether it may hold."""


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


@dataclass(frozen=True, slots=True)
class _Meeting:
    method: int
    token: Key
    row: Key


def leaks(
    idfg: Idfg, rules_for: Callable[[str, str], tuple[Rule, ...]], condition: Condition, max_steps: int
) -> list[Leak]:
    """All leaks of a solved app: one per (rule, source statement, sink statement), with its shortest witness."""
    ctx = idfg.ctx
    meetings: dict[tuple[str, int, int, int, int, int], list[_Meeting]] = {}
    for method, layout in idfg.encoded.layouts.items():
        for row, key in enumerate(layout.rows):
            if isinstance(key, int) or key[0] != SINK:
                continue
            for column in bits_of(idfg.solution.rows[layout.number][row]):
                token = layout.columns[column]
                if token[0] != TAINT:
                    continue
                sites = sorted(ctx.sink_sites.get((key[1], key[3]), ())) if key[2] == -1 else [key[2]]
                for site in sites:
                    kinds = ctx.library.sources[token[1]].kind, ctx.library.sinks[key[1]].kind
                    for rule in rules_for(*kinds):
                        place = (rule.id, token[1], token[2], key[1], site, key[3])
                        meetings.setdefault(place, []).append(_Meeting(method, token, key))
    witnesses = Witnesses(idfg, max_steps)
    found = []
    seen: set[tuple[str, int, int]] = set()
    by_id: dict[str, Rule] = {}
    for place in sorted(meetings):
        rule_id, source_number, source_site, sink_number, sink_site, position = place
        source, sink = ctx.library.sources[source_number], ctx.library.sinks[sink_number]
        a, b = ctx.sites[source_site], ctx.sites[sink_site]
        if source.when and not condition(source.when, a.method, a.op):
            continue
        if sink.when and not condition(sink.when, b.method, b.op):
            continue
        statement = (rule_id, source_site, sink_site)
        if statement in seen:
            continue
        seen.add(statement)
        paths = []
        smallest = sorted(meetings[place], key=lambda m: (len(idfg.encoded.layouts[m.method].rows), m.method))
        for meeting in smallest[:3]:
            witnesses.guesses = set()
            steps = witnesses.path(meeting.method, meeting.token, meeting.row)
            rests = set(witnesses.guesses)
            if not steps:
                ends = ((a.method, a.op, "the data comes in here"), (b.method, b.op, "it leaves the app here"))
                steps = [WitnessStep(*end) for end in ends if end[1] >= 0]
                rests.add("no witness path: only its two ends are shown")
            if meeting.row[2] == -1:
                rests.add("widened: the sink's place was folded")
            layout = idfg.encoded.layouts[meeting.method]
            if any(key == (UNKNOWN,) for key in layout.columns):
                rests.add(f"widened: objects folded in {ctx.program.signature(meeting.method)}")
            paths.append((not steps, len(steps), [(s.method, s.op) for s in steps], steps, tuple(sorted(rests))))
        paths.sort(key=lambda p: p[:3])
        rule = by_id.setdefault(rule_id, next(r for r in rules_for(source.kind, sink.kind) if r.id == rule_id))
        found.append(Leak(rule, source, source_site, sink, sink_site, position, tuple(paths[0][3]), paths[0][4]))
    return found


def receiver_objects(idfg: Idfg, method: int, op: int, argument: int) -> list[Key]:
    """Objects that an argument of a call may be, for conditions."""
    layout = idfg.encoded.layouts[method]
    body = idfg.ctx.program.body(method)
    args = body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist()
    if argument >= len(args) or args[argument] < 0:
        return []
    row = idfg.solution.rows[layout.number][args[argument]]
    return [layout.columns[c] for c in bits_of(row) if layout.columns[c][0] == OBJECT]
