"""What a `when` of a source or sink asks beyond the method's name, decided from facts; true where it cannot be."""

from __future__ import annotations

from analyzer.container import AppFiles
from analyzer.idfg import Idfg
from analyzer.models import Knowledge
from analyzer.taint import receiver_objects


class Conditions:
    """Decides conditions for one solved app."""

    def __init__(self, idfg: Idfg, files: AppFiles, knowledge: Knowledge) -> None:
        self.idfg, self.files, self.knowledge = idfg, files, knowledge

    def holds(self, name: str, method: int, op: int) -> bool:
        """Whether the condition may hold at a call."""
        return True
