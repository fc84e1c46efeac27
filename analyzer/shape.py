"""The shape of one method: its calls and primitives, and which tokens, cells and channels can occur in it at all.

What occurs is found by `analyzer.compiled_pass`; `analyzer.readable_shape` has the equations (semantics.md 2). It fixes
the numbering of rows and columns, the clear sets, the call targets and every folding of the encoded problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass

from analyzer.android.names import SHIM
from analyzer.callgraph.graph import CallGraph
from analyzer.hierarchy import Hierarchy
from analyzer.ir import Body, CallKind, Op
from analyzer.libcalls import Effect, LibraryCalls
from analyzer.limits import Limits
from analyzer.lower import CALL, DATA_ONLY, GEN, OR, STORE, Lowered, Lowering, Primitive, is_dispatched
from analyzer.program import Program
from analyzer.summary import Folding, Summary
from analyzer.table import Place, Table
from analyzer.tokens import (
    BY_TYPE,
    DEEP,
    FORMAL,
    FRESH,
    LIBRARY_BY_TYPE,
    OBJECT,
    PARAMETER,
    PSEUDO,
    SOURCE,
    STATIC,
    TAINT,
    UNKNOWN,
    Fields,
    Key,
    Site,
    Sites,
    Through,
    root_field,
)
from gpu.bits import bits_of

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


class MethodShape:
    """The flow-insensitive facts of one method, and what its code is made of, for those who look at them.

    Rows are bit sets over its tokens, numbered as they turned up.
    """

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

    def clear(self, fold: int, merge_keys: bool) -> None:
        """Forgets what is known, to begin again or to be filled."""
        self.fold, self.merge_keys = fold, merge_keys
        self.keys: list[Key] = []
        self.index: dict[Key, int] = {}
        self.cells: list[dict[int, int]] = []
        self.through: dict[Key, Through] = {}
        """Per region token, the fields through which it is reached."""
        self.row_owner: dict[int, int] = {}
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
        self.table_reads: dict[Place | tuple[Key, Through], frozenset[Key]] = {}
        self.granted = [0] * len(self.ctx.routes) if self.root else []
        """Per route, the tokens that pass. A test is asked when nothing else changes any more, and what passed once
        passes for good: the answer does not depend on the order of work, though tests need not be monotone."""

    def add_token(self, key: Key) -> int:
        """Gives the next number to a token that is not known yet."""
        found = self.index[key] = len(self.keys)
        self.keys.append(key)
        self.cells.append({})
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
