"""Value-based type propagation: which classes can reach which receiver, and so which call runs which method.

Sundaresan et al., "Practical virtual method call resolution for Java" (OOPSLA 2000), on SSA values, with the call
graph built on the fly. Objects are told apart by class only. Fields are one node each, whatever their object; arrays
one node per array class; everything that the framework sees or gives is one node, typed by declared types where it
comes back.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from analyzer.android.callbacks import Callbacks
from analyzer.android.names import PSEUDO
from analyzer.callgraph.graph import Problem, Site
from analyzer.callgraph.propagate import LIBRARY, TypeFlow, bits_of
from analyzer.hierarchy import Hierarchy
from analyzer.ir import Body, CallKind, Op
from analyzer.program import Program
from gpu.errors import GdroidError


@dataclass(slots=True)
class Hooks:
    """What the rest of the call graph contributes while types propagate. Each returns method ids.

    shim(site, library method, n args) the synthetic method for a library call, or -1
    dynamic(call site id)              the synthetic method that an invoke-custom stands for, or -1
    kept(library method)               positions whose objects the library may keep or hand back; -1 is the receiver
    stored(library method)             (parameter, pseudo-field) pairs: what it keeps for shims; -1 is the receiver
    is_library(class)                  True for classes of known libraries, also where the app brings them along
    class_constant(class)              a method to run because the class itself is handed around, or -1
    escaped(exact class)               methods that start to run when an object of that class is handed out, each with
                                       True when the object is its receiver
    """

    shim: Callable[[Site, int, int], int]
    dynamic: Callable[[int], int]
    kept: Callable[[int], frozenset[int]]
    stored: Callable[[int], tuple[tuple[int, str], ...]]
    is_library: Callable[[int], bool]
    class_constant: Callable[[int], int]
    escaped: Callable[[int], tuple[tuple[int, bool], ...]]


@dataclass(slots=True)
class VtaResult:
    """What was found; `complete` is False when time ran out."""

    reached: dict[int, int] = field(default_factory=dict)  # method -> first node of its values
    targets: dict[Site, dict[int, None]] = field(default_factory=dict)
    library: dict[Site, None] = field(default_factory=dict)
    shims: dict[Site, int] = field(default_factory=dict)
    escaped: dict[int, None] = field(default_factory=dict)  # exact app classes handed to the framework
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
        callbacks: Callbacks,
        hooks: Hooks,
        escaped_field: int,
        deadline: float | None = None,
    ) -> None:
        """`escaped_field` is the field id of the pseudo-static `$escaped`; `deadline` is a time.monotonic()."""
        self._program, self._hierarchy = program, hierarchy
        self._callbacks, self._hooks = callbacks, hooks
        self._escaped_field = escaped_field
        self._deadline = deadline
        self.flow = TypeFlow(program, hierarchy)
        self.result = VtaResult()
        self._lib = self.flow.nodes(1)
        self._thrown = self.flow.nodes(1)
        self._queue: deque[int] = deque()
        self._bodies: dict[int, Body | None] = {}
        self._fields: dict[int, int] = {}
        self._elements: dict[int, int] = {}
        self._typed: dict[int, int] = {}
        self._pseudo_fields: dict[str, int] = {}
        self._static_target: dict[tuple[int, int], int] = {}
        self._dispatched: dict[tuple[int, int], int] = {}
        self._touched: set[int] = set()
        self._called_back: set[tuple[int, int]] = set()
        self._cut: set[Site] = set()
        self._arguments: dict[Site, tuple[tuple[int, ...], int, int]] = {}
        self.flow.seed(self._lib, LIBRARY)
        self.flow.watch(self._lib, self._on_escaped)

    def add(self, method: int) -> None:
        """A root: a method that runs, with the parameters that its body or its callers say."""
        self._reach(method)

    def escape(self, exact: int) -> None:
        """An object of exactly this class is made outside the app's code and known to the framework."""
        self.touch(exact)
        self.flow.seed(self._lib, self.flow.bit(exact))

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
                self._process(self._queue.popleft())
            self.flow.run()
            if not self._queue:
                return

    def finish(self, methods: Iterable[int]) -> None:
        """When time is up: looks at these methods all the same, so that what was found hangs together."""
        for m in methods:
            if m in self._queue:
                self._queue.remove(m)
                self._process(m)
        self.flow.run()

    @property
    def sites(self) -> Iterable[Site]:
        """All call sites of the methods processed."""
        return self._arguments.keys()

    def receivers(self, method: int, value: int) -> list[int]:
        """Exact app classes that an SSA value of a reached method can have, sorted."""
        first = self.result.reached.get(method)
        if first is None:
            return []
        return sorted(self.flow.type_at[b] for b in bits_of(self.flow.types[first + value]) if b)

    def may_escape_as(self, target: int) -> bool:
        """True when an app object that the framework knows may be a `target`."""
        return bool(self.flow.types[self._lib] & self.flow.mask(target) & ~LIBRARY)

    def cut(self, site: Site) -> None:
        """Treats the call as one of unknown code: what it passes is handed out. The caller drops its targets."""
        if site not in self._cut:
            self._cut.add(site)
            args, ret, _ = self._arguments[site]
            for a in args:
                self.flow.edge(a, self._lib)
            if ret >= 0:
                self.flow.edge(self._lib, ret)

    # -- methods ----------------------------------------------------------------------------------------------------

    def _reach(self, method: int) -> int:
        """The first node of the method's values; its return value is the node just before."""
        first = self.result.reached.get(method)
        if first is None:
            body = self._body(method)
            count = body.n_values if body is not None else self._parameter_count(method)
            first = self.flow.nodes(count + 1) + 1
            self.result.reached[method] = first
            self._queue.append(method)
        return first

    def _body(self, method: int) -> Body | None:
        if method not in self._bodies:
            try:
                self._bodies[method] = self._program.body(method)
            except GdroidError as error:
                self._bodies[method] = None
                self.result.problems.append(Problem(self._program.signature(method), f"is treated as unknown: {error}"))
        return self._bodies[method]

    def _parameter_count(self, method: int) -> int:
        return len(self._program.method(method).params) + (not self._program.is_static(method))

    def _process(self, method: int) -> None:
        body = self._bodies.pop(method)
        first = self.result.reached[method]
        if body is None:
            self.result.damaged[method] = None
            self._unknown_body(method, first)
            return
        flow, program = self.flow, self._program
        op, dst, a, b, c, ref = (x.tolist() for x in (body.op, body.dst, body.a, body.b, body.c, body.ref))
        off, args = body.arg_off.tolist(), body.args.tolist()
        ret_node = first - 1
        for i, kind in enumerate(op):
            if kind == Op.CALL:
                values = tuple(first + v for v in args[off[i] : off[i + 1]])
                self._call((method, i), c[i], ref[i], values, first + dst[i] if dst[i] >= 0 else -1)
            elif kind == Op.GET:
                node = self._field(ref[i])
                if node >= 0:
                    flow.edge(node, first + dst[i])
            elif kind == Op.PUT:
                node = self._field(ref[i])
                if node >= 0 and b[i] >= 0:
                    flow.edge(first + b[i], node)
            elif kind == Op.SGET:
                self.touch(program.field(self._resolve_field(ref[i])).cls)
                node = self._field(ref[i])
                if node >= 0:
                    flow.edge(node, first + dst[i])
            elif kind == Op.SPUT:
                self.touch(program.field(self._resolve_field(ref[i])).cls)
                node = self._field(ref[i])
                if node >= 0 and a[i] >= 0:
                    flow.edge(first + a[i], node)
            elif kind == Op.NEW:
                self._new(first + dst[i], ref[i])
            elif kind == Op.NEW_ARRAY:
                flow.seed(first + dst[i], flow.bit(ref[i]) if self._is_reference_array(ref[i]) else LIBRARY)
            elif kind in (Op.STRING, Op.CLASS):
                flow.seed(first + dst[i], LIBRARY)
                if kind == Op.CLASS:
                    maker = self._hooks.class_constant(ref[i])
                    if maker >= 0:
                        self._reach(maker)
            elif kind == Op.CAST:
                flow.filter(first + dst[i], ref[i])
                flow.edge(first + a[i], first + dst[i])
            elif kind == Op.PHI:
                for v in args[off[i] : off[i + 1]]:
                    if v >= 0:
                        flow.edge(first + v, first + dst[i])
            elif kind == Op.AGET:
                flow.watch(first + a[i], self._load(first + dst[i]))
            elif kind == Op.APUT:
                flow.watch(first + a[i], self._store(first + c[i]))
            elif kind == Op.RETURN:
                if a[i] >= 0:
                    flow.edge(first + a[i], ret_node)
            elif kind == Op.THROW:
                flow.edge(first + a[i], self._thrown)
            elif kind == Op.CAUGHT:
                caught = self._caught_types(body, i)
                if len(caught) == 1 and -1 not in caught:
                    flow.filter(first + dst[i], caught.pop())
                flow.seed(first + dst[i], LIBRARY)
                flow.edge(self._thrown, first + dst[i])
            elif kind == Op.UNKNOWN and self._is_reference(ref[i]):
                flow.edge(self._typed_library(ref[i]), first + dst[i])

    @staticmethod
    def _caught_types(body: Body, op: int) -> set[int]:
        block = int(body.block_off.searchsorted(op, side="right")) - 1
        return {int(body.handler_type[handler]) for _, handler in body.caught_by(block)}

    def _unknown_body(self, method: int, first: int) -> None:
        for i in range(self._parameter_count(method)):
            self.flow.edge(first + i, self._lib)
        self.flow.edge(self._lib, first - 1)

    # -- values -----------------------------------------------------------------------------------------------------

    def _new(self, node: int, cls: int) -> None:
        if self._hierarchy.is_app(cls):
            self.touch(cls)
            self.flow.seed(node, self.flow.bit(cls))
        else:
            self.flow.seed(node, LIBRARY)

    def _resolve_field(self, f: int) -> int:
        return self._hierarchy.resolve_field(f)

    def _field(self, f: int) -> int:
        """The node of a field, the library node for fields that the app does not define, -1 for primitive ones."""
        node = self._fields.get(f)
        if node is None:
            resolved = self._hierarchy.resolve_field(f)
            ref = self._program.field(resolved)
            if f == self._escaped_field:
                node = self._lib
            elif not self._is_reference(ref.type):
                node = -1
            elif resolved != f:
                node = self._field(resolved)
            elif self._program.type_name(ref.cls) == PSEUDO:
                node = self._pseudo(ref.name)
            elif self._hierarchy.is_app(ref.cls):
                node = self.flow.nodes(1)
                self.flow.filter(node, ref.type)
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
        """The node of the elements of arrays of one class."""
        node = self._elements.get(array_bit)
        if node is None:
            node = self._elements[array_bit] = self.flow.nodes(1)
        return node

    def _load(self, dst: int) -> Callable[[int], None]:
        def loaded(delta: int) -> None:
            for bit in bits_of(delta):
                if bit == 0:
                    self.flow.edge(self._lib, dst)
                elif self._is_array(self.flow.type_at[bit]):
                    self.flow.edge(self._element(bit), dst)

        return loaded

    def _store(self, value: int) -> Callable[[int], None]:
        def stored(delta: int) -> None:
            for bit in bits_of(delta):
                if bit == 0:
                    self.flow.edge(value, self._lib)
                elif self._is_array(self.flow.type_at[bit]):
                    self.flow.edge(value, self._element(bit))

        return stored

    def _typed_library(self, declared: int) -> int:
        """What the framework can give where a value of the declared type is expected."""
        node = self._typed.get(declared)
        if node is None:
            node = self._typed[declared] = self.flow.nodes(1)
            self.flow.filter(node, declared)
            self.flow.edge(self._lib, node)
        return node

    def _on_escaped(self, delta: int) -> None:
        for bit in bits_of(delta & ~LIBRARY):
            exact = self.flow.type_at[bit]
            if self._is_array(exact):
                self.flow.edge(self._element(bit), self._lib)
                self.flow.edge(self._lib, self._element(bit))
                continue
            self.result.escaped[exact] = None
            for method, is_receiver in self._hooks.escaped(exact):
                self.call_back(method, 1 << bit if is_receiver else 0)

    def call_back(self, method: int, receiver_bits: int) -> None:
        """The framework calls the method on such objects, with arguments of its own."""
        first = self._reach(method)
        static = self._program.is_static(method)
        if receiver_bits and not static:
            self.flow.seed(first, receiver_bits)
        if (method, -1) in self._called_back:
            return
        self._called_back.add((method, -1))
        ref = self._program.method(method)
        for i, t in enumerate(ref.params):
            if self._is_reference(t):
                self.flow.edge(self._typed_library(t), first + i + (not static))
        if self._is_reference(ref.ret):
            self.flow.edge(first - 1, self._lib)

    def _is_reference(self, t: int) -> bool:
        return self._program.type_name(t)[0] in "L["

    def _is_array(self, t: int) -> bool:
        return self._program.type_name(t)[0] == "["

    def _is_reference_array(self, t: int) -> bool:
        name = self._program.type_name(t)
        return name[0] == "[" and name[1] in "L["

    # -- calls ------------------------------------------------------------------------------------------------------

    def _call(self, site: Site, kind: int, ref: int, args: tuple[int, ...], dst: int) -> None:
        self._arguments[site] = (args, dst, ref)
        if kind == CallKind.CUSTOM:
            target = self._hooks.dynamic(ref)
            if target >= 0:  # a synthetic method, of no library
                self._link(site, target, args, dst, 0)
            else:
                self._unknown_call(site, args, dst)
            return
        if kind in (CallKind.VIRTUAL, CallKind.INTERFACE):
            self.flow.watch(args[0], self._dispatcher(site, ref, args, dst))
            return
        if kind == CallKind.POLYMORPHIC:
            self._unknown_call(site, args, dst)
            return
        if kind == CallKind.STATIC:
            self.touch(self._program.method(ref).cls)
        start = self._super_start(site[0], ref) if kind == CallKind.SUPER else self._program.method(ref).cls
        target = self._resolve(start, ref)
        if target >= 0:
            self._link(site, target, args, dst, 0)
        else:
            self._library(site, ref, args, dst)

    def _super_start(self, caller: int, ref: int) -> int:
        """The class from which invoke-super looks: never the caller's own class."""
        cls = self._program.method(ref).cls
        own = self._program.method(caller).cls
        return self._hierarchy.superclass(own) if cls == own else cls

    def _resolve(self, start: int, ref: int) -> int:
        key = (start, ref)
        target = self._static_target.get(key)
        if target is None:
            name = self._program.method(ref).name
            target = self._hierarchy.resolve(start, name, self._program.descriptor(ref))
            if target >= 0 and not self._program.has_code(target):
                target = -1
            self._static_target[key] = target
        return target

    def _dispatcher(self, site: Site, ref: int, args: tuple[int, ...], dst: int) -> Callable[[int], None]:
        flow, declared = self.flow, self._program.method(ref).cls

        def dispatched(delta: int) -> None:
            delta &= flow.mask(declared)
            if delta & LIBRARY:
                self._library(site, ref, args, dst)
            for bit in bits_of(delta & ~LIBRARY):
                target = self._dispatch(bit, ref)
                if target >= 0:
                    self._link(site, target, args, dst, 1)
                    flow.seed(self.result.reached[target], 1 << bit)
                else:
                    self._library(site, ref, args, dst)

        return dispatched

    def _dispatch(self, bit: int, ref: int) -> int:
        key = (bit, ref)
        target = self._dispatched.get(key)
        if target is None:
            exact = self.flow.type_at[bit]
            target = -1 if self._is_array(exact) else self._hierarchy.dispatch(exact, ref)
            self._dispatched[key] = target
        return target

    def _link(self, site: Site, target: int, args: tuple[int, ...], dst: int, start: int) -> None:
        targets = self.result.targets.setdefault(site, {})
        if target in targets:
            return
        targets[target] = None
        ref = self._arguments[site][2]
        if target != self.result.shims.get(site) and self._hooks.is_library(self._program.method(target).cls):
            self._shim(site, ref, args, dst)
        first = self._reach(target)
        for i in range(start, min(len(args), self._parameter_count(target))):
            self.flow.edge(args[i], first + i)
        if dst >= 0:
            self.flow.edge(first - 1, dst)

    def _library(self, site: Site, ref: int, args: tuple[int, ...], dst: int) -> None:
        if site in self.result.library:
            return
        self.result.library[site] = None
        self._shim(site, ref, args, dst)
        method = self._program.method(ref)
        first = len(args) - len(method.params)
        for parameter, name in self._hooks.stored(ref):
            if 0 <= first + parameter < len(args):
                self.flow.edge(args[first + parameter], self._pseudo(name))
        for position in sorted(self._hooks.kept(ref)):
            if 0 <= first + position < len(args):
                self.flow.edge(args[first + position], self._lib)
        if dst >= 0 and self._is_reference(method.ret):
            self.flow.edge(self._typed_library(method.ret), dst)

    def _shim(self, site: Site, ref: int, args: tuple[int, ...], dst: int) -> None:
        if site in self.result.shims:
            return
        shim = self._hooks.shim(site, ref, len(args))
        if shim >= 0:
            self.result.shims[site] = shim
            self._link(site, shim, args, dst, 0)

    def _unknown_call(self, site: Site, args: tuple[int, ...], dst: int) -> None:
        self.result.library[site] = None
        for value in args:
            self.flow.edge(value, self._lib)
        if dst >= 0:
            self.flow.edge(self._lib, dst)
