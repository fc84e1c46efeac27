"""Rapid type analysis: reachable methods, from calls and the classes that reachable code instantiates.

Bacon and Sweeney, "Fast static analysis of C++ virtual function calls" (OOPSLA 1996), on the fly. It reads the
instruction columns only (`Program.mentions`), so it is fast, and it is coarser than `vta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from analyzer.android.callbacks import Callbacks
from analyzer.android.library import Library
from analyzer.hierarchy import Hierarchy
from analyzer.ir import CallKind
from analyzer.models import Lifecycle
from analyzer.program import Mentions, Program


@dataclass(frozen=True, slots=True)
class RtaResult:
    """All sorted by id."""

    methods: tuple[int, ...]
    """Reachable methods with code."""
    instantiated: tuple[int, ...]
    """App classes of which reachable code, or Android, makes objects."""
    made: tuple[int, ...]
    """Those of `instantiated` that reachable code makes."""
    callbacks: tuple[int, ...]
    """Methods that the framework may call on objects of these classes."""
    initialisers: tuple[int, ...]
    """<clinit> of the classes that reachable code touches."""


def analyze(
    program: Program,
    hierarchy: Hierarchy,
    callbacks: Callbacks,
    entries: Iterable[int],
    instantiated: Iterable[int] = (),
    library: Library | None = None,
    lifecycles: Mapping[str, Lifecycle] | None = None,
    is_made: Callable[[int], bool] = lambda cls: False,
) -> RtaResult:
    """What can run from `entries` when Android makes objects of the classes `instantiated`.

    `library` tells what library methods call back at once (`toString` …). `lifecycles` are those that any object of
    a fitting class follows (fragments), also where the app brings the base class along. `is_made` says whether the
    constant of a class leads to objects of it.
    """
    rta = _Rta(program, hierarchy, callbacks, library, tuple((lifecycles or {}).values()), is_made)
    for cls in sorted(set(instantiated)):
        rta.instantiate(cls)
    for m in sorted(set(entries)):
        rta.reach(m)
    rta.run()
    return RtaResult(
        methods=tuple(sorted(rta.reached)),
        instantiated=tuple(sorted(rta.instantiated)),
        made=tuple(sorted(rta.made)),
        callbacks=tuple(sorted(rta.callbacks)),
        initialisers=tuple(sorted(rta.initialisers)),
    )


class _Rta:
    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        callbacks: Callbacks,
        library: Library | None,
        lifecycles: tuple[Lifecycle, ...],
        is_made: Callable[[int], bool],
    ) -> None:
        self._program, self._hierarchy, self._callbacks = program, hierarchy, callbacks
        self._library, self._is_made = library, is_made
        self._lifecycles = [
            ({program.type_id(b) for b in life.base_classes}, [(c.name, c.descriptor) for c in life.calls])
            for life in lifecycles
        ]
        self.made: set[int] = set()
        self.reached: set[int] = set()
        self.instantiated: set[int] = set()
        self.callbacks: set[int] = set()
        self.initialisers: set[int] = set()
        self._touched: set[int] = set()
        self._made_under: dict[int, list[int]] = {}  # class -> instantiated classes that are one
        self._called_on: dict[int, list[int]] = {}  # class -> methods called virtually on it
        self._seen_calls: set[tuple[int, int, int]] = set()
        self._queue: list[int] = []

    def run(self) -> None:
        """Looks at all methods that were found, then at those that these lead to."""
        while self._queue:
            methods, self._queue = self._queue, []
            self._process(self._program.mentions(methods))

    def reach(self, m: int) -> None:
        if m >= 0 and m not in self.reached and self._program.has_code(m):
            self.reached.add(m)
            self._queue.append(m)

    def instantiate(self, cls: int) -> None:
        h = self._hierarchy
        if cls in self.instantiated or not h.is_app(cls):
            return
        self.instantiated.add(cls)
        self.touch(cls)
        for base in h.supertypes(cls):
            self._made_under.setdefault(base, []).append(cls)
            for m in self._called_on.get(base, ()):
                self.reach(h.dispatch(cls, m))
        for m in self._callbacks.of(cls):
            self.callbacks.add(m)
            self.reach(m)
        for bases, calls in self._lifecycles:
            if not bases.isdisjoint(h.supertypes(cls)):
                for name, descriptor in calls:
                    self.reach(h.resolve(cls, name, descriptor))

    def touch(self, cls: int) -> None:
        while cls >= 0 and cls not in self._touched:
            self._touched.add(cls)
            definition = self._program.class_of(cls)
            if definition is None:
                return
            for m in definition.methods:
                if self._program.method(m).name == "<clinit>" and self._program.has_code(m):
                    self.initialisers.add(m)
                    self.reach(m)
            cls = self._hierarchy.superclass(cls)

    def _process(self, found: Mentions) -> None:
        for kind, ref in found.calls:
            self._call(-1, kind, ref)
        for caller, ref in found.supers:
            self._call(caller, CallKind.SUPER, ref)
        for cls in found.news:
            if cls not in self.made and self._hierarchy.is_app(cls):
                self.made.add(cls)
                self.instantiate(cls)
        for cls in found.const_classes:
            if self._is_made(cls):
                self.instantiate(cls)
        for f in found.statics:
            self.touch(self._program.field(self._hierarchy.resolve_field(f)).cls)

    def _call(self, caller: int, kind: int, ref: int) -> None:
        if kind in (CallKind.CUSTOM, CallKind.POLYMORPHIC):
            return
        key = (kind, ref, caller if kind == CallKind.SUPER else -1)
        if key in self._seen_calls:
            return
        self._seen_calls.add(key)
        h, method = self._hierarchy, self._program.method(ref)
        self._call_back(ref)
        if kind in (CallKind.VIRTUAL, CallKind.INTERFACE):
            self._called_on.setdefault(method.cls, []).append(ref)
            for cls in tuple(self._made_under.get(method.cls, ())):
                self.reach(h.dispatch(cls, ref))
            return
        start = method.cls
        if kind == CallKind.STATIC:
            self.touch(start)
        if kind == CallKind.SUPER and start == caller:
            start = h.superclass(caller)
        self.reach(h.resolve(start, method.name, self._program.descriptor(ref)))

    def _call_back(self, ref: int) -> None:
        shim = self._library.shim(ref) if self._library is not None else None
        for step in shim.steps if shim is not None else ():
            self._call(-1, CallKind.VIRTUAL, self._program.method_id(*step.method))
