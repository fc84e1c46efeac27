"""Sample apps with their call graphs, and small apps written down as synthetic methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from analyzer import dex, framework
from analyzer.callgraph import CallGraph, build
from analyzer.container import AppFiles, open_app
from analyzer.hierarchy import Hierarchy
from analyzer.ir import Op
from analyzer.limits import Limits
from analyzer.models import Knowledge
from analyzer.program import Program


@dataclass(frozen=True)
class App:
    """An app up to its call graph."""

    files: AppFiles
    program: Program
    hierarchy: Hierarchy
    graph: CallGraph

    def id(self, signature: str) -> int:
        """Method id of 'La/B;->f()V'."""
        cls, _, rest = signature.partition("->")
        name, _, descriptor = rest.partition("(")
        found = self.program.method_find(cls, name, "(" + descriptor)
        assert found >= 0, signature
        return found

    @property
    def reached(self) -> set[str]:
        """'Class.name' and 'Class.name(I)V' of all reachable methods, by simple class name."""
        p = self.program
        found: set[str] = set()
        for m in self.graph.methods:
            ref = p.method(m)
            name = f"{p.type_name(ref.cls)[1:-1].rsplit('/', 1)[-1]}.{ref.name}"
            found |= {name, name + p.descriptor(m)}
        return found

    def calls(self, method: int) -> list[tuple[str, tuple[str, ...]]]:
        """(signature called, names of the targets) of each call of a method, in order."""
        p, body = self.program, self.program.body(method)
        return [
            (p.signature(int(body.ref[i])), tuple(p.signature(t) for t in self.graph.targets(method, i)))
            for i in range(len(body.op))
            if body.op[i] == Op.CALL
        ]


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """The default rules, loaded once."""
    return Knowledge.load()


@lru_cache(maxsize=16)
def app(path: Path, targets_per_call: int = 20) -> App:
    """The app with its call graph."""
    return analyze(open_app(path, Limits()), targets_per_call)


def analyze(files: AppFiles, targets_per_call: int = 20, deadline: float | None = None) -> App:
    """The call graph of opened files."""
    columns = dex.read([f.data for f in files.dex], [f.name for f in files.dex])
    program = Program(columns)
    hierarchy = Hierarchy(program, framework.load())
    limits = Limits(targets_per_call=targets_per_call)
    return App(files, program, hierarchy, build(program, hierarchy, knowledge(), files, limits, deadline))
