"""An evaluator of semantics.md straight on the IR of a whole program: sets of tokens, no encoder, no engine.

It shares names with the analysis (sites, fields, call graph, library models as summaries) and the decisions that the
shape pass fixes: export levels, foldings, merged keys. All facts it finds itself: first
the shape (one set per slot and method, nothing cleared), from it the clear sets, then the facts before each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from analyzer.ir import Body, CallKind, Op
from analyzer.libcalls import HERE
from analyzer.shape import ANYWHERE, Context, Table
from analyzer.summary import Summary, fold_row, fold_token
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    CELL_DATA,
    DEEP,
    FORMAL,
    FRESH,
    LIBRARY_BY_TYPE,
    OBJECT,
    PARAMETER,
    PSEUDO,
    RANGE,
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
)

Slot = int | Key
Tokens = frozenset[Key]
View = Callable[[Slot], Tokens]
"""R: what a slot holds just before the statement."""
Change = tuple[list[Slot], list[tuple[Slot, Tokens]]]
"""What a statement does at once: slots that it clears first, and what it adds to which slots."""

NOTHING: Tokens = frozenset()
ANY, DATA, ESCAPES = -1, -2, -3
"""What may pass: everything; labels and formals; what the framework may call back. Type ids: what may be of the type."""


@dataclass
class Effects:
    """What a call does, over tokens of the callee's naming (semantics.md 4)."""

    rows: dict[Key, Tokens] = field(default_factory=dict)
    regions: dict[Key, Tokens] = field(default_factory=dict)
    """Per region token, the deepest formals of its root."""


@dataclass
class Applied:
    """One effect applied at a call: of an app method, or (target -1) of a library method."""

    target: int
    effects: Effects
    receivers: Tokens | None = None
    """What may be bound to the receiver; None: all."""


@dataclass
class Call:
    """What is known of a call site without any facts."""

    op: int
    site: int
    method: int
    dispatched: bool
    static: bool
    args: list[int]
    dst: int
    targets: tuple[int, ...]
    library: bool
    shim: int
    marked: bool


def labels(tokens: Iterable[Key]) -> Tokens:
    """The labels among tokens."""
    return frozenset(t for t in tokens if t[0] == TAINT)


def objects(tokens: Iterable[Key]) -> Tokens:
    """All but the labels."""
    return frozenset(t for t in tokens if t[0] != TAINT)


def data(tokens: Iterable[Key]) -> Tokens:
    """Labels and formals, which stand for labels."""
    return frozenset(t for t in tokens if t[0] in (TAINT, FORMAL, DEEP))


def formals(tokens: Iterable[Key]) -> Tokens:
    """Formals and regions."""
    return frozenset(t for t in tokens if t[0] in (FORMAL, DEEP))


def related(fields: Fields, f: int, present: Iterable[int]) -> list[int]:
    """Fields whose cells a read of f reads: a wild card and its group feed each other, `*` all."""
    if f == fields.star:
        return list(present)
    if f == fields.outer:
        return [g for g in present if g >= Fields.FIRST_PSEUDO]
    return [g for g in present if g in (f, fields.star) or g == fields.wild(f) or fields.wild(g) == f]


def is_heap(slot: Slot) -> bool:
    """Whether the slot has a value per statement."""
    return not isinstance(slot, int) and slot[0] in (CELL, STATIC)


class Method:
    """Statements, shape and facts of one method."""

    def __init__(self, whole: Oracle, m: int) -> None:
        self.whole, self.ctx, self.m = whole, whole.ctx, m
        ctx = self.ctx
        self.fields, self.table = ctx.fields, whole.table
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

    def ops_of(self, block: int) -> range:
        """Operations of a block."""
        return range(int(self.body.block_off[block]), int(self.body.block_off[block + 1]))

    def count_pseudo_reads(self) -> dict[int, int]:
        """How often the method may read each pseudo-static (2: or more often)."""
        found: dict[int, int] = {}
        for i in range(len(self.body.op)):
            f = self.fields.resolve(int(self.body.ref[i])) if self.body.op[i] == Op.SGET else -1
            if f >= 0 and self.ctx.program.field(f).cls == self.ctx.lowering.env_class:
                found[f] = 2 if f in found or self.body.in_cycle[self.block_of[i]] else 1
        return found

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
            i, site, method, kind in (CallKind.VIRTUAL, CallKind.INTERFACE), static, args, int(body.dst[i]), targets, library,
            ctx.graph.shim(self.m, i), marked,
        )  # fmt: skip

    # -- tokens and types --------------------------------------------------------------------------------------

    def name(self, key: Key) -> Key:
        """A token as this method calls it: folded where the method has too many."""
        return fold_token(key, self.fold, self.ctx.sites, self.table.sites)

    def new(self, i: int, kind: str, type_id: int, text: int = -1) -> Tokens:
        """The object that an operation makes or gets."""
        site = self.ctx.sites.id(Site(self.m, i, int(self.body.pc[i]), kind, type_id, text))
        return frozenset({self.name((OBJECT, site, -1))})

    def in_table(self, key: Key) -> bool:
        return key[0] == OBJECT and key[1] in self.table.sites

    def feeds_table(self, cell: Key) -> bool:
        """Whether what is stored to the cell joins the table."""
        return cell[1] == (BEYOND, ANYWHERE) or (self.in_table(cell[1]) and cell[2] != self.fields.star)

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

    # -- what slots hold on entry ------------------------------------------------------------------------------

    def begin(self, slot: Slot, tokens: Tokens) -> None:
        self.entry[slot] = tokens
        self.shape[slot] = self.shape.get(slot, NOTHING) | tokens
        self.names |= tokens
        self.changed = True

    def static(self, f: int) -> Slot:
        """Slot of a static field, which holds its formal on entry; on entry of the whole app, nothing.

        So do the pseudo-statics that an environment reads.
        """
        pseudo = self.ctx.program.field(f).cls == self.ctx.lowering.env_class
        slot = (PSEUDO if pseudo else STATIC, f)
        if slot not in self.entry:
            empty = self.m == self.ctx.graph.root or pseudo and f not in self.pseudo_reads
            self.begin(slot, NOTHING if empty else frozenset({(FORMAL, -1 - f, ())}))
        return slot

    def cell(self, o: Key, f: int) -> Slot:
        """Slot of a cell, which joins the shape."""
        if self.merge_keys and self.fields.wild(f) == self.fields.elem:
            f = self.fields.elem
        slot = (CELL, o, f)
        if slot not in self.entry:
            self.cells.setdefault(o, set()).add(f)
            self.names.add(o)
            self.begin(slot, frozenset(self.name(t) for t in self.held(o, f)))
        return slot

    def held(self, o: Key, f: int) -> set[Key]:
        """What the field of an object from outside holds on entry."""
        star, table = f == self.fields.star, self.table
        if o[0] == FORMAL:
            return {(DEEP, o[1])} if star or len(o[2]) >= self.k else {(FORMAL, o[1], (*o[2], f))}
        if o[0] in (DEEP, BEYOND, UNKNOWN):
            return {o}
        if self.in_table(o):
            if star:
                return {*table.reached_labels(o[1]), (BEYOND, ANYWHERE)}
            held = set(table.content((o[1], f), self.ctx.limits.objects_per_static))
            result = self.ctx.sites[o[1]].kind in ("library", "exception") and not self.fields.data_only(f)
            return held | {(BEYOND, o[1])} if result else held
        if self.fields.data_only(f) or o[0] == BY_TYPE or not self.outside(o):
            return set()
        return {(BEYOND, o[1] if o[0] == OBJECT else -1)}

    # -- reads and stores --------------------------------------------------------------------------------------

    def read(self, see: View, owners: Iterable[Key], f: int) -> Tokens:
        """What field f of some tokens holds, with the labels of the tokens."""
        found = set(labels(owners))
        for o in objects(owners):
            if not self.has_field(o, f):
                continue
            if self.outside(o) and o[0] != BY_TYPE:
                self.cell(o, f)
                if self.in_table(o) and f != self.fields.star:
                    for g in related(self.fields, f, self.table.by_site.get(o[1], ())):
                        self.cell(o, g)
            for g in related(self.fields, f, tuple(self.cells.get(o, ()))):
                found |= see((CELL, o, g))
        return frozenset(found)

    def store(self, owners: Iterable[Key], f: int, value: Tokens) -> list[tuple[Slot, Tokens]]:
        """What a store adds to which cells."""
        added: list[tuple[Slot, Tokens]] = []
        for o in objects(owners):
            if self.has_field(o, f):
                slot = self.cell(o, f)
                fitting = self.keep(value, self.wants(slot))
                added.append((slot, fitting))
                if self.in_table(o) or o == (BEYOND, ANYWHERE):
                    added.append(((TABLE_CELL, o[1], f), formals(fitting)))
        return added

    # -- statements --------------------------------------------------------------------------------------------

    def statement(self, i: int, see: View, solving: bool) -> Iterator[Change]:
        """What an operation does; environments' calls first bring in what their callbacks are given."""
        body, fields = self.body, self.fields
        op, d, a, b, c, ref = (int(x[i]) for x in (body.op, body.dst, body.a, body.b, body.c, body.ref))
        if op == Op.CALL:
            call = self.calls[i]
            if self.environment:
                yield from self.parameter_sources(call, see)
            yield self.effect_of_call(call, see, solving)
        elif op in (Op.NEW, Op.NEW_ARRAY):
            yield [], [(d, self.new(i, "new", ref))]
        elif op == Op.STRING:
            yield [], [(d, self.new(i, "string", self.ctx.program.type_id("Ljava/lang/String;"), ref))]
        elif op == Op.CLASS:
            yield [], [(d, self.new(i, "class", self.ctx.program.type_id("Ljava/lang/Class;"), ref))]
        elif op == Op.UNKNOWN and not fields.is_primitive(ref):
            yield [], [(d, self.new(i, "library", ref))]
        elif op == Op.PHI:
            for v in body.args[body.arg_off[i] : body.arg_off[i + 1]].tolist():
                yield [], [(d, see(v))]
        elif op == Op.CAST:
            yield [], [(d, self.keep(see(a), ref))]
        elif op == Op.DATA:
            yield [], [(d, data(see(a)) | data(see(b)))]
        elif op == Op.CAUGHT:
            for r, handler in body.caught_by(self.block_of[i]):
                declared = int(body.handler_type[handler])
                declared = declared if declared >= 0 else self.ctx.program.type_id("Ljava/lang/Throwable;")
                yield [], [(d, self.new(i, "exception", declared) | self.keep(see((RANGE, r)), declared))]
        elif op == Op.GET:
            yield [], [(d, self.read(see, see(a), fields.instance(ref)) | self.field_labels(i, ref))]
        elif op == Op.AGET:
            yield [], [(d, self.read(see, see(a), self.index(b)))]
        elif op in (Op.PUT, Op.APUT):
            f, value = (fields.instance(ref), b) if op == Op.PUT else (self.index(b), c)
            yield self.cleared(i, solving), self.store(see(a), f, see(value))
        elif op == Op.SGET:
            yield [], [(d, self.static_read(i, see, ref) | self.field_labels(i, ref))]
        elif op == Op.SPUT:
            yield self.cleared(i, solving), self.static_write(ref, see(a))
        elif op == Op.RETURN:
            ret = self.ctx.program.method(self.m).ret
            yield [], [((RETURN,), self.keep(see(a), self.of_type(ret)))]
        elif op == Op.THROW:
            yield [], [(row, see(a)) for row in self.thrown_rows(i)]

    def index(self, value: int) -> int:
        number = self.body.constant.get(value, -1)
        return self.fields.index(number) if 0 <= number < self.ctx.limits.keys_per_object else self.fields.any

    def thrown_rows(self, i: int) -> list[Slot]:
        """Where an exception goes: to the try range around it, and out of the method unless a handler catches all."""
        body = self.body
        r = int(body.block_range[self.block_of[i]])
        if r < 0:
            return [(THROWN,)]
        catches_all = -1 in body.handler_type[body.range_off[r] : body.range_off[r + 1]].tolist()
        return [(RANGE, r)] if catches_all else [(RANGE, r), (THROWN,)]

    def static_read(self, i: int, see: View, ref: int) -> Tokens:
        f = self.fields.resolve(ref)
        owner = self.ctx.program.field(f).cls
        lowering = self.ctx.lowering
        if owner == lowering.env_class:
            site = lowering.app_wide(self.ctx.program.field(f).name)
            return frozenset({self.name((OBJECT, site, -1))}) if site >= 0 else see(self.static(f))
        if not self.ctx.hierarchy.is_app(owner):
            kind = self.ctx.program.field(f).type
            return NOTHING if self.fields.is_primitive(kind) else self.new(i, "library", kind)
        if lowering.is_own(owner):
            return see(self.static(f))
        return frozenset(self.name(t) for t in self.table.content(f, self.ctx.limits.objects_per_static))

    def static_write(self, ref: int, value: Tokens) -> list[tuple[Slot, Tokens]]:
        f = self.fields.resolve(ref)
        owner = self.ctx.program.field(f).cls
        slot: Slot = (TABLE, f)
        if owner == self.ctx.lowering.env_class:
            slot = self.static(f)
        elif self.ctx.lowering.is_own(owner):
            slot = self.static(f)
        elif not self.ctx.hierarchy.is_app(owner):
            return []
        return [(slot, self.keep(value, self.wants(slot)))]

    def field_labels(self, i: int, ref: int) -> Tokens:
        """Fields of framework classes may be sources."""
        ctx, named = self.ctx, self.ctx.program.field(ref)
        if ctx.hierarchy.is_app(named.cls):
            return NOTHING
        sources = ctx.lowering.knowledge.field_sources(ctx.program.type_name(named.cls), named.name)
        site = ctx.sites.id(Site(self.m, i, int(self.body.pc[i]), "call", -1))
        return frozenset((TAINT, ctx.lowering.source_id(s), site) for s in sources)

    def parameter_sources(self, call: Call, see: View) -> Iterator[Change]:
        """Labels of what callbacks are given, at the calls of an environment."""
        for target in call.targets:
            for number, source, path in self.ctx.parameter_sources(target):
                if number < len(call.args) and call.args[number] >= 0:
                    label = (TAINT, source, self.ctx.sites.id(Site(target, -1, 0, "parameter", -1)))
                    arg = call.args[number]
                    yield [], [((PARAMETER, call.op, number) if path else arg, frozenset({label}))]
                    if path:
                        yield [], self.store(see(arg), path, see((PARAMETER, call.op, number)))

    # -- calls -------------------------------------------------------------------------------------------------

    def effect_of_call(self, call: Call, see: View, solving: bool) -> Change:
        """All targets' effects at once, on the state before the call."""
        added = [a for applied in self.applications(call, solving) for a in self.apply(call, applied, see)]
        return self.cleared(call.op, solving), added

    def applications(self, call: Call, solving: bool) -> list[Applied]:
        """What a call may run: the shape decides, by the receivers' types."""
        ctx = self.ctx
        effects = self.whole.facts if solving else self.whole.shapes
        found: list[Applied] = []
        receiver = self.shape.get(call.args[0], NOTHING) if call.args else NOTHING
        library = call.library or call.marked
        if not call.dispatched:
            found = [Applied(t, effects.get(t, Effects())) for t in call.targets]
            return [*found, Applied(-1, self.library_effects(call))] if library else found
        elsewhere = set(receiver) if call.marked or call.shim >= 0 else set(labels(receiver))
        receivers: dict[int, set[Key]] = {t: set(labels(receiver)) for t in call.targets}
        for o in objects(receiver):
            exact = o[0] == BY_TYPE or o[0] == OBJECT and ctx.sites[o[1]].kind in ("new", "string", "class")
            target = ctx.hierarchy.dispatch(self.type_of(o), call.method) if exact else -1
            if not exact:
                for t in call.targets:
                    if self.is_a(o, ctx.program.method(t).cls):
                        receivers[t].add(o)
            if target in receivers:
                receivers[target].add(o)
            else:
                elsewhere.add(o)
        if call.shim >= 0:
            receivers[call.shim] = set(receiver)
        for t in call.targets:
            if objects(receivers[t]):
                found.append(Applied(t, effects.get(t, Effects()), frozenset(receivers[t])))
        if library and objects(elsewhere):
            found.append(Applied(-1, self.library_effects(call), frozenset(elsewhere)))
        return found

    def library_effects(self, call: Call) -> Effects:
        """The model of a library method, or the default for methods without one."""
        library = self.ctx.library
        keys = tuple(self.texts(a) for a in call.args) if library.keyed(call.method) else ()
        effect = library.effect(call.method, call.static, call.shim >= 0, not call.library, keys)
        return self.whole.of_library(effect.summary)

    def texts(self, value: int) -> tuple[str, ...] | None:
        """The constant texts that an argument may be; None when it may be anything else."""
        if value < 0:
            return None
        if value in self.body.constant:
            return (str(self.body.constant[value]),)
        sites = self.ctx.sites
        found = set()
        for o in objects(self.shape.get(value, NOTHING)):
            if o[0] != OBJECT or sites[o[1]].kind != "string":
                return None
            found.add(self.ctx.program.string(sites[o[1]].text))
        return tuple(sorted(found)) if 0 < len(found) <= self.ctx.limits.keys_per_object else None

    def apply(self, call: Call, applied: Applied, see: View) -> list[tuple[Slot, Tokens]]:
        """What one effect adds to the caller's slots."""
        sigma = self.substitution(call, applied, see)
        added: list[tuple[Slot, Tokens]] = []
        for row, tokens in applied.effects.rows.items():
            value: Tokens = frozenset().union(*(sigma[t] for t in tokens))
            kind = row[0]
            if kind in (CELL, CELL_DATA):
                added += self.store(sigma[row[1]], row[2], data(value) if kind == CELL_DATA else value)
            elif kind in (RETURN, RETURN_DATA):
                if call.dst >= 0:
                    ret = self.ctx.program.method(call.method).ret
                    added.append((call.dst, self.keep(value, DATA if kind == RETURN_DATA else self.of_type(ret))))
            elif kind == THROWN:
                added += [(slot, value) for slot in self.thrown_rows(call.op)]
            else:
                if kind == SINK and row[2] == HERE:
                    row = (SINK, row[1], call.site, row[3])
                slot = self.static(row[1]) if kind in (STATIC, PSEUDO) else row
                added.append((slot, self.keep(value, self.wants(slot))))
        return added

    def substitution(self, call: Call, applied: Applied, see: View) -> dict[Key, Tokens]:
        """The least sigma: what the callee's tokens are here."""
        effects = applied.effects
        wanted = {t for tokens in effects.rows.values() for t in tokens}
        wanted |= {row[1] for row in effects.rows if row[0] in (CELL, CELL_DATA)}
        if applied.target >= 0:
            wanted |= {owner for owner, _ in self.whole.must.get(applied.target, ()) if owner}
        pending = list(wanted)
        while pending:
            t = pending.pop()
            needed = {(FORMAL, t[1], t[2][:-1])} if t[0] == FORMAL and t[2] else effects.regions.get(t, NOTHING)
            pending += [n for n in needed if n not in wanted]
            wanted |= needed
        sigma: dict[Key, Tokens] = dict.fromkeys(wanted, NOTHING)
        again = True
        while again:
            again = False
            for t in wanted:
                found = sigma[t] | self.meaning(t, call, applied, see, sigma)
                if found != sigma[t]:
                    sigma[t], again = found, True
        return sigma

    def meaning(self, t: Key, call: Call, applied: Applied, see: View, sigma: dict[Key, Tokens]) -> Tokens:
        """One equation of sigma."""
        if t[0] == DEEP:
            star = self.fields.star
            sources = [*applied.effects.regions.get(t, ()), t]
            return frozenset().union(*(self.child(s, star, applied, see, sigma) for s in sources))
        if t[0] == FORMAL and t[2]:
            return self.child((FORMAL, t[1], t[2][:-1]), t[2][-1], applied, see, sigma)
        if t[0] == FORMAL and isinstance(t[1], int):
            return self.argument(t[1], call, applied, see)
        return frozenset({self.renamed(t, call, applied.target)})

    def child(self, o: Key, f: int, applied: Applied, see: View, sigma: dict[Key, Tokens]) -> Tokens:
        """sigma(o.f): what the cells held before, and what the callee stores through another name of the object."""
        found = set(self.read(see, sigma[o], f))
        for row, tokens in applied.effects.rows.items():
            if row[0] not in (CELL, CELL_DATA) or not self.outside_callee(row[1]):
                continue
            if row[1] == o and o[0] != DEEP:  # a region stands for many objects, so it may alias itself
                continue
            if row[2] in related(self.fields, f, (row[2],)) and sigma[row[1]] & sigma[o]:
                value: Tokens = frozenset().union(*(sigma[t] for t in tokens))
                found |= data(value) if row[0] == CELL_DATA else value
        return frozenset(found)

    def outside_callee(self, t: Key) -> bool:
        """Whether a callee's token may be an object that the caller knows by another name."""
        return t[0] != FRESH and self.outside(t)

    def argument(self, root: int, call: Call, applied: Applied, see: View) -> Tokens:
        """What a root formal is bound to."""
        if root < 0:
            return see(self.static(-1 - root))
        if root >= len(call.args) or call.args[root] < 0:
            return NOTHING
        bound = see(call.args[root])
        if root == 0 and applied.receivers is not None:
            bound &= applied.receivers
        if applied.target < 0:
            return bound
        ref = self.ctx.program.method(applied.target)
        params = list(ref.params) if self.ctx.program.is_static(applied.target) else [ref.cls, *ref.params]
        return self.keep(bound, self.of_type(params[root])) if root < len(params) else bound

    def renamed(self, t: Key, call: Call, target: int) -> Key:
        """The caller's name of a callee's object or label."""
        sites = self.ctx.sites
        if t[0] == FRESH:
            (fresh,) = self.new(call.op, "library", t[1])
            return fresh
        if t[0] == SOURCE:
            return (TAINT, t[1], call.site)
        if t[0] == FORMAL:  # an object of which the whole app has one
            return self.name(t[1])
        name = t
        if t[0] == OBJECT:
            site = sites[t[1]]
            apart = self.contexts and site.kind in ("new", "library") and site.method >= 0 and not self.in_table(t)
            name = self.name((OBJECT, t[1], call.site if apart else -1))
            if target >= 0:
                self.origin.setdefault(name, set()).add((call.op, target, t))
        name = self.name(name)
        self.names.add(name)
        return name

    # -- what is cleared ---------------------------------------------------------------------------------------

    def unique(self, o: Key) -> bool:
        """Whether a token stands for at most one object while the method runs."""
        if o[0] == FORMAL:  # a pseudo-static holds many objects; what is read from it once is one
            if o[1] < 0 and self.pseudo_reads.get(-1 - o[1], 0) > 1:
                return False
            return not any(self.fields.weak(f) for f in o[2])
        if o[0] != OBJECT or self.outside(o) or self.recursive:
            return False
        site = self.ctx.sites[o[1]]
        origin = self.origin.get(o, set())
        if site.method == self.m and o[2] == -1 and not origin:
            return not self.body.in_cycle[self.block_of[site.op]]
        return len({(op, t) for op, _, t in origin}) == 1 and all(
            not self.body.in_cycle[self.block_of[op]] and self.whole.methods[target].unique(t) for op, target, t in origin
        )

    def clear_set(self, base: Tokens, f: int) -> list[Slot]:
        """Cells that a store to field f of a base clears."""
        if len(objects(base)) != 1 or self.fields.weak(f):
            return []
        (o,) = objects(base)
        if f not in self.cells.get(o, ()) or not self.unique(o):
            return []
        if self.outside(o):
            fresh_this = self.constructor and o == (FORMAL, 0, ())
            for other, present in self.cells.items():
                if other == o or not self.outside(other) or fresh_this and other[0] in (FORMAL, DEEP):
                    continue
                if related(self.fields, f, present) and self.compatible(o, other):
                    return []
        return [(CELL, o, f)]

    def clear_set_of_call(self, call: Call, calls_inside: bool) -> list[Slot]:
        """Cells that a call certainly overwrites: it has one target, which does so."""
        applied = self.applications(call, False)
        if len(applied) != 1 or applied[0].target < 0 or call.library and call.shim < 0:
            return []
        target = applied[0].target
        if not calls_inside and target in self.whole.scc_of[self.m]:
            return []
        must = self.whole.must.get(target, frozenset())
        if not must:
            return []
        see = self.see_shape
        sigma = self.substitution(call, applied[0], see)
        found: list[Slot] = []
        for owner, f in must:
            if owner:
                found += self.clear_set(sigma[owner], f)
            elif (STATIC, f) in self.shape:
                found.append((STATIC, f))
        return found

    def see_shape(self, slot: Slot) -> Tokens:
        return self.shape.get(slot, NOTHING)

    def cleared(self, i: int, solving: bool) -> list[Slot]:
        """What an operation clears, by the final shape; while that is being found, nothing."""
        if not solving:
            return []
        if i not in self.clears:
            self.clears[i] = self.find_cleared(i, True)
        return self.clears[i]

    def find_cleared(self, i: int, calls_inside: bool) -> list[Slot]:
        """`calls_inside`: whether calls inside the component count."""
        body = self.body
        op = body.op[i]
        if op in (Op.PUT, Op.APUT):
            f = self.fields.instance(int(body.ref[i])) if op == Op.PUT else self.index(int(body.b[i]))
            return self.clear_set(self.see_shape(int(body.a[i])), f)
        if op == Op.SPUT:
            return [slot for slot, _ in self.static_write(int(body.ref[i]), NOTHING) if slot[0] == STATIC]
        return self.clear_set_of_call(self.calls[i], calls_inside) if op == Op.CALL else []

    def certain(self) -> frozenset[tuple[Key, int]]:
        """What every path to a return overwrites, of what the caller knows; a static field stands as ((), field)."""
        body = self.body
        gains = {i: frozenset(self.find_cleared(i, False)) for i in range(len(body.op))}
        heads: list[frozenset[Slot] | None] = [None] * body.n_blocks
        heads[0] = frozenset()
        ends: list[frozenset[Slot]] = []
        again = True
        while again:
            again, ends = False, []
            arrivals: list[tuple[int, frozenset[Slot]]] = []
            for b in range(body.n_blocks):
                state = heads[b]
                if state is None:
                    continue
                for i in self.ops_of(b):
                    if body.throws[i]:
                        arrivals += [(h, state) for h in self.handlers(b)]
                    state |= gains[i]
                    if body.op[i] == Op.RETURN:
                        ends.append(state)
                arrivals += [(s, state) for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist()]
            for b, state in arrivals:
                met = heads[b]
                joined = state if met is None else met & state
                if b and joined != met:
                    heads[b], again = joined, True
        always = frozenset.intersection(*ends) if ends else frozenset()
        found: set[tuple[Key, int]] = set()
        for slot in always:
            assert not isinstance(slot, int)
            if slot[0] == STATIC:
                found.add(((), slot[1]))
            elif slot[1][0] == FORMAL and fold_token(slot[1], self.level, self.ctx.sites, set()) == slot[1] and self.level < 2:
                found.add((slot[1], slot[2]))
        return frozenset(found)

    def handlers(self, block: int) -> list[int]:
        body, r = self.body, int(self.body.block_range[block])
        return [] if r < 0 else list(dict.fromkeys(body.handler_block[body.range_off[r] : body.range_off[r + 1]].tolist()))

    # -- summaries ---------------------------------------------------------------------------------------------

    def exported(self) -> list[tuple[Slot, Tokens]]:
        """Slots that the summary speaks of, each with what it held anyway."""
        found: dict[Slot, Tokens] = {}
        frontier: set[Key] = set()

        def take(slot: Slot, anyway: Tokens) -> None:
            found[slot] = anyway
            tokens = self.shape[slot] - anyway
            frontier.update(formals(tokens) if slot[0] in (SINK, TABLE, TABLE_CELL) else tokens)

        for slot, tokens in self.shape.items():
            if isinstance(slot, int):
                continue
            entry = self.entry.get(slot, NOTHING)
            kind = slot[0]
            if kind in (RETURN, THROWN) or kind in (SINK, TABLE, TABLE_CELL) and formals(tokens):
                take(slot, NOTHING)
            elif kind in (STATIC, PSEUDO) and tokens - entry:
                take(slot, entry)
            elif kind == CELL and slot[1][0] in (FORMAL, DEEP):
                # Its own formal is no change, unless that names more than this one cell and was stored.
                again = self.stored.get(slot, NOTHING)
                anyway = NOTHING if again and not all(map(self.unique, again)) else entry
                if tokens - anyway:
                    take(slot, anyway)
        done: set[Key] = set()
        while frontier - done:
            o = (frontier - done).pop()
            done.add(o)
            if o[0] not in (FORMAL, DEEP, TAINT) and not self.in_table(o):
                for f in self.cells.get(o, ()):
                    slot = (CELL, o, f)
                    if self.shape[slot] - self.entry[slot]:
                        take(slot, NOTHING)
        return list(found.items())

    def export(self, see: View) -> Effects:
        """The summary by some facts: those of the shape, or those of the exit."""
        ctx, level = self.ctx, self.level
        rows: dict[Key, Tokens] = {}
        for slot, anyway in self.exported():
            assert not isinstance(slot, int)
            tokens = see(slot) - anyway
            if slot[0] in (SINK, TABLE, TABLE_CELL):
                tokens = formals(tokens)
            if tokens:
                row = fold_row(slot, level, ctx.sites, self.table.sites, self.fields)
                named = frozenset(fold_token(t, level, ctx.sites, self.table.sites) for t in tokens)
                rows[row] = rows.get(row, NOTHING) | named
        return Effects(rows, self.regions())

    def regions(self) -> dict[Key, Tokens]:
        """Per region, the deepest formals of its root: those whose cells hold it on entry."""
        depth = min(self.k, (self.k, 1, 0)[max(self.level, self.fold)])
        found: dict[Key, Tokens] = {}
        for t in self.names:
            if t[0] == DEEP:
                found.setdefault(t, NOTHING)
            if t[0] == FORMAL and (len(t[2]) == depth or self.fields.star in self.cells.get(t, ()) and len(t[2]) < depth):
                region = (DEEP, t[1])
                found[region] = found.get(region, NOTHING) | {t}
        return found

    # -- fixed points ------------------------------------------------------------------------------------------

    def find_shape(self) -> None:
        """Statements in any order, nothing cleared, until nothing changes."""
        while True:
            self.changed = False
            for i in range(len(self.body.op)):
                for _, added in self.statement(i, self.see_shape, False):
                    for slot, tokens in added:
                        known = self.shape.get(slot, NOTHING)
                        self.stored[slot] = self.stored.get(slot, NOTHING) | tokens & self.entry.get(slot, NOTHING)
                        if slot not in self.shape or tokens - known:
                            self.shape[slot] = known | tokens
                            self.names |= tokens
                            self.changed = True
            if not self.changed:
                return

    def solve(self) -> None:
        """Facts before each operation, under the present summaries."""
        body = self.body
        start = {slot: tokens for slot, tokens in self.entry.items() if is_heap(slot)}
        for slot, tokens in self.entry.items():
            if not is_heap(slot):
                self.rows[slot] = self.rows.get(slot, NOTHING) | tokens
        self.join(self.heads, 0, start)
        self.changed = True
        while self.changed:
            self.changed = False
            for b in range(body.n_blocks):
                head = self.heads[b]
                if head is None:
                    continue
                state = dict(head)
                for i in self.ops_of(b):
                    self.step(i, b, state)
                for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
                    self.join(self.heads, s, state)

    def step(self, i: int, b: int, state: dict[Slot, Tokens]) -> None:
        """One operation: notes the state before it, and changes it to the state after it."""
        self.before[i] = dict(state)

        def see(slot: Slot) -> Tokens:
            return state.get(slot, NOTHING) if is_heap(slot) else self.rows.get(slot, NOTHING)

        if self.body.throws[i] and self.handlers(b):
            thrown = dict(state)
            if self.body.op[i] == Op.CALL:
                for applied in self.applications(self.calls[i], False):
                    for slot, tokens in self.apply(self.calls[i], applied, see):
                        if is_heap(slot):
                            thrown[slot] = thrown.get(slot, NOTHING) | tokens
            for h in self.handlers(b):
                self.join(self.heads, h, thrown)
        for cleared, added in self.statement(i, see, True):
            for slot in cleared:
                state[slot] = NOTHING
            for slot, tokens in added:
                if is_heap(slot):
                    state[slot] = state.get(slot, NOTHING) | tokens
                elif tokens - self.rows.get(slot, NOTHING):
                    self.rows[slot] = self.rows.get(slot, NOTHING) | tokens
                    self.changed = True
        if self.body.op[i] == Op.RETURN:
            exits = [self.exit]
            self.join(exits, 0, state)
            self.exit = exits[0]

    def join(self, states: list[dict[Slot, Tokens] | None], at: int, state: dict[Slot, Tokens]) -> None:
        known = states[at]
        if known is None:
            states[at], self.changed = dict(state), True
            return
        for slot, tokens in state.items():
            if tokens - known.get(slot, NOTHING):
                known[slot] = known.get(slot, NOTHING) | tokens
                self.changed = True

    def see_exit(self, slot: Slot) -> Tokens:
        if is_heap(slot):
            return self.exit.get(slot, NOTHING) if self.exit is not None else NOTHING
        return self.rows.get(slot, NOTHING)


class Oracle:
    """Evaluates a whole program."""

    def __init__(self, ctx: Context, levels: dict[int, int]) -> None:
        self.ctx, self.levels = ctx, levels
        self.shapes: dict[int, Effects] = {}
        self.facts: dict[int, Effects] = {}
        self.must: dict[int, frozenset[tuple[Key, int]]] = {}
        self._library: dict[int, tuple[Summary, Effects]] = {}
        self.table = Table(sites=set(ctx.library.app_wide), kin=ctx.library.kin)
        self.order = [m for scc in ctx.graph.sccs for m in scc if m in ctx.shapes and m in levels]
        self.scc_of = {m: frozenset(scc) for scc in ctx.graph.sccs for m in scc}
        self.methods = {m: Method(self, m) for m in self.order}

    def of_library(self, summary: Summary) -> Effects:
        """A library summary, read."""
        known = self._library.get(id(summary))
        if known is None:
            rows = {
                row: frozenset(key for c, key in enumerate(summary.cols) if bits >> c & 1)
                for row, bits in zip(summary.rows, summary.bits, strict=True)
            }
            regions = {
                key: frozenset(summary.cols[s] for s in sources)
                for key, sources in zip(summary.cols, summary.region, strict=True)
                if sources
            }
            known = self._library[id(summary)] = (summary, Effects(rows, regions))
        return known[1]

    def run(self) -> None:
        """Shapes until the table is stable; then all facts."""
        self.find_shapes()
        while self.grow_table():
            self.methods = {m: Method(self, m) for m in self.order}
            self.find_shapes()
        self.repeat(self.order, self.facts, lambda m: (m.solve(), m.export(m.see_exit))[1])

    def grow_table(self) -> bool:
        """Puts what methods write to library statics, and to what these reach, into the table; whether it grew."""
        table, grown = self.table, False
        for method in self.methods.values():
            for slot, tokens in method.shape.items():
                found = {(OBJECT, t[1], -1) if t[0] == OBJECT else t for t in tokens - formals(tokens)}
                held: set[Key] = set()
                if isinstance(slot, int):
                    continue
                if slot[0] == TABLE and found:
                    held = table.statics.setdefault(slot[1], held)
                elif slot[0] == TABLE_CELL and found:
                    held = table.cells.setdefault((slot[1], slot[2]), held)
                elif slot[0] == CELL and method.feeds_table(slot) and found - method.entry[slot]:
                    found -= method.entry[slot]
                    held = table.cells.setdefault((slot[1][1], slot[2]), held)
                else:
                    continue
                grown = grown or not found <= held
                held |= found
        for held in (*table.statics.values(), *table.cells.values()):
            table.sites |= {t[1] for t in held if t[0] == OBJECT}
        table.index()
        return grown

    def find_shapes(self) -> None:
        """Bottom-up, since certain overwrites inside a component count for nothing."""
        self.shapes, self.must = {}, {}
        for scc in self.ctx.graph.sccs:
            members = [m for m in scc if m in self.methods]
            self.repeat(members, self.shapes, lambda m: (m.find_shape(), m.export(m.see_shape))[1])
            certain = {m: self.methods[m].certain() for m in members}
            self.must.update(certain)

    def repeat(self, members: list[int], summaries: dict[int, Effects], evaluate: Callable[[Method], Effects]) -> None:
        """Evaluates methods until no summary changes."""
        graph = self.ctx.graph
        pending = dict.fromkeys(members)
        inside = set(members)
        while pending:
            m = next(iter(pending))
            del pending[m]
            found = evaluate(self.methods[m])
            if found != summaries.get(m):
                summaries[m] = found
                pending.update(dict.fromkeys(c for c in graph.callers(m) if c in inside))
