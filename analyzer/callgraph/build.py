"""From an app's files and code to its entry points, environments and call graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analyzer.android import app, components, entrypoints, intents, lifecycle
from analyzer.android.callbacks import ACC_PROTECTED, ACC_PUBLIC, Callbacks
from analyzer.android.components import ENTERED, ComponentEntry
from analyzer.android.escape import Escapes
from analyzer.android.kit import Kit, define
from analyzer.android.lambdas import Lambdas
from analyzer.android.library import Library
from analyzer.android.names import ESCAPED
from analyzer.android.own import Own
from analyzer.android.reflection import Reflection
from analyzer.android.shims import Shims
from analyzer.callgraph import rta
from analyzer.callgraph.graph import CallGraph, Problem, Site
from analyzer.callgraph.vta import Hooks, Vta
from analyzer.container import AppFiles
from analyzer.hierarchy import Hierarchy
from analyzer.limits import Limits
from analyzer.models import Knowledge, Lifecycle
from analyzer.program import Program

_MANIFEST_KINDS = frozenset({"activity", "service", "receiver", "provider", "application", "backup", "instrumentation"})
"""Lifecycles of what the manifest declares; all others follow objects that the app makes."""
_MAIN = ("main", "([Ljava/lang/String;)V")


def build(
    program: Program,
    hierarchy: Hierarchy,
    knowledge: Knowledge,
    files: AppFiles,
    limits: Limits | None = None,
    deadline: float | None = None,
) -> CallGraph:
    """The call graph of an app, with environments and shims added to the program.

    `deadline` is a time.monotonic(); when it passes, the graph is what was found by then, and not `complete`.
    """
    return _Build(program, hierarchy, knowledge, files, limits or Limits(), deadline).run()


class _Build:
    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        knowledge: Knowledge,
        files: AppFiles,
        limits: Limits,
        deadline: float | None,
    ) -> None:
        define(program)
        self.program, self.hierarchy, self.knowledge, self.files = program, hierarchy, knowledge, files
        self.limits, self.deadline = limits, deadline
        self.own = Own(program, files.manifest, knowledge.libraries)
        self.callbacks = Callbacks(program, hierarchy, {c.type: c.methods for c in knowledge.callbacks})
        self.library = Library(program, hierarchy, knowledge)
        self.problems: list[Problem] = []
        self.lifecycles = knowledge.lifecycles
        self.manifest_kinds = {k: v for k, v in self.lifecycles.items() if k in _MANIFEST_KINDS}
        self.object_kinds = {k: v for k, v in self.lifecycles.items() if k not in _MANIFEST_KINDS}
        self.entries = components.find(program, hierarchy, self.manifest_kinds, files)
        self.entered = {e.cls: e for e in self.entries if e.status == ENTERED}
        self.called_back: dict[int, dict[int, None]] = {}  # class that defines it -> methods
        self.object_environments: dict[int, int] = {}
        self.makers: dict[int, int] = {}
        self.cut: set[int] = set()

    def run(self) -> CallGraph:
        bases = frozenset(b for life in self.manifest_kinds.values() for b in life.base_classes)
        self.reflection = Reflection(self.program, self.hierarchy, self.own, frozenset(self.entered), bases)
        open_classes = self._open_classes()
        quick = self._quick(open_classes)
        self.made = frozenset(quick.made)
        self.program.prepare(quick.methods)
        kit = self.kit = Kit(self.program, self.hierarchy, (*quick.instantiated, *self.reflection.nameable()))
        self.shims, self.lambdas = Shims(kit, self.library, self.own), Lambdas(kit)
        environments = self._environments(open_classes)
        hooks = Hooks(
            has_shim=self._has_shim,
            shim=self._shim,
            dynamic=self.lambdas.factory,
            kept=Escapes(self.program, self.hierarchy, self.knowledge, self.library).kept,
            stored=self.shims.stored,
            class_constant=lambda cls: self._maker(cls) if self.reflection.is_made(cls) else -1,
            escaped=self._escaped,
            is_library=lambda cls: self.own.is_known_library(self.program.type_name(cls)),
        )
        n_types = len(quick.instantiated) * 5 // 4
        vta = self.vta = Vta(self.program, self.hierarchy, hooks, kit.static(ESCAPED), n_types, self.deadline)
        for m in (*environments, *self.makers.values()):
            vta.add(m)
        for cls in sorted({*self.entered, *open_classes}):
            vta.touch(cls)
        self._settle()
        return self._graph(*self._close(environments))

    def _close(self, environments: list[int]) -> tuple[int, tuple[int, ...]]:
        """Writes the app's loop over everything that was found; again, should running it find more."""
        kit, vta, number = self.kit, self.vta, 0
        while True:
            found = self._found()
            every = list(environments)
            every += [self.object_environments[cls] for cls in sorted(self.object_environments)]
            every += sorted(set(self.shims.later.values()))
            every += [self.makers[cls] for cls in sorted(self.makers)]
            own, library = self._callback_arms()
            loops = [app.callbacks_of_class(kit, cls, methods, number) for cls, methods in library.items()]
            every += loops
            root = app.root(kit, sorted(vta.result.initialisers), every, own, number)
            vta.add(root)
            self._settle()
            if not vta.result.complete:
                vta.finish([root, *loops])
            if self._found() == found or not vta.result.complete:
                return root, (*every, root)
            number += 1

    def _found(self) -> tuple[int, ...]:
        """How much there is to loop over."""
        callbacks = sum(map(len, self.called_back.values()))
        others = len(self.object_environments) + len(self.shims.later) + len(self.makers)
        return callbacks, others, len(self.vta.result.initialisers)

    # -- entry points -----------------------------------------------------------------------------------------------

    def _open_classes(self) -> dict[int, tuple[int, ...]]:
        """Classes whose methods are entered from unknown callers, with those methods: where no component is."""
        p = self.program
        declared = entrypoints.find(p, self.hierarchy, self.knowledge, self.own)
        if self.entered:
            return declared
        if self.files.manifest is not None:
            self.problems.append(Problem("AndroidManifest.xml", "no component of it can be entered"))
            if any(e.cls >= 0 for e in self.entries):
                return declared
        mains = {c.type: tuple(m for m in c.methods if self._is_main(m)) for c in p.classes}
        found = {cls: methods for cls, methods in mains.items() if methods}
        if found:
            return declared | found
        for visible in (True, False):  # where nothing is public or protected, everything
            for c in p.classes:
                if not self.own.is_known_library(p.type_name(c.type)) and c.dex >= 0:
                    methods = tuple(m for m in c.methods if self._is_open(m, visible))
                    if methods or any(p.method(m).name == "<clinit>" for m in c.methods):
                        found[c.type] = methods
            if any(found.values()):
                return found
        return found

    def _is_main(self, m: int) -> bool:
        p = self.program
        return (p.method(m).name, p.descriptor(m)) == _MAIN and p.is_static(m) and p.has_code(m)

    def _is_open(self, m: int, visible: bool) -> bool:
        definition = self.program.definition(m)
        if definition is None or (visible and not definition.access & (ACC_PUBLIC | ACC_PROTECTED)):
            return False
        return self.program.has_code(m) and not self.program.method(m).name.startswith("<")

    def _quick(self, open_classes: dict[int, tuple[int, ...]]) -> rta.RtaResult:
        """A first, coarse look: of which classes there may be objects."""
        h, p = self.hierarchy, self.program
        entries = [m for methods in open_classes.values() for m in methods]
        made = [*self.entered, *(cls for cls in open_classes if not h.is_abstract(cls)), *self._layout_classes()]
        for cls in made:
            definition = p.class_of(cls)
            entries += [m for m in (definition.methods if definition else ()) if p.method(m).name == "<init>"]
        for cls, entry in self.entered.items():
            entries += lifecycle.methods(h, self.lifecycles[entry.lifecycle], cls)
            entries += lifecycle.handlers(h, p, cls, self._handler_names())
        return rta.analyze(
            p, h, self.callbacks, entries, made, self.library, self.object_kinds, self.reflection.is_made
        )

    def _layout_classes(self) -> list[int]:
        return app.layout_classes(self.program, self.hierarchy, self.files)

    def _handler_names(self) -> list[str]:
        return sorted({w.on_click for layout in self.files.layouts for w in layout.widgets if w.on_click})

    # -- environments -----------------------------------------------------------------------------------------------

    def _environments(self, open_classes: dict[int, tuple[int, ...]]) -> list[int]:
        kit = self.kit
        found: list[int] = []
        entries: list[ComponentEntry] = []
        written: dict[int, int] = {}
        for entry in self.entries:
            if entry.status == ENTERED:
                methods = lifecycle.environments(kit, self._role(entry))
                written[entry.cls] = methods[0]
                found += methods
            entries.append(replace(entry, environment=written.get(entry.cls, -1)))
        self.entries = tuple(entries)
        for cls in self._layout_classes():
            self._maker(cls)
        found += [app.unknown_callers(kit, cls, open_classes[cls]) for cls in sorted(open_classes)]
        return found

    def _role(self, entry: ComponentEntry) -> lifecycle.Role:
        cls, life = entry.cls, self.lifecycles[entry.lifecycle]
        handlers = lifecycle.handlers(self.hierarchy, self.program, cls, self._handler_names())
        running = lifecycle.running_callbacks(self.callbacks.of(cls), life, self.kit)
        exported = any(e.component.exported for e in self.entries if e.cls == cls and e.component.enabled)
        return lifecycle.Role(
            cls=cls,
            lifecycle=life,
            callbacks=tuple(dict.fromkeys((*running, *handlers))),
            made_by_android=True,
            exported=exported,
            app_wide=tuple(s.name for s in self.knowledge.singletons.values() if s.component == life.kind),
        )

    def _has_shim(self, library_method: int) -> bool:
        return self.reflection.matters(library_method) or self.library.shim(library_method) is not None

    def _shim(self, site: Site, library_method: int, n_args: int) -> int:
        for cls in self.reflection.loaded(site, library_method):
            self.vta.add(self._maker(cls))
        shim = self.reflection.invoked(self.kit, site, library_method)
        if shim < 0:
            shim = self.shims.of(site, library_method, n_args)
        later = self.shims.later.get(library_method)
        if later is not None:
            self.vta.add(later)
        return shim

    def _maker(self, cls: int) -> int:
        """A method that makes objects of a class which only its name or class constant asks for."""
        if cls not in self.makers:
            self.makers[cls] = app.maker(self.kit, cls)
        return self.makers[cls]

    def _escaped(self, cls: int) -> tuple[tuple[int, bool], ...]:
        """What starts to run when an object of the class is handed to the framework."""
        kind = components.lifecycle_of(self.program, self.hierarchy, self.object_kinds, cls)
        runs: list[tuple[int, bool]] = []
        methods: Iterable[int]
        if kind:
            runs.append((self._object_environment(cls, self.object_kinds[kind]), False))
            methods = self.callbacks.by_interface(cls)
        elif cls in self.entered and cls not in self.made:
            methods = self.callbacks.by_interface(cls)
        else:
            methods = self.callbacks.of(cls)
        for m in methods:
            self.called_back.setdefault(self.program.method(m).cls, {})[m] = None
            runs.append((m, True))
        return tuple(runs)

    def _object_environment(self, cls: int, life: Lifecycle) -> int:
        known = self.object_environments.get(cls)
        if known is None:
            running = lifecycle.running_callbacks(self.callbacks.of(cls), life, self.kit)
            known = lifecycle.environments(self.kit, lifecycle.Role(cls, life, running, made_by_android=False))[0]
            self.object_environments[cls] = known
        return known

    def _callback_arms(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Callbacks per class that defines them: those in the app's own classes, and those in libraries.

        What overrides another callback runs through that one's virtual call.
        """
        p, h = self.program, self.hierarchy
        own: dict[int, list[int]] = {}
        library: dict[int, list[int]] = {}
        every = {m for methods in self.called_back.values() for m in methods}
        keys = {(p.method(m).cls, p.method(m).name, p.descriptor(m)) for m in every}
        for cls in sorted(self.called_back):
            for m in sorted(self.called_back[cls]):
                name, descriptor = p.method(m).name, p.descriptor(m)
                if any((up, name, descriptor) in keys for up in h.supertypes(cls)[1:]):
                    continue
                (own if self.own.is_own(cls) else library).setdefault(cls, []).append(m)
        return own, library

    # -- the graph --------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Propagates, cuts call sites with too many targets, and again, until there is nothing to cut."""
        while True:
            self.vta.run()
            over = [
                s for s, targets in self.vta.result.targets.items() if s not in self.cut and self._is_over(s, targets)
            ]
            if not over:
                return
            for site in over:
                self.cut.add(site)
                self.vta.cut(site)
                for m in self.vta.result.targets[site]:
                    if self.own.is_own(self.program.method(m).cls) and not self.program.is_static(m):
                        self.called_back.setdefault(self.program.method(m).cls, {})[m] = None

    def _is_over(self, site: int, targets: Sequence[int]) -> bool:
        if len(targets) <= self.limits.targets_per_call:
            return False
        caller = self.shims.caller(self.vta.sites.method(site))
        return not self.own.is_certain(self.program.method(caller).cls)

    def _graph(self, root: int, environments: tuple[int, ...]) -> CallGraph:
        """What can be reached from the root, without the targets that were cut."""
        result, cut = self.vta.result, self.cut
        targets: dict[int, tuple[int, ...]] = {}
        by_method: dict[int, list[tuple[Site, int]]] = {}
        for place, site in self.vta.sites.sorted():
            by_method.setdefault(place[0], []).append((place, site))
        for site, found in result.targets.items():
            kept = [result.shims[site]] if site in cut and site in result.shims else [] if site in cut else found
            if result.damaged:
                kept = [m for m in kept if m not in result.damaged]
            if kept:
                targets[site] = tuple(sorted(kept))
        reachable = {root}
        stack = [root]
        while stack:
            for _, site in by_method.get(stack.pop(), ()):
                for m in targets.get(site, ()):
                    if m not in reachable:
                        reachable.add(m)
                        stack.append(m)
        sites = [pair for m in sorted(reachable) for pair in by_method.get(m, ())]
        return CallGraph(
            root=root,
            methods=tuple(sorted(reachable)),
            site_targets={place: targets[s] for place, s in sites if s in targets},
            site_shim={place: result.shims[s] for place, s in sites if s in result.shims},
            library_sites=frozenset(
                place
                for place, s in sites
                if s in result.library or len(targets.get(s, ())) < len(result.targets.get(s, (0,)))
            ),
            cut=tuple(place for place, s in sites if s in cut),
            components=self.entries,
            environments=tuple(sorted(m for m in environments if m in reachable)),
            callbacks=tuple(sorted(m for ms in self.called_back.values() for m in ms if m in reachable)),
            problems=(*self.problems, *result.problems),
            own=self.own,
            shim_sites={result.shims[s]: place for place, s in sites if s in result.shims},
            routes=intents.routes(self.kit, self.entries),
            complete=result.complete,
        )
