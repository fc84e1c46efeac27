"""The call graph: who may call whom, frozen, sorted, the same on every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from analyzer.callgraph import scc

if TYPE_CHECKING:
    import networkx as nx

    from analyzer.android.components import ComponentEntry
    from analyzer.android.intents import Route
    from analyzer.android.own import Own
    from analyzer.program import Program

Site = tuple[int, int]
"""A call site: (method id, index of the CALL in its body's operations)."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be done, and where."""

    where: str
    what: str


@dataclass(frozen=True)
class CallGraph:
    """Reachable methods and the targets of their calls.

    A call site has app targets (methods with code, synthetic ones included), and possibly a library effect beside
    them. Where `shim` gives a method, that method is among the targets and stands for what the library method calls
    back: of the library method itself only its model, if it has one, remains to be applied (never the default for
    unmodelled methods). Static initialisers have no call sites: the root's loop calls them.
    """

    root: int
    """The app's environment method."""
    methods: tuple[int, ...]
    """Reachable methods with code, sorted."""
    site_targets: dict[Site, tuple[int, ...]]
    """Sorted app targets, for the call sites that have any."""
    site_shim: dict[Site, int]
    library_sites: frozenset[Site]
    """Call sites that (also) run a framework method or something unknown."""
    cut: tuple[Site, ...]
    """Call sites in library classes with too many targets, sorted: no app targets, treated as unmodelled calls."""
    own: Own
    """Tells the app's own classes from those of libraries."""
    shim_sites: dict[int, Site] = field(default_factory=dict)
    """Shim -> the call site for which it was made: where its statements count as standing."""
    components: tuple[ComponentEntry, ...] = ()
    """What the app declares, with its environment method."""
    environments: tuple[int, ...] = ()
    """Synthetic environment methods, the root included, sorted."""
    callbacks: tuple[int, ...] = ()
    """App methods that the framework may call, sorted."""
    problems: tuple[Problem, ...] = ()
    routes: tuple[Route, ...] = ()
    """Which intents reach which component."""
    complete: bool = True
    """False when time ran out: methods may be missing."""

    def targets(self, method: int, op_index: int) -> tuple[int, ...]:
        """App targets with code of a call, sorted; its shim is among them."""
        return self.site_targets.get((method, op_index), ())

    def shim(self, method: int, op_index: int) -> int:
        """The synthetic method that stands for the callbacks of the library method called here, or -1."""
        return self.site_shim.get((method, op_index), -1)

    def is_library_call(self, method: int, op_index: int) -> bool:
        """True when the call may run a framework method or something unknown, also beside app targets."""
        site = (method, op_index)
        return site in self.library_sites or site not in self.site_targets

    def is_cut(self, method: int, op_index: int) -> bool:
        """True when the call had too many targets and is treated as an unmodelled call."""
        return (method, op_index) in self._cut_set

    def callees(self, method: int) -> tuple[int, ...]:
        """Every app method that a call of `method` may run, sorted."""
        return self._callees.get(method, ())

    def callers(self, method: int) -> tuple[int, ...]:
        """Every method with a call that may run `method`, sorted."""
        return self._callers.get(method, ())

    @cached_property
    def sccs(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components of `methods`, callees first, each sorted."""
        return scc.components(self.methods, self._callees)

    @cached_property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        """Indices into `sccs`; a layer's SCCs call only SCCs of earlier layers (and themselves)."""
        return scc.layers(self.sccs, self._callees)

    def is_recursive(self, method: int) -> bool:
        """True when the method can, through calls, call itself."""
        return method in self._recursive

    def to_networkx(self, program: Program) -> nx.DiGraph[str]:
        """The methods as nodes named by signature, and one edge per caller and callee."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(program.signature(m) for m in self.methods)
        for m in self.methods:
            graph.add_edges_from((program.signature(m), program.signature(t)) for t in self.callees(m))
        return graph

    @cached_property
    def _cut_set(self) -> frozenset[Site]:
        return frozenset(self.cut)

    @cached_property
    def _callees(self) -> dict[int, tuple[int, ...]]:
        sets: dict[int, set[int]] = {}
        for (m, _), targets in self.site_targets.items():
            sets.setdefault(m, set()).update(targets)
        return {m: tuple(sorted(sets[m])) for m in sorted(sets)}

    @cached_property
    def _callers(self) -> dict[int, tuple[int, ...]]:
        lists: dict[int, list[int]] = {}
        for m, targets in self._callees.items():
            for t in targets:
                lists.setdefault(t, []).append(m)
        return {t: tuple(ms) for t, ms in lists.items()}

    @cached_property
    def _recursive(self) -> frozenset[int]:
        members = {m for group in self.sccs if len(group) > 1 for m in group}
        return frozenset(members | {m for m, targets in self._callees.items() if m in targets})
