"""Value-based type propagation: which classes can reach which receiver, and so which call runs which method.

Sundaresan et al., "Practical virtual method call resolution for Java" (OOPSLA 2000), on SSA values, with the call
graph built on the fly. Objects are told apart by class only. Fields are one node each, whatever their object; arrays
one node per array class; everything that the framework sees or gives is one node, typed by declared types where it
comes back.

Methods are looked at in rounds, all new ones together, with array code (`analyzer.callgraph.values`); then types flow,
and what they reach is looked at together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analyzer.android.names import PSEUDO
from analyzer.callgraph.graph import Problem, Site
from analyzer.callgraph.propagate import LIBRARY, TypeFlow
from analyzer.callgraph.values import DEAD, Code, Sites, expand, flat
from analyzer.hierarchy import Hierarchy
from analyzer.ir import Body, CallKind, Op
from analyzer.program import Program
from gpu.errors import GdroidError

I4 = NDArray[np.int32]
_DISPATCH, _LOAD, _STORE, _ESCAPE = range(4)
"""Kinds of watchers."""


@dataclass(slots=True)
class Hooks:
    """What the rest of the call graph contributes while types propagate. Each returns method ids.

    has_shim(library method)           whether there may be a synthetic method for calls of it
    shim(site, library method, n args) the synthetic method for a library call, or -1
    dynamic(call site id)              the synthetic method that an invoke-custom stands for, or -1
    kept(library method)               positions whose objects the library may keep or hand back; -1 is the receiver
    stored(library method)             (parameter, pseudo-field) pairs: what it keeps for shims; -1 is the receiver
    is_library(class)                  True for classes of known libraries, also where the app brings them along
    class_constant(class)              a method to run because the class itself is handed around, or -1
    escaped(exact class)               methods that start to run when an object of that class is handed out, each with
                                       True when the object is its receiver
    """

    has_shim: Callable[[int], bool]
    shim: Callable[[Site, int, int], int]
    dynamic: Callable[[int], int]
    kept: Callable[[int], frozenset[int]]
    stored: Callable[[int], tuple[tuple[int, str], ...]]
    is_library: Callable[[int], bool]
    class_constant: Callable[[int], int]
    escaped: Callable[[int], tuple[tuple[int, bool], ...]]


@dataclass(slots=True)
class VtaResult:
    """What was found; `complete` is False when time ran out. Sites are numbers in `Vta.sites`."""

    reached: dict[int, int] = field(default_factory=dict)  # method -> first node of its parameters
    targets: dict[int, list[int]] = field(default_factory=dict)  # site -> methods, without duplicates
    library: set[int] = field(default_factory=set)  # sites
    shims: dict[int, int] = field(default_factory=dict)  # site -> method
    initialisers: dict[int, None] = field(default_factory=dict)  # <clinit> of touched classes
    damaged: dict[int, None] = field(default_factory=dict)  # methods whose code cannot be read
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True


class Vta:
    """One run of the propagation. `add` roots, `run`, look at `result`; more can be added and run again."""

    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        hooks: Hooks,
        escaped_field: int,
        n_types: int = 0,
        deadline: float | None = None,
    ) -> None:
        """`escaped_field` is the field id of the pseudo-static `$escaped`; `n_types`: how many classes there may be
        objects of, about; `deadline` is a time.monotonic()."""
        self._program, self._hierarchy = program, hierarchy
        self._hooks = hooks
        self._escaped_field = escaped_field
        self._deadline = deadline
        self.flow = TypeFlow(program, hierarchy, n_types)
        self.result = VtaResult()
        self.sites = Sites()
        assert self.flow.nodes(1) == DEAD
        self._lib = self.flow.nodes(1)
        self._thrown = self.flow.nodes(1)
        self._queue: list[int] = []
        self._bodies: dict[int, Body | None] = {}
        self._fields: dict[int, int] = {}
        self._elements: dict[int, int] = {}
        self._typed: dict[int, int] = {}
        self._pseudo_fields: dict[str, int] = {}
        self._resolved: dict[tuple[int, int], int] = {}
        self._dispatched: dict[tuple[int, int], int] = {}
        self._parameters: dict[int, tuple[int, ...]] = {}
        self._references: dict[int, bool] = {}
        self._kept: dict[int, tuple[tuple[int, int], ...]] = {}
        self._shimmed: dict[int, bool] = {}
        self._libraries: dict[int, bool] = {}
        self._touched: set[int] = set()
        self._called_back: set[int] = set()
        self._cut: set[int] = set()
        self._links: set[tuple[int, int]] = set()
        self._watcher_kind = np.empty(0, np.int8)
        self._watcher_of = np.empty(0, np.int32)  # site, or node that a load or store leads to or from
        self._edges: list[tuple[int, int]] = []
        self._seeds: list[tuple[int, int]] = []
        self._seeds.append((self._lib, LIBRARY))
        self._watch(_ESCAPE, np.array([self._lib], np.int32), np.full(1, -1, np.int32), np.zeros(1, np.int32))

    def add(self, method: int) -> None:
        """A root: a method that runs, with the parameters that its body or its callers say."""
        self._reach(method)

    def touch(self, cls: int) -> None:
        """The class is initialised: its and its superclasses' <clinit> run."""
        h, program = self._hierarchy, self._program
        while cls >= 0 and cls not in self._touched:
            self._touched.add(cls)
            definition = program.class_of(cls)
            if definition is None:
                return
            for m in definition.methods:
                if program.method(m).name == "<clinit>" and program.has_code(m):
                    self.result.initialisers[m] = None
                    self._reach(m)
            cls = h.superclass(cls)

    def run(self) -> None:
        """Propagates until nothing changes or time is up."""
        while True:
            while self._queue:  # all methods first: types then flow in few, large portions
                if self._deadline is not None and time.monotonic() > self._deadline:
                    self.result.complete = False
                    return
                methods, self._queue = self._queue, []
                self._process(methods)
            self._flush()
            watchers, bits = self.flow.run()
            if len(watchers) == 0:
                if not self._queue:
                    return
                continue
            self._see(watchers, bits)

    def finish(self, methods: Iterable[int]) -> None:
        """When time is up: looks at these methods all the same, so that what was found hangs together."""
        last = [m for m in methods if m in self._queue]
        self._queue = [m for m in self._queue if m not in last]
        self._process(last)
        self._flush()
        watchers, bits = self.flow.run()
        while len(watchers):
            self._see(watchers, bits)
            self._flush()
            watchers, bits = self.flow.run()

    def cut(self, site: int) -> None:
        """Treats the call as one of unknown code: what it passes is handed out. The caller drops its targets."""
        if site not in self._cut:
            self._cut.add(site)
            self._hand_out(site)

    # -- methods ----------------------------------------------------------------------------------------------------

    def _reach(self, method: int) -> int:
        """The first node of the method's parameters; its return value is the node just before."""
        first = self.result.reached.get(method)
        if first is None:
            first = self.flow.nodes(len(self._parameters_of(method)) + 1) + 1
            self.result.reached[method] = first
            self._queue.append(method)
        return first

    def _parameters_of(self, method: int) -> tuple[int, ...]:
        """Types of the parameters, -1 for the receiver."""
        known = self._parameters.get(method)
        if known is None:
            params = self._program.method(method).params
            known = self._parameters[method] = params if self._program.is_static(method) else (-1, *params)
        return known

    def _process(self, methods: list[int]) -> None:
        """Looks at the code of methods."""
        self._program.prepare(methods)
        bodies: list[Body] = []
        good: list[int] = []
        for method in methods:
            try:
                bodies.append(self._program.body(method))
                good.append(method)
            except GdroidError as error:
                self.result.problems.append(Problem(self._program.signature(method), f"is treated as unknown: {error}"))
                self.result.damaged[method] = None
                first = self.result.reached[method]
                for i in range(len(self._parameters_of(method))):
                    self._edges.append((first + i, self._lib))
                self._edges.append((self._lib, first - 1))
        if not bodies:
            return
        firsts = np.array([self.result.reached[m] for m in good], np.int32)
        code = Code(good, bodies, firsts)
        fields = self._fields_of(code)
        code.name_values(self.flow, fields, self._returns(code), self._reference_types(code.refs(Op.UNKNOWN)))
        self._moves(code, fields)
        self._objects(code)
        self._calls(code)

    def _flush(self) -> None:
        """Gives the flow the edges and seeds that were noted one by one."""
        while self._edges or self._seeds:
            edges, self._edges = self._edges, []
            seeds, self._seeds = self._seeds, []
            if edges:
                self._connect(*np.array(edges, np.int32).reshape(-1, 2).T)
            if seeds:
                nodes, bits = np.array(seeds, np.int32).reshape(-1, 2).T
                self.flow.seed(nodes.copy(), bits.copy())

    def _connect(self, sources: I4, targets: I4) -> None:
        useful = (sources != DEAD) & (targets != DEAD) & (sources != targets)
        self.flow.edges(np.ascontiguousarray(sources[useful]), np.ascontiguousarray(targets[useful]))

    # -- values -----------------------------------------------------------------------------------------------------

    def _fields_of(self, code: Code) -> I4:
        """Node of the field of each GET, PUT, SGET and SPUT; DEAD elsewhere, and for primitive ones."""
        for f in np.unique(code.refs(Op.SGET, Op.SPUT)).tolist():
            self.touch(self._program.field(self._hierarchy.resolve_field(f)).cls)
        return code.by_ref(self._field, Op.GET, Op.PUT, Op.SGET, Op.SPUT)

    def _returns(self, code: Code) -> I4:
        """1 for each call that may return an object."""
        custom = code.c[code.call] == CallKind.CUSTOM
        found = np.ones(len(code.call), np.int32)
        refs = code.ref[code.call[~custom]]
        found[~custom] = flat(lambda ref: self._is_reference(self._program.method(ref).ret), refs)
        return found

    def _reference_types(self, types: I4) -> set[int]:
        return {t for t in np.unique(types).tolist() if self._is_reference(t)}

    def _moves(self, code: Code, fields: I4) -> None:
        """Edges of what copies values, and watchers of array accesses."""
        sources, targets = [], []

        def edges(a: I4, b: I4) -> None:
            sources.append(a)
            targets.append(b)

        got = code.ops(Op.GET, Op.SGET)
        edges(fields[got], code.dst[got])
        put = code.ops(Op.PUT)
        edges(code.b[put], fields[put])
        put = code.ops(Op.SPUT)
        edges(code.a[put], fields[put])
        cast = code.ops(Op.CAST)
        edges(code.a[cast], code.dst[cast])
        self.flow.filter(code.dst[cast], code.by_ref(self.flow.mask, Op.CAST)[cast])
        self._caught(code, edges)
        edges(*code.phis())
        back = code.ops(Op.RETURN)
        edges(code.a[back], code.ret[back])
        thrown = code.ops(Op.THROW)
        edges(code.a[thrown], np.full(len(thrown), self._thrown, np.int32))
        unknown = code.ops(Op.UNKNOWN)
        edges(code.by_ref(self._unknown, Op.UNKNOWN)[unknown], code.dst[unknown])
        self._connect(np.concatenate(sources), np.concatenate(targets))
        for kind, op, at in ((_LOAD, Op.AGET, code.dst), (_STORE, Op.APUT, code.c)):
            found = code.ops(op)
            found = found[(code.a[found] != DEAD) & (at[found] != DEAD)]
            self._watch(kind, code.a[found], np.full(len(found), -1, np.int32), at[found])

    def _unknown(self, declared: int) -> int:
        return self._typed_library(declared) if self._is_reference(declared) else DEAD

    def _caught(self, code: Code, edges: Callable[[I4, I4], None]) -> None:
        caught = code.ops(Op.CAUGHT)
        for op in caught.tolist():
            kinds = code.caught_types(op)
            if len(kinds) == 1 and -1 not in kinds:
                self.flow.filter(int(code.dst[op]), self.flow.mask(kinds.pop()))
        self.flow.seed(code.dst[caught], np.full(len(caught), LIBRARY, np.int32))
        edges(np.full(len(caught), self._thrown, np.int32), code.dst[caught])

    def _objects(self, code: Code) -> None:
        """What allocations and constants give."""
        made = code.ops(Op.NEW, Op.NEW_ARRAY, Op.STRING, Op.CLASS)
        bits = code.by_ref(self._made_bit, Op.NEW) + code.by_ref(self._array_bit, Op.NEW_ARRAY)
        self.flow.seed(code.dst[made], bits[made])
        for cls in np.unique(code.refs(Op.CLASS)).tolist():
            maker = self._hooks.class_constant(cls)
            if maker >= 0:
                self._reach(maker)

    def _made_bit(self, cls: int) -> int:
        if not self._hierarchy.is_app(cls):
            return LIBRARY
        self.touch(cls)
        return self.flow.bit(cls)

    def _array_bit(self, cls: int) -> int:
        name = self._program.type_name(cls)
        return self.flow.bit(cls) if name[0] == "[" and name[1] in "L[" else LIBRARY

    def _field(self, f: int) -> int:
        """The node of a field, the library node for fields that the app does not define, DEAD for primitive ones."""
        node = self._fields.get(f)
        if node is None:
            resolved = self._hierarchy.resolve_field(f)
            ref = self._program.field(resolved)
            if f == self._escaped_field:
                node = self._lib
            elif not self._is_reference(ref.type):
                node = DEAD
            elif resolved != f:
                node = self._field(resolved)
            elif self._program.type_name(ref.cls) == PSEUDO:
                node = self._pseudo(ref.name)
            elif self._hierarchy.is_app(ref.cls):
                node = self.flow.nodes(1)
                self.flow.filter(node, self.flow.mask(ref.type))
            else:
                node = self._lib
            self._fields[f] = node
        return node

    def _pseudo(self, name: str) -> int:
        """The node of a pseudo-field; what containers hold is not told apart from what the framework has."""
        if name in ("$elem", "$key", "$value") or name.startswith("$elem["):
            return self._lib
        node = self._pseudo_fields.get(name)
        if node is None:
            node = self._pseudo_fields[name] = self.flow.nodes(1)
        return node

    def _element(self, array_bit: int) -> int:
        """The node of the elements of arrays of one class; the library's where it is not known."""
        if array_bit == LIBRARY:
            return self._lib
        if not self._is_array(self.flow.type_at[array_bit]):
            return DEAD
        node = self._elements.get(array_bit)
        if node is None:
            node = self._elements[array_bit] = self.flow.nodes(1)
        return node

    def _typed_library(self, declared: int) -> int:
        """What the framework can give where a value of the declared type is expected."""
        node = self._typed.get(declared)
        if node is None:
            node = self._typed[declared] = self.flow.nodes(1)
            self.flow.filter(node, self.flow.mask(declared))
            self._edges.append((self._lib, node))
        return node

    def _is_reference(self, t: int) -> bool:
        known = self._references.get(t)
        if known is None:
            known = self._references[t] = self._program.type_name(t)[0] in "L["
        return known

    def _is_array(self, t: int) -> bool:
        return self._program.type_name(t)[0] == "["

    # -- what is seen -----------------------------------------------------------------------------------------------

    def _watch(self, kind: int, nodes: I4, masks: I4, of: I4) -> None:
        first = self.flow.watch(nodes, masks)
        assert first == len(self._watcher_kind)
        self._watcher_kind = np.concatenate([self._watcher_kind, np.full(len(of), kind, np.int8)])
        self._watcher_of = np.concatenate([self._watcher_of, of])

    def _see(self, watchers: I4, bits: I4) -> None:
        """Acts on types that reached watched nodes."""
        kinds, of = self._watcher_kind[watchers], self._watcher_of[watchers]
        for bit in np.unique(bits[(kinds == _ESCAPE) & (bits != LIBRARY)]).tolist():
            self._escape(bit)
        for kind in (_LOAD, _STORE):
            chosen = kinds == kind
            if chosen.any():
                elements = flat(self._element, bits[chosen])
                pair = (elements, of[chosen]) if kind == _LOAD else (of[chosen], elements)
                self._connect(*pair)
        chosen = kinds == _DISPATCH
        if chosen.any():
            self._dispatch(of[chosen], bits[chosen])

    def _escape(self, bit: int) -> None:
        exact = self.flow.type_at[bit]
        if self._is_array(exact):
            self._edges += [(self._element(bit), self._lib), (self._lib, self._element(bit))]
            return
        for method, is_receiver in self._hooks.escaped(exact):
            self._call_back(method, bit if is_receiver else -1)

    def _call_back(self, method: int, receiver_bit: int) -> None:
        """The framework calls the method on such objects, with arguments of its own."""
        first = self._reach(method)
        types = self._parameters_of(method)
        if receiver_bit >= 0 and not self._program.is_static(method):
            self._seeds.append((first, receiver_bit))
        if method in self._called_back:
            return
        self._called_back.add(method)
        for i, t in enumerate(types):
            if t >= 0 and self._is_reference(t):
                self._edges.append((self._typed_library(t), first + i))
        if self._is_reference(self._program.method(method).ret):
            self._edges.append((first - 1, self._lib))

    def _dispatch(self, sites: I4, bits: I4) -> None:
        """Calls on receivers of classes."""
        refs = self.sites.ref[sites]
        keys, places = np.unique(refs.astype(np.int64) << 32 | bits, return_inverse=True)
        found = [self._target(key >> 32, key & 0xFFFFFFFF) for key in keys.tolist()]
        targets = np.array(found, np.int32)[places]
        for site in np.unique(sites[targets < 0]).tolist():
            self._library(site)
        known = targets >= 0
        self._link(sites[known], targets[known], 1)
        if known.any():
            receivers = flat(self.result.reached.__getitem__, targets[known])
            self.flow.seed(receivers, bits[known])

    def _target(self, ref: int, bit: int) -> int:
        """The method that a virtual call runs on an object of a class; -1 for the library's."""
        if bit == LIBRARY:
            return -1
        target = self._dispatched.get((ref, bit))
        if target is None:
            exact = self.flow.type_at[bit]
            target = -1 if self._is_array(exact) else self._hierarchy.dispatch(exact, ref)
            self._dispatched[ref, bit] = target
        return target

    # -- calls ------------------------------------------------------------------------------------------------------

    def _calls(self, code: Code) -> None:
        sites = self.sites.add(code)
        kinds, refs = code.c[code.call], code.ref[code.call]
        virtual = np.flatnonzero((kinds == CallKind.VIRTUAL) | (kinds == CallKind.INTERFACE))
        receivers = self.sites.receivers(sites[virtual])
        masks = flat(lambda ref: self.flow.mask(self._program.method(ref).cls), refs[virtual])
        alive = receivers != DEAD
        self._watch(_DISPATCH, receivers[alive], masks[alive], sites[virtual[alive]])
        direct = np.isin(kinds, (CallKind.STATIC, CallKind.DIRECT, CallKind.SUPER))
        for ref in np.unique(refs[kinds == CallKind.STATIC]).tolist():
            self.touch(self._program.method(ref).cls)
        targets = np.full(len(sites), -1, np.int32)
        plain = np.flatnonzero(direct & (kinds != CallKind.SUPER))
        targets[plain] = flat(lambda ref: self._resolve(self._program.method(ref).cls, ref), refs[plain])
        for k in np.flatnonzero(kinds == CallKind.SUPER).tolist():
            caller, ref = self.sites.method(int(sites[k])), int(refs[k])
            targets[k] = self._resolve(self._super_start(caller, ref), ref)
        for k in np.flatnonzero((kinds == CallKind.CUSTOM) | (kinds == CallKind.POLYMORPHIC)).tolist():
            # what invoke-custom stands for is a synthetic method, of no library
            targets[k] = self._hooks.dynamic(int(refs[k])) if kinds[k] == CallKind.CUSTOM else -1
            if targets[k] < 0:
                self.result.library.add(int(sites[k]))
                self._hand_out(int(sites[k]))
        known = targets >= 0
        for site in sites[direct & ~known].tolist():
            self._library(site)
        self._link(sites[known], targets[known], 0)

    def _super_start(self, caller: int, ref: int) -> int:
        """The class from which invoke-super looks: never the caller's own class."""
        cls = self._program.method(ref).cls
        own = self._program.method(caller).cls
        return self._hierarchy.superclass(own) if cls == own else cls

    def _resolve(self, start: int, ref: int) -> int:
        key = (start, ref)
        target = self._resolved.get(key)
        if target is None:
            name = self._program.method(ref).name
            target = self._hierarchy.resolve(start, name, self._program.descriptor(ref))
            if target >= 0 and not self._program.has_code(target):
                target = -1
            self._resolved[key] = target
        return target

    def _link(self, sites: I4, targets: I4, start: int) -> None:
        """Calls may run methods, once per site and method; arguments from `start` on flow."""
        new_sites, new_targets, firsts, counts = [], [], [], []
        result = self.result
        for pair in zip(sites.tolist(), targets.tolist(), strict=True):
            if pair in self._links:
                continue
            self._links.add(pair)
            site, target = pair
            result.targets.setdefault(site, []).append(target)
            if self._is_library(target) and target != result.shims.get(site):
                self._shim(site)
            new_sites.append(site)
            new_targets.append(target)
            firsts.append(self._reach(target))
            counts.append(len(self._parameters_of(target)))
        if new_sites:
            self._pass(np.array(new_sites, np.int32), np.array(firsts, np.int32), np.array(counts, np.int32), start)

    def _is_library(self, method: int) -> bool:
        known = self._libraries.get(method)
        if known is None:
            known = self._libraries[method] = self._hooks.is_library(self._program.method(method).cls)
        return known

    def _pass(self, sites: I4, firsts: I4, counts: I4, start: int) -> None:
        """Edges from arguments to parameters, and from what is returned."""
        s = self.sites
        given = np.minimum(s.n_args(sites), counts) - start
        row, _ = expand(s.arg_off[sites] + start, np.maximum(given, 0))
        parameters, _ = expand(firsts + start, np.maximum(given, 0))
        self._connect(np.r_[s.args[row], firsts - 1], np.r_[parameters.astype(np.int32), s.dst[sites]])

    def _library(self, site: int) -> None:
        """A call may run a library method."""
        if site in self.result.library:
            return
        self.result.library.add(site)
        self._shim(site)
        args, dst, ref = self.sites.of(site)
        method = self._program.method(ref)
        first = len(args) - len(method.params)
        for position, node in self._keeps(ref):
            if 0 <= first + position < len(args):
                self._edges.append((args[first + position], node))
        if dst != DEAD and self._is_reference(method.ret):
            self._edges.append((self._typed_library(method.ret), dst))

    def _keeps(self, ref: int) -> tuple[tuple[int, int], ...]:
        """(parameter, node) of what a library method stores or keeps; parameter -1 is the receiver."""
        known = self._kept.get(ref)
        if known is None:
            stored = [(parameter, self._pseudo(name)) for parameter, name in self._hooks.stored(ref)]
            known = self._kept[ref] = (*stored, *((p, self._lib) for p in sorted(self._hooks.kept(ref))))
        return known

    def _shim(self, site: int) -> None:
        if site in self.result.shims:
            return
        ref = int(self.sites.ref[site])
        has_shim = self._shimmed.get(ref)
        if has_shim is None:
            has_shim = self._shimmed[ref] = self._hooks.has_shim(ref)
        if not has_shim:
            return
        shim = self._hooks.shim(self.sites.place(site), ref, len(self.sites.of(site)[0]))
        if shim >= 0:
            self.result.shims[site] = shim
            self._link(np.array([site], np.int32), np.array([shim], np.int32), 0)

    def _hand_out(self, site: int) -> None:
        """All that is passed goes to unknown code, and comes from there."""
        args, dst, _ = self.sites.of(site)
        self._edges += [(value, self._lib) for value in args]
        self._edges.append((self._lib, dst))
