"""Witness paths: how a label got from its source to a sink, statement by statement.

Inside a method the solved facts are a graph: rows that hold a token, joined by the operations that copy it. A
shortest path through it explains the token; where the path crosses a call, the callee's path is put in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analyzer.encode import EXTRA, Layout
from analyzer.idfg import Idfg
from analyzer.tokens import CELL, PSEUDO, RETURN, SINK, STATIC, THROWN
from gpu.solution import START, Hop

MOST_TRIES = 1_000
"""(method, token, row) tried for one witness; beyond that a finding shows its two ends only."""
MOST_DEPTH = 60
"""Calls inside each other that a path goes into."""


@dataclass(frozen=True, slots=True)
class WitnessStep:
    """One step: an IR operation of a method, and why the data is there."""

    method: int
    op: int
    why: str


class _TooMuch(Exception):
    """A witness, or what it needs, would take too long to find."""


_Place = tuple[int, int, int]
"""Number of a method, column, row."""


@dataclass(slots=True)
class _Expanded:
    """Steps by which a token reaches a row, calls included; right for whoever is not himself inside one of `places`."""

    steps: tuple[WitnessStep, ...]
    guesses: frozenset[str]
    tries: int
    depth: int
    """Calls inside each other, this one included."""
    places: frozenset[_Place]
    """What was tried on the way."""
    whole: bool = True
    """Nothing was left out because of what is above."""


@dataclass(slots=True)
class _Exits:
    """How the tokens and rows of a method are called in its summary."""

    columns: dict[int, list[int]]
    rows: dict[int, list[int]]


class Witnesses:
    """Finds witness paths in a solved app. What was found inside methods is kept."""

    def __init__(self, idfg: Idfg, max_steps: int, in_time: Callable[[], bool] = lambda: True) -> None:
        """`in_time`: asked often; once it says no, no more paths are found, and `stopped` is set."""
        self.idfg, self.max_steps, self.in_time = idfg, max_steps, in_time
        self.problem = idfg.encoded.problem
        self.stopped = False
        self._hops: dict[_Place, list[Hop]] = {}
        self._expanded: dict[_Place, _Expanded] = {}
        self._exits: dict[int, _Exits] = {}
        self._layouts = {layout.number: layout for layout in idfg.encoded.layouts.values()}
        self.guesses: set[str] = set()
        self._tries = 0

    def path(self, method: int, column: int, row: int) -> list[WitnessStep]:
        """Steps by which a token reaches a row of a method; empty when it cannot be shown."""
        layout = self.idfg.encoded.layouts[method]
        self._tries = 0
        try:
            found = self._expand(layout, column, row, ())
        except _TooMuch:
            return []
        return list(found.steps[: self.max_steps])

    def _go_on(self) -> bool:
        self.stopped = self.stopped or not self.in_time()
        return not self.stopped

    # -- one method --------------------------------------------------------------------------------------------

    def _expand(self, layout: Layout, column: int, row: int, above: tuple[_Place, ...]) -> _Expanded:
        me = (layout.number, column, row)
        known = self._expanded.get(me)
        if known is not None and len(above) + known.depth <= MOST_DEPTH + 1 and known.places.isdisjoint(above):
            self._tries += known.tries
            self.guesses |= known.guesses
            if self._tries > MOST_TRIES:
                raise _TooMuch
            return known
        if me in above or len(above) > MOST_DEPTH:
            return _Expanded((), frozenset(), 0, 0, frozenset(), whole=False)
        self._tries += 1
        if self._tries > MOST_TRIES or not self._go_on():
            raise _TooMuch
        before = self._tries - 1
        steps: list[WitnessStep] = []
        guesses: set[str] = set()
        places, depth, whole = {me}, 1, True
        for hop in self._path(me):
            inner: tuple[WitnessStep, ...] = ()
            callee = self._callee(hop)
            for found in self._inside(callee, hop, (*above, me)) if callee is not None else ():
                inner = found.steps
                guesses |= found.guesses
                places |= found.places
                depth, whole = max(depth, found.depth + 1), whole and found.whole
            if (origin := int(self.problem.op_origin[hop.op])) < EXTRA:
                steps.append(WitnessStep(layout.method, origin, self._why(layout, hop, bool(inner))))
                if callee is None:
                    guesses |= self._guesses(layout, hop, origin)
                    self.guesses |= guesses
            steps += inner
        result = _Expanded(tuple(steps), frozenset(guesses), self._tries - before, depth, frozenset(places), whole)
        if whole:
            self._expanded[me] = result
        return result

    def _path(self, place: _Place) -> list[Hop]:
        """Through one method."""
        if place not in self._hops:
            self._hops[place] = self.idfg.replay.path(*place)
        return self._hops[place]

    def _callee(self, hop: Hop) -> Layout | None:
        if hop.application < 0:
            return None
        return self._layouts.get(int(self.problem.app_summary[hop.application]))

    def _inside(self, callee: Layout, hop: Hop, above: tuple[_Place, ...]) -> Iterator[_Expanded]:
        """What was tried inside a callee, from the column that stands for the token to the row that it leaves by.

        The last one has steps, if any has.
        """
        exits = self._exits_of(callee.number)
        for column in exits.columns.get(hop.column, ()):
            for row in exits.rows.get(hop.export_row, ()):
                if self.idfg.solution.holds(callee.number, row, column):
                    found = self._expand(callee, column, row, above)
                    yield found
                    if found.steps:
                        return

    def _exits_of(self, m: int) -> _Exits:
        if m not in self._exits:
            p = self.problem
            exits = self._exits[m] = _Exits({}, {})
            for column, name in enumerate(p.col_export[p.col_off[m] : p.col_off[m + 1]].tolist()):
                exits.columns.setdefault(name, []).append(column)
            span = slice(p.export_off[m], p.export_off[m + 1])
            for row, to in zip(p.export_row[span].tolist(), p.export_to[span].tolist(), strict=True):
                exits.rows.setdefault(to, []).append(row)
        return self._exits[m]

    # -- words -------------------------------------------------------------------------------------------------

    def _why(self, layout: Layout, hop: Hop, inside: bool) -> str:
        target = layout.rows[hop.row]
        names = self.idfg.names
        if hop.source == START:
            return "the data comes into being in the call" if inside else "the data comes in here"
        if isinstance(target, int):
            if hop.application >= 0:
                return "the call returns it"
            source = layout.rows[hop.source]
            if not isinstance(source, int):
                return f"read from {names.slot(layout.method, source)}"
            return "computed from it"
        kind = target[0]
        if kind == CELL:
            return f"kept in {names.slot(layout.method, target)}"
        if kind in (STATIC, PSEUDO):
            return f"kept in {names.slot(layout.method, target)}"
        if kind == RETURN:
            return "returned"
        if kind == THROWN:
            return "thrown"
        if kind == SINK:
            return "passed to a call that lets it out" if inside else "it leaves the app here"
        return "passed on"

    def _guesses(self, layout: Layout, hop: Hop, origin: int) -> set[str]:
        """What a call of a library method rests on."""
        shape = self.idfg.ctx.shapes[layout.method]
        call = shape.calls.get(origin) if hop.application >= 0 else None
        if call is None:
            return set()
        guess = any(application.guess for application in shape.applications(call))
        return {f"no model: {self.idfg.ctx.program.signature(call.method)}"} if guess else set()
