"""What is known of library methods by their ids: model and shim of each, looked up once."""

from __future__ import annotations

from analyzer.hierarchy import Hierarchy
from analyzer.models import Knowledge, LibraryModel, Shim
from analyzer.program import Program


class Library:
    """Look-ups in the knowledge for the methods of a program; answers are kept."""

    def __init__(self, program: Program, hierarchy: Hierarchy, knowledge: Knowledge) -> None:
        self._program, self._hierarchy, self._knowledge = program, hierarchy, knowledge
        self._models: dict[int, LibraryModel | None] = {}
        self._shims: dict[int, Shim | None] = {}

    def model(self, method: int) -> LibraryModel | None:
        """What the method does; None when nothing is known."""
        if method not in self._models:
            self._models[method] = self._knowledge.model(*self._key(method))
        return self._models[method]

    def shim(self, method: int) -> Shim | None:
        """What the method calls back; None when nothing."""
        if method not in self._shims:
            self._shims[method] = self._knowledge.shim(*self._key(method))
        return self._shims[method]

    def _key(self, method: int) -> tuple[list[str], str, str]:
        ref = self._program.method(method)
        return self._hierarchy.class_chain(ref.cls), ref.name, self._program.descriptor(method)
