"""The readable shape pass: which tokens, cells and channels can occur at all (semantics.md 2).

Per method a flow-insensitive least fixed point over SSA values; per strongly connected component repeated until no
summary grows; for the app repeated until the table of library statics is stable. What it finds fixes the numbering of
rows and columns, the clear sets, the call targets and every folding of the encoded problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from analyzer.readable_shape import Overflow, ReadableShape
from analyzer.shape import COARSEST, EMPTY, MOST_OWN_PATHS, Context, MethodShape
from analyzer.summary import Summary
from analyzer.table import Place, concrete
from analyzer.tokens import FORMAL, OBJECT, TABLE, TABLE_CELL, Key, Through
from gpu.bits import bits_of
from gpu.errors import GdroidError


def own_paths(s: Summary) -> int:
    """Number of formals that a summary names beside the roots."""
    return sum(key[0] == FORMAL and bool(key[2]) for key in s.cols)


class ShapePass:
    """Runs the pass over a call graph: components bottom-up, then again until the table is stable."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.shapes: dict[int, ReadableShape] = {}
        ctx.shapes = cast(dict[int, MethodShape], self.shapes)
        self.levels: dict[int, int] = {}
        """Export level of each method."""
        self._news: set[int] = set()
        """Methods evaluated since the table was last looked after."""

    def run(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Fills `ctx.shapes` and `ctx.summaries`.

        Raises what `ctx.check` raises. What stays then are the components done of the first round, or all of the last
        round that was done: shapes that fit each other.
        """
        ctx = self.ctx
        done = None
        try:
            dirty: set[int] | None = None
            while dirty is None or dirty:
                self._round(dirty, progress)
                table = ctx.table.copy()
                found = dict(self.shapes), dict(ctx.summaries), dict(self.levels), dict(ctx.folded)
                done = *found, table
                dirty = self.grow_table()
        except BaseException:
            if done is not None:
                shapes, ctx.summaries, levels, ctx.folded, table = done
                self.shapes.clear()
                self.shapes.update(shapes)
                self.levels.clear()
                self.levels.update(levels)
                ctx.table.restore(table)
            raise

    def _round(self, dirty: set[int] | None, progress: Callable[[int, int], None]) -> None:
        """Evaluates all methods, or those that would see something else, and their callers where a summary changes."""
        ctx, changed = self.ctx, set[int]()
        for done, scc in enumerate(ctx.graph.sccs):
            if dirty is None or any(m in dirty or not changed.isdisjoint(ctx.graph.callees(m)) for m in scc):
                before = [ctx.summaries.get(m) for m in scc]
                self.component(scc)
                changed.update(m for m, s in zip(scc, before, strict=True) if ctx.summaries.get(m) != s)
            if dirty is None:
                progress(done + 1, len(ctx.graph.sccs))

    def component(self, scc: tuple[int, ...]) -> None:
        """Brings one strongly connected component to its fixed point, coarser when a bound is hit.

        Where it calls itself, its summaries come before its tokens, whichever bound is hit first: that depends on the
        order of work.
        """
        ctx = self.ctx
        members = [m for m in scc if self.readable(m)]
        # What had to be coarse with a smaller table has to be with a larger one.
        level = max((self.levels.get(m, 0) for m in members), default=0)
        fold = max((ctx.folded.get(m, 0) for m in members), default=0)
        merge = any(m in self.shapes and self.shapes[m].merge_keys for m in members)
        loop = any(map(ctx.graph.is_recursive, members))
        while True:
            try:
                self.attempt(members, level, fold, merge)
                break
            except Overflow as overflow:
                if overflow.what == "keys_per_object":
                    merge = True
                elif overflow.what == "export" or (loop and level < COARSEST):
                    level += 1
                else:
                    fold += 1
            except BaseException:
                for m in members:
                    self.shapes.pop(m, None)
                    ctx.summaries.pop(m, None)
                raise
        for m in members:
            self.levels[m] = level
            if fold:
                ctx.folded[m] = fold
            if merge:
                ctx.merged.add(m)

    def readable(self, m: int) -> bool:
        """False for a method whose code is damaged: it is noted, and does nothing."""
        if m in self.ctx.damaged:
            return False
        try:
            self.ctx.lowered(m)
        except GdroidError as error:
            self.ctx.damaged[m] = str(error)
            return False
        return True

    def attempt(self, members: list[int], level: int, fold: int, merge: bool) -> None:
        ctx = self.ctx
        for m in members:
            self._news.add(m)
            ctx.summaries[m] = EMPTY
            self.shapes[m] = ReadableShape(ctx, m, fold, merge)
        loop = any(map(ctx.graph.is_recursive, members))
        again = True
        inside = {m: [t for t in ctx.graph.callees(m) if t in members] for m in members}
        seen: dict[int, list[int]] = {}
        while again:
            again = False
            for m in members:
                shape = self.shapes[m]
                used = [id(ctx.summaries[t]) for t in inside[m]]
                if seen.get(m) == used:
                    continue
                seen[m] = used
                shape.run()
                found = shape.export(level)
                if level < COARSEST and found.entries > shape.cap and (level < 2 or own_paths(found) > MOST_OWN_PATHS):
                    raise Overflow("export")
                if found != ctx.summaries[m]:
                    ctx.summaries[m] = found
                    again = loop
        for m, must in [(m, self.shapes[m].must(level)) for m in members]:
            if must:
                ctx.summaries[m] = self.shapes[m].export(level, must)

    def grow_table(self) -> set[int]:
        """Moves what methods wrote to library statics into the table; the methods that see a difference."""
        new = self.ctx.table.add(list(self.contributions()))
        self._news = set()
        return {m for m, shape in self.shapes.items() if self.sees(shape, new)}

    def sees(self, shape: ReadableShape, new: set[Key]) -> bool:
        """Whether a method would read something else from the table now, or holds an object that joined it."""
        if shape.fold and new:  # objects of the table keep their names, so that what was folded comes apart
            return True
        table, fields, most = self.ctx.table, self.ctx.fields, self.ctx.limits.objects_per_static
        for place, seen in shape.table_reads.items():
            if isinstance(place, tuple) and isinstance(place[1], Through):
                if table.reached(place[0], place[1]) != seen:
                    return True
            elif table.content(place, most) != seen:
                return True
        if any(len(fields.related(f, table.fields_of(member))) != known for member, f, known in shape.table_wild):
            return True
        return any(((*key[:2], -1) if key[0] == OBJECT else key) in new for key in shape.keys)

    def contributions(self) -> Iterator[tuple[Place, Key]]:
        """(static field or (member, field) of the table, token) that a method writes which has news."""
        table = self.ctx.table
        for shape in (self.shapes[m] for m in sorted(self._news)):
            self.ctx.check()
            for key, row in shape.named.items():
                if key[0] in (TABLE, TABLE_CELL):
                    place = key[1] if key[0] == TABLE else (key[1], key[2])
                    yield from ((place, content) for content in self.concrete(shape, shape.rows[row]))
            for token, key in enumerate(shape.keys):
                member = table.member(key)
                if member is not None:
                    for f, row in shape.cells[token].items():
                        if f not in self.ctx.fields.below:
                            for content in self.concrete(shape, shape.rows[row] & ~shape.entry.get(row, 0)):
                                yield (member, f), content

    def concrete(self, shape: ReadableShape, bits: int) -> Iterator[Key]:
        """What the table holds of a row."""
        for token in bits_of(bits):
            key = concrete(shape.keys[token])
            if key is not None:
                yield key
