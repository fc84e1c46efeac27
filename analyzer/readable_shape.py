"""The readable shape pass of one method: the equations that the kernels of `gpu.shape` are compared with.

A flow-insensitive least fixed point over SSA values, under the present summaries of its callees (semantics.md 2).
"""

from __future__ import annotations

from analyzer import summary as summaries
from analyzer.libcalls import HERE
from analyzer.lower import CALL, DATA_ONLY, GEN, LOAD, OR, STORE, TABLE_GET, Primitive
from analyzer.shape import (
    COARSEST,
    ESCAPES,
    Application,
    CallSite,
    Context,
    MethodShape,
    on_every_path,
)
from analyzer.summary import Summary, is_outside
from analyzer.table import ANY_MEMBER, MANY, store_place
from analyzer.tokens import (
    BEYOND,
    CELL,
    CELL_DATA,
    DEEP,
    FOLDED,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    PSEUDO,
    RETURN,
    RETURN_DATA,
    SINK,
    STATIC,
    TABLE,
    TABLE_CELL,
    TAINT,
    THROWN,
    UNKNOWN,
    Fields,
    Key,
    Through,
    root_field,
    static_root,
)
from gpu.bits import bits_of
from gpu.problem import CHILD, CONSTANT, REGION, ROOT


class Overflow(Exception):
    """A bound of the component at hand was hit; it starts again, coarser."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class ReadableShape(MethodShape):
    """A method, with the equations that bring it to its fixed point."""

    def __init__(self, ctx: Context, method: int, fold: int, merge_keys: bool) -> None:
        super().__init__(ctx, method, fold, merge_keys)
        for i in range(len(self.params)):
            token = self.token((FORMAL, i, ()))
            self.rows[i] |= 1 << token
            self.entry[i] = 1 << token

    def clear(self, fold: int, merge_keys: bool) -> None:
        """Forgets what is known."""
        super().clear(fold, merge_keys)
        self._wide: list[dict[Through, tuple[int, list[int]]]] = []
        self._found: list[dict[Through, tuple[int, int]]] = []
        """Per token and fields, what a read through them found, and at which version of the token's cells."""
        self._versions: list[int] = []
        self._reads: list[dict[int, tuple[int, list[int]]]] = []
        self.heap_version = 0
        self.field_versions: dict[int, int] = {}
        self.table_wild: set[tuple[Key, int, int]] = set()
        self.changed = False
        self.origin: dict[int, set[tuple[int, Key]]] = {}
        self.callee_unique: dict[int, bool] = {}
        self._constants: dict[tuple[int, int], tuple[Summary, list[int]]] = {}
        self._seen: dict[int, tuple[object, ...]] = {}

    def add_token(self, key: Key) -> int:
        """Gives the next number to a token that is not known yet."""
        self._reads.append({})
        self._wide.append({})
        self._found.append({})
        self._versions.append(0)
        return super().add_token(key)

    def token(self, key: Key) -> int:
        """Number of a token, new or known."""
        key = self.ctx.folding.token(key, self.fold)
        found = self.index.get(key)
        if found is None:
            found = self.add_token(key)
            if len(self.keys) > self.ctx.limits.tokens_per_method and self.fold < COARSEST:
                raise Overflow("tokens_per_method")
        return found

    def row(self, key: Key) -> int:
        """Number of a named row, new or known."""
        found = self.named.get(key)
        if found is None:
            found = self._new_row(key, self._filter_of(key))
            self.named[key] = found
            if (key[0] == STATIC or key in self.pseudo_reads) and not self.root:
                bit = 1 << self.token((FORMAL, static_root(key[1]), ()))
                self.rows[found] = self.entry[found] = bit
        return found

    def _new_row(self, key: Key, kind: int) -> int:
        self.rows.append(0)
        self.row_keys.append(key)
        self.filter.append(kind)
        return len(self.rows) - 1

    def _filter_of(self, key: Key) -> int:
        fields = self.ctx.fields
        if key[0] in (SINK, RETURN_DATA):
            return DATA_ONLY
        if key[0] in (STATIC, TABLE):
            return DATA_ONLY if fields.is_primitive(fields.type(key[1])) else fields.type(key[1])
        if key[0] in (CELL, TABLE_CELL):
            return DATA_ONLY if fields.data_only(key[2]) else fields.type(key[2])
        if key[0] == PSEUDO and key[1] == self.ctx.library.escaped:
            return ESCAPES
        return -1

    def _fits(self, token: int, f: int) -> bool:
        """Whether an object of this token can have the field at all."""
        key = self.keys[token]
        if f >= Fields.FIRST_PSEUDO or key[0] == TAINT:
            return bool(key[0] != TAINT)
        if key[0] == FORMAL:
            return self.ctx.related_types(self.known_type(key), self.ctx.program.field(f).cls)
        return self.ctx.passes(key, self.ctx.program.field(f).cls)

    def cell(self, token: int, f: int) -> int:
        """Row of a cell, new or known, with what it holds on entry."""
        cells = self.cells[token]
        found = cells.get(f)
        if found is None:
            fields = self.ctx.fields
            if self.merge_keys and fields.wild(f) == fields.elem:
                return self.cell(token, fields.elem)
            key = (CELL, self.keys[token], f)
            found = self._new_row(key, self._filter_of(key))
            cells[f] = found
            self.row_owner[found] = token
            bits = self._entry_bits(token, f)
            self._touch(token, f)
            if bits:
                self.rows[found] |= bits
                self.entry[found] = bits
                self.changed = True
            if fields.wild(f) == fields.elem:
                keyed = sum(fields.wild(other) == fields.elem for other in cells)
                if keyed > self.ctx.limits.keys_per_object:
                    raise Overflow("keys_per_object")
        return found

    def _entry_bits(self, token: int, f: int) -> int:
        ctx, key = self.ctx, self.keys[token]
        kind = key[0]
        if f == ctx.fields.star:  # only ever what was stored there
            return self._table_bits(key, f)
        if kind in (FORMAL, DEEP):
            return 1 << self._held_on_entry(key, f)
        bits = self._table_bits(key, f)
        if kind in (BEYOND, UNKNOWN):
            return bits | 1 << token
        if not ctx.fields.data_only(f):
            if kind == LIBRARY_BY_TYPE:
                bits |= 1 << self.token((BEYOND, FOLDED))
            elif kind == OBJECT and ctx.sites[key[1]].outside:
                bits |= 1 << self.token((BEYOND, key[1]))
        return bits

    def _held_on_entry(self, key: Key, f: int) -> int:
        """What a cell of a formal or a region held on entry: a longer path, or a region."""
        fields = self.ctx.fields
        if key[0] == FORMAL and len(key[2]) < self.k and f not in fields.below:
            held = self.token((FORMAL, key[1], (*key[2], f)))
        else:
            held = self.token((DEEP, key[1], self._region_kind(key) | int(f == fields.below[1] or fields.is_own(f))))
        region = self.keys[held]
        if region[0] == DEEP and f not in fields.below:
            self._go_through(region, fields.through((f,)))
        return held

    def _region_kind(self, key: Key) -> int:
        """1 when a formal or region is reached through fields of the app's own classes, else 0."""
        return int(key[2]) if key[0] == DEEP else self.ctx.fields.through(key[2]).own

    def _table_bits(self, key: Key, f: int) -> int:
        """What the table knows of a cell."""
        ctx, bits = self.ctx, 0
        member = ctx.table.member(key)
        if member is None:
            return 0
        if f in ctx.fields.below:  # a read through several fields begins it
            return 0
        place = (member, f)
        found = self.table_reads[place] = ctx.table.content(place, ctx.limits.objects_per_static)
        for content in sorted(found, key=summaries.repr_key):
            bits |= 1 << self.token(content)
        return bits

    def _go_through(self, region: Key, through: Through) -> None:
        """Notes fields through which a region is reached."""
        known = self.through.get(region)
        grown = self.through[region] = through if known is None else known | through
        self.changed |= grown is not known

    def _has_entry(self, key: Key) -> bool:
        if key[0] in (FORMAL, DEEP, BEYOND, UNKNOWN, LIBRARY_BY_TYPE) or self.ctx.table.member(key) is not None:
            return True
        return bool(key[0] == OBJECT and self.ctx.sites[key[1]].outside)

    def read_rows(self, token: int, f: int) -> list[int]:
        """Rows that a read of field f of a token reads, in the order of their fields."""
        cells = self.cells[token]
        memo = self._reads[token].get(f)
        if memo is not None and memo[0] == len(cells):
            return memo[1]
        if not self._fits(token, f):
            found: list[int] = []
        else:
            ctx, key = self.ctx, self.keys[token]
            if self._has_entry(key):
                self.cell(token, f)
                member = ctx.table.member(key)
                if member is not None:
                    others = ctx.fields.related(f, ctx.table.fields_of(member))
                    for other in others:
                        self.cell(token, other)
                    self.table_wild.add((member, f, len(others)))
            found = [cells[g] for g in ctx.fields.related(f, cells)]
        self._reads[token][f] = (len(cells), found)
        return found

    def wide_rows(self, token: int, through: Through) -> list[int]:
        """Rows that a read through some fields reads of a token, as far as they are known."""
        cells = self.cells[token]
        memo = self._wide[token].get(through)
        if memo is None or memo[0] != len(cells):
            memo = self._wide[token][through] = (len(cells), [r for g, r in sorted(cells.items()) if through.meets(g)])
        return memo[1]

    def read(self, owners: int, f: int) -> int:
        """Union of the cells of field f of some tokens, with the labels of the tokens."""
        bits = owners & self.labels
        rows = self.rows
        for token in bits_of(owners & ~bits):
            for row in self.read_rows(token, f):
                bits |= rows[row]
        return bits

    def read_through(self, owners: int, through: Through) -> int:
        """Union of the cells of some tokens that a read through some fields reads, with the labels of the tokens."""
        bits = owners & self.labels
        for token in bits_of(owners & ~bits):
            known = self._found[token].get(through)
            if known is None or known[0] != self._versions[token]:
                if known is None:
                    self._begin_below(token, through)
                found = 0
                for row in self.wide_rows(token, through):
                    found |= self.rows[row]
                self._found[token][through] = known = (self._versions[token], found)
            bits |= known[1]
        return bits

    def _begin_below(self, token: int, through: Through) -> None:
        """First read of a token through some fields: what it held there as it came in."""
        ctx, key = self.ctx, self.keys[token]
        if not self._has_entry(key):
            return
        below = ctx.fields.below[through.own]
        row = self.cell(token, below)
        if key[0] in (FORMAL, DEEP):
            self._go_through((DEEP, key[1], self._region_kind(key) | through.own), through)
        member = ctx.table.member(key)
        if member is not None:
            labels = self.table_reads[member, through] = ctx.table.reached(member, through)
            bits = 0
            for found in (*sorted(labels), member if member in MANY else ANY_MEMBER):
                bits |= 1 << self.token(found)
            if member in MANY and through.private:
                for f in sorted(through.fields):
                    if ctx.fields.is_private(f):
                        self.read_rows(token, f)
            if bits & ~self.rows[row]:
                self.entry[row] = self.entry.get(row, 0) | bits
                self.rows[row] |= bits
                self.changed = True
                self._touch(token, below)

    def write(self, row: int, bits: int) -> None:
        """Adds what passes the row's filter to a row."""
        bits &= self.mask(self.filter[row])
        if bits & self.entry.get(row, 0):
            self.stored[row] = self.stored.get(row, 0) | bits & self.entry[row]
        if bits & ~self.rows[row]:
            self.rows[row] |= bits
            self.changed = True
            key = self.row_keys[row]
            if key and key[0] == CELL:
                self._touch(self.row_owner[row], key[2])

    def _touch(self, token: int, f: int) -> None:
        """Notes that a cell changed."""
        self.heap_version += 1
        self._versions[token] += 1
        self.field_versions[f] = self.field_versions.get(f, 0) + 1

    def _version(self, f: int) -> object:
        """Changes whenever a read of the field may read something else."""
        fields = self.ctx.fields
        if f in (fields.any, fields.elem, fields.outer):
            return self.heap_version
        get = self.field_versions.get
        return get(f, 0), get(fields.star, 0), get(fields.wild(f), 0)

    def _heap_seen(self, s: Summary) -> object:
        """Changes whenever a summary may read something else of the heap."""
        if REGION in s.kind:
            return self.heap_version
        return tuple(self._version(f) for f in s.field if f >= 0)

    def write_cells(self, owners: int, f: int, bits: int) -> None:
        """Adds to the cells of field f of some tokens."""
        wild = self.merge_keys and self.ctx.fields.wild(f) == self.ctx.fields.elem
        formals = bits & self.data & ~self.labels
        for token in bits_of(owners & ~self.labels):
            row = -1 if wild else self.cells[token].get(f, -1)
            if row < 0:
                if not self._fits(token, f):
                    continue
                row = self.cell(token, f)
            if bits & ~self.rows[row] or row in self.entry:
                self.write(row, bits)
            depends = formals & self.mask(self.filter[row])
            if depends:
                member = self.ctx.table.member(self.keys[token])
                if member is not None:
                    self.write(self.row((TABLE_CELL, store_place(member), f)), depends)

    def slot(self, slot: int | Key) -> int:
        """Row number of a slot."""
        return slot if isinstance(slot, int) else self.row(slot)

    def run(self) -> None:
        """Brings the method to its fixed point under the present summaries."""
        plan = [(p, self.slot(p.dst), self.slot(p.src), self.slot(p.value)) for p in self.primitives]
        rows = self.rows
        while True:
            self.ctx.check()
            self.changed = False
            for p, dst, src, value in plan:
                kind = p.kind
                if kind == OR:
                    bits = rows[src]
                    if p.filter != -1:
                        bits &= self.mask(p.filter)
                    if bits & ~rows[dst] or dst in self.entry:
                        self.write(dst, bits)
                elif kind == GEN:
                    self.write(dst, 1 << self.token(p.key))
                elif kind == LOAD:
                    seen = (rows[src], self._version(p.field))
                    if self._seen.get(p.op) != seen:
                        self.write(dst, self.read(rows[src], p.field))
                        self._seen[p.op] = seen
                elif kind == STORE:
                    if rows[value]:
                        self.write_cells(rows[src], p.field, rows[value])
                    elif rows[src]:
                        for token in bits_of(rows[src] & ~self.labels):
                            if self._fits(token, p.field):
                                self.cell(token, p.field)
                elif kind == TABLE_GET:
                    bits = 0
                    found = self.table_reads[p.field] = self.ctx.table.content(
                        p.field, self.ctx.limits.objects_per_static
                    )
                    for key in sorted(found, key=summaries.repr_key):
                        bits |= 1 << self.token(key)
                    self.write(dst, bits)
                else:
                    self.call(self.calls[p.op])
            if not self.changed and not self._grant():
                return

    def _grant(self) -> bool:
        """Asks the tests of the routes about objects that have not passed yet; whether one does."""
        more = False
        for n, (source, _, test) in enumerate(self.ctx.routes if self.root else ()):
            for token in bits_of(self.rows[self.row((PSEUDO, source))] & ~self.labels & ~self.granted[n]):
                if test(self, token):
                    self.granted[n] |= 1 << token
                    more = True
        return more

    def constants(self, call: CallSite, application: Application) -> list[int]:
        """Token of the caller for each constant column of a summary; -1 for other columns."""
        memo = self._constants.get((call.op, application.target))
        if memo is not None and memo[0] is application.summary:
            return memo[1]
        found = []
        for col, key in enumerate(application.summary.cols):
            kind = application.summary.kind[col]
            found.append(self.token(self.rename(call, key)) if kind == CONSTANT else -1)
        self._constants[call.op, application.target] = (application.summary, found)
        if application.target >= 0:
            callee = self.ctx.shapes.get(application.target)
            for key, token in zip(application.summary.cols, found, strict=True):
                if token >= 0 and key[0] == OBJECT:
                    self.origin.setdefault(token, set()).add((call.op, key))
                    known = isinstance(callee, ReadableShape) and callee.is_unique(key)
                    unique = known and not call.in_cycle and not self.recursive
                    self.callee_unique[token] = unique and self.callee_unique.get(token, True)
        return found

    def sigma(self, call: CallSite, application: Application) -> list[int]:
        """The least substitution of semantics.md 4."""
        s = application.summary
        constants = self.constants(call, application)
        result = [0] * len(s.cols)
        nested = False
        for c, kind in enumerate(s.kind):
            if kind == CONSTANT:
                result[c] = 1 << constants[c]
            elif kind == ROOT:
                result[c] = self.bound(call, application, s.cols[c][1])
            else:
                nested = True
        while nested:
            nested = False
            for c, kind in enumerate(s.kind):
                if kind == CHILD:
                    bits = self._aliased(
                        self.read(result[s.parent[c]], s.field[c]), result[s.parent[c]], s, s.alias[c], result
                    )
                elif kind in (CONSTANT, ROOT):
                    continue
                else:
                    bits = self._region(s, c, result)
                if bits & ~result[c]:
                    result[c] |= bits
                    nested = True
        return result

    def bound(self, call: CallSite, application: Application, root: int) -> int:
        """What a root formal of a callee is bound to."""
        f = root_field(root)
        if f >= 0:
            return self.rows[self.row(self.ctx.static_row(f))]
        if root >= len(call.args) or call.args[root] < 0:
            return 0
        bits = self.rows[call.args[root]]
        if root == 0:
            bits &= application.receiver_mask
        return bits & self.mask(self.parameter_filter(application, root))

    def _aliased(self, bits: int, owners: int, s: Summary, alias: tuple[int, ...], result: list[int]) -> int:
        for r in alias:
            if result[s.owner[r]] & owners:
                bits |= image(s.bits[r], result)
        return bits

    def _region(self, s: Summary, c: int, result: list[int]) -> int:
        bits, through = 0, s.through[c]
        assert through is not None
        for source in s.region[c]:
            alias = tuple(r for r in s.alias[c] if s.owner[r] != source)
            bits |= self._aliased(self.read_through(result[source], through), result[source], s, alias, result)
        frontier = bits
        while frontier:
            found = self._aliased(self.read_through(frontier, through), frontier, s, s.alias[c], result)
            frontier = found & ~bits
            bits |= found
        return bits

    def call(self, call: CallSite) -> None:
        """Applies what a call does."""
        applications = self.applications(call)
        seen = (
            tuple(self.rows[a] if a >= 0 else 0 for a in call.args),
            tuple(
                (a.target, id(a.summary), a.receiver_mask, self._statics(a.summary), self._heap_seen(a.summary))
                for a in applications
            ),
        )
        if self._seen.get(call.op) == seen:
            return
        self.ctx.check()
        for application in applications:
            sigma = self.sigma(call, application)
            s = application.summary
            for r, key in enumerate(s.rows):
                value = image(s.bits[r], sigma)
                if key[0] in (CELL, CELL_DATA):
                    if key[0] == CELL_DATA:
                        value &= self.data
                    self.write_cells(sigma[s.owner[r]], key[2], value)
                    continue
                for row, kind in self.destinations(call, key):
                    self.write(row, value & self.mask(kind))
        self._seen[call.op] = seen

    def _statics(self, s: Summary) -> object:
        """What the app's static fields that a summary reads hold."""
        return tuple(
            self.rows[self.row(self.ctx.static_row(root_field(c[1])))]
            for c, k in zip(s.cols, s.kind, strict=True)
            if k == ROOT and c[1] < 0
        )

    def destinations(self, call: CallSite, key: Key) -> list[tuple[int, int]]:
        """Rows of the caller that a summary's row (no cell) goes to, each with a filter."""
        kind = key[0]
        if kind in (RETURN, RETURN_DATA):
            if call.dst < 0:
                return []
            if kind == RETURN_DATA:
                return [(call.dst, DATA_ONLY)]
            ret = self.ctx.program.method(call.method).ret
            return [(call.dst, DATA_ONLY if self.ctx.fields.is_primitive(ret) else ret)]
        if kind == THROWN:
            return [(self.row(row), -1) for row in call.thrown]
        if kind == SINK:
            site = call.site if key[2] == HERE else key[2]
            return [(self.row((SINK, key[1], site, key[3])), -1)]
        return [(self.row(key), -1)]

    def is_unique(self, key: Key) -> bool:
        """Whether a token stands for at most one run-time object while the method runs."""
        if key[0] == FORMAL:
            fields, f = self.ctx.fields, root_field(key[1])
            if f >= 0 and not self.pseudo_reads.get((PSEUDO, f), True):
                return False
            return not any(fields.weak(f) for f in key[2])
        if key[0] != OBJECT or key[1] in self.ctx.table.sites or self.recursive:
            return False
        site = self.ctx.sites[key[1]]
        if site.outside:
            return False
        token = self.index.get(key)
        if site.method == self.method and key[2] == -1:
            local = not self.low.body.in_cycle[self.low.block_of[site.op]]
            return bool(local) and token not in self.origin
        return token is not None and len(self.origin.get(token, ())) == 1 and self.callee_unique.get(token, False)

    def strong_row(self, base: int, f: int) -> int:
        """Row that a store to field f of a base clears, or -1 when the update is weak (semantics.md 3, clear set)."""
        ctx = self.ctx
        bits = base & ~self.labels
        if bits.bit_count() != 1 or ctx.fields.weak(f):
            return -1
        token = bits.bit_length() - 1
        key = self.keys[token]
        if f not in self.cells[token] or not self.is_unique(key):
            return -1
        if is_outside(key, ctx.sites, ctx.table.sites):
            constructor = key == (FORMAL, 0, ()) and ctx.program.method(self.method).name == "<init>"
            for other, cells in enumerate(self.cells):
                other_key = self.keys[other]
                if other == token or (constructor and other_key[0] in (FORMAL, DEEP)):
                    continue
                if not is_outside(other_key, ctx.sites, ctx.table.sites) or not self._meets(other_key, cells, f):
                    continue
                if self.compatible(key, other_key):
                    return -1
        return self.cells[token][f]

    def _meets(self, key: Key, cells: dict[int, int], f: int) -> bool:
        """Whether a cell f of an outside token is read or written here, or in a callee."""
        fields = self.ctx.fields
        if any(below in cells for below in fields.below):
            regions = [self.through.get((DEEP, key[1], own)) for own in (0, 1)] if key[0] in (FORMAL, DEEP) else []
            if not regions or any(through is not None and through.meets(f) for through in regions):
                return True
        return bool(fields.related(f, cells))

    def compatible(self, a: Key, b: Key) -> bool:
        """Whether two tokens may stand for one object, by their types."""
        ta, tb = self.known_type(a), self.known_type(b)
        if ta < 0 or tb < 0:
            return True
        may_be = self.ctx.hierarchy.may_be
        return may_be(False, ta, tb) or may_be(False, tb, ta)

    def cleared(self, p: Primitive) -> list[int]:
        """Rows that a primitive clears, sorted."""
        if self.ctx.any_order(self.method):
            return []
        if p.kind == STORE:
            row = self.strong_row(self.rows[self.slot(p.src)], p.field)
            return [row] if row >= 0 else []
        if p.kind == OR and not isinstance(p.dst, int) and p.dst[0] == STATIC:
            return [self.row(p.dst)]
        if p.kind != CALL:
            return []
        call = self.calls[p.op]
        applications = self.applications(call)
        if len(applications) != 1 or applications[0].target < 0 or (call.library and not call.shimmed):
            return []
        s = applications[0].summary
        if not s.must:
            return []
        sigma = self.sigma(call, applications[0])
        index = {key: i for i, key in enumerate(s.cols)}
        found = set()
        for owner, f in s.must:
            if owner:
                row = self.strong_row(sigma[index[owner]], f)
                if row >= 0:
                    found.add(row)
            elif (STATIC, f) in self.named:
                found.add(self.named[STATIC, f])
        return sorted(found)

    def must(self, level: int) -> frozenset[tuple[Key, int]]:
        """Cells of formals, and statics, that every path to a return overwrites."""
        body = self.low.body
        gains: list[set[int]] = [set() for _ in range(body.n_blocks)]
        for p in self.primitives:
            gains[self.low.block_of[p.op]].update(self.cleared(p))
        if not any(gains):
            return frozenset()
        rows = on_every_path(body, gains)
        result: set[tuple[Key, int]] = set()
        for row in rows:
            key = self.row_keys[row]
            if key[0] == STATIC:
                result.add(((), key[1]))
            elif key[1][0] == FORMAL and level < 2 and (level == 0 or len(key[1][2]) <= 1):
                result.add((key[1], key[2]))
        return frozenset(result)

    def export(self, level: int, must: frozenset[tuple[Key, int]] = frozenset()) -> Summary:
        """The summary at an export level, from the flow-insensitive facts."""
        rows, regions = self.export_rows(level)
        return summaries.make(rows, regions, self.ctx.fields, self.ctx.sites, must)

    def export_plan(self, level: int) -> tuple[list[tuple[int, Key, int]], dict[int, Key]]:
        """What is exported: (row, export row, column not exported or -1), and the export name of each token."""
        ctx = self.ctx
        names = {t: ctx.folding.token(k, level) for t, k in enumerate(self.keys)}
        plan: list[tuple[int, Key, int]] = []
        frontier = 0
        taken = 0

        def take(row: int, skip: int, only: int = -1) -> None:
            nonlocal frontier
            key = ctx.folding.row(self.row_keys[row], level)
            bits = self.rows[row] & only & ~skip
            plan.append((row, key, skip.bit_length() - 1))
            frontier |= bits

        for key, row in self.named.items():
            kind = key[0]
            if kind in (RETURN, THROWN):
                take(row, 0)
            elif kind in (TABLE, TABLE_CELL):
                if self.rows[row] & self.data & ~self.labels:
                    take(row, 0, self.data & ~self.labels)
            elif kind in (STATIC, PSEUDO):
                if self.rows[row] & ~self.kept(row):
                    take(row, self.kept(row))
            elif kind == SINK and self.rows[row] & self.data & ~self.labels:
                take(row, 0)
        for token, key in enumerate(self.keys):
            if key[0] in (FORMAL, DEEP):
                for row in self.cells[token].values():
                    if self.rows[row] & ~self.kept(row):
                        take(row, self.kept(row))
        while frontier & ~taken:
            token = (frontier & ~taken & -(frontier & ~taken)).bit_length() - 1
            taken |= 1 << token
            key = self.keys[token]
            if key[0] in (FORMAL, DEEP, TAINT) or (key[0] in (OBJECT, BEYOND) and ctx.table.member(key) is not None):
                continue
            for row in self.cells[token].values():
                if self.rows[row] & ~self.entry.get(row, 0):
                    take(row, 0)
        return plan, names

    def kept(self, row: int) -> int:
        """What a row need not export: what it held before, unless that was stored again (callers may clear)."""
        return self.entry.get(row, 0) & ~self.stored.get(row, 0)

    def export_rows(self, level: int) -> tuple[dict[Key, set[Key]], dict[Key, tuple[tuple[Key, ...], Through]]]:
        """Rows of the summary over export names, and what its region tokens are reached from."""
        plan, names = self.export_plan(level)
        if (
            level == 0
            and sum(self.rows[row].bit_count() for row, key, _ in plan if key[0] == CELL) - len(plan) > self.cap
        ):
            raise Overflow("export")
        rows: dict[Key, set[Key]] = {}
        sets: dict[int, set[Key]] = {}
        for row, key, skip in plan:
            bits = self.rows[row]
            if skip >= 0:
                bits &= ~(1 << skip)
            if key[0] in (SINK, TABLE, TABLE_CELL):
                bits &= self.data & ~self.labels
            if bits:
                if bits not in sets:
                    sets[bits] = {names[t] for t in bits_of(bits)}
                rows.setdefault(key, set()).update(sets[bits])
        return rows, self.regions(level)

    def regions(self, level: int) -> dict[Key, tuple[tuple[Key, ...], Through]]:
        """Per root, the formals from whose cells its region is reached, and the fields that this takes."""
        fields = self.ctx.fields
        depth = min(self.k, (self.k, 1, 0, 0)[max(level, self.fold)])
        through = dict(self.through)
        sources: dict[Key, set[Key]] = {}
        regions = {key for key in self.keys if key[0] == DEEP}
        for token, key in enumerate(self.keys):
            if key[0] != FORMAL:
                continue
            folded = self.ctx.folding.token(key, max(level, self.fold))
            if folded == key and (len(key[2]) >= depth or any(b in self.cells[token] for b in fields.below)):
                for own in range(self._region_kind(key), 2):
                    sources.setdefault((DEEP, key[1], own), set()).add(key)
            if folded != key:
                more = fields.through(key[2][depth:])
                region = folded
                through[region] = through.get(region, more) | more
                regions.add(region)
        nothing = fields.through(())
        found = {}
        for region in regions:
            taken = through.get(region, nothing)
            if region[2]:
                taken |= through.get((DEEP, region[1], 0), nothing)
            found[region] = tuple(sorted(sources.get(region, ()), key=summaries.repr_key)), taken
        return found


def image(bits: int, sigma: list[int]) -> int:
    """Union of sigma over the members of a bit set."""
    result = 0
    for c in bits_of(bits):
        result |= sigma[c]
    return result
