"""The shape of one method: which tokens, cells and channels can occur in it at all (semantics.md 2).

A flow-insensitive least fixed point over SSA values, under the present summaries of its callees. It fixes the numbering
of rows and columns, the clear sets, the call targets and every folding of the encoded problem. `analyzer.shape_pass`
runs it over the app.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass

from analyzer import summary as summaries
from analyzer.android.names import SHIM
from analyzer.callgraph.graph import CallGraph
from analyzer.hierarchy import Hierarchy
from analyzer.ir import Body, CallKind, Op
from analyzer.libcalls import HERE, Effect, LibraryCalls
from analyzer.limits import Limits
from analyzer.lower import CALL, DATA_ONLY, GEN, LOAD, OR, STORE, TABLE_GET, Lowered, Lowering, Primitive, is_dispatched
from analyzer.program import Program
from analyzer.summary import Folding, Summary, is_outside
from analyzer.table import ANY_MEMBER, MANY, Place, Table, store_place
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    CELL_DATA,
    DEEP,
    FOLDED,
    FORMAL,
    FRESH,
    LIBRARY_BY_TYPE,
    OBJECT,
    PARAMETER,
    PSEUDO,
    RETURN,
    RETURN_DATA,
    SINK,
    SOURCE,
    STATIC,
    TABLE,
    TABLE_CELL,
    TAINT,
    THROWN,
    UNKNOWN,
    Fields,
    Key,
    Site,
    Sites,
    Through,
    root_field,
    static_root,
)
from gpu.bits import bits_of
from gpu.problem import CHILD, CONSTANT, REGION, ROOT

Route = tuple[int, int, Callable[["MethodShape", int], bool]]
"""(pseudo-static, pseudo-static, test): in the root, objects in the first that pass the test reach the second too."""

ANY_ORDER = ("app", "callbacks:", "methods:")
"""Names of the environments that run what they run in any order, again and again."""

ROUTES = -100
"""Filter of the first route; the next one's is one less."""

ESCAPES = -3
"""Filter of `$escaped`: app objects and what may stand for them."""

COARSEST = 3
"""Highest level of `Folding`."""

MOST_OWN_PATHS = 64
"""Formals through own fields that a summary over the cap may still name."""

EMPTY = Summary((), (), (), (), (), (), (), (), (), ())


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call as the shape pass and the encoder see it."""

    op: int
    site: int
    method: int
    """Method reference."""
    dispatched: bool
    args: tuple[int, ...]
    dst: int
    targets: tuple[int, ...]
    library: bool
    """Whether it may also run a library method."""
    shimmed: bool
    static: bool
    marked: bool
    """Whether the reference is a source or a sink by itself, though app code runs."""
    thrown: tuple[Key, ...]
    in_cycle: bool


@dataclass(slots=True)
class Application:
    """One summary applied at one call."""

    target: int
    """Method, or -1 for a library effect."""
    summary: Summary
    receiver_mask: int
    """What of the receiver's row may be bound to the first parameter; -1 all."""
    guess: bool = False


class Context:
    """What all methods of an app share during the shape pass."""

    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        call_graph: CallGraph,
        lowering: Lowering,
        library: LibraryCalls,
        limits: Limits,
        check: Callable[[], None],
        parameter_sources: Callable[[int], tuple[tuple[int, int, int], ...]] = lambda method: (),
    ) -> None:
        self.program, self.hierarchy, self.graph = program, hierarchy, call_graph
        self.lowering, self.library, self.limits, self.check = lowering, library, limits, check
        self.fields: Fields = lowering.fields
        self.sites: Sites = lowering.sites
        self.parameter_sources = parameter_sources
        self.environments = frozenset(call_graph.environments)
        self.routes: tuple[Route, ...] = ()
        self.table = Table(self.fields, library.app_wide, library.singletons, library.kin)
        self.folding = Folding(self.sites, self.table, self.fields, self.is_own)
        self.summaries: MutableMapping[int, Summary] = {}
        self.shapes: MutableMapping[int, MethodShape] = {}
        self.damaged: dict[int, str] = {}
        self.folded: dict[int, int] = {}
        self.merged: set[int] = set()
        """Methods that merge the keys of all objects."""
        self._lowered: dict[int, Lowered] = {}
        self._passes: dict[tuple[int, bool, int], bool] = {}
        self._dispatch: dict[tuple[int, int], int] = {}
        self._own: dict[int, bool] = {}
        self._shims = program.type_id(SHIM)

    def lowered(self, method: int) -> Lowered:
        """Primitives of a method, kept."""
        if method not in self._lowered:
            self._lowered[method] = self.lowering.lower(method)
        return self._lowered[method]

    def is_own(self, method: int) -> bool:
        """Whether a method belongs to the app's own code, as do environments that run and shims that serve some."""
        found = self._own.get(method)
        if found is None:
            self._own[method] = False  # in a cycle of environments the others decide
            if method in self.environments:
                found = method == self.graph.root or any(self.is_own(m) for m in self.graph.callees(method))
            elif self.program.method(method).cls == self._shims:
                found = any(self.is_own(m) for m in self.graph.callers(method))
            else:
                found = self.lowering.is_own(self.program.method(method).cls)
            self._own[method] = found
        return found

    def any_order(self, method: int) -> bool:
        """Whether a method is a loop over statements in any order, written in one: nothing there clears anything."""
        return method in self.environments and self.program.method(method).name.startswith(ANY_ORDER)

    def static_row(self, f: int) -> Key:
        """Row of a static field of the app or of the environments."""
        return (PSEUDO if self.program.field(f).cls == self.lowering.env_class else STATIC, f)

    def passes(self, key: Key, type_id: int) -> bool:
        """Whether a token may go where only values of a type fit."""
        kind = key[0]
        if kind == OBJECT:
            site = self.sites[key[1]]
            known, exact = site.type, site.exact
        elif kind in (BY_TYPE, LIBRARY_BY_TYPE):
            known, exact = key[1], kind == BY_TYPE
        else:
            return True
        if known < 0 or type_id < 0:
            return True
        memo = (known, exact, type_id)
        if memo not in self._passes:
            self._passes[memo] = self.hierarchy.may_be(exact, known, type_id)
        return self._passes[memo]

    def related_types(self, known: int, type_id: int) -> bool:
        """Whether an object declared as one type may be of another; -1 is any type."""
        if known < 0 or type_id < 0:
            return True
        memo = (known, False, type_id)
        if memo not in self._passes:
            self._passes[memo] = self.hierarchy.may_be(False, known, type_id)
        return self._passes[memo]

    def dispatch(self, key: Key, method: int) -> int:
        """App method that runs when a token's object receives a call: -1 none (library code), -2 may be any."""
        if key[0] == OBJECT and self.sites[key[1]].exact:
            known = self.sites[key[1]].type
        elif key[0] == BY_TYPE:
            known = key[1]
        else:
            return -2
        memo = (known, method)
        if memo not in self._dispatch:
            self._dispatch[memo] = self.hierarchy.dispatch(known, method)
        return self._dispatch[memo]

    def escapes(self, key: Key) -> bool:
        """Whether a token handed to the framework may be an object that it calls back."""
        if key[0] == OBJECT:
            site = self.sites[key[1]]
            return site.kind == "new" and site.type >= 0 and self.hierarchy.is_app(site.type)
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return self.hierarchy.is_app(key[1])
        return key[0] in (FORMAL, UNKNOWN)


class Overflow(Exception):
    """A bound of the component at hand was hit; it starts again, coarser."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class MethodShape:
    """The flow-insensitive facts of one method. Rows are bit sets over its tokens, numbered as they turn up."""

    def __init__(self, ctx: Context, method: int, fold: int, merge_keys: bool) -> None:
        self.ctx, self.method = ctx, method
        self.own = ctx.is_own(method)
        limits = ctx.limits
        self.k = limits.path_length_app if self.own else limits.path_length_library
        self.cap = limits.export_app if self.own else limits.export_library
        self.context = self.own and limits.heap_context_app > 0 and method not in ctx.environments
        self.root = method == ctx.graph.root
        if self.root:
            self.cap = 1 << 62  # nobody reads what it exports
        self.recursive = ctx.graph.is_recursive(method)
        self.low = ctx.lowered(method)
        self.clear(fold, merge_keys)
        self.calls = {p.op: self._call_site(p) for p in self.low.primitives if p.kind == CALL}
        self.primitives = self.low.primitives
        self.pseudo_reads = self._pseudo_reads() if method in ctx.environments else {}
        if method in ctx.environments:
            self.primitives = [*self._parameter_labels(), *self.low.primitives]
        if self.root:
            pairs = enumerate((source, target) for source, target, _ in ctx.routes)
            routed = [Primitive(OR, 0, (PSEUDO, to), (PSEUDO, at), filter=ROUTES - n) for n, (at, to) in pairs]
            self.primitives = [*routed, *self.primitives]
        ref = ctx.program.method(method)
        params = list(ref.params) if ctx.program.is_static(method) else [ref.cls, *ref.params]
        self.params = params[: self.low.body.n_params]
        for i in range(len(self.params)):
            token = self.token((FORMAL, i, ()))
            self.rows[i] |= 1 << token
            self.entry[i] = 1 << token

    def clear(self, fold: int, merge_keys: bool) -> None:
        """Forgets what is known, to begin again or to be filled."""
        self.fold, self.merge_keys = fold, merge_keys
        self.keys: list[Key] = []
        self.index: dict[Key, int] = {}
        self.cells: list[dict[int, int]] = []
        self.through: dict[Key, Through] = {}
        """Per region token, the fields through which it is reached."""
        self._wide: list[dict[Through, tuple[int, list[int]]]] = []
        self._found: list[dict[Through, tuple[int, int]]] = []
        """Per token and fields, what a read through them found, and at which version of the token's cells."""
        self._versions: list[int] = []
        self.row_owner: dict[int, int] = {}
        self._reads: list[dict[int, tuple[int, list[int]]]] = []
        self.labels = self.data = 0
        body = self.low.body
        self.rows: list[int] = [0] * body.n_values
        self.row_keys: list[Key] = [()] * body.n_values
        self.filter: list[int] = [-1] * body.n_values
        self.entry: dict[int, int] = {}
        self.stored: dict[int, int] = {}
        """Of what a row held on entry, what was also stored there."""
        self.named: dict[Key, int] = {}
        self._masks: dict[int, tuple[int, int]] = {}
        self.heap_version = 0
        self.field_versions: dict[int, int] = {}
        self.table_reads: dict[Place | tuple[Key, Through], frozenset[Key]] = {}
        self.table_wild: set[tuple[Key, int, int]] = set()
        self.changed = False
        self.origin: dict[int, set[tuple[int, Key]]] = {}
        self.callee_unique: dict[int, bool] = {}
        self._constants: dict[tuple[int, int], tuple[Summary, list[int]]] = {}
        self._seen: dict[int, tuple[object, ...]] = {}
        self.granted = [0] * len(self.ctx.routes) if self.root else []
        """Per route, the tokens that pass. A test is asked when nothing else changes any more, and what passed once
        passes for good: the answer does not depend on the order of work, though tests need not be monotone."""

    def add_token(self, key: Key) -> int:
        """Gives the next number to a token that is not known yet."""
        found = self.index[key] = len(self.keys)
        self.keys.append(key)
        self.cells.append({})
        self._reads.append({})
        self._wide.append({})
        self._found.append({})
        self._versions.append(0)
        if key[0] == TAINT:
            self.labels |= 1 << found
        if key[0] in (TAINT, FORMAL, DEEP):
            self.data |= 1 << found
        return found

    def _pseudo_reads(self) -> dict[Key, bool]:
        """Pseudo-statics that an environment reads; True for those of which it holds one object only.

        What they hold on entry is a formal, as of any static field, so that objects come with what they hold.
        """
        found: dict[Key, bool] = {}
        for p in self.low.primitives:
            if p.kind == OR and not isinstance(p.src, int) and p.src[0] == PSEUDO:
                found[p.src] = p.src not in found and not self.low.body.in_cycle[self.low.block_of[p.op]]
        return found

    # -- naming ------------------------------------------------------------------------------------------------

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

    def mask(self, kind: int) -> int:
        """Bit set of the tokens that pass a filter."""
        if kind == -1:
            return -1
        if kind == DATA_ONLY:
            return self.data
        if kind <= ROUTES:
            return self.granted[ROUTES - kind] | self.labels
        mask, known = self._masks.get(kind, (0, 0))
        if known < len(self.keys):
            ctx = self.ctx
            for i in range(known, len(self.keys)):
                if ctx.escapes(self.keys[i]) if kind == ESCAPES else ctx.passes(self.keys[i], kind):
                    mask |= 1 << i
            self._masks[kind] = (mask, len(self.keys))
        return mask

    # -- cells -------------------------------------------------------------------------------------------------

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

    # -- evaluation --------------------------------------------------------------------------------------------

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

    def _parameter_labels(self) -> Iterator[Primitive]:
        """Labels of what a callback's parameters bring in, at the environment's calls."""
        for call in self.calls.values():
            for target in call.targets:
                for number, source, path in self.ctx.parameter_sources(target):
                    if number >= len(call.args) or call.args[number] < 0:
                        continue
                    site = self.ctx.sites.id(Site(target, -1, 0, "parameter", -1))
                    label = (TAINT, source, site)
                    if not path:
                        yield Primitive(GEN, call.op, dst=call.args[number], key=label)
                        continue
                    row = (PARAMETER, call.op, number)
                    yield Primitive(GEN, call.op, dst=row, key=label)
                    yield Primitive(STORE, call.op, src=call.args[number], field=path, value=row)

    # -- calls -------------------------------------------------------------------------------------------------

    def _call_site(self, p: Primitive) -> CallSite:
        ctx, body = self.ctx, self.low.body
        op, method = p.op, int(body.ref[p.op])
        kind = int(body.c[op])
        args = tuple(body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist())
        targets = ctx.graph.targets(self.method, op)
        library = ctx.graph.is_library_call(self.method, op) or ctx.graph.is_cut(self.method, op)
        static = kind in (CallKind.STATIC, CallKind.CUSTOM)
        if kind == CallKind.CUSTOM:
            method = targets[0] if targets else self._custom_reference(method)
        block = self.low.block_of[op]
        site = ctx.sites.id(Site(self.method, op, int(body.pc[op]), "call", -1))
        marked = False
        if targets and kind != CallKind.CUSTOM and not library and self.method not in ctx.environments:
            marked = bool(ctx.library.effect(method, static, True, True, ()).summary.rows)
        shimmed = ctx.graph.shim(self.method, op) >= 0
        return CallSite(
            op, site, method, is_dispatched(kind), args, p.dst if isinstance(p.dst, int) else -1, targets,
            library, shimmed,
            static, marked, self.low.thrown[block], bool(body.in_cycle[block]),
        )  # fmt: skip

    def _custom_reference(self, call_site: int) -> int:
        """A method reference for an invoke-custom that nobody understands: static, unmodelled, of the same types."""
        p = self.ctx.program
        params, ret = p.proto(int(p.dex.call_site_proto[call_site]))
        descriptor = f"({''.join(map(p.type_name, params))}){p.type_name(ret)}"
        return p.method_id("Lgdroid/Custom;", "call", descriptor)

    def constant_texts(self, value: int) -> tuple[str, ...] | None:
        """Texts that an argument may be, when it can only be string constants or one number."""
        if value < 0:
            return None
        ctx = self.ctx
        if value in self.low.body.constant:
            return (str(self.low.body.constant[value]),)
        bits = self.rows[value]
        texts = set()
        for token in bits_of(bits & ~self.labels):
            key = self.keys[token]
            if key[0] != OBJECT or ctx.sites[key[1]].kind != "string":
                return None
            texts.add(ctx.program.string(ctx.sites[key[1]].text))
        return tuple(sorted(texts)) if 0 < len(texts) <= ctx.limits.keys_per_object else None

    def library_effect(self, call: CallSite) -> Effect:
        """Effect of the library part of a call."""
        lib = self.ctx.library
        keys: tuple[tuple[str, ...] | None, ...] = ()
        if lib.keyed(call.method):
            keys = tuple(self.constant_texts(a) for a in call.args)
        return lib.effect(call.method, call.static, call.shimmed, not call.library, keys)

    def applications(self, call: CallSite) -> list[Application]:
        """Summaries that a call applies at present: only targets that the receiver can dispatch to."""
        ctx = self.ctx
        found: list[Application] = []
        receiver = self.rows[call.args[0]] if call.args and call.args[0] >= 0 else 0
        if not call.dispatched:
            for target in call.targets:
                found.append(Application(target, ctx.summaries.get(target, EMPTY), -1))
            if call.library or call.marked:
                effect = self.library_effect(call)
                found.append(Application(-1, effect.summary, -1, effect.guess))
            return found
        by_target: dict[int, int] = dict.fromkeys(call.targets, receiver & self.labels)
        in_library = anywhere = 0
        for token in bits_of(receiver & ~self.labels):
            target = ctx.dispatch(self.keys[token], call.method)
            if target == -2:
                anywhere |= 1 << token
            elif target in by_target:
                by_target[target] |= 1 << token
            else:
                in_library |= 1 << token
        for target in call.targets:
            mask = by_target[target] | self._of_type(anywhere, target)
            if target == ctx.graph.shim(self.method, call.op):
                mask = receiver
            if mask & ~self.labels:
                found.append(Application(target, ctx.summaries.get(target, EMPTY), mask))
        if call.library or call.marked:
            mask = in_library | anywhere | receiver & self.labels if call.library and not call.shimmed else receiver
            if mask & ~self.labels:
                effect = self.library_effect(call)
                found.append(Application(-1, effect.summary, mask, effect.guess))
        return found

    def _of_type(self, tokens: int, target: int) -> int:
        cls = self.ctx.program.method(target).cls
        return tokens & self.mask(cls) if tokens else 0

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
                    unique = callee is not None and not call.in_cycle and not self.recursive and callee.is_unique(key)
                    self.callee_unique[token] = unique and self.callee_unique.get(token, True)
        return found

    def rename(self, call: CallSite, key: Key) -> Key:
        """Caller's name of a constant column."""
        kind = key[0]
        if kind == FRESH:
            site = Site(self.method, call.op, int(self.low.body.pc[call.op]), "library", key[1])
            return (OBJECT, self.ctx.sites.id(site), -1)
        if kind == SOURCE:
            return (TAINT, key[1], call.site)
        if kind == FORMAL:  # an app-wide object of a library model
            return tuple(key[1])
        if kind == OBJECT:
            named = (
                self.context
                and self.ctx.sites[key[1]].kind in ("new", "library")
                and key[1] not in self.ctx.table.sites
            )
            return (OBJECT, key[1], call.site if named and self.ctx.sites[key[1]].method >= 0 else -1)
        return key

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

    def parameter_filter(self, application: Application, root: int) -> int:
        """Declared type of a parameter, as a filter."""
        if application.target < 0:
            return -1
        program = self.ctx.program
        ref = program.method(application.target)
        number = root if program.is_static(application.target) else root - 1
        if number < 0:
            return ref.cls
        type_id = ref.params[number] if number < len(ref.params) else -1
        return DATA_ONLY if type_id >= 0 and self.ctx.fields.is_primitive(type_id) else type_id

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

    # -- after the fixed point ---------------------------------------------------------------------------------

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

    def known_type(self, key: Key) -> int:
        """Declared or exact type of a token, -1 unknown."""
        if key[0] == OBJECT:
            return self.ctx.sites[key[1]].type
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return int(key[1])
        if key[0] == FORMAL:
            if key[2]:
                return self.ctx.fields.type(key[2][-1])
            f = root_field(key[1])
            return self.ctx.fields.type(f) if f >= 0 else self.params[key[1]]
        return -1

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


def on_every_path(body: Body, gains: list[set[int]]) -> frozenset[int]:
    """What every path to a return gains; `gains` says what each block does."""
    preds: list[list[tuple[int, bool]]] = [[] for _ in range(body.n_blocks)]
    for b in range(body.n_blocks):
        for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
            preds[s].append((b, True))
        r = int(body.block_range[b])
        if r >= 0:
            for h in body.handler_block[body.range_off[r] : body.range_off[r + 1]].tolist():
                preds[h].append((b, False))
    state: list[frozenset[int] | None] = [None] * body.n_blocks
    state[0] = frozenset()
    again = True
    while again:
        again = False
        for b in range(1, body.n_blocks):
            known = [(state[q], after, q) for q, after in preds[b]]
            incoming = [s | gains[q] if after else s for s, after, q in known if s is not None]
            if incoming:
                met = frozenset.intersection(*map(frozenset, incoming))
                if met != state[b]:
                    state[b], again = met, True
    ends = [
        frozenset(found | gains[b])
        for b in range(body.n_blocks)
        if (found := state[b]) is not None and Op.RETURN in body.op[body.block_off[b] : body.block_off[b + 1]]
    ]
    return frozenset.intersection(*ends) if ends else frozenset()


def image(bits: int, sigma: list[int]) -> int:
    """Union of sigma over the members of a bit set."""
    result = 0
    for c in bits_of(bits):
        result |= sigma[c]
    return result
