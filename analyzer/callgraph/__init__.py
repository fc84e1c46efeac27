"""Who calls whom: rapid type analysis, value-based type propagation, components and layers of the call graph."""

from analyzer.callgraph.build import build
from analyzer.callgraph.graph import CallGraph, Problem, Site

__all__ = ["CallGraph", "Problem", "Site", "build"]
