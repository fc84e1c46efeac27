"""An opened app: its program, call graph, shapes, encoded problem and facts, each computed when it is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gdroid.budget import Budget, OutOfBudget, peak_mb
from gdroid.options import Options
from gpu.jit import compile_ahead, wait_for_ahead

if TYPE_CHECKING:
    import networkx as nx

    from analyzer.callgraph import CallGraph
    from analyzer.container import AppFiles
    from analyzer.encode import Encoded
    from analyzer.hierarchy import Hierarchy
    from analyzer.idfg import Idfg
    from analyzer.models import Knowledge
    from analyzer.program import Program
    from analyzer.shape import Context
    from analyzer.type_graph import Modelled
    from gpu.problem import Problem

T = TypeVar("T")

KERNELS = ("gpu.shape.clears", "gpu.shape.export", "gpu.shape.method", "gpu.shape.encode")
"""Modules whose kernels are compiled in a process of their own on the first run, while the code is read."""

LAST_KERNELS = ("gpu.cpu", "gpu.flows")
"""And those that are compiled in this process meanwhile: with the reader's, about as much work as the others."""


@dataclass(frozen=True, slots=True)
class PhaseLog:
    """How one stage went."""

    name: str
    status: str
    seconds: float
    peak_mb: float


class App:
    """The stages of the analysis of one app, in order (design.md 2). Raises what opening the file raises."""

    def __init__(self, path: Path, options: Options) -> None:
        self.path, self.options = path, options
        self.budget = Budget(options.limits)
        self.phases: list[PhaseLog] = []
        self.hits: dict[str, set[str]] = {}
        self.engine_name = ""
        self._idfgs: dict[str, Idfg] = {}

    def _phase(self, name: str, work: Callable[[], T], status: Callable[[], str] = lambda: "complete") -> T:
        start = time.monotonic()
        if self.options.progress is not None:
            self.options.progress(name, 0, 0)
        try:
            result = work()
        except OutOfBudget as out:
            self.hits.setdefault(out.limit, set()).add(name)
            self.phases.append(PhaseLog(name, "failed", time.monotonic() - start, peak_mb()))
            raise
        self.phases.append(PhaseLog(name, status(), time.monotonic() - start, peak_mb()))
        return result

    def _progress(self, name: str) -> Callable[[int, int], None]:
        report = self.options.progress
        if report is None:
            return lambda done, total: None
        return lambda done, total: report(name, done, total)

    @cached_property
    def files(self) -> AppFiles:
        """What the container holds."""
        from analyzer.container import open_app
        from analyzer.container.together import together

        paths = (self.path, *self.options.together)
        return self._phase("open", lambda: together([open_app(path, self.options.limits) for path in paths]))

    @cached_property
    def program(self) -> Program:
        """The app's code as ids; synthetic methods join it with the call graph."""
        from analyzer import dex
        from analyzer.program import Program

        files = self.files.dex
        compile_ahead(KERNELS)
        return self._phase("read", lambda: Program(dex.read([f.data for f in files], [f.name for f in files])))

    @cached_property
    def knowledge(self) -> Knowledge:
        """Models, sources, sinks, rules."""
        from analyzer.models import Knowledge

        return Knowledge.load(self.options.rules)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Classes of the app and the framework."""
        from analyzer import framework
        from analyzer.hierarchy import Hierarchy

        return Hierarchy(self.program, framework.load(), self.modelled)

    @cached_property
    def modelled(self) -> Modelled:
        """Libraries in the app that are taken from the models."""
        from analyzer.android.modelled import modelled_in
        from analyzer.type_graph import NOTHING_MODELLED

        if self.options.all_code:
            return NOTHING_MODELLED
        known = self.knowledge
        return modelled_in(self.program, self.files.manifest, known.modelled, known.analysed)

    @cached_property
    def graph(self) -> CallGraph:
        """The call graph; its size is bounded by the time left."""
        from analyzer.callgraph import build

        self.knowledge, self.hierarchy, self.program  # noqa: B018  (their phases come first)
        self.budget.until(0.35)

        def work() -> CallGraph:
            graph = build(
                self.program, self.hierarchy, self.knowledge, self.files, self.options.limits, self.budget.deadline
            )
            if not graph.complete:
                self.hits.setdefault("wall_time_s", set()).add("call graph")
            return graph

        return self._phase("call graph", work, lambda: "partial" if "wall_time_s" in self.hits else "complete")

    @cached_property
    def context(self) -> Context:
        """Shapes of all reachable methods, or of those that could be done in time."""
        from analyzer.android.names import ENV, ESCAPED
        from analyzer.android.sent import Sent
        from analyzer.compiled_pass import CompiledPass
        from analyzer.libcalls import LibraryCalls, ParameterSources
        from analyzer.lower import Lowering
        from analyzer.shape import Context
        from analyzer.texts import Texts
        from analyzer.tokens import Fields, Sites

        graph, program = self.graph, self.program
        fields, sites = Fields(program, self.hierarchy, graph.own.is_own), Sites()
        env = program.type_id(ENV)
        escaped = fields.resolve(program.field_id(ENV, ESCAPED, "Ljava/lang/Object;"))
        library = LibraryCalls(program, self.hierarchy, self.knowledge, fields, sites, escaped)
        limits = self.options.limits
        lowering = Lowering(
            program,
            self.hierarchy,
            self.knowledge,
            fields,
            sites,
            graph.own.is_own,
            library.source_id,
            env,
            limits.keys_per_object,
            library.app_wide_static,
        )
        ctx = Context(
            program, self.hierarchy, graph, lowering, library, limits, self.budget.check, ParameterSources(library)
        )
        texts = Texts(ctx)
        ctx.routes = tuple(
            (fields.resolve(r.source), fields.resolve(r.target), Sent.test(r.accepts, texts)) for r in graph.routes
        )
        self.budget.until(0.65)
        self.levels: dict[int, int] = {}
        wait_for_ahead(LAST_KERNELS)
        shapes = CompiledPass(ctx)
        shapes.levels = self.levels

        def work() -> None:
            try:
                shapes.run(self._progress("shapes"))
            except OutOfBudget as out:
                self.hits.setdefault(out.limit, set()).add("shapes")
                self.shapes_complete = False

        self.shapes_complete = True
        self._phase("shapes", work, lambda: "complete" if self.shapes_complete else "partial")
        return ctx

    @cached_property
    def encoded(self) -> Encoded:
        """The encoded problem and the names behind its numbers."""
        from analyzer.encode import Encoder

        ctx = self.context
        self.budget.until(0.8)
        return self._phase("encode", lambda: Encoder(ctx, self.levels).run(self._progress("encode")))

    def problem(self) -> Problem:
        """The encoded problem, for `gdroid solve` and other engines."""
        return self.encoded.problem

    def idfg(self, engine: str = "auto") -> Idfg:
        """The solved facts, by an engine.

        Raises:
            EngineUnavailable: the engine cannot run here.
        """
        if engine not in self._idfgs:
            from analyzer.idfg import Idfg
            from gpu import engine as engines
            from gpu.replay import Replay

            encoded = self.encoded
            self.budget.until(0.9)

            def work() -> Idfg:
                name, solution = engines.choose(engine, encoded.problem, self.budget.check)
                self.engine_name = name
                return Idfg(self.context, encoded, solution, Replay(solution))

            self._idfgs[engine] = self._phase("solve", work)
        return self._idfgs[engine]

    def call_graph(self) -> nx.DiGraph[str]:
        """The call graph as a networkx graph; nodes are signatures."""
        return self.graph.to_networkx(self.program)

    def icfg(self) -> nx.MultiDiGraph[tuple[str, int]]:
        """The inter-procedural control-flow graph; nodes are (signature, index of the IR operation)."""
        from analyzer.icfg import to_networkx

        return to_networkx(self.program, self.graph)

    def facts_text(self, method: str, pc: int | None = None, concrete: bool = False) -> str:
        """A method's statements with the facts before each, for people.

        Raises:
            WrongConfiguration: no such method, or the analysis does not reach it.
        """
        from analyzer.listing import listing

        return listing(self.idfg(self.options.engine), method, pc, concrete)


def load(path: Path, options: Options) -> App:
    """Opens an app; raises UnreadableInput when it cannot be opened."""
    app = App(path, options)
    app.files  # noqa: B018  (unreadable files are told at once)
    return app
