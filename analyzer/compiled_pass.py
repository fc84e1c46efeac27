"""The shape pass over an app by the kernels of `gpu.shape` (semantics.md 2).

Components bottom-up, each repeated until no summary grows, coarser where a bound is hit; then again, where methods
would read something else, until the table of library statics is stable. The kernels know no Android: what they cannot
know (subtypes, dispatch, library models, the table) they ask for, and go on with the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from analyzer.answers import Answers
from analyzer.contents import TableContents
from analyzer.lazy_shapes import Shapes, Summaries
from analyzer.lower import CALL, OR, STORE
from analyzer.shape import COARSEST, MOST_OWN_PATHS, Context, MethodShape, on_every_path
from analyzer.shape_state import CodeWriter, Glance, MethodCode, MethodState
from analyzer.tokens import FORMAL, OBJECT, STATIC, Key
from analyzer.world import WorldArrays
from gpu.bits import bits_of
from gpu.errors import GdroidError
from gpu.shape import layout as lay
from gpu.shape.layout import Out, new_map

BUDGET = 300
"""Primitives that a kernel evaluates before it is asked whether there is time left."""

_GROWTH = frozenset(
    [
        lay.GROW_ROWS,
        lay.GROW_WORDS,
        lay.GROW_TOKENS,
        lay.GROW_MAP,
        lay.GROW_ENTRIES,
        lay.GROW_MASKS,
        lay.GROW_SIGMA,
        lay.GROW_CACHE,
    ]
)


class _Coarser(Exception):
    """A bound of the component at hand was hit; it starts again, coarser."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class CompiledPass:
    """Runs the pass over a call graph."""

    def __init__(self, ctx: Context) -> None:
        from gpu.shape import clears, export, method

        self.ctx = ctx
        self.levels: dict[int, int] = {}
        """Export level of each method."""
        self.world = WorldArrays(ctx)
        self._method: Any = method
        self._export: Any = export
        self._clears: Any = clears
        self._writer = CodeWriter(self.world)
        self._codes: dict[int, MethodCode] = {}
        self.states: dict[int, MethodState] = {}
        """What is known of each method that is done."""
        self.answers = Answers(ctx, self.world, self._writer)
        self._contents = TableContents(self.world, ctx.table.numbering)
        ctx.shapes = self._shapes = Shapes(self)
        ctx.summaries = self._summaries = Summaries(self)
        self.out = _new_out(256)

    # -- rounds ------------------------------------------------------------------------------------------------

    def run(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Fills `ctx.shapes` and `ctx.summaries`.

        Raises what `ctx.check` raises. What stays then are the components done of the first round, or all of the last
        round that was done: shapes that fit each other.
        """
        ctx = self.ctx
        done = None
        for m in ctx.graph.methods:
            self.world.describe(m)
        self.world.seal_methods()
        try:
            dirty: set[int] | None = None
            while dirty is None or dirty:
                self._round(dirty, progress)
                found = dict(self.states), dict(self.levels), dict(ctx.folded), ctx.table.copy()
                done = *found, self.world.members(), self.answers.places_now()
                dirty = self.grow_table()
        except BaseException:
            if done is not None:
                self.states, levels, ctx.folded, table, members, places = done
                self.levels.clear()
                self.levels.update(levels)
                ctx.table.restore(table)
                self._restore(members, places)
            raise
        finally:
            self._deliver()

    def _restore(self, members: tuple[Any, Any], places: dict[int, int]) -> None:
        """Takes back what the arrays know of a larger table."""
        self.world.restore_members(members)
        self.answers.restore_places(places)

    def _deliver(self) -> None:
        """Puts what was found where the stages after this one look for it."""
        self.world.pull_sites()
        mth = self.world.arrays.mth
        mth[:, lay.MT_SUMMARY] = 0
        for m, state in self.states.items():
            mth[m, lay.MT_SUMMARY] = state.sid
        self.ctx.merged = {m for m, state in self.states.items() if state.merge}
        for found in (self._shapes, self._summaries):
            found.states = self.states
            found.forget()

    def _round(self, dirty: set[int] | None, progress: Callable[[int, int], None]) -> None:
        """Evaluates all methods, or those that would see something else, and their callers where a summary changes."""
        ctx, changed = self.ctx, set[int]()
        for done, scc in enumerate(ctx.graph.sccs):
            if dirty is None or any(m in dirty or not changed.isdisjoint(ctx.graph.callees(m)) for m in scc):
                before = [self._sid(m) for m in scc]
                self.component(scc)
                for m, old in zip(scc, before, strict=True):
                    new = self._sid(m)
                    if new != old and not self._export.same(self.world.arrays, old, new):
                        changed.add(m)
            if dirty is None:
                progress(done + 1, len(ctx.graph.sccs))

    def _sid(self, m: int) -> int:
        state = self.states.get(m)
        return state.sid if state is not None else 0

    # -- components --------------------------------------------------------------------------------------------

    def component(self, scc: tuple[int, ...]) -> None:
        """Brings one strongly connected component to its fixed point, coarser when a bound is hit.

        Where it calls itself, its summaries come before its tokens, whichever bound is hit first: that depends on the
        order of work.
        """
        ctx = self.ctx
        self.world.pull_sites()
        members = [m for m in scc if self.readable(m)]
        # What had to be coarse with a smaller table has to be with a larger one.
        level = max((self.levels.get(m, 0) for m in members), default=0)
        fold = max((ctx.folded.get(m, 0) for m in members), default=0)
        merge = any(m in self.states and self.states[m].merge for m in members)
        loop = any(map(ctx.graph.is_recursive, members))
        while True:
            try:
                states = self.attempt(members, level, fold, merge)
                break
            except _Coarser as bound:
                if bound.status == lay.OVER_KEYS:
                    merge = True
                elif bound.status == lay.OVER_EXPORT or (loop and level < COARSEST):
                    level += 1
                else:
                    fold += 1
            except BaseException:
                for m in members:
                    self.states.pop(m, None)
                raise
        for m, state in states.items():
            state.finish(self.world)
            self.states[m] = state
            self.levels[m] = level
            if fold:
                ctx.folded[m] = fold

    def readable(self, m: int) -> bool:
        """False for a method whose code is damaged: it is noted, and does nothing."""
        if m in self.ctx.damaged:
            return False
        if m not in self._codes:
            try:
                self.ctx.lowered(m)
            except GdroidError as error:
                self.ctx.damaged[m] = str(error)
                return False
            self._codes[m] = self._writer.write(MethodShape(self.ctx, m, 0, False))
        return True

    def attempt(self, members: list[int], level: int, fold: int, merge: bool) -> dict[int, MethodState]:
        """The component's fixed point at a level.

        Raises:
            _Coarser: a bound was hit.
        """
        ctx = self.ctx
        states = {m: MethodState.new(self._codes[m], fold, merge) for m in members}
        inside = {m: [t for t in ctx.graph.callees(m) if t in states] for m in members}
        mth = self.world.arrays.mth
        for m in members:
            mth[m, lay.MT_SUMMARY] = 0
        self.world.push_sites()
        for state in states.values():
            self.start(state)
        callers: dict[int, list[int]] = {m: [] for m in members}
        for m in members:
            for t in inside[m]:
                callers[t].append(m)
        order, pending = _callees_first(members, inside), set(members)
        while pending:  # sweeps; what a change makes necessary behind the place at hand waits for the next one
            for m in order:
                if m in pending:
                    pending.remove(m)
                    if self.improve(states[m], level):
                        pending.update(callers[m])
        for m in members:
            states[m].sid = int(mth[m, lay.MT_SUMMARY])
        found = [(m, self.must(states[m], level)) for m in members]
        for m, must in found:
            if must:
                sid = states[m].sid = self.export(states[m], level, must)
                mth[m, lay.MT_SUMMARY] = sid
            self._clears.mark_unique(self.world.arrays, states[m].arrays, states[m].code.code, states[m].sid)
        for state in states.values():
            self._contents.add(state)
        return states

    def improve(self, state: MethodState, level: int) -> bool:
        """Evaluates a method once more; whether its summary grew.

        Raises:
            _Coarser: a bound was hit.
        """
        self.solve(state)
        sid = self.export(state, level)
        smm, mth, m = self.world.arrays.smm, self.world.arrays.mth, state.code.shape.method
        entries, paths = smm[sid, [lay.SM_ENTRIES, lay.SM_PATHS]].tolist()
        if level < COARSEST and entries > state.code.shape.cap and (level < 2 or paths > MOST_OWN_PATHS):
            raise _Coarser(lay.OVER_EXPORT)
        if self._export.same(self.world.arrays, int(mth[m, lay.MT_SUMMARY]), sid):
            return False
        mth[m, lay.MT_SUMMARY] = sid
        return True

    def start(self, state: MethodState) -> None:
        """Makes the first rows of a method."""
        while True:
            status = self._method.start(self.world.arrays, state.arrays, state.code.named)
            if status == lay.FINE:
                return
            self.provide(state, status)
            state.reset()

    def solve(self, state: MethodState) -> None:
        """Brings a method to its fixed point under the present summaries of its callees."""
        check = self.ctx.check
        while True:
            check()
            status = self._method.run(self.world.arrays, state.arrays, state.code.code, BUDGET)
            if status == lay.FINE:
                if not state.code.shape.root or not self.grant(state):
                    return
            elif status == lay.MISSING:
                self.respond()
            elif status != lay.STOPPED:
                self.provide(state, status)

    def provide(self, state: MethodState, status: int) -> None:
        """Makes room for what a kernel lacked.

        Raises:
            _Coarser: it was no room, but a bound.
        """
        if status in _GROWTH:
            state.grow(status)
        elif status == lay.GROW_WORLD:
            self.world.grow()
        elif status == lay.GROW_PLAN:
            self.out = _new_out(2 * len(self.out.plan))
        else:
            raise _Coarser(status)

    def export(self, state: MethodState, level: int, must: list[tuple[int, int]] | None = None) -> int:
        """Number of the method's summary."""
        pairs = must or []
        while True:
            if 2 * len(pairs) + 2 > len(self.out.must):
                self.out = _new_out(2 * len(self.out.plan))
                continue
            for i, (owner, f) in enumerate(pairs):
                self.out.must[2 * i], self.out.must[2 * i + 1] = owner, f
            sid = self._export.export(self.world.arrays, state.arrays, self.out, level, len(pairs))
            if sid >= 0:
                return int(sid)
            self.provide(state, int(state.arrays.hd[lay.STATUS]))

    # -- questions ---------------------------------------------------------------------------------------------

    def respond(self) -> None:
        """Answers what kernels asked for."""
        self.answers.respond()

    def grant(self, state: MethodState) -> bool:
        """Asks the tests of the routes about objects that have not passed yet; whether one does."""
        ctx = self.ctx
        if not any(self._candidates(state, n, source) for n, (source, _, _) in enumerate(ctx.routes)):
            return False
        self.world.pull_sites()
        glance = Glance(self.world, state)
        more = False
        for n, (source, _, test) in enumerate(ctx.routes):
            for token in bits_of(self._candidates(state, n, source)):
                if test(cast(MethodShape, glance), token):
                    self._allow(state, lay.ROUTES - n, token)
                    more = True
        if more:
            state.arrays.done[:] = -1
        return more

    def _candidates(self, state: MethodState, route: int, source: int) -> int:
        """Objects that are in the pseudo-static where a route begins and have not passed it yet."""
        s, world = state.arrays, self.world
        row = world.lookup(s.mp, lay.M_ROW + 256 * lay.PSEUDO, world.dense(source))
        passed = world.lookup(s.mp, lay.M_MASK, lay.ROUTES - route)
        if row < 0:
            return 0
        waiting = s.rb[row] & ~s.mk[lay.LABELS]
        if passed >= 0:
            waiting &= ~s.mk[passed]
        return int.from_bytes(waiting.tobytes(), "little")

    def _allow(self, state: MethodState, route: int, token: int) -> None:
        s = state.arrays
        m = self.world.lookup(s.mp, lay.M_MASK, route)
        s.mk[m, token >> 6] |= np.uint64(1 << (token & 63))

    # -- what is overwritten -----------------------------------------------------------------------------------

    def must(self, state: MethodState, level: int) -> list[tuple[int, int]]:
        """Cells of formals (token, field), and statics (-1, field), that every path to a return overwrites."""
        shape = state.code.shape
        self._origins(state)
        if self.ctx.any_order(shape.method) or not self._may_clear(state):
            return []
        rows = self._cleared(state)
        if not rows:
            return []
        gains: list[set[int]] = [set() for _ in range(shape.low.body.n_blocks)]
        for op, row in rows:
            gains[shape.low.block_of[op]].add(row)
        certain = on_every_path(shape.low.body, gains)
        s, world = state.arrays, self.world
        result: set[tuple[int, int]] = set()
        for row in certain:
            kind, a, b = s.ri[row, : lay.R_C].tolist()
            if kind == STATIC:
                result.add((-1, a))
                continue
            gid = int(s.tk[a, lay.TK_GID])
            token = world.arrays.tok[gid]
            if token[lay.T_KIND] == FORMAL and level < 2 and (level == 0 or token[lay.T_DEPTH] <= 1):
                result.add((gid, b))
        return sorted(result)

    def _may_clear(self, state: MethodState) -> bool:
        """Whether anything in a method may overwrite a cell."""
        code, mth, smm = state.code.code, self.world.arrays.mth, self.world.arrays.smm
        kinds = code.prm[:, lay.P_KIND]
        if (kinds == STORE).any():
            return True
        stored = code.prm[kinds == OR, lay.P_DST]
        if (state.arrays.ri[stored, lay.R_KIND] == STATIC).any():
            return True
        for first, n in code.cal[:, [lay.C_TARGETS, lay.C_N_TARGETS]].tolist():
            for t in code.lst[first : first + n].tolist():
                if smm[mth[t, lay.MT_SUMMARY], lay.SM_N_MUST]:
                    return True
        return False

    def _origins(self, state: MethodState) -> None:
        while True:
            status = self._clears.origins(self.world.arrays, state.arrays, state.code.code)
            if status == lay.FINE:
                return
            self._again(state, status)

    def _cleared(self, state: MethodState) -> list[tuple[int, int]]:
        """(operation, row) for each row that a primitive clears."""
        code = state.code.code
        off, out = np.zeros(len(code.prm) + 1, np.int32), np.zeros(2 * len(code.prm) + 64, np.int32)
        while True:
            status = self._clears.clears(self.world.arrays, state.arrays, code, off, out)
            if status == lay.FINE:
                break
            if status == lay.GROW_PLAN:
                out = np.zeros(2 * len(out), np.int32)
            else:
                self._again(state, status)
        n = int(off[-1])
        if not n:
            return []
        ops, is_call = code.prm[:, lay.P_OP].copy(), code.prm[:, lay.P_KIND] == CALL
        ops[is_call] = code.cal[ops[is_call], lay.C_OP]
        return list(zip(np.repeat(ops, np.diff(off)).tolist(), out[:n].tolist(), strict=True))

    def _again(self, state: MethodState, status: int) -> None:
        if status == lay.MISSING:
            self.respond()
        else:
            self.provide(state, int(status))

    # -- the table ---------------------------------------------------------------------------------------------

    def grow_table(self) -> set[int]:
        """Moves what methods wrote to library statics into the table; the methods that see a difference."""
        world, table = self.world, self.ctx.table
        world.pull_sites()
        tok = world.arrays.tok[: world.arrays.hdr[lay.N_TOKENS]]
        for gid in np.flatnonzero(tok[:, lay.T_FLAGS] & lay.FORGOT).tolist():
            table.forget(world.key(gid))
        new = table.add_all(self._contents.take())
        if new:
            self._mark_members(new)
        self._contents.number_new()
        joined = np.zeros(int(world.arrays.hdr[lay.N_TOKENS]), bool)
        joined[[world.token(key) for key in new]] = True
        changed = self.answers.changed_places()
        return {
            m
            for m, state in self.states.items()
            if (state.fold and new) or changed[state.places].any() or (new and joined[state.bases].any())
        }

    def _mark_members(self, new: set[Key]) -> None:
        """Tells the arrays which tokens are in the table now."""
        world = self.world
        for key in new:
            gid = world.token(key)
            if key[0] == OBJECT:
                world.arrays.site[key[1], lay.S_FLAGS] |= lay.SITE_MEMBER
            else:
                world.arrays.tok[gid, lay.T_MEMBER] = gid
        tok = world.arrays.tok[: world.arrays.hdr[lay.N_TOKENS]]
        objects = np.flatnonzero(tok[:, lay.T_KIND] == OBJECT)
        inside = objects[world.arrays.site[tok[objects, lay.T_A], lay.S_FLAGS] & lay.SITE_MEMBER > 0]
        tok[inside, lay.T_MEMBER] = tok[inside, lay.T_BASE]


def _new_out(n: int) -> Out:
    """Scratch for summaries with up to about n rows."""
    return Out(
        np.zeros(4, np.int64), np.zeros((n, 2), np.int32), new_map(4 * n), np.zeros((2 * n, 3), np.int32),
        np.zeros((n, lay.SR_COLUMNS), np.int32), np.zeros((n, (2 * n + 63) // 64), np.uint64),
        np.zeros(2 * n, np.int32), np.zeros(n, np.int32), np.zeros(2 * n, np.int32), np.zeros(3 * n + 8, np.int32),
    )  # fmt: skip


def _callees_first(members: Sequence[int], callees: Mapping[int, Sequence[int]]) -> list[int]:
    """Members of a component in post-order of a depth-first walk."""
    known, order = set[int](), list[int]()
    for root in members:
        work = [] if root in known else [(root, iter(callees[root]))]
        known.add(root)
        while work:
            for t in work[-1][1]:
                if t not in known:
                    known.add(t)
                    work.append((t, iter(callees[t])))
                    break
            else:
                order.append(work.pop()[0])
    return order
