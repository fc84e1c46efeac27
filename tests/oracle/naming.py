"""What a method calls its tokens, what fits where, and what slots hold on entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.ir import Body, CallKind, Op
from analyzer.summary import Folding
from analyzer.table import ANY_MEMBER, FORGOTTEN_MEMBER
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    DEEP,
    FOLDED,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    PSEUDO,
    SINK,
    STATIC,
    TABLE,
    TABLE_CELL,
    TAINT,
    UNKNOWN,
    Fields,
    Key,
    Site,
)
from tests.oracle.sets import (
    ANY,
    DATA,
    ESCAPES,
    NOTHING,
    Call,
    Slot,
    Tokens,
    data,
)

if TYPE_CHECKING:
    from tests.oracle.whole import Oracle


class Naming:
    """Tokens and slots of one method."""

    def __init__(self, whole: Oracle, m: int) -> None:
        self.whole, self.ctx, self.m = whole, whole.ctx, m
        ctx = self.ctx
        self.fields, self.table = ctx.fields, whole.table
        self.folding = Folding(ctx.sites, self.table, ctx.fields, ctx.is_own)
        self.body: Body = ctx.program.body(m)
        self.level = whole.levels.get(m, 0)
        self.fold = ctx.folded.get(m, 0)
        self.merge_keys = ctx.shapes[m].merge_keys
        own = ctx.is_own(m)
        self.k = ctx.limits.path_length_app if own else ctx.limits.path_length_library
        self.environment = m in ctx.environments
        self.contexts = own and ctx.limits.heap_context_app > 0 and not self.environment
        self.recursive = ctx.graph.is_recursive(m)
        ref = ctx.program.method(m)
        self.constructor = ref.name == "<init>"
        self.params = list(ref.params) if ctx.program.is_static(m) else [ref.cls, *ref.params]
        self.params = self.params[: self.body.n_params]
        self.block_of = [b for b in range(self.body.n_blocks) for _ in self.ops_of(b)]
        self.pseudo_reads = self.count_pseudo_reads() if self.environment else {}
        self.calls = {i: self.call_site(i) for i in range(len(self.body.op)) if self.body.op[i] == Op.CALL}
        # The shape: what can be where at all.
        self.shape: dict[Slot, Tokens] = {}
        self.entry: dict[Slot, Tokens] = {}
        self.cells: dict[Key, set[int]] = {}
        self.names: set[Key] = set()
        self.through: dict[Key, set[int]] = {}
        """Per region, the fields through which it is reached."""
        self.stored: dict[Slot, Tokens] = {}
        """Of what a slot held on entry, what was also stored there."""
        self.origin: dict[Key, set[tuple[int, int, Key]]] = {}
        self.changed = True
        for i in range(len(self.params)):
            self.begin(i, frozenset({(FORMAL, i, ())}))
        # The facts.
        self.rows: dict[Slot, Tokens] = {}
        self.before: list[dict[Slot, Tokens] | None] = [None] * len(self.body.op)
        self.heads: list[dict[Slot, Tokens] | None] = [None] * self.body.n_blocks
        self.caught: dict[int, dict[Slot, Tokens]] = {}
        self.exit: dict[Slot, Tokens] | None = None
        self.clears: dict[int, list[Slot]] = {}

    def count_pseudo_reads(self) -> dict[int, int]:
        """How often the method may read each pseudo-static (2: or more often)."""
        found: dict[int, int] = {}
        for i in range(len(self.body.op)):
            f = self.fields.resolve(int(self.body.ref[i])) if self.body.op[i] == Op.SGET else -1
            if f >= 0 and self.ctx.program.field(f).cls == self.ctx.lowering.env_class:
                found[f] = 2 if f in found or self.body.in_cycle[self.block_of[i]] else 1
        return found

    def ops_of(self, block: int) -> range:
        """Operations of a block."""
        return range(int(self.body.block_off[block]), int(self.body.block_off[block + 1]))

    def call_site(self, i: int) -> Call:
        ctx, body = self.ctx, self.body
        kind, method = int(body.c[i]), int(body.ref[i])
        targets = ctx.graph.targets(self.m, i)
        library = ctx.graph.is_library_call(self.m, i) or ctx.graph.is_cut(self.m, i)
        if kind == CallKind.CUSTOM:
            method = ctx.shapes[self.m].calls[i].method
        static = kind in (CallKind.STATIC, CallKind.CUSTOM)
        marked = False
        if targets and kind != CallKind.CUSTOM and not library and not self.environment:
            marked = bool(ctx.library.effect(method, static, True, True, ()).summary.rows)
        args = body.args[body.arg_off[i] : body.arg_off[i + 1]].tolist()
        site = ctx.sites.id(Site(self.m, i, int(body.pc[i]), "call", -1))
        return Call(
            i, site, method, kind in (CallKind.VIRTUAL, CallKind.INTERFACE), static, args, int(body.dst[i]), targets,
            library, ctx.graph.shim(self.m, i), marked,
        )  # fmt: skip

    def name(self, key: Key) -> Key:
        """A token as this method calls it: folded where the method has too many."""
        return self.folding.token(key, self.fold)

    def new(self, i: int, kind: str, type_id: int, text: int = -1) -> Tokens:
        """The object that an operation makes or gets."""
        site = self.ctx.sites.id(Site(self.m, i, int(self.body.pc[i]), kind, type_id, text))
        return frozenset({self.name((OBJECT, site, -1))})

    def in_table(self, key: Key) -> bool:
        """Whether a token stands for objects of the table."""
        return self.table.member(key) is not None

    def feeds_table(self, cell: Key) -> bool:
        """Whether what is stored to the cell joins the table."""
        return self.in_table(cell[1]) and cell[2] not in self.fields.below

    def outside(self, key: Key) -> bool:
        """Whether a token may stand for an object from before or outside this run of the method."""
        if key[0] == OBJECT:
            return self.in_table(key) or self.ctx.sites[key[1]].kind in ("library", "exception")
        return key[0] in (FORMAL, DEEP, BEYOND, UNKNOWN, BY_TYPE, LIBRARY_BY_TYPE)

    def type_of(self, key: Key) -> int:
        """Known type of a token; -1 any."""
        if key[0] == OBJECT:
            return self.ctx.sites[key[1]].type
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return int(key[1])
        if key[0] == FORMAL:
            if key[2]:
                return self.fields.type(key[2][-1])
            return self.fields.type(-1 - key[1]) if key[1] < 0 else self.params[key[1]]
        return -1

    def may_be(self, exact: bool, known: int, type_id: int) -> bool:
        return known < 0 or type_id < 0 or self.ctx.hierarchy.may_be(exact, known, type_id)

    def is_a(self, key: Key, type_id: int) -> bool:
        """Whether a token passes where only values of a type fit. Formals and labels always do: they stand for data."""
        if key[0] == OBJECT:
            site = self.ctx.sites[key[1]]
            return self.may_be(site.kind in ("new", "string", "class"), site.type, type_id)
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return self.may_be(key[0] == BY_TYPE, int(key[1]), type_id)
        return True

    def has_field(self, key: Key, f: int) -> bool:
        """Whether an object of this token can have a field."""
        if key[0] == TAINT:
            return False
        if f >= Fields.FIRST_PSEUDO:
            return True
        cls = self.ctx.program.field(f).cls
        return self.may_be(False, self.type_of(key), cls) if key[0] == FORMAL else self.is_a(key, cls)

    def compatible(self, a: Key, b: Key) -> bool:
        """Whether two tokens may be one object, by their types."""
        ta, tb = self.type_of(a), self.type_of(b)
        return self.may_be(False, ta, tb) or self.may_be(False, tb, ta)

    def escapes(self, key: Key) -> bool:
        """Whether the framework may call back an object of this token: it is of the app."""
        if key[0] == OBJECT:
            site = self.ctx.sites[key[1]]
            return site.kind == "new" and site.type >= 0 and self.ctx.hierarchy.is_app(site.type)
        if key[0] in (BY_TYPE, LIBRARY_BY_TYPE):
            return self.ctx.hierarchy.is_app(key[1])
        return key[0] in (FORMAL, UNKNOWN)

    def keep(self, tokens: Tokens, what: int) -> Tokens:
        """The tokens that pass."""
        if what == ANY:
            return tokens
        if what == DATA:
            return data(tokens)
        return frozenset(t for t in tokens if (self.escapes(t) if what == ESCAPES else self.is_a(t, what)))

    def of_type(self, type_id: int) -> int:
        """What passes into a place of a declared type."""
        return DATA if self.fields.is_primitive(type_id) else type_id

    def wants(self, slot: Slot) -> int:
        """What passes into a slot."""
        if isinstance(slot, int):
            return ANY
        if slot[0] == SINK:
            return DATA
        if slot[0] in (STATIC, TABLE):
            return self.of_type(self.fields.type(slot[1]))
        if slot[0] in (CELL, TABLE_CELL):
            return DATA if self.fields.data_only(slot[2]) else self.fields.type(slot[2])
        return ESCAPES if slot == (PSEUDO, self.ctx.library.escaped) else ANY

    def begin(self, slot: Slot, tokens: Tokens) -> None:
        self.entry[slot] = tokens
        self.shape[slot] = self.shape.get(slot, NOTHING) | tokens
        self.names |= tokens
        self.changed = True

    def static(self, f: int) -> Key:
        """Slot of a static field, which holds its formal on entry; on entry of the whole app, nothing.

        So do the pseudo-statics that an environment reads.
        """
        pseudo = self.ctx.program.field(f).cls == self.ctx.lowering.env_class
        slot = (PSEUDO if pseudo else STATIC, f)
        if slot not in self.entry:
            empty = self.m == self.ctx.graph.root or (pseudo and f not in self.pseudo_reads)
            self.begin(slot, NOTHING if empty else frozenset({(FORMAL, -1 - f, ())}))
        return slot

    def static_slot(self, ref: int) -> Key | None:
        """Slot that a store to a static field goes to; None for fields of the framework."""
        f = self.fields.resolve(ref)
        owner = self.ctx.program.field(f).cls
        if owner == self.ctx.lowering.env_class or self.ctx.lowering.is_own(owner):
            return self.static(f)
        return (TABLE, f) if self.ctx.hierarchy.is_app(owner) else None

    def cell(self, o: Key, f: int) -> Key:
        """Slot of a cell, which joins the shape."""
        if self.merge_keys and self.fields.wild(f) == self.fields.elem:
            f = self.fields.elem
        slot = (CELL, o, f)
        if slot not in self.entry:
            self.cells.setdefault(o, set()).add(f)
            self.names.add(o)
            held = {t: self.name(t) for t in self.held(o, f)}
            self.begin(slot, frozenset(held.values()))
            if o[0] in (FORMAL, DEEP) and f not in self.fields.below:
                for t in held.values():
                    if t[0] == DEEP:
                        self.through.setdefault(t, set()).add(f)
        return slot

    def own_path(self, o: Key) -> int:
        """1 when a formal or a region is reached through fields of the app's own classes."""
        return int(o[2]) if o[0] == DEEP else int(any(self.fields.is_own(f) for f in o[2]))

    def held(self, o: Key, f: int) -> set[Key]:
        """What the field of an object from outside holds on entry."""
        fields = self.fields
        held: set[Key] = set()
        if self.in_table(o) and f not in fields.below:
            member = self.table.member(o)
            assert member is not None
            held |= self.table.content((member, f), self.ctx.limits.objects_per_static)
        if f == fields.star:  # a place for stores only
            return held
        if o[0] == FORMAL and f not in fields.below and len(o[2]) < self.k:
            return {(FORMAL, o[1], (*o[2], f))}
        if o[0] in (FORMAL, DEEP):
            return {(DEEP, o[1], self.own_path(o) | int(f == fields.below[1] or fields.is_own(f)))}
        if o[0] in (BEYOND, UNKNOWN):
            return held | {o}
        if not fields.data_only(f):
            if o[0] == LIBRARY_BY_TYPE:
                held.add((BEYOND, FOLDED))
            elif o[0] == OBJECT and self.ctx.sites[o[1]].kind in ("library", "exception"):
                held.add((BEYOND, o[1]))
        return held

    def begin_below(self, o: Key, through: frozenset[int]) -> None:
        """A token is read through some fields: what it held there as it came in."""
        fields = self.fields
        own = any(fields.is_own(f) for f in through)
        slot = self.cell(o, fields.below[int(own)])
        if o[0] in (FORMAL, DEEP):
            region = (DEEP, o[1], int(own or self.own_path(o)))
            self.through.setdefault(region, set()).update(through)
        member = self.table.member(o)
        if member is not None:
            many = member in (ANY_MEMBER, FORGOTTEN_MEMBER)
            found = self.table.reached(member, fields.through(through)) | {member if many else ANY_MEMBER}
            more = frozenset(map(self.name, found))
            if more - self.entry[slot]:
                self.begin(slot, self.entry[slot] | more)
            if many:
                for f in through:
                    if fields.is_private(f):
                        self.cell(o, f)
