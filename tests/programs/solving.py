"""From a small program to its facts: a call graph by class hierarchy, then the stages of `gdroid.app`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analyzer import framework
from analyzer.android.own import Own
from analyzer.callgraph import build
from analyzer.callgraph.graph import CallGraph
from analyzer.container import AppFiles, Component, Manifest
from analyzer.container.model import ComponentKind
from analyzer.encode import Encoded
from analyzer.hierarchy import Hierarchy
from analyzer.idfg import Idfg
from analyzer.ir import CallKind, Op
from analyzer.limits import Limits
from analyzer.models import Knowledge
from analyzer.program import Program
from analyzer.shape import Context
from analyzer.taint import SinkSites
from analyzer.tokens import SINK, TAINT
from gdroid.app import App
from gdroid.options import Options
from gpu.bits import bits_of
from gpu.solution import Solution
from tests.programs.language import compile_program


@cache
def knowledge() -> Knowledge:
    """The default knowledge, with the methods of api.Api."""
    return Knowledge.load([Path(__file__).with_name("api.yaml")])


@cache
def framework_model() -> framework.Framework:
    return framework.load()


@dataclass
class Solved:
    """A small program and everything that was computed for it."""

    program: Program
    hierarchy: Hierarchy
    graph: CallGraph
    ctx: Context
    encoded: Encoded
    solution: Solution
    idfg: Idfg

    def method(self, signature: str) -> int:
        """Id of a method by `Class.name`, the first of that name."""
        cls, name = signature.split(".")
        owner = next(t for t in (f"L{cls};", f"Llib/{cls};") if self.program.type_find(t) >= 0)
        found = self.program.methods_named_in(self.program.type_find(owner))
        return next(m for m in found if self.program.method(m).name == name)

    def findings(self) -> set[tuple[tuple[int, int], tuple[int, int]]]:
        """(source statement, sink statement) pairs, each a (method, IR operation)."""
        found = set()
        sites, sink_sites = self.ctx.sites, SinkSites(self.idfg)
        for method, layout in self.encoded.layouts.items():
            for row, key in enumerate(layout.rows):
                if isinstance(key, int) or key[0] != SINK:
                    continue
                at = sink_sites.of(method, key)
                for c in bits_of(self.solution.rows[layout.number][row]):
                    token = layout.columns[c]
                    if token[0] == TAINT:
                        source = sites[token[2]]
                        found |= {((source.method, source.op), (sites[s].method, sites[s].op)) for s in at}
        return found


def call_graph(program: Program, hierarchy: Hierarchy, root: int) -> CallGraph:
    """Targets by class hierarchy."""
    targets: dict[tuple[int, int], tuple[int, ...]] = {}
    library = set()
    pending, reached = [root], {root}
    while pending:
        m = pending.pop()
        body = program.body(m)
        for op in (body.op == Op.CALL).nonzero()[0].tolist():
            callee = int(body.ref[op])
            ref = program.method(callee)
            found = set()
            if body.c[op] == CallKind.VIRTUAL and hierarchy.is_app(ref.cls):
                found = {hierarchy.dispatch(t, callee) for t in hierarchy.subtypes(ref.cls)} - {-1}
            elif body.c[op] != CallKind.VIRTUAL:
                resolved = hierarchy.resolve(ref.cls, ref.name, program.descriptor(callee))
                found = {resolved} if resolved >= 0 and program.has_code(resolved) else set()
            if found:
                targets[m, op] = tuple(sorted(found))
            else:
                library.add((m, op))
            for target in sorted(found - reached):
                reached.add(target)
                pending.append(target)
    return CallGraph(root, tuple(sorted(reached)), targets, {}, frozenset(library), (), Own(program, None, ["Llib/"]))


def solve_program(program: Program, limits: Limits) -> Solved:
    """Facts of a program whose entry is Main.main()."""
    hierarchy = Hierarchy(program, framework_model())
    root = program.method_find("LMain;", "main", "()V")
    if root < 0 or not program.has_code(root):
        raise SyntaxError("no Main.main()")
    return facts(program, hierarchy, call_graph(program, hierarchy, root), limits)


def facts(program: Program, hierarchy: Hierarchy, graph: CallGraph, limits: Limits) -> Solved:
    """The stages behind the call graph, as the product runs them."""
    app = App(Path("app.apk"), Options(limits=limits))
    app.__dict__.update(program=program, hierarchy=hierarchy, graph=graph, knowledge=knowledge())
    encoded = app.encoded
    encoded.problem.validate()
    idfg = app.idfg("reference")
    return Solved(program, hierarchy, graph, app.context, encoded, idfg.solution, idfg)


def solve_app(text: str, limits: Limits | None = None, **components: ComponentKind) -> Solved:
    """Facts of an app with these classes as exported components (`Main="activity"`), its environments included."""
    program = compile_program(text)
    hierarchy = Hierarchy(program, framework_model())
    declared = tuple(Component(f"app.{name}", kind, exported=True) for name, kind in components.items())
    manifest = Manifest("app", None, None, 21, 33, None, False, False, (), declared)
    files = AppFiles(Path("app.apk"), "", "apk", (), manifest, (), ())
    graph = build(program, hierarchy, knowledge(), files, limits or Limits())
    return facts(program, hierarchy, graph, limits or Limits())


def solve(text: str, limits: Limits | None = None) -> Solved:
    """Facts of a program in the small language."""
    return solve_program(compile_program(text), limits or Limits())
