"""What callers bring: formals of a method as the objects and labels that they stand for over all callers.

Semantics.md 4, at the end: the solved facts speak of formals (`in:p1.f`); walking the call graph upwards with the
substitution of calls replaces them by tokens that stand for themselves. Substitutions are evaluated on the solved
facts just before each call, so that the answer is as flow-sensitive as they are; a formal that no summary exports is
bound by the same equations. A question costs the callers on the way up, and no more: each (method, formal) is bound
once; tokens then flow down from where they stand for themselves, through what fits each parameter, until nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.encode import Layout
from analyzer.idfg import Idfg
from analyzer.lower import DATA_ONLY
from analyzer.shape import Application, CallSite, MethodShape
from analyzer.summary import is_outside
from analyzer.table import ANY_MEMBER, MANY
from analyzer.tokens import (
    BEYOND,
    CELL,
    DEEP,
    FOLDED,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    TAINT,
    UNKNOWN,
    Fields,
    Key,
    Through,
    root_field,
)
from gpu import problem as pb
from gpu.bits import bits_of

MOST_STEPS = 20_000
"""(method, formal) pairs that one question may visit; beyond, the answer also says "some object"."""

Token = tuple[int, Key]
"""A token in the words of a method: (method id, token key)."""

Cells = dict[Key, dict[int, int]]
"""Owner -> field -> number among the heap rows."""


class Concrete:
    """Answers for one solved app, kept."""

    def __init__(self, idfg: Idfg, most_steps: int = MOST_STEPS) -> None:
        self.idfg, self.ctx, self.most_steps = idfg, idfg.ctx, most_steps
        self._bindings: dict[int, list[Binding]] = {}
        self._edges: dict[Token, tuple[tuple[Binding, Key], ...]] = {}
        self._answers: dict[Token, frozenset[Token]] = {}
        self._cells: dict[int, Cells] = {}

    def tokens(self, method: int, key: Key) -> frozenset[Token]:
        """What a token of a method may stand for, over all callers: no formals and no regions are left.

        A token that stands for itself comes back alone; a formal that no caller fills gives the empty set (null). A
        walk that was cut short adds the unknown object, `(UNKNOWN,)`.
        """
        start = (method, key)
        if start not in self._answers:
            self._answers[start] = self._walk(start)
        return self._answers[start]

    def _walk(self, start: Token) -> frozenset[Token]:
        """Finds the formals that the answer depends on, then lets tokens flow down to it."""
        below: dict[Token, list[tuple[Token, Binding]]] = {}
        found: dict[Token, set[Token]] = {start: set()}
        order = [start]
        cut = False
        for token in order:
            if token[1][0] not in (FORMAL, DEEP):
                found[token].add(token)
                continue
            if len(order) > self.most_steps:
                cut = True
                break
            for binding, key in self._brought(token):
                above = (binding.caller, key)
                below.setdefault(above, []).append((token, binding))
                if above not in found:
                    found[above] = set()
                    order.append(above)
        work = [token for token in reversed(order) if found[token]]
        while work:
            token = work.pop()
            for lower, binding in below.get(token, ()):
                fresh = {t for t in found[token] - found[lower] if binding.admits(lower[1], t[1])}
                if fresh:
                    found[lower] |= fresh
                    work.append(lower)
        return frozenset(found[start] | ({(start[0], (UNKNOWN,))} if cut else set()))

    def _brought(self, token: Token) -> tuple[tuple[Binding, Key], ...]:
        """What each caller puts in place of a formal, in the caller's words."""
        if token not in self._edges:
            method, key = token
            self._edges[token] = tuple((b, k) for b in self.bindings(method) for k in sorted(b.sigma(key), key=str))
        return self._edges[token]

    def bindings(self, method: int) -> list[Binding]:
        """One per application of a method's summary at a call that some path reaches."""
        if method not in self._bindings:
            found = []
            for caller in self.ctx.graph.callers(method):
                layout, shape = self.idfg.encoded.layouts.get(caller), self.ctx.shapes.get(caller)
                if layout is None or shape is None:
                    continue
                for op, call in shape.calls.items():
                    if method in call.targets and layout.place[op][0] >= 0:
                        applied = [a for a in shape.applications(call) if a.target == method]
                        found += [Binding(self, layout, shape, call, a) for a in applied]
            self._bindings[method] = found
        return self._bindings[method]

    def cells(self, layout: Layout) -> Cells:
        """The cells of a method by owner and field."""
        if layout.method not in self._cells:
            first = self.idfg.replay.method(layout.number).first_heap
            found: Cells = {}
            for row, key in enumerate(layout.rows):
                if not isinstance(key, int) and key[0] == CELL:
                    found.setdefault(key[1], {})[key[2]] = row - first
            self._cells[layout.method] = found
        return self._cells[layout.method]


class Binding:
    """One application of a callee's summary at a call: the substitution, for any formal of the callee."""

    def __init__(
        self, concrete: Concrete, layout: Layout, shape: MethodShape, call: CallSite, application: Application
    ) -> None:
        self.concrete, self.layout, self.shape = concrete, layout, shape
        self.call, self.application = call, application
        self.caller, self.callee = layout.method, application.target
        self.ctx, self.fields = concrete.ctx, concrete.ctx.fields
        self._sigma: dict[Key, frozenset[Key]] = {}
        self._heap: list[int] | None = None
        self._reads: dict[tuple[Key, int | Through], set[Key]] = {}
        self._stored: list[tuple[Key, int, tuple[Key, ...]]] | None = None

    def sigma(self, key: Key) -> frozenset[Key]:
        """Tokens of the caller that a token of the callee stands for at this call."""
        if key not in self._sigma:
            wanted = list(dict.fromkeys(self._needed(key)))
            values: dict[Key, set[Key]] = {k: set() for k in wanted}
            again = True
            while again:
                again = False
                for k in wanted:
                    found = self._evaluate(k, values)
                    if not found <= values[k]:
                        values[k] |= found
                        again = True
            self._sigma.update((k, frozenset(v)) for k, v in values.items())
        return self._sigma[key]

    def admits(self, formal: Key, key: Key) -> bool:
        """Whether a token may be what a parameter holds: by its type, and a receiver by where it dispatches to."""
        if formal[0] != FORMAL or formal[2] or formal[1] < 0 or key[0] == TAINT:
            return True
        shim = self.callee == self.ctx.graph.shim(self.caller, self.call.op)
        looked_up = formal[1] == 0 and self.call.dispatched and not shim
        if looked_up and self.ctx.dispatch(key, self.call.method) not in (-2, self.callee):
            return False
        kind = self.shape.parameter_filter(self.application, formal[1])
        return kind == -1 or (kind != DATA_ONLY and self.ctx.passes(key, kind))

    def _needed(self, key: Key) -> list[Key]:
        """The token and what its equation mentions, and so on."""
        found: dict[Key, None] = {}
        work = [key]
        while work:
            k = work.pop()
            if k in found:
                continue
            found[k] = None
            if k[0] == FORMAL and k[2]:
                work.append((FORMAL, k[1], k[2][:-1]))
            elif k[0] == DEEP:
                work += self._region(k)
            if k[0] == DEEP or (k[0] == FORMAL and k[2]):
                for owner, _, content in self.stored():
                    work += [owner, *content]
        return list(found)

    def _region(self, key: Key) -> list[Key]:
        """Formals from whose cells a region of the callee is reached."""
        shape, ctx = self.ctx.shapes[self.callee], self.ctx
        depth = min(shape.k, (shape.k, 1, 0, 0)[shape.fold])
        cells = self.concrete.cells(self.concrete.idfg.encoded.layouts[self.callee])
        root: Key = (FORMAL, key[1], ())
        found = [
            k
            for k in self.concrete.idfg.encoded.layouts[self.callee].columns
            if k[0] == FORMAL
            and k[1] == key[1]
            and (len(k[2]) >= depth or any(b in cells.get(k, ()) for b in ctx.fields.below))
        ]
        return found or [root]

    def stored(self) -> list[tuple[Key, int, tuple[Key, ...]]]:
        """(owner, field, content) of each cell of an outside token that the callee's summary writes."""
        if self._stored is None:
            idfg = self.concrete.idfg
            layout = idfg.encoded.layouts[self.callee]
            bits = idfg.solution.summaries[layout.number]
            self._stored = [
                (row[1], row[2], tuple(layout.summary_cols[c] for c in bits_of(b)))
                for row, b in zip(layout.summary_rows, bits, strict=True)
                if b and row[0] == CELL and is_outside(row[1], self.ctx.sites)
            ]
        return self._stored

    # -- the equations -----------------------------------------------------------------------------------------

    def _evaluate(self, key: Key, values: Mapping[Key, set[Key]]) -> set[Key]:
        if key[0] == FORMAL and not key[2]:
            return self._root(key[1])
        if key[0] == FORMAL:
            owner, f = (FORMAL, key[1], key[2][:-1]), key[2][-1]
            return self._child(values[owner], f, {owner}, values)
        if key[0] != DEEP:
            return {self._fold(self.shape.rename(self.call, key))}
        sources = self._region(key)
        through, nothing = self.ctx.shapes[self.callee].through, self.fields.through(())
        taken = through.get((DEEP, key[1], 0), nothing)
        if key[2]:
            taken |= through.get(key, nothing)
        found: set[Key] = set()
        frontier = set().union(*(values[s] for s in sources))
        while frontier:
            fresh = self._child(frontier, taken, {key}, values) - found
            found |= fresh
            frontier = fresh
        return found

    def _child(self, owners: set[Key], f: int | Through, named: set[Key], values: Mapping[Key, set[Key]]) -> set[Key]:
        """What cells of `owners` held before the call, or may get from the callee through an aliasing argument."""
        found = {k for k in owners if k[0] == TAINT}
        for owner in owners - found:
            found |= self.read(owner, f)
        for owner, field, content in self.stored():
            read = f.meets(field) if isinstance(f, Through) else bool(self.fields.related(f, (field,)))
            if read and owner not in named and values[owner] & owners:
                found |= set().union(*(values[k] for k in content))
        return found

    def _root(self, root: int) -> set[Key]:
        """What the caller passes, or holds in a static field."""
        f = root_field(root)
        if f >= 0:
            row = self.concrete.idfg.row(self.layout, self.ctx.static_row(f))
            if row >= 0:
                return self._keys(self.concrete.idfg.replay.method(self.layout.number).get(row, self.heap()))
            return set() if self.shape.root else {(FORMAL, root, ())}
        args = self.call.args
        if root >= len(args) or args[root] < 0:
            return set()
        found = self._keys(self.concrete.idfg.solution.rows[self.layout.number][args[root]])
        if root == 0 and self.application.receiver_mask != -1:
            mask, index = self.application.receiver_mask, self.shape.index
            found = {k for k in found if mask >> index[k] & 1}
        kind = self.shape.parameter_filter(self.application, root)
        if kind == DATA_ONLY:
            return {k for k in found if k[0] in (TAINT, FORMAL, DEEP)}
        return found if kind == -1 else {k for k in found if self.ctx.passes(k, kind)}

    # -- the caller's heap -------------------------------------------------------------------------------------

    def heap(self) -> list[int]:
        """Heap rows of the caller just before the call is applied."""
        if self._heap is None:
            idfg, number = self.concrete.idfg, self.layout.number
            t, problem = idfg.replay.tables, idfg.encoded.problem
            block, before = self.layout.place[self.call.op]
            first = t.block_off[number] + block
            start, end = t.op_off[first], t.op_off[first + 1]
            while (
                start + before < end
                and problem.op_origin[start + before] == self.call.op
                and t.op_kind[start + before] != pb.APPLY
            ):
                before += 1  # labels that a callback's arguments bring
            self._heap = idfg.replay.state_at(number, block, before)
        return self._heap

    def _keys(self, bits: int) -> set[Key]:
        return {self.layout.columns[c] for c in bits_of(bits)}

    def read(self, owner: Key, f: int | Through) -> set[Key]:
        """What a field of an object, or any of some fields, held before the call."""
        known = self._reads.get((owner, f))
        if known is None:
            known = self._reads[owner, f] = self._read(owner, f)
        return known

    def _read(self, owner: Key, f: int | Through) -> set[Key]:
        present = self.concrete.cells(self.layout).get(owner, {})
        heap, table, member = self.heap(), self.ctx.table, self.ctx.table.member(owner)
        found: set[Key] = set()
        if isinstance(f, Through):
            bits = 0
            for g in present:
                if f.meets(g):
                    bits |= heap[present[g]]
            found |= self._keys(bits)
            found |= {self._fold(k) for k in self._entry(owner, self.fields.below[f.own])}
            if member is not None:
                found |= table.reached(member, f) | {member if member in MANY else ANY_MEMBER}
                for g in f.fields if member in MANY else ():
                    if g not in present and self.fields.is_private(g):
                        found |= self._entry(owner, g)
            return found
        if not self._fits(owner, f):
            return found
        for g in self.fields.related(f, present):
            found |= self._keys(heap[present[g]])
        if f not in present:
            found |= {self._fold(k) for k in self._entry(owner, f)}
        if member is not None:
            for g in self.fields.related(f, table.fields_of(member)):
                if g not in present:
                    found |= {self._fold(k) for k in self._entry(owner, g)}
        return found

    def _fits(self, key: Key, f: int) -> bool:
        """Whether an object of this token can have the field at all."""
        if key[0] == TAINT:
            return False
        if f >= Fields.FIRST_PSEUDO:
            return True
        cls = self.ctx.program.field(f).cls
        if key[0] == FORMAL:
            return self.ctx.related_types(self.shape.known_type(key), cls)
        return self.ctx.passes(key, cls)

    def _entry(self, key: Key, f: int) -> set[Key]:
        """What a cell that the caller does not name held when the caller began: what `MethodShape.cell` would say."""
        ctx, kind, fields = self.ctx, key[0], self.fields
        member = ctx.table.member(key)
        found: set[Key] = set()
        if member is not None and f not in fields.below:
            found |= ctx.table.content((member, f), ctx.limits.objects_per_static)
        if f == fields.star:
            return found
        if kind == FORMAL and f not in fields.below and len(key[2]) < self.shape.k:
            return {(FORMAL, key[1], (*key[2], f))}
        if kind in (FORMAL, DEEP):
            kind_before = key[2] if kind == DEEP else fields.through(key[2]).own
            return {(DEEP, key[1], kind_before | int(f == fields.below[1] or fields.is_own(f)))}
        if kind in (BEYOND, UNKNOWN):
            return found | {key}
        if not fields.data_only(f):
            if kind == LIBRARY_BY_TYPE:
                found.add((BEYOND, FOLDED))
            elif kind == OBJECT and ctx.sites[key[1]].outside:
                found.add((BEYOND, key[1]))
        return found

    def _fold(self, key: Key) -> Key:
        return self.ctx.folding.token(key, self.shape.fold)
